/* SPDX-License-Identifier: MIT */
/*
 * sley/admin.h - the module "admin": requests that make, end, flush and inspect pools.
 *
 * The calls of <sley/pool.h>, as requests.  So a task, or another process,
 * can manage the pools of a program that it can only send requests to:
 *
 *     err = sley_router_add(router, &sley_admin_module);
 *     err = sley_pool_open(router, &admin, "admin",
 *                          SLEY_POOL_OPTIONS(.module = "admin"));
 *     ...
 *     struct sley_admin_target in = { .pool = "store" };
 *
 *     err = sley_pool_call(admin,
 *                          SLEY_REQUEST(.method = SLEY_ADMIN_FLUSH, .in = &in,
 *                                       .in_size = sizeof(in)),
 *                          NULL);
 *
 * The IN and OUT parts have a fixed layout, and no pointers.  A part of another size
 * than its struct, a name without its 0, and a reserved field that is not 0 are
 * -EINVAL.  An unknown pool is -ENOENT.  Each method returns what the call behind it
 * returns.  The deadline of the request bounds the waits of a method, but for
 * SLEY_ADMIN_DESTROY.
 *
 * A request is inside of the admin pool itself while its method runs.  So a method that
 * would wait for the admin pool to be empty could never end: SLEY_ADMIN_DESTROY,
 * SLEY_ADMIN_FLUSH and SLEY_ADMIN_DRAIN of the own pool are -EDEADLK.  A pool that must
 * stay, whatever is requested, is opened with .permanent (<sley/pool.h>).
 *
 * A method has a reference to a pool while it works there: destroy the router
 * when no such method runs.  A submitter of requests to an admin pool can do to the
 * pools of its router all that the program can do.
 */
#ifndef SLEY_ADMIN_H
#define SLEY_ADMIN_H

#include <sley/compiler.h>
#include <sley/module.h>

SLEY_BEGIN_DECLS

struct sley_event;        /* <sley/sync.h> */
struct sley_pool_options; /* <sley/pool.h> */

/* The module, for sley_router_add(). */
SLEY_EXPORT extern const struct sley_module sley_admin_module;

enum sley_admin_method {
	/*
	 * IN is a struct sley_admin_make, followed by the .params of the pool; OUT is
	 * nothing.  sley_pool_open(); the pool stays, and no reference is given out.
	 * -EPERM: the module is "admin" itself, whose .params are addresses.
	 */
	SLEY_ADMIN_MAKE,
	/* IN is a struct sley_admin_target in these; OUT is nothing. */
	SLEY_ADMIN_DESTROY, /* sley_pool_destroy()                            */
	SLEY_ADMIN_FLUSH,   /* sley_pool_flush_until()                        */
	SLEY_ADMIN_DRAIN,   /* sley_container_drain_until()                   */
	SLEY_ADMIN_OPEN,    /* sley_container_open()                          */
	SLEY_ADMIN_UPGRADE, /* sley_container_upgrade_to()                    */
	/*
	 * IN is a struct sley_admin_query; OUT gets the JSON text, without its 0, for
	 * which there must be room.  -EMSGSIZE: OUT is too small.
	 */
	SLEY_ADMIN_INSPECT,
	/*
	 * No IN; OUT gets a struct sley_pool_name (<sley/pool_inspect.h>) for each
	 * pool.  -EMSGSIZE: OUT is too small.
	 */
	SLEY_ADMIN_LIST,
	/*
	 * No IN, no OUT.  Sets the event of the struct sley_admin_params; the program
	 * stops when it likes.  -EOPNOTSUPP: there is no event.
	 */
	SLEY_ADMIN_STOP,
	/*
	 * No IN; OUT gets the number of new versions, a uint32_t; it may be left
	 * out.  sley_router_refresh().
	 */
	SLEY_ADMIN_REFRESH,
};

/* For .flags of a struct sley_admin_make. */
#define SLEY_ADMIN_ISOLATED 1u /* .isolated of struct sley_pool_options       */
/*
 * The pool shall come again after a restart of the program: .keep of the struct
 * sley_admin_params is called once the pool is there.  -EOPNOTSUPP: there is none, and
 * nothing was made.  If it fails, the pool is there and is not kept.
 */
#define SLEY_ADMIN_KEEP 2u

/* A pool, and for some methods a container. */
struct sley_admin_target {
	char pool[SLEY_POOL_NAME_MAX + 1];
	uint32_t container;
	uint32_t version; /* for SLEY_ADMIN_UPGRADE; 0: the newest            */
	uint64_t reserved[2];
};

/* As struct sley_pool_options. */
struct sley_admin_make {
	char pool[SLEY_POOL_NAME_MAX + 1];
	char module[SLEY_POOL_NAME_MAX + 1]; /* "": the pool must be there    */
	uint32_t containers;
	uint32_t flags;        /* SLEY_ADMIN_ISOLATED, SLEY_ADMIN_KEEP       */
	uint64_t limit_ns;     /* of isolated pools                          */
	uint32_t max_restarts; /* the same                                   */
	uint32_t reserved;
};

#define SLEY_ADMIN_QUERY_MAX 191

/*
 * A query of sley_pool_inspect_json() to the pool; or, without a pool, of
 * sley_router_inspect_json().
 */
struct sley_admin_query {
	char pool[SLEY_POOL_NAME_MAX + 1]; /* "": the router                  */
	char query[SLEY_ADMIN_QUERY_MAX + 1];
	uint64_t reserved[2];
};

/* For .params of an admin pool, or nothing. */
struct sley_admin_params {
	uint32_t size; /* of this struct; SLEY_ADMIN_PARAMS sets it          */
	uint32_t reserved_flags;
	struct sley_event *stop; /* for SLEY_ADMIN_STOP; borrowed by the pool */
	/*
	 * For SLEY_ADMIN_KEEP: remembers the pool @name with its options, which are
	 * borrowed for the call.  Returns 0 or an error.  Called by several tasks
	 * at once; may block.
	 */
	int (*keep)(void *keeper, const char *name,
		    const struct sley_pool_options *options);
	/*
	 * The pool @name was destroyed by a request: it shall not come again.
	 * Returns 0, or an error, which the submitter gets.
	 */
	int (*forget)(void *keeper, const char *name);
	void *keeper; /* for both; borrowed by the pool                       */
	uint64_t reserved[1];
};

#define SLEY_ADMIN_PARAMS(...)                                                 \
	SLEY_LITERAL(struct sley_admin_params, __VA_ARGS__)

SLEY_END_DECLS
#endif
