/* SPDX-License-Identifier: MIT */
/*
 * report.c - see report.h.
 */
#include "core/trace/report.h"

#include "core/sched/worker.h"

#include <stdarg.h>
#include <stdio.h>

static void write_line(const struct sley_config *config, const char *format,
		       va_list args)
{
	char line[512];

	(void)vsnprintf(line, sizeof(line), format, args);
	if (config->report)
		config->report(config->report_self, line);
	else
		fprintf(stderr, "sley: %s\n", line);
}

void report(const struct sley *rt, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(&rt->config, format, args);
	va_end(args);
}

void report_early(const struct sley_config *config, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(config, format, args);
	va_end(args);
}
