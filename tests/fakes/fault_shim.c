// Preloaded into the program: counts its calls that change files below a folder, and lets one of them fail.
//
// FAULT_FOLDER  the folder, by its real path
// FAULT_LOG     a line for each call: its number, "fault" or "-", name, path; empty or absent: none
// FAULT_AT      number of the call that fails, from 1; 0: none
// FAULT_ERRNO   the number of its error
// FAULT_MODE    once: only this call; stays: all that follow that need space, too; short: this write takes half of its bytes
//               and no call fails; cut: it takes half, and the next one fails
//
// Children are started without it. What the C library calls inside itself is not seen, so its functions that open files are here, too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static size_t folder_length;
static int log_fd = -1;
static long fault_at;
static int fault_errno;
static enum { kOnce, kStays, kShort, kCut } mode;
static long calls;
static int cut;  // the next write of a `cut` fails
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char* at = getenv("FAULT_AT");
    const char* below = getenv("FAULT_FOLDER");
    const char* number = getenv("FAULT_ERRNO");
    const char* how = getenv("FAULT_MODE");
    const char* log = getenv("FAULT_LOG");
    fault_at = at ? atol(at) : 0;
    fault_errno = number ? atoi(number) : EIO;
    mode = !how || !strcmp(how, "once") ? kOnce : !strcmp(how, "stays") ? kStays : !strcmp(how, "short") ? kShort : kCut;
    if (log && *log) log_fd = (int)REAL(open)(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (below) snprintf(folder, sizeof folder, "%s/", below);
    folder_length = strlen(folder);
    unsetenv("LD_PRELOAD");
}

// The absolute path of `path` as it is named from `dirfd`: steps of "." and ".." stay.
static const char* absolute(int dirfd, const char* path, char* buffer) {
    if (path[0] == '/') return path;
    char base[PATH_MAX] = "";
    if (dirfd == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) return path;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
        const ssize_t length = readlink(link, base, sizeof base - 1);
        base[length < 0 ? 0 : length] = 0;
    }
    if (snprintf(buffer, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) return path;
    return buffer;
}

static int needs_space(const char* name) {
    return strcmp(name, "rename") != 0 && strcmp(name, "close") != 0;
}

// Whether the call fails; errno is its error then.
static int fails_at(const char* name, const char* path) {
    if (!folder_length || strncmp(path, folder, folder_length) != 0) return 0;
    pthread_mutex_lock(&mutex);
    const long number = ++calls;
    int fails = number == fault_at;
    if (mode == kStays) fails = fault_at && number >= fault_at && (number == fault_at || needs_space(name));
    const int is_write = strcmp(name, "write") == 0;
    if (mode == kShort || mode == kCut) fails = is_write && (fails || cut) ? (cut ? 1 : 2) : 0;
    if (log_fd >= 0) {
        char line[PATH_MAX + 64];
        const int length = snprintf(line, sizeof line, "%ld %s %s %s\n", number, fails ? "fault" : "-", name, path);
        if (REAL(write)(log_fd, line, (size_t)length) < 0) abort();
    }
    if (fails == 2 && mode == kCut) cut = 1;
    if (fails == 1 && mode == kCut) cut = 0;
    pthread_mutex_unlock(&mutex);
    errno = fault_errno;
    return fails;
}

static int fails(const char* name, int dirfd, const char* path) {
    char buffer[PATH_MAX];
    return fails_at(name, absolute(dirfd, path, buffer));
}

