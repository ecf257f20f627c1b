/* SPDX-License-Identifier: MIT */
/*
 * domain_inside.c - see domain_inside.h.
 *
 * What is scribbled: words of a core as they might be, a little newer than what the host
 * knows; hints and counts; and, by every other process, more of that at a time, and noise
 * anywhere in the page, which is noticed sooner.
 *
 * The attendant of this process unmaps the page when the host throws the process out.  So
 * the kernel writes, which sees whether a page is there: process_vm_writev().
 */
#include "stress/domain_inside.h"

#include "core/life/sley.h"
#include "core/sched/lease_pass.h"
#include "core/sched/worker.h"
#include "domain/member.h"
#include "harness/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define WORKERS_MAX 8u
#define TICKS_MAX 2u /* one that was under way, and a whole one          */
#define PAGES_MAX 8
#define WORDS (DOMAIN_PAGE_SIZE / sizeof(uint64_t))
#define BURST 8 /* words in a page */
#define CORES 2u

/* ---- the core of a worker -------------------------------------------------------------- */

/* Of a worker: it runs on a core that is another's, since it has got the core. */
struct stint {
	uint64_t since_ns; /* when it has got the core; 0: all is well     */
	uint32_t beat;     /* when that was seen first                     */
	uint32_t nr_late;  /* tasks that began ticks afterwards            */
};

static struct stint stints[WORKERS_MAX];

/* As domain/cores.c has it, and changes nothing. */
static bool is_lost(const struct domain_view *view, uint32_t core)
{
	uint64_t word = member_core(view->own, core);
	uint64_t told = host_core(view->host, core);

	if (!core_is_held(word))
		return true;
	return core_kind(told) != CORE_PENDING &&
	       !core_is_given_to(told, view->self) &&
	       (core_generation(told) > core_generation(word) ||
		core_kind(told) == CORE_IDLE);
}

static void note_loss(const struct worker *worker,
		      const struct domain_view *view)
{
	struct stint *stint = &stints[worker->index];
	uint32_t beat = member_beats(view->own);

	if (stint->since_ns != worker->lease.since_ns) {
		*stint = (struct stint){ .since_ns = worker->lease.since_ns,
					 .beat = beat };
		return;
	}
	/* The first of them may have been picked before the tick. */
	stint->nr_late += beat - stint->beat > TICKS_MAX;
	CHECK_LE(stint->nr_late, 1);
}

bool inside_core_is_lost(void)
{
	struct worker *worker = worker_current();
	const struct domain_member *member;
	/* relaxed: the worker's own. */
	int core = load_relaxed(&worker->lease.core);
	bool lost;

	CHECK_LT(worker->index, WORKERS_MAX);
	if (core == LEASE_NO_CORE || !lease_pass_in(&worker->lease.pass))
		return false;
	member = worker->rt->lease.arg;
	lost = is_lost(&member->view, (uint32_t)core);
	if (lost)
		note_loss(worker, &member->view);
	else
		stints[worker->index].since_ns = 0;
	lease_pass_out(&worker->lease.pass);
	return lost;
}

uint32_t inside_worker(void)
{
	return worker_current()->index;
}

/* ---- scribbling ------------------------------------------------------------------------ */

static bool copy(uintptr_t at, uint64_t *word, bool writes)
{
	struct iovec own = { .iov_base = word, .iov_len = sizeof(*word) };
	struct iovec there = { .iov_base = (void *)at,
			       .iov_len = sizeof(*word) };
	ssize_t size =
		writes ? process_vm_writev(getpid(), &own, 1, &there, 1, 0)
		       : process_vm_readv(getpid(), &own, 1, &there, 1, 0);

	return size == (ssize_t)sizeof(*word);
}

/* The pages of the domain; *@host is that of the host, or 0. */
static uint32_t find_pages(uintptr_t *pages, uintptr_t *host)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	uint32_t nr = 0;

	*host = 0;
	CHECK(maps != NULL);
	while (nr < PAGES_MAX && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "memfd:sley"))
			continue;
		pages[nr] = (uintptr_t)strtoull(line, NULL, 16);
		if (strstr(line, "memfd:sley domain"))
			*host = pages[nr];
		nr++;
	}
	fclose(maps);
	return nr;
}

/* Of @core: a little newer, or older, than what the host says. */
static uint64_t likely_word(uintptr_t host, uint32_t core)
{
	uint64_t word = 0;

	if (host)
		(void)copy(host + offsetof(struct host_page, core) +
				   core * sizeof(word),
			   &word, false);
	return core_word(core_generation(word) + test_random(5) - 1,
			 (enum core_kind)test_random(CORE_SEEN),
			 (uint32_t)test_random(4));
}

static bool is_noisy(void)
{
	static int noisy = -1;

	if (noisy < 0)
		noisy = (int)test_random(2);
	return noisy;
}

static void scribble_once(uintptr_t at, uintptr_t host, atomic_ullong *nr)
{
	size_t place = test_random(WORDS) * sizeof(uint64_t);
	uint64_t word = test_random(UINT64_MAX);
	uint32_t core;

	switch (test_random(is_noisy() ? 3 : 2)) {
	case 2:
		break;
	case 0:
		core = (uint32_t)test_random(CORES);
		place = offsetof(struct member_page, core) +
			core * sizeof(word);
		word = likely_word(host, core);
		break;
	default:
		place = test_random(offsetof(struct member_page, free) /
				    sizeof(word)) *
			sizeof(word);
	}
	if (copy(at + place, &word, true))
		atomic_fetch_add(nr, 1);
}

void inside_scribble(atomic_ullong *nr_writes)
{
	uintptr_t pages[PAGES_MAX], host;
	uint32_t nr = find_pages(pages, &host);

	for (uint32_t i = 0; i < nr * (is_noisy() ? BURST : 1); i++)
		scribble_once(pages[i % nr], host, nr_writes);
}
