/* SPDX-License-Identifier: MIT */
/*
 * domain_order.c - which member has the only core of a domain, where all look before each
 * task: R-U4, R-U10.
 *
 * An entry is a look that found a more urgent want of another member.  The host hands the
 * core from one of equal members to the other by its quantum, which is no entry.
 */
#include "conformance/domain/stage.h"

#define NR_MEMBERS 3
#define NR_ROUNDS 100
#define NR_CHILDREN 50
#define MANY_TURNS 500000

static struct {
	struct sley_domain_host *host;
	struct sley *rt[NR_MEMBERS];
	atomic_int nr_turns[NR_MEMBERS];
	atomic_bool over;
	atomic_int nr_ran;
} it;

static void open_domain(void)
{
	const char *domain = stage_open();

	it.host = host_start_with(
		(struct sley_domain_host_options){ .nr_cores = 1 });
	for (int i = 0; i < NR_MEMBERS; i++)
		CHECK_EQ(sley_create(&it.rt[i],
				     SLEY_CONFIG(.workers = 2, .strict = true,
						 .domain = domain)),
			 0);
	CHECK_EQ(nr_members(), NR_MEMBERS);
}

static void close_domain(void)
{
	for (int i = 0; i < NR_MEMBERS; i++)
		CHECK_EQ(sley_destroy(it.rt[i]), 0);
	sley_domain_host_destroy(it.host);
	stage_close();
}

static uint64_t entries(int i)
{
	return info_of(it.rt[i]).entries;
}

static void count(void *arg)
{
	(void)arg;
	sley_yield();
	atomic_fetch_add(&it.nr_ran, 1);
}

/* Tasks that come and go, so that all queues of the member are empty at times. */
static void spawn_and_join(void *arg)
{
	struct sley_task child[NR_CHILDREN];

	(void)arg;
	for (int round = 0; round < NR_ROUNDS; round++) {
		struct sley_group group = SLEY_GROUP_INIT;

		for (int i = 0; i < NR_CHILDREN; i++)
			sley_spawn(&group, &child[i], count, NULL);
		sley_join(&group);
	}
}

static void take_turns(void *arg)
{
	while (!atomic_load(&it.over)) {
		atomic_fetch_add((atomic_int *)arg, 1);
		sley_yield();
	}
}

static void schedule(int member, sley_fn *fn, void *arg, int priority)
{
	CHECK_EQ(sley_schedule_on(it.rt[member], fn, arg,
				  SLEY_OPTIONS(.priority = priority)),
		 0);
}

static int turns_of(int i)
{
	return atomic_load(&it.nr_turns[i]);
}

TEST(ru4_of_equally_urgent_members_none_yields_and_none_is_first)
{
	open_domain();
	for (int i = 0; i < NR_MEMBERS; i++)
		schedule(i, take_turns, &it.nr_turns[i], 0);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < NR_MEMBERS; i++) {
			int before = turns_of(i);

			CHECK_EVENTUALLY(turns_of(i) > before + 100);
		}
	}
	for (int i = 0; i < NR_MEMBERS; i++)
		CHECK_EQ(entries(i), 0);
	atomic_store(&it.over, true);
	close_domain();
}

TEST(ru10_without_a_strictly_more_urgent_task_nobody_enters)
{
	const int nr = NR_MEMBERS * NR_ROUNDS * NR_CHILDREN;

	open_domain();
	for (int i = 0; i < NR_MEMBERS; i++)
		schedule(i, spawn_and_join, NULL, 0);
	CHECK_EVENTUALLY(atomic_load(&it.nr_ran) == nr);
	for (int i = 0; i < NR_MEMBERS; i++)
		CHECK_EQ(entries(i), 0);
	close_domain();
}

TEST(ru10_a_less_urgent_member_is_no_reason_to_enter)
{
	uint64_t given;

	open_domain();
	schedule(0, take_turns, &it.nr_turns[0], 0);
	CHECK_EVENTUALLY(turns_of(0) > 0);
	/* Without work it gave the core away. */
	given = info_of(it.rt[0]).given;
	schedule(1, count, NULL, 10);
	schedule(2, count, NULL, 31);
	/* Many ticks of the host, which could ask for the core. */
	CHECK_EVENTUALLY(turns_of(0) > MANY_TURNS);
	CHECK_EQ(entries(0), 0);
	/*
	 * The host may take the core of a member that got no CPU.  But what the host takes,
	 * the member has not given.
	 */
	CHECK_EQ(info_of(it.rt[0]).given, given);
	atomic_store(&it.over, true);
	CHECK_EVENTUALLY(atomic_load(&it.nr_ran) == 2);
	close_domain();
}

/* Shorter urgent work overtakes, and wants no core. */
static void run_until_held(void *arg)
{
	while (!info_of(it.rt[1]).nr_held)
		sley_yield();
	count(arg);
}

TEST(ru10_a_strictly_more_urgent_task_makes_an_entry)
{
	uint64_t nr = 0;

	open_domain();
	schedule(0, take_turns, &it.nr_turns[0], 0);
	/* The host may give an idle core before the member looks, now and then. */
	for (int i = 1; !nr || !info_of(it.rt[0]).given; i++) {
		schedule(1, run_until_held, NULL, -1);
		CHECK_EVENTUALLY(atomic_load(&it.nr_ran) == i);
		nr = entries(0);
	}
	/* The other two had nobody before them. */
	CHECK_EQ(entries(1) + entries(2), 0);
	atomic_store(&it.over, true);
	close_domain();
}
