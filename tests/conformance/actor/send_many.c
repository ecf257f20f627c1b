/* SPDX-License-Identifier: MIT */
/*
 * send_many.c - several messages that are sent as one: W28.
 */
#include "conformance/actor/process.h"

#define NR 5 /* messages of a batch */

static void write_tags(struct sley_msg_spec *spec, uint64_t first, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		spec[i] = (struct sley_msg_spec){ .tag = first + i };
}

/* Messages without bytes, with tags from @first on. */
static int send_tags(sley_pid to, uint64_t first, size_t nr)
{
	struct sley_msg_spec spec[100];

	CHECK_LT(nr, ARRAY_SIZE(spec));
	write_tags(spec, first, nr);
	return sley_send_many(to, spec, nr);
}

/* ---- what arrives ----------------------------------------------------------------- */

static const size_t sizes[] = { 0, 1, 8, 16, 17, 100, 5000 };

static void check_bytes(const struct sley_msg *msg)
{
	const unsigned char *bytes = msg->data;

	CHECK_EQ(msg->size, sizes[msg->tag]);
	for (size_t i = 0; i < msg->size; i++)
		CHECK_EQ(bytes[i], (unsigned char)(msg->tag + i));
}

static int receive_sizes(void *arg)
{
	atomic_int *nr = arg;
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0) {
		CHECK_EQ(msg->tag, (uint64_t)*nr % ARRAY_SIZE(sizes));
		check_bytes(msg);
		atomic_fetch_add(nr, 1);
	}
	return 0;
}

static enum sley_step step_sizes(struct life *life, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	atomic_int *seen = life->arg;

	(void)out;
	for (size_t i = 0; i < nr; i++) {
		CHECK_EQ(msg[i]->tag, (uint64_t)*seen % ARRAY_SIZE(sizes));
		check_bytes(msg[i]);
		atomic_fetch_add(seen, 1);
	}
	return SLEY_WAIT;
}

static void send_sizes(sley_pid to)
{
	static unsigned char bytes[ARRAY_SIZE(sizes)][5000];
	struct sley_msg_spec spec[ARRAY_SIZE(sizes)];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t k = 0; k < sizes[i]; k++)
			bytes[i][k] = (unsigned char)(i + k);
		spec[i] = (struct sley_msg_spec){ i, sizes[i] ? bytes[i] : NULL,
						  sizes[i] };
	}
	CHECK_EQ(sley_send_many(to, spec, ARRAY_SIZE(sizes)), 0);
	memset(bytes, 0xee, sizeof(bytes)); /* they were copied */
}

TEST_WORKERS(w28_all_of_a_batch_arrive_in_order_whatever_their_size)
{
	for (int i = 0; i < 2; i++) {
		struct sley *rt = start();
		atomic_int seen = 0;
		struct life life = { .then = step_sizes, .arg = &seen };
		sley_pid pid = i ? actor(receive_sizes, &seen) : live(&life);

		for (int n = 1; n <= 20; n++) {
			send_sizes(pid);
			if (n % 2)
				CHECK_SOON(seen == n * (int)ARRAY_SIZE(sizes));
		}
		CHECK_SOON(seen == 20 * (int)ARRAY_SIZE(sizes));
		stop(rt);
	}
}

/* ---- together ---------------------------------------------------------------------- */

/* Each sender sends single messages, too: with tag NR. */
struct mix {
	sley_pid to;
	int rounds;
	atomic_int seen;
	uint64_t next;      /* in the batch that has begun; 0: none has */
	const void *sender; /* of that one                           */
};

static void check_mix(struct mix *mix, const struct sley_msg *msg)
{
	const void *sender = *(const void *const *)msg->data;

	if (mix->next)
		CHECK(sender == mix->sender && msg->tag == mix->next);
	else
		CHECK(msg->tag == 0 || msg->tag == NR);
	mix->sender = sender;
	mix->next = msg->tag < NR - 1 ? msg->tag + 1 : 0;
	atomic_fetch_add(&mix->seen, 1);
}

static enum sley_step step_mix(struct life *life, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	(void)out;
	for (size_t i = 0; i < nr; i++)
		check_mix(life->arg, msg[i]);
	return SLEY_WAIT;
}

static int receive_mix(void *arg)
{
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0)
		check_mix(arg, msg);
	return 0;
}

static void *send_mix(void *arg)
{
	struct mix *mix = arg;
	void *me = &me;
	struct sley_msg_spec spec[NR];

	for (size_t i = 0; i < NR; i++)
		spec[i] = (struct sley_msg_spec){ i, &me, sizeof(me) };
	for (int i = 0; i < mix->rounds; i++) {
		CHECK_EQ(sley_send_many(mix->to, spec, NR), 0);
		CHECK_EQ(sley_send(mix->to, NR, &me, sizeof(me)), 0);
	}
	return NULL;
}

