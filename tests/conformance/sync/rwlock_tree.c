/* SPDX-License-Identifier: MIT */
/*
 * rwlock_tree.c - a reader-writer lock that is re-entrant along a task tree,
 * and what a task tree is.  (C35; C-T7 says how not to.)
 */
#include "conformance/sync/rwlock_line.h"

struct scene {
	struct sley_rwlock_tree tree;
	struct sley_rwlock lock;
	atomic_int inside;
	bool could_read;
};

/* In place: the lock knows where its tree is. */
static void set_scene(struct scene *s)
{
	struct sley_rwlock lock = SLEY_RWLOCK_TREE_INIT(&s->tree);

	memset((void *)s, 0, sizeof(*s));
	s->lock = lock;
}

static bool is_free(struct scene *s)
{
	return can_write(&s->lock);
}

/* Run @fn as a task of a tree of its own, and wait for it. */
static void in_other_tree(sley_fn *fn, void *arg)
{
	run_task(fn, arg);
}

/* The same in the tree of the caller. */
static void in_same_tree(sley_fn *fn, void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_group_in_tree(&group);
	sley_spawn(&group, &task, fn, arg);
	sley_join(&group);
}

static void start_in_task(sley_fn *fn)
{
	struct scene s;
	struct sley *rt = start();

	set_scene(&s);
	in_other_tree(fn, &s);
	CHECK(is_free(&s));
	stop(rt);
}

static void may_do_nothing(void *arg)
{
	struct scene *s = arg;

	CHECK(!sley_rwlock_try_read_lock(&s->lock));
	CHECK(!sley_rwlock_try_write_lock(&s->lock));
	CHECK_EQ(sley_rwlock_read_lock_until(&s->lock, 0), -ETIMEDOUT);
	CHECK_EQ(sley_rwlock_write_lock_until(&s->lock, 0), -ETIMEDOUT);
}

static void may_read_only(void *arg)
{
	struct scene *s = arg;

	CHECK(!sley_rwlock_try_write_lock(&s->lock));
	CHECK_EQ(sley_rwlock_write_lock_until(&s->lock, 0), -ETIMEDOUT);
	CHECK(sley_rwlock_try_read_lock(&s->lock));
	sley_rwlock_read_lock(&s->lock);
	sley_rwlock_read_unlock(&s->lock);
	sley_rwlock_read_unlock(&s->lock);
}

/* ---- write, then write or read ------------------------------------------- */

static void lock_all_ways(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_write_lock(&s->lock);
	sley_rwlock_read_lock(&s->lock);
	CHECK(sley_rwlock_try_write_lock(&s->lock));
	CHECK(sley_rwlock_try_read_lock(&s->lock));
	CHECK_EQ(sley_rwlock_write_lock_until(&s->lock, 0), 0);
	CHECK_EQ(sley_rwlock_read_lock_until(&s->lock, 0), 0);
	in_other_tree(may_do_nothing, s);
	sley_rwlock_read_unlock(&s->lock);
	sley_rwlock_write_unlock(&s->lock);
	sley_rwlock_read_unlock(&s->lock);
	sley_rwlock_write_unlock(&s->lock);
	sley_rwlock_read_unlock(&s->lock);
	in_other_tree(may_do_nothing, s);
	sley_rwlock_write_unlock(&s->lock);
}

TEST_WORKERS(c35_a_task_that_writes_locks_again)
{
	start_in_task(lock_all_ways);
}

static void in_sub_task(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_write_lock(&s->lock);
	in_same_tree(lock_all_ways, s);
	sley_rwlock_write_unlock(&s->lock);
}

TEST_WORKERS(c35_sub_tasks_lock_again_what_their_parent_writes)
{
	start_in_task(in_sub_task);
}

/* ... and their sub-tasks, through the group they are in. */
static void in_sub_sub_task(void *arg)
{
	in_same_tree(in_sub_task, arg);
}

TEST_WORKERS(c35_a_tree_is_as_deep_as_it_likes)
{
	struct scene s;
	struct sley *rt = start();

	set_scene(&s);
	sley_rwlock_write_lock(&s.lock);
	in_same_tree(in_sub_sub_task, &s);
	in_other_tree(may_do_nothing, &s);
	sley_rwlock_write_unlock(&s.lock);
	CHECK(is_free(&s));
	stop(rt);
}

