/* SPDX-License-Identifier: MIT */
/*
 * bounded_owner.c - mailboxes with a limit, seen from their owner: it ends while
 * others wait to send, it picks what it wants, and what it did not get is counted.
 */
#include "conformance/bound.h"

enum { LIMIT = 4, WANTED = 100, GO, STOP };

struct owner {
	struct sley_event go, ended;
	sley_pid pid;
	atomic_int nr;
	uint64_t tag[64]; /* of what it got */
};

static void note(struct owner *o, const struct sley_msg *msg)
{
	o->tag[atomic_load(&o->nr)] = msg->tag;
	atomic_fetch_add(&o->nr, 1);
}

static struct owner *start_owner(sley_actor_fn *fn, enum sley_overflow overflow)
{
	static struct owner o;
	struct sley_process_options options = sley_process_options_default();

	o = (struct owner){ .nr = 0 };
	options.mailbox = LIMIT;
	options.overflow = overflow;
	CHECK_EQ(sley_actor_spawn(&o.pid, fn, &o, &options), 0);
	return &o;
}

static struct sley_process_info info_of(sley_pid pid)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	return info;
}

static void send_some(const struct owner *o, uint64_t first, int nr)
{
	for (int i = 0; i < nr; i++)
		CHECK_EQ(sley_send(o->pid, first + (uint64_t)i, NULL, 0), 0);
}

/* ---- the end -------------------------------------------------------------------- */

/* Takes nothing. */
static int wait_and_end(void *arg)
{
	struct owner *o = arg;
	int err = sley_event_wait(&o->go);

	return err;
}

struct sender {
	struct sley_task task;
	sley_pid to;
	int err;
	atomic_bool begun;
};

static void freed(void *data)
{
	atomic_fetch_add((atomic_int *)data, 1);
}

static atomic_int nr_freed;

static void send_owned(void *arg)
{
	struct sender *s = arg;

	atomic_store(&s->begun, true);
	s->err = sley_send_owned(s->to, 1, &nr_freed, 1, freed);
}

static void *send_from_thread(void *arg)
{
	struct sender *s = arg;

	atomic_store(&s->begun, true);
	s->err = sley_send_until(s->to, 1, NULL, 0, in_ms(20000));
	return NULL;
}

static void check_end(bool killed)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sender s[8], t;
	struct sley *rt = start();
	struct owner *o = start_owner(wait_and_end, SLEY_BLOCK);
	pthread_t thread;

	atomic_store(&nr_freed, 0);
	send_some(o, 0, LIMIT);
	for (int i = 0; i < 8; i++) {
		s[i] = (struct sender){ .to = o->pid };
		sley_spawn(&group, &s[i].task, send_owned, &s[i]);
		CHECK_SOON(atomic_load(&s[i].begun));
	}
	t = (struct sender){ .to = o->pid };
	thread = test_thread(send_from_thread, &t);
	CHECK_SOON(atomic_load(&t.begun));
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	if (killed)
		CHECK_EQ(sley_process_kill(o->pid), 0);
	else
		sley_event_set(&o->go);
	sley_join(&group);
	CHECK_SOON(!sley_process_alive(o->pid));
	pthread_join(thread, NULL);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(s[i].err, -ESRCH);
	CHECK_EQ(t.err, -ESRCH);
	CHECK_EQ(nr_freed, 8);
	CHECK_EQ(sley_send(o->pid, 1, NULL, 0), -ESRCH);
	stop(rt);
}

TEST_WORKERS(those_who_wait_for_a_process_that_ends_are_told)
{
	check_end(false);
}

TEST_WORKERS(those_who_wait_for_a_process_that_is_killed_are_told)
{
	check_end(true);
}

static int take_two_and_end(void *arg)
{
	struct owner *o = arg;
	struct sley_msg *msg;

	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sley_receive(&msg), 0);
		note(o, msg);
	}
	sley_event_set(&o->ended);
	return 0;
}