static void send_mix_task(void *arg)
{
	(void)send_mix(arg);
}

static void check_together(bool is_actor, uint32_t limit)
{
	struct mix mix = { .rounds = test_scale(5000) };
	struct life life = { .then = step_mix, .arg = &mix };
	struct sley *rt = start();

	if (is_actor)
		CHECK_EQ(sley_actor_spawn(&mix.to, receive_mix, &mix,
					  SLEY_PROCESS_OPTIONS(.mailbox =
								       limit)),
			 0);
	else
		mix.to = live_as(&life, SLEY_PROCESS_OPTIONS(.mailbox = limit));
	run_beside(send_mix_task, send_mix, &mix);
	CHECK_SOON(mix.seen == 12 * mix.rounds * (NR + 1));
	CHECK_EQ(mix.next, 0);
	stop(rt);
}

TEST_WORKERS(w28_no_message_of_another_sender_is_in_between)
{
	check_together(true, 0);
	check_together(false, 0);
	check_together(true, 1000000);
	check_together(false, 1000000);
}

TEST_WORKERS(w28_a_batch_is_one_wake_up)
{
	struct sley *rt = start();

	for (int i = 0; i < 20; i++) {
		struct life life = { 0 };
		sley_pid pid = live(&life);
		int steps;

		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
		CHECK_SOON(life.messages == 1 && !life.inside);
		steps = life.steps;
		CHECK_EQ(send_tags(pid, 0, 10), 0);
		CHECK_SOON(life.messages == 11);
		CHECK_EQ(life.steps, steps + 1);
		CHECK_EQ(sley_process_kill(pid), 0);
		check_end(&life, SLEY_EKILLED);
	}
	stop(rt);
}

static int send_to_oneself(void *arg)
{
	struct sley_msg *msg;

	CHECK_EQ(sley_send(sley_self(), 9, NULL, 0), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	/* The one it is looking at is still there. */
	CHECK_EQ(send_tags(sley_self(), 10, NR), 0);
	CHECK_EQ(msg->tag, 9);
	for (uint64_t i = 0; i < NR; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->tag, 10 + i);
		CHECK_EQ(msg->from, sley_self());
	}
	sley_event_set(arg);
	return 0;
}

TEST_WORKERS(w28_a_process_can_send_itself_a_batch)
{
	struct sley *rt = start();
	struct sley_event over = SLEY_EVENT_INIT;

	(void)actor(send_to_oneself, &over);
	CHECK_EQ(sley_event_wait(&over), 0);
	stop(rt);
}

/* ---- all or none ------------------------------------------------------------------- */

/* Takes nothing until it may; then as many as it is said, and ends. */
struct hoard {
	sley_pid pid;
	struct sley_event ready, may, ended;
	int due, nr;
	uint64_t tag[100];
};

static int receive_late(void *arg)
{
	struct hoard *h = arg;
	struct sley_msg *msg;

	sley_event_set(&h->ready);
	CHECK_EQ(sley_event_wait(&h->may), 0);
	while (h->nr < h->due && sley_receive(&msg) == 0)
		h->tag[h->nr++] = msg->tag;
	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	sley_event_set(&h->ended);
	return 0;
}

static void hoard_begin(struct hoard *h, uint32_t limit, uint32_t overflow)
{
	*h = (struct hoard){ 0 };
	CHECK_EQ(sley_actor_spawn(&h->pid, receive_late, h,
				  SLEY_PROCESS_OPTIONS(.mailbox = limit,
						       .overflow = overflow)),
		 0);
	CHECK_EQ(sley_event_wait(&h->ready), 0);
}

/* It has got @nr, with tags from @first on, and @dropped were not taken. */
static void hoard_end(struct hoard *h, uint64_t first, int nr, uint64_t dropped)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(h->pid, &info), 0);
	CHECK_EQ(info.dropped, dropped);
	h->due = nr;
	sley_event_set(&h->may);
	CHECK_EQ(sley_event_wait(&h->ended), 0);
	CHECK_EQ(h->nr, nr);
	for (int i = 0; i < nr; i++)
		CHECK_EQ(h->tag[i], first + (uint64_t)i);
}

static void fill_in_steps(void *arg)
{
	struct hoard *h = arg;

	CHECK_EQ(send_tags(h->pid, 0, 2), 0);
	CHECK_EQ(send_tags(h->pid, 77, 3), -EAGAIN);
	CHECK_EQ(send_tags(h->pid, 2, 2), 0);
	CHECK_EQ(send_tags(h->pid, 77, 1), -EAGAIN);
	CHECK_EQ(send_tags(h->pid, 77, 5), -EMSGSIZE);
}

