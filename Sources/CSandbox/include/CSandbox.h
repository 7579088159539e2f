// The lock-down of a process. These are C because glibc has no wrappers for landlock(7) and seccomp(2), prctl(2) is
// variadic, and a filter is a program of macros. Every layer binds the calling thread and the threads that it starts,
// permanently. All functions return 0, or -1 with errno, unless stated otherwise.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Drops all capabilities with capset: effective, permitted and inheritable, and with these the ambient ones. Root in a
/// container has some. Fails only if there were any.
int cameo_drop_capabilities(void);

/// The number of threads of the process (/proc/self/task), or -1. Must be called before `cameo_restrict_files`.
int cameo_thread_count(void);

/// Sets PR_SET_NO_NEW_PRIVS: no program that is run gains privileges. The two layers below require it.
int cameo_give_up_privileges(void);

/// Applies Landlock: only files beneath the folders can still be opened, for reading; folders that cannot be opened are
/// skipped. As far as the kernel's version supports it, TCP, abstract Unix sockets and signals to other processes are
/// forbidden too. Open descriptors are unaffected. Returns the kernel's Landlock version (1 or more), or -1: ENOSYS or
/// EOPNOTSUPP if the kernel has none.
int cameo_restrict_files(const char *const folders[], size_t count);

/// Applies seccomp: only the system calls of a renderer are allowed. All others fail with EPERM (libraries handle that;
/// killing the process would hide the signals that tell a truncated source from a crash), and clone3 with ENOSYS (so
/// that glibc starts threads with clone, whose flags a filter can see). A call of another architecture kills the
/// process. A SIGSYS handler answers stat calls on paths that Landlock lets the renderer read (CSandboxStat.h).
/// `generates_code`: whether anonymous memory may be executable. Returns -1 with ENOSYS on an architecture without a
/// list of calls.
int cameo_restrict_calls(bool generates_code);
