/* SPDX-License-Identifier: MIT */
/*
 * sley/runtime.h - start a runtime, enter it, stop it.
 *
 * A runtime owns workers (OS threads) that run tasks.  Several runtimes may live
 * in one process.  A thread that is not a worker may *bind* to a runtime; from
 * then on sley_spawn() and sley_schedule() from that thread go to this runtime.
 *
 * In the single-threaded mode (.workers = SLEY_SINGLE) there are no worker
 * threads: each bound thread runs its own tasks, on fibers, whenever it blocks
 * in a sley call or unbinds.
 *
 * Hooks.  .on_start runs on each worker thread before any task, and
 * sley_create() returns when all .on_start have returned.  .on_stop runs on each
 * worker thread after the last task.  Both hooks are tasks, pinned to their
 * worker.  They may block, and may spawn tasks; pinned tasks of a hook stay on
 * its worker.  While a hook is blocked, its worker runs other work: tasks that
 * hooks have spawned.  Hooks run even if all tasks are cancelled, but then their
 * waits are cancelled, too.  In the single-threaded mode sley_bind() and
 * sley_unbind() call the hooks on the bound thread, which is worker 0.  A thread
 * that is bound to a runtime with workers has no hooks.
 *
 * .on_blocking_start and .on_blocking_stop run on each thread of
 * <sley/blocking.h>, before its first call and after its last call.  These hooks
 * are not tasks: a wait in them blocks the thread.  sley_destroy() returns when
 * all of them have returned.
 *
 * Idle workers.  .on_idle is called on a worker thread each time that the worker
 * has found no work and is about to sleep.  The function may make tasks ready: it
 * may spawn tasks, send messages, set events and wake tasks.  If it returns true,
 * the worker looks for work once more instead of sleeping.  No task that it has
 * made ready is forgotten, whatever it returns.  The function is no task: it must
 * not wait in any way, and should return within microseconds, because other threads
 * rely on the worker, which still counts as one that looks for work.  A worker
 * whose .on_start has returned may be idle before sley_create() returns, and a
 * worker may be idle after its .on_stop, until sley_destroy() returns.  In the
 * single-threaded mode the bound thread calls .on_idle, as worker 0, before it
 * sleeps in a call of sley.
 *
 * Watchdog.  A fiber resumes on the worker where it blocked, unless it is
 * migratable (<sley/task.h>).  So a task that computes for long, or waits in a
 * system call, holds up the ready fibers of its worker, even if other workers
 * are idle.  After .watchdog_ms .report gets a line: which task, on which worker,
 * for how long, how many tasks wait, and what to do.  It gets the line, too, if tasks
 * have held all workers for ten times as long, and work may come from a source
 * (<sley/source.h>) meanwhile.  The watchdog looks every 10 milliseconds.  There is one
 * line for each such task, and at most four lines in ten seconds; sley_get_stats()
 * counts all such tasks.  A blocking call or region (<sley/blocking.h>) holds no worker.
 * The single-threaded mode has no watchdog.
 *
 * Signals.  Workers and the threads for blocking calls block every signal that
 * is sent to the process.  So signal handlers run on threads of the program,
 * never on a small stack, and no system call of a task fails with EINTR.  Two
 * kinds of signals are not blocked.  Signals that an instruction raises
 * (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP) are never blocked.
 * SIGPIPE and SIGXFSZ, which a write of the task itself raises, are blocked only
 * if the creator of the runtime blocked them: by default, a task that writes to
 * a pipe without a reader ends the program, as a thread does.  Threads of the
 * library that run no code of the program block these two signals as well.
 *
 * fork().  A runtime does not survive fork(): the child process has one thread,
 * and this thread belongs to no runtime.  In the child process, calls that name
 * a runtime of the parent, or need the runtime of the caller, return
 * SLEY_EFORKED; calls that cannot return an error abort.  Calls that block do so
 * as on any plain thread.  All calls that need no runtime work, unless they wait
 * for tasks of the parent, which never run in the child process.  The child
 * process may create a new runtime.  If a task calls fork(), the child process
 * must not return from the task: it calls exec or _exit() there.  Such a child
 * process has the signal mask of the creator of the runtime.  Objects such as
 * mutexes and channels are in the child process as they were at the moment of
 * the fork: if another thread was using an object, the object may be locked for
 * ever.  Make new objects in the child process.
 *
 * In the parent process all work goes on, but a fork costs the other threads
 * time.  Every write to memory may wait until the kernel has copied the page
 * tables (0.2 ms in a small process; 50 to 100 ms were seen with 1 GiB in use).
 * Calls that create or destroy runtimes, wakers and keys, bind threads, register
 * handlers or map memory for more processes wait as well.  A large process that
 * starts programs had better use posix_spawn().  The library does not notice
 * _Fork() and vfork(): only exec or _exit() may follow them.
 *
 * Real-time threads.  A thread of a real-time class (SCHED_FIFO, SCHED_RR) may
 * make every call that any thread may make.  Calls that never block still take
 * locks of the library, each for less than a microsecond.  If the holder of such
 * a lock is preempted, the caller spins for some 5 to 40 us and then sleeps
 * until the holder has run; so the holder may be of any class.  No priority is
 * inherited: the wait lasts as long as other threads keep the holder from its
 * CPU, as with a pthread mutex without PTHREAD_PRIO_INHERIT.  A thread that must
 * never wait for threads of lower priority makes no call of sley, and passes its
 * data through its own memory.  The workers are of the class of the thread that
 * called sley_create().
 *
 * Signal handlers.  A signal handler makes no call of sley except sley_now():
 * the handler may have interrupted the holder of the very lock that the call
 * takes.  To start a task from a signal handler, write to a pipe or an eventfd,
 * or replace the handler by a thread that waits in sigwaitinfo() and then calls
 * sley.
 */
