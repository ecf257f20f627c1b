/* SPDX-License-Identifier: MIT */
/*
 * calls.c - see calls.h.
 *
 * Not ptrace(): the tracer would be another process, and could not be asked by the threads
 * that it stops.
 */
#include "hostile/calls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 64

/* Written by the watcher. */
static struct {
	atomic_int tid;
	atomic_ullong nr;
} threads[THREADS_MAX];

static atomic_int listener; /* 0: not yet */

static int place_of(pid_t tid)
{
	for (int i = 0; i < THREADS_MAX; i++) {
		int there = atomic_load(&threads[i].tid);

		if (there == tid)
			return i;
		if (!there) {
			atomic_store(&threads[i].tid, tid);
			return i;
		}
	}
	return THREADS_MAX - 1;
}

static void *watch(void *arg)
{
	int fd;

	(void)arg;
	while (!(fd = atomic_load(&listener)))
		(void)sched_yield();
	for (;;) {
		struct seccomp_notif call = { 0 };
		struct seccomp_notif_resp answer = {
			.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE
		};

		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue; /* the thread has ended meanwhile */
		atomic_fetch_add(&threads[place_of((pid_t)call.pid)].nr, 1);
		answer.id = call.id;
		(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return NULL;
}

int calls_watch(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	pthread_t watcher;
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	fd = pthread_create(&watcher, NULL, watch, NULL);
	if (fd)
		return -fd;
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0)
		return -errno;
	atomic_store(&listener, fd);
	return 0;
}

uint64_t calls_of(pid_t tid)
{
	for (int i = 0; i < THREADS_MAX; i++) {
		if (atomic_load(&threads[i].tid) == tid)
			return atomic_load(&threads[i].nr);
	}
	return 0;
}

uint64_t calls_of_all(void)
{
	uint64_t nr = 0;

	for (int i = 0; i < THREADS_MAX; i++)
		nr += atomic_load(&threads[i].nr);
	return nr;
}
