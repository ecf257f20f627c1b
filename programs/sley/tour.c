/* SPDX-License-Identifier: MIT */
/*
 * tour.c - sley tour: each model at work, in a table.
 */
#include "tour.h"

#include "command.h"
#include "screen.h"

#include <sley/sley.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct stop stops[] = {
	{ .model = "tasks",
	  .did = "spawned and joined 100,000 tasks",
	  .run = tour_tasks },
	{ .model = "fork-join",
	  .did = "fib(27), a fork in every call",
	  .run = tour_fork_join },
	{ .model = "urgency",
	  .did = "a task at -32 wakes among forks",
	  .run = tour_overtake,
	  .workers = 1 },
	{ .model = "scopes",
	  .did = "one of 1,001 members fails",
	  .run = tour_scope },
	{ .model = "loops",
	  .did = "filled and summed a million, twice",
	  .run = tour_loops },
	{ .model = "sorting",
	  .did = "1,000,000 random integers",
	  .run = tour_sort },
	{ .model = "pipeline",
	  .did = "20,000 items, in order at the end",
	  .run = tour_pipeline },
	{ .model = "graphs",
	  .did = "10,000 nodes that read two others",
	  .run = tour_graph },
	{ .model = "failures",
	  .did = "one of 1,000 chains of 4 breaks",
	  .run = tour_failure },
	{ .model = "plans",
	  .did = "1,000 nodes, recorded and run 100x",
	  .run = tour_plan },
	{ .model = "subprocess",
	  .did = "20 of 40 calls kill their process",
	  .run = tour_subprocesses },
	{ .model = "stealing",
	  .did = "512 tasks, spawned on one worker",
	  .run = tour_stealing },
	{ .model = "priorities",
	  .did = "spawned as 31, 0, -10, -32",
	  .run = tour_priorities,
	  .workers = 1 },
	{ .model = "blocking",
	  .did = "10,000 fibers blocked and released",
	  .run = tour_blocking },
	{ .model = "channels",
	  .did = "100,000 values through 3 stages",
	  .run = tour_channels },
	{ .model = "select",
	  .did = "30,000 values over 3 channels",
	  .run = tour_select },
	{ .model = "mutex",
	  .did = "6 tasks, 2 threads, one counter",
	  .run = tour_mutex },
	{ .model = "rwlock",
	  .did = "6 readers, 2 writers, no torn page",
	  .run = tour_rwlock },
	{ .model = "condition",
	  .did = "4 producers, 4 consumers, 8 places",
	  .run = tour_condition },
	{ .model = "tickets",
	  .did = "1,000 tasks, the last one first",
	  .run = tour_tickets },
	{ .model = "calls",
	  .did = "20 calls that hold a thread 20 ms",
	  .run = tour_calls },
	{ .model = "timeouts",
	  .did = "500 deadlines within 50 ms",
	  .run = tour_timeouts },
	{ .model = "cancelling",
	  .did = "1,000 tasks that sleep for ever",
	  .run = tour_cancel },
	{ .model = "actors",
	  .did = "100,000 pings, and pongs",
	  .run = tour_actors },
	{ .model = "supervisor",
	  .did = "1,000 workers killed under load",
	  .run = tour_service },
	{ .model = "processes",
	  .did = "a tree, and what can be seen of it",
	  .run = tour_inspect },
	{ .model = "pools",
	  .did = "20,000 requests, one shard drained",
	  .run = tour_pools },
#ifdef SLEY_CONFIG_FILES
	{ .model = "daemon",
	  .did = "a client, then the daemon killed",
	  .run = tour_daemon },
#endif
	{ .model = "domain",
	  .did = "urgent work among 2 busy processes",
	  .run = tour_domain },
	{ .model = "http",
	  .did = "fetched its own page 1,000 times",
	  .run = tour_http },
	{ .model = "one thread",
	  .did = "two tasks in steps, and again",
	  .run = tour_single,
	  .plain = true },
	{ .model = "stopping",
	  .did = "a deadline, a report, the end",
	  .run = tour_shutdown,
	  .plain = true },
};

#define NR_STOPS (sizeof(stops) / sizeof(stops[0]))

