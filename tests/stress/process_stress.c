/* SPDX-License-Identifier: MIT */
/*
 * process_stress.c - a town of processes that spawn, send to, link with, watch,
 * cancel and kill each other, and end as they like, while plain threads do the
 * same from outside.
 *
 * Whatever happens: who was begun is closed, once; what was sent is freed, once;
 * and in the end nobody is there.
 */
#include "stress/stress.h"

#define NR_PLACES 24
#define NR_THREADS 2
#define NR_ACTS 3000 /* of all, in one round */

static struct town {
	struct sley *rt;
	atomic_ullong place[NR_PLACES];
	atomic_int acts;
	atomic_int inits, closes;  /* of step processes       */
	atomic_int begun, ended;   /* of actors               */
	atomic_int made, freed;    /* of owned bytes          */
	struct sley_event quarter; /* where steps may wait    */
} town;

static void act(void);
static sley_pid spawn_somebody(void);

static sley_pid somebody(void)
{
	return atomic_load(&town.place[test_random(NR_PLACES)]);
}

/* ---- messages ------------------------------------------------------------------------ */

static void free_thing(void *data)
{
	int *thing = data;

	CHECK_EQ(*thing, 42);
	*thing = 0;
	free(thing);
	atomic_fetch_add(&town.freed, 1);
}

static void send_thing(sley_pid to)
{
	int *thing = malloc(sizeof(*thing));

	*thing = 42;
	atomic_fetch_add(&town.made, 1);
	(void)sley_send_owned(to, 1, thing, sizeof(*thing), free_thing);
}

static void send_something(sley_pid to)
{
	static const char text[100] = "something";
	struct sley_blob *blob;

	switch (test_random(5)) {
	case 0:
		send_thing(to);
		break;
	case 1:
		(void)sley_send(to, 2, text, test_random(sizeof(text)));
		break;
	case 2:
		blob = sley_blob_create(100);
		(void)sley_send_blob(to, 3, blob);
		sley_blob_put(blob);
		break;
	case 3:
		(void)!sley_send_until(to, 4, text, 10, soon());
		break;
	default:
		(void)sley_send(to, test_random(6), NULL, 0);
	}
}

static void look_at(struct sley_msg *msg)
{
	if (msg->kind == SLEY_MESSAGE && msg->tag == 1 && msg->size == 4)
		CHECK_EQ(*(const int *)msg->data, 42);
	if (msg->kind != SLEY_MESSAGE || !one_in(4))
		return;
	sley_msg_keep(msg);
	if (one_in(2))
		sley_msg_free(msg);
	else
		(void)sley_msg_forward(somebody(), msg);
}

/* ---- step processes ---------------------------------------------------------------------- */

static int step_init(void *self, const char *method, const void *input,
		     size_t size)
{
	(void)method;
	(void)input;
	(void)size;
	*(uint64_t *)self = 1;
	atomic_fetch_add(&town.inits, 1);
	return 0;
}

static void step_close(void *self, int reason)
{
	CHECK_LE(reason, 0);
	CHECK_EQ(--*(uint64_t *)self, 0);
	atomic_fetch_add(&town.closes, 1);
}

static const struct sley_behaviour small, large;

static enum sley_step step(void *self, struct sley_msg *const *msg, size_t nr,
			   struct sley_out *out)
{
	bool upgrades = one_in(40);
	size_t taken = upgrades ? test_random(nr + 1) : nr;
	struct sley_scope scope;

	CHECK_EQ((*(uint64_t *)self)++, 1);
	/* Two steps may wait for room in each other's mailbox, and a kill ends no step. */
	sley_scope_open_until(&scope, sley_after(20 * SLEY_MSEC));
	for (size_t i = 0; i < taken; i++)
		look_at(msg[i]);
	act();
	if (one_in(16))
		dawdle();
	(void)!sley_scope_close(&scope);
	CHECK_EQ(--*(uint64_t *)self, 1);
	if (one_in(30))
		return sley_out_done(out, one_in(2) ? 0 : -EIO);
	if (upgrades)
		return sley_out_upgrade(out, one_in(2) ? &small : &large, NULL,
					0, taken);
	return one_in(8) ? SLEY_CONTINUE : SLEY_WAIT;
}

static const struct sley_behaviour small = {
	.name = "small",
	.size = 8,
	.init = step_init,
	.step = step,
	.close = step_close,
};

static const struct sley_behaviour large = {
	.name = "large",
	.size = 500,
	.init = step_init,
	.step = step,
	.close = step_close,
};

/* ---- actors -------------------------------------------------------------------------------- */

