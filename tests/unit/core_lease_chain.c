/* SPDX-License-Identifier: MIT */
/*
 * core_lease_chain.c - a worker that keeps its turns, and a peer that wants its core: U-T5.
 *
 * A node of a plan comes behind the other.  The worker has the next node in hand and comes to
 * no pick, where it would look.
 */
#include "lease_peers.h"

#define LINKS 40 /* fewer than from one fair pick to the next            */

static struct peers peers;

/* Neither a tick nor a turn asks the worker to look. */
static const struct lease_terms endless = { .tick_ns = 3600000000000,
					    .quantum_ns = 3600000000000,
					    .grace_ns = UINT64_MAX };

static struct {
	struct sley_plan *plan;
	atomic_int nr_ran;
	int wants_after; /* so many, a peer wants the core                  */
	atomic_bool ended;
} chain;

static int run_link(void *arg)
{
	(void)arg;
	if (atomic_fetch_add(&chain.nr_ran, 1) + 1 == chain.wants_after)
		atomic_store(&peers.wants, LEVEL_DEFAULT - 1);
	return 0;
}

static void run_chain(void *arg)
{
	(void)arg;
	CHECK_EQ(sley_plan_run(chain.plan, NULL), 0);
	atomic_store(&chain.ended, true);
}

static void make_chain(int wants_after)
{
	sley_node last = SLEY_NO_NODE;

	memset(&chain, 0, sizeof(chain));
	chain.wants_after = wants_after;
	CHECK_EQ(sley_plan_create(&chain.plan, NULL), 0);
	for (int i = 0; i < LINKS; i++)
		CHECK_EQ(sley_plan_add(chain.plan, &last,
				       SLEY_NODE_SPEC(.fn = run_link,
						      .after = &last,
						      .nr_after = i > 0)),
			 0);
	CHECK_EQ(sley_plan_seal(chain.plan), 0);
}

static void check_chain_gives(int wants_after)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);

	peers_init(&peers, 1);
	peers_join(&peers, rt, &endless);
	lease_set_mode(rt, LEASE_STRICT);
	CHECK_EVENTUALLY(peers_settled(rt));
	make_chain(wants_after);
	CHECK_EQ(sley_schedule(run_chain, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_away) == 1);
	CHECK_EQ(atomic_load(&chain.nr_ran), wants_after);
	CHECK_EQ(counters_of(rt).looks, 1u);
	CHECK_EQ(counters_of(rt).given, 1u);
	atomic_store(&peers.wants, LEASE_NO_LEVEL);
	peers_return(&peers);
	CHECK_EVENTUALLY(atomic_load(&chain.ended));
	CHECK_EQ(atomic_load(&chain.nr_ran), LINKS);
	sley_plan_destroy(chain.plan);
	lease_switch_off(rt);
	stop(rt);
}

/* At more than one place: a look that comes once in 61 turns would do at one of them. */
TEST(a_strict_worker_that_keeps_its_turns_looks_before_each)
{
	for (int wants_after = 5; wants_after < LINKS; wants_after += 11)
		check_chain_gives(wants_after);
}