#ifndef SLEY_RUNTIME_H
#define SLEY_RUNTIME_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

struct sley; /* a runtime */

typedef void sley_fn(void *arg);

/* For .workers: no worker threads, see above. */
#define SLEY_SINGLE (-1)

#define SLEY_WORKERS_MAX 4096

/* For .spin_us: a worker sleeps as soon as it has found no work. */
#define SLEY_NO_SPIN UINT32_MAX

/* For .blocking_max, and for the capacity of a channel: no limit. */
#define SLEY_UNBOUNDED SIZE_MAX

/* For .watchdog_ms: no reports. */
#define SLEY_NEVER UINT64_MAX

/*
 * The allocator of the runtime's own bookkeeping memory.  Stacks are mapped from
 * the kernel and do not use this allocator.  alloc() returns memory aligned to
 * @align (a power of two) or NULL.  Both functions may be called from any thread
 * at any time.  All zero means the C library's allocator.
 */
struct sley_allocator {
	void *(*alloc)(void *self, size_t size, size_t align);
	void (*free)(void *self, void *memory, size_t size);
	void *self;
};

struct sley_cpus; /* a set of CPUs: <sley/cpus.h> */

/*
 * The CPUs on which worker threads run.  Workers get only CPUs that the caller
 * of sley_create() may use.  The single-threaded mode starts no threads, so
 * there is nothing to place.
 */
enum sley_placement {
	SLEY_PLACE_NONE,   /* the kernel chooses: the default                */
	SLEY_PLACE_ANY_OF, /* each on all of .cpus; the default with .cpus */
	/*
	 * Each worker on one of .cpus.  At first one worker per core, then one
	 * per hyper-thread, then from the beginning again.
	 */
	SLEY_PLACE_ONE_OF,
	SLEY_PLACE_CUSTOM, /* each on the CPUs from .place()                 */
};

/*
 * How a runtime waits for descriptors and files (<sley/io.h>).  The environment may
 * say so, too: SLEY_IO=uring, epoll or threads.  All three do the same; "sley doctor"
 * tells which of them this machine allows.
 */
enum sley_io {
	SLEY_IO_DEFAULT, /* $SLEY_IO, or SLEY_IO_URING                        */
	/*
	 * Sockets in epoll; files in a ring of io_uring.  Where the kernel denies
	 * io_uring, as SLEY_IO_EPOLL.
	 */
	SLEY_IO_URING,
	SLEY_IO_EPOLL,   /* no io_uring anywhere; files by threads            */
	SLEY_IO_THREADS, /* no epoll for sockets either: a thread in poll(2)  */
};

