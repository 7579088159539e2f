#pragma once

/// syscall(2), variadic, by the call's name, for attempts at the renderer's walls. EDOM for a name that is not on its list.
long cameo_try_call(const char *name, const long arguments[6]);
