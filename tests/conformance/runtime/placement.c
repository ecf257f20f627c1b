/* SPDX-License-Identifier: MIT */
/*
 * placement.c - on which CPUs workers run: M37, T29; and what the configuration
 * in use is: M1, M13.
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>

#include "conformance/bound.h"

#define WORKERS_MAX 64

/* What each worker saw. */
static struct seen {
	int runs;
	struct sley_cpus mask;
	char name[16];
} seen[WORKERS_MAX];

static struct gate meeting;

static void note_worker(void *arg)
{
	struct seen *mine = &seen[sley_worker()];

	(void)arg;
	CHECK_GE(sched_getaffinity(0, sizeof(mine->mask),
				   (cpu_set_t *)mine->mask.word),
		 0);
	pthread_getname_np(pthread_self(), mine->name, sizeof(mine->name));
	mine->runs++;
	gate_hold(&meeting);
}

/* As many tasks as there are workers, and nobody may have two. */
static void ask_all_workers(struct sley *rt)
{
	static struct sley_task tasks[WORKERS_MAX];
	struct sley_group group = SLEY_GROUP_INIT;
	int nr = sley_nr_workers(rt);

	CHECK_LE(nr, WORKERS_MAX);
	memset(seen, 0, sizeof(seen));
	meeting = (struct gate){ 0 };
	for (int i = 0; i < nr; i++)
		CHECK_EQ(sley_spawn_on(rt, &group, &tasks[i], note_worker, NULL,
				       NULL),
			 0);
	CHECK_EVENTUALLY(atomic_load(&meeting.held) == nr);
	gate_open(&meeting);
	sley_join(&group);
	for (int i = 0; i < nr; i++)
		CHECK_EQ(seen[i].runs, 1);
}

