/* SPDX-License-Identifier: MIT */
/*
 * report.c - see report.h.
 */
#include "core/trace/report.h"

#include "core/sched/worker.h"

#include <stdarg.h>
#include <stdio.h>

void report(const struct sley *rt, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (rt->config.report)
		rt->config.report(rt->config.report_self, line);
	else
		fprintf(stderr, "sley: %s\n", line);
}
