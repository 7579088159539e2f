// The memory of a process that decodes pictures. In C because the functions that it replaces for the whole process, malloc
// and its kin, have their names from C.
#pragma once

/// Makes malloc keep up to 64 MiB that were freed: the next picture uses the memory of the last one, so that the kernel
/// need not clear it anew, which takes a tenth to a sixth of a large picture's time (mallopt(3)).
void cameo_reuse_memory(void);

/// What memory holds that malloc gives from now on: this number again and again; zeros unless it was called.
void cameo_fill_memory(unsigned short content);
