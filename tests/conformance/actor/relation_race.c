/* SPDX-License-Identifier: MIT */
/*
 * relation_race.c - links and monitors of processes that end meanwhile, and of many:
 * T21, T22, W35; and without memory.
 */
#include "conformance/actor/processes.h"

#include <sys/resource.h>

#define REASON (-77)
#define MANY 1000

/* ---- T21: against the end ---------------------------------------------------------- */

/* Ends at once, or a little later. */
static int ephemeral_actor(void *arg)
{
	(void)arg;
	if (test_random(2))
		sley_yield();
	return REASON;
}

static enum sley_step ephemeral_step(void *self, struct sley_msg *const *msg,
				     size_t nr, struct sley_out *out)
{
	(void)self;
	(void)msg;
	(void)nr;
	return sley_out_done(out, REASON);
}

static const struct sley_behaviour ephemeral = { .name = "ephemeral",
						 .step = ephemeral_step };

static sley_pid spawn_ephemeral(void)
{
	sley_pid pid;

	if (test_random(2))
		CHECK_EQ(sley_actor_spawn(&pid, ephemeral_actor, NULL, NULL),
			 0);
	else
		CHECK_EQ(sley_process_spawn(&pid, &ephemeral, NULL, 0, NULL),
			 0);
	return pid;
}

static void linger(void)
{
	if (test_random(2))
		sley_yield();
}

