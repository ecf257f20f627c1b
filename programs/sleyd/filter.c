/* SPDX-License-Identifier: MIT */
/*
 * filter.c - see filter.h.
 */
#include "filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define FOREIGN_BIT 0x40000000u /* numbers of x32                             */
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field)                                                            \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, nr)                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (nr))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE RETURN(SECCOMP_RET_ERRNO | ENOSYS)
#define ALLOW(name)                                                            \
	SKIP_UNLESS((unsigned int)SYS_##name, 1), RETURN(SECCOMP_RET_ALLOW)

static struct sock_filter code[] = {
	LOAD(arch),
#ifdef ARCHITECTURE
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
	RETURN(SECCOMP_RET_KILL_PROCESS),
#endif
	LOAD(nr),
#ifdef FOREIGN_BIT
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_BIT, 0, 1),
	REFUSE,
#endif
	/* What a busy daemon calls most. */
	ALLOW(futex),
	ALLOW(io_uring_enter),
	ALLOW(epoll_pwait),
	ALLOW(membarrier),
	ALLOW(read),
	ALLOW(write),
	ALLOW(recvmsg),
	ALLOW(sendmsg),
	ALLOW(clock_gettime),
	ALLOW(sched_yield),
	ALLOW(gettid),
	/* Memory. */
	ALLOW(mmap),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(mprotect),
	ALLOW(madvise),
	ALLOW(mincore),
	ALLOW(msync),
	ALLOW(mlock),
	ALLOW(mlock2),
	ALLOW(munlock),
	ALLOW(brk),
	ALLOW(memfd_create),
	ALLOW(get_mempolicy),
	ALLOW(mbind),
	ALLOW(set_mempolicy),
	ALLOW(pkey_alloc),
	ALLOW(pkey_mprotect),
	ALLOW(pkey_free),
	/* Threads, CPUs, signals, time. */
	ALLOW(exit),
	ALLOW(exit_group),
	ALLOW(set_robust_list),
	ALLOW(set_tid_address),
	ALLOW(rseq),
	ALLOW(sched_getaffinity),
	ALLOW(sched_setaffinity),
	ALLOW(sched_getparam),
	ALLOW(sched_getscheduler),
	ALLOW(sched_setscheduler),
	ALLOW(sched_getattr),
	ALLOW(sched_setattr),
	ALLOW(sched_get_priority_max),
	ALLOW(sched_get_priority_min),
	ALLOW(getpriority),
	ALLOW(setpriority),
	ALLOW(getcpu),
	ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(rt_sigpending),
	ALLOW(rt_sigtimedwait),
	ALLOW(rt_sigsuspend),
	ALLOW(sigaltstack),
	ALLOW(signalfd4),
	ALLOW(tgkill),
	ALLOW(nanosleep),
	ALLOW(clock_nanosleep),
	ALLOW(clock_getres),
	ALLOW(gettimeofday),
	ALLOW(timerfd_create),
	ALLOW(timerfd_settime),
	ALLOW(timerfd_gettime),
	ALLOW(setitimer),
	ALLOW(restart_syscall),
	ALLOW(futex_waitv),
	/* What the process is. */
	ALLOW(getpid),
	ALLOW(getppid),
	ALLOW(getuid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getegid),
	ALLOW(getgroups),
	ALLOW(getrusage),
	ALLOW(prlimit64),
	ALLOW(sysinfo),
	ALLOW(uname),
	ALLOW(getrandom),
	ALLOW(prctl),
	ALLOW(capget),
	ALLOW(times),
	/* Other processes: their ends, and the subprocesses of isolated pools. */
	ALLOW(pidfd_open),
	ALLOW(pidfd_send_signal),
	ALLOW(kill),
	ALLOW(wait4),
	ALLOW(waitid),
	/* Descriptors. */
	ALLOW(close),
	ALLOW(close_range),
	ALLOW(dup),
	ALLOW(dup3),
	ALLOW(fcntl),
	ALLOW(ioctl),
	ALLOW(pipe2),
	ALLOW(eventfd2),
	ALLOW(epoll_create1),
	ALLOW(epoll_ctl),
	ALLOW(epoll_pwait2),
	ALLOW(ppoll),
	ALLOW(pselect6),
	ALLOW(io_uring_setup),
	ALLOW(io_uring_register),
	/* Files. */
	ALLOW(openat),
	ALLOW(openat2),
	ALLOW(readv),
	ALLOW(writev),
	ALLOW(pread64),
	ALLOW(pwrite64),
	ALLOW(preadv),
	ALLOW(pwritev),
	ALLOW(preadv2),
	ALLOW(pwritev2),
	ALLOW(lseek),
	ALLOW(fsync),
	ALLOW(fdatasync),
	ALLOW(sync_file_range),
	ALLOW(fallocate),
	ALLOW(ftruncate),
	ALLOW(fadvise64),
	ALLOW(sendfile),
	ALLOW(splice),
	ALLOW(tee),
	ALLOW(copy_file_range),
	ALLOW(flock),
	ALLOW(fstat),
	ALLOW(newfstatat),
	ALLOW(statx),
	ALLOW(fstatfs),
	ALLOW(statfs),
	ALLOW(faccessat),
	ALLOW(faccessat2),
	ALLOW(getcwd),
	ALLOW(getdents64),
	ALLOW(readlinkat),
	ALLOW(mkdirat),
	ALLOW(unlinkat),
	ALLOW(renameat),
	ALLOW(renameat2),
	ALLOW(linkat),
	ALLOW(symlinkat),
	ALLOW(utimensat),
	ALLOW(fchmod),
	ALLOW(fchmodat),
	ALLOW(umask),
	ALLOW(inotify_init1),
	ALLOW(inotify_add_watch),
	ALLOW(inotify_rm_watch),
	/* Sockets. */
	ALLOW(socket),
	ALLOW(socketpair),
	ALLOW(bind),
	ALLOW(listen),
	ALLOW(accept4),
	ALLOW(accept),
	ALLOW(connect),
	ALLOW(getsockname),
	ALLOW(getpeername),
	ALLOW(getsockopt),
	ALLOW(setsockopt),
	ALLOW(sendto),
	ALLOW(recvfrom),
	ALLOW(sendmmsg),
	ALLOW(recvmmsg),
	ALLOW(shutdown),
#ifdef __x86_64__ /* AArch64 has only the newer calls of these. */
	ALLOW(open),
	ALLOW(stat),
	ALLOW(lstat),
	ALLOW(access),
	ALLOW(poll),
	ALLOW(select),
	ALLOW(epoll_wait),
	ALLOW(epoll_create),
	ALLOW(pipe),
	ALLOW(dup2),
	ALLOW(readlink),
	ALLOW(mkdir),
	ALLOW(rmdir),
	ALLOW(unlink),
	ALLOW(rename),
	ALLOW(chmod),
	ALLOW(getdents),
	ALLOW(time),
	ALLOW(alarm),
	ALLOW(arch_prctl),
#endif
	/* A thread, and no process. */
	SKIP_UNLESS((unsigned int)SYS_clone, 3),
	LOAD(args[0]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
	RETURN(SECCOMP_RET_ALLOW),
	REFUSE,
};

int filter_install(void)
{
	struct sock_fprog program = {
		.len = sizeof(code) / sizeof(code[0]),
		.filter = code,
	};

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return -errno;
	return 0;
}
