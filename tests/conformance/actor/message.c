/* SPDX-License-Identifier: MIT */
/*
 * message.c - what is sent: to whom, in which order, how large, and that it is
 * freed once, whatever becomes of it: W27.
 */
#include <sched.h>
#include <stdlib.h>

#include "conformance/actor/process.h"

/* ---- W27: to whom ---------------------------------------------------------------------- */

TEST_WORKERS(w27_a_pid_that_is_nobody_is_an_error_for_every_call)
{
	static const sley_pid nobody[] = { SLEY_NO_PID, 1, 12345,
					   0x7fffffffffffffff, UINT64_MAX };
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(nobody); i++) {
		CHECK_EQ(sley_send(nobody[i], 1, "x", 1), -ESRCH);
		CHECK_EQ(sley_send_until(nobody[i], 1, "x", 1, 0), -ESRCH);
		CHECK_EQ(sley_process_kill(nobody[i]), -ESRCH);
		CHECK_EQ(sley_process_cancel(nobody[i], 0), -ESRCH);
	}
	stop(rt);
}

TEST_WORKERS(w27_a_process_that_has_ended_is_nobody)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(200); i++) {
		struct life life = { 0 };
		sley_pid pid = live(&life);

		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
		CHECK_EQ(sley_process_kill(pid), 0);
		check_end(&life, SLEY_EKILLED);
		CHECK_SOON(sley_send(pid, 1, NULL, 0) == -ESRCH);
		CHECK_EQ(sley_process_kill(pid), -ESRCH);
		CHECK_EQ(sley_process_cancel(pid, 0), -ESRCH);
	}
	stop(rt);
}

/* ---- W27: in which order ------------------------------------------------------------------ */

#define NR_SENDERS 12

struct order {
	sley_pid to;
	int nr;
	atomic_int next_sender;
	int next[NR_SENDERS];
	atomic_int received;
};

static void check_order(struct order *o, const struct sley_msg *msg)
{
	const int *value = msg->data;

	CHECK_EQ(msg->tag, 3);
	CHECK_EQ(msg->size, 2 * sizeof(int));
	CHECK_EQ(value[1], o->next[value[0]]++);
	atomic_fetch_add(&o->received, 1);
}

static enum sley_step step_in_order(struct life *life,
				    struct sley_msg *const *msg, size_t nr,
				    struct sley_out *out)
{
	(void)out;
	for (size_t i = 0; i < nr; i++)
		check_order(life->arg, msg[i]);
	return SLEY_WAIT;
}

static int receive_in_order(void *arg)
{
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0)
		check_order(arg, msg);
	return 0;
}

static void *send_in_order(void *arg)
{
	struct order *o = arg;
	int sender = atomic_fetch_add(&o->next_sender, 1);

	for (int i = 0; i < o->nr; i++) {
		int value[2] = { sender, i };

		CHECK_EQ(sley_send(o->to, 3, value, sizeof(value)), 0);
	}
	return NULL;
}

static void send_in_order_task(void *arg)
{
	(void)send_in_order(arg);
}

TEST_WORKERS(w27_each_sender_is_heard_in_its_order)
{
	for (int i = 0; i < 2; i++) {
		struct order o = { .nr = test_scale(2000) };
		struct life life = { .then = step_in_order, .arg = &o };
		struct sley *rt = start();

		o.to = i ? actor(receive_in_order, &o) : live(&life);
		run_beside(send_in_order_task, send_in_order, &o);
		CHECK_SOON(o.received == NR_SENDERS * o.nr);
		stop(rt);
	}
}

/* ---- sizes -------------------------------------------------------------------------------- */

static const size_t sizes[] = { 0,  1,  7,  8,  15,   16,
				17, 63, 64, 65, 4096, 1 << 20 };

static unsigned char byte_at(size_t i, size_t size)
{
	return (unsigned char)(i * 7 + size);
}

static void check_bytes(const struct sley_msg *msg)
{
	size_t size = sizes[msg->tag];
	const unsigned char *bytes = msg->data;

	CHECK_EQ(msg->size, size);
	CHECK((bytes == NULL) == (size == 0));
	for (size_t i = 0; i < size; i += 1 + i / 64)
		CHECK_EQ(bytes[i], byte_at(i, size));
	CHECK_EQ((uintptr_t)bytes % 8, 0);
}

static enum sley_step step_checks_bytes(struct life *life,
					struct sley_msg *const *msg, size_t nr,
					struct sley_out *out)
{
	(void)life;
	(void)out;
	for (size_t i = 0; i < nr; i++)
		check_bytes(msg[i]);
	return SLEY_WAIT;
}

