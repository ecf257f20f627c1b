/* SPDX-License-Identifier: MIT */
/*
 * ticket.c - tickets are called in the order in which they were taken.
 */
#include "conformance/bound.h"

#include <stdlib.h>

#define NR_TICKETS 1000

/* ---- in order -------------------------------------------------------------- */

struct parade {
	struct sley_ticket_queue queue;
	struct sley_ticket ticket[NR_TICKETS];
	struct sley_task task[NR_TICKETS];
	int order[NR_TICKETS]; /* plain: one ticket is called at a time */
	int nr;
};

static struct parade parade;

struct marcher {
	struct sley_ticket *ticket;
	int number;
};

static struct marcher marcher[NR_TICKETS];

static void march(void *arg)
{
	struct marcher *m = arg;

	if (m->number % 3 == 0)
		sley_yield();
	CHECK_EQ(sley_ticket_wait(m->ticket), 0);
	CHECK(sley_ticket_is_called(m->ticket));
	parade.order[parade.nr++] = m->number;
	if (m->number % 5 == 0)
		sley_yield();
	sley_ticket_done(m->ticket);
}

static void check_parade(int nr)
{
	CHECK_EQ(parade.nr, nr);
	for (int i = 0; i < nr; i++)
		CHECK_EQ(parade.order[i], i);
}

static void enlist(void)
{
	sley_ticket_take_n(&parade.queue, parade.ticket, NR_TICKETS);
	for (int i = 0; i < NR_TICKETS; i++)
		marcher[i] = (struct marcher){ &parade.ticket[i], i };
}

TEST_WORKERS(m30_a_thousand_tickets_are_called_in_take_order)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	enlist();
	/* The last comes first. */
	for (int i = NR_TICKETS - 1; i >= 0; i--)
		sley_spawn(&group, &parade.task[i], march, &marcher[i]);
	sley_join(&group);
	check_parade(NR_TICKETS);
	CHECK(!parade.queue.first);
	stop(rt);
}

static void march_and_leave(void *arg)
{
	struct marcher *m = arg;

	parade.order[parade.nr++] = m->number;
	sley_ticket_done(m->ticket);
}

TEST_WORKERS(m30_a_thousand_calls_run_in_take_order)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	enlist();
	for (int i = NR_TICKETS - 1; i >= 0; i--)
		sley_ticket_on_call(&parade.ticket[i], &group, &parade.task[i],
				    march_and_leave, &marcher[i]);
	sley_join(&group);
	check_parade(NR_TICKETS);
	stop(rt);
}

static void *march_in_thread(void *arg)
{
	march(arg);
	return NULL;
}

TEST(m30_plain_threads_use_them_without_any_runtime)
{
	pthread_t threads[8];

	enlist();
	for (int i = 7; i >= 0; i--)
		threads[i] = test_thread(march_in_thread, &marcher[i]);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	check_parade(8);
}

/* ---- called or not ----------------------------------------------------------- */

/* Threads take four at a time: whose first one is called, its next three follow. */
struct taker {
	struct sley_ticket_queue *queue;
	atomic_int *sequence;
	int first;
};

static void *take_four(void *arg)
{
	struct taker *taker = arg;
	struct sley_ticket ticket[4];

	sley_ticket_take_n(taker->queue, ticket, 4);
	for (int i = 0; i < 4; i++) {
		int now;

		CHECK_EQ(sley_ticket_wait(&ticket[i]), 0);
		now = atomic_fetch_add(taker->sequence, 1);
		if (!i)
			taker->first = now;
		CHECK_EQ(now, taker->first + i);
		sley_ticket_done(&ticket[i]);
	}
	return NULL;
}

