/* SPDX-License-Identifier: MIT */
/*
 * domain_lowering.c - the host lowers the threads of a process, and nothing else, and
 * gives them back what they had.
 */
#include "harness/test.h"

#include "domain/lowering.h"

#include "base/atomic.h"
#include "os/sched_attr.h"
#include "os/thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define NR 3
#define NICE 2

/* A process with threads, which are its workers; memory of both. */
struct member {
	int pid;
	int tid[NR]; /* the first is the process itself */
	uint32_t end;
};

static void *be_there(void *arg)
{
	int *tid = arg;

	store_release(tid, os_thread_id());
	for (;;)
		pause();
	return NULL;
}

static struct member *start_member(bool as_nobody)
{
	struct member *member = mmap(NULL, sizeof(*member),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pid;

	if (geteuid() != 0 || !os_sched_may_restore_nice())
		test_skip("no privilege to restore a nice value");
	CHECK(member != MAP_FAILED);
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid) {
		CHECK_EQ(os_sched_set_nice(0, NICE), 0);
		CHECK(!as_nobody || (!setgid(NOBODY) && !setuid(NOBODY)));
		for (int i = 1; i < NR; i++)
			(void)test_thread(be_there, &member->tid[i]);
		be_there(&member->tid[0]);
	}
	member->pid = pid;
	for (int i = 0; i < NR; i++)
		CHECK_EVENTUALLY(load_acquire(&member->tid[i]));
	return member;
}

static void end_member(struct member *member)
{
	CHECK_EQ(kill(member->pid, SIGKILL), 0);
	CHECK_EQ(waitpid(member->pid, NULL, 0), member->pid);
	munmap(member, sizeof(*member));
}

static int nice_of(int tid)
{
	struct os_sched now;

	CHECK_EQ(os_sched_get(tid, &now), 0);
	return now.nice;
}

static void check_all(const struct member *member, int nice)
{
	for (int i = 0; i < NR; i++)
		CHECK_EQ(nice_of(member->tid[i]), nice);
}

static void lower_and_restore(bool as_nobody)
{
	struct member *member = start_member(as_nobody);
	struct lowering lowering = { 0 };

	CHECK_EQ(lowering_begin(&lowering, member->pid, member->tid, NR), NR);
	check_all(member, LOWERING_NICE);
	/* The next tick finds them so, and forgets nothing. */
	CHECK_EQ(lowering_begin(&lowering, member->pid, member->tid, NR), NR);
	CHECK(lowering_is_on(&lowering));
	lowering_end(&lowering, member->pid);
	check_all(member, NICE);
	CHECK(!lowering_is_on(&lowering));
	CHECK_EQ(lowering.nr_foreign, 0);
	CHECK_EQ(lowering.nr_kept, 0);
	end_member(member);
}

TEST(a_member_of_the_same_user_is_lowered_and_restored)
{
	lower_and_restore(false);
}

TEST(a_member_of_another_user_is_lowered_and_restored)
{
	lower_and_restore(true);
}

TEST(a_member_cannot_have_threads_of_others_lowered)
{
	struct member *member = start_member(false), *other;
	struct lowering lowering = { 0 };
	int32_t tids[] = { getpid(), 0, -1, INT32_MAX, 0 };

	other = start_member(false);
	tids[4] = other->tid[1];
	CHECK_EQ(lowering_begin(&lowering, member->pid, tids, 5), 0);
	CHECK_EQ(lowering.nr_foreign, 4);
	check_all(member, NICE);
	check_all(other, NICE);
	CHECK_NE(nice_of(getpid()), LOWERING_NICE);
	end_member(other);
	end_member(member);
}

TEST(a_thread_that_is_not_named_any_more_is_restored)
{
	struct member *member = start_member(false);
	struct lowering lowering = { 0 };
	int32_t tids[NR] = { 0, member->tid[1] };

	CHECK_EQ(lowering_begin(&lowering, member->pid, member->tid, NR), NR);
	CHECK_EQ(lowering_begin(&lowering, member->pid, tids, NR), 1);
	CHECK_EQ(nice_of(member->tid[0]), NICE);
	CHECK_EQ(nice_of(member->tid[1]), LOWERING_NICE);
	CHECK_EQ(nice_of(member->tid[2]), NICE);
	lowering_end(&lowering, member->pid);
	check_all(member, NICE);
	end_member(member);
}

TEST(a_value_that_changed_meanwhile_is_left)
{
	struct member *member = start_member(false);
	struct lowering lowering = { 0 };

	CHECK_EQ(lowering_begin(&lowering, member->pid, member->tid, NR), NR);
	CHECK_EQ(os_sched_set_nice(member->tid[1], 7), 0);
	lowering_end(&lowering, member->pid);
	CHECK_EQ(nice_of(member->tid[0]), NICE);
	CHECK_EQ(nice_of(member->tid[1]), 7);
	CHECK_EQ(nice_of(member->tid[2]), NICE);
	end_member(member);
}

TEST(a_member_that_has_died_needs_nothing)
{
	struct member *member = start_member(false);
	struct lowering lowering = { 0 };
	int pid = member->pid;

	CHECK_EQ(lowering_begin(&lowering, pid, member->tid, NR), NR);
	end_member(member);
	lowering_end(&lowering, pid);
	CHECK_EQ(lowering.nr_kept, 0);
}

TEST(a_thread_of_another_class_is_not_lowered)
{
	struct member *member = start_member(false);
	struct lowering lowering = { 0 };
	struct sched_param none = { 0 };

	CHECK_EQ(sched_setscheduler(member->tid[1], SCHED_IDLE, &none), 0);
	CHECK_EQ(lowering_begin(&lowering, member->pid, member->tid, NR),
		 NR - 1);
	CHECK_EQ(sched_getscheduler(member->tid[1]), SCHED_IDLE);
	CHECK_EQ(nice_of(member->tid[1]), NICE);
	lowering_end(&lowering, member->pid);
	check_all(member, NICE);
	end_member(member);
}
