/* SPDX-License-Identifier: MIT */
/*
 * fanin_actors.c - row `fanin-actors`: 8 processes send to a consumer.
 *
 * `bounded_ns` is the same with a mailbox of as many messages as the channel of
 * row `fanin`: the sender waits while the mailbox is full.
 */
#include "actors.h"

/*
 * Messages in a row: all messages in the mailbox.  With a smaller budget the mailbox
 * grows while the consumer waits for its turn, and no longer fits into the cache.
 */
#define BUDGET 16384

struct consumer {
	struct answer *answer;
	uint64_t sum;
	uint64_t left;
};

static enum sley_step consumer_step(void *self, struct sley_msg *const *msg,
				    size_t nr, struct sley_out *out)
{
	struct consumer *c = self;

	for (size_t i = 0; i < nr; i++)
		c->sum += actors_word(msg[i]);
	c->left -= nr;
	if (c->left > 0)
		return SLEY_WAIT;
	answer_give(c->answer, c->sum);
	return sley_out_done(out, 0);
}

struct producer {
	sley_pid to;
	uint64_t next;
	uint64_t end;
};

static enum sley_step producer_step(void *self, struct sley_msg *const *msg,
				    size_t nr, struct sley_out *out)
{
	struct producer *p = self;

	(void)msg, (void)nr;
	for (int i = 0; i < ACTORS_CHUNK && p->next < p->end; i++)
		actors_send(p->to, 0, p->next++);
	return p->next < p->end ? SLEY_CONTINUE : sley_out_done(out, 0);
}

static const struct sley_behaviour consumer = {
	.name = "consumer",
	.size = sizeof(struct consumer),
	.init = actors_init,
	.step = consumer_step,
};

static const struct sley_behaviour producer = {
	.name = "producer",
	.size = sizeof(struct producer),
	.init = actors_init,
	.step = producer_step,
};

static void fan_in(const struct measure *m, uint64_t each, uint32_t mailbox)
{
	struct answer answer = ANSWER_INIT;
	struct consumer c = {
		.answer = &answer,
		.left = FANIN_PRODUCERS * each,
	};
	struct producer p = { .end = each };

	MEASURE_CHECK(m, sley_process_spawn(
				 &p.to, &consumer, &c, sizeof(c),
				 SLEY_PROCESS_OPTIONS(.mailbox = mailbox,
						      .overflow = SLEY_BLOCK,
						      .budget = BUDGET)) == 0);
	for (int i = 0; i < FANIN_PRODUCERS; i++)
		actors_spawn(m, &producer, &p);
	MEASURE_CHECK(m, answer_take(&answer) ==
				 FANIN_PRODUCERS * (each * (each - 1) / 2));
}

static void unbounded(const struct measure *m, uint64_t each)
{
	fan_in(m, each, 0);
}

static void bounded(const struct measure *m, uint64_t each)
{
	fan_in(m, each, FANIN_CAPACITY);
}

void row_fanin_actors(const struct measure *m)
{
	actors_run(m, unbounded, "ns", FANIN_EACH, FANIN_PRODUCERS);
	actors_run(m, bounded, "bounded_ns", FANIN_EACH, FANIN_PRODUCERS);
}
