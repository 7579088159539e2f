// Linux calls that Swift's Glibc module does not show: they need _GNU_SOURCE, are variadic, or have no wrapper.
// All return as the call itself does: -1 (or a negative number) with errno set on failure.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "CLinuxProcess.h"

/// An open-file-description lock on the whole file (fcntl F_OFD_SETLK, write lock). The kernel drops it when the
/// last descriptor of the description is closed, also at SIGKILL. 0 = taken, -1 with EAGAIN = someone holds it.
int cameo_ofd_lock(int fd);
/// 1 = another open file description holds a lock on the file, 0 = free, -1 = errno (fcntl F_OFD_GETLK).
int cameo_ofd_is_locked(int fd);
/// A shared lock of the same kind on one byte, which need not exist.
int cameo_ofd_share_byte(int fd, int64_t position);
/// 1 = another open file description holds a lock on one of these bytes, 0 = none does, -1 = errno.
int cameo_ofd_is_locked_between(int fd, int64_t first, int64_t last);
/// Gives up all that the open file description holds.
int cameo_ofd_unlock(int fd);

/// memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING).
int cameo_memfd_create(const char *name);
/// Adds F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL: nobody can truncate it under a reader.
int cameo_memfd_seal(int fd);

/// openat2(2) with O_PATH | O_CLOEXEC and RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS: `path` is relative to
/// `directory_fd` and cannot leave it, not by "..", not by a link. EXDEV = it tried.
int cameo_open_path_beneath(int directory_fd, const char *path);
/// open(2) with O_PATH | O_DIRECTORY | O_CLOEXEC.
int cameo_open_directory_path(const char *path);

/// prlimit(2) on another process: both limits of RLIMIT_CPU, in seconds. -1 = errno.
int cameo_limit_cpu_seconds(pid_t pid, uint64_t soft, uint64_t hard);

/// CLOCK_MONOTONIC in milliseconds: one for all processes since the machine started; it never jumps, and stands still
/// while the machine sleeps.
int64_t cameo_monotonic_ms(void);

/// Version of the kernel's Landlock, 0 or less where there is none (landlock_create_ruleset(2)).
int cameo_landlock_version(void);
/// 1 where the kernel takes seccomp filters (seccomp(2), SECCOMP_GET_ACTION_AVAIL).
int cameo_has_seccomp_filters(void);

/// statfs(2) f_type of the file system that holds `path`, or -1. See linux/magic.h.
int64_t cameo_filesystem_type(const char *path);
/// syncfs(2): all that was written to the file system that holds `path`. 0, or -1 with errno.
int cameo_sync_filesystem(const char *path);
/// fsync(2) of a directory, so that a rename in it is durable. 0, or -1 with errno.
int cameo_sync_directory(const char *path);
