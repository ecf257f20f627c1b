/* SPDX-License-Identifier: MIT */
/*
 * print.c - prints results as a table or as JSON lines.
 *
 * In the table a bar stands on the line of its peer; an absolute bar stands on
 * the line of sley.
 */
#include "print.h"

#include <stdio.h>
#include <string.h>

#define LINE "%-15s %3s  %-13s %-14s %11s %11s %11s %3s  %9s  %-16s %s\n"
#define CELL 24

static const char *const states[] = {
	[ENTRY_OK] = "",
	[ENTRY_MISSING] = "missing",
	[ENTRY_SINGLE] = "one worker only",
	[ENTRY_SKIPPED] = "skipped",
	[ENTRY_FAILED] = "FAILED",
};

void print_head(void)
{
	printf(LINE, "row", "wrk", "metric", "peer", "median", "min", "max",
	       "n", "sley/peer", "bar", "");
}

static void number(char *cell, double value)
{
	int digits = value < 100 ? 2 : value < 10000 ? 1 : 0;

	snprintf(cell, CELL, "%.*f", digits, value);
}

/* One line of the table, filled in from left to right. */
struct line {
	char workers[CELL], median[CELL], min[CELL], max[CELL], nr[CELL];
	char ratio[CELL], bar[CELL];
	const char *verdict;
};

/* How sley stands against a participant, or against an absolute bar. */
struct standing {
	struct series_summary ours, theirs;
	const struct plan_bar *bar; /* or NULL                             */
	double ratio;               /* 0: not comparable                   */
	double limit;               /* of the bar, in the metric           */
	bool ourselves; /* with another number of workers, or earlier  */
	bool judged, held;
};

/*
 * The participant's name for this metric of sley: a row for another form of our
 * interface compares our metric with the only figure that the peers have.
 */
static const char *their_name(const struct results *r, const char *metric,
			      const struct entry *entry)
{
	struct series_summary unused;

	if (r->row->form != NULL && strcmp(r->row->form, metric) == 0 &&
	    !series_summary(&entry->series, metric, &unused))
		return "ns";
	return metric;
}

/*
 * An earlier build is compared round by round, and the median of the ratios
 * counts: both builds are so alike that the drift of the machine would hide the
 * difference.
 */
static bool is_before(const struct entry *entry)
{
	return strcmp(entry->peer->name, PLAN_BEFORE) == 0;
}

/* False if the participant has no such metric. */
static bool compare(struct standing *s, const struct results *r,
		    const char *metric, const struct entry *entry)
{
	const struct entry *sley = &r->entries[0];

	*s = (struct standing){ 0 };
	if (!series_summary(&entry->series, their_name(r, metric, entry),
			    &s->theirs))
		return false;
	s->ourselves = entry != sley &&
		       strcmp(entry->peer->program, sley->peer->program) == 0;
	s->bar = plan_bar(r->row, r->workers, metric,
			  entry == sley ? NULL : entry->peer->name);
	if (!series_summary(&sley->series, metric, &s->ours) ||
	    sley->state != ENTRY_OK || entry->state != ENTRY_OK)
		return true;
	if (is_before(entry))
		s->ratio = series_ratio(&sley->series, &entry->series, metric);
	else if (entry != sley && s->theirs.median > 0)
		s->ratio = s->ours.median / s->theirs.median;
	if (s->bar == NULL)
		return true;
	s->limit = s->bar->factor * s->theirs.median + s->bar->plus;
	s->judged = true;
	s->held = plan_more_is_better(metric) ? s->ours.median >= s->limit
					      : s->ours.median <= s->limit;
	if (is_before(entry))
		s->held = s->ratio > 0 && s->ratio <= s->bar->factor;
	return true;
}

static void judge(struct line *line, const struct standing *s,
		  struct tally *tally)
{
	line->verdict = s->held ? "ok" : "missed";
	tally->ok += s->held;
	tally->missed += !s->held;
}

static void describe(struct line *line, const struct standing *s)
{
	const struct plan_bar *bar = s->bar;
	bool more = plan_more_is_better(bar->metric);
	const char *sign = more ? ">=" : "<=";

	if (bar->peer == NULL)
		snprintf(line->bar, CELL, "%s %.5g", sign, bar->plus);
	else if (bar->plus > 0)
		snprintf(line->bar, CELL, "%s %.2fx + %.4g", sign, bar->factor,
			 bar->plus);
	else if (s->ourselves && bar->factor < 1 && !more)
		snprintf(line->bar, CELL, ">= %.2fx faster", 1 / bar->factor);
	else
		snprintf(line->bar, CELL, "%s %.2fx", sign, bar->factor);
}

static void print_line(const struct results *r, const char *metric,
		       const char *who, const struct line *line)
{
	printf(LINE, r->row->name, line->workers, metric, who, line->median,
	       line->min, line->max, line->nr, line->ratio, line->bar,
	       line->verdict);
}

static void print_entry(const struct results *r, const char *metric,
			const struct entry *entry, void *arg)
{
	struct line line = { .verdict = states[entry->state] };
	struct tally *tally = arg;
	struct standing s;

	if (!compare(&s, r, metric, entry))
		return;
	snprintf(line.workers, CELL, "%d", r->workers);
	number(line.median, s.theirs.median);
	number(line.min, s.theirs.min);
	number(line.max, s.theirs.max);
	snprintf(line.nr, CELL, "%zu", s.theirs.nr);
	if (s.ratio > 0)
		snprintf(line.ratio, CELL, "%.2f", s.ratio);
	if (s.bar != NULL)
		describe(&line, &s);
	if (s.judged)
		judge(&line, &s, tally);
	print_line(r, metric, entry->peer->name, &line);
}