/* The columns after the mark and a space; two spaces apart. */
#define MODEL_WIDTH 10
#define DID_WIDTH 34
#define RESULT_WIDTH 18
#define TIME_WIDTH 7
#define TABLE_WIDTH                                                            \
	(2 + MODEL_WIDTH + DID_WIDTH + RESULT_WIDTH + TIME_WIDTH + 7)

/* ---- the outcome of a stop --------------------------------------------------- */

void outcome_start(struct outcome *out)
{
	out->start_ns = sley_now();
}

void outcome_stop(struct outcome *out)
{
	out->end_ns = sley_now();
}

double outcome_ns(const struct outcome *out)
{
	return (double)(out->end_ns - out->start_ns);
}

void outcome_result(struct outcome *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(out->result, sizeof(out->result), format, args);
	va_end(args);
}

void outcome_trouble(struct outcome *out, const char *format, ...)
{
	va_list args;

	if (out->trouble[0])
		return;
	va_start(args, format);
	(void)vsnprintf(out->trouble, sizeof(out->trouble), format, args);
	va_end(args);
}

void outcome_note(struct outcome *out, const char *format, ...)
{
	size_t length = strlen(out->notes);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(out->notes + length, sizeof(out->notes) - length,
			format, args);
	va_end(args);
	length = strlen(out->notes);
	if (length + 1 < sizeof(out->notes))
		out->notes[length] = '\n';
}

void *tour_alloc(size_t nr, size_t size)
{
	void *memory = calloc(nr, size);

	if (!memory) {
		fprintf(stderr, "sley tour: out of memory (%zu bytes)\n",
			nr * size);
		exit(STATUS_TROUBLE);
	}
	return memory;
}

/* ---- the table ---------------------------------------------------------------- */

static void print_row(enum screen_style style, const char *const column[4])
{
	putchar(' ');
	screen_field(style, column[0], -MODEL_WIDTH);
	fputs("  ", stdout);
	screen_field(style, column[1], -DID_WIDTH);
	fputs("  ", stdout);
	screen_field(style, column[2], -RESULT_WIDTH);
	fputs("  ", stdout);
	screen_field(style, column[3], TIME_WIDTH);
	putchar('\n');
}

static void print_head(int workers)
{
	static const char *const head[] = { "model", "what it did", "result",
					    "time" };

	printf("sley %s, %d worker%s\n\n%*s", sley_version(), workers,
	       workers == 1 ? "" : "s", screen_mark_width(), "");
	print_row(SCREEN_HEADING, head);
	screen_rule(TABLE_WIDTH - 2 + screen_mark_width());
}

static void print_notes(char *notes)
{
	char *line;

	while ((line = strsep(&notes, "\n")) && *line) {
		printf("%*s", screen_mark_width() + 1, "");
		screen_field(SCREEN_QUIET, line, 0);
		putchar('\n');
	}
}

static void print_stop(const struct stop *stop, struct outcome *out)
{
	bool good = !out->trouble[0];
	char time[SCREEN_NUMBER_SIZE] = "";
	const char *const row[] = { stop->model, stop->did,
				    good ? out->result : "wrong", time };

	if (out->end_ns)
		(void)screen_time(time, outcome_ns(out));
	screen_field(good ? SCREEN_GOOD : SCREEN_BAD, screen_mark(good),
		     -screen_mark_width());
	print_row(SCREEN_PLAIN, row);
	if (!good) {
		printf("%*s", screen_mark_width() + 1, "");
		screen_field(SCREEN_BAD, out->trouble, 0);
		putchar('\n');
	}
	print_notes(out->notes);
	(void)fflush(stdout);
}

/* ---- the walk -------------------------------------------------------------------- */

struct visit {
	const struct stop *stop;
	struct outcome *out;
};

static void visit(void *arg)
{
	struct visit *it = arg;

	it->stop->run(it->out);
}

/*
 * What the runtime of a stop reports.  A stop kills a thousand workers, each of which is
 * a line: the lines are counted, and the first is shown if the stop went wrong.
 */
struct reports {
	atomic_uint nr;
	char first[200];
};

