/* SPDX-License-Identifier: MIT */
/*
 * domain_member.c - src/domain/member.h: runtimes of this process as members of a domain,
 * two with a single core unless the test says otherwise, and a thread as their host.
 */
#include "harness/test.h"

#include "core/life/sley.h"
#include "domain/broker.h"
#include "domain/member.h"
#include "hostile/filter.h"
#include "os/clock.h"
#include "os/map.h"
#include "os/shared_memory.h"
#include "os/thread.h"

#include <errno.h>
#include <sley/sley.h>
#include <sys/syscall.h>

#define TICK_NS 2000000u
#define NR_MAX 3u
#define ANOTHER 7u /* a seat that has no member here */

static struct {
	/* What a test may change before it begins. */
	uint32_t nr, nr_cores, nr_workers;
	struct ledger_terms terms[NR_MAX];
	bool by_user;
	struct broker broker;
	struct host_page *page;
	int page_fd[NR_MAX];
	struct member_page *member_page[NR_MAX];
	struct domain_member member[NR_MAX];
	struct sley *rt[NR_MAX];
	bool hosted; /* else the test writes the words of the host */
	uint32_t ends;
	pthread_t thread;
	/* Of each member, since all of them have had cores. */
	uint64_t core_ticks[NR_MAX];
	uint64_t nr_ticks;
} domain = {
	.nr = 2,
	.nr_cores = 1,
	.nr_workers = 2,
	.terms = { { .weight = LEDGER_WEIGHT },
		   { .weight = LEDGER_WEIGHT },
		   { .weight = LEDGER_WEIGHT } },
};

/* By the host. */
static void count_core_ticks(void)
{
	const struct ledger_member *members = domain.broker.ledger.member;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < domain.nr; i++)
		nr += members[i].nr_had != 0;
	if (nr < domain.nr && !load_relaxed(&domain.nr_ticks))
		return;
	for (uint32_t i = 0; i < domain.nr; i++)
		domain.core_ticks[i] += members[i].nr_had;
	(void)add_release(&domain.nr_ticks, 1);
}

static void *host(void *arg)
{
	(void)arg;
	while (!load_acquire(&domain.ends)) {
		CHECK_EQ(broker_tick(&domain.broker, false), 0);
		count_core_ticks();
		(void)os_futex_wait(&domain.ends, 0, os_now() + TICK_NS);
	}
	return NULL;
}

static const struct host_page *map_host(int fd)
{
	const void *page = os_shared_memory_map_to_read(fd, DOMAIN_PAGE_SIZE);

	CHECK(page);
	return page;
}

static void join(uint32_t i, int host_fd, bool strict)
{
	void *page;

	domain.page_fd[i] =
		os_shared_page_create("member", DOMAIN_PAGE_SIZE, &page);
	CHECK(domain.page_fd[i] >= 0);
	domain.member_page[i] = page;
	member_page_begin(page);
	broker_admit(&domain.broker, i, i + 1, page, &domain.terms[i]);
	domain.member[i].strict = strict;
	CHECK_EQ(member_begin(&domain.member[i], domain.rt[i], page,
			      map_host(host_fd), i, i + 1),
		 0);
}

/* The others to this one. */
static void introduce(uint32_t i)
{
	for (uint32_t j = 0; j < domain.nr; j++) {
		if (j != i)
			CHECK_EQ(member_add_peer(&domain.member[i], j, j + 1,
						 domain.page_fd[j]),
				 0);
	}
}

static void begin_members(bool strict)
{
	struct ledger_options options = LEDGER_OPTIONS_DEFAULT;
	struct sley_config config =
		*SLEY_CONFIG(.workers = (int)domain.nr_workers);
	void *page;
	int fd = os_shared_page_create("host", DOMAIN_PAGE_SIZE, &page);

	if (fd == -EINVAL)
		test_skip("the kernel cannot seal pages against writers");
	CHECK(fd >= 0);
	options.late_ticks = 1000; /* the machine may be busy */
	domain.page = page;
	options.by_user = domain.by_user;
	broker_init(&domain.broker, page, 1, TICK_NS, domain.nr_cores,
		    &options);
	for (uint32_t i = 0; i < domain.nr; i++) {
		CHECK_EQ(sley_create(&domain.rt[i], &config), 0);
		join(i, fd, strict);
	}
	for (uint32_t i = 0; i < domain.nr; i++)
		introduce(i);
	os_close(fd);
}

