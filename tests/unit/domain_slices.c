/* SPDX-License-Identifier: MIT */
/*
 * domain_slices.c - what the kernel has of the workers of a member: long and short
 * slices, and as before in the end.  tests/model/domain_slices.c has the order of calls.
 */
#include "harness/test.h"

#include "domain/slices.h"

#include "base/atomic.h"
#include "os/thread.h"

#include <sched.h>
#include <sys/prctl.h>

#define NR 2

/* Workers that do what the test says, one thing at a time. */
enum order {
	NOTHING,
	MEET,
	SHORTEN,
	STAND,
	LEAVE,
	LEAVE_FOR_URGENT,
	BECOME_IDLE_CLASS,
	END
};

struct crew {
	struct slices slices;
	struct mem mem;
	struct worker_thread {
		struct crew *crew;
		pthread_t thread;
		uint32_t i;
		uint32_t order; /* enum order; NOTHING: done */
		int tid;
	} of[NR];
};

static void obey(struct worker_thread *own, uint32_t order)
{
	struct sched_param none = { 0 };

	if (order == MEET) {
		slices_meet(&own->crew->slices, own->i);
		CHECK_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
	}
	if (order == SHORTEN)
		slices_shorten(&own->crew->slices, own->i);
	else if (order == STAND)
		slices_stand(&own->crew->slices, own->i);
	else if (order == LEAVE || order == LEAVE_FOR_URGENT)
		slices_leave(&own->crew->slices, own->i, order == LEAVE);
	else if (order == BECOME_IDLE_CLASS)
		CHECK_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
}

static void *work(void *arg)
{
	struct worker_thread *own = arg;
	uint32_t order = NOTHING;

	store_release(&own->tid, os_thread_id());
	while (order != END) {
		order = load_acquire(&own->order);
		if (order == NOTHING) {
			test_nap_ms(1);
			continue;
		}
		obey(own, order);
		store_release(&own->order, NOTHING);
	}
	return NULL;
}

static void tell(struct crew *crew, uint32_t i, enum order order)
{
	store_release(&crew->of[i].order, order);
	CHECK_EVENTUALLY(load_acquire(&crew->of[i].order) == NOTHING);
}

static void begin(struct crew *crew)
{
	*crew = (struct crew){ .slices = { 0 } };
	mem_init(&crew->mem, NULL);
	CHECK_EQ(slices_init(&crew->slices, &crew->mem, NR), 0);
	for (uint32_t i = 0; i < NR; i++) {
		crew->of[i].crew = crew;
		crew->of[i].i = i;
		crew->of[i].thread = test_thread(work, &crew->of[i]);
		CHECK_EVENTUALLY(load_acquire(&crew->of[i].tid));
	}
}

static void end(struct crew *crew)
{
	for (uint32_t i = 0; i < NR; i++) {
		store_release(&crew->of[i].order, END);
		os_thread_join(crew->of[i].thread);
	}
	slices_fini(&crew->slices, &crew->mem);
	CHECK_EQ(mem_allocated(&crew->mem), 0);
}

static struct os_sched of(const struct crew *crew, uint32_t i)
{
	struct os_sched now;

	CHECK_EQ(os_sched_get(crew->of[i].tid, &now), 0);
	return now;
}

static void check_same(struct os_sched a, struct os_sched b)
{
	CHECK_EQ(a.policy, b.policy);
	CHECK_EQ(a.nice, b.nice);
	CHECK_EQ(a.slice_ns, b.slice_ns);
}

static void check_short(const struct crew *crew, uint32_t i)
{
	CHECK_EQ(of(crew, i).policy, OS_SCHED_OTHER);
	if (os_sched_has_slices())
		CHECK_EQ(of(crew, i).slice_ns, SLICE_SHORT_NS);
}

static void check_long(const struct crew *crew, uint32_t i)
{
	CHECK_EQ(of(crew, i).policy, OS_SCHED_BATCH);
	if (os_sched_has_slices())
		CHECK_EQ(of(crew, i).slice_ns, SLICE_LONG_NS);
}

/* So many ticks of worker 0. */
static void see(struct crew *crew, bool busy, int nr)
{
	while (nr--)
		slices_see(&crew->slices, 0, busy);
}

TEST(u14_a_worker_that_is_busy_for_two_ticks_gets_a_long_slice)
{
	struct os_sched before;
	struct crew crew;

	begin(&crew);
	before = of(&crew, 0);
	tell(&crew, 0, MEET);
	see(&crew, true, 1);
	check_short(&crew, 0);
	see(&crew, false, 1);
	see(&crew, true, 1);
	check_short(&crew, 0); /* it was not busy in between */
	see(&crew, true, 1);
	check_long(&crew, 0);
	/* Nobody else is concerned. */
	check_same(of(&crew, 1), before);
	CHECK_EQ(slices_nr_refused(&crew.slices), 0);
	end(&crew);
}

TEST(u14_a_worker_that_waits_has_a_short_slice_before_it_sleeps)
{
	struct crew crew;

	begin(&crew);
	tell(&crew, 0, MEET);
	see(&crew, true, 3);
	check_long(&crew, 0);
	tell(&crew, 0, SHORTEN);
	check_short(&crew, 0);
	/* A long task again: from the first tick that finds it so. */
	see(&crew, true, 1);
	check_long(&crew, 0);
	end(&crew);
}

