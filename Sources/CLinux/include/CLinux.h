// Linux calls that Swift's Glibc module does not expose: they need _GNU_SOURCE, are variadic, or have no wrapper.
// All return what the call itself returns: -1 (or a negative number) with errno set on failure.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "CLinuxProcess.h"

/// Takes an open-file-description lock on the whole file (fcntl F_OFD_SETLK, write lock). The kernel drops it when the
/// last descriptor of the description is closed, even by SIGKILL. 0 = locked, -1 with EAGAIN = already locked.
int cameo_ofd_lock(int fd);
/// 1 = another open file description holds a lock on the file, 0 = free, -1 = errno (fcntl F_OFD_GETLK).
int cameo_ofd_is_locked(int fd);
/// Takes a shared open-file-description lock on one byte, which need not exist.
int cameo_ofd_share_byte(int fd, int64_t position);
/// 1 = another open file description holds a lock on one of these bytes, 0 = none does, -1 = errno.
int cameo_ofd_is_locked_between(int fd, int64_t first, int64_t last);
/// Releases all locks of the open file description.
int cameo_ofd_unlock(int fd);

int cameo_memfd_create(const char *name);
/// Adds F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL, so that the file cannot be truncated under a reader.
int cameo_memfd_seal(int fd);

/// openat2(2) with O_PATH | O_CLOEXEC and RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS: `path` is relative to
/// `directory_fd` and cannot escape it, neither by ".." nor by a link. EXDEV = it tried to.
int cameo_open_path_beneath(int directory_fd, const char *path);
int cameo_open_directory_path(const char *path);

/// The number of processors in the affinity of the calling thread (sched_getaffinity(2)), or of those online if the
/// machine has more than the set's 1024.
int cameo_affinity(void);

/// Sets both limits of RLIMIT_CPU of another process, in seconds (prlimit(2)).
int cameo_limit_cpu_seconds(pid_t pid, uint64_t soft, uint64_t hard);

/// Sets the nice value of all threads of this process (setpriority(2) means a thread by a process). Threads and programs
/// that they start later inherit it.
int cameo_set_nice(int nice);
/// Puts all threads of this process into the idle class of the disk's scheduler (ioprio_set(2)), as cameo_set_nice does.
int cameo_set_idle_io(void);

/// CLOCK_MONOTONIC in milliseconds: common to all processes, counted from the machine's start; it never jumps, and
/// stops while the machine is suspended.
int64_t cameo_monotonic_ms(void);

/// The version of the kernel's Landlock, 0 or less if it has none (landlock_create_ruleset(2)).
int cameo_landlock_version(void);
/// 1 if the kernel supports seccomp filters (seccomp(2), SECCOMP_GET_ACTION_AVAIL).
int cameo_has_seccomp_filters(void);

/// The type of the file system that contains `path` (statfs(2) f_type; see linux/magic.h), or -1.
int64_t cameo_filesystem_type(const char *path);
/// Flushes the file system that contains `path` (syncfs(2)).
int cameo_sync_filesystem(const char *path);
/// Flushes a directory (fsync(2)), so that a rename in it is durable.
int cameo_sync_directory(const char *path);