static int monitor_ephemerals(void *arg)
{
	(void)arg;
	for (int i = 0; i < test_scale(MANY); i++) {
		sley_pid pid = spawn_ephemeral();
		const struct sley_msg *msg;
		bool was_over, lives;
		uint64_t number;

		linger();
		was_over = !sley_process_alive(pid);
		CHECK_EQ(sley_monitor(pid, &number), 0);
		lives = sley_process_alive(pid);
		msg = expect(SLEY_DOWN, pid);
		CHECK_EQ(msg->tag, number);
		/* If it ended between the two looks, either is right. */
		CHECK(lives || msg->error == REASON || msg->error == -ESRCH);
		if (lives)
			CHECK_EQ(msg->error, REASON);
		if (was_over)
			CHECK_EQ(msg->error, -ESRCH);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(t21_a_monitor_of_who_ends_is_told_once)
{
	run_actor(monitor_ephemerals, NULL, false);
}

static int unmonitor_ephemerals(void *arg)
{
	(void)arg;
	for (int i = 0; i < test_scale(MANY); i++) {
		sley_pid pid = spawn_ephemeral();
		struct sley_msg *msg;
		uint64_t number;
		int err;

		CHECK_EQ(sley_monitor(pid, &number), 0);
		linger();
		/* Else it may be in the inbox, and nobody has looked. */
		if (i % 2) {
			err = sley_receive_until(&msg, 0);
			CHECK(!err || err == -ETIMEDOUT);
		}
		sley_unmonitor(number);
		expect_nothing();
		linger();
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(t21_nothing_comes_after_unmonitor)
{
	run_actor(unmonitor_ephemerals, NULL, false);
}

static int link_ephemerals(void *arg)
{
	(void)arg;
	for (int i = 0; i < test_scale(MANY); i++) {
		sley_pid pid = spawn_ephemeral();
		int err;

		linger();
		err = sley_link(pid);
		if (!err)
			expect_exit(pid, REASON);
		else
			CHECK_EQ(err, -ESRCH);
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(t21_a_link_with_who_fails_is_told_or_refused)
{
	run_actor(link_ephemerals, NULL, true);
}

static int unlink_ephemerals(void *arg)
{
	(void)arg;
	for (int i = 0; i < test_scale(MANY); i++) {
		sley_pid pid = spawn_ephemeral();
		struct sley_msg *msg;
		int err = sley_link(pid);

		linger();
		/* As above. */
		if (i % 2 && !err && !sley_receive_until(&msg, 0))
			CHECK_EQ(msg->kind, SLEY_EXIT);
		sley_unlink(pid);
		expect_nothing();
		linger();
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(t21_nothing_comes_after_unlink)
{
	run_actor(unlink_ephemerals, NULL, true);
}

/* ---- T22: all at once --------------------------------------------------------------- */

static int fail_both(void *arg)
{
	(void)arg;
	for (int i = 0; i < test_scale(200); i++) {
		sley_pid pid[2];
		uint64_t number[2];

		for (int j = 0; j < 2; j++)
			pid[j] = spawn_mortal_with(
				(i + j) % 2,
				SLEY_PROCESS_OPTIONS(.monitor = &number[j]));
		CHECK_EQ(mortal_do(pid[0], TAG_LINK, pid[1]), 0);
		CHECK_EQ(sley_process_kill(pid[0]), 0);
		(void)sley_process_kill(pid[1]);
		for (int j = 0; j < 2; j++) {
			struct sley_msg *msg;

			CHECK_EQ(sley_receive(&msg), 0);
			CHECK_EQ(msg->kind, SLEY_DOWN);
			CHECK_EQ(msg->error, SLEY_EKILLED);
		}
		expect_nothing();
	}
	return 0;
}

TEST_WORKERS(t22_both_ends_of_a_link_fail_at_once)
{
	run_actor(fail_both, NULL, false);
}

static void expect_downs(int nr, int reason)
{
	struct sley_msg *msg;

	for (int i = 0; i < nr; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->kind, SLEY_DOWN);
		CHECK_EQ(msg->error, reason);
	}
	expect_nothing();
}

static void spawn_watched(sley_pid *pid, int nr)
{
	uint64_t number;

	for (int i = 0; i < nr; i++)
		pid[i] = spawn_mortal_with(
			i % 8 == 0, SLEY_PROCESS_OPTIONS(.monitor = &number));
}

static int fail_in_a_cycle(void *arg)
{
	static sley_pid pid[MANY];

	(void)arg;
	spawn_watched(pid, MANY);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(mortal_do(pid[i], TAG_LINK, pid[(i + 1) % MANY]), 0);
	end_mortal(pid[MANY / 3], REASON);
	expect_downs(MANY, REASON);
	return 0;
}

TEST_WORKERS(t22_one_of_a_cycle_of_1000_fails_and_all_end)
{
	run_actor(fail_in_a_cycle, NULL, false);
}

#define CLIQUE 40

static int fail_in_a_clique(void *arg)
{
	sley_pid pid[CLIQUE];

	(void)arg;
	spawn_watched(pid, CLIQUE);
	for (int i = 0; i < CLIQUE; i++)
		for (int j = 0; j < CLIQUE; j++)
			CHECK_EQ(mortal_do(pid[i], TAG_LINK, pid[j]),
				 i == j ? -EINVAL : 0);
	for (int i = 0, reason = REASON; i < 4; i++)
		(void)sley_send(pid[i * 7], TAG_END, &reason, sizeof(reason));
	expect_downs(CLIQUE, REASON);
	return 0;
}

TEST_WORKERS(t22_some_of_a_clique_fail_at_once_and_all_end)
{
	run_actor(fail_in_a_clique, NULL, false);
}

/* All of them fail; the one in the middle is told of each. */
static int middle_of_a_star(void *arg)
{
	static sley_pid pid[MANY];
	struct sley_msg *msg;

	(void)arg;
	for (int i = 0; i < MANY; i++)
		pid[i] = spawn_mortal_with(i % 8 == 0,
					   SLEY_PROCESS_OPTIONS(.link = true));
	for (int i = 0; i < MANY; i++)
		end_mortal(pid[i], REASON);
	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->kind, SLEY_EXIT);
		CHECK_EQ(msg->error, REASON);
	}
	expect_nothing();
	return 0;
}

TEST_WORKERS(t22_one_that_traps_survives_a_storm_of_1000_failures)
{
	run_actor(middle_of_a_star, NULL, true);
}

static int fail_with_a_star(void *arg)
{
	static sley_pid pid[MANY];
	sley_pid middle = spawn_mortal();

	(void)arg;
	spawn_watched(pid, MANY);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(mortal_do(i % 2 ? pid[i] : middle, TAG_LINK,
				   i % 2 ? middle : pid[i]),
			 0);
	end_mortal(middle, REASON);
	expect_downs(MANY, REASON);
	return 0;
}

TEST_WORKERS(t22_one_fails_and_1000_that_are_linked_with_it_end)
{
	run_actor(fail_with_a_star, NULL, false);
}

/* ---- W35: who ends leaves nothing behind ---------------------------------------------- */

static int watch_shortly(void *arg)
{
	uint64_t number;

	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_monitor(*(sley_pid *)arg, &number), 0);
	CHECK_EQ(sley_link(*(sley_pid *)arg), 0);
	return 0;
}

static int outlive_watchers(void *arg)
{
	sley_pid target = spawn_mortal();
	struct sley_process_info info;
	uint64_t number;

	(void)arg;
	for (int i = 0; i < test_scale(200); i++) {
		sley_pid pid;

		CHECK_EQ(sley_actor_spawn(
				 &pid, watch_shortly, &target,
				 SLEY_PROCESS_OPTIONS(.monitor = &number)),
			 0);
		expect_down(pid, number, 0);
	}
	CHECK_EQ(sley_process_inspect(target, &info), 0);
	CHECK_EQ(info.monitors, 0);
	CHECK_EQ(info.links, 0);
	CHECK_EQ(sley_monitor(target, &number), 0);
	CHECK_EQ(sley_link(target), 0);
	CHECK_EQ(sley_link(target), 0);
	CHECK_EQ(sley_process_inspect(target, &info), 0);
	CHECK_EQ(info.monitors, 1);
	CHECK_EQ(info.links, 1);
	end_mortal(target, 0);
	expect_down(target, number, 0);
	CHECK_EQ(sley_process_inspect(sley_self(), &info), 0);
	CHECK_EQ(info.links, 0);
	return 0;
}

TEST_WORKERS(w35_who_ends_leaves_no_links_and_no_monitors_behind)
{
	run_actor(outlive_watchers, NULL, false);
}

/* ---- no memory ---------------------------------------------------------------------- */

/* From now on, or no longer; stacks are needed, too. */
static void starve(bool starved)
{
	struct rlimit limit;

	CHECK_EQ(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = starved ? 1 << 20 : limit.rlim_max;
	CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

static int monitor_all_there_is(void *arg)
{
	sley_pid pid = spawn_mortal();
	struct sley_msg *msg;
	uint64_t number;
	int err, nr = 0;

	(void)arg;
	CHECK_EQ(sley_monitor(pid, &number), 0);
	starve(true);
	do {
		err = sley_monitor(pid, &number);
		nr++;
	} while (!err);
	starve(false);
	CHECK_EQ(err, -ENOMEM);
	/* As many are told as there are. */
	CHECK_EQ(sley_process_kill(pid), 0);
	for (int i = 0; i < nr; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->kind, SLEY_DOWN);
		CHECK_EQ(msg->error, SLEY_EKILLED);
	}
	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	/* And what they had is there for the next. */
	starve(true);
	CHECK_EQ(sley_monitor(pid, &number), 0);
	starve(false);
	expect_down(pid, number, -ESRCH);
	return 0;
}

TEST_WORKERS(w32_without_memory_there_is_no_monitor_and_those_there_are_told)
{
	if (test_sanitizer() || test_emulated())
		test_skip("sanitizers and emulators need address space");
	run_actor(monitor_all_there_is, NULL, false);
}

static int link_all_there_is(void *arg)
{
	static sley_pid pid[MANY];
	int nr = 0, err = 0;

	(void)arg;
	for (int i = 0; i < MANY; i++)
		pid[i] = spawn_mortal_with(false, NULL);
	starve(true);
	while (nr < MANY && !err)
		err = sley_link(pid[nr++]);
	starve(false);
	CHECK_EQ(err, -ENOMEM);
	sley_unlink(pid[nr - 1]);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(sley_process_kill(pid[i]), 0);
	for (int i = 0; i < nr - 1; i++) {
		struct sley_msg *msg;

		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->kind, SLEY_EXIT);
	}
	return 0;
}

TEST_WORKERS(w33_without_memory_there_is_no_link_and_those_there_are_told)
{
	if (test_sanitizer() || test_emulated())
		test_skip("sanitizers and emulators need address space");
	run_actor(link_all_there_is, NULL, true);
}
