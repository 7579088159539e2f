#define _GNU_SOURCE
#include "CSandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The numbers and structures are repeated here because linux/landlock.h is as old as the distribution's kernel headers,
// and rights of a newer kernel would stay unrestricted. (https://docs.kernel.org/userspace-api/landlock.html)
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446

#define VERSION_QUERY 1u
#define RULE_PATH_BENEATH 1

#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)

struct ruleset {
    uint64_t handled_files;
    uint64_t handled_network;
    uint64_t scopes;
};

struct path_rule {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));

// Everything that a version can restrict. A newer version than these is treated as the last.
static struct ruleset everything(int version) {
    struct ruleset all = {.handled_files = (1ull << 13) - 1}; // execute, write, read, remove, make
    if (version >= 2) all.handled_files |= 1ull << 13;        // link and rename to another folder
    if (version >= 3) all.handled_files |= 1ull << 14;        // truncate
    if (version >= 5) all.handled_files |= 1ull << 15;        // ioctl on devices
    if (version >= 4) all.handled_network = 3;                // bind and connect TCP
    if (version >= 6) all.scopes = 3;                         // abstract Unix sockets, signals
    return all;
}

static int allow_reading(int ruleset, const char *folder) {
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return 0; // missing, a loop of links, a stale mount: nothing is read there, and the rest stays blocked
    struct path_rule rule = {.allowed = READ_FILE | READ_DIR, .parent_fd = fd};
    int result = (int)syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0);
    int saved = errno;
    close(fd);
    // EBADFD: the folder's file system supports no rules, such as the kernel's own. It is skipped.
    if (result != 0 && saved == EBADFD) return 0;
    errno = saved;
    return result;
}

int cameo_restrict_files(const char *const folders[], size_t count) {
    int version = (int)syscall(CREATE_RULESET, NULL, 0, VERSION_QUERY);
    if (version < 1) return -1;
    struct ruleset all = everything(version);
    // An older kernel accepts the longer structure as long as the fields it does not know are 0.
    int ruleset = (int)syscall(CREATE_RULESET, &all, sizeof all, 0);
    if (ruleset < 0) return -1;
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) result = allow_reading(ruleset, folders[i]);
    if (result == 0) result = (int)syscall(RESTRICT_SELF, ruleset, 0);
    int saved = errno;
    close(ruleset);
    errno = saved;
    return result == 0 ? version : -1;
}

int cameo_give_up_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int cameo_thread_count(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return -1;
    int count = 0;
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks)) count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}
