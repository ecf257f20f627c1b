/* SPDX-License-Identifier: MIT */
/*
 * actor_stress.c - commands, calls and mailboxes with a limit, against deadlines,
 * cancels and ends.
 *
 * Everything is counted on both sides: a reply that was accepted is one that
 * somebody got, a message that was made is freed once, a command that was yielded
 * completes once.  What is lost leaves somebody waiting for ever.
 */
#include "stress/stress.h"

enum { ASK = 1, END };
enum { NR_CLIENTS = 6, NR_EACH = 20 };

static void await_end(sley_pid pid)
{
	while (sley_process_alive(pid))
		test_nap_ms(0);
}

/* Ends it, if it has not ended by itself. */
static void end_process(sley_pid pid)
{
	int err;

	do {
		err = sley_send(pid, END, NULL, 0);
	} while (err == -EAGAIN);
	CHECK(err == 0 || err == -ESRCH);
	await_end(pid);
}

struct client {
	struct sley_task task;
	sley_pid to;
	bool restless; /* it may be cancelled */
};

/* @fn in some tasks, of which one is cancelled, and in a thread. */
static void crowd(sley_pid pid, sley_fn *fn, void *(*in_thread)(void *))
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct client client[NR_CLIENTS], outside = { .to = pid };
	pthread_t thread = test_thread(in_thread, &outside);

	for (int i = 0; i < NR_CLIENTS; i++) {
		client[i] = (struct client){ .to = pid, .restless = i == 0 };
		sley_spawn(&group, &client[i].task, fn, &client[i]);
	}
	test_nap_ms(0);
	sley_cancel(&client[0].task);
	sley_join(&group);
	pthread_join(thread, NULL);
}

/* ---- calls ---------------------------------------------------------------------- */

static atomic_uint_least64_t accepted, got;

static void answer(const struct sley_msg *msg)
{
	int err;

	dawdle();
	err = sley_reply(msg, msg->tag, &msg->tag, sizeof(msg->tag));
	CHECK(err == 0 || err == -ESRCH);
	atomic_fetch_add(&accepted, err == 0);
}

static void answer_kept(struct sley_msg **kept)
{
	if (*kept)
		answer(*kept);
	sley_msg_free(*kept);
	*kept = NULL;
}

/* Some are answered at once, some later; now and then it ends. */
static int server(void *arg)
{
	struct sley_msg *msg, *kept = NULL;
	int reason = 0, err;

	(void)arg;
	while (!reason) {
		err = sley_receive_until(&msg, soon());
		if (err == -ETIMEDOUT) {
			answer_kept(&kept);
			continue;
		}
		if (err || msg->tag == END)
			break;
		if (one_in(4)) {
			answer_kept(&kept);
			sley_msg_keep(msg);
			kept = msg;
		} else {
			answer(msg);
		}
		reason = one_in(200) ? -EIO : 0;
	}
	sley_msg_free(kept);
	return reason;
}

static void call_some(void *arg)
{
	struct client *c = arg;

	for (int i = 0; i < NR_EACH; i++) {
		struct sley_msg *reply = NULL;
		uint64_t deadline_ns = one_in(2) ? UINT64_MAX : soon();
		int err = sley_call_until(c->to, ASK, NULL, 0, &reply,
					  deadline_ns);

		CHECK(err == 0 || err == -ESRCH || err == -EIO ||
		      (err == -ETIMEDOUT && deadline_ns != UINT64_MAX) ||
		      (err == -ECANCELED && c->restless));
		CHECK((err == 0) == (reply != NULL));
		if (reply)
			CHECK_EQ(*(const uint64_t *)reply->data, ASK);
		sley_msg_free(reply);
		atomic_fetch_add(&got, err == 0);
	}
	test_count(NR_EACH);
}

static void *call_in_thread(void *arg)
{
	call_some(arg);
	return NULL;
}

static void play_calls(void)
{
	sley_pid pid;

	atomic_store(&accepted, 0);
	atomic_store(&got, 0);
	CHECK_EQ(sley_actor_spawn(&pid, server, NULL, NULL), 0);
	crowd(pid, call_some, call_in_thread);
	end_process(pid);
	CHECK_EQ(accepted, got);
}

STRESS(calls, play_calls);

/* ---- mailboxes with a limit -------------------------------------------------------- */

static atomic_uint_least64_t made, freed, sent, received;

static void count_freed(void *data)
{
	CHECK(data == &freed);
	atomic_fetch_add(&freed, 1);
}

static bool wants_some(const struct sley_msg *msg, void *arg)
{
	(void)arg;
	return msg->tag == END || one_in(3);
}

/* Takes in order, or what it likes; may end in the middle. */
static int picky(void *arg)
{
	struct sley_msg *msg;
	bool patient = arg;

	for (;;) {
		int err = one_in(2) ? sley_receive_where_until(&msg, wants_some,
							       NULL, soon())
				    : sley_receive_until(&msg, soon());

		if (err == -ETIMEDOUT)
			continue;
		if (err || msg->tag == END)
			break;
		atomic_fetch_add(&received, 1);
		dawdle();
		if (!patient && one_in(100))
			break;
	}
	/* What it had put aside. */
	while (patient && sley_receive_until(&msg, 0) == 0)
		atomic_fetch_add(&received, msg->tag != END);
	return 0;
}

static void send_some(void *arg)
{
	struct client *c = arg;

	for (int i = 0; i < NR_EACH; i++) {
		int err;

		atomic_fetch_add(&made, 1);
		err = sley_send_owned(c->to, ASK, &freed, 1, count_freed);
		CHECK(err == 0 || err == -ESRCH || err == -EAGAIN ||
		      (err == -ECANCELED && c->restless));
		atomic_fetch_add(&sent, err == 0);
		err = sley_send_until(c->to, ASK, NULL, 0, soon());
		CHECK(err == 0 || err == -ESRCH || err == -EAGAIN ||
		      err == -ETIMEDOUT || (err == -ECANCELED && c->restless));
		atomic_fetch_add(&sent, err == 0);
	}
	test_count(2 * NR_EACH);
}