static void begin(bool strict)
{
	begin_members(strict);
	domain.thread = test_thread(host, NULL);
	domain.hosted = true;
}

static void end_host(void)
{
	store_release(&domain.ends, 1);
	os_futex_wake(&domain.ends, 1);
	os_thread_join(domain.thread);
}

static void end(void)
{
	for (uint32_t i = 0; i < domain.nr; i++)
		member_stop(&domain.member[i]);
	if (domain.hosted)
		end_host();
	for (uint32_t i = 0; i < domain.nr; i++) {
		broker_retire(&domain.broker, i);
		member_end(&domain.member[i]);
		sley_destroy(domain.rt[i]);
		os_close(domain.page_fd[i]);
	}
	os_unmap(domain.page, DOMAIN_PAGE_SIZE);
}

static uint32_t nr_ran[NR_MAX];

static void count(void *arg)
{
	(void)add_relaxed((uint32_t *)arg, 1);
}

/* Both have work again and again: each needs the core of the other. */
static void take_turns(bool strict)
{
	begin(strict);
	for (uint32_t round = 1; round <= 50; round++) {
		for (uint32_t i = 0; i < domain.nr; i++)
			CHECK_EQ(sley_schedule_on(domain.rt[i], count,
						  &nr_ran[i], NULL),
				 0);
		CHECK_EVENTUALLY(load_relaxed(&nr_ran[0]) == round &&
				 load_relaxed(&nr_ran[1]) == round);
	}
	end();
}

TEST(strict_members_share_a_core)
{
	take_turns(true);
}

TEST(relaxed_members_share_a_core)
{
	take_turns(false);
}

/* ---- what is lost ---------------------------------------------------------------------- */

static void give_as_host(uint32_t member, uint64_t generation)
{
	host_core_set(domain.page, 0,
		      core_word(generation, CORE_GIVEN, member));
	host_tell(domain.page, member);
}

/*
 * The first member has taken the core, and the worker that did has got no CPU since: no
 * worker says that the core is its.  The host has given the core to another one.  And the
 * second member wants a core.
 */
TEST(a_lost_core_is_let_go_on_the_tick_also_if_no_worker_has_it_yet)
{
	uint64_t none = 0;

	begin_members(false);
	member_want_set(domain.member_page[1], want_word(100, 1, 0));
	CHECK(member_core_change(domain.member_page[0], 0, &none,
				 core_word(5, CORE_BUSY, DOMAIN_HOST)));
	give_as_host(ANOTHER, 50);
	/* It waits for a core; so there is a tick. */
	CHECK_EQ(sley_schedule_on(domain.rt[0], count, &nr_ran[0], NULL), 0);
	CHECK_EVENTUALLY(core_kind(member_core(domain.member_page[0], 0)) ==
			 CORE_NONE);
	give_as_host(0, 100);
	CHECK_EVENTUALLY(load_relaxed(&nr_ran[0]) == 1);
	end();
}

/* A task that keeps its worker until it may end. */
struct occupation {
	uint32_t begun, may_end;
};

static void occupy(void *arg)
{
	struct occupation *occupation = arg;

	store_release(&occupation->begun, 1);
	while (!load_acquire(&occupation->may_end))
		test_nap_ms(1);
}

/*
 * A worker is in a long task when its core is lost, and another worker is when the core is
 * there again.  Then the core is that of the second worker alone.
 */
