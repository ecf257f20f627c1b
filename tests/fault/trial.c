/* SPDX-License-Identifier: MIT */
/*
 * trial.c - see trial.h.
 */
#include "fault/trial.h"

#include "fault/sweep.h"
#include "fault/tolerated.h"
#include "harness/fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern struct fault_site __start_sley_faults[];
extern struct fault_site __stop_sley_faults[];

static struct trial_board *board; /* in the child: of this trial */

/* ---- sites ------------------------------------------------------------------- */

int trial_nr_sites(void)
{
	return (int)(__stop_sley_faults - __start_sley_faults);
}

const struct fault_site *trial_site(int i)
{
	return &__start_sley_faults[i];
}

void trial_site_name(char *out, size_t size, int i)
{
	const struct fault_site *site = trial_site(i);
	const char *file = strstr(site->file, "src/");

	snprintf(out, size, "%s:%d %s %s", file ? file : site->file, site->line,
		 site->function, site->call);
}

/* ---- in the child: what fails --------------------------------------------------- */

static bool strikes(const struct fault_site *site, int i, unsigned nr,
		    unsigned nr_here)
{
	const struct trial_plan *plan = &board->plan;

	if (!plan->nr || atomic_load(&board->lifted))
		return false;
	if (plan->site < 0 && site->spurious)
		return false;
	if (plan->site >= 0 && plan->site != i)
		return false;
	if (plan->site >= 0)
		nr = nr_here;
	return plan->forever ? nr >= plan->nr : nr == plan->nr;
}

static int plan(const struct fault_site *site)
{
	int i = (int)(site - __start_sley_faults), none = 0, err;
	unsigned nr = 0, nr_here;

	nr_here = atomic_fetch_add(&board->site_reached[i], 1) + 1;
	if (!site->spurious)
		nr = atomic_fetch_add(&board->reached, 1) + 1;
	if (!strikes(site, i, nr, nr_here))
		return 0;
	err = site->error[board->plan.variant];
	if (!err)
		err = site->error[0];
	if (atomic_compare_exchange_strong(&board->first_struck, &none, i + 1))
		atomic_store(&board->first_error, err);
	atomic_fetch_add(&board->site_struck[i], 1);
	atomic_fetch_add(&board->nr_struck, 1);
	return err;
}

bool trial_struck(void)
{
	return atomic_load(&board->nr_struck) > 0;
}

bool trial_was_told(void)
{
	return atomic_load(&board->nr_reports) > 0;
}

void trial_mark(void)
{
	atomic_store(&board->mark, atomic_load(&board->reached));
}

void trial_may_absorb(const char *call)
{
	int i = 0;

	while (board->may_absorb[i])
		i++;
	CHECK_LT(i, TRIAL_ABSORBED_MAX);
	board->may_absorb[i] = call;
}

bool trial_is_full(void)
{
	const char *text = getenv("FAULT_FULL");

	return text && *text && *text != '0';
}

static bool is_absorbed(const struct fault_site *site, int error)
{
	const struct tolerated *rule = tolerated_find(site, error);

	return site->spurious || (rule && rule->rule == ABSORBED);
}

bool trial_may_give_up(void)
{
	const struct trial_plan *plan_ = &board->plan;
	const struct fault_site *site;

	if (!plan_->forever || plan_->site < 0)
		return plan_->forever;
	site = trial_site(plan_->site);
	return !is_absorbed(site, site->error[plan_->variant]);
}

/* ---- in the child: what the scenario says ---------------------------------------- */

static bool allowed(int result, const int *errors)
{
	for (; *errors; errors++) {
		if (*errors == result)
			return true;
	}
	return false;
}

/* One call failed, so one error is right. */
static int right_error(void)
{
	int i = atomic_load(&board->first_struck) - 1;
	int error = atomic_load(&board->first_error);
	const struct tolerated *rule = tolerated_find(trial_site(i), error);

	return rule && rule->as ? rule->as : -error;
}

bool trial_failed(const struct test_place *place, int result, const int *errors)
{
	if (result >= 0)
		return false;
	if (!trial_struck())
		test_compare(place, result, ">=", 0);
	if (!allowed(result, errors))
		test_compare(place, result, "==", errors[0]);
	atomic_fetch_add(&board->nr_failed, 1);
	if (board->plan.forever)
		return true;
	test_compare(place, result, "==", right_error());
	return true;
}

void trial_again(const struct test_place *place, int result, const int *errors)
{
	if (!board->plan.forever)
		test_compare(place, result, ">=", 0);
	if (result < 0 && !allowed(result, errors))
		test_compare(place, result, "==", errors[0]);
}