static void take_report(void *self, const char *line)
{
	struct reports *reports = self;

	if (!atomic_fetch_add(&reports->nr, 1))
		snprintf(reports->first, sizeof(reports->first), "%s", line);
}

static void show_reports(struct reports *reports)
{
	unsigned int nr = atomic_load(&reports->nr);

	if (nr)
		fprintf(stderr, "The first of %u reports: %s\n", nr,
			reports->first);
}

static bool go_to(const struct stop *stop, int workers)
{
	struct outcome out = { 0 };
	struct visit it = { stop, &out };
	struct reports reports = { .nr = 0 };
	int err = 0;

	if (stop->workers)
		workers = stop->workers;
	if (stop->plain)
		stop->run(&out);
	else
		err = sley_run(SLEY_CONFIG(.workers = workers,
					   .report = take_report,
					   .report_self = &reports),
			       visit, &it);
	if (err)
		outcome_trouble(&out, "cannot start: %s", sley_strerror(err));
	if (!out.result[0])
		outcome_trouble(&out, "it came to no result");
	print_stop(stop, &out);
	if (out.trouble[0])
		show_reports(&reports);
	return !out.trouble[0];
}

/* How many workers a runtime would have. */
static int count_workers(int workers, int *out)
{
	struct sley *rt;
	int err = sley_create(&rt, SLEY_CONFIG(.workers = workers));

	if (err)
		return err;
	*out = sley_nr_workers(rt);
	return sley_destroy(rt);
}

static int walk(int workers)
{
	uint64_t start_ns = sley_now();
	char time[SCREEN_NUMBER_SIZE];
	size_t nr_good = 0;
	int err;

	tour_subprocesses_begin();
	err = count_workers(workers, &workers);
	if (err) {
		tour_subprocesses_end();
		fprintf(stderr,
			"sley tour: cannot start: %s\n"
			"Run 'sley doctor' to see what is missing.\n",
			sley_strerror(err));
		return STATUS_TROUBLE;
	}
	print_head(workers);
	for (size_t i = 0; i < NR_STOPS; i++)
		nr_good += go_to(&stops[i], workers);
	tour_subprocesses_end();
	printf("\n%zu of %zu right, in %s.\n", nr_good, NR_STOPS,
	       screen_time(time, (double)(sley_now() - start_ns)));
	if (nr_good == NR_STOPS)
		return STATUS_OK;
	printf("Run 'sley doctor'; if it finds nothing, please report this.\n");
	return STATUS_TROUBLE;
}

/* A number of workers; 0: @text is not a valid number. */
static int parse_workers(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	return *end || number < 1 || number > SLEY_WORKERS_MAX ? 0
							       : (int)number;
}

static int run(int argc, char **argv)
{
	int workers = 0;

	if (argc == 1)
		return walk(0);
	/* Not for users: see tour_daemon.c. */
	if (argc == 3 && strcmp(argv[1], "--client") == 0)
		return tour_be_client(argv[2]) ? STATUS_TROUBLE : STATUS_OK;
	/* Nor this: see tour_domain.c. */
	if (argc == 4 && strcmp(argv[1], "--member") == 0)
		return tour_be_member(argv[2], argv[3]) ? STATUS_TROUBLE
							: STATUS_OK;
	if (strcmp(argv[1], "--workers") != 0 || argc > 3) {
		fprintf(stderr, "sley tour: unexpected '%s'\n",
			argc > 3 ? argv[3] : argv[1]);
		return command_usage(&command_tour);
	}
	if (argc == 3)
		workers = parse_workers(argv[2]);
	if (!workers) {
		fprintf(stderr,
			"sley tour: --workers takes a number from 1 to %d\n",
			SLEY_WORKERS_MAX);
		return command_usage(&command_tour);
	}
	return walk(workers);
}

const struct command command_tour = {
	.name = "tour",
	.arguments = "[--workers N]",
	.summary = "see each part at work, with timings",
	.help = "Each line does real work and checks its own result; the exit "
		"status is 1 if\none was wrong.  It takes some seconds.  With "
		"SLEY_TRACE=full in the environment\neach runtime leaves a "
		"trace for https://ui.perfetto.dev in this directory.\n",
	.run = run,
};
