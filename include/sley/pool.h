/* SPDX-License-Identifier: MIT */
/*
 * sley/pool.h - pools: named sets of containers that serve requests.
 *
 * Scheduling has two levels.  *What* runs is decided by the container: a pool is made
 * of a module (<sley/module.h>), and a request (<sley/request.h>) runs one of its
 * methods in one container, or in several.  *Where* it runs is decided by the policy
 * of the router (<sley/policy.h>), which chooses the worker, and which can be
 * exchanged.
 *
 *     err = sley_router_create(rt, &router, NULL);
 *     err = sley_router_add(router, &store_module);
 *     err = sley_pool_open(router, &pool, "store",
 *                          SLEY_POOL_OPTIONS(.module = "store",
 *                                            .containers = 8));
 *     ...
 *     sley_pool_close(pool);
 *     sley_router_destroy(router);
 *
 * A router belongs to a runtime; a runtime may have several.  The router owns modules
 * and pools.  In a child of fork() they are lost with the runtime: calls that return an
 * error return SLEY_EFORKED there, and sley_pool_close() does nothing.
 *
 * References.  sley_pool_open() gives a reference to a pool, and makes the pool if there
 * is none of that name.  sley_pool_close() gives the reference back; the pool stays.
 * sley_pool_destroy() ends a pool: its requests are completed, its containers are
 * destroyed, and its name is free.  The handle stays valid until it is closed: a
 * request to it completes with -ENOENT.
 *
 * Containers.  A container that is drained (sley_container_drain_until()) completes the
 * requests that it has, and takes no others: new requests wait, as long as the time-out
 * of their query allows, until the container is opened again.  So its state can be
 * upgraded in place, or replaced.
 *
 * All containers of a pool are plugged at once, by sley_pool_open(), and unplugged at once,
 * by sley_pool_destroy().  Their number does not change meanwhile: a hash, a range and a
 * broadcast depend on it, and so does the place where a module finds its state again.
 *
 * Control calls (open, drain, upgrade, flush, destroy) run functions of a module on the
 * stack of their caller, and hold no lock meanwhile: a deadline or a cancel of the
 * caller's scope reaches the waits in create() and upgrade(), and other containers are not
 * held up.  A call that would wait for its own caller, which is a method, create() or
 * upgrade(), or was called by one on the same stack, returns -EDEADLK.
 *
 * Isolation.  The containers of an isolated pool (.isolated) are in subprocesses, and
 * their requests are copied there and back.  Call sley_subprocesses_init() first in
 * main(), and end the router before sley_subprocesses_exit().
 */
#ifndef SLEY_POOL_H
#define SLEY_POOL_H

#include <sley/compiler.h>
#include <sley/module.h>
#include <sley/query.h>
#include <sley/request.h>
#include <sley/runtime.h>
#include <sley/time.h>

SLEY_BEGIN_DECLS

struct sley_policy; /* <sley/policy.h> */
struct sley_router;

/* Of a pool. */
#define SLEY_CONTAINERS_MAX 65536

/* ---- routers ---------------------------------------------------------------------- */

/* Zero means the default in every field. */
struct sley_router_options {
	uint32_t size; /* of this struct; SLEY_ROUTER_OPTIONS sets it       */
	/* One of enum sley_log_level (<sley/policy.h>); default: warnings. */
	uint32_t log_level;
	/*
	 * The name of a policy that is built in, or of a file in .directories;
	 * default "default".
	 */
	const char *policy;
	/* A policy of the program, in place of the name; or NULL. */
	const struct sley_policy *own_policy;
	/*
	 * Folders, separated by colons, for modules and policies that are shared
	 * objects: the module "kv" is the file kv.so.  Only root and the user of
	 * the program may be able to write there.  NULL: none.
	 */
	const char *directories;
	/*
	 * How fast the predicted cost of a method follows measurements: above 0, up
	 * to 1, in millionths; default 0.2.  With 1 the last measured run counts alone.
	 */
	double learning_rate;
	uint64_t reserved[2];
};