void trial_note_report(void *self, const char *line)
{
	(void)self;
	/*
	 * Children of supervisors end in their scenarios without any fault, and
	 * clients and members are refused.
	 */
	if (strstr(line, " restarts ") ||
	    strstr(line, "this user may not connect") ||
	    strstr(line, "this user may not join"))
		return;
	atomic_fetch_add(&board->nr_reports, 1);
	if (strstr(line, "no memory for another stack"))
		atomic_store(&board->lifted, true);
}

struct sley_config trial_config(int workers)
{
	struct sley_config config = *test_config();

	config.workers = workers;
	config.report = trial_note_report;
	/* A slow machine is no failure of a call. */
	config.watchdog_ms = SLEY_NEVER;
	return config;
}

struct sley *trial_create(const struct sley_config *config)
{
	struct sley *rt;

	return TRY(sley_create(&rt, config), -ENOMEM, -EAGAIN) ? rt : NULL;
}

struct sley *trial_start(int workers)
{
	struct sley_config config = trial_config(workers);

	return trial_create(&config);
}

void trial_stop(struct sley *rt)
{
	CHECK_EQ(sley_destroy(rt), 0);
}

void trial_play_with(const struct sley_config *config, sley_fn *scene)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = trial_create(config);
	struct sley_task task;

	if (!rt)
		return;
	trial_mark();
	if (TRY(sley_spawn_on(rt, &group, &task, scene, NULL, NULL), -ENOMEM))
		sley_join(&group);
	trial_stop(rt);
}

void trial_play(sley_fn *scene)
{
	struct sley_config config = trial_config(2);

	trial_play_with(&config, scene);
}

/* ---- the child ---------------------------------------------------------------------- */

static bool may_lose_map(void)
{
	for (int i = 0; i < trial_nr_sites(); i++) {
		const struct tolerated *rule = tolerated_find(trial_site(i), 0);

		if (rule && rule->loses_map &&
		    atomic_load(&board->site_struck[i]))
			return true;
	}
	return false;
}

static void child_main(const struct trial *trial, void (*body)(void))
{
	struct rlimit no_core = { 0, 0 };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	dup2(trial->output, STDERR_FILENO);
	board = trial->board;
	fixture_begin(2, true);
	fault_set_plan(plan);
	body();
	fault_set_plan(NULL);
	fixture_end();
	if (!may_lose_map())
		CHECK_EQ(fault_mapped(), 0);
	_exit(0);
}

/* ---- the parent ----------------------------------------------------------------------- */

void trial_init(struct trial *trial)
{
	CHECK_LE(trial_nr_sites(), TRIAL_SITES_MAX);
	*trial = (struct trial){ .pidfd = -1, .output = -1 };
	trial->board = mmap(NULL, sizeof(*trial->board), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(trial->board != MAP_FAILED);
}

void trial_begin(struct trial *trial, void (*body)(void),
		 const struct trial_plan *plan_)
{
	memset(trial->board, 0, sizeof(*trial->board));
	trial->board->plan = *plan_;
	trial->output = memfd_create("stderr", MFD_CLOEXEC);
	trial->started_ns = test_now_ns();
	fflush(NULL);
	trial->pid = fork();
	if (trial->pid == 0)
		child_main(trial, body);
	CHECK(trial->pid > 0);
	trial->pidfd = (int)syscall(SYS_pidfd_open, trial->pid, 0);
}

static bool was_said(const struct trial_board *b)
{
	return atomic_load(&b->nr_failed) || atomic_load(&b->nr_reports);
}

static bool may_absorb(const struct trial_board *b, const char *call)
{
	for (int i = 0; i < TRIAL_ABSORBED_MAX && b->may_absorb[i]; i++) {
		if (strcmp(b->may_absorb[i], call) == 0)
			return true;
	}
	return false;
}

static const char *judge_report(const struct trial_board *b)
{
	int first = atomic_load(&b->first_struck) - 1;
	int error = atomic_load(&b->first_error);
	const struct tolerated *rule;

	if (first < 0)
		return was_said(b) ? "something failed without a reason" : NULL;
	rule = tolerated_find(trial_site(first), error);
	if (is_absorbed(trial_site(first), error)) {
		bool alone = b->plan.site >= 0 || !b->plan.forever;

		return alone && was_said(b) ? "it should have been absorbed"
					    : NULL;
	}
	if ((rule && rule->rule == EITHER) ||
	    may_absorb(b, trial_site(first)->call))
		return NULL;
	if (!was_said(b))
		return "nobody was told";
	if (!b->plan.forever && atomic_load(&b->nr_failed) > 1)
		return "one failure became several";
	return NULL;
}

const char *trial_judge(struct trial *trial, int status, bool in_time)
{
	if (!in_time)
		return "it hangs";
	if (WIFSIGNALED(status))
		return "it crashed";
	if (WEXITSTATUS(status))
		return "a check failed";
	return judge_report(trial->board);
}
