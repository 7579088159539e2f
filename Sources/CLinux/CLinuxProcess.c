#define _GNU_SOURCE
#include "CLinuxProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// Duplicates a descriptor above the numbers that the child will use, so that no dup2 overwrites one still to be moved.
static int duplicate_above_child_range(int fd) {
    return fcntl(fd, F_DUPFD_CLOEXEC, 16);
}

// Sets up the attributes of a child: a process group of its own, these signals blocked, all others at their defaults.
static void set_up_child(posix_spawnattr_t *attributes, const sigset_t *blocked) {
    posix_spawnattr_init(attributes);
    posix_spawnattr_setsigmask(attributes, blocked);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

int cameo_spawn_with_socket(pid_t *pid, const char *path, char *const argv[], char *const envp[], int socket_fd,
                            int error_fd) {
    int socket = duplicate_above_child_range(socket_fd);
    if (socket < 0) return errno;
    int error = duplicate_above_child_range(error_fd);
    if (error < 0) {
        int saved = errno;
        close(socket);
        return saved;
    }

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, error, 2);
    posix_spawn_file_actions_adddup2(&files, socket, 3);
    posix_spawn_file_actions_addclosefrom_np(&files, 4);

    // A terminal signals its foreground group, and a service manager may signal every process, but only the parent
    // decides how its children end. The signals are blocked here, not ignored by the child itself, to leave no window
    // before that.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGQUIT);
    set_up_child(&attributes, &signals);

    int result = posix_spawn(pid, path, &files, &attributes, argv, envp);

    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(socket);
    close(error);
    return result;
}

int cameo_spawn_command(pid_t *pid, const char *path, char *const argv[], char *const envp[], int input_fd,
                        int error_fd) {
    int input = duplicate_above_child_range(input_fd);
    if (input < 0) return errno;
    int error = duplicate_above_child_range(error_fd);
    if (error < 0) {
        int saved = errno;
        close(input);
        return saved;
    }

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, error, 2);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    sigset_t none;
    sigemptyset(&none);
    set_up_child(&attributes, &none);

    int result = posix_spawn(pid, path, &files, &attributes, argv, envp);

    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(input);
    close(error);
    return result;
}

// Aligned for its headers, as cmsg(3) requires.
union rights {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int) * CAMEO_MAXIMUM_DESCRIPTORS)];
};

ssize_t cameo_send_with_descriptors(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count,
                                    bool waits) {
    if (fd_count > CAMEO_MAXIMUM_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union rights control;
    if (fd_count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
        memcpy(CMSG_DATA(header), fds, sizeof(int) * fd_count);
    }
    ssize_t sent;
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT));
    } while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t cameo_receive_with_descriptors(int socket, void *bytes, size_t count, int *fds, size_t *fd_count) {
    struct iovec part = {.iov_base = bytes, .iov_len = count};
    union rights control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    *fd_count = 0;
    ssize_t received;
    do {
        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t arrived = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < arrived; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            // The padding of CMSG_SPACE can hold one more descriptor than requested.
            if (*fd_count < CAMEO_MAXIMUM_DESCRIPTORS)
                fds[(*fd_count)++] = fd;
            else
                close(fd);
        }
    }
    return received;
}

int cameo_pidfd_open(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int cameo_die_with_parent(pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return -1;
    if (getppid() == parent) return 0;
    errno = ESRCH; // the parent died before the prctl
    return -1;
}

int cameo_lower_limit(int resource, uint64_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -1;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > value) limit.rlim_max = value;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > value) limit.rlim_cur = value;
    return setrlimit(resource, &limit);
}

// Opened before the sandbox is applied; rereading it from offset 0 returns current figures.
static int status_fd = -1;

static size_t append_number(char *to, uint64_t number) {
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    for (size_t i = 0; i < count; i++) to[i] = digits[count - 1 - i];
    return count;
}

static uint64_t peak_kibibytes(void) {
    char text[8192];
    ssize_t length = pread(status_fd, text, sizeof text - 1, 0);
    if (length <= 0) return 0;
    text[length] = 0;
    const char *found = strstr(text, "VmPeak:");
    if (!found) return 0;
    uint64_t number = 0;
    for (found += 7; *found && *found != '\n'; found++)
        if (*found >= '0' && *found <= '9') number = number * 10 + (uint64_t)(*found - '0');
    return number;
}

static volatile sig_atomic_t rendition;

void cameo_note_rendition(int number) {
    rendition = number;
}

static void report_and_die(int signal) {
    int error = errno;
    char line[128] = "\ncameo-death errno=";
    size_t length = strlen(line);
    length += append_number(line + length, (uint64_t)error);
    memcpy(line + length, " VmPeak=", 8);
    length += 8;
    length += append_number(line + length, peak_kibibytes());
    memcpy(line + length, " rendition=", 11);
    length += 11;
    length += append_number(line + length, (uint64_t)rendition);
    line[length++] = '\n';
    ssize_t written = write(2, line, length);
    (void)written;
    raise(signal); // SA_RESETHAND restored the default
}

// After an overflow, the thread's own stack has no room for the handler.
static char crash_stack[64 << 10];

int cameo_take_crash_stack(void) {
    stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};
    return sigaltstack(&stack, NULL);
}

int cameo_report_crashes(void) {
    status_fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (status_fd < 0 || cameo_take_crash_stack() != 0) return -1;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = report_and_die;
    action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGTRAP, SIGILL, SIGFPE, SIGXCPU};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (sigaction(crashes[i], &action, NULL) != 0) return -1;
    return 0;
}

int cameo_eventfd(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int cameo_pipe_nonblocking_read(int fds[2]) {
    if (pipe2(fds, O_CLOEXEC) != 0) return -1;
    return fcntl(fds[0], F_SETFL, O_NONBLOCK);
}

void cameo_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}
