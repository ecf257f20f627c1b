/* SPDX-License-Identifier: MIT */
/*
 * main.c - explores the models of one executable.
 *
 *	model_x [FILTER] [--mode sc|tso|ra] [--bound N] [--delays N]
 *	        [--random N [--depth D] [--seed S]] [--naive] [--limit N]
 *	        [--daily N] [--slow] [--stats] [--show] [--list] [--replay STRING]
 *	        [--mutate SITE:KIND] [--sites]
 *
 *   FILTER    only models whose name contains FILTER; "=name": this name only
 *   --mode    only this memory
 *   --bound   at most N preemptions, in place of the model's bound
 *   --delays  at most N delays of a plain scheduler
 *   --random  N random executions, for bugs of depth D (3), seed S (1)
 *   --naive   without any reduction
 *   --limit   stop after N executions
 *   --daily   a search of more than N executions is left to "make prove": it stops
 *             after N, and half as many random executions follow, with the day for
 *             a seed.  Default: $MODEL_DAILY, or no such limit
 *   --slow    only the models that take too long for every day
 *   --stats   more figures per model
 *   --show    the listing also of failures that a self test expects
 *   --mutate  with one operation made wrong (mutate.c) until a model fails,
 *             and then the status is 1; with --show, how the model fails
 *   --sites   the operations that each model reaches, up to the limit
 */
#include "engine.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct options {
	const char *program;
	const char *filter;
	const char *replay;
	int modes;
	int bound, delays, random, depth;
	uint64_t seed;
	uint64_t limit;
	uint64_t daily; /* 0: all of each search */
	bool naive, slow, stats, show, list, mutate, sites;
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

static void print_random(const struct search_stats *s)
{
	struct priority_odds odds = priority_odds();

	printf("): %llu random executions, seed %llu, %.2f s\n",
	       (unsigned long long)s->executions,
	       (unsigned long long)engine.seed, s->seconds);
	printf("     each meets a bug of depth %d with a probability of 1/%.0f "
	       "or more\n     (%d processes, %d steps%s)\n",
	       engine.bound, odds.one_in, odds.processes, odds.length,
	       odds.chose ? "; times that of choosing right" : "");
}

static void print_result(const struct options *o, const char *verdict,
			 const struct search_stats *s)
{
	printf("%-4s %s (%s", verdict, engine.model->name,
	       report_mode(engine.mode));
	if (engine.search == SEARCH_BOUNDED)
		printf(", %d preemptions", engine.bound);
	if (engine.search == SEARCH_DELAYED)
		printf(", %d delays", engine.bound);
	if (engine.search == SEARCH_RANDOM)
		print_random(s);
	else
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

/* An option overrides the model. */
static enum search_kind search_of(const struct options *o,
				  const struct model *m)
{
	bool asked = o->bound >= 0 || o->delays >= 0 || o->random > 0;

	engine.bound = 0;
	if (o->naive)
		return SEARCH_NAIVE;
	if (o->random > 0 || (!asked && m->random > 0)) {
		engine.bound = o->depth;
		engine.seed = o->seed;
		return SEARCH_RANDOM;
	}
	if (o->delays >= 0 || (!asked && m->delays > 0)) {
		engine.bound = o->delays >= 0 ? o->delays : m->delays;
		return SEARCH_DELAYED;
	}
	engine.bound = o->bound >= 0 ? o->bound : m->bound;
	return engine.bound > 0 ? SEARCH_BOUNDED : SEARCH_REDUCED;
}

/* Returns whether the model passes with the mutant as without. */
static bool explore_mutant(const struct options *o, const struct model *m,
			   enum model_mode mode, enum search_kind kind,
			   uint64_t limit)
{
	struct search_stats stats = mutate_explore(m, mode, kind, limit);
	struct mutate_result r = mutate_result(&stats);

	printf("mutant\t%s\t%s\t%s\t%llu\t%llu\t%llu\t%s\t%s\n", r.verdict,
	       m->name, report_mode(mode), (unsigned long long)stats.executions,
	       (unsigned long long)r.reached, (unsigned long long)r.wrong,
	       report_kind(engine.failure),
	       engine.failure ? engine.message : "");
	if (engine.failure && o->show)
		report_failure();
	return !engine.failure;
}

/* A search that would be too long for every day goes on at random. */
static struct search_stats explore_daily(const struct options *o,
					 const struct model *m,
					 enum model_mode mode,
					 enum search_kind kind)
{
	struct search_stats stats = search_explore(m, mode, kind, o->daily);
	uint64_t executions = stats.executions;

	if (stats.complete || engine.failure != MODEL_NONE)
		return stats;
	engine.bound = o->depth;
	engine.seed = (uint64_t)time(NULL) / (24 * 60 * 60);
	stats = search_explore(m, mode, SEARCH_RANDOM, o->daily / 2);
	printf("     the first %llu executions of a longer search, and:\n",
	       (unsigned long long)executions);
	return stats;
}

/* Is a search cut short? */
static bool is_daily(const struct options *o, enum search_kind kind)
{
	return o->daily && o->limit == UINT64_MAX && !o->sites &&
	       kind != SEARCH_RANDOM;
}

/* Returns whether the result was as expected. */
static bool explore(const struct options *o, const struct model *m,
		    enum model_mode mode)
{
	enum search_kind kind = search_of(o, m);
	uint64_t limit = o->limit;
	struct search_stats stats;
	bool good;

	if (kind == SEARCH_RANDOM && limit == UINT64_MAX)
		limit = (uint64_t)(o->random > 0 ? o->random : m->random);
	if (o->mutate)
		return explore_mutant(o, m, mode, kind, limit);
	if (is_daily(o, kind)) {
		stats = explore_daily(o, m, mode, kind);
		kind = engine.search;
	} else {
		stats = search_explore(m, mode, kind, limit);
	}
	if (o->sites) {
		printf("model\t%s\t%s\t%llu\t%.3f\t%s\n", m->name,
		       report_mode(mode), (unsigned long long)stats.executions,
		       stats.seconds, report_kind(engine.failure));
		return true;
	}
	good = engine.failure == m->expect &&
	       (stats.complete || kind == SEARCH_RANDOM ||
		engine.failure != MODEL_NONE);
	print_result(o, good ? "ok" : "FAIL", &stats);
	proof_append(o->program, &stats);
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
	/* A model that is not deterministic cannot be repeated. */
	if (engine.failure != MODEL_UNSTABLE && !report_reproduces()) {
		printf("     the replay string does not reproduce it\n");
		return false;
	}
	return good;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: [FILTER] [--mode sc|tso|ra] [--bound N] [--delays N]\n"
		"       [--random N [--depth D] [--seed S]] [--naive] "
		"[--limit N]\n"
		"       [--daily N] [--slow] [--stats] [--show] [--list] "
		"[--replay STRING]\n"
		"       [--mutate SITE:KIND] [--sites]\n");
	exit(2);
}

