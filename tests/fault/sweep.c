/* SPDX-License-Identifier: MIT */
/*
 * sweep.c - see sweep.h.
 *
 * Several trials run at a time: most of one is waiting for threads to end.
 *
 *   FAULT_FULL=1           every n up to 256 (40 where it is slow, or if there
 *                          are thousands), then fewer and fewer; and the first
 *                          three calls of each site.  Else a small sample
 *   FAULT_REPLAY="17 1"    one trial only: the 17th call, for ever (0: once)
 *   FAULT_REPLAY="core/task/local.c:90 1 0 0"
 *                          the first call of that site, once, its first error
 */
#include "fault/sweep.h"

#include "fault/tally.h"
#include "fault/tolerated.h"
#include "fault/trial.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_RUNNING 8
#define HANG_MS 2000
#define ALONE_TIMES 10
#define FAILURES_MAX 5
#define SUSPECTS_MAX 1024 /* of thousands of trials, on a busy machine */
#define MANY 2000         /* calls; a sample has to do */

struct sweeper {
	const char *name;
	void (*body)(void);
	struct trial trials[NR_RUNNING];
	struct tally tally;
	uint64_t limit_ms;   /* for one trial */
	unsigned nr_reached; /* without faults; threads make it vary */
	unsigned mark;       /* of these, those of the start */
	unsigned site_reached[TRIAL_SITES_MAX];
	bool beyond; /* a trial ended before its call was reached */
	int nr_failures;
	/* Took too long beside others: once more, alone. */
	struct trial_plan suspect[SUSPECTS_MAX];
	int nr_suspects;
	bool alone;
};

/* ---- one trial --------------------------------------------------------------- */

static void describe(const struct sweeper *s, const struct trial_plan *plan)
{
	char name[160];

	printf("     scenario %s, ", s->name);
	if (!plan->nr) {
		printf("without a fault\n");
		return;
	}
	if (plan->site >= 0) {
		const struct fault_site *site = trial_site(plan->site);

		trial_site_name(name, sizeof(name), plan->site);
		printf("call %u of %s, %s, error %d\n", plan->nr, name,
		       plan->forever ? "for ever" : "once",
		       site->error[plan->variant]);
		printf("     again: FAULT_REPLAY=\"%s:%d %u %d %d\" %s %s\n",
		       strrchr(site->file, '/') + 1, site->line, plan->nr,
		       plan->forever, plan->variant, program_invocation_name,
		       s->name);
		return;
	}
	printf("call %u of all, %s\n", plan->nr,
	       plan->forever ? "for ever" : "once");
	printf("     again: FAULT_REPLAY=\"%u %d\" %s %s\n", plan->nr,
	       plan->forever, program_invocation_name, s->name);
}

