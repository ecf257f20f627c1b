/* SPDX-License-Identifier: MIT */
/*
 * process_turns.c - when processes run: T15, T16, T19, budgets, priorities; several
 * runtimes.
 *
 * Whoever keeps a worker busy ends only when the others have had their turn: a
 * runtime that starves them makes the test time out.
 */
#include <sched.h>

#include "conformance/actor/process.h"

static void set_flag(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
}

static enum sley_step sets_flag(struct life *life, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	(void)msg;
	if (!nr)
		return SLEY_WAIT;
	atomic_store((atomic_bool *)life->arg, true);
	return sley_out_done(out, 0);
}

/* ---- T15: who always goes on ------------------------------------------------------------ */

static enum sley_step goes_on(struct life *life, struct sley_msg *const *msg,
			      size_t nr, struct sley_out *out)
{
	(void)msg;
	(void)nr;
	if (atomic_load((atomic_bool *)life->arg))
		return sley_out_done(out, 0);
	return SLEY_CONTINUE;
}

static void go_on_until(atomic_bool *done, struct life *busy, int n)
{
	for (int i = 0; i < n; i++) {
		busy[i] = (struct life){ .then = goes_on, .arg = done };
		(void)live(&busy[i]);
	}
}

static void sleep_and_set(void *arg)
{
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	set_flag(arg);
}

TEST_WORKERS(t15_a_process_that_always_goes_on_does_not_starve_tasks)
{
	static sley_fn *const tasks[] = { set_flag, sleep_and_set };
	static struct life busy[200];
	int n = 2 * nr_runners();

	for (size_t t = 0; t < ARRAY_SIZE(tasks); t++) {
		struct sley *rt = start();
		atomic_bool done = false;

		go_on_until(&done, busy, n);
		CHECK_EQ(sley_schedule(tasks[t], &done), 0);
		for (int i = 0; i < n; i++)
			check_end(&busy[i], 0);
		stop(rt);
	}
}

TEST_WORKERS(t15_a_process_that_always_goes_on_does_not_starve_processes)
{
	static struct life busy[200];
	int n = 2 * nr_runners();
	struct sley *rt = start();
	atomic_bool done = false;
	struct life other = { .then = sets_flag, .arg = &done };
	sley_pid pid = live(&other);

	CHECK_SOON(other.steps == 1);
	go_on_until(&done, busy, n);
	for (int i = 0; i < n && !is_single(); i++)
		CHECK_EVENTUALLY(busy[i].steps > 100);
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	for (int i = 0; i < n; i++)
		check_end(&busy[i], 0);
	check_end(&other, 0);
	stop(rt);
}

TEST_WORKERS(t15_who_goes_on_gets_its_messages)
{
	atomic_bool done = false;
	struct life busy = { .then = goes_on, .arg = &done };
	struct sley *rt = start();
	sley_pid pid = live(&busy);

	for (int i = 0; i < 100; i++)
		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_SOON(busy.messages == 100);
	CHECK_EQ(sley_process_kill(pid), 0);
	check_end(&busy, SLEY_EKILLED);
	stop(rt);
}

/* ---- T16: who chatters --------------------------------------------------------------------- */

struct chatterer {
	struct life life;
	sley_pid peer;
	atomic_bool *done;
};

static enum sley_step chatters(struct life *life, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	struct chatterer *c = life->arg;

	if (atomic_load(c->done)) {
		(void)sley_send(c->peer, 1, NULL, 0);
		return sley_out_done(out, 0);
	}
	for (size_t i = 0; i < nr; i++)
		(void)sley_send(msg[i]->from ? msg[i]->from : c->peer, 1, NULL,
				0);
	return SLEY_WAIT;
}

static void chatter_until(atomic_bool *done, struct chatterer *c, int pairs)
{
	for (int i = 0; i < 2 * pairs; i++) {
		c[i] = (struct chatterer){
			.life = { .then = chatters, .arg = &c[i] }, .done = done
		};
		/* The first of two knows the second before it hears of it. */
		if (i % 2 == 0)
			continue;
		c[i - 1].peer = live(&c[i].life);
		CHECK_EQ(sley_send(live(&c[i - 1].life), 1, NULL, 0), 0);
	}
}

TEST_WORKERS(t16_two_that_chatter_do_not_starve_tasks_and_processes)
{
	static struct chatterer c[260];
	struct sley *rt = start();
	atomic_bool done = false, heard = false;
	struct life other = { .then = sets_flag, .arg = &heard };
	sley_pid pid = live(&other);

	chatter_until(&done, c, nr_runners());
	for (int i = 0; i < nr_runners() && !is_single(); i++)
		CHECK_EVENTUALLY(c[2 * i].life.messages > 100);
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_SOON(heard);
	CHECK_EQ(sley_schedule(sleep_and_set, &done), 0);
	CHECK_SOON(done);
	stop(rt);
	for (int i = 0; i < 2 * nr_runners(); i++)
		CHECK_EQ(c[i].life.closes, 1);
}

