/* SPDX-License-Identifier: MIT */
/*
 * process_stop.c - the processes of a runtime that stops: W42, T8, T9.
 */
#include <stdio.h>

#include "conformance/actor/process.h"

struct report {
	char text[8192];
};

static void take_report(void *self, const char *line)
{
	struct report *report = self;
	size_t used = strlen(report->text);

	snprintf(report->text + used, sizeof(report->text) - used, "%s\n",
		 line);
}

static struct sley *start_reporting(struct report *report)
{
	struct sley_config config = *test_config();
	struct sley *rt;

	config.report = take_report;
	config.report_self = report;
	CHECK_EQ(sley_create(&rt, &config), 0);
	return rt;
}

/* ---- W42: all are asked ------------------------------------------------------------------ */

static int waits_for_ever(void *arg)
{
	struct sley_msg *msg;
	int err;

	do
		err = sley_receive(&msg);
	while (!err);
	CHECK_EQ(err, -ECANCELED);
	count_task(arg);
	return err;
}

/* It has begun, and waits for messages. */
static bool is_idle(sley_pid pid)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	return info.state == SLEY_PROCESS_IDLE;
}

TEST_WORKERS(w42_destroy_asks_all_processes_to_end)
{
	static struct life life[200];
	struct sley *rt = start();
	atomic_int ended = 0;
	sley_pid pid[200];

	for (int i = 0; i < 200; i++) {
		life[i] = (struct life){ 0 };
		(void)live(&life[i]);
		pid[i] = actor(waits_for_ever, &ended);
	}
	for (int i = 0; i < 200; i++)
		CHECK_SOON(life[i].steps == 1 && is_idle(pid[i]));
	stop(rt);
	for (int i = 0; i < 200; i++)
		check_end(&life[i], -ECANCELED);
	CHECK_EQ(ended, 200);
}

TEST_WORKERS(w42_to_cancel_all_ends_processes_too)
{
	struct life life = { 0 };
	atomic_int ended = 0;
	struct sley *rt = start();
	sley_pid pid = actor(waits_for_ever, &ended);

	(void)live(&life);
	CHECK_SOON(life.steps == 1);
	sley_cancel_all(rt);
	CHECK_SOON(life.closes == 1);
	CHECK_SOON(is_gone(pid));
	CHECK_EQ(life.reason, -ECANCELED);
	stop(rt);
}

static enum sley_step ends_when_told(struct life *life,
				     struct sley_msg *const *msg, size_t nr,
				     struct sley_out *out)
{
	(void)life;
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->kind == SLEY_CANCEL) {
			CHECK_EQ(msg[i]->error, -ECANCELED);
			CHECK_EQ(msg[i]->from, SLEY_NO_PID);
			return sley_out_done(out, -EIO);
		}
	}
	return SLEY_WAIT;
}

TEST_WORKERS(w42_who_traps_is_told_once_that_the_runtime_stops)
{
	static struct life life[50];
	struct sley *rt = start();

	for (int i = 0; i < 50; i++) {
		life[i] = (struct life){ .then = ends_when_told };
		(void)live_as(&life[i], SLEY_PROCESS_OPTIONS(.traps = true));
	}
	stop(rt);
	for (int i = 0; i < 50; i++) {
		CHECK_EQ(life[i].reason, -EIO);
		CHECK_EQ(life[i].cancels, 1);
		CHECK_EQ(life[i].closes, 1);
	}
}

/* Its end begins another one, and so on. */
struct chain {
	struct life life[20];
	atomic_int spawned;
};

static struct chain *chain;

static void spawns_next(void *self, int reason)
{
	static const struct sley_behaviour link = {
		.size = sizeof(struct living),
		.init = life_init,
		.step = life_step,
		.close = spawns_next,
	};
	int i = atomic_fetch_add(&chain->spawned, 1);

	if (self)
		life_close(self, reason);
	if (i < 20)
		CHECK_EQ(sley_process_spawn(NULL, &link, &chain->life[i],
					    sizeof(struct life), NULL),
			 0);
}

TEST_WORKERS(w42_processes_that_begin_during_the_stop_end_too)
{
	struct sley *rt = start();
	static struct chain c;

	chain = &c;
	memset(&c, 0, sizeof(c));
	spawns_next(NULL, 0);
	stop(rt);
	for (int i = 0; i < 20; i++) {
		CHECK_EQ(c.life[i].inits, 1);
		CHECK_EQ(c.life[i].closes, 1);
		CHECK_EQ(c.life[i].reason, -ECANCELED);
	}
}

static void spawn_late(void *life)
{
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	(void)live(life);
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
}

TEST_WORKERS(w42_one_that_a_task_begins_during_the_stop_ends_too)
{
	struct life life = { 0 };
	struct sley *rt = start();

	CHECK_EQ(sley_schedule(spawn_late, &life), 0);
	stop(rt);
	CHECK_EQ(life.inits, 1);
	CHECK_EQ(life.closes, 1);
	CHECK_EQ(life.reason, -ECANCELED);
}

/* ---- T8: they clean up ------------------------------------------------------------------------ */

#define TIDY 77