#define SLEY_ROUTER_OPTIONS(...)                                               \
	SLEY_LITERAL(struct sley_router_options, __VA_ARGS__)

/*
 * sley_router_create - make a router of the runtime @rt.
 *
 * Context:  any thread
 * Blocks:   the fiber, while a policy is loaded; a plain thread loads it itself
 * Owner:    the caller ends the router with sley_router_destroy(), before @rt is
 *           destroyed; @options is copied, and so is the text of .directories;
 *           options->own_policy is borrowed until then.
 * Errors:   -ENOENT   there is no policy of that name
 *           -EPERM    other users may write to the file of the policy, or to a folder
 *                     above it; .report has a line
 *           -ELIBBAD  the file is no policy, or one of another version; the same
 *           -EINVAL   options->size is zero; .log_level or .learning_rate is out of
 *                     range; or the table of the policy has another version or
 *                     lacks runtime_map()
 *           -E2BIG    a newer field is set
 *           -ENOMEM
 *           SLEY_EFORKED
 *           the error of create() or divide_workers() of the policy; .report of
 *           the runtime gets a line that says so
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_router_create(struct sley *rt, struct sley_router **router,
		   const struct sley_router_options *options);

/*
 * sley_router_destroy - end all pools of a router, and the router.
 *
 * Waits for all requests.  All references to pools must have been given back.  Does
 * nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -EBUSY    references are left: nothing was done
 *           -EDEADLK  the caller is in a method of a pool of the router
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_router_destroy(struct sley_router *router);

/*
 * sley_router_add - let pools be made of @module, by its name.
 *
 * Several versions of a module may be added.  New pools are made of the newest; the
 * containers of older pools are upgraded by sley_container_upgrade_to().  A method
 * without run() is a number for later: its requests complete with -ENOSYS.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @module is borrowed until the router ends.
 * Errors:   -EEXIST   there is a module of that name and version
 *           -EINVAL   the table has another version, no name or no methods, or a
 *                     method with run() has no name; or a name is too long
 *           -ENOMEM
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_router_add(struct sley_router *router, const struct sley_module *module);

/*
 * sley_router_refresh - look for new versions of the modules that are files.
 *
 * Each module that was loaded from one of the .directories is looked for again.  If the
 * name is now another file, with another version of the module, that version is
 * added as by sley_router_add().  Nothing that runs is changed.  Returns how many versions
 * are new.
 *
 * Put a new file in place of the old by a rename, as install(1) does: to write into a file
 * that is loaded ends the program.
 *
 * Context:  any thread
 * Blocks:   the fiber, while files are loaded; a plain thread loads them itself
 * Errors:   -EPERM, -ELIBBAD  a file is not loaded: as sley_router_create()
 *           -ENOENT           a file is gone
 *           -EEXIST           a file has changed, and its version has not
 *           -ENOMEM
 *           SLEY_EFORKED
 *           All other files have been looked for; .report has a line for each
 *           that failed, unless it is gone.
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_router_refresh(struct sley_router *router);

/* ---- pools ------------------------------------------------------------------------ */

/* Zero means the default in every field. */
struct sley_pool_options {
	uint32_t size;       /* of this struct; SLEY_POOL_OPTIONS sets it    */
	uint32_t containers; /* default: 1                                   */
	const char *module;  /* its name; needed if the pool is made         */
	const void
		*params; /* for create() of the module; borrowed for the call */
	size_t params_size;
	/*
	 * Each container is in a subprocess (<sley/subprocess.h>) of its own, and
	 * so is all code of the module that uses its state.  A crash there fails
	 * the request that it ran, with SLEY_ECHILD, and nothing else: see
	 * docs/MODULES.md.
	 */
	bool isolated;
	/*
	 * The pool lasts as long as its router: it is not destroyed, and none of its
	 * containers is drained.  For pools on which others depend, and of which
	 * requests can end pools (<sley/admin.h>).
	 */
	bool permanent;
	/*
	 * Isolated: a container that was started again so often within a minute
	 * stays down after one more crash.  Default: 10; SLEY_SUBPROCESS_NEVER:
	 * it is not started again.
	 */
	uint32_t max_restarts;
	/* Isolated: a request that takes longer is ended by a kill; 0: no limit. */
	uint64_t limit_ns;
	uint64_t reserved[2];
};

