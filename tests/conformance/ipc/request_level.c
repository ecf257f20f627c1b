/* SPDX-License-Identifier: MIT */
/*
 * request_level.c - the priority of a request holds in the daemon, too: C21, R-U9.
 *
 * The daemon has one worker, so methods run in the order in which the worker picks their
 * requests.
 */
#include "conformance/ipc/keeper.h"

#include <sley/sync.h>
#include <sley/waker.h>
#include <sys/mman.h>

enum level_method {
	LEVEL_HOLD, /* holds the worker until the gate is open                  */
	LEVEL_RANK, /* answers with a struct rank                              */
	LEVEL_LOCK, /* holds the mutex of the module for many turns             */
	LEVEL_WANT, /* wants that mutex; answers with the turns of hogs meanwhile */
	LEVEL_HOG, /* takes turns until the gate is open                       */
	NR_LEVEL_METHODS,
};

struct rank {
	int32_t priority;
	uint32_t place; /* so many ran before                                */
};

#define TURNS_LOCKED 100
#define NR_HOGS 4

/* Of the test, and its daemon. */
static struct {
	atomic_bool open;
	atomic_bool is_wanted; /* the mutex                                  */
	atomic_uint begun[NR_LEVEL_METHODS];
	atomic_uint nr_ranked;
	atomic_uint nr_turns; /* of hogs                                    */
} * page;

/* ---- the module ------------------------------------------------------------------------ */

static struct sley_mutex mutex = SLEY_MUTEX_INIT;

static int hold(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	atomic_fetch_add(&page->begun[LEVEL_HOLD], 1);
	while (!atomic_load(&page->open))
		test_nap_ms(1);
	return 0;
}

static int rank(void *self, struct sley_request *request)
{
	struct rank rank = { .place = atomic_fetch_add(&page->nr_ranked, 1) };
	struct sley_waker waker;
	int err = sley_waker_self(&waker);

	(void)self;
	rank.priority = waker.priority;
	return err ? err : sley_request_answer(request, &rank, sizeof(rank));
}

static int lock(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	sley_mutex_lock(&mutex);
	atomic_fetch_add(&page->begun[LEVEL_LOCK], 1);
	while (!atomic_load(&page->is_wanted))
		sley_yield();
	for (int i = 0; i < TURNS_LOCKED; i++)
		sley_yield();
	sley_mutex_unlock(&mutex);
	return 0;
}

static int want(void *self, struct sley_request *request)
{
	uint32_t nr_turns = atomic_load(&page->nr_turns);

	(void)self;
	/* The worker runs nothing else before this task waits. */
	atomic_store(&page->is_wanted, true);
	sley_mutex_lock(&mutex);
	nr_turns = atomic_load(&page->nr_turns) - nr_turns;
	sley_mutex_unlock(&mutex);
	return sley_request_answer(request, &nr_turns, sizeof(nr_turns));
}

static int hog(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	atomic_fetch_add(&page->begun[LEVEL_HOG], 1);
	while (!atomic_load(&page->open)) {
		atomic_fetch_add(&page->nr_turns, 1);
		sley_yield();
	}
	return 0;
}

static const struct sley_method methods[NR_LEVEL_METHODS] = {
	[LEVEL_HOLD] = { .name = "hold", .run = hold },
	[LEVEL_RANK] = { .name = "rank", .run = rank },
	[LEVEL_LOCK] = { .name = "lock", .run = lock },
	[LEVEL_WANT] = { .name = "want", .run = want },
	[LEVEL_HOG] = { .name = "hog", .run = hog },
};

static const struct sley_module level_module = {
	SLEY_MODULE_HEAD("level"),
	.version = 1,
	.methods = methods,
	.nr_methods = NR_LEVEL_METHODS,
};

/* ---- clients --------------------------------------------------------------------------- */

/* A client and its pool. */
struct visitor {
	struct sley_client *client;
	struct sley_pool *pool;
};

