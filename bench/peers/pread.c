/* SPDX-License-Identifier: MIT */
/*
 * pread.c - the reference `pread` of the row `io-file`: the bare system call.
 */
#include "../problems/file.h"

static void run_file(const struct measure *m)
{
	int fd = file_make(m, FILE_CACHED_SIZE, 0);

	MEASURE_CHECK(m, fd >= 0);
	measure_pin(0);
	file_read_cached(m, fd, FILE_BLOCK, FILE_READS, "ns", pread);
	file_read_cached(m, fd, FILE_CHUNK, FILE_READS_LARGE, "large_ns",
			 pread);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "io-file", run_file },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
