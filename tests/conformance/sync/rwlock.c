/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - the reader-writer lock that blocks fibers.
 *
 * (M29: a lock blocks whole worker threads, and holding it across a wait can
 * deadlock.  Neither may be so here.)
 */
#include "conformance/bound.h"

#include <stdlib.h>

static bool can_read(struct sley_rwlock *lock)
{
	bool can = sley_rwlock_try_read_lock(lock);

	if (can)
		sley_rwlock_read_unlock(lock);
	return can;
}

static bool can_write(struct sley_rwlock *lock)
{
	bool can = sley_rwlock_try_write_lock(lock);

	if (can)
		sley_rwlock_write_unlock(lock);
	return can;
}

/* ---- one thread ---------------------------------------------------------- */

TEST(rwlock_many_read_or_one_writes)
{
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;

	sley_rwlock_read_lock(&lock);
	CHECK(sley_rwlock_try_read_lock(&lock));
	CHECK(!can_write(&lock));
	sley_rwlock_read_unlock(&lock);
	CHECK(!can_write(&lock));
	sley_rwlock_read_unlock(&lock);
	sley_rwlock_write_lock(&lock);
	CHECK(!can_write(&lock));
	CHECK(!can_read(&lock));
	sley_rwlock_write_unlock(&lock);
	CHECK(can_read(&lock));
	CHECK(can_write(&lock));
}

TEST(rwlock_zeroed_memory_is_a_free_one)
{
	struct sley_rwlock lock;

	memset(&lock, 0, sizeof(lock));
	CHECK(can_write(&lock));
	CHECK(can_read(&lock));
}

TEST(rwlock_until_times_out_and_takes_a_free_one_at_any_deadline)
{
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;
	uint64_t deadline;

	CHECK_EQ(sley_rwlock_read_lock_until(&lock, 0), 0);
	CHECK_EQ(sley_rwlock_read_lock_until(&lock, 0), 0);
	deadline = in_ms(5);
	CHECK_EQ(sley_rwlock_write_lock_until(&lock, deadline), -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline);
	/* The writer is gone: readers come in as before. */
	CHECK(can_read(&lock));
	sley_rwlock_read_unlock(&lock);
	sley_rwlock_read_unlock(&lock);
	CHECK_EQ(sley_rwlock_write_lock_until(&lock, 0), 0);
	CHECK_EQ(sley_rwlock_write_lock_until(&lock, 0), -ETIMEDOUT);
	CHECK_EQ(sley_rwlock_read_lock_until(&lock, 0), -ETIMEDOUT);
	CHECK_EQ(sley_rwlock_read_lock_until(&lock, in_ms(1)), -ETIMEDOUT);
	sley_rwlock_write_unlock(&lock);
	CHECK(can_read(&lock));
	CHECK(can_write(&lock));
	CHECK_EQ(lock.q.word, 0);
	CHECK_EQ(lock.balance, 0);
}

TEST(rwlock_downgrade_lets_readers_in_and_no_writer)
{
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;

	sley_rwlock_write_lock(&lock);
	sley_rwlock_downgrade(&lock);
	CHECK(can_read(&lock));
	CHECK(!can_write(&lock));
	sley_rwlock_read_unlock(&lock);
	CHECK(can_write(&lock));
}

/* ---- misuse -------------------------------------------------------------- */

TEST_ABORTS(rwlock_read_unlock_of_a_free_one_aborts,
	    "sley: misuse in sley_rwlock_read_unlock: no reader holds this lock")
{
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;

	sley_rwlock_read_lock(&lock);
	sley_rwlock_read_unlock(&lock);
	sley_rwlock_read_unlock(&lock);
}

TEST_ABORTS(rwlock_read_unlock_of_a_written_one_aborts,
	    "sley: misuse in sley_rwlock_read_unlock: no reader holds this lock")
{
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;

	sley_rwlock_write_lock(&lock);
	sley_rwlock_read_unlock(&lock);
}

TEST_ABORTS(
	rwlock_write_unlock_of_a_free_one_aborts,
	"sley: misuse in sley_rwlock_write_unlock: no writer holds this lock")
{
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;

	sley_rwlock_write_unlock(&lock);
}

