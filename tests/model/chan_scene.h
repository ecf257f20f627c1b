/* SPDX-License-Identifier: MIT */
/*
 * chan_scene.h - a channel, values that point at plain memory, and the conditions
 * for these values: for the models of src/sync/chan.c.  Include this file in one
 * source of a model.
 */
#ifndef SLEY_TESTS_MODEL_CHAN_SCENE_H
#define SLEY_TESTS_MODEL_CHAN_SCENE_H

#include "model_mem.h"
#include "tasks_only.h"

#include "sync/chan.h"

#define VALUES 4 /* a sender's */

/* A value is a pointer to an item. */
struct item {
	int sender, nr;
};

static struct sley_chan *chan;
static struct item items[TASKS_MAX][VALUES];
static struct ledger {
	int tried[TASKS_MAX]; /* sends of each thread       */
	int sent, got;        /* in all                     */
	int closed;           /* how often -EPIPE came      */
	bool received[TASKS_MAX][VALUES];
	bool taken_back[TASKS_MAX][VALUES]; /* not sent               */
	int last_of[TASKS_MAX][TASKS_MAX];  /* by receiver and sender */
} ledger;

static void setup_with(size_t capacity, enum tasks_flags flags)
{
	tasks_setup(flags);
	memset(items, 0, sizeof(items));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	MODEL_CHECK(sley_chan_create(&chan, sizeof(struct item *), capacity) ==
		    0);
	if (chan->room)
		chan->first = chan->room - 1;
	model_lock_word(&chan->recv.word);
	model_name(&chan->recv.word, "chan");
}

__attribute__((unused)) static void setup_0(void)
{
	setup_with(0, 0);
}

__attribute__((unused)) static void setup_1(void)
{
	setup_with(1, 0);
}

__attribute__((unused)) static void setup_2(void)
{
	setup_with(2, 0);
}

__attribute__((unused)) static void setup_unbounded(void)
{
	setup_with(SLEY_UNBOUNDED, 0);
}

__attribute__((unused)) static void setup_0_timed(void)
{
	setup_with(0, TASKS_TIMED);
}

__attribute__((unused)) static void setup_1_timed(void)
{
	setup_with(1, TASKS_TIMED);
}

static bool is_refusal(int err)
{
	return err == -ETIMEDOUT || err == -ECANCELED || err == -EPIPE ||
	       err == -EAGAIN;
}

/* Sends the next value of thread @id; deadline 0: only tries. */
static int send_value(int id, uint64_t deadline_ns)
{
	struct item *item = &items[id][ledger.tried[id]];
	int err;

	item->sender = id;
	item->nr = ++ledger.tried[id];
	err = deadline_ns ? sley_chan_send_until(chan, &item, deadline_ns)
			  : sley_chan_try_send(chan, &item);
	MODEL_CHECK(err == 0 || is_refusal(err));
	ledger.sent += err == 0;
	ledger.closed += err == -EPIPE;
	ledger.taken_back[id][ledger.tried[id] - 1] = err != 0;
	return err;
}

static void note_received(int id, const struct item *item)
{
	int from = item->sender, nr = item->nr;

	MODEL_CHECK(from >= 0 && from < TASKS_MAX && nr >= 1 && nr <= VALUES);
	MODEL_CHECK(!ledger.received[from][nr - 1]);
	MODEL_CHECK(ledger.last_of[id][from] < nr);
	ledger.last_of[id][from] = nr;
	ledger.received[from][nr - 1] = true;
	ledger.got++;
}

static int recv_value(int id, uint64_t deadline_ns)
{
	struct item *item = NULL;
	int err = deadline_ns ? sley_chan_recv_until(chan, &item, deadline_ns)
			      : sley_chan_try_recv(chan, &item);

	MODEL_CHECK(err == 0 || is_refusal(err));
	ledger.closed += err == -EPIPE;
	if (err)
		MODEL_CHECK(!item);
	else
		note_received(id, item);
	return err;
}

/*
 * Each sent value was received or is in the buffer; an unsent value is in neither.
 */
static void conserved(void)
{
	struct item *item;

	MODEL_CHECK(!chan->recv.first && !chan->send.first);
	MODEL_CHECK(!chan->recv.word);
	tasks_check();
	while (sley_chan_try_recv(chan, &item) == 0)
		note_received(TASKS_MAX - 1, item);
	MODEL_CHECK(ledger.sent == ledger.got);
	for (int i = 0; i < TASKS_MAX; i++) {
		for (int n = 0; n < ledger.tried[i]; n++)
			MODEL_CHECK(ledger.received[i][n] !=
				    ledger.taken_back[i][n]);
	}
	sley_chan_destroy(chan);
}

__attribute__((unused)) static void nothing_left(void)
{
	MODEL_CHECK(sley_chan_length(chan) == 0);
	conserved();
}

/* The channel is gone, after one value. */
__attribute__((unused)) static void gone(void)
{
	MODEL_CHECK(!chan && ledger.sent == 1 && ledger.got == 1);
}

#endif
