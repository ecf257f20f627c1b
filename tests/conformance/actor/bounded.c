/* SPDX-License-Identifier: MIT */
/*
 * bounded.c - mailboxes with a limit: what happens to a message when it is full,
 * and to those that wait to send one.
 */
#include "conformance/bound.h"

#include <stdlib.h>

enum { STOP = 1000000 };

/*
 * A reader takes messages when the test says so: as many as it has allowed.  An
 * actor, or a step process that blocks in its steps.
 */
struct reader {
	struct sley_sem allowed;
	sley_pid pid;
	atomic_int nr; /* messages it has got */
	uint64_t tag[4096];
	struct sley_event ready, ended;
};

static void note(struct reader *r, const struct sley_msg *msg)
{
	int nr = atomic_load(&r->nr);

	CHECK_EQ(msg->kind, SLEY_MESSAGE);
	CHECK_LT(nr, (int)ARRAY_SIZE(r->tag));
	r->tag[nr] = msg->tag;
	atomic_store(&r->nr, nr + 1);
}

static int read_as_allowed(void *arg)
{
	struct reader *r = arg;
	struct sley_msg *msg;
	uint64_t tag = 0;

	sley_event_set(&r->ready);
	while (tag != STOP && !sley_sem_acquire(&r->allowed, 1) &&
	       !sley_receive(&msg)) {
		tag = msg->tag;
		if (tag != STOP)
			note(r, msg);
	}
	sley_event_set(&r->ended);
	return 0;
}

static int reader_init(void *self, const char *method, const void *input,
		       size_t size)
{
	(void)method;
	(void)size;
	*(struct reader **)self = *(struct reader *const *)input;
	return 0;
}

static enum sley_step reader_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	struct reader *r = *(struct reader **)self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == STOP)
			return sley_out_done(out, 0);
		note(r, msg[i]);
	}
	/* Blocks the process until it may take another one. */
	sley_event_set(&r->ready);
	CHECK_EQ(sley_sem_acquire(&r->allowed, 1), 0);
	return SLEY_WAIT;
}

static void reader_close(void *self, int reason)
{
	(void)reason;
	sley_event_set(&(*(struct reader **)self)->ended);
}

static const struct sley_behaviour reader_behaviour = {
	.size = sizeof(struct reader *),
	.init = reader_init,
	.step = reader_step,
	.close = reader_close,
};

/* Takes nothing yet. */
static void start_reader(struct reader *r, bool actor, uint32_t limit,
			 enum sley_overflow overflow)
{
	struct sley_process_options options = sley_process_options_default();

	memset(r, 0, sizeof(*r));
	options.mailbox = limit;
	options.overflow = overflow;
	options.budget = actor ? 0 : 1;
	if (actor)
		CHECK_EQ(sley_actor_spawn(&r->pid, read_as_allowed, r,
					  &options),
			 0);
	else
		CHECK_EQ(sley_process_spawn(&r->pid, &reader_behaviour, &r,
					    sizeof(r), &options),
			 0);
	CHECK_EQ(sley_event_wait(&r->ready), 0);
}

/* Takes all there is, and ends. */
static void end_reader(struct reader *r)
{
	sley_sem_release(&r->allowed, 1000000);
	while (sley_send(r->pid, STOP, NULL, 0) == -EAGAIN)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	CHECK_EQ(sley_event_wait_until(&r->ended, in_ms(20000)), 0);
}

static void take_some(struct reader *r, int nr)
{
	int before = atomic_load(&r->nr);

	sley_sem_release(&r->allowed, (uint32_t)nr);
	CHECK_SOON(atomic_load(&r->nr) == before + nr);
}

static void check_order(const struct reader *r, int first, int nr)
{
	CHECK_EQ(r->nr, nr);
	for (int i = 0; i < nr; i++)
		CHECK_EQ(r->tag[i], (uint64_t)(first + i));
}

/* ---- refuse -------------------------------------------------------------------- */

static void check_refusal(bool actor)
{
	static struct reader r;
	struct sley *rt = start();

	start_reader(&r, actor, 3, SLEY_REFUSE);
	for (uint64_t i = 0; i < 3; i++)
		CHECK_EQ(sley_send(r.pid, i, NULL, 0), 0);
	CHECK_EQ(sley_send(r.pid, 77, NULL, 0), -EAGAIN);
	CHECK_EQ(sley_send_until(r.pid, 77, NULL, 0, in_ms(10000)), -EAGAIN);
	CHECK_EQ(sley_send_owned(r.pid, 77, malloc(100), 100, NULL), -EAGAIN);
	take_some(&r, 1);
	CHECK_EQ(sley_send(r.pid, 3, NULL, 0), 0);
	CHECK_EQ(sley_send(r.pid, 77, NULL, 0), -EAGAIN);
	end_reader(&r);
	check_order(&r, 0, 4);
	stop(rt);
}

TEST_WORKERS(a_full_mailbox_of_an_actor_refuses)
{
	check_refusal(true);
}

