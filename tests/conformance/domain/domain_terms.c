/* SPDX-License-Identifier: MIT */
/*
 * domain_terms.c - what a host lets the work of a process count for: who is asked, what is
 * out of range, what others see, and what changes while members are there.
 */
#include "conformance/domain/stage.h"

#include <sley/task.h>

/* What the callback says: for the first member that comes, the second, and so on. */
static struct {
	struct sley_domain_terms terms[3];
	struct sley_domain_terms defaults[3];
	struct sley_domain_peer peer[3];
	atomic_uint nr;
} say;

static void say_in_turn(void *self, const struct sley_domain_peer *peer,
			struct sley_domain_terms *terms)
{
	unsigned int i = atomic_load(&say.nr) % 3;

	CHECK(self == &say);
	say.peer[i] = *peer;
	say.defaults[i] = *terms;
	terms->most_urgent = say.terms[i].most_urgent;
	terms->share = say.terms[i].share;
	atomic_fetch_add(&say.nr, 1);
}

static struct sley_domain_host *host_that_says(void)
{
	atomic_init(&say.nr, 0);
	return host_start_with((struct sley_domain_host_options){
		.terms = say_in_turn, .self = &say });
}

static void check_listed(uint32_t i, int most_urgent, uint32_t share)
{
	struct sley_domain_member member = member_at(i);

	CHECK_EQ(member.most_urgent, most_urgent);
	CHECK_EQ(member.share, share);
}

