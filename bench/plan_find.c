/* SPDX-License-Identifier: MIT */
/*
 * plan_find.c - finds rows and bars in the plan.
 */
#include "plan.h"

#include <string.h>

const struct plan_row *plan_find(const char *name)
{
	for (size_t i = 0; i < plan_nr_rows; i++) {
		if (strcmp(plan_rows[i].name, name) == 0)
			return &plan_rows[i];
	}
	return NULL;
}

bool plan_more_is_better(const char *metric)
{
	const char *unit = strrchr(metric, '_');

	return strcmp(unit != NULL ? unit + 1 : metric, "gflops") == 0;
}

const struct plan_bar *plan_bar(const struct plan_row *row, int workers,
				const char *metric, const char *peer)
{
	bool before = peer != NULL && strcmp(peer, PLAN_BEFORE) == 0;
	const struct plan_bar *bars = before ? row->before : row->bars;
	int max = before ? PLAN_BEFORE_MAX : PLAN_BARS_MAX;

	for (int i = 0; i < max; i++) {
		const struct plan_bar *bar = &bars[i];

		if (bar->metric == NULL)
			break;
		if (bar->workers != 0 && bar->workers != workers)
			continue;
		if (strcmp(bar->metric, metric) != 0)
			continue;
		if (peer == NULL
			    ? bar->peer == NULL
			    : bar->peer != NULL && strcmp(bar->peer, peer) == 0)
			return bar;
	}
	return NULL;
}