TEST_ABORTS(
	rwlock_write_unlock_of_a_read_one_aborts,
	"sley: misuse in sley_rwlock_write_unlock: no writer holds this lock")
{
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;

	sley_rwlock_read_lock(&lock);
	sley_rwlock_write_unlock(&lock);
}

TEST_ABORTS(rwlock_downgrade_of_a_read_one_aborts,
	    "sley: misuse in sley_rwlock_downgrade: no writer holds this lock")
{
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;

	sley_rwlock_read_lock(&lock);
	sley_rwlock_downgrade(&lock);
}

/* ---- tasks and threads are kept apart -------------------------------------- */

struct shared {
	struct sley_rwlock lock;
	atomic_int readers, writers; /* inside                       */
	long a, b;                   /* equal, outside of a write    */
	int rounds;
};

static void read_section(struct shared *s, int i)
{
	atomic_fetch_add(&s->readers, 1);
	CHECK_EQ(s->writers, 0);
	CHECK_EQ(s->a, s->b);
	if (i % 8 == 0)
		sley_yield();
	CHECK_EQ(s->writers, 0);
	atomic_fetch_sub(&s->readers, 1);
}

static void write_section(struct shared *s, int i)
{
	CHECK_EQ(atomic_fetch_add(&s->writers, 1), 0);
	CHECK_EQ(s->readers, 0);
	s->a++;
	if (i % 8 == 0)
		sley_yield();
	s->b++;
	CHECK_EQ(s->readers, 0);
	atomic_fetch_sub(&s->writers, 1);
}

/* Each fourth one writes; each second of those goes on reading. */
static void use_shared(void *arg)
{
	struct shared *s = arg;
	int i;

	for (i = 0; i < s->rounds; i++) {
		if (i % 4) {
			sley_rwlock_read_lock(&s->lock);
			read_section(s, i);
			sley_rwlock_read_unlock(&s->lock);
			continue;
		}
		sley_rwlock_write_lock(&s->lock);
		write_section(s, i);
		if (i % 8) {
			sley_rwlock_downgrade(&s->lock);
			read_section(s, i);
			sley_rwlock_read_unlock(&s->lock);
		} else {
			sley_rwlock_write_unlock(&s->lock);
		}
	}
}

static void *use_in_thread(void *arg)
{
	use_shared(arg);
	return NULL;
}

TEST_WORKERS(rwlock_keeps_writers_from_readers_and_from_each_other)
{
	struct shared s = { .rounds = 4 * test_scale(250) };
	struct sley_task tasks[16];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	for (i = 0; i < 16; i++)
		sley_spawn(&group, &tasks[i], use_shared, &s);
	sley_join(&group);
	CHECK_EQ(s.a, 4L * s.rounds);
	CHECK(can_write(&s.lock));
	CHECK_EQ(s.lock.balance, 0);
	stop(rt);
}

TEST(t05_rwlock_serves_plain_threads_without_any_runtime)
{
	struct shared s = { .rounds = 4 * test_scale(1000) };
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		threads[i] = test_thread(use_in_thread, &s);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(s.a, s.rounds);
	CHECK(can_write(&s.lock));
}

TEST_WORKERS(t05_threads_and_fibers_share_one_rwlock)
{
	struct shared s = { .rounds = 4 * test_scale(200) };
	struct sley *rt = start();

	run_beside(use_shared, use_in_thread, &s);
	CHECK_EQ(s.a, 3L * s.rounds);
	stop(rt);
}

/* ---- M29 ------------------------------------------------------------------ */

struct held {
	struct sley_rwlock lock;
	bool write;
	atomic_int others;
	atomic_bool held;
	int expected; /* of others, before the lock is released */
};

static void sleep_while_holding(void *arg)
{
	struct held *h = arg;

	if (h->write)
		sley_rwlock_write_lock(&h->lock);
	else
		sley_rwlock_read_lock(&h->lock);
	atomic_store(&h->held, true);
	/* Goes on only when others have run on this very worker. */
	while (atomic_load(&h->others) < h->expected)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	if (h->write)
		sley_rwlock_write_unlock(&h->lock);
	else
		sley_rwlock_read_unlock(&h->lock);
}

