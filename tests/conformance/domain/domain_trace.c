/* SPDX-License-Identifier: MIT */
/*
 * domain_trace.c - the trace of a member shows each core that it gave or got, its waits for
 * a core, and each time that a worker overtook.
 *
 * Two runtimes of this process are the members of a domain with one core.  They leave it
 * before the trace is written: what they counted until then is what the trace must have.
 */
#include "conformance/domain/stage.h"
#include "conformance/runtime/trace_file.h"

#define ROUNDS 5
#define URGENT (-10)

static struct sley_domain_host *host;
static struct sley *busy, *urgent;
static char other[300];
static atomic_int nr_turns, nr_ran;
static atomic_bool over;

static struct sley *start_member(const char *file, const char *domain)
{
	struct sley_config config = tracing(file);
	struct sley *rt = NULL;

	config.workers = 1;
	config.strict = true;
	config.domain = domain;
	CHECK_EQ(sley_create(&rt, &config), 0);
	return rt;
}

static void open_domain(void)
{
	const char *domain = stage_open();

	begin();
	(void)snprintf(other, sizeof(other), "%s/other.json", directory);
	host = host_start_with(
		(struct sley_domain_host_options){ .nr_cores = 1 });
	busy = start_member(path, domain);
	urgent = start_member(other, domain);
	CHECK_EQ(nr_members(), 2);
}

static void close_domain(void)
{
	CHECK_EQ(unlink(other), 0);
	end();
	sley_domain_host_destroy(host);
	stage_close();
}

/* The core is always in use, but for urgent work. */
static void yield_until_over(void *arg)
{
	(void)arg;
	while (!atomic_load(&over)) {
		atomic_fetch_add(&nr_turns, 1);
		sley_yield();
	}
}

/* Until the urgent task that comes after its begin has run. */
static void run_until_overtaken(void *arg)
{
	int nr = atomic_load(&nr_ran);

	(void)arg;
	atomic_fetch_add(&nr_turns, 1);
	while (atomic_load(&nr_ran) == nr)
		;
}

static void run_once(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
}

static void keep_busy(sley_fn *fn)
{
	int nr = atomic_load(&nr_turns);

	CHECK_EQ(sley_schedule_on(busy, fn, NULL, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&nr_turns) > nr);
}

/* Urgent work that lasts: until it has got a core. */
static void run_until_taken(void *arg)
{
	while (!info_of(urgent).nr_held)
		sley_yield();
	run_once(arg);
}

static void run_urgent(sley_fn *fn)
{
	int nr = atomic_load(&nr_ran) + 1;

	CHECK_EQ(sley_schedule_on(urgent, fn, NULL,
				  SLEY_OPTIONS(.priority = URGENT)),
		 0);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == nr);
}

/* Both leave while the busy member still works, and so gives and takes to the end. */
static void leave_both(void)
{
	CHECK_EQ(sley_domain_leave(urgent), 0);
	CHECK_EQ(sley_domain_leave(busy), 0);
}

static void stop_both(void)
{
	atomic_store(&over, true);
	CHECK_EQ(sley_destroy(urgent), 0);
	CHECK_EQ(sley_destroy(busy), 0);
}

static void check_marks(const struct sley_domain_info *info)
{
	CHECK_EQ(number("dropped"), 0);
	CHECK_EQ(number("overlaps"), 0);
	CHECK_EQ(number("taken"), (long)info->taken);
	CHECK_EQ(number("waits"), (long)info->waits);
	CHECK_EQ(number("overtakes"), (long)info->overtakes);
}

TEST(m39_a_trace_shows_cores_that_were_handed_over_and_waits_for_them)
{
	struct sley_domain_info of_busy, of_urgent;

	open_domain();
	keep_busy(yield_until_over);
	do {
		run_urgent(run_until_taken);
		of_busy = info_of(busy);
		of_urgent = info_of(urgent);
	} while (of_busy.given < ROUNDS || of_urgent.taken < ROUNDS);
	leave_both();
	of_busy = info_of(busy);
	of_urgent = info_of(urgent);
	stop_both();
	read_trace(path);
	check_marks(&of_busy);
	/* Its worker always wants its core, so no other thread gave the core on. */
	CHECK_EQ(number("given"), (long)of_busy.given);
	CHECK_EQ(number("self"), 0);
	CHECK_EQ(number("peers"), 1);
	CHECK_GE(number("waits"), 1);
	read_trace(other);
	check_marks(&of_urgent);
	CHECK_EQ(number("self"), 1);
	CHECK_EQ(number("peers"), 1);
	close_domain();
}

TEST(m39_a_trace_shows_urgent_work_that_overtook)
{
	struct sley_domain_info of_urgent;

	open_domain();
	/*
	 * The busy member has the core when its task begins.  It may lose the core, if its
	 * ticks come too late on a busy machine; then nothing is to overtake that time.
	 */
	do {
		keep_busy(run_until_overtaken);
		run_urgent(run_once);
		of_urgent = info_of(urgent);
	} while (of_urgent.overtakes < ROUNDS);
	leave_both();
	of_urgent = info_of(urgent);
	stop_both();
	read_trace(other);
	check_marks(&of_urgent);
	CHECK_GE(number("overtakes"), ROUNDS);
	read_trace(path);
	CHECK_EQ(number("overtakes"), 0);
	close_domain();
}

TEST(m39_the_trace_of_a_runtime_without_a_domain_has_no_cores)
{
	begin();
	busy = start_member(path, NULL);
	CHECK_EQ(sley_schedule_on(busy, run_once, NULL, NULL), 0);
	CHECK_EQ(sley_destroy(busy), 0);
	read_trace(path);
	CHECK_EQ(number("done"), 1);
	CHECK_EQ(number("self"), -1);
	CHECK_EQ(number("waits") + number("overtakes"), 0);
	end();
}
