/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - row `buffer`: 40 producers, 40 consumers, and a buffer of 50 items
 * in between.
 *
 * A producer makes an item when the buffer asks.  The buffer asks as long as the
 * next items of all producers would fit.  A ready consumer tells the buffer.
 */
#include "actors.h"

#include "../problems/minstd.h"

enum { PRODUCE, ITEM, READY, STOP, SUM };

/* ---- the ends ----------------------------------------------------------------------- */

struct producer {
	sley_pid buffer;
	uint64_t seed;
	uint64_t left;
};

static enum sley_step producer_step(void *self, struct sley_msg *const *msg,
				    size_t nr, struct sley_out *out)
{
	struct producer *p = self;

	(void)msg;
	for (size_t i = 0; i < nr; i++) {
		p->seed = minstd(p->seed);
		actors_send(p->buffer, ITEM, p->seed);
		p->left--;
	}
	return p->left > 0 ? SLEY_WAIT : sley_out_done(out, 0);
}

static const struct sley_behaviour producer = {
	.name = "producer",
	.size = sizeof(struct producer),
	.init = actors_init,
	.step = producer_step,
};

struct consumer {
	sley_pid buffer;
	uint64_t sum;
};

static enum sley_step consumer_step(void *self, struct sley_msg *const *msg,
				    size_t nr, struct sley_out *out)
{
	struct consumer *c = self;

	if (nr > 0 && msg[0]->tag == STOP) {
		actors_send(c->buffer, SUM, c->sum);
		return sley_out_done(out, 0);
	}
	if (nr > 0)
		c->sum += actors_word(msg[0]);
	sley_send(c->buffer, READY, NULL, 0);
	return SLEY_WAIT;
}

static const struct sley_behaviour consumer = {
	.name = "consumer",
	.size = sizeof(struct consumer),
	.init = actors_init,
	.step = consumer_step,
};

/* ---- the buffer ----------------------------------------------------------------------- */

struct buffer {
	struct answer *answer;
	uint64_t left; /* items that are still to be consumed */
	uint64_t sum;
	unsigned int first, nr; /* of the items */
	unsigned int full;      /* producers that are to wait */
	unsigned int ready;     /* consumers that wait */
	unsigned int gone;
	uint64_t items[BUFFER_SLOTS];
	sley_pid producers[BUFFER_ENDS];
	sley_pid consumers[BUFFER_ENDS];
};

static void hand_out(struct buffer *b, sley_pid to, uint64_t item)
{
	actors_send(to, ITEM, item);
	if (--b->left > 0)
		return;
	while (b->ready > 0)
		sley_send(b->consumers[--b->ready], STOP, NULL, 0);
}

static void put(struct buffer *b, sley_pid from, uint64_t item)
{
	if (b->ready > 0) {
		hand_out(b, b->consumers[--b->ready], item);
	} else {
		b->items[(b->first + b->nr++) % BUFFER_SLOTS] = item;
		if (b->nr >= BUFFER_SLOTS - BUFFER_ENDS) {
			b->producers[b->full++] = from;
			return;
		}
	}
	sley_send(from, PRODUCE, NULL, 0);
}

static void take(struct buffer *b, sley_pid from)
{
	uint64_t item;

	if (b->left == 0) {
		sley_send(from, STOP, NULL, 0);
		return;
	}
	if (b->nr == 0) {
		b->consumers[b->ready++] = from;
		return;
	}
	item = b->items[b->first];
	b->first = (b->first + 1) % BUFFER_SLOTS;
	b->nr--;
	hand_out(b, from, item);
	if (b->full > 0)
		sley_send(b->producers[--b->full], PRODUCE, NULL, 0);
}

static enum sley_step buffer_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	struct buffer *b = self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == ITEM) {
			put(b, msg[i]->from, actors_word(msg[i]));
		} else if (msg[i]->tag == READY) {
			take(b, msg[i]->from);
		} else {
			b->sum += actors_word(msg[i]);
			b->gone++;
		}
	}
	if (b->gone < BUFFER_ENDS)
		return SLEY_WAIT;
	answer_give(b->answer, b->sum);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour buffer = {
	.name = "buffer",
	.size = sizeof(struct buffer),
	.init = actors_init,
	.step = buffer_step,
};

static void store(const struct measure *m, uint64_t each)
{
	struct answer answer = ANSWER_INIT;
	struct buffer b = { .answer = &answer, .left = each * BUFFER_ENDS };
	struct producer p = {
		.buffer = actors_spawn(m, &buffer, &b),
		.left = each,
	};
	struct consumer c = { .buffer = p.buffer };
	uint64_t right = 0;

	for (uint64_t i = 1; i <= BUFFER_ENDS; i++) {
		p.seed = i;
		sley_send(actors_spawn(m, &producer, &p), PRODUCE, NULL, 0);
		actors_spawn(m, &consumer, &c);
		for (uint64_t j = 0, item = i; j < each; j++) {
			item = minstd(item);
			right += item;
		}
	}
	MEASURE_CHECK(m, answer_take(&answer) == right);
}

void row_buffer(const struct measure *m)
{
	actors_run(m, store, "ns", BUFFER_ITEMS, BUFFER_ENDS);
}
