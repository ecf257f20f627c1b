/* SPDX-License-Identifier: MIT */
/*
 * sley-bench.c - measures sley and the peers.
 *
 *   sley-bench ROW...|all [--workers N] [--peers] [--json] [--quick]
 *                         [--rounds N] [--results FILE]
 *                         [--before BUILD] [--instructions]
 *   sley-bench --list
 *
 * sley-bench measures nothing itself: each measurement is a run of a program in
 * the directory `programs` beside sley-bench.  With --peers the participants take
 * turns, A B C A B C, so that a disturbance of the machine hits all participants
 * alike.  Where a row needs a core for each worker, calibration.h counts the cores.
 */
#define _GNU_SOURCE
#include "child.h"
#include "plan.h"
#include "print.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 7

struct options {
	char **rows; /* from the command line, ended by NULL */
	bool all;
	int workers; /* 0: as in the plan */
	int rounds;
	bool json, peers, quick, list, instructions;
	const char *results; /* the file for JSON beside the table, or NULL */
	FILE *file;
	char directory[PATH_MAX];
	char before[PATH_MAX]; /* the programs of an earlier build, or "" */
};

static int usage(FILE *out)
{
	fprintf(out,
		"usage: sley-bench ROW...|all [options]\n"
		"  --workers N  with N workers only (default: those of the row)\n"
		"  --peers      measure the row's peers too, taking turns\n"
		"  --json       one JSON object per line and measurement\n"
		"  --results F  the same objects to file F, beside the table\n"
		"  --rounds N   process runs of each (default: %d)\n"
		"  --quick      tiny sizes, one round: checks counts only\n"
		"  --before B   measure sley as it was built in folder B, too\n"
		"  --instructions  count them, with valgrind and one worker\n"
		"  --list       name the rows\n",
		ROUNDS);
	return out == stdout ? 0 : 2;
}

static int list(void)
{
	for (size_t i = 0; i < plan_nr_rows; i++)
		printf("%-15s %s\n", plan_rows[i].name, plan_rows[i].about);
	return 0;
}

/* A number from @min to @max, or -1 after a complaint. */
static int parse_number(const char *option, const char *text, int min, int max)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*text != '\0' && *end == '\0' && value >= min && value <= max)
		return (int)value;
	fprintf(stderr, "sley-bench: %s: from %d to %d\n", option, min, max);
	return -1;
}

static bool parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "workers", required_argument, NULL, 'w' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "results", required_argument, NULL, 'f' },
		{ "json", no_argument, NULL, 'j' },
		{ "peers", no_argument, NULL, 'p' },
		{ "quick", no_argument, NULL, 'q' },
		{ "before", required_argument, NULL, 'b' },
		{ "instructions", no_argument, NULL, 'i' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'w')
			o->workers = parse_number("--workers", optarg, 1, 4096);
		else if (c == 'r')
			o->rounds = parse_number("--rounds", optarg, 1,
						 SERIES_ROUNDS_MAX);
		else if (c == 'f')
			o->results = optarg;
		else if (c == 'b')
			snprintf(o->before, sizeof(o->before),
				 "%s/bench/programs", optarg);
		else if (c == 'h')
			exit(usage(stdout));
		else if (c == '?')
			return false;
		o->json |= c == 'j';
		o->peers |= c == 'p';
		o->quick |= c == 'q';
		o->list |= c == 'l';
		o->instructions |= c == 'i';
	}
	if (o->workers < 0 || o->rounds < 0)
		return false;
	if (o->rounds == 0)
		o->rounds = o->quick ? 1 : ROUNDS;
	o->rows = argv + optind;
	o->all = optind + 1 == argc && strcmp(*o->rows, "all") == 0;
	return o->list || optind < argc;
}

