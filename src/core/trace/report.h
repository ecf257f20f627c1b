/* SPDX-License-Identifier: MIT */
/*
 * report.h - sentences for the user: to config.report, or to stderr.
 */
#ifndef SLEY_CORE_TRACE_REPORT_H
#define SLEY_CORE_TRACE_REPORT_H

#include "base/compiler.h"

struct sley;
struct sley_config;

printf_like(2, 3) void report(const struct sley *rt, const char *format, ...);

/* The same before there is a runtime. */
printf_like(2, 3) void report_early(const struct sley_config *config,
				    const char *format, ...);

#endif