/* What is in the mailbox goes with it. */
TEST_WORKERS(a_process_ends_with_messages_in_its_mailbox)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(100); i++) {
		struct owner *o = start_owner(take_two_and_end, SLEY_REFUSE);
		int err = 0;

		for (uint64_t tag = 0; !err || err == -EAGAIN; tag++) {
			err = sley_send(o->pid, tag, &tag, sizeof(tag));
			if (err == -EAGAIN)
				CHECK_EQ(sley_sleep(1000), 0);
		}
		CHECK_EQ(err, -ESRCH);
		CHECK_EQ(sley_event_wait(&o->ended), 0);
	}
	stop(rt);
}

/* ---- it picks what it wants -------------------------------------------------------- */

static int pick(void *arg)
{
	struct owner *o = arg;
	struct sley_msg *msg;

	if (sley_receive_tag_until(&msg, WANTED, UINT64_MAX))
		return 0;
	note(o, msg);
	CHECK_EQ(sley_event_wait(&o->go), 0);
	while (sley_receive(&msg) == 0 && msg->tag != STOP)
		note(o, msg);
	sley_event_set(&o->ended);
	return 0;
}

static void check_got(struct owner *o, const uint64_t *tag, int nr)
{
	sley_event_set(&o->go);
	while (sley_send(o->pid, STOP, NULL, 0) == -EAGAIN)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	CHECK_EQ(sley_event_wait_until(&o->ended, in_ms(20000)), 0);
	CHECK_EQ(o->nr, nr);
	for (int i = 0; i < nr; i++)
		CHECK_EQ(o->tag[i], tag[i]);
}

TEST_WORKERS(what_was_put_aside_still_counts)
{
	static const uint64_t tags[] = { WANTED, 0, 1, 2, 3 };
	struct sley *rt = start();
	struct owner *o = start_owner(pick, SLEY_REFUSE);

	send_some(o, 0, LIMIT - 1);
	CHECK_SOON(info_of(o->pid).mailbox == LIMIT - 1);
	CHECK_EQ(sley_send(o->pid, WANTED, NULL, 0), 0);
	/* That one has been taken; three are put aside. */
	CHECK_SOON(atomic_load(&o->nr) == 1);
	CHECK_EQ(sley_send(o->pid, 3, NULL, 0), 0);
	CHECK_EQ(sley_send(o->pid, 77, NULL, 0), -EAGAIN);
	check_got(o, tags, 5);
	stop(rt);
}

TEST_WORKERS(of_what_was_put_aside_the_oldest_is_dropped)
{
	static const uint64_t tags[] = { WANTED, 7, 8, 9 };
	struct sley *rt = start();
	struct owner *o = start_owner(pick, SLEY_DROP_OLDEST);

	/* Looked through, and put aside, as far as it has come by then. */
	send_some(o, 0, 2);
	CHECK_SOON(info_of(o->pid).state == SLEY_PROCESS_IDLE);
	send_some(o, 2, 2);
	CHECK_SOON(info_of(o->pid).state == SLEY_PROCESS_IDLE);
	send_some(o, 4, 6);
	CHECK_SOON(info_of(o->pid).state == SLEY_PROCESS_IDLE);
	CHECK_EQ(info_of(o->pid).dropped, 6);
	/* It gets what it waits for, although it is full of other things. */
	CHECK_EQ(sley_send(o->pid, WANTED, NULL, 0), 0);
	CHECK_SOON(atomic_load(&o->nr) == 1);
	CHECK_EQ(info_of(o->pid).dropped, 7);
	check_got(o, tags, 4);
	stop(rt);
}

static void send_wanted(void *arg)
{
	struct sender *s = arg;

	atomic_store(&s->begun, true);
	s->err = sley_send_until(s->to, WANTED, NULL, 0, in_ms(50));
}

/* A mailbox that is full of what nobody wants is full. */
TEST_WORKERS(who_waits_for_a_picky_process_may_be_late)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct owner *o = start_owner(pick, SLEY_BLOCK);
	struct sender s = { .to = o->pid };

	send_some(o, 0, LIMIT);
	sley_spawn(&group, &s.task, send_wanted, &s);
	sley_join(&group);
	CHECK_EQ(s.err, -ETIMEDOUT);
	CHECK_EQ(sley_process_kill(o->pid), 0);
	CHECK_SOON(!sley_process_alive(o->pid));
	stop(rt);
}

/* ---- what is counted ------------------------------------------------------------------ */