TEST_WORKERS(a_full_mailbox_of_a_step_process_refuses)
{
	check_refusal(false);
}

/* ---- drop the oldest -------------------------------------------------------------- */

static void check_dropping(bool actor)
{
	static struct reader r;
	struct sley *rt = start();

	start_reader(&r, actor, 3, SLEY_DROP_OLDEST);
	for (uint64_t i = 0; i < 10; i++)
		CHECK_EQ(sley_send(r.pid, i, NULL, 0), 0);
	sley_sem_release(&r.allowed, 3);
	CHECK_SOON(atomic_load(&r.nr) == 3);
	end_reader(&r);
	check_order(&r, 7, 3);
	stop(rt);
}

TEST_WORKERS(a_full_mailbox_of_an_actor_drops_the_oldest)
{
	check_dropping(true);
}

TEST_WORKERS(a_full_mailbox_of_a_step_process_drops_the_oldest)
{
	check_dropping(false);
}

/* ---- block -------------------------------------------------------------------------- */

struct sender {
	struct sley_task task;
	sley_pid pid; /* if it is a process */
	struct reader *reader;
	uint64_t tag;
	int nr;  /* messages to send */
	int err; /* of the last one  */
	atomic_bool begun, over;
};

static void send_in_task(void *arg)
{
	struct sender *s = arg;

	atomic_store(&s->begun, true);
	for (int i = 0; i < s->nr && !s->err; i++)
		s->err = sley_send(s->reader->pid, s->tag + (uint64_t)i, NULL,
				   0);
	atomic_store(&s->over, true);
}

static int send_in_actor(void *arg)
{
	send_in_task(arg);
	return 0;
}

static bool is_blocked(sley_pid pid)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	return info.state == SLEY_PROCESS_BLOCKED;
}

/* A process, since one can see that it waits. */
static void start_sender(struct sender *s, struct reader *r, uint64_t tag)
{
	*s = (struct sender){ .reader = r, .tag = tag, .nr = 1 };
	CHECK_EQ(sley_actor_spawn(&s->pid, send_in_actor, s, NULL), 0);
	CHECK_SOON(atomic_load(&s->begun) && is_blocked(s->pid));
}

static void check_blocking(bool actor)
{
	static struct reader r;
	struct sender s[5];
	struct sley *rt = start();

	start_reader(&r, actor, 2, SLEY_BLOCK);
	CHECK_EQ(sley_send(r.pid, 0, NULL, 0), 0);
	CHECK_EQ(sley_send(r.pid, 1, NULL, 0), 0);
	for (int i = 0; i < 5; i++) {
		start_sender(&s[i], &r, (uint64_t)i + 2);
		CHECK(!atomic_load(&s[i].over));
	}
	/* One at a time, in the order they came. */
	for (int i = 0; i < 5; i++) {
		take_some(&r, 1);
		CHECK_SOON(atomic_load(&s[i].over));
		CHECK_EQ(s[i].err, 0);
		if (i < 4)
			CHECK(!atomic_load(&s[i + 1].over));
	}
	end_reader(&r);
	check_order(&r, 0, 7);
	stop(rt);
}

TEST_WORKERS(senders_wait_for_an_actor_in_order)
{
	check_blocking(true);
}

TEST_WORKERS(senders_wait_for_a_step_process_in_order)
{
	check_blocking(false);
}

static void send_many(void *arg)
{
	send_in_task(arg);
	CHECK_EQ(((struct sender *)arg)->err, 0);
}

TEST_WORKERS(what_one_sender_sends_stays_in_order)
{
	static struct reader r;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sender s[4];
	uint64_t next[4] = { 0 };
	struct sley *rt = start();
	int nr = test_scale(800);

	start_reader(&r, true, 3, SLEY_BLOCK);
	sley_sem_release(&r.allowed, 1000000);
	for (int i = 0; i < 4; i++) {
		s[i] = (struct sender){ .reader = &r,
					.tag = (uint64_t)i * 10000,
					.nr = nr };
		sley_spawn(&group, &s[i].task, send_many, &s[i]);
	}
	sley_join(&group);
	end_reader(&r);
	CHECK_EQ(r.nr, 4 * nr);
	for (int i = 0; i < 4 * nr; i++) {
		uint64_t from = r.tag[i] / 10000;

		CHECK_EQ(r.tag[i], from * 10000 + next[from]);
		next[from]++;
	}
	stop(rt);
}

/* ---- giving up ------------------------------------------------------------------------ */