static void unlock_write(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_write_unlock(&s->lock);
}

static void lock_write(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_write_lock(&s->lock);
}

static void leave_it_to_the_tree(void *arg)
{
	in_same_tree(lock_write, arg);
	in_other_tree(may_do_nothing, arg);
	in_same_tree(unlock_write, arg);
}

TEST_WORKERS(c35_any_task_of_the_tree_releases_it)
{
	start_in_task(leave_it_to_the_tree);
}

static void read_under_write(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_write_lock(&s->lock);
	sley_rwlock_read_lock(&s->lock);
	sley_rwlock_read_lock(&s->lock);
	sley_rwlock_write_unlock(&s->lock);
	in_other_tree(may_read_only, s);
	sley_rwlock_read_unlock(&s->lock);
	in_other_tree(may_read_only, s);
	sley_rwlock_read_unlock(&s->lock);
}

TEST_WORKERS(c35_a_read_under_a_write_outlives_it)
{
	start_in_task(read_under_write);
}

static void downgrade(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_write_lock(&s->lock);
	sley_rwlock_read_lock(&s->lock);
	sley_rwlock_downgrade(&s->lock);
	in_other_tree(may_read_only, s);
	sley_rwlock_read_unlock(&s->lock);
	in_other_tree(may_read_only, s);
	sley_rwlock_read_unlock(&s->lock);
}

TEST_WORKERS(c35_a_writing_tree_downgrades)
{
	start_in_task(downgrade);
}

/* ---- read, then read ------------------------------------------------------ */

static void read_and_release(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_read_lock(&s->lock);
	atomic_fetch_add(&s->inside, 1);
	sley_rwlock_read_unlock(&s->lock);
}

static void write_and_release(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_write_lock(&s->lock);
	CHECK_EQ(s->inside, 1);
	sley_rwlock_write_unlock(&s->lock);
}

static void try_to_read(void *arg)
{
	struct scene *s = arg;

	s->could_read = sley_rwlock_try_read_lock(&s->lock);
	if (s->could_read)
		sley_rwlock_read_unlock(&s->lock);
}

/* Reads, and waits for a sub-task that reads: a writer stands between. */
static void wait_for_a_reading_child(void *arg)
{
	struct scene *s = arg;
	struct sley_group others = SLEY_GROUP_INIT;
	struct sley_task writer;

	sley_rwlock_read_lock(&s->lock);
	sley_spawn(&others, &writer, write_and_release, s);
	/* Other trees read as long as no writer waits. */
	do
		in_other_tree(try_to_read, s);
	while (s->could_read);
	in_same_tree(read_and_release, s);
	sley_rwlock_read_unlock(&s->lock);
	sley_join(&others);
}

TEST_WORKERS(c35_a_tree_that_reads_reads_again_past_waiting_writers)
{
	start_in_task(wait_for_a_reading_child);
}

/* ---- read, then write ----------------------------------------------------- */

static void cannot_upgrade(void *arg)
{
	struct scene *s = arg;

	CHECK(!sley_rwlock_try_write_lock(&s->lock));
	CHECK_EQ(sley_rwlock_write_lock_until(&s->lock, SLEY_FOREVER),
		 -EDEADLK);
}

static void read_and_upgrade(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_read_lock(&s->lock);
	cannot_upgrade(s);
	in_same_tree(cannot_upgrade, s);
	sley_rwlock_read_unlock(&s->lock);
	CHECK_EQ(sley_rwlock_write_lock_until(&s->lock, SLEY_FOREVER), 0);
	sley_rwlock_write_unlock(&s->lock);
}

TEST_WORKERS(c35_a_tree_that_reads_cannot_write)
{
	start_in_task(read_and_upgrade);
}

TEST_ABORTS(c35_upgrading_without_an_error_to_return_aborts,
	    "a task tree that reads a lock cannot write it")
{
	struct scene s;

	set_scene(&s);
	sley_rwlock_read_lock(&s.lock);
	sley_rwlock_write_lock(&s.lock);
}

