// What a worker and its renderer processes need of Linux and Swift cannot call: variadic functions, GNU extensions,
// the CMSG macros, and a signal handler (which must not be Swift: the runtime is not async-signal-safe).
// All return as the call itself does: -1 with errno set on failure, unless told otherwise.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// posix_spawn of `path` with exactly four descriptors: 0 and 1 /dev/null, 2 `error_fd`, 3 `socket_fd`; in a process
/// group of its own, with SIGINT, SIGTERM, SIGHUP and SIGQUIT blocked for good, every other signal at its default. `argv` and `envp` end with NULL. 0, or the errno value (not -1).
/// PR_SET_PDEATHSIG of the child fires when the calling *thread* ends.
int cameo_spawn_with_socket(pid_t *pid, const char *path, char *const argv[], char *const envp[], int socket_fd,
                            int error_fd);

/// The most descriptors that travel with one message: a source and eight overlays.
enum { CAMEO_MAXIMUM_DESCRIPTORS = 9 };

/// sendmsg(2) with `fd_count` descriptors (0…CAMEO_MAXIMUM_DESCRIPTORS, else EINVAL) as SCM_RIGHTS and MSG_NOSIGNAL.
/// Bytes sent. Unless it `waits` for room: -1 with EAGAIN where there is none, and neither bytes nor descriptors are sent.
ssize_t cameo_send_with_descriptors(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count,
                                    bool waits);
/// recvmsg(2), waiting. `fds` has room for CAMEO_MAXIMUM_DESCRIPTORS; the first *fd_count are those that came with the
/// bytes (close-on-exec), for the caller to close. The kernel closes what did not fit. Bytes received, 0 = end.
ssize_t cameo_receive_with_descriptors(int socket, void *bytes, size_t count, int *fds, size_t *fd_count);

/// pidfd_open(2): becomes readable for poll when the process ends.
int cameo_pidfd_open(pid_t pid);

/// prctl(PR_SET_PDEATHSIG, SIGKILL), then -1 with ESRCH if `parent` is no longer the parent.
int cameo_die_with_parent(pid_t parent);
/// Lowers a limit (RLIMIT_…), soft and hard, to at most `value`; never raises one.
int cameo_lower_limit(int resource, uint64_t value);

/// From now on a crash (SIGSEGV, SIGBUS, SIGABRT, SIGTRAP, SIGILL, SIGFPE) first writes one line to descriptor 2,
/// "cameo-death errno=<n> VmPeak=<KiB>", and then ends the process by that same signal: after death the kernel shows
/// no memory figures any more, and only they tell "out of memory" from other crashes. On a stack of its own, as far as
/// the calling thread is the one that crashes.
int cameo_report_crashes(void);

/// eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK).
int cameo_eventfd(void);
/// pipe2(fds, O_CLOEXEC), the reading end non-blocking.
int cameo_pipe_nonblocking_read(int fds[2]);
/// pthread_setname_np of the calling thread; at most 15 characters.
void cameo_name_thread(const char *name);