TEST(a_host_without_terms_lets_all_work_count)
{
	struct sley_domain_host *host;
	struct member_guest guest;

	stage_open();
	host = host_start();
	guest_join(&guest);
	check_listed(0, SLEY_PRIORITY_MIN, SLEY_DOMAIN_SHARE);
	guest_leave(&guest);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_host_says_what_each_process_may_have)
{
	struct sley_domain_host *host;
	struct member_guest guest;

	stage_open();
	say.terms[0] = (struct sley_domain_terms){ -5, 300, 0, 0 };
	host = host_that_says();
	guest_join(&guest);
	CHECK_EQ(atomic_load(&say.nr), 1);
	CHECK_EQ(say.peer[0].pid, getpid());
	CHECK_EQ(say.peer[0].uid, getuid());
	CHECK_EQ(say.peer[0].gid, getgid());
	CHECK_EQ(say.defaults[0].most_urgent, SLEY_PRIORITY_MIN);
	CHECK_EQ(say.defaults[0].share, SLEY_DOMAIN_SHARE);
	CHECK_EQ(say.defaults[0].user, getuid());
	check_listed(0, -5, 300);
	guest_leave(&guest);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(terms_out_of_range_count_as_the_nearest_in_range)
{
	struct sley_domain_host *host;
	struct member_guest guest[3];

	stage_open();
	say.terms[0] = (struct sley_domain_terms){ -100, 0, 0, 0 };
	say.terms[1] = (struct sley_domain_terms){ 100, 10001, 0, 0 };
	say.terms[2] = (struct sley_domain_terms){ 31, 10000, 0, 0 };
	host = host_that_says();
	for (int i = 0; i < 3; i++)
		guest_join(&guest[i]);
	check_listed(0, SLEY_PRIORITY_MIN, 1);
	check_listed(1, SLEY_PRIORITY_MAX, SLEY_DOMAIN_SHARE_MAX);
	check_listed(2, SLEY_PRIORITY_MAX, SLEY_DOMAIN_SHARE_MAX);
	for (int i = 0; i < 3; i++)
		guest_leave(&guest[i]);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_member_sees_what_its_work_counts_for)
{
	const char *path = stage_open();
	struct sley_domain_host *host;
	struct sley *rt = start();

	say.terms[0] = (struct sley_domain_terms){ 7, 100, 0, 0 };
	host = host_that_says();
	CHECK_EQ(info_of(rt).most_urgent, SLEY_PRIORITY_MIN);
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(info_of(rt).most_urgent, 7);
	CHECK_EQ(sley_domain_leave(rt), 0);
	CHECK_EQ(info_of(rt).most_urgent, SLEY_PRIORITY_MIN);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(terms_of_members_that_are_there_change_at_once)
{
	const char *path = stage_open();
	struct sley_domain_host *host;
	struct member_guest guest;
	struct sley *rt = start();

	say.terms[0] = (struct sley_domain_terms){ -1, 1, 0, 0 };
	say.terms[1] = (struct sley_domain_terms){ -2, 2, 0, 0 };
	say.terms[2] = (struct sley_domain_terms){ -3, 3, 0, 0 };
	host = host_that_says();
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(info_of(rt).most_urgent, -1);
	/* One member alone, while its host sleeps. */
	atomic_store(&say.nr, 2);
	sley_domain_host_refresh(host);
	CHECK_EVENTUALLY(info_of(rt).most_urgent == -3);
	check_listed(0, -3, 3);
	atomic_store(&say.nr, 1);
	guest_join(&guest);
	check_listed(1, -2, 2);
	/* Two, in the order of their seats. */
	atomic_store(&say.nr, 0);
	sley_domain_host_refresh(host);
	CHECK_EVENTUALLY(info_of(rt).most_urgent == -1);
	check_listed(0, -1, 1);
	check_listed(1, -2, 2);
	CHECK_EQ(atomic_load(&say.nr), 2);
	guest_leave(&guest);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

/* ---- two members ------------------------------------------------------------------------ */

/* Tasks of which each leaves another one behind, until nobody needs them any more. */
struct flood {
	struct sley *rt;
	int priority;
	atomic_uint nr;
	atomic_bool ends;
};

static void flow(void *arg)
{
	struct flood *flood = arg;

	atomic_fetch_add(&flood->nr, 1);
	if (!atomic_load(&flood->ends))
		CHECK_EQ(sley_schedule_on(
				 flood->rt, flow, flood,
				 SLEY_OPTIONS(.priority = flood->priority)),
			 0);
}

static void flood_begin(struct flood *flood, const char *path, uint32_t strict)
{
	struct sley_config config = config_of(1);

	config.strict = strict;
	CHECK_EQ(sley_create(&flood->rt, &config), 0);
	CHECK_EQ(sley_domain_join(flood->rt, path), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_schedule_on(
				 flood->rt, flow, flood,
				 SLEY_OPTIONS(.priority = flood->priority)),
			 0);
	CHECK_EVENTUALLY(info_of(flood->rt).waits || atomic_load(&flood->nr));
}

/* So many tasks have run in both; each look at them may be late on a busy machine. */
static void wait_for_both(const struct flood *a, const struct flood *b,
			  unsigned int nr_tasks)
{
	unsigned int nr;

	while ((nr = atomic_load(&a->nr) + atomic_load(&b->nr)) < nr_tasks)
		CHECK_EVENTUALLY(atomic_load(&a->nr) + atomic_load(&b->nr) >
				 nr);
}

/*
 * A member whose limit is 5 floods the most urgent priority, beside one with work of
 * priority 4.  On a busy machine the host may take the one for stopped, and give its core to
 * the other, until the monitor of the first one has had a CPU.  So the other runs some tasks
 * now and then; without its limit it would run all.  tests/unit/domain_member.c has the same
 * with a host that is patient, and no task.
 */
static void flood_beside_ordinary_work(uint32_t strict)
{
	const char *path = stage_open();
	static struct flood usual, humble;
	struct sley_domain_host *host;

	usual = (struct flood){ .priority = 4 };
	humble = (struct flood){ .priority = SLEY_PRIORITY_MIN };
	say.terms[0] =
		(struct sley_domain_terms){ SLEY_PRIORITY_MIN, 100, 0, 0 };
	say.terms[1] = (struct sley_domain_terms){ 5, 100, 0, 0 };
	atomic_init(&say.nr, 0);
	host = host_start_with((struct sley_domain_host_options){
		.nr_cores = 1, .terms = say_in_turn, .self = &say });
	flood_begin(&usual, path, strict);
	flood_begin(&humble, path, strict);
	wait_for_both(&usual, &humble, (unsigned int)test_scale(200000));
	CHECK_GT(atomic_load(&usual.nr), atomic_load(&humble.nr));
	atomic_store(&usual.ends, true);
	CHECK_EVENTUALLY(atomic_load(&humble.nr) > 1000);
	atomic_store(&humble.ends, true);
	CHECK_EQ(sley_destroy(usual.rt), 0);
	CHECK_EQ(sley_destroy(humble.rt), 0);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(ru8_a_member_above_its_limit_overtakes_no_strict_member)
{
	flood_beside_ordinary_work(1);
}

TEST(ru8_a_member_above_its_limit_overtakes_no_relaxed_member)
{
	flood_beside_ordinary_work(0);
}
