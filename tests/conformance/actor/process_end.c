/* SPDX-License-Identifier: MIT */
/*
 * process_end.c - step processes that are ended, or go on as something else: W40,
 * W41, T25; and who comes late for one that is gone: T12.
 */
#include "conformance/actor/process.h"

/* ---- W40: cancel and kill ------------------------------------------------------------- */

static enum sley_step expects_cancel(struct life *life,
				     struct sley_msg *const *msg, size_t nr,
				     struct sley_out *out)
{
	(void)life;
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->kind != SLEY_CANCEL)
			continue;
		CHECK_EQ(msg[i]->error, -EPIPE);
		CHECK_EQ(msg[i]->from, SLEY_NO_PID);
		CHECK_EQ(i, 0); /* ahead of all that was sent */
		return sley_out_done(out, -EIO);
	}
	return SLEY_WAIT;
}

TEST_WORKERS(w40_who_traps_gets_a_cancel_ahead_of_all_messages)
{
	struct life life = { .then = expects_cancel };
	struct sley *rt = start();
	sley_pid pid = live_as(&life, SLEY_PROCESS_OPTIONS(.traps = true));

	for (int i = 0; i < 40; i++)
		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_EQ(sley_process_cancel(pid, -EPIPE), 0);
	check_end(&life, -EIO);
	CHECK_EQ(life.cancels, 1);
	stop(rt);
}

TEST_WORKERS(w40_who_does_not_trap_ends_by_a_cancel)
{
	struct life life = { .then = expects_cancel };
	struct sley *rt = start();
	sley_pid pid = live(&life);

	CHECK_SOON(life.steps == 1);
	CHECK_EQ(sley_process_cancel(pid, -EPIPE), 0);
	check_end(&life, -ECANCELED);
	CHECK_EQ(life.cancels, 0);
	stop(rt);
}

TEST(w40_a_kill_ends_what_is_ready_before_its_step)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct life life = { 0 };
	struct gate gate = { 0 };
	sley_pid pid;

	CHECK_EQ(sley_schedule(gate_task, &gate), 0);
	CHECK_EVENTUALLY(gate.held == 1);
	pid = live_as(&life, SLEY_PROCESS_OPTIONS(.traps = true));
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_EQ(sley_process_kill(pid), 0);
	gate_open(&gate);
	check_end(&life, SLEY_EKILLED);
	CHECK_EQ(life.steps, 0);
	stop(rt);
}

static enum sley_step blocks(struct life *life, struct sley_msg *const *msg,
			     size_t nr, struct sley_out *out)
{
	(void)msg;
	(void)nr;
	(void)out;
	CHECK_EQ(sley_event_wait(life->arg), 0);
	CHECK(!sley_cancelled());
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	return SLEY_CONTINUE;
}

TEST_WORKERS(w40_a_kill_does_not_interrupt_a_step)
{
	struct sley_event event = SLEY_EVENT_INIT;
	struct life life = { .then = blocks, .arg = &event };
	struct sley *rt = start();
	sley_pid pid = live(&life);

	CHECK_SOON(life.inside == 1);
	CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_EQ(sley_process_cancel(pid, 0), 0);
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	CHECK_EQ(life.inside, 1);
	sley_event_set(&event);
	check_end(&life, SLEY_EKILLED);
	CHECK_EQ(life.steps, 1);
	stop(rt);
}

static enum sley_step waits_and_keeps(struct life *life,
				      struct sley_msg *const *msg, size_t nr,
				      struct sley_out *out)
{
	(void)out;
	if (nr) {
		CHECK_EQ(sley_event_wait(life->arg), 0);
		sley_msg_keep(msg[0]);
		sley_msg_free(msg[0]);
	}
	return SLEY_WAIT;
}

/* Keeping takes all that has come out of the inbox. */
TEST_WORKERS(w40_a_kill_is_not_missed_by_a_step_that_keeps_its_message)
{
	for (int i = 0; i < 2; i++) {
		struct sley_event event = SLEY_EVENT_INIT;
		struct life life = { .then = waits_and_keeps, .arg = &event };
		struct sley *rt = start();
		sley_pid pid = live(&life);

		CHECK_SOON(life.steps == 1);
		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
		CHECK_SOON(life.inside == 1);
		CHECK_EQ(i ? sley_process_kill(pid)
			   : sley_process_cancel(pid, 0),
			 0);
		sley_event_set(&event);
		check_end(&life, i ? SLEY_EKILLED : -ECANCELED);
		stop(rt);
	}
}

struct killers {
	atomic_ullong pid;
	atomic_bool done;
	atomic_int found;
};

