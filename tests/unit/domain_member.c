/* SPDX-License-Identifier: MIT */
/*
 * domain_member.c - src/domain/member.h: two runtimes of this process as members of a domain
 * with a single core, and a thread as their host.
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
#define NR 2u

static struct {
	struct broker broker;
	struct host_page *page;
	int page_fd[NR];
	struct member_page *member_page[NR];
	struct domain_member member[NR];
	struct sley *rt[NR];
	uint32_t ends;
	pthread_t thread;
} domain;

static void *host(void *arg)
{
	(void)arg;
	while (!load_acquire(&domain.ends)) {
		CHECK_EQ(broker_tick(&domain.broker, false), 0);
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
	const struct ledger_terms terms = { .weight = LEDGER_WEIGHT };
	void *page;

	domain.page_fd[i] =
		os_shared_page_create("member", DOMAIN_PAGE_SIZE, &page);
	CHECK(domain.page_fd[i] >= 0);
	domain.member_page[i] = page;
	member_page_begin(page);
	broker_admit(&domain.broker, i, i + 1, page, &terms);
	domain.member[i].strict = strict;
	CHECK_EQ(member_begin(&domain.member[i], domain.rt[i], page,
			      map_host(host_fd), i, i + 1),
		 0);
}

static void begin(bool strict)
{
	struct ledger_options options = LEDGER_OPTIONS_DEFAULT;
	struct sley_config config = *SLEY_CONFIG(.workers = 2);
	void *page;
	int fd = os_shared_page_create("host", DOMAIN_PAGE_SIZE, &page);

	if (fd == -EINVAL)
		test_skip("the kernel cannot seal pages against writers");
	CHECK(fd >= 0);
	options.late_ticks = 1000; /* the machine may be busy */
	domain.page = page;
	broker_init(&domain.broker, page, 1, TICK_NS, 1, &options);
	for (uint32_t i = 0; i < NR; i++) {
		CHECK_EQ(sley_create(&domain.rt[i], &config), 0);
		join(i, fd, strict);
	}
	for (uint32_t i = 0; i < NR; i++)
		CHECK_EQ(member_add_peer(&domain.member[i], !i, !i + 1,
					 domain.page_fd[!i]),
			 0);
	os_close(fd);
	domain.thread = test_thread(host, NULL);
}

static void end(void)
{
	for (uint32_t i = 0; i < NR; i++)
		member_stop(&domain.member[i]);
	store_release(&domain.ends, 1);
	os_futex_wake(&domain.ends, 1);
	os_thread_join(domain.thread);
	for (uint32_t i = 0; i < NR; i++) {
		broker_retire(&domain.broker, i);
		member_end(&domain.member[i]);
		sley_destroy(domain.rt[i]);
		os_close(domain.page_fd[i]);
	}
	os_unmap(domain.page, DOMAIN_PAGE_SIZE);
}

static uint32_t nr_ran[NR];

static void count(void *arg)
{
	(void)add_relaxed((uint32_t *)arg, 1);
}

/* Both have work again and again: each needs the core of the other. */
static void take_turns(bool strict)
{
	begin(strict);
	for (uint32_t round = 1; round <= 50; round++) {
		for (uint32_t i = 0; i < NR; i++)
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

	started = answered = ended = 0;
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
