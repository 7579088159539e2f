// A SIGSYS handler that answers system calls which the filter blocks (CSandboxStat.c).
#pragma once

/// Installs the handler with sigaction(2).
int cameo_answer_stat_calls(void);
