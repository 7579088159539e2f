// A disk that fails or is slow, and a wall clock that jumps, for a real program: to be preloaded (LD_PRELOAD). deploy/soak,
// deploy/test --slow-sync and the end-to-end tests compile it with `cc -shared -fPIC`.
//
// CAMEO_TEST_SYNC_DELAY_MS is what every sync takes longer than it would.
//
// CAMEO_FAULTS names a folder, in which tests write and this file reads
//   rules    lines of CALL ERROR PART SKIP COUNT: of the calls (write, sync) to files whose path contains PART the first
//            SKIP pass, the next COUNT fail with ERROR (EIO, ENOSPC, EACCES), write half of what they should (SHORT), or are
//            the last that the process does (KILL).
//            Replaced by rename, it counts from the beginning again, in every process by itself.
//   clock    seconds by which the wall clock is ahead, or behind.
// and in which this file keeps an account of
//   fired    a line of CALL ERROR PATH for each failure;
//   durable  the end of that part of the write-ahead log that is synced, as eight bytes;
//   synced   the inode of each blob's file that was synced, one a line.
// What is beyond the last two may be lost when the power fails: a test that takes it away from a copy of the store has
// cut the power. All writes and syncs of SQLite's log are made under its write lock, so that account needs no lock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct rule {
    char call[8], error[8], part[128];
    long skip, count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rule rules[16];
static int rule_count;
static struct timespec rules_changed;
static ino_t rules_inode;
static off_t log_end;

static const char *in_folder(const char *name, char *path) {
    const char *folder = getenv("CAMEO_FAULTS");
    if (!folder) return NULL;
    snprintf(path, 512, "%s/%s", folder, name);
    return path;
}

static long raw_read(const char *name, char *text, size_t size) {
    char path[512];
    if (!in_folder(name, path)) return -1;
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return -1;
    long count = syscall(SYS_read, file, text, size - 1);
    syscall(SYS_close, file);
    if (count >= 0) text[count] = 0;
    return count;
}

static void raw_write(const char *name, int flags, const void *bytes, size_t size) {
    char path[512];
    if (!in_folder(name, path)) return;
    int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    if (file < 0) return;
    syscall(SYS_write, file, bytes, size);
    syscall(SYS_close, file);
}

// Called under the lock.
static void read_rules(void) {
    char path[512], text[2048];
    struct stat status;
    if (!in_folder("rules", path) || stat(path, &status) != 0) {
        rule_count = 0;
        return;
    }
    if (status.st_ino == rules_inode && !memcmp(&status.st_mtim, &rules_changed, sizeof rules_changed)) return;
    rules_inode = status.st_ino;
    rules_changed = status.st_mtim;
    rule_count = 0;
    if (raw_read("rules", text, sizeof text) < 0) return;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line && rule_count < 16; line = strtok_r(NULL, "\n", &rest)) {
        struct rule *rule = &rules[rule_count];
        if (sscanf(line, "%7s %7s %127s %ld %ld", rule->call, rule->error, rule->part, &rule->skip, &rule->count) == 5)
            rule_count++;
    }
}

// The name of the error that this call is to end with, or NULL.
static const char *verdict(const char *call, const char *path) {
    const char *error = NULL;
    pthread_mutex_lock(&lock);
    read_rules();
    for (int index = 0; index < rule_count && !error; index++) {
        struct rule *rule = &rules[index];
        if (strcmp(rule->call, call) || !strstr(path, rule->part)) continue;
        if (rule->skip > 0) rule->skip--;
        else if (rule->count > 0) {
            rule->count--;
            error = rule->error;
        }
    }
    pthread_mutex_unlock(&lock);
    if (error) {
        char line[800];
        int length = snprintf(line, sizeof line, "%s %s %s\n", call, error, path);
        raw_write("fired", O_APPEND, line, length);
        if (!strcmp(error, "KILL")) kill(getpid(), SIGKILL);
    }
    return error;
}

static int number(const char *error) {
    return !strcmp(error, "ENOSPC") ? ENOSPC : !strcmp(error, "EACCES") ? EACCES : EIO;
}

// Empty for what is no file of a file system.
static const char *path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = getenv("CAMEO_FAULTS") ? readlink(link, path, 511) : 0;
    path[length > 0 ? length : 0] = 0;
    if (path[0] != '/') path[0] = 0;
    return path;
}

static int is_log(const char *path) {
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, "-wal");
}

static void note_durable(off_t end) { raw_write("durable", 0, &end, sizeof end); }

static ssize_t written(const char *path, size_t size, size_t *allowed) {
    const char *error = path[0] ? verdict("write", path) : NULL;
    *allowed = size;
    if (!error) return 0;
    if (!strcmp(error, "SHORT")) {
        *allowed = size > 1 ? size / 2 : size;
        return 0;
    }
    errno = number(error);
    return -1;
}

ssize_t write(int file, const void *bytes, size_t size) {
    char path[512];
    size_t allowed;
    if (written(path_of(file, path), size, &allowed) < 0) return -1;
    return syscall(SYS_write, file, bytes, allowed);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t offset) {
    char path[512];
    size_t allowed;
    if (written(path_of(file, path), size, &allowed) < 0) return -1;
    ssize_t count = syscall(SYS_pwrite64, file, bytes, allowed, offset);
    if (count > 0 && is_log(path)) {
        if (offset == 0) note_durable(0);
        if (offset + count > log_end) log_end = offset + count;
    }
    return count;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) { return pwrite64(file, bytes, size, offset); }

static void delay(void) {
    const char *text = getenv("CAMEO_TEST_SYNC_DELAY_MS");
    long milliseconds = text ? strtol(text, NULL, 10) : 0;
    struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    if (milliseconds > 0)
        while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {}
}

static int synced(int file, int call) {
    delay();
    char path[512];
    const char *error = path_of(file, path)[0] ? verdict("sync", path) : NULL;
    if (error) {
        errno = number(error);
        return -1;
    }
    int result = syscall(call, file);
    if (result != 0 || !path[0]) return result;
    if (is_log(path)) {
        off_t before = 0, end = log_end;
        char bytes[16];
        if (raw_read("durable", bytes, sizeof bytes) == sizeof before) memcpy(&before, bytes, sizeof before);
        log_end = 0;
        if (end > before) note_durable(end);
    } else if (strstr(path, "/blobs/")) {
        struct stat status;
        char line[32];
        if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
            raw_write("synced", O_APPEND, line, snprintf(line, sizeof line, "%lu\n", (unsigned long)status.st_ino));
    }
    return result;
}

int fsync(int file) { return synced(file, SYS_fsync); }
int fdatasync(int file) { return synced(file, SYS_fdatasync); }

int syncfs(int file) {
    delay();
    return syscall(SYS_syncfs, file);
}

int ftruncate64(int file, off_t length) {
    char path[512];
    int result = syscall(SYS_ftruncate, file, length);
    if (result == 0 && is_log(path_of(file, path))) {
        log_end = 0;
        note_durable(length);
    }
    return result;
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

static long ahead(void) {
    char text[32];
    return raw_read("clock", text, sizeof text) > 0 ? strtol(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += ahead();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int result = syscall(SYS_gettimeofday, time, zone);
    if (result == 0) time->tv_sec += ahead();
    return result;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