/* Zero means the default in every field.  Use SLEY_CONFIG() to set it up. */
struct sley_config {
	uint32_t size;        /* of this struct; SLEY_CONFIG sets it       */
	int32_t workers;      /* 0: one per usable CPU; or SLEY_SINGLE     */
	uint32_t stack_kib;   /* per fiber, default 256                    */
	uint32_t stack_cache; /* idle stacks kept per worker, default 64   */
	uint64_t seed;        /* for the choice of victims; 0: the clock   */
	const char *name;     /* of the worker threads, default "sley"     */
	/* "full", a file, or "full:FILE": every task; default $SLEY_TRACE. */
	const char *trace;
	bool migratable;      /* all tasks may resume on any worker        */
	bool save_fpu;        /* floating-point control words per fiber    */
	bool no_membarrier;   /* use the fallback, for tests               */
	bool no_guard_advice; /* guard by mprotect, for tests              */
	bool no_io_uring;     /* sleep for descriptors in epoll            */
	struct sley_allocator allocator;
	/*
	 * Gets reports (survivors of a stop, warnings); default: stderr.  It is
	 * called on any thread, perhaps a worker, so it must not wait for tasks.
	 */
	void (*report)(void *self, const char *line);
	void *report_self;
	uint32_t placement; /* one of enum sley_placement                  */
	/* The CPUs that workers may use; default: all that the caller may use. */
	const struct sley_cpus *cpus;
	/*
	 * SLEY_PLACE_CUSTOM: called in sley_create(), for one worker after the
	 * other.  @cpus is the set of usable CPUs at first.  The function leaves
	 * the CPUs of the worker in it.
	 */
	void (*place)(void *self, int worker, struct sley_cpus *cpus);
	/* Run on each worker, first and last; see "Hooks" in this header. */
	void (*on_start)(void *self, int worker);
	void (*on_stop)(void *self, int worker);
	void *hook_self; /* for .place and all hooks                        */
	/* How long a thread of sley/blocking.h stays idle; default 10000. */
	uint64_t blocking_idle_ms;
	uint32_t max_processes; /* at a time (sley/process.h); 0: no limit */
	/*
	 * A deadline of a task whose worker is busy is noticed this many
	 * microseconds late at most, and then waits for the running task; 100
	 * to 10,000, default 1,000.  Without deadlines nothing ticks.
	 */
	uint32_t tick_us;
	/* Run on each thread of sley/blocking.h, first and last; see "Hooks". */
	void (*on_blocking_start)(void *self);
	void (*on_blocking_stop)(void *self);
	/*
	 * How many microseconds a worker without work looks for work before it
	 * sleeps: 1 to 1,000,000, or SLEY_NO_SPIN; default 20.  A search in vain
	 * halves the time of the next search, down to 1; a search that finds
	 * work restores it.  Up to 20, a worker that serves many descriptors
	 * at a time sleeps at once: while it wakes up, requests gather.
	 */
	uint32_t spin_us;
	/* Called by a worker before it sleeps; see "Idle workers". */
	bool (*on_idle)(void *self, int worker);
	/*
	 * The most threads of sley/blocking.h at a time, default 512; or
	 * SLEY_UNBOUNDED.  More calls than that wait for a thread.
	 */
	size_t blocking_max;
	/*
	 * .report gets a line when a task has held its worker for so many
	 * milliseconds while tasks wait that only this worker may run; see
	 * "Watchdog" in this header.  Default 100; or SLEY_NEVER.
	 */
	uint64_t watchdog_ms;
	uint64_t io; /* one of enum sley_io; default $SLEY_IO               */
	/*
	 * The domain that the runtime joins (<sley/domain.h>), so that its tasks and
	 * those of other processes stand in one order; default $SLEY_DOMAIN, or none.
	 */
	const char *domain;
	/* 1: a strict member of domains; default $SLEY_DOMAIN_STRICT, or 0. */
	uint64_t strict;
	uint64_t reserved[1];
};

#define SLEY_CONFIG(...) SLEY_LITERAL(struct sley_config, __VA_ARGS__)