/* Does an entry before entry @nr have this metric? */
static bool shown(const struct results *r, size_t nr, const char *metric)
{
	struct series_summary unused;

	for (size_t i = 0; i < nr; i++) {
		if (series_summary(&r->entries[i].series, metric, &unused))
			return true;
	}
	return false;
}

/* Shows one metric of one participant. */
typedef void show_fn(const struct results *r, const char *metric,
		     const struct entry *entry, void *arg);

/* Shows the metrics that entry @of is the first to have, for all participants. */
static void show_metrics(const struct results *r, size_t of, show_fn *show,
			 void *arg)
{
	const struct series *series = &r->entries[of].series;

	for (size_t i = 0; i < series->nr; i++) {
		const char *metric = series->metrics[i].name;

		if (shown(r, of, metric))
			continue;
		for (size_t j = 0; j < r->nr; j++)
			show(r, metric, &r->entries[j], arg);
	}
}

/* A participant that measured nothing is named once. */
static void print_absent(const struct results *r, const struct entry *entry)
{
	struct line line = { .verdict = states[entry->state] };

	snprintf(line.workers, CELL, "%d", r->workers);
	print_line(r, "-", entry->peer->name, &line);
}

/* The number of cores in the rounds that count. */
static void print_calibration(const struct results *r)
{
	const struct calibration *c = &r->calibration;
	struct line line = { .verdict = "" };
	struct series_summary s;
	char repeated[CELL];

	if (!series_summary(&c->series, CALIBRATION_METRIC, &s))
		return;
	snprintf(line.workers, CELL, "%d", r->workers);
	number(line.median, s.median);
	number(line.min, s.min);
	number(line.max, s.max);
	snprintf(line.nr, CELL, "%zu", s.nr);
	snprintf(line.bar, CELL, "(%.2f wanted)", calibration_least(c));
	snprintf(repeated, CELL, "%d repeated", c->repeated);
	line.verdict = repeated;
	print_line(r, CALIBRATION_METRIC, "calibration", &line);
}

static int count_bars(const struct plan_bar *bars, int max, int workers)
{
	int nr = 0;

	for (const struct plan_bar *bar = bars; bar < bars + max; bar++)
		nr += bar->metric != NULL &&
		      (bar->workers == 0 || bar->workers == workers);
	return nr;
}

/* The bars that could have been judged in this run. */
static int count_all_bars(const struct results *r)
{
	int nr = count_bars(r->row->bars, PLAN_BARS_MAX, r->workers);

	for (size_t i = 0; i < r->nr; i++) {
		if (is_before(&r->entries[i]))
			nr += count_bars(r->row->before, PLAN_BEFORE_MAX,
					 r->workers);
	}
	return nr;
}

void print_table(const struct results *r, struct tally *tally)
{
	int judged = tally->ok + tally->missed;

	for (size_t i = 0; i < r->nr; i++)
		show_metrics(r, i, print_entry, tally);
	for (size_t i = 0; i < r->nr; i++) {
		if (r->entries[i].series.nr == 0)
			print_absent(r, &r->entries[i]);
	}
	print_calibration(r);
	tally->open += count_all_bars(r) - (tally->ok + tally->missed - judged);
	fflush(stdout);
}

static void print_object(const struct results *r, const char *metric,
			 const struct entry *entry, void *arg)
{
	struct standing s;
	FILE *file = arg;

	if (!compare(&s, r, metric, entry))
		return;
	fprintf(file,
		"{\"row\":\"%s\",\"about\":\"%s\",\"peer\":\"%s\",\"workers\":%d,"
		"\"metric\":\"%s\",\"value\":%.6g,\"n\":%zu,"
		"\"min\":%.6g,\"max\":%.6g",
		r->row->name, r->row->about, entry->peer->name, r->workers,
		metric, s.theirs.median, s.theirs.nr, s.theirs.min,
		s.theirs.max);
	if (s.ratio > 0)
		fprintf(file, ",\"ratio\":%.4g", s.ratio);
	if (s.judged)
		fprintf(file, ",\"limit\":%.6g,\"held\":%s", s.limit,
			s.held ? "true" : "false");
	fputs("}\n", file);
}

static void print_json_calibration(FILE *file, const struct results *r)
{
	const struct calibration *c = &r->calibration;
	struct series_summary s;

	if (!series_summary(&c->series, CALIBRATION_METRIC, &s))
		return;
	fprintf(file,
		"{\"row\":\"%s\",\"peer\":\"calibration\",\"workers\":%d,"
		"\"metric\":\"" CALIBRATION_METRIC "\",\"value\":%.4g,"
		"\"n\":%zu,\"min\":%.4g,\"max\":%.4g,\"least\":%.4g,"
		"\"repeated\":%d}\n",
		r->row->name, r->workers, s.median, s.nr, s.min, s.max,
		calibration_least(c), c->repeated);
}

void print_json(FILE *file, const struct results *r)
{
	for (size_t i = 0; i < r->nr; i++)
		show_metrics(r, i, print_object, file);
	print_json_calibration(file, r);
	fflush(file);
}