static bool equal(const struct sley_cpus *a, const struct sley_cpus *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static struct sley_cpus usable(void)
{
	struct sley_cpus cpus;

	CHECK_GE(sley_cpus_usable(&cpus), 1);
	return cpus;
}

static struct sley_cpus only(int cpu)
{
	struct sley_cpus cpus = { { 0 } };

	CHECK(sley_cpus_add(&cpus, cpu));
	return cpus;
}

/* What taskset does. */
static void restrict_to(const struct sley_cpus *cpus)
{
	CHECK_EQ(sched_setaffinity(0, sizeof(*cpus),
				   (const cpu_set_t *)cpus->word),
		 0);
}

static struct sley *create(const struct sley_config *config)
{
	struct sley *rt = NULL;

	CHECK_EQ(sley_create(&rt, config), 0);
	return rt;
}

/* ---- policies ------------------------------------------------------------------ */

TEST_WORKERS(m37_without_a_policy_workers_inherit_the_mask_of_their_creator)
{
	struct sley_cpus all = usable();
	struct sley *rt = create(test_config());

	ask_all_workers(rt);
	for (int i = 0; i < sley_nr_workers(rt); i++)
		CHECK(equal(&seen[i].mask, &all));
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST_WORKERS(m37_any_of_lets_each_worker_use_all_of_the_set)
{
	struct sley_config config = *test_config();
	struct sley_cpus all = usable(), set;
	struct sley *rt;

	set = only(sley_cpus_nth(&all, sley_cpus_count(&all) - 1));
	config.placement = SLEY_PLACE_ANY_OF;
	config.cpus = &set;
	rt = create(&config);
	ask_all_workers(rt);
	for (int i = 0; i < sley_nr_workers(rt); i++)
		CHECK(equal(&seen[i].mask, &set));
	CHECK_EQ(sley_destroy(rt), 0);
	/* The creator stays where it was. */
	set = usable();
	CHECK(equal(&set, &all));
}

TEST(m37_a_set_without_a_policy_means_any_of)
{
	struct sley_config config = config_of(2);
	struct sley_cpus all = usable(), set = only(sley_cpus_next(&all, 0));
	struct sley *rt;

	config.cpus = &set;
	rt = create(&config);
	ask_all_workers(rt);
	CHECK(equal(&seen[0].mask, &set));
	CHECK(equal(&seen[1].mask, &set));
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST_WORKERS(m37_one_of_gives_each_worker_one_cpu_in_turn)
{
	struct sley_config config = *test_config();
	struct sley_cpus all = usable();
	int share[SLEY_CPUS_MAX] = { 0 };
	struct sley *rt;
	int nr;

	config.placement = SLEY_PLACE_ONE_OF;
	rt = create(&config);
	nr = sley_nr_workers(rt);
	ask_all_workers(rt);
	for (int i = 0; i < nr; i++) {
		CHECK_EQ(sley_cpus_count(&seen[i].mask), 1);
		share[sley_cpus_next(&seen[i].mask, 0)]++;
	}
	for (int cpu = 0; cpu < SLEY_CPUS_MAX; cpu++) {
		if (!sley_cpus_has(&all, cpu)) {
			CHECK_EQ(share[cpu], 0);
			continue;
		}
		CHECK_GE(share[cpu], nr / sley_cpus_count(&all));
		CHECK_LE(share[cpu], nr / sley_cpus_count(&all) + 1);
	}
	CHECK_EQ(sley_destroy(rt), 0);
}

struct chooser {
	struct sley_cpus offered;
	int calls;
};

static void choose(void *self, int worker, struct sley_cpus *cpus)
{
	struct chooser *chooser = self;
	int cpu = sley_cpus_nth(cpus, worker % sley_cpus_count(cpus));

	CHECK_EQ(worker, chooser->calls++);
	CHECK(equal(cpus, &chooser->offered));
	*cpus = only(cpu);
}

TEST_WORKERS(m37_a_custom_policy_is_asked_for_each_worker)
{
	struct chooser chooser = { .offered = usable() };
	struct sley_config config = *test_config();
	struct sley *rt;
	int nr;

	config.placement = SLEY_PLACE_CUSTOM;
	config.place = choose;
	config.hook_self = &chooser;
	rt = create(&config);
	nr = sley_nr_workers(rt);
	CHECK_EQ(chooser.calls, nr);
	ask_all_workers(rt);
	for (int i = 0; i < nr; i++) {
		int n = i % sley_cpus_count(&chooser.offered);
		struct sley_cpus one = only(sley_cpus_nth(&chooser.offered, n));

		CHECK(equal(&seen[i].mask, &one));
	}
	CHECK_EQ(sley_destroy(rt), 0);
}

/* ---- what cannot be had is an error: traps 10 and 23 ----------------------------- */

static int create_fails(const struct sley_config *config)
{
	struct sley *rt = NULL;
	int err = sley_create(&rt, config);

	CHECK(err < 0);
	CHECK(rt == NULL);
	CHECK_EQ(test_allocated(), 0);
	return err;
}

static void choose_none_for_the_second(void *self, int worker,
				       struct sley_cpus *cpus)
{
	(void)self;
	if (worker == 1)
		memset(cpus, 0, sizeof(*cpus));
}

TEST(m37_no_cpu_left_is_an_error)
{
	static const uint32_t placements[] = { SLEY_PLACE_NONE,
					       SLEY_PLACE_ANY_OF,
					       SLEY_PLACE_ONE_OF };
	struct sley_config config = config_of(3);
	struct sley_cpus set = { { 0 } };
	size_t i;

	config.cpus = &set;
	for (i = 0; i < ARRAY_SIZE(placements); i++) {
		config.placement = placements[i];
		set = (struct sley_cpus){ { 0 } };
		CHECK_EQ(create_fails(&config), SLEY_ECPUS);
		set = only(SLEY_CPUS_MAX - 1); /* no machine has it */
		CHECK_EQ(create_fails(&config), SLEY_ECPUS);
	}
	config.cpus = NULL;
	config.placement = SLEY_PLACE_CUSTOM;
	config.place = choose_none_for_the_second;
	CHECK_EQ(create_fails(&config), SLEY_ECPUS);
	CHECK(strstr(sley_strerror(SLEY_ECPUS), "taskset"));
}

TEST(m37_a_policy_that_is_none_is_an_error)
{
	struct sley_config config = config_of(1);

	config.placement = SLEY_PLACE_CUSTOM; /* without .place */
	CHECK_EQ(create_fails(&config), -EINVAL);
	config.placement = SLEY_PLACE_CUSTOM + 1;
	CHECK_EQ(create_fails(&config), -EINVAL);
}

/* ---- taskset ------------------------------------------------------------------------ */

TEST(t29_a_runtime_stays_within_the_mask_of_its_process)
{
	static const uint32_t placements[] = { SLEY_PLACE_NONE,
					       SLEY_PLACE_ANY_OF,
					       SLEY_PLACE_ONE_OF };
	struct sley_cpus all = usable(), last;
	struct sley_config config = config_of(3);
	size_t i;

	last = only(sley_cpus_nth(&all, sley_cpus_count(&all) - 1));
	restrict_to(&last);
	for (i = 0; i < ARRAY_SIZE(placements); i++) {
		struct sley *rt;

		config.placement = placements[i];
		config.cpus = placements[i] ? &all : NULL;
		rt = create(&config);
		ask_all_workers(rt);
		for (int w = 0; w < 3; w++)
			CHECK(equal(&seen[w].mask, &last));
		CHECK_EQ(sley_destroy(rt), 0);
	}
	if (sley_cpus_count(&all) > 1) {
		struct sley_cpus other = only(sley_cpus_next(&all, 0));

		config.cpus = &other;
		CHECK_EQ(create_fails(&config), SLEY_ECPUS);
	}
}

TEST(t29_the_default_number_of_workers_is_that_of_the_set)
{
	struct sley_config config = config_of(0);
	struct sley_cpus all = usable(), one = only(sley_cpus_next(&all, 0));
	struct sley *rt;

	config.cpus = &one;
	rt = create(&config);
	CHECK_EQ(sley_nr_workers(rt), 1);
	CHECK_EQ(sley_destroy(rt), 0);
	config.cpus = &all;
	rt = create(&config);
	CHECK_GE(sley_nr_workers(rt), 1); /* a quota may be lower */
	CHECK_LE(sley_nr_workers(rt), sley_cpus_count(&all));
	CHECK_EQ(sley_destroy(rt), 0);
}

/* ---- names and configuration ----------------------------------------------------------- */

/* Is there a thread of this name in the process? */
static bool thread_exists(const char *name)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	bool found = false;

	CHECK(dir);
	while (!found && (entry = readdir(dir))) {
		char path[300], comm[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file))
			comm[strcspn(comm, "\n")] = '\0';
		fclose(file);
		found = strcmp(comm, name) == 0;
	}
	closedir(dir);
	return found;
}

TEST_WORKERS(m13_worker_threads_are_named_and_numbered)
{
	struct sley_config config = *test_config();
	char given[] = "loom", name[16];
	struct sley *rt;

	config.name = given;
	rt = create(&config);
	memset(given, 'x', 4); /* was borrowed for the call */
	ask_all_workers(rt);
	for (int i = 0; i < sley_nr_workers(rt); i++) {
		snprintf(name, sizeof(name), "loom-%d", i);
		CHECK_STR(seen[i].name, name);
		CHECK(thread_exists(name));
	}
	CHECK_EQ(thread_exists("loom-0"), !is_single());
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST(m13_a_long_name_is_cut_and_keeps_its_number)
{
	struct sley_config config = config_of(2);
	struct sley *rt;

	config.name = "a-name-that-is-too-long";
	rt = create(&config);
	ask_all_workers(rt);
	CHECK_STR(seen[1].name, "a-name-tha-1");
	CHECK_EQ(sley_destroy(rt), 0);
	rt = create(SLEY_CONFIG(.workers = 1));
	ask_all_workers(rt);
	CHECK_STR(seen[0].name, "sley-0");
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST_WORKERS(m01_the_configuration_in_use_can_be_read)
{
	struct sley_config config = *test_config(), in_use;
	struct sley_cpus all = usable();
	char name[] = "weft";
	struct sley *rt;

	config.name = name;
	config.cpus = &all;
	config.stack_kib = 128;
	config.hook_self = &config;
	rt = create(&config);
	memset(name, 'x', 4);
	memset(&all, 0, sizeof(all));
	in_use.size = sizeof(in_use);
	CHECK_EQ(sley_get_config(rt, &in_use), 0);
	all = usable();
	CHECK_EQ(in_use.size, sizeof(in_use));
	CHECK_EQ(in_use.workers, test_config()->workers);
	CHECK_EQ(in_use.stack_kib, 128);
	CHECK_EQ(in_use.seed, test_seed());
	CHECK_EQ(in_use.placement, SLEY_PLACE_ANY_OF);
	CHECK(in_use.allocator.alloc == config.allocator.alloc);
	CHECK(in_use.hook_self == &config);
	CHECK_STR(in_use.name, "weft");
	CHECK(equal(in_use.cpus, &all));
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST(m01_defaults_are_filled_in)
{
	struct sley_config in_use = { .size = sizeof(in_use) };
	struct sley *rt = create(NULL);

	CHECK_EQ(sley_get_config(rt, &in_use), 0);
	CHECK_EQ(in_use.workers, sley_nr_workers(rt));
	CHECK_EQ(in_use.stack_kib, 256);
	CHECK_EQ(in_use.stack_cache, 64);
	CHECK_NE(in_use.seed, 0);
	CHECK_STR(in_use.name, "sley");
	CHECK_EQ(in_use.placement, SLEY_PLACE_NONE);
	CHECK_GE(sley_cpus_count(in_use.cpus), in_use.workers);
	CHECK_EQ(sley_destroy(rt), 0);
	/* What was read can be given again. */
	in_use.cpus = NULL;
	in_use.name = NULL;
	rt = create(&in_use);
	CHECK_EQ(sley_nr_workers(rt), in_use.workers);
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST(m01_a_caller_from_another_time_gets_what_it_has_room_for)
{
	struct {
		struct sley_config config;
		uint64_t later, end;
	} c = { .config = { .size = offsetof(struct sley_config, allocator) },
		.later = 7,
		.end = 7 };
	struct sley *rt = create(test_config());

	c.config.report_self = &c;
	CHECK_EQ(sley_get_config(rt, &c.config), 0);
	CHECK_EQ(c.config.workers, 2);
	CHECK(c.config.report_self == &c); /* beyond its end */
	c.config.size = offsetof(__typeof__(c), end);
	CHECK_EQ(sley_get_config(rt, &c.config), 0);
	CHECK(c.config.report_self == NULL);
	CHECK_EQ(c.later, 0);
	CHECK_EQ(c.end, 7);
	c.config.size = 0;
	CHECK_EQ(sley_get_config(rt, &c.config), -EINVAL);
	CHECK_EQ(sley_destroy(rt), 0);
}
