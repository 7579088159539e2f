// Answers by SIGSYS to calls that the filter does not let through (CSandboxLooks.c).
#pragma once

/// sigaction(2) for SIGSYS.
int cameo_answer_looks(void);
