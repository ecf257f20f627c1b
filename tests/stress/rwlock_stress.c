/* SPDX-License-Identifier: MIT */
/*
 * rwlock_stress.c - reader-writer locks between tasks and threads, with
 * deadlines that are about to pass and cancels at the same time.
 *
 * A writer that is let in beside somebody is seen in the section; a grant that
 * goes to somebody who has given up is a lock that nobody releases, and the
 * test times out.  In the end the lock must be as it was in the beginning.
 */
#include "stress/crowd.h"

#define NR_TASKS 16
#define NR_THREADS 3
#define NR_LOOPS 100

struct scene {
	struct sley_rwlock lock;
	struct sley_rwlock_tree tree;
	uint64_t a, b; /* plain: equal, outside of a write */
	uint64_t written;
	atomic_uint_least64_t nr_written;
	atomic_int readers, writers;
};

static void read_section(struct scene *s)
{
	atomic_fetch_add(&s->readers, 1);
	CHECK_EQ(s->writers, 0);
	CHECK_EQ(s->a, s->b);
	dawdle();
	CHECK_EQ(s->a, s->b);
	CHECK_EQ(s->writers, 0);
	atomic_fetch_sub(&s->readers, 1);
}

static void write_section(struct scene *s)
{
	CHECK_EQ(atomic_fetch_add(&s->writers, 1), 0);
	CHECK_EQ(s->readers, 0);
	s->a++;
	dawdle();
	s->b++;
	s->written++;
	CHECK_EQ(s->readers, 0);
	CHECK_EQ(atomic_fetch_sub(&s->writers, 1), 1);
	atomic_fetch_add(&s->nr_written, 1);
}

static int lock_to_read(struct scene *s)
{
	switch (test_random(4)) {
	case 0:
		return sley_rwlock_try_read_lock(&s->lock) ? 0 : -ETIMEDOUT;
	case 1:
		return sley_rwlock_read_lock_until(&s->lock, soon());
	default:
		sley_rwlock_read_lock(&s->lock);
		return 0;
	}
}

static int lock_to_write(struct scene *s)
{
	switch (test_random(4)) {
	case 0:
		return sley_rwlock_try_write_lock(&s->lock) ? 0 : -ETIMEDOUT;
	case 1:
		sley_rwlock_write_lock(&s->lock);
		return 0;
	default:
		return sley_rwlock_write_lock_until(&s->lock, soon());
	}
}

static int read_once(struct scene *s)
{
	int err = lock_to_read(s);

	if (err)
		return err;
	read_section(s);
	sley_rwlock_read_unlock(&s->lock);
	return 0;
}

static int write_once(struct scene *s)
{
	int err = lock_to_write(s);

	if (err)
		return err;
	write_section(s);
	if (one_in(4)) {
		sley_rwlock_downgrade(&s->lock);
		read_section(s);
		sley_rwlock_read_unlock(&s->lock);
	} else {
		sley_rwlock_write_unlock(&s->lock);
	}
	return 0;
}

static int use_once(void *scene, unsigned int index)
{
	(void)index;
	return one_in(3) ? write_once(scene) : read_once(scene);
}

static void check_scene(struct scene *s, bool with_tree)
{
	CHECK_EQ(s->readers, 0);
	CHECK_EQ(s->a, s->b);
	CHECK_EQ(s->written, atomic_load(&s->nr_written));
	CHECK(s->lock.q.first == NULL);
	CHECK(sley_rwlock_try_read_lock(&s->lock));
	sley_rwlock_read_unlock(&s->lock);
	CHECK(sley_rwlock_try_write_lock(&s->lock));
	sley_rwlock_write_unlock(&s->lock);
	if (!with_tree) {
		CHECK_EQ(s->lock.q.word, 0);
		CHECK_EQ(s->lock.balance, 0);
	}
}

static void play_with(bool with_tree)
{
	static struct scene s;
	struct sley_rwlock tree_lock = SLEY_RWLOCK_TREE_INIT(&s.tree);
	struct crowd crowd = { .act = use_once,
			       .scene = &s,
			       .nr_tasks = NR_TASKS,
			       .nr_threads = NR_THREADS,
			       .rounds = NR_LOOPS,
			       .cancels = true };

	memset((void *)&s, 0, sizeof(s));
	if (with_tree)
		s.lock = tree_lock;
	crowd_run(&crowd);
	check_scene(&s, with_tree);
}

static void play(void)
{
	play_with(false);
}

static void play_with_trees(void)
{
	play_with(true);
}

STRESS(rwlock_keeps_apart_whom_it_must, play);
STRESS(rwlock_keeps_trees_apart, play_with_trees);
