/* SPDX-License-Identifier: MIT */
/*
 * self_mutate.c - each kind of mutant does what it says.
 *
 * Small programs that are right, and each of them again with one operation made
 * wrong: then the explorer must find what that breaks, or find the program still
 * right where the mutation may change nothing.
 */
#include "engine.h"

#include "base/atomic.h"
#include "os/futex.h"
#include "os/membarrier.h"

#include <stdio.h>
#include <string.h>

static uint32_t x, y, seen[2];
static int inside;

static void setup(void)
{
	x = y = seen[0] = seen[1] = 0;
	inside = 0;
}

static void setup_lock(void)
{
	setup();
	model_lock_word(&x);
}

/* ---- the programs --------------------------------------------------------- */

static void send(int id)
{
	(void)id;
	store_relaxed(&x, 1);
	store_release(&y, 1);
}

static void receive(int id)
{
	(void)id;
	if (load_acquire(&y))
		MODEL_CHECK(load_relaxed(&x) == 1);
}

/* It looks at what it stored, so that the store cannot be late. */
static void send_and_look(int id)
{
	(void)id;
	store_relaxed(&x, 1);
	MODEL_CHECK(load_relaxed(&x) == 1);
	store_release(&y, 1);
}

/* The first one to come leaves a note for the other, or finds one. */
static void pass_on(int id)
{
	uint32_t nobody = 0;

	store_relaxed(&seen[id], 1);
	if (!cas_acq_rel_acquire(&y, &nobody, 1))
		MODEL_CHECK(load_relaxed(&seen[1 - id]) == 1);
}

static void count(int id)
{
	(void)id;
	(void)add_relaxed(&x, 1);
}

static void both_were_counted(void)
{
	MODEL_CHECK(x == 2);
}

static void claim(int id)
{
	uint32_t nobody = 0;

	seen[id] = cas_acquire(&x, &nobody, 1);
}

static void one_has_it(void)
{
	MODEL_CHECK(seen[0] + seen[1] == 1);
}

static void sleep_until_it_is_there(int id)
{
	(void)id;
	while (!load_acquire(&y))
		(void)os_futex_wait(&y, 0, UINT64_MAX);
}

static void send_and_wake(int id)
{
	(void)id;
	store_release(&y, 1);
	os_futex_wake(&y, 1);
}

static void store_then_load(int id)
{
	(void)id;
	store_relaxed(&x, 1);
	seen[0] = load_relaxed(&y);
}

static void barrier_then_load(int id)
{
	(void)id;
	store_relaxed(&y, 1);
	os_membarrier();
	seen[1] = load_relaxed(&x);
}

static void somebody_saw(void)
{
	MODEL_CHECK(seen[0] || seen[1]);
}

static void announce_and_look(int id)
{
	(void)xchg_seq_cst(id ? &y : &x, 1);
	seen[id] = load_seq_cst(id ? &x : &y);
}

static void one_at_a_time(int id)
{
	(void)id;
	while (xchg_acquire(&x, 1))
		spin_hint(&x);
	model_access(&inside);
	MODEL_CHECK(++inside == 1);
	model_access(&inside);
	inside--;
	store_release(&x, 0);
}

/* ---- and what becomes of them --------------------------------------------- */

static const struct model message = { .name = "message",
				      .setup = setup,
				      .threads = { send, receive } };
static const struct model message_looked_at = { .name = "message_looked_at",
						.setup = setup,
						.threads = { send_and_look,
							     receive } };
static const struct model note = { .name = "note",
				   .setup = setup,
				   .threads = { pass_on, pass_on } };
static const struct model counter = { .name = "counter",
				      .setup = setup,
				      .threads = { count, count },
				      .finish = both_were_counted };
static const struct model claims = { .name = "claims",
				     .setup = setup,
				     .threads = { claim, claim },
				     .finish = one_has_it };
static const struct model sleeper = { .name = "sleeper",
				      .setup = setup,
				      .threads = { sleep_until_it_is_there,
						   send_and_wake } };
static const struct model barrier = { .name = "barrier",
				      .setup = setup,
				      .threads = { store_then_load,
						   barrier_then_load },
				      .finish = somebody_saw };
static const struct model total = { .name = "total",
				    .setup = setup,
				    .threads = { announce_and_look,
						 announce_and_look },
				    .finish = somebody_saw };
static const struct model lock = { .name = "lock",
				   .setup = setup_lock,
				   .threads = { one_at_a_time,
						one_at_a_time } };

