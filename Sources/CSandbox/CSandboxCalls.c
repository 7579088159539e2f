// Which system calls a child may make (seccomp).
#define _GNU_SOURCE
#include "CSandbox.h"
#include "CSandboxStat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef ARCHITECTURE

int cameo_restrict_calls(bool generates_code) {
    (void)generates_code;
    errno = ENOSYS;
    return -1;
}

#else

// Allowed unconditionally. Those that reach beyond the process need a descriptor, and the only descriptors to be had
// are those of a job and of files that Landlock lets it read.
static const int plain_calls[] = {
    // The worker's socket, sources, fonts.
    SYS_read, SYS_readv, SYS_pread64, SYS_write, SYS_writev, SYS_recvmsg, SYS_sendmsg, SYS_close, SYS_lseek,
    SYS_fstat, SYS_fstatfs, SYS_getdents64, SYS_fadvise64,
    // Memory.
    SYS_brk, SYS_munmap, SYS_mremap,
    // Threads and synchronisation.
    SYS_futex, SYS_set_robust_list, SYS_rseq, SYS_sched_yield, SYS_sched_getaffinity, SYS_gettid, SYS_getpid,
    SYS_nanosleep, SYS_clock_nanosleep, SYS_exit, SYS_exit_group,
    // Signals of its own: the crash handler.
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_restart_syscall,
    // The time (if the vDSO has no clock) and the machine.
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_sysinfo, SYS_uname, SYS_getrandom, SYS_umask,
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
};

// Answered by the handler of `cameo_answer_stat_calls`.
static const int stat_calls[] = {
    SYS_newfstatat, SYS_faccessat,
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef __x86_64__
    SYS_access, SYS_lstat, SYS_stat,
#endif
};

// No path is a symbolic link as far as realpath(3) can tell: Landlock follows links, and their targets stay hidden.
static const int links[] = {
    SYS_readlinkat,
#ifdef __x86_64__
    SYS_readlink,
#endif
};

// DESIGN: the filter compares the call's number with one entry after the other; the kernel (5.11 and later) caches
// which numbers are always allowed and does not run the filter for them. A filter is a program for a machine with one
// register; jumps count the instructions to skip.
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
// The lower and the upper half of an argument on a little-endian machine.
#define LOAD_ARGUMENT(index) LOAD(args[index])
#define LOAD_UPPER_HALF(index) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[index]) + 4)
#define SKIP_UNLESS_EQUAL(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, count)
#define SKIP_IF_EQUAL(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), count, 0)
#define SKIP_IF_ANY_BIT(mask, count) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(mask), count, 0)
#define SKIP_UNLESS_ANY_BIT(mask, count) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(mask), 0, count)
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)

#define ALLOW ANSWER(SECCOMP_RET_ALLOW)
#define REFUSE ANSWER(SECCOMP_RET_ERRNO | EPERM)

#define COUNT(array) (sizeof(array) / sizeof *(array))

// O_PATH opens files that Landlock does not check, which would reveal their metadata.
#define MORE_THAN_READING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY) | O_PATH)
#define NEW_NAMESPACES                                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

static size_t answer_all(struct sock_filter *program, const int calls[], size_t count, uint32_t action) {
    for (size_t i = 0; i < count; i++) {
        *program++ = (struct sock_filter)SKIP_UNLESS_EQUAL(calls[i], 1);
        *program++ = (struct sock_filter)ANSWER(action);
    }
    return 2 * count;
}