TEST(m30_n_tickets_that_are_taken_at_once_follow_each_other)
{
	for (int round = 0; round < test_scale(100); round++) {
		struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
		atomic_int sequence = 0;
		struct taker taker[4];
		pthread_t thread[4];

		for (int i = 0; i < 4; i++) {
			taker[i] = (struct taker){ &queue, &sequence, 0 };
			thread[i] = test_thread(take_four, &taker[i]);
		}
		for (int i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
		CHECK_EQ(sequence, 16);
	}
}

TEST(m30_the_first_ticket_is_born_called)
{
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_ticket a, b;

	sley_ticket_take(&queue, &a);
	sley_ticket_take(&queue, &b);
	CHECK(sley_ticket_is_called(&a));
	CHECK(!sley_ticket_is_called(&b));
	CHECK_EQ(sley_ticket_wait_until(&a, 0), 0);
	CHECK_EQ(sley_ticket_wait_until(&b, 0), -ETIMEDOUT);
	sley_ticket_done(&a);
	CHECK(sley_ticket_is_called(&b));
	sley_ticket_done(&b);
	/* The queue is empty: the next is the first again. */
	sley_ticket_take(&queue, &a);
	CHECK(sley_ticket_is_called(&a));
	sley_ticket_done(&a);
}

TEST(t32_done_out_of_order_calls_the_next_when_all_earlier_are_done)
{
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_ticket t[5];

	sley_ticket_take_n(&queue, t, 5);
	sley_ticket_done(&t[1]);
	sley_ticket_done(&t[3]);
	/* They are out of it: their memory means nothing any more. */
	memset((void *)&t[1], 0xff, sizeof(t[1]));
	memset((void *)&t[3], 0xff, sizeof(t[3]));
	CHECK(!sley_ticket_is_called(&t[2]));
	CHECK(!sley_ticket_is_called(&t[4]));
	sley_ticket_done(&t[0]);
	CHECK(sley_ticket_is_called(&t[2]));
	CHECK(!sley_ticket_is_called(&t[4]));
	sley_ticket_done(&t[2]);
	CHECK(sley_ticket_is_called(&t[4]));
	sley_ticket_done(&t[4]);
	CHECK(!queue.first && !queue.last);
}

TEST(t32_done_twice_changes_nothing)
{
	struct sley_ticket_queue *queue = calloc(1, sizeof(*queue));
	struct sley_ticket a, b, c;

	CHECK(queue != NULL);
	sley_ticket_take(queue, &a);
	sley_ticket_take(queue, &b);
	sley_ticket_take(queue, &c);
	sley_ticket_done(&a);
	sley_ticket_done(&a);
	CHECK(sley_ticket_is_called(&b));
	CHECK(!sley_ticket_is_called(&c));
	sley_ticket_done(&b);
	sley_ticket_done(&c);
	free(queue);
	/* Not even the queue is needed for it. */
	sley_ticket_done(&c);
	CHECK(sley_ticket_unref(&c));
}

TEST(t32_a_dropped_ticket_is_done)
{
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_ticket a, b, c;

	sley_ticket_take(&queue, &a);
	sley_ticket_take(&queue, &b);
	sley_ticket_take(&queue, &c);
	sley_ticket_ref(&a);
	CHECK(!sley_ticket_unref(&a));
	CHECK(!sley_ticket_is_called(&b));
	CHECK(sley_ticket_unref(&b)); /* unfinished, and out of order */
	CHECK(!sley_ticket_is_called(&c));
	CHECK(sley_ticket_unref(&a));
	CHECK(sley_ticket_is_called(&c));
	CHECK(sley_ticket_unref(&c));
}

TEST_ABORTS(t32_dropping_a_ticket_too_often_aborts,
	    "sley: misuse in sley_ticket_unref")
{
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_ticket a;

	sley_ticket_take(&queue, &a);
	(void)sley_ticket_unref(&a);
	(void)sley_ticket_unref(&a);
}

TEST_ABORTS(m30_on_call_from_a_thread_without_runtime_aborts,
	    "sley: misuse in sley_ticket_on_call")
{
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_ticket a;
	struct sley_task task;

	sley_ticket_take(&queue, &a);
	sley_ticket_on_call(&a, &group, &task, count_task, NULL);
}

/* ---- waiting ------------------------------------------------------------------- */

struct wait {
	struct sley_ticket_queue queue;
	struct sley_ticket a, b, c;
	struct sley_task task[3];
	atomic_int result[3];
	atomic_int nr;
};

static void wait_for_b(void *arg)
{
	struct wait *w = arg;
	int i = atomic_fetch_add(&w->nr, 1);

	atomic_store(&w->result[i], sley_ticket_wait(&w->b));
}

static void spawn_waits(struct wait *w, struct sley *rt,
			struct sley_group *group, int nr)
{
	for (int i = 0; i < nr; i++) {
		atomic_store(&w->result[i], 1);
		sley_spawn(group, &w->task[i], wait_for_b, w);
		if (is_single())
			CHECK_EQ(sley_run_one(rt), 1);
	}
	CHECK_EVENTUALLY(atomic_load(&w->nr) == nr);
}

TEST_WORKERS(m30_several_may_wait_for_one_ticket)
{
	struct wait w = { .nr = 0 };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	sley_ticket_take(&w.queue, &w.a);
	sley_ticket_take(&w.queue, &w.b);
	spawn_waits(&w, rt, &group, 3);
	sley_ticket_done(&w.a);
	sley_join(&group);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(w.result[i], 0);
	sley_ticket_done(&w.b);
	stop(rt);
}

TEST_WORKERS(m30_a_wait_ends_at_its_deadline_and_the_ticket_keeps_its_place)
{
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_ticket a, b, c;
	struct sley *rt = start();
	uint64_t deadline = in_ms(5);

	sley_ticket_take(&queue, &a);
	sley_ticket_take(&queue, &b);
	sley_ticket_take(&queue, &c);
	CHECK_EQ(sley_ticket_wait_until(&b, deadline), -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline);
	sley_ticket_done(&a);
	CHECK_EQ(sley_ticket_wait_until(&b, SLEY_FOREVER), 0);
	CHECK(!sley_ticket_is_called(&c));
	sley_ticket_done(&b);
	sley_ticket_done(&c);
	stop(rt);
}

TEST_WORKERS(m30_a_wait_can_be_cancelled)
{
	struct wait w = { .nr = 0 };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	sley_ticket_take(&w.queue, &w.a);
	sley_ticket_take(&w.queue, &w.b);
	spawn_waits(&w, rt, &group, 1);
	sley_cancel(&w.task[0]);
	sley_join(&group);
	CHECK_EQ(w.result[0], -ECANCELED);
	CHECK(!sley_ticket_is_called(&w.b));
	sley_ticket_done(&w.a);
	CHECK(sley_ticket_is_called(&w.b));
	sley_ticket_done(&w.b);
	stop(rt);
}

/* Nothing of a ticket happens out of order, not even its waits. */
TEST_WORKERS(t32_who_waits_for_a_ticket_that_is_given_up_is_told)
{
	struct wait w = { .nr = 0 };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	sley_ticket_take(&w.queue, &w.a);
	sley_ticket_take(&w.queue, &w.b);
	spawn_waits(&w, rt, &group, 2);
	sley_ticket_done(&w.b);
	sley_join(&group);
	CHECK_EQ(w.result[0], -ECANCELED);
	CHECK_EQ(w.result[1], -ECANCELED);
	CHECK_EQ(sley_ticket_wait(&w.b), -ECANCELED);
	sley_ticket_done(&w.a);
	CHECK_EQ(sley_ticket_wait(&w.b), -ECANCELED);
	stop(rt);
}

/* ---- on call ------------------------------------------------------------------- */

struct calls {
	struct sley_ticket_queue queue;
	struct sley_ticket ticket[3];
	struct sley_group group;
	struct sley_task task[8];
	char order[16]; /* plain: what is hung on a ticket takes turns */
	atomic_int n;
};

static struct calls calls;

static void note(char c)
{
	calls.order[atomic_fetch_add(&calls.n, 1)] = c;
}

static void note_a(void *arg)
{
	(void)arg;
	sley_yield();
	note('a');
}

static void note_b(void *arg)
{
	(void)arg;
	note('b');
}

static void note_c(void *arg)
{
	(void)arg;
	sley_yield();
	note('c');
}

static void hang(int ticket, int task, sley_fn *fn)
{
	sley_ticket_on_call(&calls.ticket[ticket], &calls.group,
			    &calls.task[task], fn, NULL);
}

TEST_WORKERS(m30_several_calls_of_a_ticket_run_one_by_one_in_the_order_given)
{
	struct sley *rt = start();

	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	hang(1, 0, note_a);
	hang(1, 1, note_b);
	hang(1, 2, note_c);
	hang(1, 3, note_b);
	CHECK_EQ(sley_join_until(&calls.group, in_ms(2)), -ETIMEDOUT);
	CHECK_STR(calls.order, "");
	sley_ticket_done(&calls.ticket[0]);
	sley_join(&calls.group);
	CHECK_STR(calls.order, "abcb");
	sley_ticket_done(&calls.ticket[1]);
	stop(rt);
}

TEST_WORKERS(m30_a_call_after_the_call_runs_at_once)
{
	struct sley *rt = start();

	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	hang(0, 0, note_a);
	sley_join(&calls.group);
	sley_ticket_done(&calls.ticket[0]);
	hang(0, 1, note_b);
	sley_join(&calls.group);
	hang(1, 2, note_c);
	sley_join(&calls.group);
	CHECK_STR(calls.order, "abc");
	sley_ticket_done(&calls.ticket[1]);
	stop(rt);
}

static void done_with_one(void *arg)
{
	(void)arg;
	note('x');
	sley_ticket_done(&calls.ticket[1]);
	hang(2, 4, note_c); /* called, by the line above */
}

static void call_more(void *arg)
{
	(void)arg;
	note('w');
	hang(0, 1, note_a);        /* at once         */
	hang(1, 2, done_with_one); /* before its call */
	sley_ticket_done(&calls.ticket[0]);
}

TEST_WORKERS(t32_on_call_from_within_a_call)
{
	struct sley *rt = start();

	sley_ticket_take_n(&calls.queue, calls.ticket, 3);
	hang(0, 0, call_more);
	sley_join(&calls.group);
	CHECK_EQ(calls.n, 4);
	CHECK_EQ(calls.order[0], 'w');
	CHECK(strchr(calls.order, 'x') < strchr(calls.order, 'c'));
	CHECK(strchr(calls.order, 'a') != NULL);
	sley_ticket_done(&calls.ticket[2]);
	stop(rt);
}

TEST_WORKERS(t32_a_cancelled_call_ends_when_its_ticket_is_called)
{
	struct sley *rt = start();

	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	hang(1, 0, note_a);
	hang(1, 1, note_b);
	hang(1, 2, note_c);
	sley_cancel(&calls.task[1]);
	sley_cancel(&calls.task[1]);
	CHECK_EQ(sley_task_status(&calls.task[1]), -EINPROGRESS);
	sley_ticket_done(&calls.ticket[0]);
	sley_join(&calls.group);
	CHECK_STR(calls.order, "ac");
	CHECK_EQ(sley_task_status(&calls.task[0]), 0);
	CHECK_EQ(sley_task_status(&calls.task[1]), -ECANCELED);
	CHECK_EQ(sley_task_status(&calls.task[2]), 0);
	sley_ticket_done(&calls.ticket[1]);
	stop(rt);
}

TEST_WORKERS(t32_the_calls_of_a_ticket_that_is_given_up_never_run)
{
	struct sley *rt = start();

	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	hang(1, 0, note_a);
	hang(1, 1, note_b);
	sley_ticket_done(&calls.ticket[1]);
	sley_join(&calls.group);
	hang(1, 2, note_c);
	sley_join(&calls.group);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_task_status(&calls.task[i]), -ECANCELED);
	CHECK_STR(calls.order, "");
	sley_ticket_done(&calls.ticket[0]);
	stop(rt);
}

