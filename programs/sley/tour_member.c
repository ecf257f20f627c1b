/* SPDX-License-Identifier: MIT */
/*
 * tour_member.c - "sley tour --member ROLE SOCKET": a program for the stop of tour_domain.c.
 *
 * The program is a member of the domain at SOCKET, or, if SOCKET is "-", of no domain; else
 * nothing differs.  ROLE is
 *
 *   busy    computes on all cores, in tasks that yield.  Prints a line when it has begun,
 *           and a line of figures when its input has ended
 *   urgent  gets a piece of urgent work now and then, prints a line of figures when all of
 *           them have run, and ends
 *
 * A piece of urgent work needs 4 ms of a CPU, more than the kernel lets a thread run among
 * others without a break.  The rest of the time from its submission to its end it waits.
 *
 * A member whose starter is killed ends, since its input does.
 */
#include "tour.h"

#include <errno.h>
#include <poll.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIECE_NS (100 * SLEY_USEC)
#define TASKS_PER_WORKER 2
#define URGENT_NS (4 * SLEY_MSEC)
#define PAUSE_NS (4 * SLEY_MSEC)
#define PATIENCE (20 * SLEY_SEC)

static void compute(uint64_t ns)
{
	uint64_t end_ns = sley_now() + ns;

	while (sley_now() < end_ns)
		;
}

/* True: within @patience_ns the input has ended. */
static bool input_ends(int patience_ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, patience_ms) > 0;
}

/* After the figures of the role: of the domain; all 0 without one. */
static int print_domain(struct sley *rt)
{
	struct sley_domain_info info = { .size = sizeof(info) };
	int err = sley_domain_info(rt, &info);

	printf(" %u %llu %llu %llu\n", info.nr_members,
	       (unsigned long long)info.given, (unsigned long long)info.taken,
	       (unsigned long long)info.overtakes);
	(void)fflush(stdout);
	return err;
}

/* ---- busy ----------------------------------------------------------------------------- */

static struct {
	atomic_bool over;
	atomic_ullong nr_pieces;
} busy;

static void compute_in_pieces(void *arg)
{
	(void)arg;
	while (!atomic_load(&busy.over)) {
		compute(PIECE_NS);
		atomic_fetch_add(&busy.nr_pieces, 1);
		sley_yield();
	}
}

static int be_busy(struct sley *rt)
{
	int nr = TASKS_PER_WORKER * sley_nr_workers(rt), err = 0;

	for (int i = 0; i < nr && !err; i++)
		err = sley_schedule_on(rt, compute_in_pieces, NULL, NULL);
	while (!err && !atomic_load(&busy.nr_pieces) && !input_ends(1))
		;
	if (!err) {
		puts("busy");
		(void)fflush(stdout);
		while (!input_ends(-1))
			;
		printf("%llu 0 0", atomic_load(&busy.nr_pieces));
		err = print_domain(rt);
	}
	atomic_store(&busy.over, true);
	return err;
}

/* ---- urgent --------------------------------------------------------------------------- */

static struct piece {
	uint64_t due_ns;
	uint64_t waited_ns;
} pieces[TOUR_NR_URGENT];

static atomic_int nr_ran;

static uint64_t thread_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * SLEY_SEC + (uint64_t)time.tv_nsec;
}

/* Does not wait, and so stays on its thread. */
static void run_urgent(void *arg)
{
	uint64_t begin_ns = thread_ns(), ran_ns;
	struct piece *piece = arg;

	do
		ran_ns = thread_ns() - begin_ns;
	while (ran_ns < URGENT_NS);
	piece->waited_ns = sley_now() - piece->due_ns - ran_ns;
	atomic_fetch_add(&nr_ran, 1);
}

static int by_wait(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->waited_ns > y->waited_ns) - (x->waited_ns < y->waited_ns);
}

/* One piece, and a pause. */
static int demand_piece(struct sley *rt, int i)
{
	uint64_t end_ns = sley_after(PATIENCE);
	int err;

	pieces[i].due_ns = sley_now();
	err = sley_schedule_on(rt, run_urgent, &pieces[i],
			       SLEY_OPTIONS(.priority = -10));
	if (err)
		return err;
	do {
		(void)sley_sleep(PAUSE_NS);
		if (sley_now() > end_ns)
			return -ETIMEDOUT;
	} while (atomic_load(&nr_ran) <= i);
	return 0;
}

static int be_urgent(struct sley *rt)
{
	int err = 0;

	for (int i = 0; i < TOUR_NR_URGENT && !err; i++)
		err = demand_piece(rt, i);
	if (err)
		return err;
	qsort(pieces, TOUR_NR_URGENT, sizeof(pieces[0]), by_wait);
	printf("%d %llu %llu", atomic_load(&nr_ran),
	       (unsigned long long)pieces[TOUR_NR_URGENT / 2].waited_ns,
	       (unsigned long long)pieces[TOUR_NR_URGENT - 1].waited_ns);
	return print_domain(rt);
}

/* ---- either --------------------------------------------------------------------------- */

int tour_be_member(const char *role, const char *socket)
{
	const char *domain = strcmp(socket, "-") == 0 ? NULL : socket;
	struct sley *rt;
	int err, end_err;

	/* The tour may have been started in a domain of the user. */
	(void)unsetenv("SLEY_DOMAIN");
	err = sley_create(&rt, SLEY_CONFIG(.domain = domain, .strict = true));
	if (err)
		return err;
	err = strcmp(role, "busy") == 0 ? be_busy(rt) : be_urgent(rt);
	end_err = sley_destroy(rt);
	return err ? err : end_err;
}