TEST_WORKERS(a_sender_that_is_cancelled_sends_nothing)
{
	static struct reader r;
	struct sender s[3];
	struct sley *rt = start();

	start_reader(&r, true, 1, SLEY_BLOCK);
	CHECK_EQ(sley_send(r.pid, 0, NULL, 0), 0);
	start_sender(&s[0], &r, 1);
	start_sender(&s[1], &r, 77);
	start_sender(&s[2], &r, 2);
	CHECK_EQ(sley_process_cancel(s[1].pid, 0), 0);
	CHECK_SOON(atomic_load(&s[1].over));
	CHECK_EQ(s[1].err, -ECANCELED);
	end_reader(&r);
	CHECK_SOON(atomic_load(&s[0].over) && atomic_load(&s[2].over));
	CHECK_EQ(s[0].err, 0);
	CHECK_EQ(s[2].err, 0);
	check_order(&r, 0, 3);
	stop(rt);
}

static void send_in_time(void *arg)
{
	struct sender *s = arg;

	s->err = sley_send_until(s->reader->pid, s->tag, NULL, 0, in_ms(20));
	atomic_store(&s->over, true);
}

TEST_WORKERS(a_sender_that_is_late_sends_nothing)
{
	static struct reader r;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sender s = { .reader = &r, .tag = 77 };
	struct sley *rt = start();
	uint64_t begin_ns;

	start_reader(&r, true, 1, SLEY_BLOCK);
	CHECK_EQ(sley_send_until(r.pid, 0, NULL, 0, 0), 0);
	CHECK_EQ(sley_send_until(r.pid, 77, NULL, 0, 0), -ETIMEDOUT);
	CHECK_EQ(sley_send_until(r.pid, 77, NULL, 0, 1), -ETIMEDOUT);
	begin_ns = sley_now();
	sley_spawn(&group, &s.task, send_in_time, &s);
	sley_join(&group);
	CHECK_EQ(s.err, -ETIMEDOUT);
	CHECK_GE(ms_since(begin_ns), 20);
	end_reader(&r);
	check_order(&r, 0, 1);
	stop(rt);
}

/* ---- others than tasks ------------------------------------------------------------------- */

static void *send_from_thread(void *arg)
{
	struct sender *s = arg;

	/* It does not wait unless it says so. */
	CHECK_EQ(sley_send(s->reader->pid, 77, NULL, 0), -EAGAIN);
	CHECK_EQ(sley_send_until(s->reader->pid, 77, NULL, 0, in_ms(2)),
		 -ETIMEDOUT);
	atomic_store(&s->begun, true);
	s->err = sley_send_until(s->reader->pid, s->tag, NULL, 0, UINT64_MAX);
	atomic_store(&s->over, true);
	return NULL;
}

TEST_WORKERS(a_plain_thread_waits_if_it_says_how_long)
{
	static struct reader r;
	struct sender s = { .reader = &r, .tag = 1 };
	struct sley *rt = start();
	pthread_t thread;

	start_reader(&r, true, 1, SLEY_BLOCK);
	CHECK_EQ(sley_send_until(r.pid, 0, NULL, 0, 1), 0);
	thread = test_thread(send_from_thread, &s);
	CHECK_SOON(atomic_load(&s.begun));
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK(!atomic_load(&s.over));
	take_some(&r, 1);
	CHECK_SOON(atomic_load(&s.over));
	pthread_join(thread, NULL);
	CHECK_EQ(s.err, 0);
	end_reader(&r);
	check_order(&r, 0, 2);
	stop(rt);
}

static int send_to_itself(void *arg)
{
	struct reader *r = arg;
	struct sley_msg *msg;

	CHECK_EQ(sley_send(sley_self(), 0, NULL, 0), 0);
	CHECK_EQ(sley_send(sley_self(), 1, NULL, 0), 0);
	/* Nobody would make room. */
	CHECK_EQ(sley_send(sley_self(), 2, NULL, 0), -EAGAIN);
	CHECK_EQ(sley_send_until(sley_self(), 2, NULL, 0, in_ms(10000)),
		 -EAGAIN);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		note(r, msg);
	}
	CHECK_EQ(sley_receive_until(&msg, 0), -ETIMEDOUT);
	sley_event_set(&r->ended);
	return 0;
}

TEST_WORKERS(a_process_does_not_wait_for_its_own_mailbox)
{
	static struct reader r;
	struct sley_process_options options = sley_process_options_default();
	struct sley *rt = start();

	memset(&r, 0, sizeof(r));
	options.mailbox = 2;
	options.overflow = SLEY_BLOCK;
	CHECK_EQ(sley_actor_spawn(&r.pid, send_to_itself, &r, &options), 0);
	CHECK_EQ(sley_event_wait_until(&r.ended, in_ms(20000)), 0);
	check_order(&r, 0, 2);
	stop(rt);
}

TEST_WORKERS(what_a_full_mailbox_does_is_one_of_three)
{
	struct sley_process_options options = sley_process_options_default();
	struct sley *rt = start();

	options.overflow = SLEY_DROP_OLDEST + 1;
	for (options.mailbox = 0; options.mailbox < 2; options.mailbox++)
		CHECK_EQ(sley_actor_spawn(NULL, read_as_allowed, NULL,
					  &options),
			 -EINVAL);
	stop(rt);
}
