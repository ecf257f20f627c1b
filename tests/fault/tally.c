/* SPDX-License-Identifier: MIT */
/*
 * tally.c - see tally.h.
 */
#include "fault/tally.h"

#include "harness/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BUILD "asan"
#elif __has_feature(thread_sanitizer)
#define BUILD "tsan"
#else
#define BUILD "clang"
#endif
#else
#define BUILD "gcc"
#endif

static struct {
	atomic_int nr_scenarios;
	atomic_bool struck[2][FAULT_ERRORS_MAX][TRIAL_SITES_MAX];
} * all;

/* Before the harness forks. */
__attribute__((constructor)) static void share(void)
{
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		abort();
}

static void write_line(const char *line)
{
	const char *path = getenv("SLEY_PROOF");
	size_t size = strlen(line);
	int fd;

	if (!path || !*path)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, line, size), size);
	close(fd);
}

void tally_begin(struct tally *tally, const char *scenario)
{
	*tally = (struct tally){ .scenario = scenario,
				 .start_ns = test_now_ns() };
}

void tally_add(struct tally *tally, const struct trial_board *board)
{
	bool forever = board->plan.forever;
	int variant = board->plan.variant;
	bool told = atomic_load(&board->nr_failed) ||
		    atomic_load(&board->nr_reports);

	tally->nr_trials++;
	if (!atomic_load(&board->nr_struck))
		return;
	if (forever)
		tally->nr_forever++;
	else
		tally->nr_once++;
	if (!told)
		tally->nr_tolerated++;
	for (int i = 0; i < trial_nr_sites(); i++) {
		if (!atomic_load(&board->site_struck[i]))
			continue;
		tally->site[i] = true;
		atomic_store(&all->struck[forever][variant][i], true);
	}
}

void tally_end(const struct tally *tally)
{
	char line[512];
	int nr_sites = 0;

	for (int i = 0; i < trial_nr_sites(); i++)
		nr_sites += tally->site[i];
	snprintf(line, sizeof(line),
		 "{\"kind\":\"fault\",\"scenario\":\"%s\",\"build\":\"%s\","
		 "\"sites\":%d,\"trials\":%u,\"once\":%u,\"forever\":%u,"
		 "\"tolerated\":%u,\"seconds\":%.2f}\n",
		 tally->scenario, BUILD, nr_sites, tally->nr_trials,
		 tally->nr_once, tally->nr_forever, tally->nr_tolerated,
		 (double)(test_now_ns() - tally->start_ns) / 1e9);
	write_line(line);
	printf("     %u trials, %d sites, %u once, %u for ever\n",
	       tally->nr_trials, nr_sites, tally->nr_once, tally->nr_forever);
	fflush(stdout);
	atomic_fetch_add(&all->nr_scenarios, 1);
}

bool tally_was_struck(int site, bool forever, int variant)
{
	return atomic_load(&all->struck[forever][variant][site]);
}

int tally_nr_scenarios(void)
{
	return atomic_load(&all->nr_scenarios);
}

void tally_write_sites(int nr_registered, int nr_hit, int nr_unreachable)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "{\"kind\":\"fault-sites\",\"build\":\"%s\","
		 "\"registered\":%d,\"hit\":%d,\"unreachable\":%d}\n",
		 BUILD, nr_registered, nr_hit, nr_unreachable);
	write_line(line);
}