/* ---- misuse --------------------------------------------------------------- */

static void unlock_read(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_read_unlock(&s->lock);
}

static void lock_read(void *arg)
{
	struct scene *s = arg;

	sley_rwlock_read_lock(&s->lock);
}

static void in_two_trees(sley_fn *lock, sley_fn *unlock)
{
	struct scene s;
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);

	set_scene(&s);
	in_other_tree(lock, &s);
	in_other_tree(unlock, &s);
	stop(rt);
}

TEST_ABORTS(c35_write_unlock_by_another_tree_aborts,
	    "sley_rwlock_write_unlock: this task tree does not hold the lock")
{
	in_two_trees(lock_write, unlock_write);
}

TEST_ABORTS(c35_read_unlock_by_another_tree_aborts,
	    "sley_rwlock_read_unlock: this task tree does not hold the lock")
{
	in_two_trees(lock_read, unlock_read);
}

TEST_ABORTS(c35_read_unlock_by_a_tree_that_only_writes_aborts,
	    "sley_rwlock_read_unlock: this task tree does not hold the lock")
{
	struct scene s;

	set_scene(&s);
	sley_rwlock_write_lock(&s.lock);
	sley_rwlock_read_unlock(&s.lock);
}

TEST_ABORTS(c35_downgrade_under_a_second_write_aborts,
	    "for writing, or holds it for writing more than once")
{
	struct scene s;

	set_scene(&s);
	sley_rwlock_write_lock(&s.lock);
	sley_rwlock_write_lock(&s.lock);
	sley_rwlock_downgrade(&s.lock);
}

TEST_ABORTS(tree_of_a_group_with_tasks_in_it_aborts,
	    "the group has tasks: put it into a tree before they are spawned")
{
	struct sley *rt = start_single();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ran = 0;

	sley_spawn(&group, &task, count_task, &ran);
	sley_group_in_tree(&group);
	stop(rt);
}

/* ---- who is in a tree ----------------------------------------------------- */

/* A task that ends with the lock held leaves it to nobody. */
TEST_WORKERS(tree_ends_with_its_task)
{
	struct scene s;
	struct sley *rt = start();
	int i;

	set_scene(&s);
	in_other_tree(lock_write, &s);
	for (i = 0; i < 20; i++)
		in_other_tree(may_do_nothing, &s);
	may_do_nothing(&s);
	stop(rt);
}

static void *do_nothing_in_thread(void *arg)
{
	may_do_nothing(arg);
	return NULL;
}

TEST(tree_of_a_plain_thread_is_its_own)
{
	struct scene s;
	pthread_t thread;

	set_scene(&s);
	sley_rwlock_write_lock(&s.lock);
	sley_rwlock_write_lock(&s.lock);
	thread = test_thread(do_nothing_in_thread, &s);
	pthread_join(thread, NULL);
	sley_rwlock_write_unlock(&s.lock);
	sley_rwlock_write_unlock(&s.lock);
	CHECK(is_free(&s));
}

/* What a thread locked before it was bound, it unlocks after. */
TEST_WORKERS(tree_of_a_bound_thread_is_that_of_the_thread)
{
	struct scene s;
	struct sley *rt;

	set_scene(&s);
	sley_rwlock_write_lock(&s.lock);
	rt = start();
	CHECK(sley_rwlock_try_write_lock(&s.lock));
	in_other_tree(may_do_nothing, &s);
	in_same_tree(lock_all_ways, &s);
	stop(rt);
	sley_rwlock_write_unlock(&s.lock);
	sley_rwlock_write_unlock(&s.lock);
	CHECK(is_free(&s));
}

/* ---- forked children ------------------------------------------------------ */

struct family {
	struct scene scene;
	atomic_bool child_ran;
	bool first; /* the child asks before its parent does */
	pid_t parent, child;
};

static void write_in_child(void *arg)
{
	struct family *f = arg;

	f->child = gettid();
	sley_rwlock_write_lock(&f->scene.lock);
	in_same_tree(lock_all_ways, &f->scene);
	if (!f->first)
		sley_rwlock_write_unlock(&f->scene.lock);
	atomic_store(&f->child_ran, true);
}