struct echo {
	sley_pid peer;
	atomic_bool *done;
	atomic_int rounds;
};

static int echoes(void *arg)
{
	struct echo *e = arg;
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0 && !atomic_load(e->done)) {
		sley_pid to = msg->from ? msg->from : e->peer;
		int err = sley_send(to, 1, NULL, 0);

		CHECK(err == 0 || atomic_load(e->done));
		atomic_fetch_add(&e->rounds, 1);
	}
	return 0;
}

TEST_WORKERS(t16_two_actors_that_chatter_do_not_starve_a_new_task)
{
	struct sley *rt = start();
	atomic_bool done = false;
	struct echo a = { .done = &done }, b = { .done = &done };

	a.peer = actor(echoes, &b);
	CHECK_EQ(sley_send(actor(echoes, &a), 1, NULL, 0), 0);
	if (!is_single())
		CHECK_EVENTUALLY(a.rounds > 100);
	CHECK_EQ(sley_schedule(sleep_and_set, &done), 0);
	CHECK_SOON(done);
	stop(rt);
}

/* ---- T19: behind a busy worker ------------------------------------------------------------------ */

struct holder {
	struct gate gate;
	sley_pid pid;
};

/* What it wakes is its own worker's; and that has no time. */
static void wake_and_hold(void *arg)
{
	struct holder *h = arg;

	CHECK_EQ(sley_send(h->pid, 1, NULL, 0), 0);
	gate_hold(&h->gate);
}

TEST_WORKERS(t19_who_is_woken_by_a_busy_worker_is_run_by_another)
{
	if (nr_runners() < 2)
		test_skip("needs another worker");
	for (int i = 0; i < test_scale(20); i++) {
		struct sley *rt = start();
		struct life life = { 0 };
		struct holder h = { .pid = live(&life) };

		CHECK_SOON(life.steps == 1);
		CHECK_EQ(sley_sleep(i % 2 * SLEY_MSEC), 0);
		CHECK_EQ(sley_schedule(wake_and_hold, &h), 0);
		CHECK_EVENTUALLY(h.gate.held == 1);
		CHECK_EVENTUALLY(life.messages == 1);
		gate_open(&h.gate);
		stop(rt);
	}
}

/* ---- the budget ------------------------------------------------------------------------------------ */

static enum sley_step feeds_itself(struct life *life,
				   struct sley_msg *const *msg, size_t nr,
				   struct sley_out *out)
{
	(void)msg;
	if (atomic_load((atomic_bool *)life->arg))
		return sley_out_done(out, 0);
	for (size_t i = 0; i < nr + !nr; i++)
		CHECK_EQ(sley_send(sley_self(), 1, NULL, 0), 0);
	return SLEY_WAIT;
}

TEST_WORKERS(one_that_always_has_mail_does_not_starve_others)
{
	const uint32_t budget[] = { 0, 1, test_is_slow() ? 100 : UINT32_MAX };
	static struct life busy[200];
	int n = 2 * nr_runners();

	if (test_is_slow() && nr_runners() > 8)
		test_skip("too many that never rest for a slow machine");
	for (size_t b = 0; b < ARRAY_SIZE(budget); b++) {
		struct sley *rt = start();
		atomic_bool done = false;

		for (int i = 0; i < n; i++) {
			busy[i] = (struct life){ .then = feeds_itself,
						 .arg = &done };
			(void)live_as(&busy[i],
				      SLEY_PROCESS_OPTIONS(.budget =
								   budget[b]));
		}
		CHECK_EQ(sley_schedule(sleep_and_set, &done), 0);
		for (int i = 0; i < n; i++)
			check_end(&busy[i], 0);
		stop(rt);
	}
}

struct flooded {
	struct life *other;
	int seen; /* messages of the other when this one had its turn */
};

static enum sley_step looks_at_other(struct life *life,
				     struct sley_msg *const *msg, size_t nr,
				     struct sley_out *out)
{
	struct flooded *f = life->arg;

	(void)msg;
	(void)out;
	if (nr)
		f->seen = f->other->messages;
	return SLEY_WAIT;
}