static void *send_in_thread(void *arg)
{
	send_some(arg);
	return NULL;
}

static void play_bounded(bool patient, enum sley_overflow overflow)
{
	struct sley_process_options options = sley_process_options_default();
	struct sley_process_info info = { .dropped = 0 };
	sley_pid pid;

	atomic_store(&made, 0);
	atomic_store(&freed, 0);
	atomic_store(&sent, 0);
	atomic_store(&received, 0);
	options.mailbox = 1 + (uint32_t)test_random(5);
	options.overflow = overflow;
	CHECK_EQ(sley_actor_spawn(&pid, picky, patient ? &freed : NULL,
				  &options),
		 0);
	crowd(pid, send_some, send_in_thread);
	if (patient)
		CHECK_EQ(sley_process_inspect(pid, &info), 0);
	end_process(pid);
	/* What was in its mailbox goes a moment later. */
	CHECK_EVENTUALLY(atomic_load(&made) == atomic_load(&freed));
	if (patient && overflow == SLEY_BLOCK)
		CHECK_EQ(sent, received);
	if (patient && overflow == SLEY_DROP_OLDEST)
		CHECK_GE(received + info.dropped + 1, sent);
}

static void play_mailboxes(void)
{
	for (int i = 0; i < 6; i++)
		play_bounded(i & 1, (enum sley_overflow)(i / 2));
}

STRESS(mailboxes_with_a_limit, play_mailboxes);

/* ---- commands ------------------------------------------------------------------------ */

enum { NOW = 100, SOMETIME, NEVER, FAILS };

static struct sley_chan *todo;

static int complete_now(const struct sley_command *command, void *arg)
{
	(void)arg;
	return sley_command_complete(command->pid, command->tag, NULL, 0);
}

static int complete_sometime(const struct sley_command *command, void *arg)
{
	if (sley_chan_try_send(todo, command) == 0)
		return 0;
	return complete_now(command, arg);
}

static int leave_it(const struct sley_command *command, void *arg)
{
	(void)command;
	(void)arg;
	return 0;
}

static int fail(const struct sley_command *command, void *arg)
{
	(void)arg;
	/* Both at once, now and then. */
	if (one_in(4))
		(void)sley_command_complete(command->pid, command->tag, NULL,
					    0);
	return -EIO;
}

static void complete_some(void *arg)
{
	struct sley_command command;

	(void)arg;
	while (sley_chan_recv(todo, &command) == 0) {
		dawdle();
		for (int twice = one_in(8); twice >= 0; twice--) {
			int err = sley_command_complete(command.pid,
							command.tag, NULL, 0);

			CHECK(err == 0 || err == -ESRCH);
		}
	}
}

static void *complete_in_thread(void *arg)
{
	complete_some(arg);
	return NULL;
}

struct worker {
	uint64_t tag; /* the next */
	uint32_t under_way;
	uint32_t steps;
};

static enum sley_step work(void *self, struct sley_msg *const *msg, size_t nr,
			   struct sley_out *out)
{
	struct worker *w = self;

	for (size_t i = 0; i < nr; i++) {
		CHECK_EQ(msg[i]->kind, SLEY_DONE);
		CHECK_LT(msg[i]->tag, w->tag);
		CHECK_GT(w->under_way--, 0);
	}
	test_count(nr);
	if (++w->steps > 200)
		return w->under_way ? SLEY_WAIT : sley_out_done(out, 0);
	if (one_in(400))
		return sley_out_done(out, -EIO);
	for (uint64_t i = test_random(8); i > 0; i--, w->under_way++)
		CHECK_EQ(sley_out_yield(out, NOW + (uint32_t)test_random(4),
					w->tag++, w),
			 0);
	dawdle();
	return w->under_way && one_in(2) ? SLEY_WAIT : SLEY_CONTINUE;
}

static const struct sley_behaviour worker_behaviour = {
	.size = sizeof(struct worker),
	.step = work,
};

static void handle_all(void)
{
	static const struct sley_handler_options soon_late = {
		.size = sizeof(soon_late), .timeout_ns = 50 * SLEY_USEC
	};

	CHECK_EQ(sley_command_handle(NOW, complete_now, NULL, &soon_late), 0);
	CHECK_EQ(sley_command_handle(SOMETIME, complete_sometime, NULL,
				     &soon_late),
		 0);
	CHECK_EQ(sley_command_handle(NEVER, leave_it, NULL, &soon_late), 0);
	CHECK_EQ(sley_command_handle(FAILS, fail, NULL, NULL), 0);
}

static void unhandle_all(void)
{
	for (uint32_t command = NOW; command <= FAILS; command++)
		CHECK_EQ(sley_command_unhandle(command), 0);
}

static void play_commands(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[2];
	pthread_t thread;
	sley_pid pid[8];

	CHECK_EQ(sley_chan_create(&todo, sizeof(struct sley_command), 8), 0);
	handle_all();
	for (int i = 0; i < 2; i++)
		sley_spawn(&group, &tasks[i], complete_some, NULL);
	thread = test_thread(complete_in_thread, NULL);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(sley_process_spawn(&pid[i], &worker_behaviour, NULL, 0,
					    NULL),
			 0);
	for (int i = 0; i < 8; i++)
		await_end(pid[i]);
	sley_chan_close(todo);
	sley_join(&group);
	pthread_join(thread, NULL);
	unhandle_all();
	sley_chan_destroy(todo);
}

STRESS(commands, play_commands);