/*
 * sley_config_default - a default configuration, to change field by field.
 *
 * For C++, which has no SLEY_CONFIG(), and for code that sets the fields at
 * different places.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_config
sley_config_default(void)
{
	struct sley_config config = SLEY_ZEROED;

	config.size = sizeof(config);
	return config;
}

/*
 * sley_create - start a runtime.
 *
 * @config may be NULL for all defaults.  The default number of workers follows
 * the affinity mask of the process, or .cpus, and the CPU quota of its cgroup.
 * If the domain that .domain names cannot be joined, .report gets a line, and the
 * runtime goes on without.
 *
 * Context:  any thread
 * Blocks:   the thread, until all workers have started
 * Owner:    the caller stops the runtime with sley_destroy(); @config is
 *           borrowed for the call; allocator.self, report_self and hook_self
 *           until sley_destroy() returns.
 * Errors:   -ENOMEM, -EAGAIN (no more threads)
 *           -EPERM      a sandbox forbids to start or to place threads
 *           -E2BIG      config->size is newer than this library, and a field
 *                       that the library does not know is set
 *           -EINVAL     config->size is zero: use SLEY_CONFIG(); or .placement
 *                       is unknown, or .place is missing, or .tick_us or
 *                       .spin_us is out of range, or .io, $SLEY_IO, .strict or
 *                       $SLEY_DOMAIN_STRICT is unknown
 *           SLEY_ECPUS  no CPU of .cpus may be used, or .place() left no CPU
 *           SLEY_EWORKERS, SLEY_ESTACK
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD SLEY_MUST_CHECK int
sley_create(struct sley **out, const struct sley_config *config);

/*
 * sley_destroy - wait for all work and bound threads, then stop a runtime.
 *
 * New work from outside is refused from the first moment.  Live tasks and bound
 * threads can still spawn tasks, and these tasks run.  Processes are asked to
 * end (sley_process_cancel()); a supervisor asks its own children.  Does nothing
 * with NULL.  A call from a task of @rt, or from a thread bound to @rt, is
 * misuse: it could never return.
 *
 * Context:  any thread that is not part of @rt
 * Blocks:   the thread
 * Order:    everything in every task happens before the return.
 * Errors:   -EBUSY        another thread is destroying @rt already
 *           SLEY_EFORKED  this process is a fork of the one that created @rt
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD int
sley_destroy(struct sley *rt);

/*
 * sley_destroy_until - like sley_destroy(), but give up at a deadline.
 *
 * At the deadline config->report gets one line for each task that has not ended
 * and for each thread that has not unbound.  The runtime goes on as before,
 * except that it refuses new work from outside.  Call again to go on waiting,
 * for instance after sley_cancel_all().  .on_stop hooks count as tasks.
 *
 * Context:  any thread that is not part of @rt
 * Blocks:   the thread
 * Errors:   -ETIMEDOUT  work or threads are left; @rt is valid
 *           -EBUSY      another thread is destroying @rt already
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD SLEY_MUST_CHECK int
sley_destroy_until(struct sley *rt, uint64_t deadline_ns);

/*
 * sley_cancel_all - cancel every task of @rt, now and from now on.
 *
 * Blocked tasks wake with -ECANCELED, and so does every later wait.  Tasks that
 * have not started never start; they count as ended with -ECANCELED.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_cancel_all(struct sley *rt);

/*
 * sley_bind - make @rt the runtime of the calling thread.
 *
 * Any number of threads may bind.  A call from a thread that is bound already,
 * or is a worker, is misuse.
 *
 * Context:  a plain thread
 * Blocks:   never, but for .on_start in the single-threaded mode
 * Errors:   -ENOMEM
 *           -ESHUTDOWN    @rt is being destroyed
 *           SLEY_EFORKED  this process is a fork of the one that created @rt
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_bind(struct sley *rt);

/*
 * sley_unbind - take the calling thread out of its runtime again.
 *
 * In the single-threaded mode the call first runs all tasks of this thread to
 * their end, blocked tasks included.
 *
 * Context:  the bound thread
 * Blocks:   the thread, in the single-threaded mode
 * Errors:   none; a call from a thread that is not bound to @rt is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD void
sley_unbind(struct sley *rt);

/*
 * sley_run - a whole program: create, run @root as a task, destroy.
 *
 * Returns when @root and all tasks spawned from it have ended.
 *
 * Context:  a plain thread that is not bound
 * Blocks:   the thread
 * Errors:   as sley_create()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD SLEY_MUST_CHECK int
sley_run(const struct sley_config *config, sley_fn *root, void *arg);

/*
 * sley_get_config - the configuration that a runtime works with.
 *
 * The given configuration, with all defaults filled in.  .name, .trace, .cpus and
 * .domain point into @rt.  .trace is NULL if nothing is recorded, and .domain if none
 * was joined.  .no_membarrier tells
 * whether the fallback is in use, by choice or because of the kernel.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller sets out->size to sizeof(*out); the pointers in *@out are
 *           valid until @rt is destroyed.
 * Errors:   -EINVAL  out->size is zero
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_get_config(const struct sley *rt, struct sley_config *out);

/*
 * sley_current - the runtime of the calling thread, or NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS struct sley *sley_current(void);

/*
 * sley_worker - the index of the worker that runs the caller, or -1.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int sley_worker(void);

/*
 * sley_nr_workers - the number of worker threads of @rt; 0 if single-threaded.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; SLEY_EFORKED in a child process of fork()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_nr_workers(const struct sley *rt);

/*
 * sley_run_one - run one task of the calling thread until it ends or blocks.
 *
 * For tests that control the order of tasks: a single-threaded runtime with a
 * fixed .seed makes the same choices every time.
 *
 * Context:  a thread bound to a single-threaded runtime, outside of its tasks
 * Blocks:   the thread, as long as that task runs
 * Errors:   1 if a task ran, 0 if no task was ready
 *           -ENOMEM  a task is ready, but there is no memory for its stack
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD int
sley_run_one(struct sley *rt);

/* Counters of one runtime, summed over its workers at the time of the call. */
struct sley_stats {
	uint64_t spawned;       /* tasks handed to the runtime               */
	uint64_t finished;      /* tasks that ended                          */
	uint64_t switches;      /* fiber switches                            */
	uint64_t steals;        /* successful steals                         */
	uint64_t parks;         /* times a worker went to sleep              */
	uint64_t fibers;        /* existing fibers, idle ones included       */
	uint64_t fibers_idle;   /* idle fibers, waiting for a task           */
	uint64_t trace_dropped; /* events that found no room                 */
	uint64_t allocated;     /* bytes of bookkeeping memory in use        */
	uint64_t blocking_threads; /* of sley/blocking.h, that exist now     */
	uint64_t blocking_queued;  /* calls that have not started            */
	uint64_t blocking_calls;   /* calls that have started                */
	uint64_t blocking_waited;  /* calls that found all threads busy      */
	uint64_t long_tasks;       /* that the watchdog has found            */
	uint64_t shared_queued;    /* ready tasks in no worker's queue       */
	uint64_t reserved[4];
};

