/* SPDX-License-Identifier: MIT */
/*
 * sley/pool_inspect.h - looking into routers, pools and containers.
 *
 * The same figures as structs, for programs, and as JSON, for people and for other
 * processes:
 *
 *     struct sley_pool_stats stats = SLEY_POOL_STATS_INIT;
 *     char text[4096];
 *
 *     err = sley_pool_inspect(pool, &stats);
 *     n = sley_router_inspect_json(router, "worker_stats", text, sizeof(text));
 *
 * To look costs the requests nothing: no figure is counted for the sake of inspection.
 * So the figures are of one moment each, and a program that is busy has changed them
 * before the caller reads them.  They are exact while nothing changes.  Phase and
 * handles of a pool are read under a lock, and fit each other.
 *
 * All calls work while containers are drained or upgraded, while the pool is being
 * destroyed, and afterwards, as long as the caller has its reference.
 */
#ifndef SLEY_POOL_INSPECT_H
#define SLEY_POOL_INSPECT_H

#include <sley/compiler.h>
#include <sley/pool.h>

SLEY_BEGIN_DECLS

/* ---- routers ---------------------------------------------------------------------- */

/* A worker, as a router sees it. */
struct sley_router_worker_stats {
	uint32_t size;   /* of this struct; ..._INIT sets it                  */
	uint32_t queued; /* tasks that are ready there; requests are tasks    */
	uint32_t load;   /* busy time of the last 100 ms, in thousandths      */
	uint32_t asleep; /* 1: the worker sleeps                              */
	uint32_t timers; /* deadlines that its tasks wait for                 */
	uint32_t reserved_flags;
	uint64_t submitted; /* requests, by tasks of this worker              */
	uint64_t completed; /* requests, by this worker                       */
	uint64_t inlined;   /* of these: on the stack of their submitter      */
	uint64_t moved;     /* submitted here, and sent to another worker     */
	uint64_t finished;  /* tasks of any kind that ended here              */
	uint64_t parks;     /* times the worker went to sleep                 */
	uint64_t reserved[8];
};

#define SLEY_ROUTER_WORKER_STATS_INIT                                          \
	{                                                                      \
		.size = sizeof(struct sley_router_worker_stats)                \
	}

/*
 * sley_router_inspect_worker - the figures of one worker.
 *
 * With SLEY_NO_WORKER (<sley/policy.h>) for @worker, of all threads together that are
 * no workers: they submit requests, and complete requests that cannot run.  The
 * worker of a single-threaded runtime, the bound thread, has the figures of requests
 * only; the others are 0.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller sets stats->size to sizeof(*stats).
 * Errors:   -EINVAL  there is no such worker, or stats->size is zero
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_inspect_worker(const struct sley_router *router, uint32_t worker,
			   struct sley_router_worker_stats *stats);

/* The name of a pool, with the 0 at its end. */
struct sley_pool_name {
	char text[SLEY_POOL_NAME_MAX + 1];
};

/*
 * sley_router_pool_names - the names of all pools, in the order of their making.
 *
 * Returns how many pools there are; the first @room of them are in @names.  A pool
 * whose containers are still being made is among them.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @names is borrowed for the call; NULL if @room is 0.
 * Errors:   SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_pool_names(struct sley_router *router, struct sley_pool_name *names,
		       uint32_t room);

/* ---- pools ------------------------------------------------------------------------ */

enum sley_pool_phase {
	SLEY_POOL_MAKING, /* create() of a container runs                     */
	SLEY_POOL_LIVE,
	SLEY_POOL_GONE, /* destroyed, or being destroyed: it has no name    */
};

struct sley_pool_stats {
	uint32_t size;    /* of this struct; SLEY_POOL_STATS_INIT sets it     */
	uint32_t phase;   /* one of enum sley_pool_phase                      */
	uint32_t handles; /* references that were not given back, and one more
			     while the pool is being destroyed                */
	uint32_t version; /* of its module: the lowest that a container has   */
	uint32_t containers; /* the sum of the next five, and of .down        */
	uint32_t open;       /* they take requests                            */
	uint32_t draining;   /* they complete their requests                  */
	uint32_t drained;    /* they wait for their keeper; before they are
				made, too                                     */
	uint32_t upgrading;  /* upgrade() of a module runs there              */
	uint32_t gone;       /* they are destroyed, or about to be            */
	uint64_t inside;  /* requests in containers, queued or running        */
	uint64_t waiting; /* requests that wait for a drained container, or
			     for their parts in other containers              */
	char name[SLEY_POOL_NAME_MAX + 1];
	char module[SLEY_POOL_NAME_MAX + 1];
	uint32_t down; /* containers in the phase SLEY_CONTAINER_DOWN         */
	uint32_t reserved_flags;
	uint64_t periodic; /* periodic requests that have not ended; of these,
			      .inside has those that run at this moment        */
	uint64_t reserved[6];
};