static void tidy_up(void *arg)
{
	sley_pid *pid = arg;

	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	CHECK_EQ(sley_send(*pid, TIDY, NULL, 0), 0);
}

struct tidy {
	struct life life;
	sley_pid pid;
};

static enum sley_step tidies(struct life *life, struct sley_msg *const *msg,
			     size_t nr, struct sley_out *out)
{
	struct tidy *t = life->arg;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->kind == SLEY_CANCEL) {
			t->pid = sley_self();
			CHECK_EQ(sley_schedule(tidy_up, &t->pid), 0);
		} else if (msg[i]->tag == TIDY) {
			return sley_out_done(out, 0);
		}
	}
	return SLEY_WAIT;
}

static int actor_tidies(void *arg)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->kind, SLEY_CANCEL);
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	CHECK_EQ(sley_receive_until(&msg, in_ms(2)), -ETIMEDOUT);
	count_task(arg);
	return 0;
}

/* Wippy: 0 of 10, and all of the two seconds. */
TEST_WORKERS(t08_those_that_tidy_up_after_a_cancel_finish)
{
	struct sley *rt = start();
	atomic_int ended = 0;
	struct tidy t[10];
	uint64_t begin;

	for (int i = 0; i < 10; i++) {
		t[i] = (struct tidy){ .life = { .then = tidies,
						.arg = &t[i] } };
		(void)live_as(&t[i].life, SLEY_PROCESS_OPTIONS(.traps = true));
		CHECK_EQ(sley_actor_spawn(NULL, actor_tidies, &ended,
					  SLEY_PROCESS_OPTIONS(.traps = true)),
			 0);
	}
	begin = sley_now();
	sley_unbind(rt);
	CHECK_EQ(sley_destroy_until(rt, in_ms(20000)), 0);
	CHECK_LT(ms_since(begin), 10000);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(t[i].life.reason, 0);
	CHECK_EQ(ended, 10);
}

/* ---- T9: against everything ----------------------------------------------------------------------- */

struct crowd {
	struct sley *rt;
	atomic_ullong pid[8];
	struct life life[64];
	atomic_int next;
	atomic_bool done;
	struct life late;
};

static void *spawn_send_and_kill(void *arg)
{
	struct crowd *c = arg;

	while (!atomic_load(&c->done)) {
		int i = atomic_load(&c->next);
		sley_pid pid = SLEY_NO_PID;
		int err;

		if (i < 64)
			i = atomic_fetch_add(&c->next, 1);
		if (i < 64) {
			err = sley_process_spawn(
				&pid, &living, &c->life[i], sizeof(struct life),
				SLEY_PROCESS_OPTIONS(.runtime = c->rt));
			CHECK(err == 0 || err == -ESHUTDOWN);
			atomic_store(&c->pid[i % 8], pid);
		}
		pid = atomic_load(&c->pid[test_random(8)]);
		(void)sley_send(pid, 1, "more than sixteen bytes", 24);
		if (test_random(20) == 0)
			(void)sley_process_kill(pid);
		if (test_random(20) == 0)
			(void)sley_process_cancel(pid, 0);
	}
	return NULL;
}

TEST_WORKERS(t09_destroy_against_spawns_sends_and_kills)
{
	if (is_single())
		test_skip("only bound threads spawn here");
	for (int round = 0; round < test_scale(16); round++) {
		static struct crowd c;
		struct report report = { "" };
		struct gate gate = { 0 };
		pthread_t thread[2];

		memset(&c, 0, sizeof(c));
		c.rt = start_reporting(&report);
		CHECK_EQ(sley_schedule_on(c.rt, gate_task, &gate, NULL), 0);
		for (int i = 0; i < 2; i++)
			thread[i] = test_thread(spawn_send_and_kill, &c);
		test_nap_ms((unsigned int)test_random(3));
		CHECK_EQ(sley_destroy_until(c.rt, 0), -ETIMEDOUT);
		test_nap_ms(1);
		gate_open(&gate);
		atomic_store(&c.done, true);
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
		/* The two may have spawned all they had before. */
		CHECK_EQ(sley_process_spawn(
				 NULL, &living, &c.late, sizeof(struct life),
				 SLEY_PROCESS_OPTIONS(.runtime = c.rt)),
			 -ESHUTDOWN);
		CHECK_EQ(sley_destroy(c.rt), 0);
		CHECK_EQ(c.late.closes, c.late.inits);
		for (int i = 0; i < 64; i++)
			CHECK_EQ(c.life[i].closes, c.life[i].inits);
	}
}

struct second {
	struct sley *rt;
	struct gate *gate;
};

static void *destroy_too(void *arg)
{
	struct second *s = arg;
	int err;

	/* Until the first one is inside, this is the first one. */
	do
		err = sley_destroy_until(s->rt, 0);
	while (err == -ETIMEDOUT);
	CHECK_EQ(err, -EBUSY);
	gate_open(s->gate);
	return NULL;
}

