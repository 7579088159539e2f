// The lock-down of a process: prctl(2), landlock(7) and seccomp(2) have no wrappers in glibc or are variadic, and a
// filter is a program of macros. Everything binds the calling thread and the threads that it starts, for good.
// All return 0, or -1 with errno, unless told otherwise.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// capset: no capability left, effective, permitted or inheritable (the ambient ones go with these), as root of a
/// container has some. Fails only if there were any.
int cameo_drop_capabilities(void);

/// How many threads the process has (/proc/self/task), or -1. Not possible any more behind `cameo_restrict_files`.
int cameo_thread_count(void);

/// prctl(PR_SET_NO_NEW_PRIVS): no program that is run gains rights. The two layers below want it first.
int cameo_give_up_privileges(void);

/// Landlock: no file can be opened any more but those beneath the folders, to read; folders that cannot be opened are
/// left out. As far as the kernel's version knows it: no TCP, no abstract Unix socket and no signal to the outside either.
/// Descriptors that are open stay as they are. Returns the kernel's Landlock version (1 or more), or -1: ENOSYS and
/// EOPNOTSUPP where the kernel has none.
int cameo_restrict_files(const char *const folders[], size_t count);

/// seccomp: the system calls of a renderer, and no other. Those not listed fail with EPERM (which libraries live with;
/// being killed would hide the signals that tell a truncated source from a crash), clone3 with ENOSYS (so that glibc
/// starts threads by clone, whose flags a filter can see). A call of another architecture kills the process. What looks at
/// a path is answered by a handler of SIGSYS, for what Landlock lets be read (CSandboxLooks.h).
/// `generates_code`: anonymous memory may be executable.
/// -1 with ENOSYS on an architecture whose list nobody has written.
int cameo_restrict_calls(bool generates_code);