TEST_WORKERS(what_was_refused_or_dropped_is_counted)
{
	struct sley *rt = start();

	for (int drop = 0; drop < 2; drop++) {
		struct owner *o = start_owner(
			wait_and_end, drop ? SLEY_DROP_OLDEST : SLEY_REFUSE);

		send_some(o, 0, LIMIT);
		CHECK_SOON(info_of(o->pid).state == SLEY_PROCESS_BLOCKED);
		CHECK_EQ(info_of(o->pid).dropped, 0);
		for (int i = 0; i < 10; i++)
			CHECK_EQ(sley_send(o->pid, 77, NULL, 0),
				 drop ? 0 : -EAGAIN);
		CHECK_EQ(info_of(o->pid).dropped, 10);
		CHECK_GE(info_of(o->pid).mailbox, LIMIT);
		sley_event_set(&o->go);
		CHECK_SOON(!sley_process_alive(o->pid));
	}
	stop(rt);
}

/* ---- posts meanwhile ------------------------------------------------------------ */

static struct sley_event gate;
static atomic_int nr_late;

static int looks_away(void *arg)
{
	(void)arg;
	return sley_event_wait(&gate);
}

static void sends_in_vain(void *arg)
{
	sley_pid to = *(sley_pid *)arg;

	for (int i = 0; i < test_scale(300); i++) {
		int err = sley_send_until(to, 1, NULL, 0,
					  sley_now() + 20 * SLEY_USEC);

		CHECK_EQ(err, -ETIMEDOUT);
		atomic_fetch_add(&nr_late, 1);
	}
}

/*
 * Who is about to wait for room has the lock of the mailbox until it has left its
 * stack; posts to the same mailbox that are due meanwhile must not want it.
 */
TEST_WORKERS(posts_to_a_full_mailbox_let_those_who_wait_for_it_wait)
{
	enum { SENDERS = 8 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[SENDERS];
	struct sley *rt = start();
	sley_post post[8];
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, looks_away, NULL,
				  SLEY_PROCESS_OPTIONS(.mailbox = 1,
						       .overflow = SLEY_BLOCK)),
		 0);
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(sley_post_every(pid, 2, NULL, 0, 10 * SLEY_USEC,
					 &post[i]),
			 0);
	for (int i = 0; i < SENDERS; i++)
		sley_spawn(&group, &task[i], sends_in_vain, &pid);
	sley_join(&group);
	CHECK_EQ(nr_late, SENDERS * test_scale(300));
	for (int i = 0; i < 8; i++)
		CHECK_EQ(sley_post_cancel(post[i]), 0);
	sley_event_set(&gate);
	stop(rt);
}

static sley_pid full;
static atomic_int nr_dropped;
static _Thread_local bool posting;

static void send_when_dropped(void *data)
{
	int err = sley_send_until(full, 1, NULL, 0, in_ms(10));

	(void)data;
	/* A post that is due at once drops in the caller, which may wait. */
	CHECK_EQ(err, posting ? -ETIMEDOUT : -EAGAIN);
	atomic_fetch_add(&nr_dropped, 1);
}

/* The function that frees has no task that could wait for room. */
TEST_WORKERS(who_frees_what_a_post_drops_does_not_wait_to_send)
{
	struct sley *rt = start();
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&full, looks_away, NULL,
				  SLEY_PROCESS_OPTIONS(.mailbox = 1,
						       .overflow = SLEY_BLOCK)),
		 0);
	CHECK_EQ(sley_actor_spawn(
			 &pid, looks_away, NULL,
			 SLEY_PROCESS_OPTIONS(.mailbox = 1,
					      .overflow = SLEY_DROP_OLDEST)),
		 0);
	CHECK_EQ(sley_send(full, 1, NULL, 0), 0);
	for (int i = 1; i <= 20; i++) {
		uint64_t end_ns = in_ms(10000);

		CHECK_EQ(sley_send_owned(pid, 1, &full, 0, send_when_dropped),
			 0);
		posting = true;
		CHECK_EQ(sley_post_at(pid, 2, NULL, 0, in_ms(1), NULL), 0);
		posting = false;
		while (nr_dropped < i) {
			CHECK(sley_now() < end_ns);
			CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
		}
	}
	sley_event_set(&gate);
	stop(rt);
}
