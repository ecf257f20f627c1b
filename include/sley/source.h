/* SPDX-License-Identifier: MIT */
/*
 * sley/source.h - sources: feed a runtime from your own event loop or device.
 *
 * A producer that is no part of the runtime has work for it: an event loop of
 * the program, a device, another process that writes to shared memory.  A
 * *source* lets the workers themselves look there.  The source is a few
 * functions of the program:
 *
 *     static bool take(void *arg)
 *     {
 *             struct queue *queue = arg;
 *
 *             for (int i = 0; i < 32; i++) {
 *                     struct request *request = queue_get(queue);
 *
 *                     if (!request)
 *                             return false;
 *                     if (sley_schedule(serve, request))
 *                             drop(request);
 *             }
 *             return true;
 *     }
 *
 *     err = sley_source_create(rt, &source, SLEY_SOURCE_OPTIONS(.take = take),
 *                              queue);
 *     ...
 *     queue_put(queue, request);
 *     sley_source_notify(source);
 *
 * take() runs as a task, at the default priority, on the worker that found
 * something.  It makes tasks ready: it spawns them, or wakes tasks that wait.  It
 * takes a limited number of items, so that other work is not held up, and returns
 * whether there is more.  There is one take() of a source at a time.  take() may
 * make any call that a task may make.  It should not wait: nothing else is taken
 * from this source meanwhile, and a worker may look in vain again and again.
 * take() may be called although nothing is there.
 *
 * has() tells whether something is there.  Workers call it at every 61st task or
 * so, before they steal work from each other, and before they sleep.  has() and
 * arm() are called on any worker, by several workers at a time, on the stack of
 * any task.  They look at a few words of memory, and make no call of sley.
 * Without has() the producer must notify each item, or signal it through a
 * descriptor.
 *
 * Waking a worker.  A producer in this process calls sley_source_notify() after
 * it has put something in.  Any other producer signals a descriptor: an eventfd,
 * a pipe, a socket, a device.  A worker that sleeps listens to .fd, and looks
 * when .fd is readable.  take() reads .fd first, and then looks for items: as
 * long as .fd is readable, a worker without work looks again and again.  Without
 * has() the workers ask the kernel whether .fd is readable, which is a system
 * call.  .fd stays open until the source ends.  0 means no descriptor: a program
 * whose descriptor happens to be 0 duplicates it.
 *
 * While all workers are busy, the source has its turn within a tick (.tick_us of
 * sley_config), and then after the task that runs.  Nothing ticks for a source
 * whose producers notify, unless a notification waits.  A source with a
 * descriptor makes the runtime tick while any worker is awake: then it may be
 * that no worker listens.
 *
 * arm() is called before a worker sleeps, and means that the next item must be
 * notified; it returns true if something is there already.  disarm() means that
 * no notification is needed, because a worker takes already.  So a producer that
 * shares a word with arm() and disarm() notifies only sleepers.  The producer
 * must add its item and look for the bit of arm() in one atomic
 * read-modify-write, and arm() must set the bit and look for items in one
 * read-modify-write of the same word; a store and a later load would miss each
 * other.  A notification uses the bit up: the producer clears it first.
 *
 * A source does not keep a runtime alive.  sley_destroy() goes on asking the
 * sources until no task is left, since a task may wait for something that a source
 * delivers; items that come later are not taken.  If a source delivers without a
 * pause, it is not asked for some milliseconds now and then, so that the runtime
 * can end.  The sources end with the runtime.
 *
 * In the single-threaded mode the bound threads ask the sources, where they wait
 * and in sley_run_one(), and take() runs on the thread that asked.  There is no
 * tick: a thread that always has a task of its own asks at every 61st task.
 *
 * The functions belong to the program, and so does the memory that they look at.
 * If another process writes to that memory, the functions must not believe what
 * they read there.  A source that says for ever that something is there makes
 * an idle worker call take() for ever.
 */
#ifndef SLEY_SOURCE_H
#define SLEY_SOURCE_H

#include <sley/compiler.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

struct sley_source;

#define SLEY_SOURCES_MAX 8 /* of a runtime at the same time */

/* The functions of a source.  All but take() may be NULL. */
struct sley_source_options {
	uint32_t size; /* of this struct; SLEY_SOURCE_OPTIONS sets it       */
	int32_t fd;    /* a parked worker listens to it; 0: none             */
	bool (*take)(void *arg);   /* make tasks ready; true: there is more */
	bool (*has)(void *arg);    /* is something there?  NULL: .fd says   */
	bool (*arm)(void *arg);    /* notify the next item; true: there is
				      something already                     */
	void (*disarm)(void *arg); /* no notification is needed             */
	uint64_t reserved[4];
};

#define SLEY_SOURCE_OPTIONS(...)                                               \
	SLEY_LITERAL(struct sley_source_options, __VA_ARGS__)

/*
 * sley_source_create - let the workers of @rt look at a source of work.
 *
 * The first take() may come before the call returns; it finds *@source set.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the source belongs to @rt, and ends with it at the latest; @options is
 *           copied, @arg is borrowed until the source ends.
 * Order:    everything before the call happens before the first call of a
 *           function of the source.
 * Errors:   -ENOSPC       the runtime has SLEY_SOURCES_MAX sources, or the user of
 *                         the process watches too many descriptors
 *           -EMFILE       the process, or -ENFILE: the system, has no descriptor
 *                         left, which the first source with a .fd needs
 *           -EINVAL       options->size is zero
 *           -EBADF        options->fd is not open
 *           -EEXIST       another source listens to options->fd
 *           -EPERM        options->fd cannot be listened to, as a regular file
 *           -ENOMEM
 *           -E2BIG        a newer field is set
 *           -ESHUTDOWN    the runtime ends
 *           SLEY_EFORKED  the runtime was created before fork()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_source_create(struct sley *rt, struct sley_source **source,
		   const struct sley_source_options *options, void *arg);

/*
 * sley_source_destroy - end a source.
 *
 * When the call returns, no function of the source runs, and none is called any
 * more.  disarm() is called last.  Items that were not taken stay where they
 * are; tasks that take() has made ready go on.  A function of the source must not
 * destroy it: that is misuse.  No other call may use the source any more.  The
 * runtime must live until the call returns: sley_destroy() at the same time ends
 * the source, too.  Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber, until take() has returned; a plain thread sleeps
 * Order:    everything in the functions of the source happens before the return.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_source_destroy(struct sley_source *source);

/*
 * sley_source_notify - something is there: a worker shall look.
 *
 * Wakes a worker that sleeps.  Several notifications before the next take() count
 * as one.  The source must not be destroyed during the call.  Not for signal
 * handlers, as the call may take a lock.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the take() that follows.
 * Errors:   SLEY_EFORKED  the runtime belongs to the parent of this process
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_source_notify(struct sley_source *source);

SLEY_END_DECLS
#endif
