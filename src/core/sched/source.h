/* SPDX-License-Identifier: MIT */
/*
 * source.h - sources: work that comes from outside of the scheduler.
 *
 * A source is four functions of its owner.  The workers ask has() whether there is
 * something, at each fair pick, before they steal and before they park.  Then one
 * worker calls take(), which makes tasks ready: it spawns or wakes some, and says
 * whether there is more.  A worker that is about to park calls arm(): the producer
 * has to signal the next item.  While a worker takes, signals are not needed, and
 * disarm() says so to the producer.
 *
 * take() runs as a task of its own, the *taker*, which runs in turns
 * (core/task/turn.h) and costs no memory.  A pick is made on the stack of the task
 * that is about to leave, perhaps on the last page of it and under a lock; there the
 * code of a program has no place, except has() and arm(), which are a few
 * instructions.  In the taker, take() has a stack, may make any call, and spawns on
 * the worker that asked.
 *
 * A source has at most one taker at a time.  Others that ask meanwhile pass the
 * source by, even in the look before they park: the taker looks once more when its
 * turn is over.  So that the two cannot miss each other, each asker, and the taker
 * at the end of its turn, adds to one and the same word of the source:
 *
 *   parker                               taker
 *   1. counts: parked + 1 (I1)           1. take() returns
 *   2. adds itself to the word (SR3)     2. word: TAKEN goes, and the taker is a
 *      TAKEN: passes by                     guest (SR3)
 *      else:  arm()                      3. there is more, or has() says so:
 *   3. looks: not TAKEN, and has():         notifies the workers as a submitter
 *      leaves the seat                      else, if a worker is parked: arm()
 *   4. sleeps
 *
 * One of the two additions comes first.  If it is the parker's, the taker's step 3
 * reads counts that have the parker, and arms or wakes.  If it is the taker's, the
 * parker arms, and sees what the taker left.
 *
 * A worker that searched, and takes from a *brief* source, stays a searcher: the take is
 * a part of the search.  Such a taker neither arms nor notifies in step 3.  Its worker
 * looks again, and then parks, with a step 2 of its own, or ends its search, and arms
 * (end_search() of search.c).  Until then submitters rely on the searcher.  So a producer
 * whose items come one by one is answered without a system call on either side, however
 * many workers sleep.  The search ends in earnest if the take waits, if it lasts until the
 * monitor sees that the worker is held, or if items come faster than they are taken.
 *
 * The producer may be another process, which the parker's membarrier() does not
 * reach.  So the producer's "there is more" and its look for a sleeper are one
 * read-modify-write of a word, and arm() is another of the same word:
 *
 *   producer                             arm()
 *   1. word += ONE, and finds SLEEPS     1. word |= SLEEPS, and finds a count
 *   2. SLEEPS: takes the bit back, and   2. the count says that something is
 *      signals: a descriptor that a         there: true
 *      parked worker listens to
 *
 * A signal uses the bit up.  It wakes a worker as a searcher; before that worker
 * parks, or ends its search while others sleep, arm() is called again.
 *
 * A producer in this process has an easier way: source_notify() sets *pending* and
 * wakes a worker, as a submitter does (I1 of core/sched/idle.h).  The taker takes
 * pending back before take(), so an item that comes later is announced again.
 *
 * What a look has found is pending, too, although the looker takes nothing: a worker that
 * leaves its seat for it asks once more before it takes, and has() may say no by then, as
 * where it asks the kernel once in a while.  Else such a worker would sit down and get up
 * for ever beside the item, if that takes it longer than the while.
 *
 * Workers that are all busy look at sources in their fair picks only.  The monitor
 * pokes the awake workers once in a tick while a source is *due*: while pending is
 * set; or, for a source whose producer signals through a descriptor, while no worker
 * is parked, since then nobody listens to the descriptor.  Otherwise sources cause no
 * ticks.  The last worker that wakes up reads the monitor's plan (I5 of
 * core/sched/idle.h), so the ticks begin at once.
 *
 * A source may keep in memory what its has() got from the kernel.  Then an asker that
 * finds a taker has put something there that no worker listens for any more.  The asker
 * adds to the word after it has put it there (SR6), and the taker looks after it has
 * added to the word: one of the two finds what the other did.
 *
 * Adding and removing.  Everyone who calls has() or arm() is a *guest* of the source:
 * a count in the word.  The remover takes LIVE out of the word, waits until no guest
 * is there, and then until the taker, if there is one, has ended.  A guest that comes
 * later finds that the source is not LIVE, and leaves.
 *
 * Sources do not keep a runtime alive.  They are asked until nothing is left in the
 * runtime; then the destroyer shuts them (SHUT) and counts once more, since a taker
 * may have begun before.  A source that delivers without a pause would never leave
 * nothing, so the destroyer shuts the sources now and then for a short time, and
 * opens them again if tasks are left: a task may wait for something that only a source
 * delivers.
 *
 * Edges:
 *
 *  SR1  notifier sets pending -> taker takes it back : the item
 *  SR2  a guest leaves -> remover, destroyer find no guest : the functions have
 *       returned, and a taker that was begun is counted
 *  SR3  parker's counts, then word <-> taker's word, then counts; and what the
 *       last taker left -> the next taker
 *  SR6  what has() of an asker put in memory, then word <-> taker's word, then left()
 *  SR4  the source is complete -> a guest finds it LIVE
 *  SR5  notifier's pending, then the monitor's plan <-> the plan, then pending
 *   I1  see core/sched/idle.h
 *
 * Rejected: take() on the stack of the pick (no room, locks are held, and a wait in
 * it would be fatal); take() by several workers at once (each producer would need a
 * queue for many consumers); a parker that waits until the taker is done (a taker
 * may be suspended); one more thread that sleeps for all producers (two wake-ups in
 * a row: 2.5 times the price of a futex).
 */
