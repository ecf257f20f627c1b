/* SPDX-License-Identifier: MIT */
/*
 * tour_run.c - stops of the tour: which task runs, where, in which order.
 */
#include "tour.h"

#include "screen.h"

#include <sched.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks ----------------------------------------------------------------- */

#define NR_TASKS 100000
#define NR_BATCH 1000

static void count_one(void *arg)
{
	atomic_fetch_add_explicit((atomic_int *)arg, 1, memory_order_relaxed);
}

void tour_tasks(struct outcome *out)
{
	struct sley_task *task = tour_alloc(NR_BATCH, sizeof(*task));
	struct sley_group group = SLEY_GROUP_INIT;
	char each[SCREEN_NUMBER_SIZE];
	atomic_int nr_ran = 0;

	outcome_start(out);
	for (int i = 0; i < NR_TASKS / NR_BATCH; i++) {
		for (int j = 0; j < NR_BATCH; j++)
			sley_spawn(&group, &task[j], count_one, &nr_ran);
		sley_join(&group);
	}
	outcome_stop(out);
	free(task);
	if (nr_ran != NR_TASKS)
		outcome_trouble(out, "%d of %d tasks ran", nr_ran, NR_TASKS);
	outcome_result(out, "%s each",
		       screen_time(each, outcome_ns(out) / NR_TASKS));
}

/* ---- fork-join --------------------------------------------------------------- */

#define FIB_N 27
#define FIB_RESULT 196418
#define FIB_FORKS 317810 /* fib(FIB_N + 1) - 1 */

struct fib {
	int n;
	int result;
};

static void fib(void *arg)
{
	struct fib *f = arg;
	struct fib left = { f->n - 1, 0 }, right = { f->n - 2, 0 };
	struct sley_forked child;

	if (f->n < 2) {
		f->result = f->n;
		return;
	}
	sley_fork(&child, fib, &left);
	fib(&right);
	sley_fork_join(&child);
	f->result = left.result + right.result;
}

void tour_fork_join(struct outcome *out)
{
	struct fib f = { FIB_N, 0 };
	char each[SCREEN_NUMBER_SIZE];

	outcome_start(out);
	fib(&f);
	outcome_stop(out);
	if (f.result != FIB_RESULT)
		outcome_trouble(out, "fib(%d) = %d, expected %d", FIB_N,
				f.result, FIB_RESULT);
	outcome_result(out, "%s a fork",
		       screen_time(each, outcome_ns(out) / FIB_FORKS));
}

/* ---- an urgent task in the middle of forks --------------------------------------- */

#define URGENT_AFTER (2 * SLEY_MSEC)

struct race {
	uint64_t late_ns;
	bool ran;
};

static void wake_and_overtake(void *arg)
{
	struct race *race = arg;
	uint64_t deadline_ns = sley_after(URGENT_AFTER);

	if (sley_sleep_until(deadline_ns))
		return;
	race->late_ns = sley_now() - deadline_ns;
	race->ran = true;
}

/* With one worker, which does nothing but fork until the urgent task has run. */
void tour_overtake(struct outcome *out)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct race race = { 0, false };
	uint64_t give_up_ns;
	char late[SCREEN_NUMBER_SIZE];
	struct sley_task task;
	int err;

	err = sley_spawn_with(&group, &task, wake_and_overtake, &race,
			      SLEY_OPTIONS(.priority = SLEY_PRIORITY_MIN));
	if (err) {
		outcome_trouble(out, "sley_spawn_with: %s", sley_strerror(err));
		return;
	}
	sley_yield();
	give_up_ns = sley_after(2 * SLEY_SEC);
	outcome_start(out);
	do {
		struct fib f = { FIB_N, 0 };

		fib(&f);
	} while (!race.ran && sley_now() < give_up_ns);
	outcome_stop(out);
	if (!race.ran)
		outcome_trouble(out, "the urgent task waits for the forks");
	sley_join(&group);
	outcome_result(out, "%s late", screen_time(late, (double)race.late_ns));
}

/* ---- stealing ------------------------------------------------------------------ */

#define NR_STOLEN 512
#define STOLEN_NS (20 * SLEY_USEC)

struct crowd {
	atomic_int nr_ran;
	atomic_int nr_elsewhere;
	int spawner; /* the worker that spawned the tasks */
};

static void spin_for(uint64_t duration_ns)
{
	uint64_t end_ns = sley_after(duration_ns);

	while (sley_now() < end_ns)
		;
}

static void work_somewhere(void *arg)
{
	struct crowd *crowd = arg;

	spin_for(STOLEN_NS);
	if (sley_worker() != crowd->spawner)
		atomic_fetch_add(&crowd->nr_elsewhere, 1);
	atomic_fetch_add(&crowd->nr_ran, 1);
}