/* The directory of the programs is beside this program. */
static bool find_directory(struct options *o)
{
	static const char programs[] = "/programs";
	ssize_t got = readlink("/proc/self/exe", o->directory,
			       sizeof(o->directory) - sizeof(programs));
	char *slash;

	if (got < 0)
		return false;
	o->directory[got] = '\0';
	slash = strrchr(o->directory, '/');
	if (slash == NULL)
		return false;
	memcpy(slash, programs, sizeof(programs));
	return true;
}

static void program_path(const struct entry *entry, char *path, size_t size)
{
	if (snprintf(path, size, "%s/%s", entry->directory,
		     entry->peer->program) >= (int)size)
		path[0] = '\0';
}

/* Names a participant whose program was not built, the first time. */
static void name_missing(const struct plan_peer *peer)
{
	static const char *named[64];
	size_t i = 0;

	while (named[i] != NULL && strcmp(named[i], peer->program) != 0)
		i++;
	if (named[i] != NULL)
		return;
	named[i] = peer->program;
	fprintf(stderr, "sley-bench: %s: missing%s%s%s\n", peer->program,
		peer->package ? " (Debian: " : "",
		peer->package ? peer->package : "", peer->package ? ")" : "");
}

/* Does sley take part with this number of workers already? */
static bool is_ourselves(const struct results *r, const struct plan_peer *peer)
{
	const struct plan_peer *sley = &r->row->peers[0];

	return peer != sley && peer->workers == r->workers &&
	       strcmp(peer->program, sley->program) == 0;
}

/* Adds a participant, whose program is in @directory. */
static void invite_one(struct results *r, const struct plan_peer *peer,
		       const char *directory)
{
	struct entry *entry = &r->entries[r->nr++];
	char path[PATH_MAX];

	entry->peer = peer;
	entry->directory = directory;
	entry->series.nr = 0;
	entry->state = ENTRY_OK;
	if (peer->single && r->workers > 1)
		entry->state = ENTRY_SINGLE;
	program_path(entry, path, sizeof(path));
	if (access(path, X_OK) != 0) {
		entry->state = ENTRY_MISSING;
		name_missing(peer);
	}
}

/* Fills in the participants: sley, the earlier build of sley, the peers. */
static void invite(const struct options *o, struct results *r)
{
	const struct plan_peer *sley = &r->row->peers[0], *peer;

	r->nr = 0;
	invite_one(r, sley, o->directory);
	if (o->before[0] != '\0') {
		r->before = *sley;
		r->before.name = PLAN_BEFORE;
		invite_one(r, &r->before, o->before);
	}
	for (peer = sley + 1; o->peers && peer->name != NULL; peer++) {
		if (!is_ourselves(r, peer))
			invite_one(r, peer, o->directory);
	}
}

/* @counted: counts instructions, does not time. */
static void measure(const struct options *o, const struct results *r,
		    struct entry *entry, bool counted)
{
	const struct plan_peer *peer = entry->peer;
	const char *name = peer->row != NULL ? peer->row : r->row->name;
	char path[PATH_MAX], count[16];
	const char *argv[5] = { path, name, count, NULL, NULL };
	enum child_result result;

	program_path(entry, path, sizeof(path));
	snprintf(count, sizeof(count), "%d",
		 peer->workers != 0 ? peer->workers : r->workers);
	if (o->quick)
		argv[3] = "quick";
	result = counted ? child_count(argv, &entry->series)
			 : child_run(argv, &entry->series);
	if (result == CHILD_SKIPPED)
		entry->state = ENTRY_SKIPPED;
	if (result == CHILD_FAILED)
		entry->state = ENTRY_FAILED;
}

/* Measures each participant once. */
static void run_round(const struct options *o, struct results *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		if (r->entries[i].state == ENTRY_OK)
			measure(o, r, &r->entries[i], false);
	}
}

/*
 * Counts the instructions of sley and of the earlier build.  One run is enough: the
 * count does not depend on the load of the machine.  With two workers or more, the
 * count depends on how long each worker looks for work, and means nothing.
 */