static const struct trial {
	const struct model *model;
	enum model_mode mode;
	const char *mutant; /* without the file */
	const char *verdict;
	enum model_failure failure;
} trials[] = {
	{ &message, MODEL_SC, ",store_relaxed:late", "killed",
	  MODEL_ASSERTION },
	{ &message, MODEL_TSO, ",store_relaxed,&x:late", "killed",
	  MODEL_ASSERTION },
	{ &message, MODEL_SC, ",store_release:late", "lives", MODEL_NONE },
	{ &message, MODEL_SC, ",load_acquire:relaxed", "lives", MODEL_NONE },
	{ &message, MODEL_SC, ",xchg_acquire:relaxed", "unreached",
	  MODEL_NONE },
	{ &message, MODEL_SC, ",store_relaxed,&y:late", "unreached",
	  MODEL_NONE },
	{ &message_looked_at, MODEL_SC, ",store_relaxed:late", "lives",
	  MODEL_NONE },
	{ &message, MODEL_RA, ",store_relaxed:late", "killed",
	  MODEL_ASSERTION },
	{ &message, MODEL_RA, ",store_release:relaxed", "killed",
	  MODEL_ASSERTION },
	{ &message, MODEL_RA, ",load_acquire:relaxed", "killed",
	  MODEL_ASSERTION },
	{ &message, MODEL_RA, ",load_acquire:no-acquire", "killed",
	  MODEL_ASSERTION },
	{ &message, MODEL_RA, ",load_acquire:no-release", "lives", MODEL_NONE },
	{ &note, MODEL_RA, ",cas_acq_rel_acquire:relaxed", "killed",
	  MODEL_ASSERTION },
	{ &note, MODEL_RA, ",cas_acq_rel_acquire:no-acquire", "killed",
	  MODEL_ASSERTION },
	{ &note, MODEL_RA, ",cas_acq_rel_acquire:no-release", "killed",
	  MODEL_ASSERTION },
	{ &note, MODEL_RA, ",cas_acq_rel_acquire:no-failure", "killed",
	  MODEL_ASSERTION },
	{ &note, MODEL_TSO, ",cas_acq_rel_acquire:relaxed", "lives",
	  MODEL_NONE },
	{ &counter, MODEL_RA, ",add_relaxed:split", "killed", MODEL_ASSERTION },
	{ &claims, MODEL_RA, ",cas_acquire:succeed", "killed",
	  MODEL_ASSERTION },
	{ &sleeper, MODEL_RA, ",futex_wake:skip", "killed", MODEL_LOST_WAKEUP },
	{ &sleeper, MODEL_RA, ",store_release:late", "killed",
	  MODEL_LOST_WAKEUP },
	{ &barrier, MODEL_RA, ",membarrier:skip", "killed", MODEL_ASSERTION },
	{ &barrier, MODEL_RA, ",store_relaxed,&y:late", "killed",
	  MODEL_ASSERTION },
	{ &total, MODEL_RA, ",xchg_seq_cst:no-total", "killed",
	  MODEL_ASSERTION },
	{ &total, MODEL_RA, ",load_seq_cst:no-total", "killed",
	  MODEL_ASSERTION },
	{ &total, MODEL_RA, ",xchg_seq_cst:relaxed", "killed",
	  MODEL_ASSERTION },
	{ &total, MODEL_SC, ",xchg_seq_cst:no-total", "lives", MODEL_NONE },
	{ &message, MODEL_RA, ",store_release:no-total", "lives", MODEL_NONE },
	{ &lock, MODEL_RA, ",xchg_acquire:split", "killed", MODEL_DEADLOCK },
	{ &lock, MODEL_RA, ",xchg_acquire:relaxed", "killed", MODEL_RACE },
	{ &lock, MODEL_RA, ",store_release:relaxed", "killed", MODEL_RACE },
	{ &counter, MODEL_SC, ",add_relaxed:split", "killed", MODEL_ASSERTION },
	{ &counter, MODEL_TSO, ",add_relaxed:split", "killed",
	  MODEL_ASSERTION },
	{ &claims, MODEL_SC, ",cas_acquire:split", "killed", MODEL_ASSERTION },
	{ &claims, MODEL_SC, ",cas_acquire:succeed", "killed",
	  MODEL_ASSERTION },
	{ &sleeper, MODEL_SC, ",futex_wake:skip", "killed", MODEL_LOST_WAKEUP },
	{ &sleeper, MODEL_SC, ",store_release:late", "killed",
	  MODEL_LOST_WAKEUP },
	{ &barrier, MODEL_SC, ",membarrier:skip", "lives", MODEL_NONE },
	{ &barrier, MODEL_TSO, ",membarrier:skip", "killed", MODEL_ASSERTION },
	{ &barrier, MODEL_TSO, ",store_relaxed,&y:late", "killed",
	  MODEL_ASSERTION },
	{ &lock, MODEL_SC, ",xchg_acquire:split", "killed", MODEL_DEADLOCK },
	{ &lock, MODEL_TSO, ",xchg_acquire:split", "killed", MODEL_DEADLOCK },
};

static bool is_right(const struct trial *t)
{
	engine.mutating = false;
	(void)search_explore(t->model, t->mode, SEARCH_REDUCED, UINT64_MAX);
	return engine.failure == MODEL_NONE;
}

static bool goes_wrong(const struct trial *t)
{
	char text[128];
	struct search_stats stats;
	struct mutate_result r;

	snprintf(text, sizeof(text), "model/self_mutate.c%s", t->mutant);
	if (!mutate_parse(text))
		return false;
	stats = mutate_explore(t->model, t->mode, SEARCH_REDUCED, UINT64_MAX);
	r = mutate_result(&stats);
	printf("     %s (%s) %s: %s: %s, %llu executions\n", t->model->name,
	       report_mode(t->mode), t->mutant, r.verdict,
	       report_kind(engine.failure),
	       (unsigned long long)stats.executions);
	if (engine.failure && !report_reproduces())
		return false;
	return !strcmp(r.verdict, t->verdict) && engine.failure == t->failure;
}

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		const struct trial *t = &trials[i];

		if (is_right(t) && goes_wrong(t))
			continue;
		printf("FAIL %s %s\n", t->model->name, t->mutant);
		failed++;
	}
	failed += mutate_parse("x.c:1") || mutate_parse("x.c:1:sooner");
	printf("%d failed\n", failed);
	return failed ? 1 : 0;
}
