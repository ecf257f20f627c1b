/* SPDX-License-Identifier: MIT */
/*
 * spawn_stress.c - foreign threads spawn, bind, unbind and wake while others
 * stop the runtime under them.
 *
 * What was accepted must have run, once, when the runtime is gone; what was
 * refused must never run.  Nobody may touch the runtime after that, in the
 * last instructions of an unbind or of a wake as little as elsewhere: only a
 * sanitizer, or a crash, shows it.
 */
#include "stress/stress.h"

#include <sched.h>

#define NR_THREADS 5
#define NR_TASKS 8

struct crowd {
	struct sley *rt;
	pthread_barrier_t all_here;
	atomic_int accepted, ran;
	atomic_bool may_leave;
};

static void run_one(void *arg)
{
	struct crowd *crowd = arg;

	dawdle();
	atomic_fetch_add(&crowd->ran, 1);
}

/* Counts what was accepted.  False: refused. */
static bool accepted(struct crowd *crowd, int err)
{
	if (err == -ESHUTDOWN)
		return false;
	CHECK_EQ(err, 0);
	atomic_fetch_add(&crowd->accepted, 1);
	return true;
}

/* Spawns some and joins them; false: refused. */
static bool spawn_some(struct crowd *crowd)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_TASKS];
	bool open = true;

	for (int i = 0; open && i < NR_TASKS; i++)
		open = accepted(crowd,
				sley_spawn_on(crowd->rt, &group, &tasks[i],
					      run_one, crowd, NULL));
	if (one_in(4) && sley_join_until(&group, soon()) == 0)
		return open;
	sley_join(&group);
	return open;
}

static bool schedule_some(struct crowd *crowd)
{
	bool open = true;

	for (int i = 0; open && i < NR_TASKS; i++)
		open = accepted(crowd, sley_schedule_on(crowd->rt, run_one,
							crowd, NULL));
	return open;
}

/* ---- bound threads against destroy ------------------------------------------ */

/* Bound before destroy begins, unbound while it waits. */
static void *spawn_and_unbind(void *arg)
{
	struct crowd *crowd = arg;

	CHECK_EQ(sley_bind(crowd->rt), 0);
	pthread_barrier_wait(&crowd->all_here);
	for (int i = 0; i < 3; i++) {
		if (!(one_in(2) ? spawn_some(crowd) : schedule_some(crowd)))
			break;
	}
	sley_unbind(crowd->rt);
	return NULL;
}

static void destroy_under_bound_threads(const struct sley_config *config)
{
	struct crowd crowd = { 0 };
	pthread_t threads[NR_THREADS];

	CHECK_EQ(sley_create(&crowd.rt, config), 0);
	pthread_barrier_init(&crowd.all_here, NULL, NR_THREADS + 1);
	for (int i = 0; i < NR_THREADS; i++)
		threads[i] = test_thread(spawn_and_unbind, &crowd);
	pthread_barrier_wait(&crowd.all_here);
	CHECK_EQ(sley_destroy(crowd.rt), 0);
	CHECK_EQ(atomic_load(&crowd.ran), atomic_load(&crowd.accepted));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&crowd.all_here);
}

/* ---- strangers against a destroy that gives up -------------------------------- */

/* Comes and goes until it is refused. */
static void *bind_again_and_again(void *arg)
{
	struct crowd *crowd = arg;
	bool open = true;

	pthread_barrier_wait(&crowd->all_here);
	while (open) {
		int err = sley_bind(crowd->rt);

		if (err == -ESHUTDOWN)
			break;
		CHECK_EQ(err, 0);
		open = spawn_some(crowd);
		sley_unbind(crowd->rt);
	}
	return NULL;
}

/* Is never bound.  A single-threaded runtime takes nothing from it. */
static void *spawn_from_outside(void *arg)
{
	struct crowd *crowd = arg;

	pthread_barrier_wait(&crowd->all_here);
	if (!sley_nr_workers(crowd->rt))
		return NULL;
	while (one_in(2) ? spawn_some(crowd) : schedule_some(crowd))
		;
	return NULL;
}

/* As long as it is bound, a destroy gives up. */
static void *stay(void *arg)
{
	struct crowd *crowd = arg;

	CHECK_EQ(sley_bind(crowd->rt), 0);
	pthread_barrier_wait(&crowd->all_here);
	while (!atomic_load(&crowd->may_leave))
		sched_yield();
	sley_unbind(crowd->rt);
	return NULL;
}

static void nobody_listens(void *self, const char *line)
{
	(void)self;
	(void)line;
}