#define SLEY_POOL_OPTIONS(...)                                                 \
	SLEY_LITERAL(struct sley_pool_options, __VA_ARGS__)

/*
 * sley_pool_open - get the pool with the name @name, or make it.
 *
 * If there is a pool of that name, @options->module must be its module, or NULL,
 * .containers must be its number, or 0, and it must be isolated if .isolated says so,
 * and permanent if .permanent says so.
 * Only the maker calls create() of the module, for one container after the other;
 * callers that come meanwhile wait for it.  If create() fails, the containers before are
 * destroyed, and there is no pool.
 *
 * A module that was not added is looked for in the .directories of the router, and is
 * loaded for good.
 *
 * Context:  any thread
 * Blocks:   the fiber, while create() runs; a plain thread sleeps
 * Owner:    the caller gives the reference back with sley_pool_close().
 * Errors:   -ENOENT         there is no pool of that name, and .module is NULL; or
 *                           there is no such module
 *           -EPERM, -ELIBBAD  the module is not loaded: as sley_router_create()
 *           -EEXIST         the pool has another module or another number of
 *                           containers, or is not isolated or not permanent
 *           -EINVAL         the name is empty; options->size is zero; or .limit_ns or
 *                           .max_restarts is set, and .isolated is not
 *           -ENAMETOOLONG   the name is longer than SLEY_POOL_NAME_MAX
 *           -E2BIG          a newer field is set, or .containers is above
 *                           SLEY_CONTAINERS_MAX
 *           -ENOMEM
 *           -ECANCELED      while another caller makes the pool
 *           -EDEADLK        create() of the pool opens the pool
 *           SLEY_EFORKED
 *           the error of create()
 *           of isolated pools:
 *           -EOPNOTSUPP     a subprocess cannot have such a container: .report has a
 *                           line with the reason
 *           -EMSGSIZE       .params and the names of the folders are too long: 3,900
 *                           bytes in all always fit
 *           -ETIMEDOUT      create() took longer than 10 s
 *           SLEY_ECHILD     the subprocess has ended in create()
 *           -ENOSPC, -EMFILE, -EAGAIN  as sley_subprocess_create()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_pool_open(struct sley_router *router, struct sley_pool **pool,
	       const char *name, const struct sley_pool_options *options);

/*
 * sley_pool_close - give a reference to a pool back.
 *
 * The pool stays until sley_pool_destroy() or sley_router_destroy().  All requests that
 * were submitted with this reference must be complete.  Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_pool_close(struct sley_pool *pool);

/*
 * sley_pool_destroy - end a pool.
 *
 * From the first moment its name is free, and new requests complete with -ENOENT, as
 * do requests that wait for a drained container, and periodic requests: no run begins any
 * more.  The call waits for all other requests and for runs that have begun, then
 * destroys the containers.  The reference of the caller stays, and is
 * given back with sley_pool_close().
 *
 * There is no deadline, since a pool without a name cannot be had back.  A caller that
 * wants one flushes the pool first, with sley_pool_flush_until().
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -EALREADY  the pool was destroyed, or another caller is destroying it
 *           -EDEADLK   the caller is in a method of the pool
 *           -EPERM     the pool is permanent
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_pool_destroy(struct sley_pool *pool);

/*
 * sley_pool_flush_until - wait until a pool has no requests and no other work.
 *
 * Requests that come meanwhile are waited for as well, and so are requests that wait for
 * a drained container; periodic requests only while a run lasts.  The library counts the
 * requests; work_remaining() of the module
 * adds its own.  The caller looks once a millisecond.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything in the requests that were submitted before happens before the
 *           return.
 * Errors:   -ETIMEDOUT, -ECANCELED
 *           -EDEADLK  the caller is in a method of the pool
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_pool_flush_until(struct sley_pool *pool, uint64_t deadline_ns);

/*
 * sley_pool_name - the name of a pool.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the text lives as long as the reference.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS const char *
sley_pool_name(const struct sley_pool *pool);

/*
 * sley_pool_router - the router of a pool.
 *
 * For methods that open other pools: sley_container_pool() is the pool of a container.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the router lives as long as the reference.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS struct sley_router *
sley_pool_router(const struct sley_pool *pool);

/*
 * sley_pool_nr_containers - how many containers a pool has.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_pool_nr_containers(const struct sley_pool *pool);

/* ---- containers ------------------------------------------------------------------- */

