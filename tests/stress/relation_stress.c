/* SPDX-License-Identifier: MIT */
/*
 * relation_stress.c - processes that link, monitor, undo both and fail, all at once.
 *
 * Mortals do so with each other, at random, and end: by themselves, by a link, or
 * killed.  Loud ones end for a reason, quiet ones for 0, and only loud ones link
 * each other.  Watchers, which trap, do so with the mortals, and keep books: each
 * monitor is told once or undone, each link with a loud one is told once or undone,
 * one with a quiet one never.  They end when all that is due has come: what does not
 * come hangs, what comes twice or too late is found in the books.
 */
#include "stress/stress.h"

#include <sley/error.h>

#define NR_MORTALS 48
#define NR_WATCHERS 4
#define NR_ROUNDS 60
#define NR_KILLS 6

static atomic_uint_least64_t pids[NR_MORTALS];
static struct sley_waitgroup watching;

static bool is_quiet(int i)
{
	return i % 4 == 0;
}

static int any(void)
{
	return (int)test_random(NR_MORTALS);
}

/* SLEY_NO_PID: not spawned yet, or itself. */
static sley_pid pid_at(int i)
{
	sley_pid pid = atomic_load(&pids[i]);

	return pid == sley_self() ? SLEY_NO_PID : pid;
}

/* ---- mortals ------------------------------------------------------------------------ */

struct mortal {
	int nr;
	int rounds;
	uint64_t number;
};

/* True: that was enough. */
static bool live(struct mortal *m)
{
	int i = any();
	sley_pid pid = pid_at(i);
	int err = 0;

	if (!is_quiet(m->nr) && !is_quiet(i) && pid)
		err = one_in(2) ? sley_link(pid) : 0;
	CHECK(!err || err == -ESRCH);
	if (one_in(3) && pid)
		sley_unlink(pid);
	if (one_in(2))
		CHECK_EQ(sley_monitor(pid, &m->number), 0);
	if (one_in(4))
		sley_unmonitor(m->number);
	return m->rounds-- == 0;
}

static int reason_of(const struct mortal *m)
{
	return is_quiet(m->nr) ? 0 : -1000 - m->nr;
}

static int mortal_actor(void *arg)
{
	struct mortal m = { (int)(intptr_t)arg, (int)test_random(30), 0 };
	struct sley_msg *msg;

	do {
		if (sley_receive_until(&msg, one_in(4) ? soon() : 0) ==
		    -ECANCELED)
			return 0;
	} while (!live(&m));
	return reason_of(&m);
}

static int mortal_init(void *self, const char *method, const void *input,
		       size_t size)
{
	struct mortal *m = self;

	(void)method;
	memcpy(&m->nr, input, size);
	m->rounds = (int)test_random(30);
	return 0;
}

static enum sley_step mortal_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	(void)msg;
	(void)nr;
	return live(self) ? sley_out_done(out, reason_of(self)) : SLEY_CONTINUE;
}

static const struct sley_behaviour mortal = {
	.name = "mortal",
	.size = sizeof(struct mortal),
	.init = mortal_init,
	.step = mortal_step,
};

static void spawn_mortal(int i)
{
	sley_pid pid;

	if (one_in(2))
		CHECK_EQ(sley_actor_spawn(&pid, mortal_actor,
					  (void *)(intptr_t)i, NULL),
			 0);
	else
		CHECK_EQ(sley_process_spawn(&pid, &mortal, &i, sizeof(i), NULL),
			 0);
	atomic_store(&pids[i], pid);
}

/* ---- watchers ------------------------------------------------------------------------ */

struct books {
	sley_pid pid[NR_MORTALS];   /* whom it knows by that number      */
	bool linked[NR_MORTALS];    /* and is to hear of, if it is loud  */
	uint64_t number[NR_ROUNDS]; /* of monitors, 0: told, or undone  */
	int target[NR_ROUNDS];
	int nr_due; /* messages that are to come */
};

