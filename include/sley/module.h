/* SPDX-License-Identifier: MIT */
/*
 * sley/module.h - modules: the methods of a pool, and the state of its containers.
 *
 * A module is a table of functions, and no code of sley's.  A pool (<sley/pool.h>) is
 * made of a module; each of its containers has a state of its own, which create()
 * makes and destroy() ends.  A request (<sley/request.h>) runs one method of the module,
 * with the state of one container:
 *
 *     static int get(void *self, struct sley_request *request)
 *     {
 *             struct store *store = self;
 *             ...
 *             return sley_request_answer(request, value, size);
 *     }
 *
 *     static const struct sley_method methods[] = {
 *             [STORE_GET] = { .name = "get", .run = get },
 *             [STORE_SET] = { .name = "set", .run = set },
 *     };
 *
 *     static const struct sley_module store_module = {
 *             SLEY_MODULE_HEAD("store"),
 *             .methods = methods, .nr_methods = 2,
 *             .create = create, .destroy = destroy,
 *     };
 *
 * Several methods of one container may run at the same time: the module takes its own
 * locks, those of sley (<sley/sync.h>).  create(), destroy() and upgrade() run alone: no
 * method of that container runs meanwhile.
 */
#ifndef SLEY_MODULE_H
#define SLEY_MODULE_H

#include <sley/compiler.h>
#include <sley/query.h>
#include <sley/request.h>

SLEY_BEGIN_DECLS

/* The version of the tables in this header. */
#define SLEY_MODULE_ABI 1u

/* The longest name of a module, a method or a pool, without the 0 at its end. */
#define SLEY_POOL_NAME_MAX 63

/*
 * For .flags of a method: it returns within microseconds and never blocks, so it may
 * run on the stack of the submitter.
 */
#define SLEY_METHOD_SHORT 1u

/*
 * For .flags of a method: it works with the network, or with a GPU.  A policy may
 * have a worker for that: see sley_router_set_network_worker().
 */
#define SLEY_METHOD_NETWORK 2u
#define SLEY_METHOD_GPU 4u

struct sley_method {
	const char *name;
	/*
	 * Does the work of @request.  Returns the code of the request: 0, or an
	 * error below 0; what a code above 0 means is up to the module.
	 */
	int (*run)(void *self, struct sley_request *request);
	uint32_t flags;
	uint32_t reserved;
	/*
	 * How many bytes @request moves, for requests that do not say so
	 * themselves (.io_size); or NULL.
	 */
	uint64_t (*io_size)(void *self, const struct sley_request *request);
	/*
	 * For requests that run in several containers: adds the answer of one
	 * container to the answer of the containers before it.  *@into has @room
	 * bytes, of which *@size are used.  Returns 0, or an error, which becomes
	 * the code.  Without the function, the answer is that of the first
	 * container.
	 */
	int (*combine)(void *into, size_t room, size_t *size, const void *from,
		       size_t from_size);
};

/*
 * For .flags of a module: schedule() and io_size() do not look at @self.  In an isolated
 * pool (<sley/pool.h>) both run in the program, which has no state of a container, and
 * @self is NULL.
 */
#define SLEY_MODULE_STATELESS 1u

/* What create() is told of the container that it makes. */
struct sley_container_info {
	const char *pool;   /* its name                                   */
	uint32_t id;        /* of the container                           */
	uint32_t nr;        /* of containers in the pool                  */
	const void *params; /* .params of the pool                        */
	size_t params_size;
	struct sley *rt;
};

/*
 * Its size never changes while SLEY_MODULE_ABI is 1: new fields come out of .reserved.
 * The linker copies exported tables such as sley_kv_module into the program, with the
 * size that they had when the program was linked.
 */
struct sley_module {
	uint32_t abi;  /* SLEY_MODULE_ABI                                   */
	uint32_t size; /* of this struct                                    */
	const char *name;
	uint32_t version; /* of the module: an upgrade may go up only       */
	uint32_t nr_methods;
	const struct sley_method *methods;
	/* Makes the state of a container, in *@self.  0, or an error. */
	int (*create)(void **self, const struct sley_container_info *info);
	void (*destroy)(void *self); /* may be NULL                         */
	/*
	 * Answers a dynamic query: where @request shall run.  Runs on the stack of the
	 * submitter, beside methods of the container, so it must be short; or NULL.
	 */
	struct sley_query (*schedule)(void *self,
				      const struct sley_request *request);
	/*
	 * How much work the container has beside its requests, such as data that
	 * is not written yet: sley_pool_flush_until() waits until it is 0; or NULL.
	 */
	uint64_t (*work_remaining)(void *self);
	/* The state of version @from becomes one of this version; or NULL. */
	int (*upgrade)(void **self, uint32_t from,
		       const struct sley_container_info *info);
	/*
	 * Writes what @query asks for to @text, which has @size bytes, as JSON.
	 * Returns its length as snprintf() does, or -ENOENT: no such query; or NULL.
	 */
	int (*monitor)(void *self, const char *query, char *text, size_t size);
	uint64_t flags; /* SLEY_MODULE_STATELESS                              */
	uint64_t reserved[3];
};

/* The first fields of a struct sley_module. */
#define SLEY_MODULE_HEAD(name_)                                                \
	.abi = SLEY_MODULE_ABI, .size = sizeof(struct sley_module),            \
	.name = (name_)

/*
 * SLEY_MODULE(name, .field = value, ...) - the table of a module that is a shared
 * object of its own: NAME.so in one of the .directories of a router.
 */
#define SLEY_MODULE(name_, ...)                                                \
	SLEY_EXPORT extern const struct sley_module sley_module_table;         \
	const struct sley_module sley_module_table = {                         \
		SLEY_MODULE_HEAD(name_), __VA_ARGS__                           \
	}

/*
 * sley_request_container - the container in which a request runs.
 *
 * Context:  any thread, for methods and policies
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_container *
sley_request_container(const struct sley_request *request)
{
	return request->container;
}

/*
 * sley_container_id - the number of a container in its pool.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_container_id(const struct sley_container *container);

/*
 * sley_container_pool - the pool of a container.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    no reference is added: the pool lives while the container does.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS struct sley_pool *
sley_container_pool(const struct sley_container *container);

SLEY_END_DECLS
#endif
