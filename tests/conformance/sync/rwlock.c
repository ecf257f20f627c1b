/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - the reader-writer lock that blocks fibers.
 *
 * (M29: a lock blocks whole worker threads, and holding it across a wait can
 * deadlock.  Neither may be so here.)
 */
#include "conformance/sync/lock.h"
#include "conformance/sync/rwlock_line.h"

static void lock_reading(union lock *lock)
{
	sley_rwlock_read_lock(&lock->rwlock);
}

static void unlock_reading(union lock *lock)
{
	sley_rwlock_read_unlock(&lock->rwlock);
}

static const struct way reading = { lock_reading, unlock_reading };

static void lock_writing(union lock *lock)
{
	sley_rwlock_write_lock(&lock->rwlock);
}

static void unlock_writing(union lock *lock)
{
	sley_rwlock_write_unlock(&lock->rwlock);
}

static const struct way writing = { lock_writing, unlock_writing };

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
	struct sley *rt = start();

	run_tasks(16, use_shared, &s);
	CHECK_EQ(s.a, 4L * s.rounds);
	CHECK(can_write(&s.lock));
	CHECK_EQ(s.lock.balance, 0);
	stop(rt);
}

TEST(t05_rwlock_serves_plain_threads_without_any_runtime)
{
	struct shared s = { .rounds = 4 * test_scale(1000) };

	run_threads(4, use_in_thread, &s);
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

static bool lets_no_reader_in(union lock *lock)
{
	return !can_read(&lock->rwlock);
}

TEST_WORKERS(m29_waiting_for_a_writer_suspends_the_fiber_and_not_the_worker)
{
	check_waiters_suspend(&writing, &writing, &reading, lets_no_reader_in);
}

TEST_WORKERS(m29_waiting_for_a_reader_suspends_the_fiber_and_not_the_worker)
{
	check_waiters_suspend(&reading, &writing, &reading, lets_no_reader_in);
}

/* ---- order ---------------------------------------------------------------- */

TEST(rwlock_goes_to_who_came_first_and_to_readers_in_batches)
{
	struct sley *rt = start_single();
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;
	struct line line = { .lock = &lock };
	struct place places[8];

	sley_rwlock_write_lock(&lock);
	line_up(rt, &line, places, "abCDefGh");
	CHECK_STR(line.order, "");
	sley_rwlock_write_unlock(&lock);
	run_all(rt);
	CHECK_STR(line.order, "ab");
	CHECK(!can_read(&lock));
	end_line(rt, &line);
	CHECK_STR(line.order, "abCDefGh");
}

TEST(rwlock_a_waiting_writer_goes_before_readers_that_come_later)
{
	struct sley *rt = start_single();
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;
	struct line line = { .lock = &lock };
	struct place places[3];

	sley_event_set(&line.leave);
	sley_rwlock_read_lock(&lock);
	line_up(rt, &line, places, "Abc");
	CHECK_STR(line.order, "");
	CHECK(!can_read(&lock));
	sley_rwlock_read_unlock(&lock);
	end_line(rt, &line);
	CHECK_STR(line.order, "Abc");
}

TEST(rwlock_downgrade_lets_in_the_readers_at_the_head)
{
	struct sley *rt = start_single();
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;
	struct line line = { .lock = &lock };
	struct place places[4];

	sley_rwlock_write_lock(&lock);
	line_up(rt, &line, places, "abCd");
	sley_rwlock_downgrade(&lock);
	run_all(rt);
	CHECK_STR(line.order, "ab");
	sley_event_set(&line.leave);
	run_all(rt);
	CHECK_STR(line.order, "ab");
	sley_rwlock_read_unlock(&lock);
	end_line(rt, &line);
	CHECK_STR(line.order, "abCd");
}

/* ---- giving up ------------------------------------------------------------ */

TEST(rwlock_a_cancelled_writer_lets_the_readers_behind_it_in)
{
	struct sley *rt = start_single();
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;
	struct line line = { .lock = &lock };
	struct place places[4];

	sley_rwlock_read_lock(&lock);
	line_up(rt, &line, places, "AbcD");
	sley_cancel(&places[0].task);
	run_all(rt);
	CHECK_EQ(places[0].result, -ECANCELED);
	CHECK_STR(line.order, "bc");
	sley_rwlock_read_unlock(&lock);
	end_line(rt, &line);
	CHECK_STR(line.order, "bcD");
	CHECK_EQ(lock.balance, 0);
}

struct counted {
	struct sley_rwlock lock;
	int n; /* under lock, but for the last look */
};

static void write_by_a_deadline(void *arg)
{
	struct counted *c = arg;

	CHECK_EQ(sley_rwlock_write_lock_until(&c->lock, in_ms(20)), -ETIMEDOUT);
}

static void read_and_count(void *arg)
{
	struct counted *c = arg;

	sley_rwlock_read_lock(&c->lock);
	c->n++; /* the only reader that counts */
	sley_rwlock_read_unlock(&c->lock);
}

TEST_WORKERS(rwlock_a_writer_that_times_out_lets_the_readers_behind_it_in)
{
	struct counted c = { .n = 0 };
	struct sley_task writer, reader;
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	sley_rwlock_read_lock(&c.lock);
	sley_spawn(&group, &writer, write_by_a_deadline, &c);
	sley_spawn(&group, &reader, read_and_count, &c);
	sley_join(&group);
	CHECK_EQ(c.n, 1);
	sley_rwlock_read_unlock(&c.lock);
	CHECK(can_write(&c.lock));
	stop(rt);
}

TEST(rwlock_a_cancelled_reader_leaves_nothing_behind)
{
	struct sley *rt = start_single();
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;
	struct line line = { .lock = &lock };
	struct place places[2];

	sley_rwlock_write_lock(&lock);
	line_up(rt, &line, places, "aB");
	sley_cancel(&places[0].task);
	run_all(rt);
	CHECK_EQ(places[0].result, -ECANCELED);
	sley_rwlock_write_unlock(&lock);
	end_line(rt, &line);
	CHECK_STR(line.order, "B");
	CHECK_EQ(lock.balance, 0);
}

static void lock_both_ways(void *arg)
{
	struct counted *c = arg;

	sley_rwlock_read_lock(&c->lock);
	sley_rwlock_read_unlock(&c->lock);
	sley_rwlock_write_lock(&c->lock);
	c->n++;
	sley_rwlock_write_unlock(&c->lock);
	CHECK(sley_cancelled());
}

TEST(rwlock_a_cancel_does_not_cut_the_plain_forms_short)
{
	struct sley *rt = start_single();
	struct sley_group group = SLEY_GROUP_INIT;
	struct counted c = { .n = 0 };
	struct sley_task task;

	sley_rwlock_write_lock(&c.lock);
	sley_spawn(&group, &task, lock_both_ways, &c);
	CHECK_EQ(sley_run_one(rt), 1);
	sley_cancel(&task);
	run_all(rt);
	sley_rwlock_downgrade(&c.lock);
	run_all(rt); /* it has read, and waits to write */
	CHECK_EQ(c.n, 0);
	sley_rwlock_read_unlock(&c.lock);
	sley_join(&group);
	CHECK_EQ(c.n, 1);
	stop(rt);
}

/* ---- nobody starves --------------------------------------------------------- */

/* The readers overlap: there is always one inside. */
TEST_WORKERS(rwlock_readers_do_not_starve_a_writer)
{
	check_no_starvation(&reading, &writing);
}

TEST_WORKERS(rwlock_writers_do_not_starve_a_reader)
{
	check_no_starvation(&writing, &reading);
}

/* ---- where it lives --------------------------------------------------------- */

struct freed {
	struct sley_rwlock lock;
	bool seen; /* under lock */
};

static void read_once(void *arg)
{
	struct freed *b = arg;

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
		struct freed *b = calloc(1, sizeof(*b));
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
	check_on_a_stack_that_returns(&writing, &reading);
}
