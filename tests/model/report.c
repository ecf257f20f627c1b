/* SPDX-License-Identifier: MIT */
/*
 * report.c - an execution as a listing, and as a string to repeat it.
 *
 * One column per thread; the row of a buffered store that reaches memory
 * stands in its thread's column and begins with "~".  The replay string is
 *
 *	model/mode/steps
 *
 * with one letter per step (a: thread 0, A: the buffer of thread 0), followed
 * by a number where the step had a choice and did not take the first.
 */
#include "engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX 64
#define WIDTH_MAX 120

static struct name {
	const volatile void *p;
	char text[32];
} names[NAMES_MAX];
static int nr_names;

void report_names_reset(void)
{
	nr_names = 0;
}

void model_name(const volatile void *p, const char *format, ...)
{
	va_list args;

	if (!engine.tracing || nr_names == NAMES_MAX)
		return;
	names[nr_names].p = p;
	va_start(args, format);
	vsnprintf(names[nr_names].text, sizeof(names[0].text), format, args);
	va_end(args);
	nr_names++;
}

static const char *name_of(const volatile void *p)
{
	for (int i = nr_names - 1; i >= 0; i--) {
		if (names[i].p == p)
			return names[i].text;
	}
	return NULL;
}

const char *report_kind(enum model_failure kind)
{
	static const char *const texts[] = {
		[MODEL_NONE] = "nothing",
		[MODEL_ASSERTION] = "assertion",
		[MODEL_DEADLOCK] = "deadlock",
		[MODEL_LOST_WAKEUP] = "lost wake-up",
		[MODEL_LIVELOCK] = "livelock",
		[MODEL_LEAK] = "leak",
		[MODEL_USE_AFTER_FREE] = "use after free",
		[MODEL_RACE] = "race",
		[MODEL_CRASH] = "crash",
		[MODEL_UNSTABLE] = "unusable model",
	};

	return texts[kind];
}

const char *report_mode(enum model_mode mode)
{
	return mode == MODEL_SC ? "sc" : mode == MODEL_TSO ? "tso" : "ra";
}

/* Where in the source that place in the program is: " (file:line)". */
void report_where(uint32_t site, char *text, size_t size)
{
	char line[256] = "";
	const char *name;
	FILE *pipe;

	text[0] = 0;
	if (!site || !engine.tracing)
		return;
	/* One back: it is where the call returns to. */
	snprintf(line, sizeof(line), "addr2line -e /proc/%d/exe %#x",
		 (int)getpid(), site - 1);
	pipe = popen(line, "r");
	if (!pipe)
		return;
	if (!fgets(line, sizeof(line), pipe))
		line[0] = 0;
	pclose(pipe);
	line[strcspn(line, " \n")] = 0;
	name = strrchr(line, '/');
	snprintf(text, size, " (%s)", name ? name + 1 : line);
}

/* ---- the listing --------------------------------------------------------- */

struct text {
	char s[WIDTH_MAX];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void
append(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->s + t->n, sizeof(t->s) - t->n, format, args);
	va_end(args);
	t->n += (size_t)n;
	if (t->n >= sizeof(t->s))
		t->n = sizeof(t->s) - 1;
}

static void append_value(struct text *t, uint64_t value)
{
	const char *name = value ? name_of((void *)(uintptr_t)value) : NULL;

	if (name)
		append(t, "&%s", name);
	else if (value < 100000)
		append(t, "%llu", (unsigned long long)value);
	else
		append(t, "%#llx", (unsigned long long)value);
}

/* A site is "file:line\0name\0expression". */
static const char *site_name(const char *site)
{
	return site + strlen(site) + 1;
}

static const char *site_expression(const char *site)
{
	const char *name = site_name(site);
	const char *expression = name + strlen(name) + 1;

	return *expression == '&' ? expression + 1 : expression;
}

static void append_location(struct text *t, const struct op *op)
{
	const char *name = name_of(op->addr);

	append(t, "%s", name ? name : site_expression(op->site));
}

static void append_futex(struct text *t, const struct op *op, uint64_t result)
{
	append(t, " ");
	append_location(t, op);
	if (op->kind == OP_FUTEX_WAKE)
		append(t, ": %llu woken", (unsigned long long)result);
	else if (op->kind == OP_FUTEX_UNBLOCK)
		append(t, result ? ": timed out" : ": woken");
	else
		append(t, result ? ": sleeps" : ": value differs");
}

static void append_operation(struct text *t, const struct op *op,
			     uint64_t result, bool stale)
{
	append(t, "%s", op->kind == OP_FLUSH ? "~" : site_name(op->site));
	switch ((enum op_kind)op->kind) {
	case OP_LOAD:
	case OP_STORE:
	case OP_FLUSH:
	case OP_RMW:
	case OP_CAS:
		append(t, " ");
		append_location(t, op);
		append(t, op->kind == OP_LOAD || op->kind >= OP_RMW ? ": "
								    : " = ");
		append_value(t, result);
		break;
	case OP_SPIN:
	case OP_ACCESS:
	case OP_FREE:
		append(t, " ");
		append_location(t, op);
		break;
	case OP_FUTEX_WAIT:
	case OP_FUTEX_UNBLOCK:
	case OP_FUTEX_WAKE:
		append_futex(t, op, result);
		break;
	case OP_NOW:
	case OP_ADVANCE:
	case OP_CHOOSE:
		append(t, ": ");
		append_value(t, result);
		break;
	default:
		break;
	}
	if (op->kind == OP_CAS && result != op->expected) {
		append(t, ", fails");
	} else if (op->kind == OP_CAS || op->kind == OP_RMW) {
		append(t, " -> ");
		append_value(t, machine_rmw_value(op, result));
	}
	if (stale)
		append(t, op->kind == OP_STORE ? " (not the last)" : " (old)");
}

