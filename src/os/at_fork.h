/* SPDX-License-Identifier: MIT */
/*
 * at_fork.h - fork handlers: which locks are held over fork(), and what the child
 * makes anew.  Also a count of forks, by which a child knows that it is a child.
 *
 * fork() copies the memory, but only the calling thread.  If another thread was in
 * the middle of a change, the change stays half done in the child for ever: a lock
 * that is held, a list that is half linked.  And the kernel copies page by page
 * while the other threads run on: the child may see a later store and not an
 * earlier one.  So each object of the whole process that has a lock is a *part* of
 * the registry, of one of two kinds:
 *
 *   kept     The child goes on with the contents.  The lock is taken over the fork,
 *            so that no thread is in the middle of a change.
 *   renewed  The child throws the contents away.  The lock is not taken: the child
 *            makes contents and lock anew.
 *
 * Prefer the second.  While a lock is held over the fork, other threads of the
 * parent that want the lock wait until the kernel has copied the page tables.  On a
 * busy machine that took 0.2 ms in a small process, and 50 to 100 ms in a process
 * with 1 GiB in use.  In the large process a thread that wants no lock fared no
 * better: the thread stops at its first page fault, and the kernel lets the thread
 * wait there until the end of the fork (every write to a page is a fault by then).
 * No frequent operation of a task is under a lock that is kept:
 *
 *   waits for a fork of another thread:  creating and destroying a runtime, binding a
 *       thread, a waker or key that comes or goes, a priority that is set for a task
 *       that is queued, a handler that is registered, the first use of a pool and
 *       every chunk it grows by, the end of a trace
 *   does not:  everything else; above all spawning, waking, sending, scopes, names,
 *       topics and graphs
 *
 * Locks of one runtime are no parts: a child does not touch the runtimes of its
 * parent (core/life/after_fork.h).
 *
 * Our handlers are the first to be registered with pthread_atfork(), as early as a
 * constructor can register them.  So they take the locks after all other handlers,
 * and release the locks before: another handler may call the library, and the locks
 * are held for the kernel's part only.
 *
 * To add a lock of the whole process: docs/HACKING.md.  tests/fault/fork_at_lock.c
 * forks wherever a lock is taken.
 *
 * Rejected: one big lock, which every place takes for reading (an atomic operation
 * on a shared word, in paths that have none); letting a forking thread wait until
 * all workers are at rest (a task may compute for an hour); pthread_atfork() in each
 * file (the order was that of the linker, and a forgotten file was not noticed).
 */
#ifndef SLEY_OS_AT_FORK_H
#define SLEY_OS_AT_FORK_H

/*
 * All parts.  Locks are taken from the first to the last and released from the last
 * to the first.  No thread holds two of these locks at a time otherwise.
 */
enum fork_rank {
	/* Kept; mutexes, whose holder may sleep, so these come first. */
	FORK_OVERFLOW, /* fiber/overflow.c: the handler of overflows          */
	FORK_KEYS,     /* os/thread.c: the keys for ends of threads           */

	/* Kept; spin locks. */
	FORK_TRACES, /* core/trace/trace_json.c: names of files                   */
	FORK_HANDLERS, /* actor/command/handler.c: the handlers of commands               */
	FORK_RUNQS, /* core/sched/runq.c: the tags of queues                     */
	FORK_SLOTS, /* core/task/slot.c: wakers and keys, their free places     */
	FORK_POOLS, /* mem/object_pool.c: which pools there are, and their chunks */

	/* Renewed. */
	FORK_SCOPES, /* core/life/scope.c: tasks with open scopes                  */
	FORK_TABLE, /* actor/process/process_table.c: processes                              */
	FORK_POSTS, /* actor/mail/post.c                                          */
	FORK_NAMES, /* actor/name/name.c                                          */
	FORK_TOPICS, /* actor/name/topic.c                                         */
	FORK_NAME_WAITS, /* actor/name/name_wait.c: waiters for a name             */
	FORK_LOANS, /* core/wait/loan.c: levels that are lent                     */
	FORK_DESCRIPTORS, /* io/descriptor.c: users of descriptors, and waiters    */
	FORK_REACTORS, /* io/reactor.c: the numbers of reactors                 */
	FORK_THREAD_WAITS, /* io/thread_wait.c: threads that wait for descriptors   */
	FORK_SLEEPERS, /* os/spin.c: sleeping waiters of locks                    */
	FORK_THREAD, /* core/life/after_fork.c: the thread that forks                  */
	NR_FORK_RANKS,
};

/* NULL: there is nothing to do. */
struct fork_part {
	void (*lock)(void);   /* before the fork                              */
	void (*unlock)(void); /* afterwards: in the parent, and in the child  */
	void (*renew)(void);  /* in the child, before the unlock              */
};

/* For constructors, which run once: there is no way back. */
void os_fork_register(enum fork_rank rank, const struct fork_part *part);

/* At file scope: FORK_PART(FORK_X, .lock = f, .unlock = g, .renew = h); */
#define FORK_PART(rank, ...)                                                   \
	__attribute__((constructor)) static void register_##rank(void)         \
	{                                                                      \
		static const struct fork_part part = { __VA_ARGS__ };          \
		os_fork_register(rank, &part);                                 \
	}                                                                      \
	struct fork_part

/* How many forks lie between the process that loaded the library and this. */
unsigned int os_fork_generation(void);

#endif
