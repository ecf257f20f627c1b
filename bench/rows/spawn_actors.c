/* SPDX-License-Identifier: MIT */
/*
 * spawn_actors.c - row `spawn-actors`: a process is created, gets one message,
 * and ends.
 *
 * The last process of a batch sets an event.  `actor_ns` is the same with actors.
 */
#include "actors.h"

struct batch {
	struct sley_event last; /* automatic */
	uint64_t ran;
	uint64_t sum;
};

static void take(struct batch *b, uint64_t value)
{
	__atomic_fetch_add(&b->sum, value, __ATOMIC_RELAXED);
	if (__atomic_add_fetch(&b->ran, 1, __ATOMIC_ACQ_REL) == SPAWN_BATCH)
		sley_event_set(&b->last);
}

struct child {
	struct batch *batch;
};

static enum sley_step child_step(void *self, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	struct child *c = self;

	if (nr == 0)
		return SLEY_WAIT;
	take(c->batch, actors_word(msg[0]));
	return sley_out_done(out, 0);
}

static const struct sley_behaviour child = {
	.name = "child",
	.size = sizeof(struct child),
	.init = actors_init,
	.step = child_step,
};

static int child_actor(void *arg)
{
	struct sley_msg *msg;

	if (sley_receive(&msg) == 0)
		take(arg, actors_word(msg));
	return 0;
}

static sley_pid spawn_child(const struct measure *m, struct batch *batch,
			    bool actor)
{
	struct child c = { .batch = batch };

	return actor ? actors_spawn_fiber(m, child_actor, batch)
		     : actors_spawn(m, &child, &c);
}

static void spawn_all(const struct measure *m, uint64_t batches, bool actor)
{
	struct batch b = { .ran = 0 };

	sley_event_init(&b.last, true, false);
	while (batches-- > 0) {
		b.ran = b.sum = 0;
		for (uint64_t i = 1; i <= SPAWN_BATCH; i++)
			actors_send(spawn_child(m, &b, actor), 0, i);
		(void)!sley_event_wait(&b.last);
		MEASURE_CHECK(m, b.sum == SPAWN_BATCH * (SPAWN_BATCH + 1) / 2);
	}
}

static void steps(const struct measure *m, uint64_t batches)
{
	spawn_all(m, batches, false);
}

static void actors(const struct measure *m, uint64_t batches)
{
	spawn_all(m, batches, true);
}

void row_spawn_actors(const struct measure *m)
{
	actors_run(m, steps, "ns", SPAWN_ACTORS_BATCHES, SPAWN_BATCH);
	actors_run(m, actors, "actor_ns", SPAWN_ACTORS_BATCHES, SPAWN_BATCH);
}
