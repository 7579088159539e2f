#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

// glibc makes threads by clone3, and falls back to clone only where that is unknown (ENOSYS). Where a seccomp profile refuses
// it otherwise, a program would wait for its first thread for ever. The kernel answers a call without arguments by EINVAL.
__attribute__((constructor)) static void require_clone3(void) {
    if (syscall(SYS_clone3, NULL, (size_t)0) == 0 || errno != EPERM)
        return;
    static const char text[] = "this host refuses the system call clone3 (Operation not permitted), by which threads are "
                               "made; the container's seccomp profile has to allow it, or answer ENOSYS\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {} // nobody else can be told
    _exit(EXIT_FAILURE);
}

static struct flock range(short type, int64_t start, int64_t length) {
    struct flock lock;
    memset(&lock, 0, sizeof lock); // F_OFD_* requires l_pid = 0
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = start;
    lock.l_len = length;
    return lock;
}

static struct flock whole_file(short type) {
    return range(type, 0, 0); // length 0: to the end, however far the file grows
}

static int is_locked(int fd, struct flock lock) {
    if (fcntl(fd, F_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

int cameo_ofd_lock(int fd) {
    struct flock lock = whole_file(F_WRLCK);
    return fcntl(fd, F_OFD_SETLK, &lock);
}

int cameo_ofd_is_locked(int fd) {
    return is_locked(fd, whole_file(F_WRLCK));
}

int cameo_ofd_share_byte(int fd, int64_t position) {
    struct flock lock = range(F_RDLCK, position, 1);
    return fcntl(fd, F_OFD_SETLK, &lock);
}

int cameo_ofd_is_locked_between(int fd, int64_t first, int64_t last) {
    return is_locked(fd, range(F_WRLCK, first, last - first + 1));
}

int cameo_ofd_unlock(int fd) {
    struct flock lock = whole_file(F_UNLCK);
    return fcntl(fd, F_OFD_SETLK, &lock);
}

int cameo_memfd_create(const char *name) {
    return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int cameo_memfd_seal(int fd) {
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

int cameo_open_path_beneath(int directory_fd, const char *path) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    int fd;
    do { // EAGAIN: a rename raced with the path walk; try again
        fd = (int)syscall(SYS_openat2, directory_fd, path, &how, sizeof how);
    } while (fd < 0 && (errno == EAGAIN || errno == EINTR));
    return fd;
}

int cameo_open_directory_path(const char *path) {
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int cameo_affinity(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int cameo_limit_cpu_seconds(pid_t pid, uint64_t soft, uint64_t hard) {
    struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
    return prlimit(pid, RLIMIT_CPU, &limit, NULL);
}

static int set_nice(pid_t thread, int nice) {
    return setpriority(PRIO_PROCESS, (id_t)thread, nice);
}

static int set_io_class(pid_t thread, int class) {
    return (int)syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, thread, class << 13 /* IOPRIO_CLASS_SHIFT */);
}

static int each_thread(int (*set)(pid_t, int), int value) {
    // Twice: a thread may have been started by one that had its turn later.
    for (int round = 0; round < 2; round++) {
        DIR *threads = opendir("/proc/self/task");
        if (!threads) return -1;
        struct dirent *entry;
        int failure = 0;
        while ((entry = readdir(threads))) {
            pid_t thread = (pid_t)atoi(entry->d_name);
            if (thread > 0 && set(thread, value) != 0 && errno != ESRCH) failure = errno;
        }
        closedir(threads);
        if (failure) {
            errno = failure;
            return -1;
        }
    }
    return 0;
}

int cameo_set_nice(int nice) {
    return each_thread(set_nice, nice);
}

int cameo_set_idle_io(void) {
    return each_thread(set_io_class, 3 /* IOPRIO_CLASS_IDLE */);
}

int64_t cameo_monotonic_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t cameo_filesystem_type(const char *path) {
    struct statfs fs;
    return statfs(path, &fs) == 0 ? (int64_t)fs.f_type : -1;
}

int cameo_sync_directory(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = fsync(fd);
    int saved = errno;
    close(fd);
    errno = saved;
    return result;
}

int cameo_sync_filesystem(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = syncfs(fd);
    int reason = errno;
    close(fd);
    errno = reason;
    return result;
}

int cameo_landlock_version(void) {
    return (int)syscall(444 /* landlock_create_ruleset */, NULL, 0, 1u /* LANDLOCK_CREATE_RULESET_VERSION */);
}

int cameo_has_seccomp_filters(void) {
    unsigned action = SECCOMP_RET_KILL_PROCESS;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}