TEST(u14_a_worker_that_was_long_before_the_gate_is_long_behind_it)
{
	struct crew crew;

	begin(&crew);
	tell(&crew, 0, MEET);
	see(&crew, true, 3);
	tell(&crew, 0, STAND);
	check_short(&crew, 0);
	tell(&crew, 0, LEAVE);
	check_long(&crew, 0);
	tell(&crew, 0, STAND);
	tell(&crew, 0, LEAVE_FOR_URGENT);
	check_short(&crew, 0);
	/* It was not long when it came the last time. */
	tell(&crew, 0, STAND);
	tell(&crew, 0, LEAVE);
	check_short(&crew, 0);
	end(&crew);
}

TEST(a_worker_that_leaves_the_gate_without_peers_stays_as_it_was)
{
	struct os_sched before;
	struct crew crew;

	begin(&crew);
	before = of(&crew, 0);
	tell(&crew, 0, MEET);
	see(&crew, true, 3);
	tell(&crew, 0, STAND);
	CHECK(slices_restore(&crew.slices));
	tell(&crew, 0, LEAVE);
	check_same(of(&crew, 0), before);
	end(&crew);
}

TEST(without_peers_workers_are_as_they_were)
{
	struct os_sched before;
	struct crew crew;

	begin(&crew);
	CHECK_EQ(os_sched_set(crew.of[0].tid, OS_SCHED_BATCH, 7000000), 0);
	CHECK_EQ(os_sched_set_nice(crew.of[0].tid, 3), 0);
	before = of(&crew, 0);
	tell(&crew, 0, MEET);
	for (int i = 0; i < 3; i++) {
		see(&crew, true, i);
		CHECK(slices_restore(&crew.slices));
		check_same(of(&crew, 0), before);
	}
	see(&crew, true, 3);
	tell(&crew, 0, SHORTEN);
	CHECK(slices_restore(&crew.slices));
	check_same(of(&crew, 0), before);
	tell(&crew, 0, SHORTEN);
	check_same(of(&crew, 0), before);
	end(&crew);
}

TEST(the_usual_slice_stays_the_kernels_choice)
{
	struct os_sched before;
	struct crew crew;

	begin(&crew);
	before = of(&crew, 0);
	tell(&crew, 0, MEET);
	see(&crew, true, 2);
	CHECK_EQ(crew.slices.of[0].before.slice_ns, 0);
	CHECK(slices_restore(&crew.slices));
	check_same(of(&crew, 0), before);
	end(&crew);
}

TEST(a_worker_that_took_no_core_yet_is_not_touched)
{
	struct os_sched before, mine, now;
	struct crew crew;

	begin(&crew);
	before = of(&crew, 0);
	CHECK_EQ(os_sched_get(0, &mine), 0);
	see(&crew, true, 3);
	check_same(of(&crew, 0), before);
	/* Nor the tick itself, which would be number 0. */
	CHECK_EQ(os_sched_get(0, &now), 0);
	check_same(now, mine);
	CHECK_EQ(slices_nr_refused(&crew.slices), 0);
	CHECK(slices_restore(&crew.slices));
	end(&crew);
}

TEST(a_worker_of_another_class_is_left_alone)
{
	struct crew crew;

	begin(&crew);
	tell(&crew, 0, BECOME_IDLE_CLASS);
	tell(&crew, 0, MEET);
	see(&crew, true, 5);
	CHECK_EQ(of(&crew, 0).policy, OS_SCHED_FOREIGN);
	CHECK_EQ(slices_nr_refused(&crew.slices), 1);
	tell(&crew, 0, SHORTEN);
	CHECK(slices_restore(&crew.slices));
	CHECK_EQ(of(&crew, 0).policy, OS_SCHED_FOREIGN);
	end(&crew);
}

TEST(a_value_that_is_not_the_hosts_stays)
{
	struct crew crew;

	begin(&crew);
	tell(&crew, 0, MEET);
	see(&crew, true, 2);
	CHECK_EQ(os_sched_set_nice(crew.of[0].tid, 18), 0);
	CHECK_EQ(slices_raise(&crew.slices, 19), 0);
	CHECK_EQ(of(&crew, 0).nice, 18);
	end(&crew);
}

TEST(a_worker_is_named_while_it_is_long)
{
	struct crew crew;

	begin(&crew);
	CHECK_EQ(slices_long(&crew.slices, 0), 0);
	tell(&crew, 0, MEET);
	see(&crew, true, 1);
	CHECK_EQ(slices_long(&crew.slices, 0), 0);
	see(&crew, true, 1);
	CHECK_EQ(slices_long(&crew.slices, 0), crew.of[0].tid);
	CHECK_EQ(slices_long(&crew.slices, 1), 0);
	tell(&crew, 0, SHORTEN);
	CHECK_EQ(slices_long(&crew.slices, 0), 0);
	end(&crew);
}

TEST(a_worker_that_a_dead_host_has_lowered_is_raised_where_allowed)
{
	bool may = os_sched_may_restore_nice();
	struct crew crew;
	int before;

	begin(&crew);
	before = of(&crew, 0).nice;
	tell(&crew, 0, MEET);
	see(&crew, true, 2);
	CHECK_EQ(slices_raise(&crew.slices, 19), 0);
	CHECK_EQ(os_sched_set_nice(crew.of[0].tid, 19), 0);
	CHECK_EQ(slices_raise(&crew.slices, 19), may ? 0 : 1);
	CHECK_EQ(of(&crew, 0).nice, may ? before : 19);
	check_long(&crew, 0);
	end(&crew);
}
