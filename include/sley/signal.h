/* SPDX-License-Identifier: MIT */
/*
 * sley/signal.h - wait for a signal of the operating system, as for anything else.
 *
 * A task that waits for signals takes the place of a signal handler, and may make
 * any call:
 *
 *     static void stop_on_signal(void *arg)
 *     {
 *             sigset_t set;
 *
 *             sigemptyset(&set);
 *             sigaddset(&set, SIGTERM);
 *             if (sley_signal_wait(&set) == SIGTERM)
 *                     sley_listener_close(arg);
 *     }
 *
 * The signals must be blocked in all threads, or the kernel delivers them to a
 * thread that does not block them, as ever.  So block them in main(), before any
 * thread starts: threads inherit what is blocked.
 *
 *     sigprocmask(SIG_BLOCK, &set, NULL);
 *     err = sley_create(&rt, NULL);
 *
 * A blocked signal that comes while no task waits stays pending, and the next wait
 * returns at once.  Several signals of one number count as one, as ever.
 */
#ifndef SLEY_SIGNAL_H
#define SLEY_SIGNAL_H

#include <sley/compiler.h>
#include <sley/time.h>

#include <sys/select.h> /* sigset_t, in plain C11, too */

SLEY_BEGIN_DECLS

/*
 * sley_signal_wait_until - sley_signal_wait() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @set is borrowed for the call.
 * Errors:   -ETIMEDOUT  no signal came until @deadline_ns
 *           and as sley_signal_wait()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_signal_wait_until(const sigset_t *set, uint64_t deadline_ns);

/*
 * sley_signal_wait - wait for a signal of @set that is sent to this process.
 *
 * Returns the number of the signal, which is not pending any more.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @set is borrowed for the call.
 * Errors:   -EINVAL     @set is empty, or the calling thread does not block all of
 *                       it: block the signals before sley_create()
 *           -ECANCELED  the task was cancelled; a signal that comes stays pending
 *           -EMFILE, -ENFILE, -ENOMEM, -ENOSPC  there is no descriptor to wait for
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_signal_wait(const sigset_t *set)
{
	return sley_signal_wait_until(set, SLEY_FOREVER);
}

SLEY_END_DECLS
#endif
