/* SPDX-License-Identifier: MIT */
/*
 * series.c - collects the values of the rounds; the median is the result.
 */
#include "series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct series_metric *find(const struct series *series, const char *name)
{
	for (size_t i = 0; i < series->nr; i++) {
		if (strcmp(series->metrics[i].name, name) == 0)
			return (struct series_metric *)&series->metrics[i];
	}
	return NULL;
}

bool series_add(struct series *series, const char *metric, double value)
{
	struct series_metric *m = find(series, metric);

	if (m == NULL) {
		if (series->nr == SERIES_METRICS_MAX)
			return false;
		m = &series->metrics[series->nr++];
		snprintf(m->name, sizeof(m->name), "%s", metric);
		m->nr = 0;
	}
	if (m->nr == SERIES_ROUNDS_MAX)
		return false;
	m->values[m->nr++] = value;
	return true;
}

void series_undo(struct series *series)
{
	for (size_t i = 0; i < series->nr; i++)
		series->metrics[i].nr -= series->metrics[i].nr > 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(values[0]), compare);
	if (nr % 2 == 1)
		return values[nr / 2];
	return (values[nr / 2] + values[nr / 2 - 1]) / 2;
}

double series_ratio(const struct series *ours, const struct series *theirs,
		    const char *metric)
{
	const struct series_metric *a = find(ours, metric);
	const struct series_metric *b = find(theirs, metric);
	double ratios[SERIES_ROUNDS_MAX];

	if (a == NULL || b == NULL || a->nr == 0 || a->nr != b->nr)
		return 0;
	for (size_t i = 0; i < a->nr; i++) {
		if (b->values[i] <= 0)
			return 0;
		ratios[i] = a->values[i] / b->values[i];
	}
	return median(ratios, a->nr);
}

bool series_summary(const struct series *series, const char *metric,
		    struct series_summary *out)
{
	const struct series_metric *m = find(series, metric);
	double sorted[SERIES_ROUNDS_MAX];

	if (m == NULL || m->nr == 0)
		return false;
	memcpy(sorted, m->values, m->nr * sizeof(sorted[0]));
	out->median = median(sorted, m->nr);
	out->nr = m->nr;
	out->min = sorted[0];
	out->max = sorted[m->nr - 1];
	return true;
}