/* The child of the child: its tree is that of the grandparent. */
static void fork_again(void *arg)
{
	struct family *f = arg;
	struct sley_forked child;

	sley_fork(&child, write_in_child, f);
	while (!atomic_load(&f->child_ran))
		test_nap_ms(1);
	sley_fork_join(&child);
}

static void write_in_parent(void *arg)
{
	struct family *f = arg;
	struct sley_forked child;
	bool deep = nr_runners() > 2;

	f->parent = gettid();
	if (!f->first)
		sley_rwlock_write_lock(&f->scene.lock);
	sley_fork(&child, deep ? fork_again : write_in_child, f);
	while (nr_runners() > 1 && !atomic_load(&f->child_ran))
		test_nap_ms(1);
	sley_fork_join(&child);
	if (nr_runners() > 1)
		CHECK_NE(f->parent, f->child);
	if (!f->first)
		sley_rwlock_write_unlock(&f->scene.lock);
}

static void unlock_after_child(void *arg)
{
	struct family *f = arg;

	write_in_parent(f);
	sley_rwlock_write_unlock(&f->scene.lock);
}

TEST_WORKERS(c35_forked_children_are_in_the_tree_stolen_or_not)
{
	struct sley *rt = start();
	int round;

	for (round = 0; round < 5; round++) {
		struct family f = { .parent = 0 };

		set_scene(&f.scene);
		in_other_tree(write_in_parent, &f);
		CHECK(is_free(&f.scene));
	}
	stop(rt);
}

/* The number of the tree is made by the child; it is the parent's all the same. */
TEST_WORKERS(c35_a_stolen_child_that_asks_first_asks_for_its_parent)
{
	struct sley *rt = start();
	int round;

	for (round = 0; round < 5; round++) {
		struct family f = { .first = true };

		set_scene(&f.scene);
		in_other_tree(unlock_after_child, &f);
		CHECK(is_free(&f.scene));
	}
	stop(rt);
}

/* And it ends with the parent. */
TEST_WORKERS(tree_made_by_a_stolen_child_ends_with_its_parent)
{
	struct family f = { .first = true };
	struct sley *rt = start();
	int i;

	set_scene(&f.scene);
	in_other_tree(write_in_parent, &f);
	for (i = 0; i < 50; i++)
		in_other_tree(may_do_nothing, &f.scene);
	stop(rt);
}

/* ---- the queue ------------------------------------------------------------ */

static struct sley *start_line(struct scene *s, struct line *line)
{
	set_scene(s);
	*line = (struct line){ .lock = &s->lock };
	return start_single();
}

TEST(c35_trees_are_served_first_come_first_served)
{
	struct scene s;
	struct line line;
	struct place places[5];
	struct sley *rt = start_line(&s, &line);

	sley_rwlock_write_lock(&s.lock);
	line_up(rt, &line, places, "abCde");
	sley_rwlock_write_unlock(&s.lock);
	run_all(rt);
	CHECK_STR(line.order, "ab");
	sley_event_set(&line.leave);
	run_all(rt);
	CHECK_STR(line.order, "abCde");
	end_line(rt, &line);
}

/* The first one ends, and nobody else does. */
static void end_first(struct sley *rt, struct line *line)
{
	sley_event_set(&line->leave);
	CHECK_EQ(sley_run_one(rt), 1);
	sley_event_clear(&line->leave);
	run_all(rt);
}

/* "c" may be what the tree waits for that reads with "b". */
TEST(c35_a_reading_tree_meets_its_own_behind_a_writer)
{
	struct scene s;
	struct line line;
	struct place places[4];
	struct sley *rt = start_line(&s, &line);

	line_up(rt, &line, places, "A+bX+c");
	CHECK_STR(line.order, "A");
	end_first(rt, &line);
	CHECK_STR(line.order, "Abc");
	end_line(rt, &line);
	CHECK_STR(line.order, "AbcX");
}

TEST(c35_a_writing_tree_meets_its_own_behind_others)
{
	struct scene s;
	struct line line;
	struct place places[5];
	struct sley *rt = start_line(&s, &line);

	line_up(rt, &line, places, "A+BC+D+e");
	CHECK_STR(line.order, "A");
	end_first(rt, &line);
	CHECK_STR(line.order, "ABDe");
	end_line(rt, &line);
	CHECK_STR(line.order, "ABDeC");
}

