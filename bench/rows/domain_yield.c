/* SPDX-License-Identifier: MIT */
/*
 * domain_yield.c - row `domain-yield`: one core goes to and fro between two processes of a
 * domain, on one CPU.
 *
 * Each of the two has a task, and the domain has one core.  The task that runs makes itself
 * less urgent than the other, which waits, and yields: the core goes over.  So each turn
 * takes a level of its own.  After the last level the tasks begin anew:
 *
 *   the task that runs              the other
 *   takes the first level, sleeps   runs, since nobody else does; takes the second level
 *   is due: waits for the core      yields until the first task is due
 *   runs: the next round begins     waits
 *
 * The time between the rounds does not count.
 *
 * `domain-hand-over` is the same, under the names of the metrics that other rows compare
 * with a hand-over.
 */
#include "domain.h"

#define LEVEL_FIRST SLEY_PRIORITY_MIN
#define LEVEL_LAST SLEY_PRIORITY_MAX

/* In memory that both processes map. */
struct hand_over {
	const struct measure *m;
	int level;         /* that the next turn takes                       */
	int runner;        /* the process of the last turn                   */
	int first;         /* the process that begins the round; -1: none    */
	uint32_t began;    /* bits: tasks that have run                      */
	uint32_t rounds;   /* left                                           */
	uint32_t nr;       /* hand-overs                                     */
	uint64_t ns;       /* all of them                                    */
	uint64_t start_ns; /* of the round                                  */
};

struct side {
	struct hand_over *hand_over;
	struct sley_task task;
	int nth;
};

/* From the next time that the task is queued. */
static void be_of_level(struct side *side, int level)
{
	MEASURE_CHECK(side->hand_over->m,
		      sley_set_priority(&side->task, level) == 0);
}

/* Only the process that has the core is here. */
static void take_turn(struct side *side)
{
	struct hand_over *h = side->hand_over;

	if (h->runner != side->nth)
		h->nr++;
	h->runner = side->nth;
	be_of_level(side, h->level++);
	sley_yield();
}

/* The first of the next round. */
static void begin_round(struct side *side)
{
	struct hand_over *h = side->hand_over;

	if (h->start_ns)
		h->ns += measure_now() - h->start_ns;
	if (h->began == 3)
		h->rounds--;
	h->first = side->nth;
	be_of_level(side, LEVEL_FIRST);
	MEASURE_CHECK(h->m, sley_sleep(SLEY_MSEC) == 0);
	h->first = -1;
	h->level = LEVEL_FIRST + 2;
	h->runner = side->nth;
	h->start_ns = measure_now();
}

static void follow_round(struct side *side)
{
	be_of_level(side, LEVEL_FIRST + 1);
	while (__atomic_load_n(&side->hand_over->first, __ATOMIC_RELAXED) >= 0)
		sley_yield();
}

static void side_run(void *arg)
{
	struct side *side = arg;
	struct hand_over *h = side->hand_over;

	__atomic_fetch_or(&h->began, 1u << side->nth, __ATOMIC_RELAXED);
	while (__atomic_load_n(&h->rounds, __ATOMIC_RELAXED) > 0) {
		int first = __atomic_load_n(&h->first, __ATOMIC_RELAXED);

		if (first >= 0 && first != side->nth)
			follow_round(side);
		else if (h->level > LEVEL_LAST)
			begin_round(side);
		else
			take_turn(side);
	}
}

static pid_t side_start(const struct domain *domain, struct hand_over *h,
			int nth)
{
	struct side side = { .hand_over = h, .nth = nth };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt;
	pid_t pid = crowd_fork(domain->m);

	if (pid)
		return pid;
	measure_pin(1);
	rt = domain_member(domain, 1, true);
	MEASURE_CHECK(domain->m, sley_spawn_on(rt, &group, &side.task, side_run,
					       &side, NULL) == 0);
	sley_join(&group);
	sley_destroy(rt);
	_exit(0);
}

/* In nanoseconds. */
static double measure_hand_over(const struct measure *m)
{
	struct hand_over *h = crowd_shared(m, sizeof(*h));
	struct domain domain = { .m = m, .nr_cores = 1, .pinned = true };
	pid_t pids[2];
	double ns;

	h->m = m;
	h->level = LEVEL_LAST + 1;
	h->first = -1;
	h->rounds = m->quick ? 20 : HAND_OVER_ROUNDS;
	crowd_needs_two_cpus();
	domain_start(&domain);
	for (int i = 0; i < 2; i++)
		pids[i] = side_start(&domain, h, i);
	for (int i = 0; i < 2; i++)
		crowd_join(m, pids[i]);
	domain_stop(&domain);
	MEASURE_CHECK(m, h->nr > 0);
	ns = (double)h->ns / h->nr;
	munmap(h, sizeof(*h));
	return ns;
}

void row_domain_yield(const struct measure *m)
{
	measure_report("ns", measure_hand_over(m));
}

void row_domain_hand_over(const struct measure *m)
{
	double ns = measure_hand_over(m);

	measure_report("yield_p99_ns", ns);
	measure_report("late_p99_ns", ns);
}
