/* SPDX-License-Identifier: MIT */
/*
 * fio.c - the peer fio of the row `io-file`: Debian's fio with io_uring reads random
 * blocks past the page cache, with 32 reads under way.  It opens our file, which has no
 * name, by way of /proc.
 */
#include "../problems/file.h"

/* The fields of its terse output, version 3, counted from 0. */
#define FIELD_ERROR 4
#define FIELD_KIB 5
#define FIELD_MS 8
#define FIELD_USER_PERCENT 87
#define FIELD_SYSTEM_PERCENT 88
#define NR_FIELDS 89

static void start(int fd, const struct measure *m, FILE **fio)
{
	uint64_t size = m->quick ? FILE_DIRECT_QUICK : FILE_DIRECT_SIZE;
	char command[1024];

	snprintf(command, sizeof(command),
		 FIO " --name=sley --filename=/proc/%d/fd/%d --size=%llu"
		     " --io_size=%llu --rw=randread --norandommap --bs=%u"
		     " --direct=1 --ioengine=io_uring --iodepth=%d"
		     " --output-format=terse --terse-version=3",
		 (int)getpid(), fd, (unsigned long long)size,
		 (unsigned long long)measure_size(m, FILE_DIRECT_READS) *
			 FILE_BLOCK,
		 FILE_BLOCK, FILE_DIRECT_DEPTH);
	*fio = popen(command, "r");
	MEASURE_CHECK(m, *fio != NULL);
}

/* False if there are too few. */
static bool parse(char *line, double *fields)
{
	char *field;
	int nr = 0;

	while (nr < NR_FIELDS && (field = strsep(&line, ";")) != NULL)
		fields[nr++] = atof(field);
	return nr == NR_FIELDS;
}

static void run_file(const struct measure *m)
{
	double reads = (double)measure_size(m, FILE_DIRECT_READS);
	double field[NR_FIELDS], ns;
	static char line[65536];
	int fd = file_make_direct(m);
	FILE *fio;

	if (fd < 0)
		exit(MEASURE_SKIP);
	measure_pin(0);
	start(fd, m, &fio);
	MEASURE_CHECK(m, fgets(line, sizeof(line), fio) && parse(line, field));
	MEASURE_CHECK(m, pclose(fio) == 0 && field[FIELD_ERROR] == 0);
	MEASURE_CHECK(m, field[FIELD_KIB] * 1024 == reads * FILE_BLOCK);
	ns = field[FIELD_MS] * 1e6 / reads;
	measure_report("direct_ns", ns);
	measure_report(
		"direct_cpu_ns",
		ns * (field[FIELD_USER_PERCENT] + field[FIELD_SYSTEM_PERCENT]) /
			100);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "io-file", run_file },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