TEST_WORKERS(w28_all_fit_into_a_mailbox_with_a_limit_or_none_does)
{
	static const uint32_t overflow[] = { SLEY_REFUSE, SLEY_BLOCK };
	struct sley *rt = start();

	for (int i = 0; i < 4; i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task;
		struct hoard h;

		hoard_begin(&h, 4, overflow[i % 2]);
		/* A task could wait for room; but a batch does not. */
		if (i < 2) {
			sley_spawn(&group, &task, fill_in_steps, &h);
			sley_join(&group);
		} else {
			fill_in_steps(&h);
		}
		hoard_end(&h, 0, 4, 4);
	}
	stop(rt);
}

TEST_WORKERS(w28_a_mailbox_that_drops_its_oldest_makes_room_for_all)
{
	struct sley *rt = start();
	struct hoard h;

	hoard_begin(&h, 4, SLEY_DROP_OLDEST);
	CHECK_EQ(send_tags(h.pid, 0, 3), 0);
	CHECK_EQ(send_tags(h.pid, 3, 4), 0);
	CHECK_EQ(send_tags(h.pid, 77, 5), -EMSGSIZE);
	CHECK_EQ(send_tags(h.pid, 7, 2), 0);
	hoard_end(&h, 5, 4, 5);
	stop(rt);
}

TEST_WORKERS(w28_one_message_that_is_too_large_stops_all)
{
	struct sley *rt = start();
	struct sley_msg_spec spec[3];
	struct hoard h;

	hoard_begin(&h, 0, 0);
	write_tags(spec, 77, 3);
	spec[1].size = (size_t)UINT32_MAX + 1;
	CHECK_EQ(sley_send_many(h.pid, spec, 3), -EMSGSIZE);
	CHECK_EQ(sley_send_many(h.pid, spec, (size_t)INT32_MAX + 1), -EMSGSIZE);
	CHECK_EQ(sley_send_many(h.pid, NULL, 0), 0);
	CHECK_EQ(send_tags(h.pid, 0, 1), 0);
	hoard_end(&h, 0, 1, 0);
	stop(rt);
}

static int answer_in_bulk(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(send_tags(msg->from, 0, 2), -EINVAL);
	CHECK_EQ(sley_reply(msg, 1, NULL, 0), 0);
	CHECK_EQ(send_tags(msg->from, 0, 2), -ESRCH);
	return 0;
}

TEST_WORKERS(w28_a_batch_needs_a_process)
{
	struct sley *rt = start();
	struct life life = { 0 };
	sley_pid pid = live(&life);

	CHECK_EQ(send_tags(SLEY_NO_PID, 0, 2), -ESRCH);
	CHECK_EQ(sley_call(actor(answer_in_bulk, NULL), 1, NULL, 0, NULL), 0);
	CHECK_EQ(sley_process_kill(pid), 0);
	check_end(&life, SLEY_EKILLED);
	CHECK_SOON(send_tags(pid, 0, 2) == -ESRCH);
	stop(rt);
}

/* ---- at the end of the receiver ------------------------------------------------------ */

struct ending {
	_Atomic sley_pid pid;
	atomic_bool over;
	atomic_int sent;
};

/* Ends with a message that is the last one of a batch. */
static int receive_one_batch(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	for (uint64_t i = 0; i < NR; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->tag, i);
	}
	return 0;
}

static void *send_until_gone(void *arg)
{
	struct ending *e = arg;
	struct pace pace = { 0 };

	while (!e->over) {
		sley_pid pid = e->pid;
		int err = send_tags(pid, 0, NR);

		CHECK(err == 0 || err == -ESRCH || err == -EAGAIN);
		if (err || !pace_allows(&pace, pid))
			test_nap_ms(1);
	}
	return NULL;
}

TEST_WORKERS(w28_a_batch_to_a_process_that_ends_is_whole_or_refused)
{
	struct sley *rt = start();
	struct ending e = { 0 };
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		thread[i] = test_thread(send_until_gone, &e);
	for (int i = 0; i < test_scale(100); i++) {
		sley_pid pid;

		CHECK_EQ(sley_actor_spawn(
				 &pid, receive_one_batch, NULL,
				 SLEY_PROCESS_OPTIONS(.mailbox = i % 2 * 10)),
			 0);
		e.pid = pid;
		CHECK_SOON(!sley_process_alive(pid));
	}
	e.over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	stop(rt);
}
