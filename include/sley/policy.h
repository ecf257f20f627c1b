/* SPDX-License-Identifier: MIT */
/*
 * sley/policy.h - policies: which worker runs a request.
 *
 * A policy is a table of functions.  A router (<sley/pool.h>) has one policy.  The policy
 * places the requests of the router; it has no say in other tasks of the runtime.
 *
 *     static uint32_t pick(void *self, const struct sley_route *route)
 *     {
 *             struct mine *mine = self;
 *
 *             return sley_route_io_size(route) >= 4096 ? mine->io : mine->other;
 *     }
 *
 *     static const struct sley_policy my_policy = {
 *             SLEY_POLICY_HEAD("mine"),
 *             .create = create, .destroy = destroy, .runtime_map = pick,
 *     };
 *
 *     err = sley_router_create(rt, &router,
 *                              SLEY_ROUTER_OPTIONS(.own_policy = &my_policy));
 *
 * A worker that a policy chooses is a preference: the request is queued there, and
 * another worker takes it if that one is busy, unless the policy pins the request
 * (sley_route_pin).  An answer that is no worker is refused
 * and counted (sley_router_stats), and the request stays where it is; .report of the
 * runtime gets a warning, at most once in ten seconds.
 *
 * Built in, by name (any other name is a file, see .directories of the router):
 *
 *   "default"  worker 0 takes metadata and small requests; requests that move at least
 *              SLEY_IO_LARGE bytes go round the I/O workers; methods for the network
 *              and for GPUs have their worker; requests of one group stay together;
 *              a worker that a task holds is passed over
 *   "local"    requests stay on the worker of their submitter; requests from outside go
 *              to the worker that the thread of the submitter chooses
 *   "none"     requests stay on the worker of their submitter, and nothing is asked
 *   "steal"    as "local"; requests of one group are pinned to one worker, and a worker
 *              without requests takes some from the others
 *   "prio"     one half of the workers is for urgent requests, the other half for the
 *              rest, the last worker for the network
 *
 * The functions are called on any worker and thread, by several at a time.  They are
 * short and do not block.
 */
#ifndef SLEY_POLICY_H
#define SLEY_POLICY_H

#include <sley/compiler.h>
#include <sley/module.h>
#include <sley/pool.h>
#include <sley/request.h>

SLEY_BEGIN_DECLS

#define SLEY_POLICY_ABI 1u

/* "default": requests of so many bytes are large. */
#define SLEY_IO_LARGE 4096

/* A policy that has no opinion returns this: the request stays where it is. */
#define SLEY_NO_WORKER UINT32_MAX

/* A request on its way, as a policy sees it. */
struct sley_route {
	struct sley_router *router;
	const struct sley_request *request;
	struct sley_container *container; /* where the request will run      */
	/*
	 * The worker of the submitter; SLEY_NO_WORKER if the submitter is a thread
	 * that is no worker of the runtime.
	 */
	uint32_t here;
};

/* How often a periodic request runs, for adjust_polling(). */
struct sley_polling {
	uint64_t period_ns; /* .period_ns of the request                     */
	uint64_t waited_ns; /* how long the wait for this run was meant to be;
			       0: it was the first                           */
	uint64_t wait_ns; /* until the next run, as the library would have it */
	uint32_t nr_idle; /* runs in a row that did no work, this one, too */
	bool did_work;    /* this run did not say that it was idle         */
};

struct sley_policy {
	uint32_t abi;  /* SLEY_POLICY_ABI                                   */
	uint32_t size; /* of this struct                                    */
	const char *name;
	/*
	 * Makes the state of the policy for a router, in *@self.  All functions
	 * on @router of this header may be used from here on.  0, or an error.
	 */
	int (*create)(void **self, struct sley_router *router);
	void (*destroy)(void *self); /* may be NULL                         */
	/*
	 * Says what the workers are for; may be NULL.  Called once, after
	 * create() and before the first request: sley_router_set_*().  0, or an
	 * error.
	 */
	int (*divide_workers)(void *self, struct sley_router *router);
	/*
	 * The lane, below sley_router_client_lanes(), for a request from outside
	 * of the runtime.  Lane n is worker n.  May be NULL: then runtime_map() is
	 * asked, with SLEY_NO_WORKER for the worker of the submitter.
	 */
	uint32_t (*client_map)(void *self, const struct sley_route *route);
	/*
	 * The worker for a request; SLEY_NO_WORKER: that of its submitter, or, if the
	 * submitter is a thread from outside, any.
	 */
	uint32_t (*runtime_map)(void *self, const struct sley_route *route);
	/*
	 * Balances the load of the workers, as by sley_router_steal(); may be
	 * NULL.  Called on @worker, if it has found no work and is about to sleep,
	 * and after every 64th request that it completes.  It is no task: it must
	 * not wait.
	 */
	void (*rebalance)(void *self, struct sley_router *router,
			  uint32_t worker);
	/*
	 * After each run of a periodic request: how long to wait for the next run,
	 * counted from the time for which this run was scheduled.  At least the
	 * period: a shorter wait is refused and counted.  May be NULL: then it is
	 * @polling->wait_ns, see <sley/request.h>.
	 */
	uint64_t (*adjust_polling)(void *self, const struct sley_route *route,
				   const struct sley_polling *polling);
	uint64_t reserved[4];
};