static void shut_out_strangers(const struct sley_config *given)
{
	struct sley_config config = *given;
	struct crowd crowd = { 0 };
	pthread_t threads[NR_THREADS], holder;

	config.report = nobody_listens;
	CHECK_EQ(sley_create(&crowd.rt, &config), 0);
	pthread_barrier_init(&crowd.all_here, NULL, NR_THREADS + 2);
	holder = test_thread(stay, &crowd);
	for (int i = 0; i < NR_THREADS; i++)
		threads[i] = test_thread(i % 2 ? spawn_from_outside
					       : bind_again_and_again,
					 &crowd);
	pthread_barrier_wait(&crowd.all_here);
	test_nap_ms((unsigned int)test_random(4));
	/* From here on they are refused. */
	CHECK_EQ(sley_destroy_until(crowd.rt, soon()), -ETIMEDOUT);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&crowd.may_leave, true);
	CHECK_EQ(sley_destroy(crowd.rt), 0);
	pthread_join(holder, NULL);
	CHECK_EQ(atomic_load(&crowd.ran), atomic_load(&crowd.accepted));
	pthread_barrier_destroy(&crowd.all_here);
}

/* ---- wakes against destroy ------------------------------------------------------ */

struct wake {
	struct crowd crowd;
	struct sley_event event;
};

static void wait_and_end(void *arg)
{
	struct wake *wake = arg;

	CHECK_EQ(sley_event_wait(&wake->event), 0);
	atomic_fetch_add(&wake->crowd.ran, 1);
}

static void *wake_it(void *arg)
{
	struct wake *wake = arg;

	pthread_barrier_wait(&wake->crowd.all_here);
	sley_event_set(&wake->event);
	return NULL;
}

/* The wake ends the last task, and that the runtime; the waker is still in. */
static void destroy_under_a_waker(const struct sley_config *config)
{
	struct wake wake = { .event = SLEY_EVENT_INIT };
	struct sley *rt = start_with(config);
	pthread_t waker;

	pthread_barrier_init(&wake.crowd.all_here, NULL, 2);
	waker = test_thread(wake_it, &wake);
	CHECK_EQ(sley_schedule(wait_and_end, &wake), 0);
	if (one_in(2))
		sley_yield();
	pthread_barrier_wait(&wake.crowd.all_here);
	stop(rt);
	CHECK_EQ(atomic_load(&wake.crowd.ran), 1);
	pthread_join(waker, NULL);
	pthread_barrier_destroy(&wake.crowd.all_here);
}

/* ---- cancelling all against destroy ----------------------------------------------- */

/* Nobody sets the event: only the cancel ends it, in whatever it is about. */
static void wait_until_cancelled(void *arg)
{
	struct wake *wake = arg;
	int err = 0;

	while (err != -ECANCELED) {
		for (uint64_t n = test_random(8); n; n--)
			sley_yield();
		err = one_in(2) ? sley_sleep(test_random(50 * SLEY_USEC))
				: sley_event_wait(&wake->event);
	}
	atomic_fetch_add(&wake->crowd.ran, 1);
}

static void *cancel_them(void *arg)
{
	struct wake *wake = arg;

	pthread_barrier_wait(&wake->crowd.all_here);
	for (uint64_t n = test_random(200); n; n--)
		sched_yield();
	sley_cancel_all(wake->crowd.rt);
	return NULL;
}

/* The cancel lets the destroy end, and may still be at it then. */
static void destroy_under_a_canceller(const struct sley_config *config)
{
	struct wake wake = { .event = SLEY_EVENT_INIT };
	struct sley *rt = start_with(config);
	pthread_t canceller;

	wake.crowd.rt = rt;
	pthread_barrier_init(&wake.crowd.all_here, NULL, 2);
	canceller = test_thread(cancel_them, &wake);
	for (int i = 0; i < NR_TASKS; i++)
		CHECK_EQ(sley_schedule(wait_until_cancelled, &wake), 0);
	pthread_barrier_wait(&wake.crowd.all_here);
	stop(rt);
	CHECK_LE(atomic_load(&wake.crowd.ran), NR_TASKS);
	pthread_join(canceller, NULL);
	pthread_barrier_destroy(&wake.crowd.all_here);
}

static void run(void (*round)(const struct sley_config *),
		const struct sley_config *config)
{
	uint64_t end = stress_end() - STRESS_MS * SLEY_MSEC * 2 / 3;

	do {
		round(config);
		test_count(1);
	} while (sley_now() < end);
}

static void run_rounds(void (*round)(const struct sley_config *))
{
	struct sley_config config = stress_config();

	run(round, &config);
	config = stress_config_no_membarrier();
	run(round, &config);
	config = stress_config_migratable();
	run(round, &config);
	config = config_of(SLEY_SINGLE);
	run(round, &config);
}

TEST(destroy_waits_for_bound_threads_that_spawn)
{
	run_rounds(destroy_under_bound_threads);
}

TEST(strangers_are_served_or_refused)
{
	run_rounds(shut_out_strangers);
}

TEST(a_waker_may_be_the_last_to_leave)
{
	run_rounds(destroy_under_a_waker);
}

TEST(a_canceller_may_be_the_last_to_leave)
{
	run_rounds(destroy_under_a_canceller);
}
