/* SPDX-License-Identifier: MIT */
/*
 * thread.h - threads of the operating system.
 */
#ifndef SLEY_OS_THREAD_H
#define SLEY_OS_THREAD_H

#include "base/compiler.h"
#include "os/fault.h"

#include <pthread.h>
#include <signal.h>
#include <sley/cpus.h>
#include <stdbool.h>

/*
 * Starts a thread that runs @fn(@arg).  The thread is called @name, cut after 15
 * bytes, in ps and top.  Signals sent to the process do not concern the thread: all
 * signals are blocked but those that an instruction of the thread raises.  0 or
 * -errno; *@out is set on success only.
 */
must_check int os_thread_start(pthread_t *out, const char *name,
			       void *(*fn)(void *), void *arg);
#ifdef SLEY_FAULTS
#define os_thread_start(out, name, fn, arg)                                    \
	(-fault_error("os_thread_start", EAGAIN)                               \
		 ?: (os_thread_start)(out, name, fn, arg))
#endif

/*
 * The same on @cpus; NULL: on the CPUs of the caller.  -EINVAL: the thread may not
 * run there.  If the thread @runs_code of the program, SIGPIPE and SIGXFSZ, which a
 * system call of the thread itself raises, are blocked only if the caller blocks
 * these signals.
 */
must_check int os_thread_start_on(pthread_t *out, const char *name,
				  void *(*fn)(void *), void *arg,
				  const struct sley_cpus *cpus, bool runs_code);
#ifdef SLEY_FAULTS
#define os_thread_start_on(out, name, fn, arg, cpus, runs_code)                \
	(-fault_error("os_thread_start_on", EAGAIN)                            \
		 ?: (os_thread_start_on)(out, name, fn, arg, cpus, runs_code))
#endif

/* Which signals a thread blocks. */
struct os_signals {
	sigset_t blocked;
};

void os_thread_get_signals(struct os_signals *out);
void os_thread_set_signals(const struct os_signals *signals);

/* Waits until @thread has ended.  Once per thread, never by the thread itself. */
void os_thread_join(pthread_t thread);

/* Lets another thread have this CPU, if one is waiting. */
void os_thread_yield(void);

/*
 * Has @fn called when the calling thread exits; the main thread does so by
 * pthread_exit() only.  One function per thread, the function given last; after the
 * call of @fn the thread may give @fn again, for a few rounds.  0 or -errno.
 */
must_check int os_thread_at_exit(void (*fn)(void));

/* The calling thread cannot be cancelled until the result is given back. */
must_check int os_thread_no_cancel(void);
void os_thread_cancel_again(int state);

/*
 * Until os_thread_unguard() the calling thread has to live.  The thread cannot be
 * cancelled meanwhile, and @fn, which should not return, is called if the thread
 * exits all the same; without memory for that, @fn is not called.
 */
struct os_guarded {
	int cancel_state; /* the state before */
};

void os_thread_guard(struct os_guarded *out, void (*fn)(void));
void os_thread_unguard(const struct os_guarded *guarded);

/*
 * The kernel's number of the calling thread, as in /proc.  A system call the first
 * time only.
 */
int os_thread_id(void);

#endif