static void wait_to_read(void *arg)
{
	struct held *h = arg;

	sley_rwlock_read_lock(&h->lock);
	CHECK_EQ(h->others, h->expected);
	sley_rwlock_read_unlock(&h->lock);
}

static void wait_to_write(void *arg)
{
	struct held *h = arg;

	sley_rwlock_write_lock(&h->lock);
	CHECK_EQ(h->others, h->expected);
	sley_rwlock_write_unlock(&h->lock);
}

static void hold_across_a_wait(bool write)
{
	struct held h = { .write = write, .expected = 10 };
	struct sley_task tasks[31];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	sley_spawn(&group, &tasks[0], sleep_while_holding, &h);
	if (is_single())
		CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EVENTUALLY(atomic_load(&h.held));
	sley_spawn(&group, &tasks[1], wait_to_write, &h);
	/* A step may be that of the holder, who looks now and then. */
	while (is_single() && can_read(&h.lock))
		(void)sley_run_one(rt);
	CHECK_EVENTUALLY(!can_read(&h.lock));
	for (i = 2; i < 21; i++)
		sley_spawn(&group, &tasks[i],
			   i % 2 ? wait_to_write : wait_to_read, &h);
	for (; i < 31; i++)
		sley_spawn(&group, &tasks[i], count_task, &h.others);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(m29_waiting_for_a_writer_suspends_the_fiber_and_not_the_worker)
{
	hold_across_a_wait(true);
}

TEST_WORKERS(m29_waiting_for_a_reader_suspends_the_fiber_and_not_the_worker)
{
	hold_across_a_wait(false);
}

/* ---- order ---------------------------------------------------------------- */

struct line {
	struct sley_rwlock lock;
	struct sley_event leave; /* manual: readers may go */
	char order[16];
	int n;
};

struct place {
	struct sley_task task;
	struct line *line;
	char name; /* upper case writes */
	uint64_t deadline_ns;
	int result;
};

static void stand_in_line(void *arg)
{
	struct place *p = arg;
	struct line *line = p->line;
	bool write = p->name < 'a';

	p->result = write ? sley_rwlock_write_lock_until(&line->lock,
							 p->deadline_ns)
			  : sley_rwlock_read_lock_until(&line->lock,
							p->deadline_ns);
	if (p->result)
		return;
	line->order[line->n++] = p->name;
	if (write) {
		sley_rwlock_write_unlock(&line->lock);
		return;
	}
	CHECK_EQ(sley_event_wait(&line->leave), 0);
	sley_rwlock_read_unlock(&line->lock);
}

/* Everybody of @names comes in this order, and waits. */
static void line_up(struct sley *rt, struct sley_group *group,
		    struct place *places, struct line *line, const char *names)
{
	size_t i;

	for (i = 0; i < strlen(names); i++) {
		places[i] = (struct place){ .line = line,
					    .name = names[i],
					    .deadline_ns = SLEY_FOREVER };
		sley_spawn(group, &places[i].task, stand_in_line, &places[i]);
		CHECK_EQ(sley_run_one(rt), 1);
	}
}

static void run_all(struct sley *rt)
{
	while (sley_run_one(rt) == 1)
		;
}

TEST(rwlock_goes_to_who_came_first_and_to_readers_in_batches)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct line line = { .n = 0 };
	struct place places[8];

	sley_rwlock_write_lock(&line.lock);
	line_up(rt, &group, places, &line, "abCDefGh");
	CHECK_STR(line.order, "");
	sley_rwlock_write_unlock(&line.lock);
	run_all(rt);
	CHECK_STR(line.order, "ab");
	CHECK(!can_read(&line.lock));
	sley_event_set(&line.leave);
	sley_join(&group);
	CHECK_STR(line.order, "abCDefGh");
	CHECK(can_write(&line.lock));
	stop(rt);
}

