/* SPDX-License-Identifier: MIT */
/*
 * core_timer.c - alarms, alone: one thread starts, stops and fires them.
 */
#include "core/wait/timer.h"
#include "harness/test.h"

static struct timers timers;

struct bell {
	struct alarm alarm;
	int held, rung; /* which it was; 0: not yet */
	bool ended;     /* it saw that */
};

static int nr_held, nr_rung;

static struct bell *bell_of(struct alarm *alarm)
{
	return container_of(alarm, struct bell, alarm);
}

static void hold(struct alarm *alarm)
{
	bell_of(alarm)->held = ++nr_held;
}

static void ring(struct alarm *alarm)
{
	bell_of(alarm)->rung = ++nr_rung;
	bell_of(alarm)->ended = alarm->timer.timers->ended;
}

static bool bell_start(struct bell *bell, uint64_t deadline_ns)
{
	*bell = (struct bell){ .alarm = { .hold = hold, .ring = ring } };
	return alarm_start(&timers, &bell->alarm, deadline_ns);
}

TEST(alarms_ring_in_the_order_of_their_times)
{
	struct bell bell[3];

	timers_init(&timers);
	bell_start(&bell[0], 30);
	bell_start(&bell[1], 10);
	bell_start(&bell[2], 20);
	timers_fire(&timers, 5);
	CHECK_EQ(nr_held, 0);
	timers_fire(&timers, 100);
	CHECK_EQ(bell[0].rung, 3);
	CHECK_EQ(bell[1].rung, 1);
	CHECK_EQ(bell[2].rung, 2);
	CHECK_EQ(nr_held, 3);
	CHECK(!bell[0].ended);
}

TEST(stopping_says_whether_there_was_something_to_stop)
{
	struct bell bell;

	timers_init(&timers);
	bell_start(&bell, 10);
	CHECK(timer_stop(&bell.alarm.timer));
	CHECK(!timer_stop(&bell.alarm.timer));
	timers_fire(&timers, 100);
	CHECK_EQ(bell.rung, 0);
	bell_start(&bell, 10);
	timers_fire(&timers, 100);
	CHECK(!timer_stop(&bell.alarm.timer));
}

/* Who sleeps until the earliest has to be told of an earlier one, and no other. */
TEST(starting_says_whether_it_is_the_earliest)
{
	struct bell bell[6];

	timers_init(&timers);
	CHECK(bell_start(&bell[0], 100));
	CHECK(!bell_start(&bell[1], 200));
	CHECK(!bell_start(&bell[2], 100));
	CHECK(bell_start(&bell[3], 50));
	timers_fire(&timers, 150);
	CHECK_EQ(nr_rung, 3);
	CHECK(bell_start(&bell[4], 160));
	CHECK(timer_stop(&bell[4].alarm.timer));
	/* Never later than it has been said. */
	CHECK_LE(timers_next(&timers), 200);
	CHECK(!bell_start(&bell[5], UINT64_MAX));
}

TEST(at_the_end_all_ring_whenever_they_would_have)
{
	struct bell bell[3];

	timers_init(&timers);
	bell_start(&bell[0], UINT64_MAX);
	bell_start(&bell[1], 1);
	bell_start(&bell[2], 1ull << 62);
	timers_end(&timers);
	for (int i = 0; i < 3; i++) {
		CHECK(bell[i].rung);
		CHECK(bell[i].ended);
	}
	CHECK_EQ(bell[1].rung, 1);
}

TEST(timers_that_were_never_started_end_as_well)
{
	static struct timers zeroed;

	timers_end(&zeroed);
	CHECK_EQ(nr_rung, 0);
}

/* ---- who rings does not ring others ------------------------------------------------ */

static struct bell second;
static bool rings_inside;

static void ring_and_look(struct alarm *alarm)
{
	ring(alarm);
	rings_inside = timers_ringing();
	CHECK(bell_start(&second, 1));
	timers_fire(&timers, 100);
}

TEST(what_rings_lets_nothing_ring_inside_it)
{
	struct bell first = { .alarm = { .hold = hold,
					 .ring = ring_and_look } };

	timers_init(&timers);
	CHECK(!timers_ringing());
	CHECK(alarm_start(&timers, &first.alarm, 10));
	timers_fire(&timers, 100);
	CHECK(rings_inside);
	CHECK_EQ(first.rung, 1);
	CHECK_EQ(second.rung, 0);
	CHECK(!timers_ringing());
	timers_fire(&timers, 100);
	CHECK_EQ(second.rung, 2);
}

static struct bell *mind(struct bell *bell, uint64_t deadline_ns)
{
	*bell = (struct bell){
		.alarm = { .hold = alarm_rings_at_cancel, .ring = ring },
	};
	alarm_start(&timers, &bell->alarm, deadline_ns);
	return bell;
}

/* Near and far, and one that is due; the others are left alone. */
TEST(alarms_that_mind_ring_at_a_cancel)
{
	struct bell minds[4], other[2];

	timers_init(&timers);
	bell_start(&other[0], 20);
	mind(&minds[0], 0);
	mind(&minds[1], 21);
	mind(&minds[2], 1ull << 40);
	bell_start(&other[1], 1ull << 41);
	mind(&minds[3], UINT64_MAX - 1);
	CHECK_EQ(timers_pending(&timers), 6);
	timers_cancel(&timers);
	for (int i = 0; i < 4; i++) {
		CHECK(minds[i].rung);
		CHECK(!minds[i].ended);
		CHECK(!timer_stop(&minds[i].alarm.timer));
	}
	CHECK_EQ(nr_rung, 4);
	CHECK_EQ(timers_pending(&timers), 2);
	timers_cancel(&timers);
	CHECK_EQ(nr_rung, 4);
	CHECK(!timers_ringing());
	timers_fire(&timers, 100);
	CHECK_EQ(other[0].rung, 5);
	CHECK_EQ(other[1].rung, 0);
	CHECK(timer_stop(&other[1].alarm.timer));
}