#define SLEY_POOL_STATS_INIT { .size = sizeof(struct sley_pool_stats) }

/*
 * sley_pool_inspect - the figures of a pool.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller sets stats->size to sizeof(*stats).
 * Errors:   -EINVAL  stats->size is zero
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_pool_inspect(struct sley_pool *pool, struct sley_pool_stats *stats);

/* ---- containers ------------------------------------------------------------------- */

enum sley_container_phase {
	SLEY_CONTAINER_OPEN,
	SLEY_CONTAINER_DRAINING,
	SLEY_CONTAINER_DRAINED,
	SLEY_CONTAINER_UPGRADING, /* drained, and upgrade() of a module runs      */
	SLEY_CONTAINER_GONE,
	/*
	 * Of an isolated pool: open, but its subprocess has died too often, and is
	 * not started again.  Its requests complete with SLEY_ECHILD.
	 */
	SLEY_CONTAINER_DOWN,
};

struct sley_container_stats {
	uint32_t size;  /* of this struct; SLEY_CONTAINER_STATS_INIT sets it */
	uint32_t phase; /* one of enum sley_container_phase                 */
	uint32_t version; /* of its module, which upgrades change             */
	uint32_t groups;  /* that are kept together; 0 unless it is open      */
	uint64_t inside;  /* requests, queued or running                      */
	uint64_t reserved[8];
};

#define SLEY_CONTAINER_STATS_INIT                                              \
	{                                                                      \
		.size = sizeof(struct sley_container_stats)                    \
	}

/*
 * sley_container_inspect - the figures of the container @id of a pool.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller sets stats->size to sizeof(*stats).
 * Errors:   -ENXIO   the pool has no such container
 *           -EINVAL  stats->size is zero
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_container_inspect(struct sley_pool *pool, uint32_t id,
		       struct sley_container_stats *stats);

/* ---- as JSON ---------------------------------------------------------------------- */

/*
 * sley_router_inspect_json - the answer to @query, as a JSON text.
 *
 * The queries are:
 *
 *   "worker_stats"   each worker, and the threads that are none
 *   "pool_stats"     each pool that has a name
 *   "system_stats"   the policy, the modules, the names of pools, and the sums
 *
 * The names of the members are those of the structs.  Returns the length of the whole
 * text, as snprintf() does: a text that is not shorter than @size was cut off.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @query and @text are borrowed for the call.
 * Errors:   -ENOENT     there is no such query
 *           -EOVERFLOW  the text is longer than an int can tell
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_inspect_json(struct sley_router *router, const char *query,
			 char *text, size_t size);

/*
 * sley_pool_inspect_json - the answer of a pool to @query, as a JSON text.
 *
 * The queries are:
 *
 *   "pool_stats"              the pool
 *   "methods"                 the names of its methods, in the order of their numbers
 *   "container_stats"         all of its containers
 *   "container_stats:3"       container 3
 *   "container_stats:3:QUERY" what monitor() of its module says to QUERY
 *
 * monitor() runs on the stack of the caller, as if it were a request of the container.
 * Returns the length as sley_router_inspect_json().
 *
 * Context:  any thread
 * Blocks:   the fiber, while monitor() runs; a plain thread sleeps
 * Owner:    @query and @text are borrowed for the call.
 * Errors:   -ENOENT     there is no such query, here or in the module
 *           -ENXIO      the pool has no such container
 *           -EAGAIN     monitor() cannot be asked: the container takes no requests
 *           -EOVERFLOW  the text is longer than an int can tell
 *           SLEY_EFORKED
 *           the error of monitor()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_pool_inspect_json(struct sley_pool *pool, const char *query, char *text,
		       size_t size);

SLEY_END_DECLS
#endif
