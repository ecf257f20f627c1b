/* SPDX-License-Identifier: MIT */
/*
 * series.h - the values of one participant in all rounds, metric by metric.
 */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#define SERIES_METRICS_MAX 12
#define SERIES_ROUNDS_MAX 1000
#define SERIES_NAME_MAX 32

struct series_metric {
	char name[SERIES_NAME_MAX];
	size_t nr;
	double values[SERIES_ROUNDS_MAX];
};

struct series {
	size_t nr;
	struct series_metric metrics[SERIES_METRICS_MAX];
};

struct series_summary {
	double median, min, max;
	size_t nr;
};

/* False if there are more metrics or rounds than fit. */
bool series_add(struct series *series, const char *metric, double value);

/* Takes back the newest value of each metric. */
void series_undo(struct series *series);

/*
 * The median of the ratios of @ours to @theirs, round by round; 0 if a series lacks
 * the metric, or if the numbers of rounds differ.
 */
double series_ratio(const struct series *ours, const struct series *theirs,
		    const char *metric);

/* False if the series has no such metric. */
bool series_summary(const struct series *series, const char *metric,
		    struct series_summary *out);

#endif