TEST(rwlock_a_waiting_writer_goes_before_readers_that_come_later)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct line line = { .n = 0 };
	struct place places[3];

	sley_event_set(&line.leave);
	sley_rwlock_read_lock(&line.lock);
	line_up(rt, &group, places, &line, "Abc");
	CHECK_STR(line.order, "");
	CHECK(!can_read(&line.lock));
	sley_rwlock_read_unlock(&line.lock);
	sley_join(&group);
	CHECK_STR(line.order, "Abc");
	stop(rt);
}

TEST(rwlock_downgrade_lets_in_the_readers_at_the_head)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct line line = { .n = 0 };
	struct place places[4];

	sley_rwlock_write_lock(&line.lock);
	line_up(rt, &group, places, &line, "abCd");
	sley_rwlock_downgrade(&line.lock);
	run_all(rt);
	CHECK_STR(line.order, "ab");
	sley_event_set(&line.leave);
	run_all(rt);
	CHECK_STR(line.order, "ab");
	sley_rwlock_read_unlock(&line.lock);
	sley_join(&group);
	CHECK_STR(line.order, "abCd");
	stop(rt);
}

/* ---- giving up ------------------------------------------------------------ */

TEST(rwlock_a_cancelled_writer_lets_the_readers_behind_it_in)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct line line = { .n = 0 };
	struct place places[4];

	sley_rwlock_read_lock(&line.lock);
	line_up(rt, &group, places, &line, "AbcD");
	sley_cancel(&places[0].task);
	run_all(rt);
	CHECK_EQ(places[0].result, -ECANCELED);
	CHECK_STR(line.order, "bc");
	sley_rwlock_read_unlock(&line.lock);
	sley_event_set(&line.leave);
	sley_join(&group);
	CHECK_STR(line.order, "bcD");
	CHECK(can_write(&line.lock));
	CHECK_EQ(line.lock.balance, 0);
	stop(rt);
}

static void write_by_a_deadline(void *arg)
{
	struct line *line = arg;

	CHECK_EQ(sley_rwlock_write_lock_until(&line->lock, in_ms(20)),
		 -ETIMEDOUT);
}

static void read_and_count(void *arg)
{
	struct line *line = arg;

	sley_rwlock_read_lock(&line->lock);
	line->n++; /* the only reader that counts */
	sley_rwlock_read_unlock(&line->lock);
}

TEST_WORKERS(rwlock_a_writer_that_times_out_lets_the_readers_behind_it_in)
{
	struct line line = { .n = 0 };
	struct sley_task writer, reader;
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	sley_rwlock_read_lock(&line.lock);
	sley_spawn(&group, &writer, write_by_a_deadline, &line);
	sley_spawn(&group, &reader, read_and_count, &line);
	sley_join(&group);
	CHECK_EQ(line.n, 1);
	sley_rwlock_read_unlock(&line.lock);
	CHECK(can_write(&line.lock));
	stop(rt);
}

TEST(rwlock_a_cancelled_reader_leaves_nothing_behind)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct line line = { .n = 0 };
	struct place places[2];

	sley_rwlock_write_lock(&line.lock);
	line_up(rt, &group, places, &line, "aB");
	sley_cancel(&places[0].task);
	run_all(rt);
	CHECK_EQ(places[0].result, -ECANCELED);
	sley_rwlock_write_unlock(&line.lock);
	sley_join(&group);
	CHECK_STR(line.order, "B");
	CHECK(can_write(&line.lock));
	CHECK_EQ(line.lock.balance, 0);
	stop(rt);
}

static void lock_both_ways(void *arg)
{
	struct line *line = arg;

	sley_rwlock_read_lock(&line->lock);
	sley_rwlock_read_unlock(&line->lock);
	sley_rwlock_write_lock(&line->lock);
	line->n++;
	sley_rwlock_write_unlock(&line->lock);
	CHECK(sley_cancelled());
}