static void *kill_again_and_again(void *arg)
{
	struct killers *k = arg;
	struct pace pace = { SLEY_NO_PID, 0 };

	while (!atomic_load(&k->done)) {
		sley_pid pid = atomic_load(&k->pid);

		if (!pace_allows(&pace, pid))
			continue;
		if (sley_process_kill(pid) == 0)
			atomic_fetch_add(&k->found, 1);
		(void)sley_process_cancel(pid, -EIO);
		(void)sley_send(pid, 1, NULL, 0);
	}
	return NULL;
}

static int receives_until_the_end(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive_until(&msg, in_ms(20)) != -ECANCELED)
		;
	return 0;
}

TEST_WORKERS(w40_many_may_end_one_and_it_ends_once)
{
	static struct life lives[80];
	struct killers k = { .pid = SLEY_NO_PID };
	struct sley *rt = start();
	pthread_t thread[2];
	int n = test_scale(80);

	for (int i = 0; i < 2; i++)
		thread[i] = test_thread(kill_again_and_again, &k);
	for (int i = 0; i < n; i++) {
		struct life *life = &lives[i];
		bool is_actor = i % 2;
		sley_pid pid = is_actor ? actor(receives_until_the_end, NULL)
					: live(life);

		atomic_store(&k.pid, pid);
		if (is_actor)
			CHECK_SOON(is_gone(pid));
		else
			CHECK_SOON(life->closes);
	}
	atomic_store(&k.done, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	stop(rt);
	for (int i = 0; i < n; i += 2) {
		CHECK_EQ(lives[i].inits, 1);
		CHECK_EQ(lives[i].closes, 1);
		/* A kill ends it, or a cancel that a step has seen before. */
		CHECK(lives[i].reason == SLEY_EKILLED ||
		      lives[i].reason == -ECANCELED);
	}
}

/* ---- W41, T25: upgrades --------------------------------------------------------------------- */

struct versions {
	struct life old, new;
	int init_says;
	size_t new_size;
	atomic_int order; /* of what happens, digit by digit */
	char input[8];
};

static struct versions *versions;

static void happens(int digit)
{
	atomic_store(&versions->order, versions->order * 10 + digit);
}

static int new_init(void *self, const char *method, const void *input,
		    size_t size)
{
	CHECK_STR(method, "upgrade");
	CHECK_EQ(size, 8);
	CHECK_STR(input, versions->input);
	CHECK_EQ(versions->old.closes, 0);
	if (versions->new_size)
		*(struct life **)self = &versions->new;
	happens(1);
	return versions->init_says;
}

static void old_close(void *self, int reason)
{
	happens(2);
	life_close(self, reason);
}

static void new_close(void *self, int reason)
{
	happens(4); /* before anybody hears of it */
	life_close(self, reason);
}

static enum sley_step new_step(void *self, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	if (!versions->new.steps) {
		CHECK_EQ(nr, 0);
		happens(3);
	}
	return life_step(self, msg, nr, out);
}

static const struct sley_behaviour new_version = {
	.name = "new",
	.size = sizeof(struct living) + 64,
	.init = new_init,
	.step = new_step,
	.close = new_close,
};

static enum sley_step upgrades(struct life *life, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	(void)msg;
	(void)life;
	if (nr == 0)
		return SLEY_WAIT;
	return sley_out_upgrade(out, &new_version, versions->input, 8, 1);
}

static struct sley_behaviour old_version(void)
{
	struct sley_behaviour behaviour = living;

	behaviour.close = old_close;
	return behaviour;
}

static sley_pid begin_as(const struct sley_behaviour *old)
{
	sley_pid pid;

	versions->old.then = upgrades;
	memcpy(versions->input, "state", sizeof("state"));
	CHECK_EQ(sley_process_spawn(&pid, old, &versions->old,
				    sizeof(struct life), NULL),
		 0);
	return pid;
}

TEST_WORKERS(w41_an_upgrade_keeps_pid_and_mailbox)
{
	struct versions v = { .new_size = 1 };
	struct sley_behaviour old = old_version();
	struct sley *rt = start();
	sley_pid pid;

	versions = &v;
	pid = begin_as(&old);
	/* The old code takes the first one, whatever else it is shown. */
	for (int i = 0; i < 100; i++)
		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_SOON(v.new.messages == 99);
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_SOON(v.new.messages == 100);
	CHECK_EQ(v.order, 123);
	CHECK_EQ(v.old.reason, 0);
	CHECK_EQ(v.old.steps, 2);
	CHECK_EQ(v.new.empty, 1);
	CHECK_EQ(sley_process_kill(pid), 0);
	check_end(&v.new, SLEY_EKILLED);
	CHECK_EQ(v.old.closes, 1);
	CHECK_EQ(v.order, 1234);
	stop(rt);
}

TEST_WORKERS(t25_an_upgrade_whose_init_fails_ends_the_process_once)
{
	struct versions v = { .new_size = 1, .init_says = -EPROTO };
	struct sley_behaviour old = old_version();
	struct sley *rt = start();
	sley_pid pid;

	versions = &v;
	pid = begin_as(&old);
	for (int i = 0; i < 50; i++)
		CHECK(sley_send(pid, 1, "more than sixteen bytes", 24) <= 0);
	check_end(&v.old, -EPROTO);
	CHECK_SOON(is_gone(pid));
	CHECK_EQ(v.order, 12);
	CHECK_EQ(v.new.closes, 0);
	CHECK_EQ(v.new.steps, 0);
	stop(rt);
}

TEST_WORKERS(t25_an_upgrade_without_memory_ends_the_process_once)
{
	struct versions v = { .new_size = 1 };
	struct sley_behaviour old = old_version();
	struct sley *rt;
	sley_pid pid;

	if (is_single())
		test_skip("this thread needs memory to wait");
	rt = start();
	versions = &v;
	pid = begin_as(&old);
	CHECK_SOON(v.old.steps == 1);
	test_fail_allocation_after(0);
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_EVENTUALLY(v.old.closes);
	test_fail_allocation_after(-1);
	check_end(&v.old, -ENOMEM);
	CHECK_EQ(v.order, 2);
	stop(rt);
}

static enum sley_step upgrades_when_killed(struct life *life,
					   struct sley_msg *const *msg,
					   size_t nr, struct sley_out *out)
{
	(void)msg;
	CHECK_EQ(sley_event_wait(life->arg), 0);
	return sley_out_upgrade(out, &new_version, versions->input, 8, nr);
}

/* The kill is there already: the new one is closed without a step. */
TEST_WORKERS(t25_a_kill_during_an_upgrade_closes_both_once)
{
	struct sley_event event = SLEY_EVENT_INIT;
	struct versions v = { .new_size = 1 };
	struct sley_behaviour old = old_version();
	struct sley *rt = start();
	sley_pid pid;

	versions = &v;
	v.old.arg = &event;
	pid = begin_as(&old);
	v.old.then = upgrades_when_killed;
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_SOON(v.old.inside == 1);
	CHECK_EQ(sley_process_kill(pid), 0);
	sley_event_set(&event);
	check_end(&v.new, SLEY_EKILLED);
	CHECK_EQ(v.old.closes, 1);
	CHECK_EQ(v.new.steps, 0);
	CHECK_EQ(v.order, 124);
	stop(rt);
}

/* ---- T12: whoever comes late ---------------------------------------------------------------------- */

#define NR_KEPT 64

static enum sley_step ends_by_own_number(struct life *life,
					 struct sley_msg *const *msg, size_t nr,
					 struct sley_out *out)
{
	uint64_t number = (uintptr_t)life->arg;

	for (size_t i = 0; i < nr; i++) {
		CHECK_EQ(msg[i]->tag, number);
		return sley_out_done(out, 0);
	}
	return SLEY_WAIT;
}

struct late {
	atomic_ullong pid[NR_KEPT];
	atomic_ullong number[NR_KEPT];
	atomic_bool done;
};

/* Sends to those of long ago, with their number: nobody may see it. */
static void *send_late(void *arg)
{
	struct late *late = arg;

	while (!atomic_load(&late->done)) {
		size_t i = test_random(NR_KEPT);
		uint64_t number = atomic_load(&late->number[i]);
		sley_pid pid = atomic_load(&late->pid[i]);

		if (number == atomic_load(&late->number[i]))
			(void)sley_send(pid, number, NULL, 0);
	}
	return NULL;
}

TEST_WORKERS(t12_what_comes_late_does_not_reach_the_next_tenant)
{
	static struct late late;
	struct sley *rt = start();
	pthread_t thread = test_thread(send_late, &late);
	sley_pid last = SLEY_NO_PID;
	uint64_t n = (uint64_t)test_scale(is_single() ? 2000 : 20000);

	for (uint64_t i = 1; i <= n; i++) {
		struct life life = { .then = ends_by_own_number,
				     .arg = (void *)(uintptr_t)i };
		sley_pid pid = live(&life);

		CHECK_NE(pid, last);
		last = pid;
		atomic_store(&late.number[i % NR_KEPT], i);
		atomic_store(&late.pid[i % NR_KEPT], pid);
		(void)sley_send(pid, i, NULL, 0);
		if (is_single())
			CHECK_SOON(life.closes);
		while (!life.closes)
			;
		CHECK_EQ(life.reason, 0);
	}
	atomic_store(&late.done, true);
	pthread_join(thread, NULL);
	stop(rt);
}