TEST(a_core_that_comes_back_is_not_that_of_the_worker_that_lost_it)
{
	struct occupation first = { 0 }, second = { 0 };

	begin_members(false);
	give_as_host(0, 1);
	CHECK_EQ(sley_schedule_on(domain.rt[0], occupy, &first, NULL), 0);
	CHECK_EVENTUALLY(load_acquire(&first.begun));
	give_as_host(ANOTHER, 50);
	CHECK_EVENTUALLY(core_kind(member_core(domain.member_page[0], 0)) ==
			 CORE_NONE);
	give_as_host(0, 100);
	CHECK_EQ(sley_schedule_on(domain.rt[0], occupy, &second, NULL), 0);
	CHECK_EVENTUALLY(load_acquire(&second.begun));
	store_release(&first.may_end, 1);
	store_relaxed(&nr_ran[0], 0);
	for (int i = 0; i < 20; i++)
		CHECK_EQ(sley_schedule_on(domain.rt[0], count, &nr_ran[0],
					  NULL),
			 0);
	/* The worker of the first task is at the gate; ticks do not change that. */
	test_nap_ms(50);
	CHECK_EQ(load_relaxed(&nr_ran[0]), 0);
	store_release(&second.may_end, 1);
	CHECK_EVENTUALLY(load_relaxed(&nr_ran[0]) == 20);
	end();
}

/* ---- who looks ------------------------------------------------------------------------- */

static uint32_t started, answered, ended;

static void yield_until_answered(void *arg)
{
	(void)arg;
	store_release(&started, 1);
	while (!load_acquire(&answered))
		sley_yield();
	store_release(&ended, 1);
}

static void answer(void *arg)
{
	(void)arg;
	store_release(&answered, 1);
}

/* A task keeps the core with yields; the other member has one of @priority. */
static uint64_t nr_looks_for_an_answer(int priority)
{
	struct member_figures before, after;

	store_release(&started, 0);
	store_release(&answered, 0);
	store_release(&ended, 0);
	member_read_figures(&domain.member[0], &before);
	CHECK_EQ(sley_schedule_on(domain.rt[0], yield_until_answered, NULL,
				  SLEY_OPTIONS(.priority = 5)),
		 0);
	CHECK_EVENTUALLY(load_acquire(&started));
	CHECK_EQ(sley_schedule_on(domain.rt[1], answer, NULL,
				  SLEY_OPTIONS(.priority = priority)),
		 0);
	/* The next call begins anew with the same words. */
	CHECK_EVENTUALLY(load_acquire(&ended));
	member_read_figures(&domain.member[0], &after);
	return after.nr_asked - before.nr_asked;
}

TEST(u07_a_relaxed_member_gives_its_core_on_the_tick_without_a_look)
{
	begin(false);
	for (uint32_t i = 0; i < 50; i++)
		CHECK_EQ(nr_looks_for_an_answer(0), 0);
	end();
}

/*
 * As in a sandbox: the member cannot look at the memory of its own tasks, and shows the
 * default level for what it runs.  So for the host the other task is not more urgent.
 */
TEST(u07_a_relaxed_member_gives_its_core_where_peeks_are_forbidden)
{
	if (filter_forbid(SYS_process_vm_readv, EPERM))
		test_skip("no seccomp filter is to be had");
	begin(false);
	for (uint32_t i = 0; i < 50; i++)
		CHECK_EQ(nr_looks_for_an_answer(4), 0);
	end();
}

TEST(u07_the_policy_is_changed_while_tasks_run)
{
	uint64_t nr = 0;

	begin(false);
	CHECK_EQ(nr_looks_for_an_answer(0), 0);
	member_set_strict(&domain.member[0], true);
	/* The tick may come before the look, now and then. */
	for (uint32_t i = 0; i < 100 && !nr; i++)
		nr = nr_looks_for_an_answer(0);
	CHECK_GE(nr, 1);
	end();
}

/* ---- what the work of a member counts for ------------------------------------------------ */

/* Tasks of which each leaves another one behind: there is always one that is ready. */
struct flood {
	struct sley *rt;
	int priority;
	uint32_t nr;
	uint32_t ends;
};

static struct flood floods[NR_MAX];

