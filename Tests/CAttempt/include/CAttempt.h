#pragma once

/// syscall(2), variadic, by the call's name, for attempts at the renderer's walls. EDOM for a name that is not on its list.
long cameo_try_call(const char *name, const long arguments[6]);

/// Fills blocks of every size class from 16 bytes to 64 MiB with a pattern, frees them, and gets blocks anew, by every
/// function that gives memory. The number of bytes of the pattern in these; -1 if there is no memory. Rounds differ by their
/// numbers.
long cameo_find_left_memory(int first, int rounds);