/*
 * sley_container_drain_until - complete the requests of a container, take no others.
 *
 * New requests for the container wait; periodic requests have no runs there, and are
 * not waited for between two runs.  If the call fails, the container takes
 * requests again.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED
 *           -ENXIO      the pool has no such container
 *           -EALREADY   the container is drained, or another caller drains it
 *           -EDEADLK    the caller is in a method of the container
 *           -EPERM      the pool is permanent
 *           -ENOENT     the pool was destroyed
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_container_drain_until(struct sley_pool *pool, uint32_t id,
			   uint64_t deadline_ns);

/*
 * sley_container_open - let a drained container take requests again.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENXIO    the pool has no such container
 *           -EINVAL   the container is not drained
 *           -EBUSY    another caller upgrades the container
 *           -ENOENT   the pool was destroyed
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_container_open(struct sley_pool *pool, uint32_t id);

/*
 * sley_container_upgrade - give a drained container to a newer version of its module.
 *
 * upgrade() of @module makes a state of its own of the old state.  If it fails, the
 * container keeps its module and its state.  The container stays drained.  If the pool is
 * destroyed meanwhile, upgrade() ends first, and destroy() of @module is called.
 *
 * Context:  any thread
 * Blocks:   the fiber, while upgrade() runs
 * Owner:    @module is borrowed until the router ends.
 * Errors:   -ENXIO    the pool has no such container
 *           -EINVAL   the container is not drained; or @module has another name, is
 *                     not newer, lacks a method of the old one, or has no upgrade():
 *                     then .report gets a line that says which
 *           -EBUSY    another caller upgrades the container
 *           -ENOENT   the pool was destroyed
 *           -EOPNOTSUPP  the pool is isolated
 *           SLEY_EFORKED
 *           the error of upgrade()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_container_upgrade(struct sley_pool *pool, uint32_t id,
		       const struct sley_module *module);

/*
 * sley_container_upgrade_to - sley_container_upgrade() by the number of a version.
 *
 * The module of that version must have been added to the router (sley_router_add()).
 * With 0 for @version: to the newest.
 *
 * Context:  any thread
 * Blocks:   the fiber, while upgrade() runs
 * Errors:   -ESRCH   no such version was added
 *           as sley_container_upgrade()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_container_upgrade_to(struct sley_pool *pool, uint32_t id,
			  uint32_t version);

/* What is known of the cost of a method; see sley_container_get_cost(). */
struct sley_method_cost {
	uint32_t size; /* of this struct; set it before the call             */
	uint32_t nr_runs; /* that were measured: some one in 64                 */
	/* Of runs in which the method did not wait; 0: there were none. */
	uint64_t busy_ns;
	uint64_t wall_ns; /* of all runs, with their waits; 0: not known        */
	uint64_t reserved[4];
};

/*
 * sley_container_get_cost - how long a method takes, as a container has measured.
 *
 * One in some 64 runs is measured.  Each measured run moves the prediction by a part of
 * the difference: .learning_rate of the router, a fifth by default.  The cost grows with the bytes that a request moves: @io_size, or 0.
 * An upgrade forgets what was measured.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller sets out->size to sizeof(*out).
 * Errors:   -ENXIO    the pool has no such container
 *           -ENOSYS   the module has no such method
 *           -EINVAL   out->size is zero
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_container_get_cost(const struct sley_pool *pool, uint32_t id,
			uint32_t method, uint64_t io_size,
			struct sley_method_cost *out);

SLEY_END_DECLS
#endif