#ifndef SLEY_CORE_SCHED_SOURCE_H
#define SLEY_CORE_SCHED_SOURCE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "lf/spin.h"

#include <sley/task.h>
#include <sley/waitq.h>

struct sley;
struct worker;

#define SOURCES_MAX 16
#define SOURCES_OF_USERS 8

struct source_ops {
	/*
	 * Is something there?  Any thread, many at a time.  NULL: pending says,
	 * or whether the descriptor is readable.
	 */
	bool (*has)(void *arg);
	/*
	 * Is something left in memory?  In place of has() where a worker is about
	 * to park, and after take(): for a source whose has() asks the kernel about
	 * fd, which a parked worker listens to anyway.  NULL: has().
	 */
	bool (*left)(void *arg);
	/* Make tasks ready, some dozens at most.  True: there is more. */
	bool (*take)(void *arg);
	/* Signal the next item.  True: something is there already.  Or NULL. */
	bool (*arm)(void *arg);
	/* No signal is needed.  By the taker or the remover.  Or NULL. */
	void (*disarm)(void *arg);
	/* The runtime ends, and the source with it: by the destroyer.  Or NULL. */
	void (*end)(void *arg);
	/* Readable after a signal: a parked worker listens to it.  0: none. */
	int fd;
	/* take() is short: a searcher stays a searcher while it takes. */
	bool brief;
};

/* In the word of a source: */
#define SOURCE_LIVE 1u
#define SOURCE_SHUT 2u  /* the runtime ends: no new taker     */
#define SOURCE_TAKEN 4u /* there is a taker                   */
#define SOURCE_GUEST 8u /* one guest; the bits above count    */

struct sley_source {
	cache_aligned uint32_t word;
	uint32_t pending; /* notified, and not taken since        */
	/* Constant while LIVE: */
	struct sley *rt;
	struct source_ops ops;
	void *arg;
	bool of_user;
	/* Of the taker: */
	bool more;                /* take() has left something    */
	struct sley_waitq taking; /* a countdown: 1 while TAKEN   */
	struct sley_task taker;
};

struct sources {
	uint32_t live;    /* bits of sources; a hint, the word decides */
	uint32_t with_fd; /* of these: sources with a descriptor    */
	struct spinlock lock;
	uint32_t used;     /* (lock) live, or being removed     */
	uint32_t nr_users; /* (lock) of these: sources of users */
	bool shut;         /* (lock)                            */
	bool ever_used;    /* (lock)                            */
	struct sley_source source[SOURCES_MAX];
};

/*
 * 0; -ENOSPC: there are as many as there may be; -ESHUTDOWN: @rt ends; or the error
 * of poller_watch().
 */
must_check int source_add(struct sley *rt, struct sley_source **out,
			  const struct source_ops *ops, void *arg,
			  bool of_user);

/*
 * When it returns, no function of @source runs, and none will.  Waits as a task
 * waits.  Not called by a function of @source.
 */
void source_remove(struct sley_source *source);

/* The argument of a source of @rt that has this take(), or NULL. */
void *source_find(struct sley *rt, bool (*take)(void *arg));

/* For messages about misuse: was @source not removed? */
static inline bool source_is_live(const struct sley_source *source)
{
	/* relaxed: a check of the caller. */
	return load_relaxed(&source->word) & SOURCE_LIVE;
}

/* Something is there.  Any thread of this process. */
void source_notify(struct sley_source *source);

/* ---- for pick.c and search.c ------------------------------------------------------ */

/* Is there any source?  A hint, without a call of its functions. */
bool sources_exist(const struct sley *rt);

/* The taker of a source that has something, READY and in no queue; or NULL. */
struct sley_task *source_pick(struct worker *worker);

/* Is @task the taker of a brief source? */
must_check bool source_takes_briefly(const struct sley_task *task);

/* Of step 1 of core/sched/idle.h, and at the end of a search: step 2 above. */
void sources_arm(struct worker *worker);

/* Is there something to take?  Step 3 of core/sched/idle.h. */
must_check bool sources_wait(struct worker *worker);

/*
 * The same for a worker that goes on: it listens to no descriptor.  True: the worker
 * looks at the sources next, as it has to (SR6).
 */
must_check bool sources_have(struct worker *worker);

/* A worker has found a task: the monitor shall look in time, if a source is due. */
void sources_expect(struct sley *rt);

/* ---- for others ------------------------------------------------------------------ */

/*
 * By the monitor, after its plan: shall a worker that is awake look at sources?
 * @asleep: some worker is parked.
 */
must_check bool sources_are_due(struct sley *rt, bool asleep);

/* Was there ever a source? */
must_check bool sources_were_used(struct sley *rt);

/*
 * By the destroyer: no taker begins any more, until sources_open().  True: a taker
 * may have begun before, so count once more.
 */
must_check bool sources_shut(struct sley *rt);
void sources_open(struct sley *rt);

/* By the destroyer, when all workers have stopped. */
void sources_end(struct sley *rt);

#endif