TEST_WORKERS(bytes_of_any_size_arrive_as_they_were_sent)
{
	struct sley *rt = start();
	struct life life = { .then = step_checks_bytes };
	unsigned char *bytes = malloc(1 << 20);
	sley_pid pid = live(&life);
	int n = 0;

	for (int round = 0; round < 3; round++) {
		for (size_t s = 0; s < ARRAY_SIZE(sizes); s++, n++) {
			for (size_t i = 0; i < sizes[s]; i++)
				bytes[i] = byte_at(i, sizes[s]);
			CHECK_EQ(sley_send(pid, s, bytes, sizes[s]), 0);
			memset(bytes, 0xee, sizes[s]);
		}
	}
	CHECK_SOON(life.messages == n);
	CHECK_EQ(sley_send(pid, 1, bytes, (size_t)UINT32_MAX + 1), -EMSGSIZE);
	stop(rt);
	free(bytes);
}

/* ---- who frees what ---------------------------------------------------------------------------- */

static atomic_int nr_freed;

/* Something that is freed twice is found by its number. */
struct thing {
	int value;
	atomic_int freed;
};

static void free_thing(void *data)
{
	struct thing *thing = data;

	CHECK_EQ(atomic_fetch_add(&thing->freed, 1), 0);
	atomic_fetch_add(&nr_freed, 1);
}

static int send_thing(sley_pid to, uint64_t tag, struct thing *thing)
{
	*thing = (struct thing){ .value = 42 };
	return sley_send_owned(to, tag, thing, sizeof(*thing), free_thing);
}

enum {
	LOOK,
	KEEP,
	KEEP_AND_FREE,
	SEND_ON,
	SEND_ON_IN_VAIN,
	NR_FATES,
};

struct fates {
	sley_pid next;
	struct sley_msg *kept[100];
	int nr_kept;
	atomic_int seen;
};

static void do_with(struct fates *f, struct sley_msg *msg)
{
	const struct thing *thing = msg->data;

	CHECK_EQ(thing->value, 42);
	CHECK_EQ(thing->freed, 0);
	if (msg->tag != LOOK)
		sley_msg_keep(msg);
	if (msg->tag == KEEP)
		f->kept[f->nr_kept++] = msg;
	else if (msg->tag == KEEP_AND_FREE)
		sley_msg_free(msg);
	else if (msg->tag == SEND_ON)
		CHECK_EQ(sley_msg_forward(f->next, msg), 0);
	else if (msg->tag == SEND_ON_IN_VAIN)
		CHECK_EQ(sley_msg_forward(SLEY_NO_PID, msg), -ESRCH);
	atomic_fetch_add(&f->seen, 1);
}

static enum sley_step step_does(struct life *life, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	(void)out;
	for (size_t i = 0; i < nr; i++)
		do_with(life->arg, msg[i]);
	return SLEY_WAIT;
}

static int actor_does(void *arg)
{
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0)
		do_with(arg, msg);
	return 0;
}

#define NR_THINGS (NR_FATES * 20)

static void check_fates(sley_pid pid, struct fates *f)
{
	static struct thing thing[NR_THINGS];

	atomic_store(&nr_freed, 0);
	for (uint64_t i = 0; i < NR_THINGS; i++)
		CHECK_EQ(send_thing(pid, i % NR_FATES, &thing[i]), 0);
	CHECK_SOON(f->seen == NR_THINGS);
	CHECK_SOON(nr_freed >= NR_THINGS - f->nr_kept - 1);
	for (int i = 0; i < f->nr_kept; i++)
		sley_msg_free(f->kept[i]);
	CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_SOON(is_gone(pid));
	CHECK_SOON(nr_freed == NR_THINGS);
}

TEST_WORKERS(what_is_received_is_freed_once_whatever_is_done_with_it)
{
	struct sley *rt = start();
	struct life sink = { 0 };
	sley_pid next = live(&sink);
	struct fates f[2] = { { .next = next }, { .next = next } };
	struct life life = { .then = step_does, .arg = &f[0] };

	check_fates(live(&life), &f[0]);
	check_end(&life, SLEY_EKILLED);
	check_fates(actor(actor_does, &f[1]), &f[1]);
	CHECK_EQ(sley_process_kill(next), 0);
	check_end(&sink, SLEY_EKILLED);
	stop(rt);
}

static sley_pid heir;

/* As one does that gives the memory back to somebody. */
static void free_slowly(void *data)
{
	CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	CHECK_EQ(sley_send(heir, 1, NULL, 0), 0);
	free_thing(data);
}

TEST_WORKERS(what_frees_a_message_may_wait_and_send)
{
	static struct thing thing[60];
	struct fates f[2] = { { .seen = 0 } };
	struct life life = { .then = step_does, .arg = &f[0] };
	struct life sink = { 0 };
	struct sley *rt = start();
	sley_pid pid[2] = { live(&life), actor(actor_does, &f[1]) };

	heir = live(&sink);
	for (int i = 0; i < 60; i++) {
		thing[i] = (struct thing){ .value = 42 };
		CHECK_EQ(sley_send_owned(pid[i % 2], LOOK, &thing[i],
					 sizeof(thing[i]), free_slowly),
			 0);
		if (i < 30)
			CHECK_SOON(nr_freed == i + 1);
	}
	CHECK_SOON(f[0].seen + f[1].seen == 60);
	/* Also the last ones, though nothing more comes. */
	CHECK_SOON(nr_freed == 60);
	CHECK_SOON(sink.messages == 60);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sley_process_kill(pid[i]), 0);
		CHECK_SOON(is_gone(pid[i]));
	}
	stop(rt);
}

