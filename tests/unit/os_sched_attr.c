/* SPDX-License-Identifier: MIT */
/*
 * os_sched_attr.c - policy, slice, nice value and timer slack of a thread: what the
 * kernel takes, from root and from another user.
 */
#include "harness/test.h"

#include "os/sched_attr.h"

#include "base/atomic.h"
#include "os/thread.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define MS 1000000ull

static struct os_sched read_back(int tid)
{
	struct os_sched now;

	CHECK_EQ(os_sched_get(tid, &now), 0);
	return now;
}

static void need_slices(void)
{
	if (!os_sched_has_slices())
		test_skip("this kernel has no slices");
}

/*
 * Runs @body in a child that is another user, without any privilege.  Checks there
 * end the child, and the test with it.
 */
static void as_nobody(void (*body)(void))
{
	int pid, status;

	if (geteuid() != 0)
		test_skip("only root becomes another user");
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid) {
		struct rlimit none = { 0, 0 };

		CHECK_EQ(setrlimit(RLIMIT_NICE, &none), 0);
		CHECK_EQ(setgroups(0, NULL), 0);
		CHECK_EQ(setgid(NOBODY), 0);
		CHECK_EQ(setuid(NOBODY), 0);
		body();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}

/* ---- policy and slice ---------------------------------------------------------- */

static void change_there_and_back(void)
{
	struct os_sched before = read_back(0), now;

	CHECK_EQ(os_sched_set(0, OS_SCHED_BATCH, OS_SLICE_MAX_NS), 0);
	now = read_back(0);
	CHECK_EQ(now.policy, OS_SCHED_BATCH);
	CHECK_EQ(now.nice, before.nice);
	CHECK_EQ(sched_getscheduler(0), SCHED_BATCH);
	CHECK_EQ(os_sched_set(0, OS_SCHED_OTHER, OS_SLICE_MIN_NS), 0);
	now = read_back(0);
	CHECK_EQ(now.policy, OS_SCHED_OTHER);
	CHECK_EQ(now.nice, before.nice);
	CHECK_EQ(os_sched_set(0, OS_SCHED_OTHER, 0), 0);
	CHECK_EQ(read_back(0).slice_ns, before.slice_ns);
}

TEST(a_thread_becomes_batch_and_comes_back)
{
	change_there_and_back();
}

TEST(a_user_without_privilege_may_change_policy_and_slice_both_ways)
{
	as_nobody(change_there_and_back);
}

static void take_each_slice(void)
{
	static const struct {
		uint64_t asked, given;
	} slices[] = {
		{ OS_SLICE_MIN_NS, OS_SLICE_MIN_NS },
		{ OS_SLICE_MAX_NS, OS_SLICE_MAX_NS },
		{ 7 * MS, 7 * MS },
		/* The kernel moves others to the nearer end. */
		{ 1, OS_SLICE_MIN_NS },
		{ 1000 * MS, OS_SLICE_MAX_NS },
	};

	need_slices();
	for (size_t i = 0; i < array_size(slices); i++) {
		CHECK_EQ(os_sched_set(0, OS_SCHED_BATCH, slices[i].asked), 0);
		CHECK_EQ(read_back(0).slice_ns, slices[i].given);
	}
}

TEST(the_kernel_takes_slices_between_a_tenth_and_a_hundred_ms)
{
	take_each_slice();
}

TEST(a_look_for_slices_changes_nothing)
{
	struct os_sched before, after;

	need_slices();
	CHECK_EQ(os_sched_set(0, OS_SCHED_BATCH, 5 * MS), 0);
	CHECK_EQ(os_sched_set_nice(0, 3), 0);
	before = read_back(0);
	CHECK(os_sched_has_slices());
	after = read_back(0);
	CHECK_EQ(after.policy, before.policy);
	CHECK_EQ(after.nice, before.nice);
	CHECK_EQ(after.slice_ns, before.slice_ns);
}

/* ---- by number, of other threads ------------------------------------------------ */

struct other {
	int tid;
	uint32_t end;
};

static void *be_there(void *arg)
{
	struct other *other = arg;

	store_release(&other->tid, os_thread_id());
	while (!load_acquire(&other->end))
		test_nap_ms(1);
	return NULL;
}

static pthread_t start_other(struct other *other)
{
	pthread_t thread;

	*other = (struct other){ 0 };
	thread = test_thread(be_there, other);
	CHECK_EVENTUALLY(load_acquire(&other->tid));
	return thread;
}

static void end_other(struct other *other, pthread_t thread)
{
	store_release(&other->end, 1);
	os_thread_join(thread);
}

