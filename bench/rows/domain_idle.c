/* SPDX-License-Identifier: MIT */
/*
 * domain_idle.c - row `domain-idle`: what a membership costs a process that is alone in
 * its domain: the instructions of other rows with it, against those without.
 */
#include "counted.h"
#include "domain.h"

static void report(const struct measure *m, const char *row,
		   const struct domain *domain)
{
	char variables[128], metric[32];
	double with, without;

	snprintf(variables, sizeof(variables), "SLEY_DOMAIN=%s", domain->path);
	with = counted_row(m, row, variables);
	without = counted_row(m, row, "");
	if (with == 0 || without == 0)
		return;
	snprintf(metric, sizeof(metric), "%s_times", row);
	measure_report(metric, with / without);
}

void row_domain_idle(const struct measure *m)
{
	struct domain domain = { .m = m };

	domain_start(&domain);
	report(m, "spawn", &domain);
	report(m, "yield", &domain);
	report(m, "pingpong", &domain);
	domain_stop(&domain);
}