#define SLEY_POLICY_HEAD(name_)                                                \
	.abi = SLEY_POLICY_ABI, .size = sizeof(struct sley_policy),            \
	.name = (name_)

/*
 * SLEY_POLICY(name, .field = value, ...) - the table of a policy that is a shared
 * object of its own: NAME.so in one of the .directories of a router.
 */
#define SLEY_POLICY(name_, ...)                                                \
	SLEY_EXPORT extern const struct sley_policy sley_policy_table;         \
	const struct sley_policy sley_policy_table = {                         \
		SLEY_POLICY_HEAD(name_), __VA_ARGS__                           \
	}

/* Counters of a router, by all threads.  */
struct sley_router_stats {
	uint32_t size; /* of this struct; set it before the call            */
	uint32_t reserved_flags;
	uint64_t submitted; /* requests that were accepted                  */
	uint64_t completed;
	uint64_t inlined; /* of these: on the stack of the submitter        */
	uint64_t moved;   /* sent to another worker than the submitter's    */
	uint64_t refused; /* answers of the policy that are not allowed     */
	uint64_t stolen;  /* moved by sley_router_steal(); what idle workers
			     take by themselves is not counted              */
	uint64_t reserved[7];
};

/*
 * sley_router_get_stats - the counters of a router.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -EINVAL   stats->size is zero
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_get_stats(const struct sley_router *router,
		      struct sley_router_stats *stats);

/* ---- what a policy may ask ---------------------------------------------------------- */

/*
 * sley_router_nr_workers - how many workers the router's runtime has.
 *
 * A single-threaded runtime has 1: the bound thread.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_router_nr_workers(const struct sley_router *router);

/*
 * sley_router_learning_rate - how fast predictions follow measurements.
 *
 * sley_route_cost() and sley_router_load() do so; a policy with predictions of its own
 * may, too.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; above 0, up to 1
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS double
sley_router_learning_rate(const struct sley_router *router);

/*
 * sley_router_runtime - the runtime of a router, for sley_get_config() and
 * sley_get_worker_stats().
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS struct sley *
sley_router_runtime(const struct sley_router *router);

/*
 * sley_router_depth - how many tasks are ready at a worker.
 *
 * The same number as .ready of sley_get_worker_stats(), for the price of some loads.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; 0 if there is no such worker, or the runtime is single-threaded
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_router_depth(const struct sley_router *router, uint32_t worker);

/*
 * sley_router_is_held - does one task hold a worker, and does not yield?
 *
 * A worker is held when it has ended no task, and switched to none, for some 20
 * milliseconds, and until it does.  The library looks every 10 milliseconds.  A worker
 * whose thread gets no CPU for so long is held, too.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; false if there is no such worker, or the runtime is single-threaded
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_router_is_held(const struct sley_router *router, uint32_t worker);

/*
 * sley_router_load - how much a worker has to do, in predicted nanoseconds.
 *
 * The sum of sley_route_cost() of the requests that the router has sent to @worker and
 * that are not complete, whichever worker runs them.  0 without
 * sley_router_count_load().
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; 0 if there is no such worker
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint64_t
sley_router_load(const struct sley_router *router, uint32_t worker);

/*
 * sley_route_cost - how long a request will keep a worker busy, in nanoseconds.
 *
 * A prediction for the method in its container, from one in 64 of its runs, and for
 * the number of bytes that the request moves: see sley_container_get_cost().
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; 0: nothing is known yet
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint64_t
sley_route_cost(const struct sley_route *route);

/*
 * sley_route_priority - the priority of a request.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int32_t
sley_route_priority(const struct sley_route *route);

/*
 * sley_route_method_flags - .flags of the method that a request runs.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline uint32_t
sley_route_method_flags(const struct sley_route *route)
{
	return route->request->does->flags;
}

/*
 * sley_route_process - the number of the operating-system process of the submitter.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_route_process(const struct sley_route *route);

/*
 * sley_route_thread - the kernel's number of the thread of the submitter.
 *
 * Of a task: of the worker thread that runs it.  Of a client of a server
 * (<sley/server.h>): the number of its process.
 *
 * Context:  any thread, in client_map() and runtime_map()
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_route_thread(const struct sley_route *route);

/*
 * sley_route_io_size - how many bytes a request moves, as far as is known.
 *
 * .io_size of the request, or what io_size() of its method says, or else 0.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint64_t
sley_route_io_size(const struct sley_route *route);

/*
 * sley_route_group - the group of a request, or SLEY_NO_GROUP.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline uint64_t
sley_route_group(const struct sley_route *route)
{
	return route->request->group;
}

/*
 * sley_route_keep_group - the worker of the request's group, in its container.
 *
 * The first request of a group chooses the worker: @worker.  Later requests get the
 * same worker, as long as a request of the group is in the container.  After that the
 * next request chooses again.  If two first requests meet, both get the same worker.
 * A container that has no room for another group returns @worker.
 *
 * Context:  any thread, in runtime_map()
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_route_keep_group(const struct sley_route *route, uint32_t worker);

/*
 * sley_route_group_worker - the worker to which the request's group is kept.
 *
 * Only looks: sley_route_keep_group() counts the request in.
 *
 * Context:  any thread, in client_map() and runtime_map()
 * Blocks:   never
 * Errors:   none; SLEY_NO_WORKER: the request has no group, or no request of the group
 *           is in the container
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_route_group_worker(const struct sley_route *route);

/*
 * sley_router_client_lanes - how many lanes client_map() may choose from.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_router_client_lanes(const struct sley_router *router);

/* ---- what a policy may say ---------------------------------------------------------- */

