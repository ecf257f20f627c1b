/* SPDX-License-Identifier: MIT */
/*
 * io_file.c - row `io-file`: reads of files.
 *
 *   ns             4 KiB of the page cache: CPU time
 *   large_ns       1 MiB of the page cache: CPU time
 *   direct_ns      4 KiB of the disk at random offsets (O_DIRECT), 32 tasks: a second
 *                  over the reads of a second; direct_cpu_ns: the CPU time of a read
 */
#include "rows.h"

#include "../problems/file.h"

struct work {
	const struct measure *m;
	int fd;
};

/* ---- cached ----------------------------------------------------------------------- */

static void read_cached(void *arg)
{
	const struct work *work = arg;

	file_read_cached(work->m, work->fd, FILE_BLOCK, FILE_READS, "ns",
			 sley_io_pread);
	file_read_cached(work->m, work->fd, FILE_CHUNK, FILE_READS_LARGE,
			 "large_ns", sley_io_pread);
}

static void run_cached(const struct measure *m)
{
	struct work work = { m, file_make(m, FILE_CACHED_SIZE, 0) };

	MEASURE_CHECK(m, work.fd >= 0);
	row_run(m, read_cached, &work);
	sley_io_close(work.fd);
}

/* ---- not cached ------------------------------------------------------------------- */

struct reader {
	struct sley_task task;
	const struct work *work;
	uint64_t seed, nr, nr_blocks;
	char *data;
};

static void read_at_random(void *arg)
{
	struct reader *reader = arg;
	const struct measure *m = reader->work->m;

	for (uint64_t i = 0; i < reader->nr; i++) {
		uint64_t at;

		reader->seed += SPLITMIX_STEP;
		at = splitmix(reader->seed) % reader->nr_blocks * FILE_BLOCK;
		MEASURE_CHECK(m, sley_io_pread(reader->work->fd, reader->data,
					       FILE_BLOCK,
					       (off_t)at) == FILE_BLOCK);
		file_check(m, reader->data, FILE_BLOCK, at);
	}
}

static void read_direct(void *arg)
{
	const struct work *work = arg;
	const struct measure *m = work->m;
	struct sley_group group = SLEY_GROUP_INIT;
	uint64_t size = m->quick ? FILE_DIRECT_QUICK : FILE_DIRECT_SIZE;
	uint64_t each = measure_size(m, FILE_DIRECT_READS) / FILE_DIRECT_DEPTH;
	char *data = file_memory(m, FILE_DIRECT_DEPTH * FILE_BLOCK);
	struct reader reader[FILE_DIRECT_DEPTH];
	uint64_t cpu_ns = measure_cpu_now(), start = measure_now();

	for (unsigned int i = 0; i < FILE_DIRECT_DEPTH; i++) {
		reader[i] = (struct reader){ .work = work,
					     .seed = splitmix(i),
					     .nr = each,
					     .nr_blocks = size / FILE_BLOCK,
					     .data = data + i * FILE_BLOCK };
		sley_spawn(&group, &reader[i].task, read_at_random, &reader[i]);
	}
	sley_join(&group);
	measure_report_each("direct_ns", start, each * FILE_DIRECT_DEPTH);
	measure_report("direct_cpu_ns",
		       (double)(measure_cpu_now() - cpu_ns) /
			       (double)(each * FILE_DIRECT_DEPTH));
	free(data);
}

static void run_direct(const struct measure *m)
{
	struct work work = { m, file_make_direct(m) };

	if (work.fd < 0)
		return;
	row_run(m, read_direct, &work);
	sley_io_close(work.fd);
}

void row_io_file(const struct measure *m)
{
	measure_pin(0);
	run_cached(m);
	run_direct(m);
}
