/* Preloaded into user-mode Linux (Debian's 6.1), which does not do two things.
 *
 * It keeps 2,696 bytes for a process's extended state. Where the processor has
 * more (AMX), the host refuses to restore a part of it (EFAULT) and the guest
 * panics. So such a write is widened by what the process holds already.
 *
 * The guest's processes, and helpers of its kernel, are children that stay when
 * the kernel is killed. So each asks to be killed with it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NT_X86_XSTATE 0x202
#define LARGEST_XSTATE 32768

static long set_xstate(pid_t pid, struct iovec *part) {
    static char whole[LARGEST_XSTATE] __attribute__((aligned(64)));
    struct iovec state = {whole, sizeof whole};
    if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, &state) < 0)
        return -1;
    if (part->iov_len >= state.iov_len)
        return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, part);
    memcpy(whole, part->iov_base, part->iov_len);
    return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, &state);
}

/* As the C library's, which returns what a PEEK reads instead of storing it. */
long ptrace(enum __ptrace_request request, ...) {
    va_list arguments;
    va_start(arguments, request);
    pid_t pid = va_arg(arguments, pid_t);
    unsigned long address = va_arg(arguments, unsigned long);
    unsigned long data = va_arg(arguments, unsigned long);
    va_end(arguments);

    if (request == PTRACE_SETREGSET && address == NT_X86_XSTATE)
        return set_xstate(pid, (struct iovec *)data);
    if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER) {
        long word;
        long result = syscall(SYS_ptrace, request, pid, address, &word);
        return result < 0 ? result : word;
    }
    return syscall(SYS_ptrace, request, pid, address, data);
}

struct start {
    int (*function)(void *);
    void *argument;
    pid_t parent;
};

static int mortal(void *of) {
    struct start start = *(struct start *)of;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* A parent that ended before the line above sends nothing. */
    if (getppid() != start.parent)
        _exit(1);
    return start.function(start.argument);
}

/* A child may share memory with its parent and start late, so each start has a
 * place of its own for a while. The kernel of the guest has one thread. */
int clone(int (*function)(void *), void *stack, int flags, void *argument, ...) {
    static int (*next)(int (*)(void *), void *, int, void *, ...);
    static struct start starts[256];
    static unsigned count;
    if (!next)
        next = (int (*)(int (*)(void *), void *, int, void *, ...))dlsym(RTLD_NEXT, "clone");
    struct start *start = &starts[count++ % (sizeof starts / sizeof starts[0])];
    *start = (struct start){function, argument, getpid()};
    return next(mortal, stack, flags, start);
}
