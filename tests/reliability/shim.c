/* Loaded before the C library (LD_PRELOAD): lets chosen calls on files in one folder fail. Linux. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[4096];
static long calls, first;  /* first: the number of the first call that fails, 0 for none */
static int code, for_good, shortly, deadly, struck;

void shim_arm(const char *where, long number, int error, int good, int is_short, int kills) {
    snprintf(folder, sizeof folder, "%s", where);
    calls = 0, first = number, code = error, for_good = good, shortly = is_short, deadly = kills, struck = 0;
}
long shim_calls(void) { return calls; }
void shim_disarm(void) { folder[0] = 0; }

static int is_inside(const char *path) { return folder[0] && path && !strncmp(path, folder, strlen(folder)); }

static int is_ours(int descriptor) {
    char link[64], path[4096];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_inside(path);
}

/* 0: go on; 1: fail; 2: write only half */
static int meet(int is_write, int cleans) {
    calls++;
    if (!first || calls < first || (calls > first && (!for_good || cleans))) return 0;
    if (deadly) kill(getpid(), SIGKILL);
    if (shortly && !struck && !is_write) return 0;
    if (shortly && !struck) { struck = 1; return 2; }
    struck = 1;
    errno = code;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRITING(name, offset_type)                                                              \
    ssize_t name(int d, const void *data, size_t n, offset_type at) {                           \
        int fate = is_ours(d) ? meet(1, 0) : 0;                                                 \
        if (fate == 1) return -1;                                                               \
        return REAL(name)(d, data, fate == 2 && n > 1 ? n / 2 : n, at);                         \
    }
WRITING(pwrite, off_t)
WRITING(pwrite64, off64_t)
ssize_t write(int d, const void *data, size_t n) {
    int fate = is_ours(d) ? meet(1, 0) : 0;
    if (fate == 1) return -1;
    return REAL(write)(d, data, fate == 2 && n > 1 ? n / 2 : n);
}
int fsync(int d) { return is_ours(d) && meet(0, 0) == 1 ? -1 : REAL(fsync)(d); }
int fdatasync(int d) { return is_ours(d) && meet(0, 0) == 1 ? -1 : REAL(fdatasync)(d); }
int ftruncate(int d, off_t n) { return is_ours(d) && meet(0, 0) == 1 ? -1 : REAL(ftruncate)(d, n); }
int ftruncate64(int d, off64_t n) { return is_ours(d) && meet(0, 0) == 1 ? -1 : REAL(ftruncate64)(d, n); }
int fchmod(int d, mode_t m) { return is_ours(d) && meet(0, 0) == 1 ? -1 : REAL(fchmod)(d, m); }
int close(int d) {
    int fails = is_ours(d) && meet(0, 0) == 1, error = errno;
    int result = REAL(close)(d);
    if (!fails) return result;
    errno = error;
    return -1;
}
int rename(const char *a, const char *b) { return is_inside(b) && meet(0, 0) == 1 ? -1 : REAL(rename)(a, b); }
int renameat(int x, const char *a, int y, const char *b) {
    return is_inside(b) && meet(0, 0) == 1 ? -1 : REAL(renameat)(x, a, y, b);
}
int link(const char *a, const char *b) { return is_inside(b) && meet(0, 0) == 1 ? -1 : REAL(link)(a, b); }
int unlink(const char *path) { return is_inside(path) && meet(0, 1) == 1 ? -1 : REAL(unlink)(path); }
#define OPENING(name)                                                                           \
    int name(const char *path, int flags, ...) {                                                \
        va_list rest;                                                                           \
        va_start(rest, flags);                                                                  \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;               \
        va_end(rest);                                                                           \
        if (is_inside(path) && (flags & (O_WRONLY | O_RDWR)) && meet(0, 0) == 1) return -1;     \
        return REAL(name)(path, flags, mode);                                                   \
    }
OPENING(open)
OPENING(open64)
