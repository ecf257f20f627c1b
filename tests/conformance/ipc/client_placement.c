/* SPDX-License-Identifier: MIT */
/*
 * client_placement.c - what a request of a client says about where it runs: C05, C12, C14.
 *
 * Client and daemon are one program here, so that the test sees what the router of the
 * daemon decides: the answer of a method is the worker to which its request was sent.
 */
#include "conformance/ipc/keeper.h"
#include "conformance/ipc/peer.h"

/* ---- the module ----------------------------------------------------------------------- */

enum { TELL, TELL_LATER, TELL_SHORT, NR_TELLS };

static struct sley_event gate = SLEY_EVENT_INIT;
static atomic_int nr_later;

static int tell(void *self, struct sley_request *request)
{
	(void)self;
	return sley_request_answer(request, &request->worker,
				   sizeof(request->worker));
}

static int tell_later(void *self, struct sley_request *request)
{
	int err;

	atomic_fetch_add(&nr_later, 1);
	err = sley_event_wait(&gate);
	return err ? err : tell(self, request);
}

static const struct sley_method tell_methods[NR_TELLS] = {
	[TELL] = { .name = "tell", .run = tell },
	[TELL_LATER] = { .name = "tell later", .run = tell_later },
	[TELL_SHORT] = { .name = "tell short",
			 .run = tell,
			 .flags = SLEY_METHOD_SHORT },
};

static const struct sley_module tell_module = {
	SLEY_MODULE_HEAD("tell"),
	.methods = tell_methods,
	.nr_methods = NR_TELLS,
};

/* ---- a daemon with a client ------------------------------------------------------------- */

struct scene {
	struct serving s;
	struct sley_client *client;
	struct sley_pool *pool;
};

static void scene_begin(struct scene *scene, int workers, const char *policy)
{
	scene->s = serving_of(routing_of(workers, policy), NULL);
	CHECK_EQ(sley_router_add(scene->s.r.router, &tell_module), 0);
	scene->client =
		client_with(SLEY_CLIENT_OPTIONS(.socket = scene->s.path));
	CHECK_EQ(sley_client_pool_open(scene->client, &scene->pool, "t",
				       SLEY_POOL_OPTIONS(.module = "tell")),
		 0);
}

static void scene_end(struct scene *scene)
{
	client_close(scene->client, scene->pool);
	serving_stop(&scene->s);
}

/* The worker to which the daemon sends a request of @given. */
static uint32_t told(const struct scene *scene,
		     const struct sley_request_spec *given)
{
	struct sley_request_spec spec = *given;
	uint32_t worker = 0;
	size_t size = 0;

	spec.out = &worker;
	spec.out_size = sizeof(worker);
	CHECK_EQ(sley_pool_call(scene->pool, &spec, &size), 0);
	CHECK_EQ(size, sizeof(worker));
	return worker;
}

/* ---- C14: groups ------------------------------------------------------------------------ */

/* The first request is large, so worker 0, which has the small ones, is not its worker. */
TEST(c14_requests_of_a_client_stay_with_their_group)
{
	struct sley_request first;
	uint32_t there = 0, seen[8] = { 0 };
	struct scene scene;

	scene_begin(&scene, 4, "default");
	CHECK_EQ(sley_submit(scene.pool, &first,
			     SLEY_REQUEST(.method = TELL_LATER, .group = 7,
					  .io_size = SLEY_IO_LARGE,
					  .out = &there,
					  .out_size = sizeof(there))),
		 0);
	EVENTUALLY(atomic_load(&nr_later) == 1);
	for (uint64_t i = 0; i < 8; i++)
		seen[i] = told(&scene, SLEY_REQUEST(.method = TELL, .group = 7,
						    .io_size = i % 2 * 8192));
	sley_event_set(&gate);
	CHECK_EQ(sley_request_wait(&first), 0);
	CHECK_EQ(sley_request_code(&first), 0);
	CHECK_NE(there, 0);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(seen[i], there);
	scene_end(&scene);
}

/* ---- C05: sizes ------------------------------------------------------------------------- */

/* Of four workers two are for large requests. */
TEST(c05_large_requests_of_a_client_go_round)
{
	uint32_t seen[4] = { 0 };
	struct scene scene;

	skip_chaos();
	scene_begin(&scene, 4, "default");
	for (int i = 0; i < 16; i++) {
		uint32_t worker =
			told(&scene, SLEY_REQUEST(.method = TELL,
						  .io_size = SLEY_IO_LARGE));

		CHECK_LT(worker, 4);
		seen[worker]++;
	}
	CHECK_EQ(seen[0], 0);
	CHECK_GT(seen[1], 0);
	CHECK_GT(seen[2], 0);
	scene_end(&scene);
}

/* The size is a number of 64 bits for a client, and of 32 in the ring. */
TEST(c05_the_largest_requests_of_a_client_are_large)
{
	struct scene scene;

	skip_chaos();
	scene_begin(&scene, 4, "default");
	for (unsigned int bit = 32; bit < 64; bit++)
		CHECK_NE(told(&scene, SLEY_REQUEST(.method = TELL,
						   .io_size = 1ull << bit)),
			 0);
	scene_end(&scene);
}

/* ---- C12: here and at once, or queued ------------------------------------------------- */

TEST_WORKERS(c12_a_short_request_of_a_client_runs_at_once_unless_forced)
{
	struct sley_request_spec spec = *SLEY_REQUEST(.method = TELL_SHORT);
	const struct sley_router *router;
	struct scene scene;
	uint64_t before;

	scene_begin(&scene, test_config()->workers, "none");
	router = scene.s.r.router;
	before = router_stats(router).inlined;
	for (int i = 0; i < 32; i++)
		(void)told(&scene, &spec);
	CHECK_EQ(router_stats(router).inlined - before, 32);
	spec.enqueue = true;
	for (int i = 0; i < 32; i++)
		(void)told(&scene, &spec);
	CHECK_EQ(router_stats(router).inlined - before, 32);
	scene_end(&scene);
}