TEST(a_change_concerns_one_thread_alone)
{
	struct os_sched before = read_back(0), now;
	struct other other;
	pthread_t thread = start_other(&other);

	CHECK_EQ(os_sched_set(other.tid, OS_SCHED_BATCH, OS_SLICE_MAX_NS), 0);
	CHECK_EQ(os_sched_set_nice(other.tid, 7), 0);
	now = read_back(other.tid);
	CHECK_EQ(now.policy, OS_SCHED_BATCH);
	CHECK_EQ(now.nice, 7);
	now = read_back(0);
	CHECK_EQ(now.policy, before.policy);
	CHECK_EQ(now.nice, before.nice);
	CHECK_EQ(now.slice_ns, before.slice_ns);
	end_other(&other, thread);
}

TEST(a_slice_keeps_the_nice_value)
{
	CHECK_EQ(os_sched_set_nice(0, 4), 0);
	CHECK_EQ(os_sched_set(0, OS_SCHED_BATCH, OS_SLICE_MAX_NS), 0);
	CHECK_EQ(read_back(0).nice, 4);
	CHECK_EQ(os_sched_set_nice(0, 5), 0);
	CHECK_EQ(read_back(0).policy, OS_SCHED_BATCH);
}

TEST(a_thread_that_is_gone_is_an_error)
{
	struct other other;
	pthread_t thread = start_other(&other);
	struct os_sched now;

	end_other(&other, thread);
	/* A thread has been joined before the kernel has forgotten its number. */
	CHECK_EVENTUALLY(os_sched_get(other.tid, &now) == -ESRCH);
	CHECK_EQ(os_sched_set(other.tid, OS_SCHED_OTHER, 0), -ESRCH);
	CHECK_EQ(os_sched_set_nice(other.tid, 19), -ESRCH);
}

TEST(a_thread_of_another_policy_is_not_touched)
{
	struct sched_param none = { 0 };

	CHECK_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	CHECK_EQ(read_back(0).policy, OS_SCHED_FOREIGN);
	CHECK_EQ(os_sched_set(0, OS_SCHED_BATCH, OS_SLICE_MAX_NS), -EBUSY);
	CHECK_EQ(sched_getscheduler(0), SCHED_IDLE);
	CHECK(!os_sched_has_slices());
}

/* ---- lowering is one-way ---------------------------------------------------------- */

static void lower_without_return(void)
{
	int before = read_back(0).nice;

	CHECK(!os_sched_may_restore_nice());
	CHECK_EQ(read_back(0).nice, before);
	CHECK_EQ(os_sched_set_nice(0, 19), 0);
	CHECK_EQ(os_sched_set_nice(0, before), -EACCES);
	CHECK_EQ(read_back(0).nice, 19);
	/* Policy and slice go both ways even so, and leave the value where it is. */
	change_there_and_back();
	CHECK_EQ(read_back(0).nice, 19);
}

TEST(a_user_without_privilege_cannot_undo_a_lower_nice_value)
{
	as_nobody(lower_without_return);
}

static void touch_a_thread_of_root(void)
{
	int root = getppid();
	struct os_sched now;

	CHECK_EQ(os_sched_get(root, &now), 0);
	CHECK_EQ(os_sched_set(root, OS_SCHED_BATCH, 0), -EPERM);
	CHECK_EQ(os_sched_set_nice(root, 19), -EPERM);
}

TEST(threads_of_another_user_are_not_touched_without_privilege)
{
	struct os_sched before = read_back(0), after;

	as_nobody(touch_a_thread_of_root);
	after = read_back(0);
	CHECK_EQ(after.policy, before.policy);
	CHECK_EQ(after.nice, before.nice);
}

TEST(root_restores_what_it_has_lowered)
{
	int before = read_back(0).nice;
	struct other other;
	pthread_t thread;

	if (!os_sched_may_restore_nice())
		test_skip("no privilege to restore a nice value");
	CHECK_EQ(read_back(0).nice, before);
	thread = start_other(&other);
	CHECK_EQ(os_sched_set_nice(other.tid, 19), 0);
	CHECK_EQ(read_back(other.tid).nice, 19);
	CHECK_EQ(os_sched_set_nice(other.tid, before), 0);
	CHECK_EQ(read_back(other.tid).nice, before);
	end_other(&other, thread);
}

/* ---- timer slack ------------------------------------------------------------------- */

TEST(the_timer_slack_of_a_thread_can_be_set_and_given_back)
{
	long usual = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);

	errno = E2BIG;
	CHECK_EQ(os_thread_set_slack(1), usual);
	CHECK_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
	CHECK_EQ(os_thread_set_slack((uint64_t)usual), 1);
	CHECK_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), usual);
	CHECK_EQ(errno, E2BIG);
}