/*
 * sley_route_pin - let a request run on no other worker than the chosen one.
 *
 * The worker is then no preference: if a task holds it, the request waits for the end
 * of that task.  Has no effect if the policy answers SLEY_NO_WORKER, or if the request
 * is periodic: the worker of such a request is a preference.
 *
 * Context:  any thread, in client_map() and runtime_map()
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_route_pin(const struct sley_route *route);

/*
 * sley_router_steal - move a request from the queue of a worker to another worker.
 *
 * Moves the oldest request of the router that has not begun, has no group that a policy
 * keeps together (sley_route_keep_group()), and is not pinned.  Only requests of the
 * default priority wait in the queue of a worker; others are where all workers look.
 * A worker without work takes requests from the others by itself: this call is for
 * workers that are busy.  Several callers may steal from the same worker.
 *
 * Context:  any thread; made for rebalance()
 * Blocks:   never
 * Errors:   1: a request was moved
 *           0: there is none that may be moved
 *           -EINVAL   @from or @to is no worker, or both are the same; sley_router_stats
 *                     counts the call as refused
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_steal(struct sley_router *router, uint32_t from, uint32_t to);

/*
 * sley_router_count_load - from now on sley_router_load() is counted.
 *
 * It costs each request two atomic additions.
 *
 * Context:  any thread, in create() and divide_workers()
 * Blocks:   never
 * Errors:   -ENOMEM
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_count_load(struct sley_router *router);

/*
 * sley_router_set_client_lanes - how many lanes client_map() may choose from.
 *
 * Without this call there is one lane.
 *
 * Context:  any thread, in create() and divide_workers()
 * Blocks:   never
 * Errors:   -EINVAL   @nr is 0, or above the number of workers
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_set_client_lanes(struct sley_router *router, uint32_t nr);

/*
 * sley_router_set_network_worker - which worker is for the network.
 *
 * Without this call there is none, and network requests are as any other.
 *
 * Context:  any thread, in create() and divide_workers()
 * Blocks:   never
 * Errors:   -EINVAL   @worker is no worker of the runtime
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_set_network_worker(struct sley_router *router, uint32_t worker);

/*
 * sley_router_network_worker - the worker for the network, or SLEY_NO_WORKER.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_router_network_worker(const struct sley_router *router);

/*
 * sley_router_set_gpu_worker - which worker is for GPUs.
 *
 * Without this call there is none.
 *
 * Context:  any thread, in create() and divide_workers()
 * Blocks:   never
 * Errors:   -EINVAL   @worker is no worker of the runtime
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_set_gpu_worker(struct sley_router *router, uint32_t worker);

/*
 * sley_router_gpu_worker - the worker for GPUs, or SLEY_NO_WORKER.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_router_gpu_worker(const struct sley_router *router);

/* How important a line of a policy or a module is. */
enum sley_log_level {
	SLEY_LOG_DEBUG = 1,
	SLEY_LOG_INFO,
	SLEY_LOG_WARNING,
	SLEY_LOG_ERROR,
};

/*
 * sley_router_log - a line for .report of the runtime, from a policy or a module.
 *
 * Lines below the level of the router (.log_level, default SLEY_LOG_WARNING) are
 * dropped.
 *
 * Context:  any thread
 * Blocks:   never, unless .report does
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS
	__attribute__((format(printf, 3, 4))) void
	sley_router_log(const struct sley_router *router,
			enum sley_log_level level, const char *format, ...);

SLEY_END_DECLS
#endif
