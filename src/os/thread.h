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
 * Starts a thread that runs @fn(@arg).  It is called @name, cut after 15
 * bytes, in ps and top.  Signals sent to the process are none of its business:
 * it blocks all but those that its own instructions raise.  0 or -errno; *@out
 * is set on success only.
 */
must_check int os_thread_start(pthread_t *out, const char *name,
			       void *(*fn)(void *), void *arg);
#ifdef SLEY_FAULTS
#define os_thread_start(out, name, fn, arg)                                    \
	(-fault_error("os_thread_start", EAGAIN)                               \
		 ?: (os_thread_start)(out, name, fn, arg))
#endif

/*
 * The same on @cpus; NULL: on those of the caller.  -EINVAL: it may not.  If it
 * @runs_code of the program, SIGPIPE and SIGXFSZ, which a system call of the
 * thread itself raises, are blocked only if the caller blocks them.
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

/* Waits until the thread has ended.  Once per thread, never by itself. */
void os_thread_join(pthread_t thread);

/* Lets another thread have this CPU, if one is waiting for it. */
void os_thread_yield(void);

/*
 * Has @fn called when the calling thread exits; the main thread does so by
 * pthread_exit() only.  One function per thread, the last one given; once it
 * was called it may be given again, for a few rounds.  0 or -errno.
 */
must_check int os_thread_at_exit(void (*fn)(void));

/* Nobody cancels the calling thread until it gives back what this returned. */
must_check int os_thread_no_cancel(void);
void os_thread_cancel_again(int state);

/*
 * Until os_thread_unguard() the calling thread has to live.  Nobody cancels it
 * meanwhile, and @fn, which should not return, is called if it exits all the
 * same; without memory for that, it is not.
 */
struct os_guarded {
	int cancel_state; /* what it was before */
};

void os_thread_guard(struct os_guarded *out, void (*fn)(void));
void os_thread_unguard(const struct os_guarded *guarded);

/* The kernel's number of the calling thread, as in /proc. */
int os_thread_id(void);

#endif