static void note_down(struct books *b, const struct sley_msg *msg)
{
	int i = 0;

	while (i < NR_ROUNDS && b->number[i] != msg->tag)
		i++;
	CHECK_LT(i, NR_ROUNDS);
	CHECK_EQ(msg->from, b->pid[b->target[i]]);
	if (is_quiet(b->target[i]))
		CHECK(msg->error == 0 || msg->error == -ESRCH);
	else
		CHECK_LT(msg->error, 0);
	b->number[i] = 0;
	b->nr_due--;
}

static void note_exit(struct books *b, const struct sley_msg *msg)
{
	int i = 0;

	while (i < NR_MORTALS && b->pid[i] != msg->from)
		i++;
	CHECK_LT(i, NR_MORTALS);
	CHECK(b->linked[i] && !is_quiet(i));
	CHECK_LT(msg->error, 0);
	b->linked[i] = false;
	b->nr_due--;
}

static int receive(struct books *b, uint64_t deadline_ns)
{
	struct sley_msg *msg;
	int err = sley_receive_until(&msg, deadline_ns);

	if (!err && msg->kind == SLEY_DOWN)
		note_down(b, msg);
	else if (!err)
		note_exit(b, msg);
	return err;
}

static void link_or_unlink(struct books *b, int i)
{
	int err;

	if (one_in(3)) {
		sley_unlink(b->pid[i]);
		b->nr_due -= b->linked[i] && !is_quiet(i);
		b->linked[i] = false;
		return;
	}
	err = sley_link(b->pid[i]);
	CHECK(!err || err == -ESRCH);
	if (err || b->linked[i])
		return;
	b->linked[i] = true;
	b->nr_due += !is_quiet(i);
}

static void monitor_or_unmonitor(struct books *b, int round)
{
	int i = (int)test_random((unsigned int)round + 1);

	CHECK_EQ(sley_monitor(b->pid[b->target[round]], &b->number[round]), 0);
	b->nr_due++;
	if (!one_in(2) || !b->number[i])
		return;
	sley_unmonitor(b->number[i]);
	b->number[i] = 0;
	b->nr_due--;
}

static int watcher(void *arg)
{
	struct books b = { 0 };

	(void)arg;
	for (int round = 0; round < NR_ROUNDS; round++) {
		int i = any();

		b.target[round] = i;
		if (!b.pid[i])
			b.pid[i] = pid_at(i);
		if (!b.pid[i])
			continue;
		if (one_in(2))
			link_or_unlink(&b, i);
		if (one_in(2))
			monitor_or_unmonitor(&b, round);
		while (one_in(2) && receive(&b, one_in(4) ? soon() : 0) == 0)
			;
	}
	while (b.nr_due)
		CHECK_EQ(receive(&b, UINT64_MAX), 0);
	CHECK_EQ(receive(&b, 0), -ETIMEDOUT);
	test_count(NR_ROUNDS);
	sley_waitgroup_done(&watching);
	return 0;
}

/* ---- all at once ----------------------------------------------------------------------- */

static void play(void)
{
	for (int i = 0; i < NR_MORTALS; i++)
		atomic_store(&pids[i], SLEY_NO_PID);
	sley_waitgroup_add(&watching, NR_WATCHERS);
	for (int i = 0; i < NR_MORTALS; i++) {
		if (i % (NR_MORTALS / NR_WATCHERS) == 3)
			CHECK_EQ(sley_actor_spawn(
					 NULL, watcher, NULL,
					 SLEY_PROCESS_OPTIONS(.traps = true)),
				 0);
		spawn_mortal(i);
	}
	for (int i = 0; i < NR_KILLS; i++) {
		int victim = any();

		if (!is_quiet(victim))
			(void)sley_process_kill(atomic_load(&pids[victim]));
	}
	CHECK_EQ(sley_waitgroup_wait(&watching), 0);
}

STRESS(relations_in_a_storm_are_told_once, play);
