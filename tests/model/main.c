/* SPDX-License-Identifier: MIT */
/*
 * main.c - explores the models of one executable.
 *
 *	model_x [FILTER] [--mode sc|tso|ra] [--bound N] [--limit N] [--naive]
 *	        [--slow] [--stats] [--show] [--list] [--replay STRING]
 *
 *   FILTER    only models whose name contains it
 *   --mode    only this memory
 *   --bound   at most N preemptions, in place of what the model says
 *   --limit   stop after N executions
 *   --naive   without any reduction
 *   --slow    only the models that take too long for every day
 *   --stats   more figures per model
 *   --show    the listing also of failures that a self test expects
 */
#include "engine.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *filter;
	const char *replay;
	int modes;
	int bound;
	uint64_t limit;
	bool naive, slow, stats, show, list;
};

static struct model *models, **models_end = &models;

void model_register(struct model *model)
{
	*models_end = model;
	models_end = &model->next;
}

/* The machine's own failures are failures of the model. */
static void on_crash(int signo)
{
	model_fail(MODEL_CRASH, "signal %d", signo);
}

static void catch_crashes(void)
{
	static char stack[64 * 1024];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = on_crash,
				    .sa_flags = SA_ONSTACK | SA_NODEFER };

	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
}

static void print_result(const struct options *o, const char *verdict,
			 const struct search_stats *s)
{
	printf("%-4s %s (%s", verdict, engine.model->name,
	       report_mode(engine.mode));
	if (engine.search == SEARCH_BOUNDED)
		printf(", %d preemptions", engine.bound);
	printf("): %llu executions, %s, %.2f s\n",
	       (unsigned long long)s->executions,
	       s->complete ? "complete" : "not complete", s->seconds);
	if (!o->stats)
		return;
	printf("     %llu cut short, %llu steps, longest %d, %.0f "
	       "executions/s\n",
	       (unsigned long long)s->redundant, (unsigned long long)s->steps,
	       s->longest,
	       (double)(s->executions + s->redundant) / (s->seconds + 1e-9));
}

/* Returns whether it went as expected. */
static bool explore(const struct options *o, const struct model *m,
		    enum model_mode mode)
{
	enum search_kind kind = SEARCH_REDUCED;
	struct search_stats stats;
	bool good;

	engine.bound = o->bound >= 0 ? o->bound : m->bound;
	if (engine.bound > 0)
		kind = SEARCH_BOUNDED;
	if (o->naive)
		kind = SEARCH_NAIVE;
	stats = search_explore(m, mode, kind, o->limit);
	good = engine.failure == m->expect &&
	       (stats.complete || engine.failure != MODEL_NONE);
	print_result(o, good ? "ok" : "FAIL", &stats);
	if (engine.failure == MODEL_NONE) {
		if (m->expect)
			printf("     expected to find: %s\n",
			       report_kind(m->expect));
		return good;
	}
	if (good && !o->show)
		printf("     found, as expected: %s: %s\n",
		       report_kind(engine.failure), engine.message);
	else
		report_failure();
	/* What is not deterministic cannot be repeated. */
	if (engine.failure != MODEL_UNSTABLE && !report_reproduces()) {
		printf("     the replay string does not reproduce it\n");
		return false;
	}
	return good;
}

/* Not yet: RA for all of them. */
static int modes_of(const struct options *o, const struct model *m)
{
	if (!o->modes)
		return m->modes ? m->modes : MODEL_SC | MODEL_TSO;
	return o->modes & (m->modes ? m->modes : MODEL_ALL);
}

static void usage(void)
{
	fprintf(stderr, "usage: [FILTER] [--mode sc|tso|ra] [--bound N] "
			"[--limit N] [--naive]\n"
			"       [--slow] [--stats] [--show] [--list] "
			"[--replay STRING]\n");
	exit(2);
}

static void parse(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (a[0] != '-') {
			o->filter = a;
		} else if (!strcmp(a, "--stats")) {
			o->stats = true;
		} else if (!strcmp(a, "--show")) {
			o->show = true;
		} else if (!strcmp(a, "--naive")) {
			o->naive = true;
		} else if (!strcmp(a, "--slow")) {
			o->slow = true;
		} else if (!strcmp(a, "--list")) {
			o->list = true;
		} else if (!value) {
			usage();
		} else if (i++, !strcmp(a, "--mode")) {
			if (!strcmp(value, "sc"))
				o->modes = MODEL_SC;
			else if (!strcmp(value, "tso"))
				o->modes = MODEL_TSO;
			else if (!strcmp(value, "ra"))
				o->modes = MODEL_RA;
			else
				usage();
		} else if (!strcmp(a, "--bound")) {
			o->bound = atoi(value);
		} else if (!strcmp(a, "--limit")) {
			o->limit = strtoull(value, NULL, 10);
		} else if (!strcmp(a, "--replay")) {
			o->replay = value;
		} else {
			usage();
		}
	}
}

int main(int argc, char **argv)
{
	struct options o = { .bound = -1, .limit = UINT64_MAX };
	int passed = 0, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(&o, argc, argv);
	catch_crashes();
	if (o.replay)
		return report_replay(models, o.replay);
	for (struct model *m = models; m; m = m->next) {
		int modes = modes_of(&o, m);

		if (o.filter ? !strstr(m->name, o.filter) : m->slow != o.slow)
			continue;
		if (o.list) {
			printf("%s\n", m->name);
			continue;
		}
		for (int mode = MODEL_SC; mode <= MODEL_RA; mode <<= 1) {
			if (!(modes & mode))
				continue;
			if (explore(&o, m, (enum model_mode)mode))
				passed++;
			else
				failed++;
		}
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
