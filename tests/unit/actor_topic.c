/* SPDX-License-Identifier: MIT */
/*
 * actor_topic.c - the rooms of a topic, with members that come and go while
 * somebody walks through them.
 */
#include "harness/test.h"

#include "actor/name/publish.c"
#include "actor/name/topic.c"

#include <sley/sley.h>
#include <string.h>

static int waits(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (!sley_receive(&msg))
		;
	return 0;
}

static struct sley *rt;

static void begin(void)
{
	CHECK_EQ(sley_create(&rt, test_config()), 0);
	CHECK_EQ(sley_bind(rt), 0);
}

static void end(void)
{
	sley_unbind(rt);
	CHECK_EQ(sley_destroy(rt), 0);
}

static sley_pid spawn(void)
{
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, waits, NULL, NULL), 0);
	return pid;
}

static sley_pid spawn_member(void)
{
	sley_pid pid = spawn();

	CHECK_EQ(sley_topic_join("t", pid), 0);
	return pid;
}

static int seats(void)
{
	return popcount(room_full());
}

static bool walk_begin_at(struct walk *walk, const char *name)
{
	struct key key;

	CHECK(key_init(&key, name));
	return walk_begin(walk, &key);
}

static int nr_rooms(void)
{
	struct walk walk;
	int nr = 0;

	CHECK(walk_begin_at(&walk, "t"));
	while (walk_next(&walk))
		nr++;
	walk_end(&walk);
	return nr;
}

static int count_in_room(const struct walk *walk, sley_pid pid)
{
	int nr = 0;

	for (unsigned int i = 0; i < walk->nr; i++)
		nr += walk->pid[i] == pid;
	return nr;
}

TEST(who_moves_to_a_later_room_is_not_met_twice)
{
	sley_pid first = 0, last = 0, late;
	struct walk walk;
	int met = 0;

	begin();
	for (int i = 0; i <= seats(); i++) {
		last = spawn_member();
		first = i ? first : last;
	}
	CHECK_EQ(nr_rooms(), 2);
	late = spawn();
	CHECK(walk_begin_at(&walk, "t"));
	CHECK(walk_next(&walk));
	met += count_in_room(&walk, last);
	CHECK_EQ(met, 1);
	/* A seat becomes free in the room that is still to come. */
	CHECK_EQ(sley_topic_leave("t", first), 0);
	CHECK_EQ(sley_topic_leave("t", last), 0);
	CHECK_EQ(sley_topic_join("t", last), 0);
	CHECK_EQ(sley_topic_join("t", late), 0);
	CHECK(walk_next(&walk));
	met += count_in_room(&walk, last);
	CHECK_EQ(met, 1);
	CHECK_EQ(count_in_room(&walk, first), 0);
	CHECK_EQ(count_in_room(&walk, late), 0);
	CHECK_EQ(walk.nr, (unsigned int)seats() - 1);
	CHECK(!walk_next(&walk));
	walk_end(&walk);
	CHECK_EQ(sley_topic_members("t", NULL, 0), seats() + 1);
	end();
}

TEST(seats_are_used_again)
{
	sley_pid pid = SLEY_NO_PID;

	begin();
	for (int i = 0; i < 2 * seats(); i++)
		pid = spawn_member();
	CHECK_EQ(nr_rooms(), 2);
	for (int i = 0; i < 10 * seats(); i++) {
		CHECK_EQ(sley_topic_leave("t", pid), 0);
		CHECK_EQ(sley_topic_join("t", pid), 0);
	}
	CHECK_EQ(nr_rooms(), 2);
	CHECK_EQ(sley_topic_join("t", pid), 0);
	CHECK_EQ(nr_rooms(), 3);
	end();
}

TEST(a_topic_stays_as_long_as_somebody_walks_through_it)
{
	struct walk walk, other;
	sley_pid pid;

	begin();
	pid = spawn_member();
	CHECK(walk_begin_at(&walk, "t"));
	CHECK_EQ(sley_topic_leave("t", pid), 0);
	/* It is empty, but there: who joins now joins this one. */
	CHECK(walk_begin_at(&other, "t"));
	CHECK(other.topic == walk.topic);
	walk_end(&other);
	CHECK_EQ(sley_topic_join("t", pid), 0);
	CHECK(walk_next(&walk));
	CHECK_EQ(walk.nr, 0); /* it joined after the walk began */
	CHECK_EQ(sley_topic_leave("t", pid), 0);
	walk_end(&walk);
	CHECK(!walk_begin_at(&walk, "t"));
	end();
}

/* ---- patterns -------------------------------------------------------------------- */

TEST(who_joins_a_pattern_after_the_walk_began_is_passed_over)
{
	sley_pid pid;
	struct walk walk;

	begin();
	pid = spawn();
	CHECK(!patterns_begin(&walk));
	CHECK_EQ(sley_topic_join_matching("a*", pid), 0);
	CHECK_EQ(sley_topic_join_matching("b*", pid), 0);
	CHECK(patterns_begin(&walk));
	CHECK_EQ(strcmp(walk.topic->entry.text, "b*"), 0);
	/* A pattern that is new, and a member of one that is still to come. */
	CHECK_EQ(sley_topic_join_matching("c*", pid), 0);
	CHECK_EQ(sley_topic_join_matching("a*", pid), 0);
	CHECK(walk_next(&walk));
	CHECK_EQ(walk.nr, 1);
	CHECK(patterns_next(&walk));
	CHECK_EQ(strcmp(walk.topic->entry.text, "a*"), 0);
	CHECK(walk_next(&walk));
	CHECK_EQ(walk.nr, 1);
	CHECK(!walk_next(&walk));
	CHECK(!patterns_next(&walk));
	end();
	CHECK(!patterns_there());
}

TEST(a_pattern_stays_as_long_as_somebody_is_at_it)
{
	struct walk walk;
	sley_pid pid;

	begin();
	pid = spawn();
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_topic_join_matching(&"***"[i], pid), 0);
	CHECK(patterns_begin(&walk));
	/* All go: the one it is at stays, and leads to what is left. */
	CHECK_EQ(sley_topic_leave_matching("**", pid), 0);
	CHECK_EQ(sley_topic_leave_matching("*", pid), 0);
	CHECK_EQ(sley__patterns.nr, 2);
	CHECK(walk_next(&walk));
	CHECK_EQ(walk.nr, 0);
	CHECK(patterns_next(&walk));
	CHECK_EQ(sley__patterns.nr, 1);
	CHECK_EQ(strcmp(walk.topic->entry.text, "***"), 0);
	CHECK(!patterns_next(&walk));
	CHECK_EQ(sley__patterns.nr, 1);
	CHECK_EQ(sley_topic_leave_matching("***", pid), 0);
	CHECK(!patterns_there() && !sley__patterns.first);
	end();
}