TEST_WORKERS(what_cannot_be_sent_is_freed_at_once)
{
	struct thing thing;

	CHECK_EQ(send_thing(SLEY_NO_PID, 1, &thing), -ESRCH);
	CHECK_EQ(nr_freed, 1);
	CHECK_EQ(sley_send_owned(SLEY_NO_PID, 1, malloc(10), 10, NULL), -ESRCH);
	thing.freed = 0;
	CHECK_EQ(sley_send_owned(SLEY_NO_PID, 1, &thing, SIZE_MAX, free_thing),
		 -EMSGSIZE);
	CHECK_EQ(nr_freed, 2);
}

static enum sley_step step_sleeps(struct life *life,
				  struct sley_msg *const *msg, size_t nr,
				  struct sley_out *out)
{
	(void)msg;
	(void)nr;
	(void)out;
	CHECK_EQ(sley_event_wait(life->arg), 0);
	return SLEY_WAIT;
}

static int sleeps(void *arg)
{
	return sley_event_wait(arg);
}

/* In the inbox, in the queues, and in the hands of who ends. */
TEST_WORKERS(what_is_in_the_mailbox_of_who_ends_is_freed)
{
	static struct thing thing[200];

	for (int i = 0; i < 4; i++) {
		struct sley_event event = SLEY_EVENT_INIT;
		struct life life = { .then = step_sleeps, .arg = &event };
		struct sley *rt = start();
		sley_pid pid = i % 2 ? actor(sleeps, &event) : live(&life);

		atomic_store(&nr_freed, 0);
		for (int k = 0; k < 200; k++)
			CHECK_EQ(send_thing(pid, 1, &thing[k]), 0);
		if (i < 2)
			CHECK_EQ(sley_process_kill(pid), 0);
		sley_event_set(&event);
		stop(rt);
		CHECK_EQ(nr_freed, 200);
	}
}

struct racer {
	atomic_ullong pid;
	atomic_bool done;
};

/* Some reach it, some come late: each is freed once. */
static void *send_things(void *arg)
{
	struct pace pace = { SLEY_NO_PID, 0 };
	struct racer *r = arg;

	while (!atomic_load(&r->done)) {
		sley_pid pid = atomic_load(&r->pid);

		if (pace_allows(&pace, pid))
			(void)sley_send_owned(pid, 1, calloc(1, 16), 16, NULL);
	}
	return NULL;
}

TEST_WORKERS(senders_that_race_with_the_end_leave_nothing)
{
	struct racer r = { .pid = SLEY_NO_PID };
	struct sley *rt = start();
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		thread[i] = test_thread(send_things, &r);
	for (int i = 0; i < test_scale(400); i++) {
		struct life life = { 0 };
		sley_pid pid = live(&life);

		atomic_store(&r.pid, pid);
		if (i % 2)
			sched_yield();
		CHECK_EQ(sley_process_kill(pid), 0);
		check_end(&life, SLEY_EKILLED);
	}
	atomic_store(&r.done, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	stop(rt);
}

/* ---- blobs ---------------------------------------------------------------------------------------- */

static enum sley_step step_reads_blob(struct life *life,
				      struct sley_msg *const *msg, size_t nr,
				      struct sley_out *out)
{
	(void)out;
	for (size_t i = 0; i < nr; i++) {
		CHECK_EQ(msg[i]->size, 10000);
		CHECK(msg[i]->data == life->arg);
		CHECK_EQ(((const char *)msg[i]->data)[9999], 9);
	}
	return SLEY_WAIT;
}

TEST_WORKERS(a_blob_is_shared_by_all_who_get_it)
{
	struct sley *rt = start();
	struct sley_blob *blob = sley_blob_create(10000);
	struct life life[10];

	CHECK(blob);
	memset(sley_blob_data(blob), 9, 10000);
	for (int i = 0; i < 10; i++) {
		sley_pid pid;

		life[i] = (struct life){ .then = step_reads_blob,
					 .arg = sley_blob_data(blob) };
		pid = live(&life[i]);
		for (int k = 0; k < 20; k++)
			CHECK_EQ(sley_send_blob(pid, 1, blob), 0);
	}
	CHECK_EQ(sley_send_blob(SLEY_NO_PID, 1, blob), -ESRCH);
	sley_blob_put(blob);
	for (int i = 0; i < 10; i++)
		CHECK_SOON(life[i].messages == 20);
	stop(rt);
	blob = sley_blob_create(0);
	CHECK(blob);
	sley_blob_put(blob);
	CHECK(sley_blob_create((size_t)UINT32_MAX + 1) == NULL);
}