TEST_WORKERS(m30_the_priority_of_a_pending_call_can_be_changed)
{
	struct sley *rt = start();

	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	hang(1, 0, note_a);
	hang(1, 1, note_b);
	CHECK_EQ(sley_set_priority(&calls.task[0], -3), 0);
	CHECK_EQ(sley_set_priority(&calls.task[1], 3), 0);
	sley_ticket_done(&calls.ticket[0]);
	sley_join(&calls.group);
	CHECK_STR(calls.order, "ab");
	sley_ticket_done(&calls.ticket[1]);
	stop(rt);
}

TEST_WORKERS(m30_pending_calls_are_dropped_after_cancel_all)
{
	struct sley *rt = start();

	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	hang(1, 0, note_a);
	sley_cancel_all(rt);
	hang(1, 1, note_b);
	sley_ticket_done(&calls.ticket[0]);
	sley_join(&calls.group);
	CHECK_STR(calls.order, "");
	sley_ticket_done(&calls.ticket[1]);
	stop(rt);
}

/* ---- whose thread ---------------------------------------------------------------- */

static void *make_done(void *arg)
{
	test_nap_ms(1);
	sley_ticket_done(arg);
	return NULL;
}

TEST_WORKERS(m30_a_plain_thread_calls_the_tasks_of_a_runtime)
{
	struct sley *rt = start();
	pthread_t thread;

	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	hang(1, 0, note_a);
	hang(1, 1, note_b);
	thread = test_thread(make_done, &calls.ticket[0]);
	sley_join(&calls.group);
	CHECK_STR(calls.order, "ab");
	pthread_join(thread, NULL);
	sley_ticket_done(&calls.ticket[1]);
	stop(rt);
}