static void show_output(const struct trial *trial)
{
	static char text[16384];
	ssize_t n = pread(trial->output, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	fputs(text, stdout);
}

static void complain(struct sweeper *s, const struct trial *trial, int status,
		     const char *wrong)
{
	const struct trial_board *b = trial->board;
	char name[160];

	printf("FAIL %s: %s", s->name, wrong);
	if (WIFSIGNALED(status))
		printf(" (signal %d)", WTERMSIG(status));
	printf("\n");
	describe(s, &b->plan);
	if (atomic_load(&b->first_struck)) {
		trial_site_name(name, sizeof(name),
				atomic_load(&b->first_struck) - 1);
		printf("     %u failed, the first: %s, error %d; %u calls and "
		       "%u reports said so\n",
		       atomic_load(&b->nr_struck), name,
		       atomic_load(&b->first_error), atomic_load(&b->nr_failed),
		       atomic_load(&b->nr_reports));
	}
	show_output(trial);
	fflush(stdout);
	s->nr_failures++;
	if (s->nr_failures >= FAILURES_MAX)
		test_failed(TEST_PLACE("the sweep"), "too many failures");
}

static void finish(struct sweeper *s, struct trial *trial, bool in_time)
{
	int status = 0;
	const char *wrong;

	if (!in_time)
		kill(trial->pid, SIGABRT);
	kill(-trial->pid, in_time ? SIGKILL : SIGABRT);
	CHECK_EQ(waitpid(trial->pid, &status, 0), trial->pid);
	wrong = trial_judge(trial, status, in_time);
	if (!in_time && !s->alone && s->nr_suspects < SUSPECTS_MAX)
		s->suspect[s->nr_suspects++] = trial->board->plan;
	else if (wrong)
		complain(s, trial, status, wrong);
	if (!atomic_load(&trial->board->nr_struck))
		s->beyond = true;
	tally_add(&s->tally, trial->board);
	close(trial->pidfd);
	close(trial->output);
	trial->pid = 0;
}

/* Until one of them has ended, and its place is free. */
static struct trial *wait_for_place(struct sweeper *s, bool any)
{
	for (;;) {
		struct pollfd polls[NR_RUNNING];
		uint64_t now_ns = test_now_ns();
		int nr = 0;

		for (int i = 0; i < NR_RUNNING; i++) {
			struct trial *trial = &s->trials[i];
			uint64_t ms = (now_ns - trial->started_ns) / 1000000;

			polls[i] = (struct pollfd){
				.fd = trial->pid ? trial->pidfd : -1,
				.events = POLLIN,
			};
			nr += trial->pid != 0;
			if (!trial->pid && any)
				return trial;
			if (trial->pid && ms > s->limit_ms)
				finish(s, trial, false);
		}
		if (!nr)
			return NULL;
		poll(polls, NR_RUNNING, 100);
		for (int i = 0; i < NR_RUNNING; i++) {
			if (s->trials[i].pid && polls[i].revents)
				finish(s, &s->trials[i], true);
		}
	}
}

static void run(struct sweeper *s, const struct trial_plan *plan)
{
	trial_begin(wait_for_place(s, true), s->body, plan);
}

static void wait_for_all(struct sweeper *s)
{
	(void)wait_for_place(s, false);
}

/* ---- all of them ------------------------------------------------------------------ */

/* Without faults: how long it takes, and what it reaches. */
static void measure(struct sweeper *s)
{
	static const struct trial_plan none = { .site = -1 };
	uint64_t start = test_now_ns();
	struct trial *first = &s->trials[0];

	s->limit_ms = 60000;
	trial_begin(first, s->body, &none);
	wait_for_all(s);
	s->limit_ms = (test_now_ns() - start) / 1000000 +
		      HANG_MS * (test_is_slow() ? 8u : 1u);
	s->mark = atomic_load(&first->board->mark);
	s->nr_reached = atomic_load(&first->board->reached);
	for (int i = 0; i < trial_nr_sites(); i++)
		s->site_reached[i] =
			atomic_load(&first->board->site_reached[i]);
}

static void sweep_nth(struct sweeper *s, bool forever)
{
	struct trial_plan plan = { .site = -1, .forever = forever };
	unsigned step = 1, first = trial_is_full() ? 0 : s->mark;
	unsigned dense = 8;

	if (trial_is_full())
		dense = s->nr_reached > MANY || test_is_slow() ? 40 : 256;

	s->beyond = false;
	for (unsigned nr = 1; !s->beyond; nr += step) {
		plan.nr = first + nr;
		run(s, &plan);
		/* Whether there are more calls than that is seen one by one. */
		if (plan.nr >= s->nr_reached)
			wait_for_all(s);
		/* All of the first ones, then fewer and fewer. */
		if (nr > dense)
			step = 1 + nr / (dense / 4);
	}
	wait_for_all(s);
}

static void sweep_site(struct sweeper *s, int site, bool forever, unsigned max)
{
	const struct fault_site *about = trial_site(site);
	struct trial_plan plan = { .site = site, .forever = forever };

	for (; plan.variant < FAULT_ERRORS_MAX && about->error[plan.variant];
	     plan.variant++) {
		unsigned nr = s->site_reached[site];

		/* In a sample, each once. */
		if (!trial_is_full() &&
		    tally_was_struck(site, forever, plan.variant))
			continue;
		/* A signal for each call, for ever, is no failure. */
		if (forever && !about->spurious &&
		    about->error[plan.variant] == EINTR)
			continue;
		if (nr > max)
			nr = max;
		for (plan.nr = 1; plan.nr <= nr; plan.nr++)
			run(s, &plan);
	}
}

static void sweep_all(struct sweeper *s)
{
	for (int forever = 0; forever < 2; forever++) {
		sweep_nth(s, forever);
		for (int i = 0; i < trial_nr_sites(); i++)
			sweep_site(s, i, forever, trial_is_full() ? 3 : 1);
	}
	wait_for_all(s);
}

/*
 * A machine that is busy with other things looks like a hang, above all if all
 * threads of the trial spin because their waits fail.  So a suspect has no other
 * trial beside it the second time, and ALONE_TIMES as long.
 */
static void clear_suspects(struct sweeper *s)
{
	s->alone = true;
	s->limit_ms *= ALONE_TIMES;
	for (int i = 0; i < s->nr_suspects; i++) {
		run(s, &s->suspect[i]);
		wait_for_all(s);
	}
}

static int find_site(const char *place)
{
	char name[160];

	for (int i = 0; i < trial_nr_sites(); i++) {
		const struct fault_site *site = trial_site(i);

		snprintf(name, sizeof(name), "%s:%d",
			 strrchr(site->file, '/') + 1, site->line);
		if (strcmp(name, place) == 0)
			return i;
	}
	test_failed(TEST_PLACE("FAULT_REPLAY names a site"), place);
}

static void replay(struct sweeper *s, const char *text)
{
	struct trial_plan plan = { .site = -1 };
	char place[128];
	int forever;

	if (sscanf(text, "%127s %u %d %d", place, &plan.nr, &forever,
		   &plan.variant) == 4)
		plan.site = find_site(place);
	else
		CHECK_EQ(sscanf(text, "%u %d", &plan.nr, &forever), 2);
	plan.forever = forever;
	s->alone = true;
	run(s, &plan);
	wait_for_all(s);
}

void sweep(const char *name, void (*body)(void))
{
	static struct sweeper s;
	const char *one = getenv("FAULT_REPLAY");

	test_timeout(600);
	s.name = name;
	s.body = body;
	for (int i = 0; i < NR_RUNNING; i++)
		trial_init(&s.trials[i]);
	tally_begin(&s.tally, name);
	measure(&s);
	if (one)
		replay(&s, one);
	else
		sweep_all(&s);
	clear_suspects(&s);
	tally_end(&s.tally);
	CHECK_EQ(s.nr_failures, 0);
}