TEST_WORKERS(t09_a_second_destroy_leaves_the_processes_to_the_first)
{
	struct report report = { "" };
	struct tidy t = { .life = { .then = tidies, .arg = &t } };
	struct gate gate = { 0 };
	struct second second;
	pthread_t thread;
	int err;

	if (is_single())
		test_skip("only bound threads spawn here");
	second = (struct second){ start_reporting(&report), &gate };
	(void)live_as(&t.life, SLEY_PROCESS_OPTIONS(.runtime = second.rt,
						    .traps = true));
	CHECK_EQ(sley_schedule_on(second.rt, gate_task, &gate, NULL), 0);
	CHECK_EVENTUALLY(gate.held == 1);
	thread = test_thread(destroy_too, &second);
	do
		err = sley_destroy(second.rt);
	while (err == -EBUSY);
	CHECK_EQ(err, 0);
	pthread_join(thread, NULL);
	CHECK_EQ(t.life.closes, 1);
	CHECK_EQ(t.life.cancels, 1);
}

static enum sley_step never_returns(struct life *life,
				    struct sley_msg *const *msg, size_t nr,
				    struct sley_out *out)
{
	(void)msg;
	(void)nr;
	(void)out;
	gate_hold(life->arg);
	return SLEY_WAIT;
}

static enum sley_step ignores_it(struct life *life, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	(void)life;
	for (size_t i = 0; i < nr; i++)
		if (msg[i]->kind == SLEY_MESSAGE)
			return sley_out_done(out, 0);
	return SLEY_WAIT;
}

static int waits_for_gate(void *arg)
{
	struct gate *gate = arg;

	atomic_fetch_add(&gate->held, 1);
	while (!gate->open)
		sley_yield();
	return 0;
}

static int waits_for_gate_too(void *arg)
{
	return waits_for_gate(arg);
}

TEST_WORKERS(t09_actors_without_a_name_are_told_by_their_functions)
{
	struct report report = { "" };
	struct gate gate = { 0 };
	struct sley *rt;
	char *second;

	if (is_single())
		test_skip("only bound threads spawn here");
	rt = start_reporting(&report);
	CHECK_EQ(sley_actor_spawn(NULL, waits_for_gate, &gate,
				  SLEY_PROCESS_OPTIONS(.runtime = rt)),
		 0);
	CHECK_EQ(sley_actor_spawn(NULL, waits_for_gate_too, &gate,
				  SLEY_PROCESS_OPTIONS(.runtime = rt)),
		 0);
	CHECK_EVENTUALLY(gate.held == 2);
	CHECK_EQ(sley_destroy_until(rt, in_ms(30)), -ETIMEDOUT);
	second = strchr(report.text, '\n');
	CHECK(second != NULL);
	*second++ = 0;
	CHECK(strncmp(report.text, second, strlen(report.text)) != 0);
	gate_open(&gate);
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST_WORKERS(t09_destroy_until_gives_up_and_names_who_did_not_end)
{
	struct report report = { "" };
	struct gate gate = { 0 };
	struct life held = { .then = never_returns, .arg = &gate };
	struct life deaf = { .then = ignores_it };
	struct sley *rt;
	sley_pid pid;

	if (nr_runners() < 2)
		test_skip("needs a worker besides the one that is held");
	rt = start_reporting(&report);
	(void)live_as(&held,
		      SLEY_PROCESS_OPTIONS(.runtime = rt, .label = "stubborn"));
	pid = live_as(&deaf, SLEY_PROCESS_OPTIONS(.runtime = rt, .traps = true,
						  .label = "deaf"));
	/* Before both of two workers are held. */
	CHECK_EVENTUALLY(deaf.steps == 1);
	CHECK_EQ(sley_actor_spawn(NULL, waits_for_gate, &gate,
				  SLEY_PROCESS_OPTIONS(.runtime = rt,
						       .label = "busy")),
		 0);
	CHECK_EVENTUALLY(gate.held == 2);
	CHECK_EQ(sley_destroy_until(rt, in_ms(30)), -ETIMEDOUT);
	if (!strstr(report.text, "stubborn") || !strstr(report.text, "deaf") ||
	    !strstr(report.text, "busy"))
		CHECK_STR(report.text, "stubborn, deaf and busy");
	CHECK_EQ(deaf.cancels, 1);
	gate_open(&gate);
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(held.reason, -ECANCELED);
	CHECK_EQ(deaf.reason, 0);
}

static int destroys(void *rt)
{
	return sley_destroy(rt);
}

TEST_ABORTS(t09_destroying_from_inside_an_actor_aborts,
	    "sley: misuse in sley_destroy")
{
	struct sley *rt = start();

	(void)actor(destroys, rt);
	CHECK_SOON(rt == NULL);
}

static enum sley_step step_destroys(struct life *life,
				    struct sley_msg *const *msg, size_t nr,
				    struct sley_out *out)
{
	(void)msg;
	(void)nr;
	return sley_out_done(out, sley_destroy(life->arg));
}

TEST_ABORTS(t09_destroying_from_inside_a_step_aborts,
	    "sley: misuse in sley_destroy")
{
	struct sley *rt = start();
	struct life life = { .then = step_destroys, .arg = rt };

	(void)live(&life);
	CHECK_SOON(rt == NULL);
}
