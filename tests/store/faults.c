/* Preloaded into a process: the n-th call that changes a file below a folder fails, ends the process,
   or all such calls are recorded. Allocations can fail, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { OFF, ONCE, ALWAYS, KILL, CUT, RECORD, MEMORY };

static char folder[PATH_MAX];
static int mode = OFF, record = -1;
static long left = 0, hits = 0, calls = 0;
static size_t large = 0;

void faults_arm(const char *below, int how, long n, int fd, size_t bytes) {
    snprintf(folder, sizeof folder, "%s", below);
    left = n, hits = 0, calls = 0, record = fd, large = bytes;
    mode = how;
}

long faults_disarm(void) {
    mode = OFF;
    return hits;
}

long faults_calls(void) { return calls; }

static void put(const void *data, size_t size) {
    const char *from = data;
    while (size > 0) {
        ssize_t n = syscall(SYS_write, record, from, size);
        if (n <= 0) _exit(99);
        from += n, size -= (size_t)n;
    }
}

/* One record: what, the place, the sizes of two texts, and the texts. */
static void note(char what, long place, const void *one, size_t n_one, const void *two, size_t n_two) {
    long head[4] = {what, place, (long)n_one, (long)n_two};
    put(head, sizeof head);
    put(one, n_one);
    put(two, n_two);
}

void faults_mark(long n) {
    if (mode == RECORD) note('A', n, "", 0, "", 0);
}

static int is_below(const char *path) {
    return mode != OFF && mode != MEMORY && !strncmp(path, folder, strlen(folder));
}

static int of_fd(int fd, char *path) {
    char link[64];
    if (mode == OFF || mode == MEMORY) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return is_below(path);
}

/* Whether this call shall fail. */
static int fails(void) {
    calls++;
    if (mode == RECORD) return 0;
    left--;
    if (left > 0 || (left < 0 && mode != ALWAYS)) return 0;
    hits++;
    if (mode == KILL || mode == CUT) kill(getpid(), SIGKILL);
    return 1;
}

#define REAL(type, name, ...)                                            \
    static type (*real)(__VA_ARGS__) = NULL;                             \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);

#define PWRITE(name, offset)                                             \
    ssize_t name(int fd, const void *data, size_t n, offset place) {     \
        REAL(ssize_t, name, int, const void *, size_t, offset)           \
        char path[PATH_MAX];                                             \
        if (!of_fd(fd, path)) return real(fd, data, n, place);           \
        if (mode == CUT && left == 1) real(fd, data, n / 2, place);      \
        if (fails()) { errno = ENOSPC; return -1; }                      \
        ssize_t done = real(fd, data, n, place);                         \
        if (mode == RECORD && done > 0)                                  \
            note('W', (long)place, path, strlen(path), data, (size_t)done); \
        return done;                                                     \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t n) {
    REAL(ssize_t, write, int, const void *, size_t)
    char path[PATH_MAX];
    if (!of_fd(fd, path)) return real(fd, data, n);
    if (mode == CUT && left == 1) (void)!real(fd, data, n / 2);
    if (fails()) { errno = ENOSPC; return -1; }
    off_t place = lseek(fd, 0, SEEK_CUR);
    ssize_t done = real(fd, data, n);
    if (mode == RECORD && done > 0) note('W', (long)place, path, strlen(path), data, (size_t)done);
    return done;
}

#define SYNC(name)                                                       \
    int name(int fd) {                                                   \
        REAL(int, name, int)                                             \
        char path[PATH_MAX];                                             \
        if (!of_fd(fd, path)) return real(fd);                           \
        if (fails()) { errno = EIO; return -1; }                         \
        int done = real(fd);                                             \
        if (mode == RECORD) note('S', 0, path, strlen(path), "", 0);     \
        return done;                                                     \
    }
SYNC(fsync)
SYNC(fdatasync)

#define CUT_TO(name, offset)                                             \
    int name(int fd, offset size) {                                      \
        REAL(int, name, int, offset)                                     \
        char path[PATH_MAX];                                             \
        if (!of_fd(fd, path)) return real(fd, size);                     \
        if (fails()) { errno = EIO; return -1; }                         \
        int done = real(fd, size);                                       \
        if (mode == RECORD) note('T', (long)size, path, strlen(path), "", 0); \
        return done;                                                     \
    }
CUT_TO(ftruncate, off_t)
CUT_TO(ftruncate64, off64_t)

int unlink(const char *path) {
    REAL(int, unlink, const char *)
    if (!is_below(path)) return real(path);
    if (fails()) { errno = EIO; return -1; }
    int done = real(path);
    if (mode == RECORD && !done) note('U', 0, path, strlen(path), "", 0);
    return done;
}

#define MOVE(name, what)                                                 \
    int name(const char *from, const char *to) {                         \
        REAL(int, name, const char *, const char *)                      \
        if (!is_below(to)) return real(from, to);                        \
        if (fails()) { errno = EIO; return -1; }                         \
        int done = real(from, to);                                       \
        if (mode == RECORD && !done) note(what, 0, from, strlen(from), to, strlen(to)); \
        return done;                                                     \
    }
MOVE(rename, 'R')
MOVE(link, 'L')

void *malloc(size_t n) {
    REAL(void *, malloc, size_t)
    if (mode == MEMORY && n >= large) {
        calls++;
        if (--left == 0) {
            hits++;
            errno = ENOMEM;
            return NULL;
        }
    }
    return real(n);
}

void *realloc(void *old, size_t n) {
    REAL(void *, realloc, void *, size_t)
    if (mode == MEMORY && n >= large) {
        calls++;
        if (--left == 0) {
            hits++;
            errno = ENOMEM;
            return NULL;
        }
    }
    return real(old, n);
}
