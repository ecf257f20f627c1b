/* SPDX-License-Identifier: MIT */
/*
 * counted.h - the instructions of a row: this program runs itself under valgrind, which
 * counts them.
 */
#ifndef BENCH_ROWS_COUNTED_H
#define BENCH_ROWS_COUNTED_H

#include "rows.h"

#include <sys/wait.h>

/*
 * Instructions of @row from start to end, with the @variables of the environment
 * ("NAME=value ..."); 0: they cannot be counted here, and a line says so.
 */
static inline double counted_row(const struct measure *m, const char *row,
				 const char *variables)
{
	char command[512], line[256];
	double instructions = 0;
	FILE *from;

	snprintf(command, sizeof(command),
		 "%s exec valgrind --tool=callgrind "
		 "--callgrind-out-file=/dev/null --log-fd=1 "
		 "/proc/%d/exe %s 1 %s 2>/dev/null",
		 variables, (int)getpid(), row, m->quick ? "quick" : "");
	from = popen(command, "r");
	MEASURE_CHECK(m, from != NULL);
	while (fgets(line, sizeof(line), from) != NULL) {
		const char *collected = strstr(line, "Collected :");

		if (collected != NULL)
			(void)sscanf(collected, "Collected : %lf",
				     &instructions);
	}
	if (pclose(from) != 0 || instructions == 0) {
		fprintf(stderr,
			"row %s: the instructions of %s are not counted: "
			"valgrind is missing, or cannot run here\n",
			m->row, row);
		return 0;
	}
	return instructions;
}

#endif
