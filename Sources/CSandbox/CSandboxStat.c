#define _GNU_SOURCE
#include "CSandboxStat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// DESIGN: stat(2), access(2) and the like take a path, which a filter cannot read, and Landlock does not restrict them:
// a renderer could see size, owner and times of every file of the machine. But fontconfig uses them on its folders, and
// glibc up to 2.38 on open files. So the filter raises a signal instead of running the call, and the handler answers
// with what Landlock does check: it opens the path for reading and examines the descriptor. An attacker who controls
// the renderer can remove the handler and gains nothing: the calls stay blocked.
//
// What remains visible is whether a name exists, by the error of openat(2) (ENOENT or EACCES).

#if defined(__x86_64__)
#define ARGUMENT(context, index)                                                                                       \
    ((long)(context)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10}[index]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARGUMENT(context, index) ((long)(context)->uc_mcontext.regs[index])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#endif

#ifdef RESULT

// The value, or the negated error number as the kernel returns it.
static long result(long value) {
    return value < 0 ? -errno : value;
}

// Examines a file that Landlock allows to be read. A pipe without a writer must not block.
static long examine(int folder, const char *path, int flags, struct stat *status) {
    long file = syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, 0);
    if (file < 0) return -errno;
    long answer = status ? result(syscall(SYS_fstat, file, status)) : 0;
    syscall(SYS_close, file);
    return answer;
}

static long status_at(int folder, const char *path, struct stat *status, int flags) {
    // glibc up to 2.38 asks for the status of an open file this way.
    if (flags & AT_EMPTY_PATH && (!path || !*path)) return result(syscall(SYS_fstat, folder, status));
    return examine(folder, path, flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0, status);
}

static long access_at(int folder, const char *path, int mode) {
    return mode & ~R_OK ? -EACCES : examine(folder, path, 0, NULL);
}

static void answer(int number, siginfo_t *info, void *place) {
    (void)number;
    ucontext_t *context = place;
    int saved = errno;
    long first = ARGUMENT(context, 0), second = ARGUMENT(context, 1);
    long third = ARGUMENT(context, 2), fourth = ARGUMENT(context, 3);
    switch (info->si_syscall) {
    case SYS_newfstatat:
        RESULT(context) = status_at((int)first, (const char *)second, (struct stat *)third, (int)fourth);
        break;
    case SYS_faccessat:
#ifdef SYS_faccessat2
    case SYS_faccessat2:
#endif
        RESULT(context) = access_at((int)first, (const char *)second, (int)third);
        break;
#ifdef __x86_64__
    case SYS_stat: RESULT(context) = examine(AT_FDCWD, (const char *)first, 0, (struct stat *)second); break;
    case SYS_lstat: RESULT(context) = examine(AT_FDCWD, (const char *)first, O_NOFOLLOW, (struct stat *)second); break;
    case SYS_access: RESULT(context) = access_at(AT_FDCWD, (const char *)first, (int)second); break;
#endif
    default: RESULT(context) = -EPERM;
    }
    errno = saved;
}

int cameo_answer_stat_calls(void) {
    // SA_NODEFER: a second signal during the handler would otherwise kill the process.
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSYS, &action, NULL);
}

#endif
