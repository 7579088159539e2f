#define _GNU_SOURCE
#include "CMemory.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

// DESIGN: some decoders hand over memory that they did not wholly write, and what malloc gave them may have held another
// user's picture. So the functions below, which the dynamic linker prefers to glibc's for every library of the process
// (https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html), give memory that holds nothing. glibc's own
// `glibc.malloc.perturb` does not reach blocks of the thread cache, and without that cache small pictures take 8 % more
// processor time. `calloc` needs no replacement.

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

// The size of the largest block in the thread cache, from which glibc's calloc takes none. It does not touch new pages.
enum { LARGEST_CACHED = 1032 };

static wchar_t content;

void cameo_fill_memory(unsigned short number) {
    content = (wchar_t)((unsigned)number << 16 | number);
}

static void fill(char *from, char *to) {
    if (content == 0) {
        memset(from, 0, (size_t)(to - from));
    } else {
        // Sizes that malloc grants are multiples of eight.
        wmemset((wchar_t *)from, content, (size_t)(to - from) / sizeof(wchar_t));
    }
}

static void *filled(void *block) {
    if (block) fill(block, (char *)block + malloc_usable_size(block));
    return block;
}

void *malloc(size_t size) {
    return size > LARGEST_CACHED && content == 0 ? __libc_calloc(1, size) : filled(__libc_malloc(size));
}

void *realloc(void *block, size_t size) {
    size_t before = block ? malloc_usable_size(block) : 0;
    block = __libc_realloc(block, size);
    size_t after = block ? malloc_usable_size(block) : 0;
    if (after > before) fill((char *)block + before, (char *)block + after);
    return block;
}

void *memalign(size_t alignment, size_t size) {
    return filled(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

void *valloc(size_t size) {
    return memalign((size_t)sysconf(_SC_PAGESIZE), size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *found = memalign(alignment, size);
    if (!found) return ENOMEM;
    *block = found;
    return 0;
}

void cameo_reuse_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 16 << 20);
    // Another arena would reserve 64 MiB of the address space, which is limited, for the one thread that works.
    mallopt(M_ARENA_MAX, 1);
}
