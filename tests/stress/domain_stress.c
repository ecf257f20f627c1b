/* SPDX-License-Identifier: MIT */
/*
 * domain_stress.c - members with two workers each and a host, all of them threads, toss few
 * cores: never has a core two workers, no core is lost, and nobody is called a liar.
 *
 * The host takes no core by force here: any thread may stand still for long, and then two
 * workers on one core would be right.
 */
#include "harness/test.h"

#include "base/rand.h"
#include "domain/broker.h"
#include "domain/wants.h"
#include "os/clock.h"
#include "os/thread.h"

#include <string.h>

#define MEMBERS 3u
#define CORES 2u
#define NR_RUNS 2000000 /* of all workers together */

static struct host_page host;
static struct member_page page[DOMAIN_MEMBERS_MAX];
static struct domain_view view[MEMBERS];
static struct wants wants[MEMBERS];
static struct broker broker;
static uint32_t occupied[CORES];
static uint64_t runs_on[CORES]; /* plain: the worker of the core is alone */
static uint32_t nr_runs, is_over;
static struct worker_of {
	uint32_t member;
	uint64_t seed;
	uint64_t nr_runs;
} worker_of[MEMBERS * 2];

static void run_on(uint32_t core)
{
	/* relaxed: the words of the core order all, and this only looks. */
	CHECK_EQ(xchg_relaxed(&occupied[core], 1), 0);
	runs_on[core]++;
	(void)add_relaxed(&nr_runs, 1);
	CHECK_EQ(xchg_relaxed(&occupied[core], 0), 1);
}

/* True: the core went to a peer, or is idle. */
static bool pass_on(struct wants *own, uint32_t core, uint32_t what)
{
	if (what < 3)
		wants_leave(own, core);
	return what < 3 ||
	       (what < 7 &&
		wants_serve(own, core, what < 5 ? 31 : 64) != WANTS_NOBODY);
}

static int get_core(struct domain_view *own)
{
	int core = cores_resume(own);

	return core == DOMAIN_NO_CORE ? cores_take(own) : core;
}

static void *work(void *arg)
{
	struct worker_of *self = arg;
	struct wants *own = &wants[self->member];
	struct rand rand;

	rand_seed(&rand, self->seed);
	while (!load_relaxed(&is_over)) {
		int core = get_core(own->view);

		if (core == DOMAIN_NO_CORE) {
			os_thread_yield();
			continue;
		}
		do {
			run_on((uint32_t)core);
			self->nr_runs++;
		} while (!pass_on(own, (uint32_t)core, rand_below(&rand, 10)));
	}
	return NULL;
}

/* One thread tells the wants of all members, each of which it changes now and then. */
static void *want(void *arg)
{
	struct rand rand;

	rand_seed(&rand, *(uint64_t *)arg);
	while (!load_relaxed(&is_over)) {
		wants_tell(&wants[rand_below(&rand, MEMBERS)],
			   rand_below(&rand, 3), 20 + rand_below(&rand, 20));
		if (rand_below(&rand, 16) == 0)
			wants_tick(&wants[rand_below(&rand, MEMBERS)]);
		os_thread_yield();
	}
	return NULL;
}

static void *serve(void *arg)
{
	(void)arg;
	while (!load_relaxed(&is_over)) {
		CHECK_EQ(broker_tick(&broker, false), 0);
		os_thread_yield();
	}
	return NULL;
}

static void begin(void)
{
	struct ledger_options options = LEDGER_OPTIONS_DEFAULT;
	const struct ledger_terms terms = { .weight = LEDGER_WEIGHT };

	options.late_ticks = UINT32_MAX;
	broker_init(&broker, &host, 1, 1, CORES, &options);
	for (uint32_t i = 0; i < MEMBERS; i++) {
		view[i] = (struct domain_view){ .self = i,
						.nr_cores = CORES,
						.own = &page[i],
						.host = &host };
		for (uint32_t j = 0; j < DOMAIN_MEMBERS_MAX; j++)
			view[i].page[j] = &page[j];
		wants_init(&wants[i], &view[i]);
		page[i].runs = 32;
		broker_admit(&broker, i, 1, &page[i], &terms);
		CHECK_EQ(broker_tick(&broker, false), 0);
	}
}

TEST(cores_go_round_and_none_is_lost_or_had_twice)
{
	uint32_t goal = (uint32_t)test_scale(NR_RUNS);
	uint64_t seed = test_random(UINT64_MAX), sum = 0;
	pthread_t workers[MEMBERS * 2], wanter, server;

	begin();
	for (uint32_t i = 0; i < MEMBERS * 2; i++) {
		worker_of[i] =
			(struct worker_of){ .member = i / 2,
					    .seed = test_random(UINT64_MAX) };
		workers[i] = test_thread(work, &worker_of[i]);
	}
	wanter = test_thread(want, &seed);
	server = test_thread(serve, NULL);
	while (load_relaxed(&nr_runs) < goal)
		os_thread_yield();
	store_relaxed(&is_over, 1);
	for (uint32_t i = 0; i < MEMBERS * 2; i++) {
		os_thread_join(workers[i]);
		sum += worker_of[i].nr_runs;
	}
	os_thread_join(wanter);
	os_thread_join(server);
	CHECK_EQ(runs_on[0] + runs_on[1], sum);
	CHECK_EQ(broker_tick(&broker, false), 0);
}