static bool wants_even(const struct sley_msg *msg, void *arg)
{
	(void)arg;
	return msg->tag % 2 == 0;
}

static int receive_somehow(struct sley_msg **msg)
{
	switch (test_random(4)) {
	case 0:
		return sley_receive_until(msg, soon());
	case 1:
		return sley_receive_tag_until(msg, test_random(6), soon());
	case 2:
		return sley_receive_where_until(msg, wants_even, NULL, soon());
	default:
		return sley_receive(msg);
	}
}

static int act_as_actor(void)
{
	struct sley_msg *msg;

	for (;;) {
		int err = receive_somehow(&msg);

		if (err == -ECANCELED)
			return err;
		if (!err)
			look_at(msg);
		act();
		dawdle();
		if (one_in(30))
			return one_in(2) ? 0 : -EIO;
	}
}

static int actor(void *arg)
{
	int reason;

	(void)arg;
	atomic_fetch_add(&town.begun, 1);
	reason = act_as_actor();
	atomic_fetch_add(&town.ended, 1);
	if (one_in(4))
		sley_actor_exit(reason);
	return reason;
}

/* ---- what anybody does ------------------------------------------------------------------------ */

static sley_pid spawn_somebody(void)
{
	struct sley_process_options options = sley_process_options_default();
	uint64_t monitor;
	sley_pid pid = SLEY_NO_PID;

	options.runtime = town.rt;
	options.priority = one_in(4) ? (int)test_random(7) - 3 : 0;
	options.budget = one_in(4) ? 1 + (uint32_t)test_random(4) : 0;
	options.traps = one_in(4);
	options.mailbox = one_in(4) ? 1 + (uint32_t)test_random(8) : 0;
	options.overflow = (uint32_t)test_random(3);
	options.link = sley_self() && one_in(8);
	options.monitor = sley_self() && one_in(8) ? &monitor : NULL;
	if (one_in(2))
		CHECK_EQ(sley_process_spawn(&pid, one_in(2) ? &small : &large,
					    NULL, 0, &options),
			 0);
	else
		CHECK_EQ(sley_actor_spawn(&pid, actor, NULL, &options), 0);
	return pid;
}

static void relate(sley_pid to)
{
	uint64_t number;

	if (!sley_self() || to == sley_self())
		return;
	if (one_in(2))
		(void)!sley_link(to);
	else
		sley_unlink(to);
	if (one_in(2) && sley_monitor(to, &number) == 0 && one_in(2))
		sley_unmonitor(number);
}

static void act(void)
{
	struct sley_process_info info;

	if (atomic_load(&town.acts) <= 0 ||
	    atomic_fetch_sub(&town.acts, 1) <= 0)
		return;
	switch (test_random(20)) {
	case 0 ... 4:
		atomic_store(&town.place[test_random(NR_PLACES)],
			     spawn_somebody());
		break;
	case 5:
		(void)sley_process_kill(somebody());
		break;
	case 6:
		(void)sley_process_cancel(somebody(), -EPIPE);
		break;
	case 7:
		relate(somebody());
		break;
	case 8:
		(void)!sley_process_inspect(somebody(), &info);
		break;
	case 9:
		if (sley_self())
			(void)sley_process_trap(one_in(2));
		break;
	default:
		send_something(somebody());
	}
}

static void *act_from_outside(void *arg)
{
	(void)arg;
	while (atomic_load(&town.acts) > 0)
		act();
	return NULL;
}

/* ---- the town ----------------------------------------------------------------------------------- */

static void kill_all(void)
{
	while (sley_process_count()) {
		sley_pid pid = SLEY_NO_PID;

		while ((pid = sley_process_next(pid)))
			(void)sley_process_kill(pid);
		CHECK_EQ(sley_sleep(SLEY_MSEC / 5), 0);
	}
}

static void play(void)
{
	pthread_t thread[NR_THREADS];

	memset(&town, 0, sizeof(town));
	town.rt = sley_current();
	town.acts = NR_ACTS;
	for (int i = 0; i < NR_PLACES; i++)
		town.place[i] = spawn_somebody();
	for (int i = 0; i < NR_THREADS; i++)
		thread[i] = test_thread(act_from_outside, NULL);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	kill_all();
	CHECK_EVENTUALLY(town.inits == town.closes);
	CHECK_EVENTUALLY(town.begun == town.ended);
	CHECK_EVENTUALLY(town.made == town.freed);
	CHECK_EQ(sley_process_count(), 0);
	test_count(NR_ACTS);
}

STRESS(a_town_of_processes, play);