TEST_WORKERS(m30_destroy_waits_for_a_pending_call)
{
	struct sley *rt = start();
	pthread_t thread;

	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	hang(1, 0, note_a);
	hang(1, 1, note_b);
	if (!is_single()) {
		/* There, unbind waits. */
		sley_unbind(rt);
		CHECK_EQ(sley_destroy_until(rt, in_ms(2)), -ETIMEDOUT);
		thread = test_thread(make_done, &calls.ticket[0]);
		CHECK_EQ(sley_destroy(rt), 0);
	} else {
		thread = test_thread(make_done, &calls.ticket[0]);
		stop(rt);
	}
	CHECK_STR(calls.order, "ab");
	pthread_join(thread, NULL);
	sley_ticket_done(&calls.ticket[1]);
}

static void done_with_zero(void *arg)
{
	sley_ticket_done(arg);
}

/* Each worker count against a runtime with two. */
TEST_WORKERS(m30_a_task_calls_the_tasks_of_another_runtime)
{
	struct sley_config config = config_of(2);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *other = NULL, *rt = start();

	CHECK_EQ(sley_create(&other, &config), 0);
	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	hang(1, 0, note_a);
	hang(1, 1, note_b);
	CHECK_EQ(sley_spawn_on(other, &group, &task, done_with_zero,
			       &calls.ticket[0], NULL),
		 0);
	sley_join(&calls.group);
	sley_join(&group);
	CHECK_STR(calls.order, "ab");
	sley_ticket_done(&calls.ticket[1]);
	stop(rt);
	CHECK_EQ(sley_destroy(other), 0);
}

