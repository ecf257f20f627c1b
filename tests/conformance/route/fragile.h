/* SPDX-License-Identifier: MIT */
/*
 * fragile.h - a module that dies as it is told, and an isolated pool of it.
 *
 * The module counts in memory that all processes share.
 */
#ifndef SLEY_TESTS_CONFORMANCE_ROUTE_FRAGILE_H
#define SLEY_TESTS_CONFORMANCE_ROUTE_FRAGILE_H

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "conformance/bound.h"

#include "route/isolated.h"
#include "route/pool.h"

enum method {
	ECHO,     /* answers with its IN part                             */
	SAY_PIDS, /* answers with its process, and the fork server        */
	COUNT,    /* returns how many of these the container has had      */
	DIE,      /* as the int of its IN part says                       */
	HOLD,     /* until the gate is open, then does as DIE             */
	NAP,      /* sleeps in sley for a minute                          */
	ANSWER,   /* so many bytes                                        */
	SAY_ID,   /* answers with the container; answers are appended     */
	CALL,     /* sends a request to the container of its IN part      */
	SCRIBBLE, /* overwrites what is shared with the program           */
	SUM,      /* returns the sum of the bytes of its IN part          */
	PATTERN,  /* answers with the bytes that struct pattern says      */
	FLOOD,    /* as HOLD, then fills all of OUT                       */
	SPOIL,    /* as HOLD, but overwrites the crates before           */
	HOLE,
	NR_METHODS,
};

struct pattern {
	uint32_t seed;
	size_t size;
};

/* The bytes of @seed: each depends on its place.  By words: sanitizers are slow. */
static inline void draw(unsigned char *bytes, size_t size, uint32_t seed)
{
	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word = (i + seed + 1) * 0x9e3779b97f4a7c15u;

		memcpy(bytes + i, &word,
		       size - i < sizeof(word) ? size - i : sizeof(word));
	}
}

/* A number that changes with each byte, and with the order of words. */
static inline int sum_of(const unsigned char *bytes, size_t size)
{
	uint64_t total = size, word;

	for (size_t i = 0; i < size; i += sizeof(word)) {
		word = 0;
		memcpy(&word, bytes + i,
		       size - i < sizeof(word) ? size - i : sizeof(word));
		total = total * 0x9e3779b97f4a7c15u + word;
	}
	return (int)((total ^ total >> 32) & INT_MAX);
}

enum way { LIVE, SEGV, ABORT, EXIT, KILL, NR_WAYS };

struct shared {
	atomic_int created, destroyed, begun;
	atomic_int gate;    /* HOLD goes on                             */
	atomic_int dies_in; /* 1 + container: create() does, in this way  */
	atomic_int way;
	atomic_int refuses_in;  /* 1 + container: create() returns -ENODEV    */
	atomic_int end_ms;      /* destroy() takes so long                    */
	atomic_int dies_at_end; /* destroy() does                            */
	atomic_int work;        /* how often work_remaining() says 1          */
};
extern struct shared *shared;

/* Memory of all files of crates that this process has open, in bytes. */
size_t crate_bytes(void);

extern const struct sley_method fragile_methods[NR_METHODS];
extern const struct sley_module fragile_module;

/* ---- begin and end ------------------------------------------------------------------------- */

/* What .report got. */
extern char lines[16384];

void take_line(void *self, const char *line);

static inline void check_line(const char *part)
{
	if (!strstr(lines, part))
		CHECK_STR(lines, part);
}

struct scene {
	struct sley *rt;
	struct sley_router *router;
	struct sley_pool *pool;
};

/* Before any thread: memory that is shared, and the fork server. */
static inline void begin_processes(void)
{
	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	CHECK_EQ(sley_subprocesses_init(), 0);
}

static inline void begin_router(struct scene *s)
{
	struct sley_config config = *test_config();

	config.report = take_line;
	s->rt = start_with(&config);
	CHECK_EQ(sley_router_create(s->rt, &s->router, NULL), 0);
	CHECK_EQ(sley_router_add(s->router, &fragile_module), 0);
}

static inline void begin_with(struct scene *s, struct sley_pool_options options)
{
	begin_processes();
	begin_router(s);
	options.module = "fragile";
	options.isolated = true;
	CHECK_EQ(sley_pool_open(s->router, &s->pool, "p", &options), 0);
}

static inline void begin(struct scene *s, uint32_t containers)
{
	begin_with(s, *SLEY_POOL_OPTIONS(.containers = containers));
}

static inline void end_processes(void)
{
	sley_subprocesses_exit();
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
	munmap(shared, sizeof(*shared));
}

static inline void end(struct scene *s)
{
	sley_pool_close(s->pool);
	CHECK_EQ(sley_router_destroy(s->router), 0);
	stop(s->rt);
	end_processes();
}

/* ---- requests ------------------------------------------------------------------------------ */

static inline struct sley_request_spec spec_of(uint32_t method, uint32_t id,
					       const int *in)
{
	return *SLEY_REQUEST(.method = method, .query = sley_query_id(id),
			     .in = in, .in_size = in ? sizeof(*in) : 0);
}

static inline int code_of(struct scene *s, uint32_t method, uint32_t id, int in)
{
	struct sley_request_spec spec = spec_of(method, id, &in);

	return sley_pool_call(s->pool, &spec, NULL);
}

static inline void submit(struct scene *s, struct sley_request *request,
			  uint32_t method, uint32_t id, const int *in)
{
	struct sley_request_spec spec = spec_of(method, id, in);

	CHECK_EQ(sley_submit(s->pool, request, &spec), 0);
}

static inline int await(struct sley_request *request)
{
	CHECK_EQ(sley_request_wait(request), 0);
	return sley_request_code(request);
}

static inline void await_begun(int nr)
{
	while (atomic_load(&shared->begun) < nr)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
}

static inline pid_t pid_of(struct scene *s, uint32_t id, bool of_server)
{
	pid_t pids[2] = { 0, 0 };

	CHECK_EQ(sley_pool_call(s->pool,
				SLEY_REQUEST(.method = SAY_PIDS,
					     .query = sley_query_id(id),
					     .out = pids,
					     .out_size = sizeof(pids)),
				NULL),
		 0);
	return pids[of_server];
}

#endif