/*
 * sley_get_stats - read the counters of a runtime.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_get_stats(const struct sley *rt, struct sley_stats *out);

/*
 * One worker: counters, and the lengths of its queues.  While tasks come and go, a
 * length has changed before the caller reads it: lengths and load are good enough
 * to choose a worker by (.toward), and exact while nothing changes.  Forked children
 * (sley/fork.h) are in no queue and are not counted.
 */
struct sley_worker_stats {
	uint32_t size;     /* of this struct; SLEY_WORKER_STATS_INIT sets it  */
	uint32_t load;     /* busy time of the last 100 ms, in thousandths    */
	uint64_t finished; /* tasks that ended here                           */
	uint64_t switches; /* fiber switches                                  */
	uint64_t steals;   /* successful steals by this worker                */
	uint64_t parks;    /* times the worker went to sleep                  */
	uint32_t ready;    /* ready tasks: the sum of the next five           */
	uint32_t ring;     /* new tasks                                       */
	uint32_t lane;     /* new tasks from other threads                    */
	uint32_t next;     /* the task that was woken last: 0 or 1            */
	uint32_t own;      /* tasks that only this worker may run             */
	uint32_t home;     /* the same, sent by other threads, not seen yet   */
	uint32_t timers;   /* deadlines that tasks wait for                   */
	uint32_t asleep;   /* 1: the worker sleeps                            */
	uint64_t reserved[4];
};

#define SLEY_WORKER_STATS_INIT { .size = sizeof(struct sley_worker_stats) }

/*
 * sley_get_worker_stats - read the counters and the queue lengths of one worker.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller sets out->size to sizeof(*out).
 * Errors:   -EINVAL  there is no worker with the number @worker (a
 *                    single-threaded runtime has none), or out->size is zero
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_get_worker_stats(const struct sley *rt, int worker,
		      struct sley_worker_stats *out);

/*
 * sley_version - "major.minor.patch" of the library that is linked.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS const char *sley_version(void);

SLEY_END_DECLS
#endif