static void flow(void *arg)
{
	struct flood *flood = arg;

	(void)add_relaxed(&flood->nr, 1);
	if (!load_relaxed(&flood->ends))
		CHECK_EQ(sley_schedule_on(
				 flood->rt, flow, flood,
				 SLEY_OPTIONS(.priority = flood->priority)),
			 0);
}

static void flood_begin(uint32_t i, int priority, uint32_t nr_tasks)
{
	floods[i] = (struct flood){ .rt = domain.rt[i], .priority = priority };
	for (uint32_t task = 0; task < nr_tasks; task++)
		CHECK_EQ(sley_schedule_on(domain.rt[i], flow, &floods[i],
					  SLEY_OPTIONS(.priority = priority)),
			 0);
}

static uint32_t flood_nr(uint32_t i)
{
	return load_relaxed(&floods[i].nr);
}

static void flood_end(uint32_t i)
{
	store_relaxed(&floods[i].ends, 1);
}

/* With one worker, which has always something to run, a core is never idle. */
static void flood_above_a_limit(bool strict)
{
	uint32_t beats;

	domain.nr_workers = 1;
	domain.terms[1].highest = 32 + 5;
	begin(strict);
	flood_begin(0, 4, 4);
	CHECK_EVENTUALLY(flood_nr(0) > 100);
	flood_begin(1, SLEY_PRIORITY_MIN, 4);
	CHECK_EVENTUALLY(want_nr(member_want(domain.member_page[1])));
	beats = host_beats(domain.page);
	CHECK_EVENTUALLY(host_beats(domain.page) - beats > 25 &&
			 flood_nr(0) > 5000);
	CHECK_EQ(flood_nr(1), 0);
	flood_end(0);
	CHECK_EVENTUALLY(flood_nr(1) > 0);
	flood_end(1);
	end();
}

TEST(ru8_a_flood_above_its_limit_waits_for_strict_members)
{
	flood_above_a_limit(true);
}

TEST(ru8_a_flood_above_its_limit_waits_for_relaxed_members)
{
	flood_above_a_limit(false);
}

TEST(ru8_a_flood_above_its_limit_gives_its_core_to_work_above_the_limit)
{
	domain.nr_workers = 1;
	domain.terms[1].highest = 32 + 5;
	begin(true);
	flood_begin(1, SLEY_PRIORITY_MIN, 4);
	CHECK_EVENTUALLY(flood_nr(1) > 100);
	flood_begin(0, 4, 4);
	CHECK_EVENTUALLY(flood_nr(0) > 1000);
	flood_end(0);
	flood_end(1);
	end();
}

/* All keep all of their workers busy for so many ticks of the host. */
static void share(uint64_t nr_ticks)
{
	uint64_t nr;

	domain.nr_cores = domain.nr_workers = 4;
	begin(false);
	for (uint32_t i = 0; i < domain.nr; i++)
		flood_begin(i, 0, 16);
	/* On a busy machine a tick may be late. */
	while ((nr = load_acquire(&domain.nr_ticks)) < nr_ticks)
		CHECK_EVENTUALLY(load_acquire(&domain.nr_ticks) > nr);
	for (uint32_t i = 0; i < domain.nr; i++)
		flood_end(i);
	end();
}

/* About so many hundredths of all core-ticks. */
static void check_share(uint64_t core_ticks, uint64_t hundredths)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < domain.nr; i++)
		all += domain.core_ticks[i];
	CHECK_GE(core_ticks * 100, all * (hundredths - 7));
	CHECK_GE(all * (hundredths + 7), core_ticks * 100);
}

TEST(ru8_members_share_cores_by_their_weights)
{
	domain.terms[1].weight = 3 * LEDGER_WEIGHT;
	share(250);
	check_share(domain.core_ticks[0], 25);
	check_share(domain.core_ticks[1], 75);
}

TEST(ru8_two_members_of_a_user_get_no_more_than_one_of_another)
{
	domain.nr = 3;
	domain.by_user = true;
	domain.terms[1].user = domain.terms[2].user = 7;
	share(250);
	check_share(domain.core_ticks[0], 50);
	check_share(domain.core_ticks[1] + domain.core_ticks[2], 50);
}
