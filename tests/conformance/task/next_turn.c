/* SPDX-License-Identifier: MIT */
/*
 * next_turn.c - a task that becomes ready while another runs: U08.
 */
#include "conformance/bound.h"

static struct {
	char text[32];
	int n;
	struct sley_group group;
	struct sley_task task[6];
} it;

static void put(char name)
{
	it.text[it.n++] = name;
}

static void put_letter(void *arg)
{
	put(*(const char *)arg);
}

static void spawn(int i, sley_fn *fn, const char *name, int priority)
{
	CHECK_EQ(sley_spawn_with(&it.group, &it.task[i], fn, (void *)name,
				 SLEY_OPTIONS(.priority = priority)),
		 0);
}

static void spawn_while_it_runs(void *arg)
{
	(void)arg;
	put('a');
	spawn(2, put_letter, "u", -10);
	put('b');
	spawn(3, put_letter, "v", -20);
	put('c');
	sley_yield();
	put('d');
}

static void spawn_more_and_less_urgent(void *arg)
{
	(void)arg;
	spawn(1, spawn_while_it_runs, NULL, 0);
	spawn(4, put_letter, "e", 5);
	spawn(5, put_letter, "t", -5);
}

static void check_turns(int workers)
{
	struct sley_config config = config_of(workers);
	struct sley *rt = start_with(&config);

	spawn(0, spawn_more_and_less_urgent, NULL, 0);
	sley_join(&it.group);
	CHECK_STR(it.text, "tabcvude");
	stop(rt);
}

TEST(u08_a_more_urgent_task_comes_with_the_next_turn_single_threaded)
{
	check_turns(SLEY_SINGLE);
}

TEST(u08_a_more_urgent_task_comes_with_the_next_turn_on_one_worker)
{
	check_turns(1);
}