static void count(const struct options *o, struct results *r)
{
	size_t nr = o->before[0] != '\0' ? 2 : 1;

	if (!o->instructions || r->workers != 1)
		return;
	for (size_t i = 0; i < nr; i++) {
		if (r->entries[i].state == ENTRY_OK)
			measure(o, r, &r->entries[i], true);
	}
}

/* Runs all rounds, and repeats rounds that had too few cores. */
static void run_rounds(const struct options *o, struct results *r)
{
	int round = 0;

	calibration_init(&r->calibration, o->directory, r->workers, o->quick,
			 r->row->calibrated ? o->rounds : -1);
	while (round < o->rounds) {
		run_round(o, r);
		if (calibration_holds(&r->calibration)) {
			round++;
			continue;
		}
		for (size_t i = 0; i < r->nr; i++) {
			if (r->entries[i].state == ENTRY_OK)
				series_undo(&r->entries[i].series);
		}
	}
}

/* Runs one row at one number of workers.  False if a participant failed. */
static bool run(const struct options *o, const struct plan_row *row,
		int workers, struct tally *tally)
{
	static struct results r;
	bool ok;

	r.row = row;
	r.workers = workers;
	invite(o, &r);
	ok = r.entries[0].state != ENTRY_MISSING ||
	     row->peers[0].package != NULL;
	run_rounds(o, &r);
	count(o, &r);
	for (size_t i = 0; i < r.nr; i++)
		ok &= r.entries[i].state != ENTRY_FAILED;
	if (o->file != NULL)
		print_json(o->file, &r);
	if (o->json)
		print_json(stdout, &r);
	else
		print_table(&r, tally);
	return ok;
}

static bool run_row(const struct options *o, const struct plan_row *row,
		    struct tally *tally)
{
	bool ok = true;

	if (o->workers == 0) {
		for (int i = 0; row->workers[i] != 0; i++)
			ok &= run(o, row, row->workers[i], tally);
		return ok;
	}
	if (o->workers < row->workers_min || o->workers > row->workers_max) {
		fprintf(stderr, "sley-bench: %s: from %d to %d workers\n",
			row->name, row->workers_min, row->workers_max);
		return o->all;
	}
	return run(o, row, o->workers, tally);
}

/* Runs all requested rows.  False if a participant failed. */
static bool run_rows(const struct options *o)
{
	struct tally tally = { 0, 0, 0 };
	bool ok = true;

	if (!o->json)
		print_head();
	for (size_t i = 0; o->all && i < plan_nr_rows; i++)
		ok &= run_row(o, &plan_rows[i], &tally);
	for (char **name = o->rows; !o->all && *name != NULL; name++)
		ok &= run_row(o, plan_find(*name), &tally);
	if (!o->json)
		printf("bars: %d ok, %d missed, %d not judged%s\n", tally.ok,
		       tally.missed, tally.open,
		       o->peers ? "" : " (see --peers)");
	return ok;
}

/* False after a complaint about an unknown row. */
static bool know_rows(const struct options *o)
{
	for (char **name = o->rows; !o->all && *name != NULL; name++) {
		if (plan_find(*name) == NULL) {
			fprintf(stderr, "sley-bench: no row %s; these are:\n",
				*name);
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	bool ok;

	if (!parse(&o, argc, argv) || !find_directory(&o))
		return usage(stderr);
	if (o.list)
		return list();
	if (!know_rows(&o)) {
		list();
		return 2;
	}
	if (o.before[0] != '\0' && access(o.before, X_OK) != 0) {
		fprintf(stderr,
			"sley-bench: --before: there is no folder %s; name a "
			"folder in which that state of sley was built\n",
			o.before);
		return 2;
	}
	if (o.results != NULL && (o.file = fopen(o.results, "w")) == NULL) {
		perror(o.results);
		return 2;
	}
	ok = run_rows(&o);
	if (o.file != NULL && fclose(o.file) != 0) {
		perror(o.results);
		return 2;
	}
	return ok ? 0 : 1;
}
