/* SPDX-License-Identifier: MIT */
/*
 * ringing.c - where a post rings no task is suspended: inside a call that never
 * blocks, on the monitor's thread, and on a worker that has no stack left.
 *
 * The post reaches a full mailbox that drops its oldest message.  The function
 * that frees this message sends to another full mailbox, one whose senders wait.
 * There it is refused (sley/message.h), whoever fires the timer.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "conformance/bound.h"

#define NOT_SENT 12345

static sley_pid full, lossy;
static struct sley_event ends;
static _Atomic uint64_t deadline; /* of the send; 0: it has none */
static atomic_int sent;

static void free_and_send(void *data)
{
	uint64_t deadline_ns = atomic_load(&deadline);

	(void)data;
	if (deadline_ns)
		sent = sley_send_until(full, 2, NULL, 0, deadline_ns);
	else
		sent = sley_send(full, 2, NULL, 0);
}

/* Takes nothing. */
static int sleep_on(void *arg)
{
	(void)arg;
	(void)!sley_event_wait(&ends);
	return 0;
}

/* Two processes, both full; nothing has been dropped. */
static void fill_both(void)
{
	sley_event_init(&ends, false, false);
	sent = NOT_SENT;
	deadline = 0;
	CHECK_EQ(sley_actor_spawn(&full, sleep_on, NULL,
				  SLEY_PROCESS_OPTIONS(.mailbox = 1,
						       .overflow = SLEY_BLOCK)),
		 0);
	CHECK_EQ(sley_actor_spawn(
			 &lossy, sleep_on, NULL,
			 SLEY_PROCESS_OPTIONS(.mailbox = 1,
					      .overflow = SLEY_DROP_OLDEST)),
		 0);
	CHECK_EQ(sley_send(full, 1, NULL, 0), 0);
	CHECK_EQ(sley_send_owned(lossy, 1, NULL, 0, free_and_send), 0);
}

static void end_both(void)
{
	sley_event_set(&ends);
	CHECK_SOON(!sley_process_alive(full) && !sley_process_alive(lossy));
}

/* ---- inside a call that never blocks ------------------------------------------------ */

static bool in_call;
static int ran_inside;

/* If it were suspended in the call, this would let it go on. */
static void look_and_make_room(void *arg)
{
	(void)arg;
	ran_inside += in_call;
	if (in_call)
		CHECK_EQ(sley_process_kill(full), 0);
}

TEST(w25_a_post_that_rings_in_a_call_suspends_nobody)
{
	struct sley *rt = start_single();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	uint64_t due;

	fill_both();
	due = in_ms(2);
	CHECK_EQ(sley_post_at(lossy, 3, NULL, 0, due, NULL), 0);
	sley_spawn(&group, &task, look_and_make_room, NULL);
	while (sley_now() <= due)
		;
	in_call = true;
	CHECK(!sley_cancelled());
	in_call = false;
	CHECK_EQ(sent, -EAGAIN);
	CHECK_EQ(ran_inside, 0);
	sley_join(&group);
	end_both();
	stop(rt);
}

/* ---- on the monitor's thread ----------------------------------------------------------- */

static atomic_bool is_held;

static void hold_until_sent(void *arg)
{
	(void)arg;
	is_held = true;
	while (sent == NOT_SENT)
		;
}

/* The monitor's thread is nobody's: it must not wait for the length of a deadline. */
TEST(w25_a_post_that_the_monitor_rings_does_not_wait)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	fill_both();
	deadline = in_ms(20000);
	is_held = false;
	sley_spawn(&group, &task, hold_until_sent, NULL);
	CHECK_SOON(is_held);
	CHECK_EQ(sley_post_at(lossy, 3, NULL, 0, in_ms(1), NULL), 0);
	sley_join(&group);
	CHECK_EQ(sent, -EAGAIN);
	end_both();
	stop(rt);
}

/* ---- on a worker without a stack --------------------------------------------------------- */

#define BLOCKED 20000

static struct sley_task blocked[BLOCKED];
static struct sley_event go;
static atomic_int nr_begun;

static void block(void *arg)
{
	(void)arg;
	nr_begun++;
	CHECK_EQ(sley_event_wait(&go), 0);
}

static rlim_t address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

TEST(w25_a_post_rings_where_there_is_no_stack)
{
	struct sley_config config = config_of(1);
	struct sley_group group = SLEY_GROUP_INIT;
	struct rlimit limit;
	sley_post post;
	struct sley *rt;

	if (test_is_slow())
		test_skip("sanitizers and emulators need address space");
	rt = start_with(&config);
	fill_both();
	sley_event_init(&go, false, false);
	/* There is room for a post, then. */
	CHECK_EQ(sley_post_at(lossy, 3, NULL, 0, UINT64_MAX - 1, &post), 0);
	CHECK_EQ(sley_post_cancel(post), 0);
	CHECK_EQ(getrlimit(RLIMIT_AS, &limit), 0);
	CHECK_EQ(setrlimit(RLIMIT_AS,
			   &(struct rlimit){ address_space(), limit.rlim_max }),
		 0);
	for (int i = 0; i < BLOCKED; i++)
		sley_spawn(&group, &blocked[i], block, NULL);
	CHECK_EQ(sley_post_at(lossy, 3, NULL, 0, in_ms(200), NULL), 0);
	CHECK_SOON(sent != NOT_SENT);
	CHECK_LT(nr_begun, BLOCKED);
	CHECK_EQ(sent, -EAGAIN);
	CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
	sley_event_set(&go);
	sley_join(&group);
	CHECK_EQ(nr_begun, BLOCKED);
	end_both();
	stop(rt);
}