static struct visitor visit(const struct keeper *keeper)
{
	struct visitor visitor = { .client = client_open(keeper) };

	CHECK_EQ(sley_client_pool_open(visitor.client, &visitor.pool, "level",
				       NULL),
		 0);
	return visitor;
}

static void leave(const struct visitor *visitor)
{
	client_close(visitor->client, visitor->pool);
}

static void begin(struct keeper *keeper)
{
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	keepers_learn(&level_module);
	keepers_have_workers(1);
	keeper_begin(keeper);
}

static void end(struct keeper *keeper)
{
	keeper_end(keeper);
	munmap(page, sizeof(*page));
}

/* A request that has begun. */
static void submit_and_see(const struct visitor *visitor,
			   struct sley_request *request,
			   enum level_method method)
{
	unsigned int before = atomic_load(&page->begun[method]);

	CHECK_EQ(sley_submit(visitor->pool, request,
			     SLEY_REQUEST(.method = method)),
		 0);
	EVENTUALLY(atomic_load(&page->begun[method]) > before);
}

static void check_done(struct sley_request *request)
{
	CHECK_EQ(sley_request_wait(request), 0);
	CHECK_EQ(sley_request_code(request), 0);
}

/* ---- the order of requests -------------------------------------------------------------- */

/* They are submitted in the order in which they are not to run. */
TEST(c21_requests_of_a_client_run_in_the_order_of_their_priorities)
{
	static const int32_t priorities[] = { 7, 0, -7 };
	struct sley_request held, request[3];
	struct rank ranks[3];
	struct visitor visitor;
	struct keeper keeper;

	begin(&keeper);
	visitor = visit(&keeper);
	submit_and_see(&visitor, &held, LEVEL_HOLD);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_submit(visitor.pool, &request[i],
				     SLEY_REQUEST(.method = LEVEL_RANK,
						  .priority = priorities[i],
						  .out = &ranks[i],
						  .out_size = sizeof(*ranks))),
			 0);
	atomic_store(&page->open, true);
	check_done(&held);
	for (uint32_t i = 0; i < 3; i++) {
		check_done(&request[i]);
		CHECK_EQ(ranks[i].priority, priorities[i]);
		CHECK_EQ(ranks[i].place, 2 - i);
	}
	leave(&visitor);
	end(&keeper);
}

/* ---- a level that is lent --------------------------------------------------------------- */

/*
 * A request of one client holds the mutex, and takes turns with hogs; an urgent request of
 * another client waits for the mutex.  From then on the holder is urgent, too: a yield of an
 * urgent task lets a single ordinary task have a turn, and not each of them.
 */
TEST(ru9_a_request_that_holds_a_mutex_gets_the_level_of_an_urgent_request)
{
	struct sley_request locks, hogs[NR_HOGS];
	struct visitor usual, urgent;
	struct keeper keeper;
	uint32_t nr_turns = UINT32_MAX;

	begin(&keeper);
	usual = visit(&keeper);
	urgent = visit(&keeper);
	submit_and_see(&usual, &locks, LEVEL_LOCK);
	for (int i = 0; i < NR_HOGS; i++)
		submit_and_see(&usual, &hogs[i], LEVEL_HOG);
	CHECK_EQ(sley_pool_call(urgent.pool,
				SLEY_REQUEST(.method = LEVEL_WANT,
					     .priority = -8, .out = &nr_turns,
					     .out_size = sizeof(nr_turns)),
				NULL),
		 0);
	CHECK_LE(nr_turns, TURNS_LOCKED);
	for (int i = 0; i < NR_HOGS; i++)
		CHECK(!sley_request_is_done(&hogs[i]));
	atomic_store(&page->open, true);
	check_done(&locks);
	for (int i = 0; i < NR_HOGS; i++)
		check_done(&hogs[i]);
	leave(&usual);
	leave(&urgent);
	end(&keeper);
}
