#define _GNU_SOURCE
#include "CAttempt.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER(name) {#name, SYS_##name}

static const struct {
    const char *name;
    long number;
} calls[] = {
#ifdef __x86_64__
    NUMBER(fork), NUMBER(vfork), NUMBER(access), NUMBER(lstat), NUMBER(readlink), NUMBER(stat),
#endif
    NUMBER(faccessat), NUMBER(getxattr), NUMBER(name_to_handle_at), NUMBER(newfstatat), NUMBER(readlinkat),
    NUMBER(statfs), NUMBER(statx),
    NUMBER(accept), NUMBER(bind), NUMBER(bpf), NUMBER(chdir), NUMBER(clone), NUMBER(clone3), NUMBER(execve),
    NUMBER(execveat), NUMBER(fcntl), NUMBER(io_uring_setup), NUMBER(ioctl), NUMBER(keyctl), NUMBER(kill),
    NUMBER(listen), NUMBER(madvise), NUMBER(memfd_create), NUMBER(mmap), NUMBER(mount), NUMBER(openat2),
    NUMBER(perf_event_open), NUMBER(personality), NUMBER(pidfd_open), NUMBER(pidfd_send_signal), NUMBER(prctl),
    NUMBER(prlimit64), NUMBER(process_vm_readv), NUMBER(process_vm_writev), NUMBER(ptrace), NUMBER(rt_sigqueueinfo),
    NUMBER(seccomp), NUMBER(setpriority), NUMBER(setsockopt), NUMBER(setuid), NUMBER(socket), NUMBER(socketpair),
    NUMBER(tgkill), NUMBER(tkill), NUMBER(unshare), NUMBER(userfaultfd),
};

long cameo_try_call(const char *name, const long arguments[6]) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return syscall(calls[i].number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                           arguments[5]);
    errno = EDOM; // no name of a call that a test tries
    return -1;
}

enum { PATTERN = 0xA5, WAYS = 6, LARGEST = 64 << 20 };

static void *get(int way, size_t size) {
    void *block = NULL;
    switch (way) {
    case 0: return malloc(size);
    case 1: return realloc(malloc(size / 2), size);
    case 2: return reallocarray(malloc(1), size, 1);
    case 3: return aligned_alloc(64, size);
    case 4: return valloc(size);
    default: return posix_memalign(&block, 32, size) ? NULL : block;
    }
}

static size_t next_size(size_t size) {
    return size < 1040 ? size + 16 : size < LARGEST && size * 3 / 2 > LARGEST ? LARGEST : size * 3 / 2;
}

long cameo_find_left_memory(int first, int rounds) {
    long found = 0;
    for (int round = first; round < first + rounds; round++) {
        for (size_t size = 16; size <= LARGEST; size = next_size(size)) {
            // Of the large ones a few are enough, and all take long.
            size_t every = size > 1 << 20 ? 200 : size > 1 << 16 ? 20 : 1;
            if ((round + size / 7) % every != 0) continue;
            // Behind each other, so that some are merged and others not.
            unsigned char *blocks[4];
            int count = size > 1 << 20 ? 1 : 4;
            for (int i = 0; i < count; i++) {
                blocks[i] = get((round + i) % WAYS, size);
                if (!blocks[i]) return -1;
            }
            for (int i = 0; i < count; i++) memset(blocks[i], PATTERN, malloc_usable_size(blocks[i]));
            for (int i = 0; i < count; i++) free(blocks[i]);
            for (int i = 0; i < count; i++) {
                blocks[i] = get((round / WAYS + i) % WAYS, size);
                if (!blocks[i]) return -1;
                const volatile unsigned char *bytes = blocks[i];
                for (size_t at = 0; at < size; at++) found += bytes[at] == PATTERN;
            }
            for (int i = 0; i < count; i++) free(blocks[i]);
        }
    }
    return found;
}
