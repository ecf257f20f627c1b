/* SPDX-License-Identifier: MIT */
/*
 * sync_select.c - src/sync/select.c with plain threads: two selecters that meet
 * in two channels, a selecter against a send, a close and a deadline.
 *
 * The channels have capacity 0, so whatever goes in must come out.  Each select
 * may begin with either of its cases.  Where nobody needs the channels after
 * the select, the selecter frees them at once, so that a peer which still
 * touches one is seen.  All complete.
 *
 * Not seen: fibers.  What they do differently is how they park, and that is in
 * core_task_state.c and core_waitq.c.
 */
#include "explorer.h"
#include "threads_only.h"

#include "sync/chan.h"
#include "sync/select.h"

#define LATER 2000000000u

static struct sley_chan *chan[2];
static int sent[2], got[2]; /* per channel */
static int nr_closed;

static void setup(void)
{
	nr_closed = 0;
	for (int i = 0; i < 2; i++) {
		sent[i] = got[i] = 0;
		chan[i] = model_alloc(sizeof(*chan[i]));
		chan[i]->value_size = sizeof(int);
		model_lock_word(&chan[i]->recv.word);
		model_name(&chan[i]->recv.word, "chan%d", i);
	}
}

static void free_channels(void)
{
	for (int i = 0; i < 2; i++) {
		MODEL_CHECK(!chan[i]->recv.first && !chan[i]->send.first);
		model_free(chan[i]);
	}
}

/* What came out is what went in. */
static void settled(void)
{
	for (int i = 0; i < 2; i++)
		MODEL_CHECK(sent[i] == got[i]);
	free_channels();
}

static int select_of(struct sley_case *cases, uint64_t deadline_ns)
{
	int went = select_from(cases, 2, (unsigned int)model_choose(2),
			       deadline_ns);

	if (went >= 0 && cases[went].status == 0) {
		int which = cases[went].chan == chan[1];

		if (cases[went].kind == SLEY_SEND)
			sent[which]++;
		else
			got[which]++;
		if (cases[went].kind == SLEY_RECV)
			MODEL_CHECK(*(int *)cases[went].value == 7 + which);
	}
	return went;
}

/* ---- two selecters, two channels, both ways ---------------------------------- */

/* Thread 0 sends into channel 0, thread 1 into channel 1. */
static void duel(int id, uint64_t deadline_ns)
{
	int out = 7 + id, in = 0;
	struct sley_case cases[] = {
		SLEY_CASE_SEND(chan[id], &out),
		SLEY_CASE_RECV(chan[!id], &in),
	};
	int went = select_of(cases, deadline_ns);

	MODEL_CHECK(went >= 0 || deadline_ns == LATER);
}

static void dueller(int id)
{
	duel(id, UINT64_MAX);
}

static void dueller_timed(int id)
{
	duel(id, LATER);
}

static void one_went(void)
{
	MODEL_CHECK(sent[0] + sent[1] == 1);
	settled();
}

MODEL(two_selecters_meet_once, .setup = setup, .threads = { dueller, dueller },
      .finish = one_went);

MODEL(two_selecters_meet_or_time_out, .setup = setup,
      .threads = { dueller_timed, dueller_timed }, .finish = settled);

/* Takes from channel 0 what thread 1 could have taken. */
static void rival(int id)
{
	int in = 0;
	int err = sley_chan_recv_until(chan[0], &in, LATER);

	(void)id;
	MODEL_CHECK(err == 0 ? in == 7 : err == -ETIMEDOUT && in == 0);
	got[0] += err == 0;
}

MODEL(two_selecters_and_a_receiver_or_time_out, .setup = setup,
      .threads = { dueller_timed, dueller_timed, rival }, .finish = settled);

/* ---- a selecter and those who use one channel -------------------------------- */

/* Until channel 0 has given its value and channel 1 is closed. */
static void receiver(int id)
{
	int in = 0;
	struct sley_case cases[] = {
		SLEY_CASE_RECV(chan[0], &in),
		SLEY_CASE_RECV(chan[1], &in),
	};

	(void)id;
	for (int i = 0; i < 2; i++) {
		int went = select_of(cases, UINT64_MAX);

		MODEL_CHECK(went == 0 || went == 1);
		MODEL_CHECK(cases[went].status == (went ? -EPIPE : 0));
		nr_closed += went;
		cases[went].chan = NULL;
	}
}

static void sender(int id)
{
	int out = 7;

	(void)id;
	MODEL_CHECK(sley_chan_send(chan[0], &out) == 0);
	sent[0]++;
}

static void closer(int id)
{
	(void)id;
	sley_chan_close(chan[1]);
}

static void one_of_each(void)
{
	MODEL_CHECK(got[0] == 1 && nr_closed == 1);
	settled();
}

MODEL(a_selecter_a_send_and_a_close, .setup = setup,
      .threads = { receiver, sender, closer }, .finish = one_of_each);

/* ---- who returns may free ---------------------------------------------------- */

static void receiver_frees(int id)
{
	int in = 0;
	struct sley_case cases[] = {
		SLEY_CASE_RECV(chan[0], &in),
		SLEY_CASE_RECV(chan[1], &in),
	};

	(void)id;
	MODEL_CHECK(select_of(cases, UINT64_MAX) == 0);
	free_channels();
}

static void both_counted(void)
{
	MODEL_CHECK(sent[0] == 1 && got[0] == 1);
}

MODEL(a_selecter_may_free_what_it_waited_for, .setup = setup,
      .threads = { receiver_frees, sender }, .finish = both_counted);

/* ---- a deadline --------------------------------------------------------------- */

static void receiver_timed(int id)
{
	int in = 0;
	struct sley_case cases[] = {
		SLEY_CASE_RECV(chan[0], &in),
		SLEY_CASE_RECV(chan[1], &in),
	};
	int went = select_of(cases, LATER);

	(void)id;
	MODEL_CHECK(went >= 0 || went == -ETIMEDOUT);
	MODEL_CHECK(went >= 0 || in == 0);
}

static void sender_timed(int id)
{
	int which = id - 1, out = 7 + which;
	int err = sley_chan_send_until(chan[which], &out, LATER);

	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	sent[which] += err == 0;
}

MODEL(a_selecter_and_two_senders_and_their_deadlines, .setup = setup,
      .threads = { receiver_timed, sender_timed, sender_timed },
      .finish = settled);