void report_step(const struct step *s, const struct op *op, uint64_t result)
{
	int thread = s->effect.process & (BUFFER - 1);
	int column = 84 / engine.nr_threads;
	struct text t = { .n = 0 };

	/* Long ones are livelocks: their beginning and end will do. */
	if (engine.replay > 200 && engine.depth >= 100 &&
	    engine.depth < engine.replay - 60) {
		if (engine.depth == 100)
			printf("  ...\n");
		return;
	}
	append_operation(&t, op, result, s->effect.flags & STALE);
	printf("%5d  %*s%-*s", engine.depth + 1, thread * column, "",
	       (engine.nr_threads - thread) * column, t.s);
	printf("  %s\n", op->site);
}

/* ---- repeating ----------------------------------------------------------- */

struct schedule {
	int nr;
	uint8_t process[STEPS_MAX];
	uint16_t choice[STEPS_MAX];
};

static struct schedule schedule;

static void schedule_save(void)
{
	/* A step that fails is not counted yet. */
	schedule.nr = engine.depth + engine.executing;
	for (int i = 0; i < schedule.nr; i++) {
		schedule.process[i] = engine.steps[i].effect.process;
		schedule.choice[i] = engine.steps[i].choice;
	}
}

static void schedule_print(void)
{
	printf("%s/%s/", engine.model->name, report_mode(engine.mode));
	for (int i = 0; i < schedule.nr; i++) {
		int p = schedule.process[i];

		putchar(p < BUFFER ? 'a' + p : 'A' + p - BUFFER);
		if (schedule.choice[i])
			printf("%d", schedule.choice[i]);
	}
}

/* False: that is no schedule. */
static bool schedule_parse(const char *s)
{
	schedule.nr = 0;
	while (*s) {
		int n = schedule.nr;
		char *end;

		if (n == STEPS_MAX - 2)
			return false;
		if (*s >= 'a' && *s < 'a' + THREADS)
			schedule.process[n] = (uint8_t)(*s - 'a');
		else if (*s >= 'A' && *s < 'A' + THREADS)
			schedule.process[n] = (uint8_t)(*s - 'A' + BUFFER);
		else
			return false;
		schedule.choice[n] = (uint16_t)strtoul(s + 1, &end, 10);
		schedule.nr++;
		s = end;
	}
	return true;
}

/* The step that failed. */
static void report_last_words(void)
{
	const struct step *s = &engine.steps[engine.depth];
	int p = s->effect.process;

	if (p < BUFFER)
		report_step(s, &engine.threads[p].op, 0);
}

/* Runs the schedule, printing it if asked; ends where it ended. */
static void schedule_run(bool print)
{
	search_prepare(engine.model, engine.mode);
	for (int i = 0; i < schedule.nr; i++) {
		engine.steps[i].effect.process = schedule.process[i];
		engine.steps[i].choice = schedule.choice[i];
	}
	engine.replay = schedule.nr;
	engine.redo = true;
	engine.tracing = print;
	engine.search = SEARCH_NAIVE;
	if (print) {
		int column = 84 / engine.nr_threads;

		printf("%7s", "");
		for (int i = 0; i < engine.nr_threads; i++)
			printf("thread %-*d", column - 7, i);
		printf("\n");
	}
	search_run_once();
	if (print && engine.executing)
		report_last_words();
	engine.redo = engine.tracing = false;
}

bool report_reproduces(void)
{
	enum model_failure kind = engine.failure;

	schedule_save();
	schedule_run(false);
	return engine.failure == kind;
}

void report_failure(void)
{
	schedule_save();
	schedule_run(true);
	printf("       %s: %s\n", report_kind(engine.failure), engine.message);
	printf("       replay: --replay ");
	schedule_print();
	printf("\n");
}

int report_replay(const struct model *models, const char *string)
{
	const char *mode = strchr(string, '/');
	const char *steps = mode ? strchr(mode + 1, '/') : NULL;

	if (!steps || !schedule_parse(steps + 1)) {
		fprintf(stderr, "not a replay string: %s\n", string);
		return 2;
	}
	for (const struct model *m = models; m; m = m->next) {
		if (strlen(m->name) != (size_t)(mode - string) ||
		    strncmp(m->name, string, (size_t)(mode - string)) != 0)
			continue;
		engine.model = m;
		engine.mode = mode[1] == 's'   ? MODEL_SC
			      : mode[1] == 't' ? MODEL_TSO
					       : MODEL_RA;
		schedule_run(true);
		if (engine.failure)
			printf("       %s: %s\n", report_kind(engine.failure),
			       engine.message);
		else
			printf("       no failure\n");
		return engine.failure ? 1 : 0;
	}
	fprintf(stderr, "no such model: %s\n", string);
	return 2;
}
