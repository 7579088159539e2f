// Linux calls for a worker and its renderer processes that Swift cannot make: variadic functions, GNU extensions,
// the CMSG macros, and a signal handler (which must not be Swift: the runtime is not async-signal-safe).
// All return what the call itself returns: -1 with errno set on failure, unless noted otherwise.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Spawns `path` with exactly four descriptors: 0 and 1 /dev/null, 2 `error_fd`, 3 `socket_fd`; in its own process
/// group, with SIGINT, SIGTERM, SIGHUP and SIGQUIT blocked for good and every other signal at its default. `argv` and
/// `envp` end with NULL. Returns 0 or the errno value (not -1). The child's PR_SET_PDEATHSIG fires when the calling
/// *thread* ends.
int cameo_spawn_with_socket(pid_t *pid, const char *path, char *const argv[], char *const envp[], int socket_fd,
                            int error_fd);

/// Spawns `path` with exactly three descriptors: 0 `input_fd`, 1 /dev/null, 2 `error_fd`; in its own process group, with
/// no signal blocked and each at its default. `argv` and `envp` end with NULL. Returns 0 or the errno value (not -1).
int cameo_spawn_command(pid_t *pid, const char *path, char *const argv[], char *const envp[], int input_fd,
                        int error_fd);

/// The maximum number of descriptors in one message: a source and eight overlays.
enum { CAMEO_MAXIMUM_DESCRIPTORS = 9 };

/// sendmsg(2) with `fd_count` descriptors (0…CAMEO_MAXIMUM_DESCRIPTORS, else EINVAL) as SCM_RIGHTS and MSG_NOSIGNAL.
/// Returns the bytes sent. Unless it `waits`, a full socket returns -1 with EAGAIN, and nothing is sent.
ssize_t cameo_send_with_descriptors(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count,
                                    bool waits);
/// Blocking recvmsg(2). `fds` has room for CAMEO_MAXIMUM_DESCRIPTORS; the first *fd_count are those that arrived with
/// the bytes (close-on-exec), and the caller closes them. The kernel closes any that did not fit. Returns the bytes
/// received, 0 at the end.
ssize_t cameo_receive_with_descriptors(int socket, void *bytes, size_t count, int *fds, size_t *fd_count);

/// pidfd_open(2): poll reports the descriptor readable when the process ends.
int cameo_pidfd_open(pid_t pid);

/// Calls prctl(PR_SET_PDEATHSIG, SIGKILL), then returns -1 with ESRCH if `parent` is no longer the parent.
int cameo_die_with_parent(pid_t parent);
/// Lowers the soft and hard limits of a resource (RLIMIT_…) to at most `value`; never raises them.
int cameo_lower_limit(int resource, uint64_t value);

/// Makes a crash (SIGSEGV, SIGBUS, SIGABRT, SIGTRAP, SIGILL, SIGFPE, SIGXCPU) write one line to descriptor 2,
/// "cameo-death errno=<n> VmPeak=<KiB> rendition=<n>", before it ends the process by the same signal. Only these memory
/// figures distinguish "out of memory" from other crashes, and the kernel no longer shows them after death. For the
/// calling thread the handler runs on an alternate stack.
int cameo_report_crashes(void);

/// Lets the handler of `cameo_report_crashes` run in the calling thread even after an overflow of its stack. One thread
/// has this at a time: the last that called it. Returns 0, or -1 and errno.
int cameo_take_crash_stack(void);

/// Says which rendition is being made, counted from 1, for that line; 0: none.
void cameo_note_rendition(int number);

int cameo_eventfd(void);
/// pipe2(fds, O_CLOEXEC) with a non-blocking read end.
int cameo_pipe_nonblocking_read(int fds[2]);
/// Names the calling thread (pthread_setname_np); at most 15 characters.
void cameo_name_thread(const char *name);
