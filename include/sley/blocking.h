/* SPDX-License-Identifier: MIT */
/*
 * sley/blocking.h - call functions that block the whole thread.
 *
 * A task that calls read() on a slow disk, getaddrinfo(), or a library that
 * waits in its own way holds its worker: no other task runs there meanwhile.
 * sley_blocking_call() runs such a function on a thread made for this purpose,
 * while the task is suspended like in any other wait.
 *
 * The threads are made when they are needed: one more whenever more calls wait
 * than threads are idle, up to .blocking_max (sley_config), 512 by default.  An
 * idle thread ends after .blocking_idle_ms, 10 seconds by default.  A program
 * that makes no such calls has no such threads.
 *
 * When all of these threads are in calls, the next call waits for a thread, in
 * the order of the calls.  Its task is suspended meanwhile, and holds no worker.
 * So calls may wait for each other, but at most .blocking_max calls at a time:
 * if all threads are in calls that wait for a call in the queue, no call ever
 * ends.  A program whose calls wait for each other in any number sets
 * .blocking_max = SLEY_UNBOUNDED.  If no call could start for a second because
 * all threads were busy, .report gets a line that names the limit.
 *
 * On such a thread sley_current() is the runtime of the caller, so the function
 * may spawn (not in the single-threaded mode: SLEY_ENOWORKER).  The thread is
 * no worker: sley calls that wait block the thread, as they do on any plain
 * thread, and a cancel does not cut them short; but sley_cancelled() tells
 * whether the task was cancelled.  A blocking call from within a blocking call
 * runs in place.  The values of <sley/local.h> are those of the calling task;
 * errno stays on the thread.
 */
#ifndef SLEY_BLOCKING_H
#define SLEY_BLOCKING_H

#include <sley/compiler.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

/*
 * sley_blocking_call - run @fn(@arg) where it may block, and wait for its end.
 *
 * A plain thread that runs no tasks calls @fn in place.  If all threads are busy,
 * and .blocking_max allows no more, @fn starts when a thread is free.  If the
 * task is cancelled before @fn has started, @fn never runs; later, the call
 * waits for the end of @fn.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread runs @fn itself
 * Owner:    @arg is borrowed for the call.
 * Order:    everything before the call happens before @fn; everything in @fn
 *           happens before the return.
 * Errors:   -ECANCELED, -EAGAIN (there is no thread, and none can be made):
 *           @fn has not run
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_blocking_call(sley_fn *fn, void *arg);

/*
 * sley_blocking_call_until - sley_blocking_call(), if @fn starts in time.
 *
 * The deadline is for the start alone: once @fn runs, the call waits for its
 * end.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread runs @fn itself
 * Owner:    as sley_blocking_call()
 * Order:    as sley_blocking_call()
 * Errors:   -ETIMEDOUT, -ECANCELED, -EAGAIN: @fn has not run
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_blocking_call_until(sley_fn *fn, void *arg, uint64_t deadline_ns);

/* ---- in place ---------------------------------------------------------- */

/*
 * Code between sley_blocking_begin() and sley_blocking_end() may block, and
 * needs no function of its own.
 *
 *	sley_blocking_begin();
 *	n = read(fd, buffer, size);
 *	sley_blocking_end();
 *
 * The task itself moves: a thread as above goes on with its stack, while its
 * worker goes on with other tasks.  sley_blocking_end() brings the task back to
 * the worker that it was on.  Between the two calls no worker runs the task:
 * sley_worker() is -1, waits block the thread, and the task must not return.
 *
 * A region takes one of the .blocking_max threads until its end.  Unlike a call, a
 * region never waits for a thread: the task may hold a lock that the tasks on
 * all other threads wait for.  At the limit its code runs on the worker, as
 * sley_blocking_begin() says.
 *
 * Thread-locals are those of the other thread between the two calls.  errno
 * goes with the task.  But compilers keep the *address* of errno and of other
 * thread-locals over calls.  So a function that uses thread-locals before or
 * after a region must not use them inside; call another function there that is
 * not inlined.
 */

/*
 * sley_blocking_begin - begin a region of code that may block the thread.
 *
 * Regions may be nested: the outermost counts.  The call does nothing on a
 * thread that runs no tasks, and in the code of a bound thread, which is no
 * task.
 *
 * Context:  any thread
 * Blocks:   the fiber, until another thread goes on with it
 * Errors:   -EAGAIN   there is no thread, or all .blocking_max threads are
 *                     busy: the code that follows runs on the worker, and
 *                     blocks it.  The region must be ended all the same.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int sley_blocking_begin(void);

/*
 * sley_blocking_end - end a region that may block; back to its worker.
 *
 * Ending a region that was not begun is misuse.  A task that was cancelled in
 * between learns of the cancel at its next wait that can be cancelled.
 *
 * Context:  any thread
 * Blocks:   the fiber, until its worker goes on with it
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void sley_blocking_end(void);

SLEY_END_DECLS
#endif