TEST(a_flooded_process_lets_others_run_after_its_budget)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct life flooded = { 0 };
	struct flooded f = { .other = &flooded };
	struct life other = { .then = looks_at_other, .arg = &f };
	struct gate gate = { 0 };
	sley_pid pid[2] = { live_as(&flooded,
				    SLEY_PROCESS_OPTIONS(.budget = 10)),
			    live(&other) };

	CHECK_EVENTUALLY(flooded.steps == 1 && other.steps == 1);
	CHECK_EQ(sley_schedule(gate_task, &gate), 0);
	CHECK_EVENTUALLY(gate.held == 1);
	for (int i = 0; i < 10000; i++)
		CHECK_EQ(sley_send(pid[0], 1, NULL, 0), 0);
	CHECK_EQ(sley_send(pid[1], 1, NULL, 0), 0);
	gate_open(&gate);
	CHECK_EVENTUALLY(flooded.messages == 10000 && other.messages == 1);
	CHECK_LT(f.seen, 2000);
	stop(rt);
}

struct talker {
	atomic_int nr;
	atomic_bool enough;
};

/* There is always something for it. */
static int talks_to_itself(void *arg)
{
	struct talker *t = arg;
	struct sley_msg *msg;

	do
		CHECK_EQ(sley_send(sley_self(), 1, NULL, 0), 0);
	while (sley_receive(&msg) == 0 && !t->enough &&
	       atomic_fetch_add(&t->nr, 1) < 10000000);
	return 0;
}

static int has_had_enough(void *arg)
{
	struct talker *t = arg;

	t->enough = true;
	return 0;
}

TEST(an_actor_that_always_has_messages_lets_others_run)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct talker t = { 0 };
	sley_pid pid[2];

	pid[0] = actor(talks_to_itself, &t);
	CHECK_EVENTUALLY(t.nr > 1000);
	pid[1] = actor(has_had_enough, &t);
	CHECK_EVENTUALLY(is_gone(pid[0]) && is_gone(pid[1]));
	CHECK(t.nr < 10000000);
	stop(rt);
}

/* ---- priorities --------------------------------------------------------------------------------------- */

struct line_up {
	char order[8];
	atomic_int nr;
};

struct named {
	struct line_up *line;
	char name;
};

static enum sley_step lines_up(struct life *life, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	struct named *n = life->arg;

	(void)msg;
	(void)out;
	if (nr)
		n->line->order[n->line->nr] = n->name;
	if (nr)
		n->line->nr++;
	return SLEY_WAIT;
}

TEST(processes_run_in_the_order_of_their_priorities)
{
	static const int priority[] = { 5, 0, -5, 31, -32 };
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct line_up line = { .nr = 0 };
	struct named named[5];
	struct life life[5];
	struct gate gate = { 0 };
	sley_pid pid[5];

	if (test_is_chaotic())
		test_skip("the order is a matter of chance");
	for (int i = 0; i < 5; i++) {
		named[i] = (struct named){ &line, (char)('a' + i) };
		life[i] = (struct life){ .then = lines_up, .arg = &named[i] };
		pid[i] = live_as(&life[i],
				 SLEY_PROCESS_OPTIONS(.priority = priority[i]));
		CHECK_EVENTUALLY(life[i].steps == 1);
	}
	CHECK_EQ(sley_schedule(gate_task, &gate), 0);
	CHECK_EVENTUALLY(gate.held == 1);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_send(pid[i], 1, NULL, 0), 0);
	gate_open(&gate);
	CHECK_EVENTUALLY(line.nr == 5);
	CHECK_STR(line.order, "ecbad");
	stop(rt);
}

/* ---- several runtimes -------------------------------------------------------------------------------------- */

TEST_WORKERS(processes_of_two_runtimes_talk)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start(), *other;
	atomic_bool done = false;
	struct echo a = { .done = &done }, b = { .done = &done };
	sley_pid pid;

	CHECK_EQ(sley_create(&other, &config), 0);
	CHECK_EQ(sley_actor_spawn(&a.peer, echoes, &b,
				  SLEY_PROCESS_OPTIONS(.runtime = other)),
		 0);
	pid = actor(echoes, &a);
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_SOON(a.rounds >= test_scale(2000));
	atomic_store(&done, true);
	(void)sley_send(pid, 1, NULL, 0);
	(void)sley_send(a.peer, 1, NULL, 0);
	CHECK_EQ(sley_destroy(other), 0);
	CHECK_EQ(sley_send(a.peer, 1, NULL, 0), -ESRCH);
	stop(rt);
}

TEST_WORKERS(actors_may_move_where_fibers_do)
{
	struct sley_config config = *test_config();
	struct sley *rt;
	atomic_bool done = false;
	struct echo e[16];

	config.migratable = true;
	rt = start_with(&config);
	for (int i = 0; i < 16; i += 2) {
		e[i] = (struct echo){ .done = &done };
		e[i + 1] = (struct echo){ .done = &done };
		e[i].peer = actor(echoes, &e[i + 1]);
		CHECK_EQ(sley_send(actor(echoes, &e[i]), 1, NULL, 0), 0);
	}
	for (int i = 0; i < 16; i++)
		CHECK_SOON(e[i].rounds > 1000);
	atomic_store(&done, true);
	stop(rt);
}