static void parse_mode(struct options *o, const char *value)
{
	if (!strcmp(value, "sc"))
		o->modes = MODEL_SC;
	else if (!strcmp(value, "tso"))
		o->modes = MODEL_TSO;
	else if (!strcmp(value, "ra"))
		o->modes = MODEL_RA;
	else
		usage();
}

/* An option without a value. */
static bool parse_flag(struct options *o, const char *a)
{
	const struct {
		const char *name;
		bool *to;
	} flags[] = {
		{ "--stats", &o->stats }, { "--show", &o->show },
		{ "--naive", &o->naive }, { "--slow", &o->slow },
		{ "--list", &o->list },   { "--sites", &o->sites },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(a, flags[i].name) != 0)
			continue;
		*flags[i].to = true;
		return true;
	}
	return false;
}

static void parse_value(struct options *o, const char *a, const char *value)
{
	if (!strcmp(a, "--mode"))
		parse_mode(o, value);
	else if (!strcmp(a, "--bound"))
		o->bound = atoi(value);
	else if (!strcmp(a, "--delays"))
		o->delays = atoi(value);
	else if (!strcmp(a, "--random"))
		o->random = atoi(value);
	else if (!strcmp(a, "--depth"))
		o->depth = atoi(value);
	else if (!strcmp(a, "--seed"))
		o->seed = strtoull(value, NULL, 0);
	else if (!strcmp(a, "--limit"))
		o->limit = strtoull(value, NULL, 10);
	else if (!strcmp(a, "--daily"))
		o->daily = strtoull(value, NULL, 10);
	else if (!strcmp(a, "--replay"))
		o->replay = value;
	else if (!strcmp(a, "--mutate") && mutate_parse(value))
		o->mutate = true;
	else
		usage();
}

static void parse(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-') {
			o->filter = argv[i];
		} else if (!parse_flag(o, argv[i])) {
			if (i + 1 == argc)
				usage();
			parse_value(o, argv[i], argv[i + 1]);
			i++;
		}
	}
	if (o->sites)
		mutate_list();
	if (o->depth < 1 || o->depth > PRIORITY_DEPTH_MAX)
		usage();
}

/* The modes to explore: a filter takes all modes of a model. */
static int modes_of(const struct options *o, const struct model *m)
{
	int modes = m->modes ? m->modes : MODEL_ALL;
	int slow = m->slow ? modes : m->slow_modes;

	if (!o->filter)
		modes &= o->slow ? slow : ~slow;
	return modes & o->modes;
}

static bool wanted(const struct options *o, const struct model *m)
{
	/* A model that is expected to fail says nothing about mutants. */
	if ((o->mutate || o->sites) && m->expect)
		return false;
	if (!o->filter)
		return true;
	if (o->filter[0] == '=')
		return !strcmp(m->name, o->filter + 1);
	return strstr(m->name, o->filter);
}

int main(int argc, char **argv)
{
	struct options o = { .program = argv[0],
			     .modes = MODEL_ALL,
			     .bound = -1,
			     .delays = -1,
			     .depth = 3,
			     .seed = 1,
			     .limit = UINT64_MAX };
	const char *daily = getenv("MODEL_DAILY");
	int passed = 0, failed = 0;

	if (daily)
		o.daily = strtoull(daily, NULL, 10);
	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(&o, argc, argv);
	catch_crashes();
	if (o.replay)
		return report_replay(models, o.replay);
	for (struct model *m = models; m; m = m->next) {
		int modes = modes_of(&o, m);

		if (!modes || !wanted(&o, m) || (o.mutate && failed))
			continue;
		if (o.list) {
			printf("%s\n", m->name);
			continue;
		}
		for (int mode = MODEL_SC; mode <= MODEL_RA; mode <<= 1) {
			if (!(modes & mode) || (o.mutate && failed))
				continue;
			if (explore(&o, m, (enum model_mode)mode))
				passed++;
			else
				failed++;
		}
		if (o.sites)
			mutate_print_sites();
	}
	if (o.sites || o.mutate)
		return failed ? 1 : 0;
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