// Of an open file; what is neither a regular file nor a folder never fails.
static int fails_open(const char* name, int fd) {
    struct stat status;
    char link[64], path[PATH_MAX];
    if (fd < 0 || fd == log_fd || fstat(fd, &status) != 0) return 0;
    if (!S_ISREG(status.st_mode) && strcmp(name, "fsync") != 0) return 0;
    // Of files that are only read, nothing can be lost.
    if (S_ISREG(status.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails_at(name, path);
}

static int changes(int flags) { return (flags & (O_CREAT | O_TRUNC)) || (flags & O_ACCMODE) != O_RDONLY; }

#define OPEN(name, declared, dirfd, ...)                         \
    int name declared {                                          \
        mode_t bits = 0;                                         \
        if (flags & (O_CREAT | O_TMPFILE)) {                     \
            va_list rest;                                        \
            va_start(rest, flags);                               \
            bits = va_arg(rest, mode_t);                         \
            va_end(rest);                                        \
        }                                                        \
        if (changes(flags) && fails("open", dirfd, path)) return -1; \
        return REAL(name)(__VA_ARGS__, flags, bits);             \
    }
OPEN(open, (const char* path, int flags, ...), AT_FDCWD, path)
OPEN(open64, (const char* path, int flags, ...), AT_FDCWD, path)
OPEN(openat, (int at, const char* path, int flags, ...), at, at, path)
OPEN(openat64, (int at, const char* path, int flags, ...), at, at, path)

int creat(const char* path, mode_t bits) { return fails("open", AT_FDCWD, path) ? -1 : REAL(creat)(path, bits); }
FILE* fopen(const char* path, const char* how) {
    return strpbrk(how, "wa+") && fails("open", AT_FDCWD, path) ? NULL : REAL(fopen)(path, how);
}
FILE* fopen64(const char* path, const char* how) {
    return strpbrk(how, "wa+") && fails("open", AT_FDCWD, path) ? NULL : REAL(fopen64)(path, how);
}
int mkostemp(char* path, int flags) { return fails("open", AT_FDCWD, path) ? -1 : REAL(mkostemp)(path, flags); }
int mkostemp64(char* path, int flags) { return fails("open", AT_FDCWD, path) ? -1 : REAL(mkostemp64)(path, flags); }
int mkstemp(char* path) { return fails("open", AT_FDCWD, path) ? -1 : REAL(mkstemp)(path); }
int mkstemp64(char* path) { return fails("open", AT_FDCWD, path) ? -1 : REAL(mkstemp64)(path); }
char* mkdtemp(char* path) { return fails("mkdir", AT_FDCWD, path) ? NULL : REAL(mkdtemp)(path); }

// A write of one buffer: whole, half or not at all.
#define WRITE(name, declared, ...)                             \
    ssize_t name declared {                                    \
        const int how = fails_open("write", fd);               \
        if (how == 1) return -1;                               \
        if (how == 2 && size > 1) size /= 2;                   \
        return REAL(name)(__VA_ARGS__);                        \
    }
WRITE(write, (int fd, const void* data, size_t size), fd, data, size)
WRITE(pwrite, (int fd, const void* data, size_t size, off_t at), fd, data, size, at)
WRITE(pwrite64, (int fd, const void* data, size_t size, off64_t at), fd, data, size, at)
WRITE(sendfile, (int fd, int from, off_t* at, size_t size), fd, from, at, size)
WRITE(sendfile64, (int fd, int from, off64_t* at, size_t size), fd, from, at, size)
WRITE(copy_file_range, (int from, off64_t* from_at, int fd, off64_t* at, size_t size, unsigned flags), from, from_at, fd, at, size, flags)

ssize_t writev(int fd, const struct iovec* parts, int count) {
    const int how = fails_open("write", fd);
    if (how == 1) return -1;
    return how == 2 ? REAL(write)(fd, parts[0].iov_base, parts[0].iov_len / 2) : REAL(writev)(fd, parts, count);
}
int ftruncate(int fd, off_t size) { return fails_open("truncate", fd) ? -1 : REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { return fails_open("truncate", fd) ? -1 : REAL(ftruncate64)(fd, size); }
int fsync(int fd) { return fails_open("fsync", fd) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fails_open("fsync", fd) ? -1 : REAL(fdatasync)(fd); }
// The file is closed all the same.
int close(int fd) {
    const int how = fails_open("close", fd);
    const int done = REAL(close)(fd);
    if (how) errno = fault_errno;
    return how ? -1 : done;
}

int rename(const char* from, const char* to) { return fails("rename", AT_FDCWD, to) ? -1 : REAL(rename)(from, to); }
int renameat(int at, const char* from, int to_at, const char* to) {
    return fails("rename", to_at, to) ? -1 : REAL(renameat)(at, from, to_at, to);
}
int mkdir(const char* path, mode_t bits) { return fails("mkdir", AT_FDCWD, path) ? -1 : REAL(mkdir)(path, bits); }
int mkdirat(int at, const char* path, mode_t bits) { return fails("mkdir", at, path) ? -1 : REAL(mkdirat)(at, path, bits); }
int link(const char* from, const char* to) { return fails("link", AT_FDCWD, to) ? -1 : REAL(link)(from, to); }
int linkat(int at, const char* from, int to_at, const char* to, int flags) {
    return fails("link", to_at, to) ? -1 : REAL(linkat)(at, from, to_at, to, flags);
}
int symlink(const char* what, const char* path) { return fails("symlink", AT_FDCWD, path) ? -1 : REAL(symlink)(what, path); }
int symlinkat(const char* what, int at, const char* path) { return fails("symlink", at, path) ? -1 : REAL(symlinkat)(what, at, path); }
