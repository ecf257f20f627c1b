/* SPDX-License-Identifier: MIT */
/*
 * policy.c - row `policy`: what each policy that is built in costs a request.
 *
 * The times are of the row `route-queued`, once for each policy.  The instructions are
 * those of "default" over "none": this program runs itself under valgrind, which counts
 * them, as the rows `policy-none` and so on, which print nothing.  Where valgrind is
 * missing there is no such metric, and a line says so.
 */
#include "counted.h"
#include "requests.h"

static void run_silently(const struct measure *m, const char *policy,
			 bool queued)
{
	struct requests requests = { m, policy, NULL,
				     measure_size(m, POLICY_COUNTED), queued };

	requests_run(&requests);
}

void row_policy_none(const struct measure *m)
{
	run_silently(m, "none", true);
}

void row_policy_default(const struct measure *m)
{
	run_silently(m, "default", true);
}

void row_policy_none_inline(const struct measure *m)
{
	run_silently(m, "none", false);
}

void row_policy_default_inline(const struct measure *m)
{
	run_silently(m, "default", false);
}

/* The instructions of a request in @row that one in @without has not. */
static void report_over(const struct measure *m, const char *metric,
			const char *row, const char *without)
{
	double nr = (double)measure_size(m, POLICY_COUNTED);
	double with = counted_row(m, row, "");
	double none = counted_row(m, without, "");

	if (with != 0 && none != 0)
		measure_report(metric, (with - none) / nr);
}

void row_policy(const struct measure *m)
{
	static const char *const policies[] = { "none", "default", "local",
						"steal", "prio" };

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		char metric[32];
		struct requests requests = { m, policies[i], metric,
					     measure_size(m, POLICY_TURNS),
					     true };

		snprintf(metric, sizeof(metric), "%s_ns", policies[i]);
		requests_run(&requests);
	}
	if (m->workers != 1)
		return;
	report_over(m, "queued_instructions", "policy-default", "policy-none");
	report_over(m, "inline_instructions", "policy-default-inline",
		    "policy-none-inline");
}
