/* SPDX-License-Identifier: MIT */
/*
 * doctor.c - sley doctor: which features of this machine sley can use.
 */
#include "doctor.h"

#include "command.h"
#include "screen.h"

#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>

#define VERDICT_WIDTH 9
#define NAME_WIDTH 13

static const struct {
	const char *word;
	enum screen_style style;
} verdicts[] = {
	[VERDICT_OK] = { "ok", SCREEN_GOOD },
	[VERDICT_DEGRADED] = { "degraded", SCREEN_WARNING },
	[VERDICT_BROKEN] = { "broken", SCREEN_BAD },
};

static void print_finding(const char *name, const struct finding *finding)
{
	screen_field(verdicts[finding->verdict].style,
		     verdicts[finding->verdict].word, -VERDICT_WIDTH);
	screen_field(SCREEN_PLAIN, name, -NAME_WIDTH);
	printf(" %s\n", finding->value);
	if (finding->verdict == VERDICT_OK)
		return;
	printf("%*s%s\n", VERDICT_WIDTH, "", finding->effect);
	printf("%*s", VERDICT_WIDTH, "");
	screen_field(SCREEN_HEADING, "fix:", 0);
	printf(" %s\n", finding->fix);
}

/* SLEY_CHAOS in the environment: does this build obey or ignore the variable? */
static void print_chaos(void)
{
	const char *seed = getenv("SLEY_CHAOS");

	if (!seed || !*seed)
		return;
#ifdef SLEY_CHAOS
	printf("\nSLEY_CHAOS=%s disturbs this build on purpose.\n", seed);
#else
	printf("\nSLEY_CHAOS=%s is ignored: only debug builds know it.\n",
	       seed);
#endif
}

static int run(int argc, char **argv)
{
	int status = command_no_arguments(&command_doctor, argc, argv);
	int count[] = { 0, 0, 0 };

	if (status)
		return status;
	printf("sley %s: what this machine gives it\n\n", sley_version());
	for (const struct probe *probe = doctor_probes; probe->name; probe++) {
		struct finding finding = { .verdict = VERDICT_OK };

		probe->run(&finding);
		print_finding(probe->name, &finding);
		count[finding.verdict]++;
		(void)fflush(stdout);
	}
	print_chaos();
	printf("\n%d ok, %d degraded, %d broken.\n", count[VERDICT_OK],
	       count[VERDICT_DEGRADED], count[VERDICT_BROKEN]);
	return count[VERDICT_BROKEN] ? STATUS_TROUBLE : STATUS_OK;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "",
	.summary = "kernel features and limits, and what would help",
	.help = "Tries what sley needs from the kernel.  A line that is not ok "
		"says what is worse\nbecause of it and which command helps.  "
		"The exit status is 1 only if sley cannot\nwork here at all.\n",
	.run = run,
};