TEST(c35_more_reading_trees_than_holds_wait)
{
	struct scene s;
	struct line line;
	struct place places[12];
	struct sley *rt = start_line(&s, &line);

	line_up(rt, &line, places, "abcdefghij");
	CHECK_STR(line.order, "abcdefgh");
	CHECK_EQ(SLEY_RWLOCK_HOLDS, 8);
	CHECK(!sley_rwlock_try_read_lock(&s.lock));
	sley_cancel(&places[8].task);
	run_all(rt);
	CHECK_EQ(places[8].result, -ECANCELED);
	CHECK_STR(line.order, "abcdefgh");
	sley_event_set(&line.leave);
	run_all(rt);
	CHECK_STR(line.order, "abcdefghj");
	end_line(rt, &line);
}

TEST(c35_a_cancelled_writer_lets_the_trees_behind_it_in)
{
	struct scene s;
	struct line line;
	struct place places[4];
	struct sley *rt = start_line(&s, &line);

	line_up(rt, &line, places, "aBcd");
	CHECK_STR(line.order, "a");
	sley_cancel(&places[1].task);
	run_all(rt);
	CHECK_EQ(places[1].result, -ECANCELED);
	CHECK_STR(line.order, "acd");
	end_line(rt, &line);
}

/* ---- many ------------------------------------------------------------------- */

struct many {
	struct scene scene;
	long a, b; /* equal, outside of a write */
};

static void read_in_family(void *arg)
{
	struct many *m = arg;

	sley_rwlock_read_lock(&m->scene.lock);
	CHECK_EQ(m->a, m->b);
	sley_yield();
	CHECK_EQ(m->a, m->b);
	sley_rwlock_read_unlock(&m->scene.lock);
}

static void write_in_family(void *arg)
{
	struct many *m = arg;

	sley_rwlock_write_lock(&m->scene.lock);
	m->a++;
	m->b++;
	sley_rwlock_write_unlock(&m->scene.lock);
}

static void be_a_family(void *arg)
{
	struct many *m = arg;
	int i;

	for (i = 0; i < 10; i++) {
		sley_rwlock_read_lock(&m->scene.lock);
		in_same_tree(read_in_family, m);
		sley_rwlock_read_unlock(&m->scene.lock);
		sley_rwlock_write_lock(&m->scene.lock);
		m->a++;
		in_same_tree(write_in_family, m);
		m->b++;
		in_same_tree(read_in_family, m);
		sley_rwlock_write_unlock(&m->scene.lock);
	}
}

TEST_WORKERS(c35_many_trees_take_turns)
{
	struct many m = { .a = 0 };
	struct sley *rt = start();

	set_scene(&m.scene);
	run_tasks(20, be_a_family, &m);
	CHECK_EQ(m.a, 20L * 10 * 2);
	CHECK_EQ(m.a, m.b);
	CHECK(is_free(&m.scene));
	stop(rt);
}

static void re_enter(void *arg)
{
	struct scene *s = arg;

	CHECK(sley_rwlock_try_write_lock(&s->lock));
	s->inside++;
	sley_rwlock_write_unlock(&s->lock);
}

static void hang_two_on_a_ticket(void *arg)
{
	struct scene *s = arg;
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_ticket before, ticket;
	struct sley_task task[2];

	sley_group_in_tree(&group);
	sley_ticket_take(&queue, &before);
	sley_ticket_take(&queue, &ticket);
	sley_ticket_on_call(&ticket, &group, &task[0], re_enter, s);
	sley_ticket_on_call(&ticket, &group, &task[1], re_enter, s);
	sley_rwlock_write_lock(&s->lock);
	sley_ticket_done(&before);
	sley_join(&group);
	sley_rwlock_write_unlock(&s->lock);
	sley_ticket_done(&ticket);
	CHECK_EQ(s->inside, 2);
}

TEST_WORKERS(c35_tasks_that_follow_each_other_are_in_the_tree_of_their_group)
{
	start_in_task(hang_two_on_a_ticket);
}