struct bound {
	struct sley *rt;
	pthread_t ran_on;
	atomic_bool over;
};

static void note_thread(void *arg)
{
	struct bound *b = arg;

	b->ran_on = pthread_self();
}

/* Whatever there is for this thread to run, it runs. */
static void *done_while_bound(void *arg)
{
	struct bound *b = arg;

	CHECK_EQ(sley_bind(b->rt), 0);
	sley_ticket_done(&calls.ticket[0]);
	while (sley_run_one(b->rt))
		;
	sley_unbind(b->rt);
	atomic_store(&b->over, true);
	return NULL;
}

TEST(m30_a_bound_thread_runs_what_it_hung_on_itself)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct bound b = { .rt = start_with(&config) };
	pthread_t thread;

	sley_ticket_take_n(&calls.queue, calls.ticket, 2);
	sley_ticket_on_call(&calls.ticket[1], &calls.group, &calls.task[0],
			    note_thread, &b);
	thread = test_thread(done_while_bound, &b);
	CHECK_EVENTUALLY(atomic_load(&b.over));
	sley_join(&calls.group);
	CHECK(pthread_equal(b.ran_on, pthread_self()));
	pthread_join(thread, NULL);
	sley_ticket_done(&calls.ticket[1]);
	stop(b.rt);
}