/* Keeps this worker busy, so that only other workers can run the tasks. */
static void hold_until_stolen(struct crowd *crowd)
{
	uint64_t end_ns = sley_after(2 * SLEY_SEC);

	while (!atomic_load(&crowd->nr_elsewhere) && sley_now() < end_ns)
		sched_yield();
}

void tour_stealing(struct outcome *out)
{
	struct sley_task *task = tour_alloc(NR_STOLEN, sizeof(*task));
	struct sley_group group = SLEY_GROUP_INIT;
	struct crowd crowd = { .spawner = sley_worker() };
	int nr_workers = sley_nr_workers(sley_current());

	outcome_start(out);
	for (int i = 0; i < NR_STOLEN; i++)
		sley_spawn(&group, &task[i], work_somewhere, &crowd);
	if (nr_workers > 1)
		hold_until_stolen(&crowd);
	sley_join(&group);
	outcome_stop(out);
	free(task);
	if (crowd.nr_ran != NR_STOLEN)
		outcome_trouble(out, "%d of %d tasks ran", crowd.nr_ran,
				NR_STOLEN);
	if (nr_workers > 1 && !crowd.nr_elsewhere)
		outcome_trouble(out, "no other worker took any in 2 s");
	if (nr_workers > 1)
		outcome_result(out, "%d ran elsewhere", crowd.nr_elsewhere);
	else
		outcome_result(out, "nobody to steal");
}

/* ---- priorities ------------------------------------------------------------------ */

struct order {
	char text[64];
};

struct ranked {
	struct sley_task task;
	struct order *order;
	int priority;
};

static void append(char *text, size_t size, int number)
{
	size_t length = strlen(text);

	(void)snprintf(text + length, size - length, "%s%d", length ? " " : "",
		       number);
}

static void write_rank(void *arg)
{
	struct ranked *ranked = arg;
	struct order *order = ranked->order;

	append(order->text, sizeof(order->text), ranked->priority);
}

void tour_priorities(struct outcome *out)
{
	static const int priorities[] = { 31, 0, -10, -32 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct ranked ranked[4] = { 0 };
	struct order order = { "" };

	outcome_start(out);
	for (int i = 0; i < 4; i++) {
		int err;

		ranked[i].order = &order;
		ranked[i].priority = priorities[i];
		err = sley_spawn_with(&group, &ranked[i].task, write_rank,
				      &ranked[i],
				      SLEY_OPTIONS(.priority = priorities[i]));
		if (err)
			outcome_trouble(out, "spawn: %s", sley_strerror(err));
	}
	sley_join(&group);
	outcome_stop(out);
	if (strcmp(order.text, "-32 -10 0 31") != 0)
		outcome_trouble(out, "they ran in the order %s", order.text);
	outcome_result(out, "ran %s", order.text);
}

/* ---- one thread --------------------------------------------------------------------- */

struct walker {
	struct sley_task task;
	struct order *order;
	int number;
};

static void take_three_steps(void *arg)
{
	struct walker *walker = arg;
	struct order *order = walker->order;

	for (int i = 0; i < 3; i++) {
		append(order->text, sizeof(order->text), walker->number);
		sley_yield();
	}
}

/* Writes the order of the steps of two tasks; returns how often a task ran. */
static int step_through(struct order *order, struct outcome *out)
{
	struct walker walker[2] = { { .order = order, .number = 1 },
				    { .order = order, .number = 2 } };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt;
	int nr_steps = 0;
	int err = sley_create(&rt,
			      SLEY_CONFIG(.workers = SLEY_SINGLE, .seed = 42));

	if (!err)
		err = sley_bind(rt);
	if (err) {
		outcome_trouble(out, "cannot start: %s", sley_strerror(err));
		return 0;
	}
	for (int i = 0; i < 2; i++)
		sley_spawn(&group, &walker[i].task, take_three_steps,
			   &walker[i]);
	while (sley_run_one(rt) > 0)
		nr_steps++;
	sley_join(&group);
	sley_unbind(rt);
	(void)sley_destroy(rt);
	return nr_steps;
}

void tour_single(struct outcome *out)
{
	struct order first = { "" }, second = { "" };
	int nr_steps;

	outcome_start(out);
	nr_steps = step_through(&first, out);
	if (step_through(&second, out) != nr_steps)
		outcome_trouble(out, "the second time it took other steps");
	outcome_stop(out);
	if (strcmp(first.text, second.text) != 0)
		outcome_trouble(out, "first %s, then %s", first.text,
				second.text);
	if (strlen(first.text) != strlen("1 2 1 2 1 2"))
		outcome_trouble(out, "the steps were %s", first.text);
	outcome_result(out, "%d steps, the same", nr_steps);
}