int cameo_restrict_calls(bool generates_code) {
    // clang-format off
    const struct sock_filter entry[] = {
        LOAD(arch), SKIP_IF_EQUAL(ARCHITECTURE, 1), ANSWER(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
#ifdef __x86_64__
        // The x32 ABI has the same architecture and other numbers.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), ANSWER(SECCOMP_RET_KILL_PROCESS),
#endif
    };
    // Every block ends with an answer, because the call's number is loaded only at the beginning.
    const struct sock_filter conditional[] = {
        SKIP_UNLESS_EQUAL(SYS_clone3, 1), ANSWER(SECCOMP_RET_ERRNO | ENOSYS),

        // Threads, but no processes.
        SKIP_UNLESS_EQUAL(SYS_clone, 5), LOAD_ARGUMENT(0),
        SKIP_UNLESS_ANY_BIT(CLONE_THREAD, 2), SKIP_IF_ANY_BIT(NEW_NAMESPACES, 1), ALLOW, REFUSE,

        // Reading only; Landlock decides which files.
        SKIP_UNLESS_EQUAL(SYS_openat, 4), LOAD_ARGUMENT(2), SKIP_IF_ANY_BIT(MORE_THAN_READING, 1), ALLOW, REFUSE,

        // No memory becomes executable, and no file is mapped as code.
        SKIP_UNLESS_EQUAL(SYS_mprotect, 4), LOAD_ARGUMENT(2), SKIP_IF_ANY_BIT(PROT_EXEC, 1), ALLOW, REFUSE,
        SKIP_UNLESS_EQUAL(SYS_mmap, 7), LOAD_ARGUMENT(2), SKIP_UNLESS_ANY_BIT(PROT_EXEC, 3),
        LOAD_ARGUMENT(3), SKIP_UNLESS_ANY_BIT(generates_code ? MAP_ANONYMOUS : 0, 2), ALLOW, ALLOW, REFUSE,

        // Not MADV_HWPOISON (100) and above, which take memory away from the machine.
        SKIP_UNLESS_EQUAL(SYS_madvise, 4), LOAD_ARGUMENT(2), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 100, 1, 0), ALLOW, REFUSE,

        // Signals to itself only, as abort sends.
        SKIP_UNLESS_EQUAL(SYS_tgkill, 4), LOAD_ARGUMENT(0), SKIP_UNLESS_EQUAL(getpid(), 1), ALLOW, REFUSE,

        // Naming a thread.
        SKIP_UNLESS_EQUAL(SYS_prctl, 4), LOAD_ARGUMENT(0), SKIP_UNLESS_EQUAL(PR_SET_NAME, 1), ALLOW, REFUSE,

        // Not F_SETOWN or F_SETSIG, which make the kernel send signals to any process.
        SKIP_UNLESS_EQUAL(SYS_fcntl, 7), LOAD_ARGUMENT(1), SKIP_IF_EQUAL(F_GETFD, 4), SKIP_IF_EQUAL(F_SETFD, 3),
        SKIP_IF_EQUAL(F_GETFL, 2), SKIP_IF_EQUAL(F_DUPFD_CLOEXEC, 1), REFUSE, ALLOW,

        // getrlimit for itself: glibc queries the stack size.
        SKIP_UNLESS_EQUAL(SYS_prlimit64, 8), LOAD_ARGUMENT(0), SKIP_UNLESS_EQUAL(0, 5),
        LOAD_ARGUMENT(2), SKIP_UNLESS_EQUAL(0, 3), LOAD_UPPER_HALF(2), SKIP_UNLESS_EQUAL(0, 1), ALLOW, REFUSE,

        REFUSE,
    };
    // clang-format on

    enum { LISTED = COUNT(plain_calls) + COUNT(stat_calls) + COUNT(links) };
    struct sock_filter program[COUNT(entry) + 2 * LISTED + COUNT(conditional)];
    size_t length = COUNT(entry);
    memcpy(program, entry, sizeof entry);
    length += answer_all(program + length, plain_calls, COUNT(plain_calls), SECCOMP_RET_ALLOW);
    length += answer_all(program + length, stat_calls, COUNT(stat_calls), SECCOMP_RET_TRAP);
    length += answer_all(program + length, links, COUNT(links), SECCOMP_RET_ERRNO | EINVAL);
    memcpy(program + length, conditional, sizeof conditional);
    length += COUNT(conditional);

    if (cameo_answer_stat_calls() != 0) return -1;
    struct sock_fprog filter = {.len = (unsigned short)length, .filter = program};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
}

#endif