TEST(rwlock_a_cancel_does_not_cut_the_plain_forms_short)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct line line = { .n = 0 };
	struct sley_task task;

	sley_rwlock_write_lock(&line.lock);
	sley_spawn(&group, &task, lock_both_ways, &line);
	CHECK_EQ(sley_run_one(rt), 1);
	sley_cancel(&task);
	run_all(rt);
	sley_rwlock_downgrade(&line.lock);
	run_all(rt); /* it has read, and waits to write */
	CHECK_EQ(line.n, 0);
	sley_rwlock_read_unlock(&line.lock);
	sley_join(&group);
	CHECK_EQ(line.n, 1);
	stop(rt);
}

/* ---- nobody starves --------------------------------------------------------- */

struct greedy {
	struct sley_rwlock lock;
	atomic_bool done;
	atomic_int patient;
	bool write;
};

static void lock_all_the_time(void *arg)
{
	struct greedy *g = arg;

	while (!atomic_load(&g->done)) {
		if (g->write)
			sley_rwlock_write_lock(&g->lock);
		else
			sley_rwlock_read_lock(&g->lock);
		sley_yield();
		if (g->write)
			sley_rwlock_write_unlock(&g->lock);
		else
			sley_rwlock_read_unlock(&g->lock);
	}
}

static void lock_patiently(void *arg)
{
	struct greedy *g = arg;
	int i;

	for (i = 0; i < 50; i++) {
		if (g->write) {
			sley_rwlock_read_lock(&g->lock);
			sley_rwlock_read_unlock(&g->lock);
		} else {
			sley_rwlock_write_lock(&g->lock);
			sley_rwlock_write_unlock(&g->lock);
		}
		atomic_fetch_add(&g->patient, 1);
	}
	atomic_store(&g->done, true);
}

static void greedy_and_patient(bool write)
{
	struct greedy g = { .write = write };
	struct sley_task tasks[4];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	for (i = 0; i < 3; i++)
		sley_spawn(&group, &tasks[i], lock_all_the_time, &g);
	sley_spawn(&group, &tasks[3], lock_patiently, &g);
	sley_join(&group);
	CHECK_EQ(g.patient, 50);
	stop(rt);
}

/* The readers overlap: there is always one inside. */
TEST_WORKERS(rwlock_readers_do_not_starve_a_writer)
{
	greedy_and_patient(false);
}

TEST_WORKERS(rwlock_writers_do_not_starve_a_reader)
{
	greedy_and_patient(true);
}

/* ---- where it lives --------------------------------------------------------- */

struct brief {
	struct sley_rwlock lock;
	struct sley_group group;
	struct sley_task task;
	bool seen; /* under lock */
};

static void read_once(void *arg)
{
	struct brief *b = arg;

	sley_rwlock_read_lock(&b->lock);
	b->seen = true;
	sley_rwlock_read_unlock(&b->lock);
}

static void *forget_soon(void *arg)
{
	read_once(arg);
	return NULL;
}

/* Only the lock tells that the reader is gone: no join keeps it alive. */
TEST(rwlock_a_writer_may_free_it_once_the_reader_has_been_there)
{
	int i;

	for (i = 0; i < test_scale(1000); i++) {
		struct brief *b = calloc(1, sizeof(*b));
		pthread_t thread = test_thread(forget_soon, b);
		bool seen = false;
		int err;

		while (!seen) {
			err = sley_rwlock_write_lock_until(
				&b->lock, sley_now() + test_random(20000));
			if (err)
				continue;
			seen = b->seen;
			sley_rwlock_write_unlock(&b->lock);
			if (!seen)
				sley_yield();
		}
		memset((void *)b, 0xff, sizeof(*b));
		free(b);
		pthread_join(thread, NULL);
	}
}

TEST_WORKERS(rwlock_may_stand_on_a_stack_that_returns)
{
	struct sley *rt = start();
	int i;

	for (i = 0; i < test_scale(3000); i++) {
		struct brief b = { .lock = SLEY_RWLOCK_INIT };

		sley_rwlock_write_lock(&b.lock);
		sley_spawn(&b.group, &b.task, read_once, &b);
		if (i % 2)
			sley_yield();
		sley_rwlock_write_unlock(&b.lock);
		sley_join(&b.group);
		memset((void *)&b, 0xff, sizeof(b));
		__asm__ volatile("" : : "r"(&b) : "memory");
	}
	stop(rt);
}
