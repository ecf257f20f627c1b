/* SPDX-License-Identifier: MIT */
/*
 * core_victims.c - in which order victims are visited, on machines of a tree of
 * our own; and who steals from whom in a runtime that believes to be on one.
 */
#include "unit/tree.h"

#include "core/sched/victims.h"
#include "core/sched/worker.h"
#include "os/cpus.h"

#include <sched.h>
#include <sley/sley.h>
#include <stdatomic.h>

#define NR_MAX SLEY_WORKERS_MAX

/* ---- machines ------------------------------------------------------------------ */

/* CPUs 0 to nr - 1; those with the same number share something. */
struct machine {
	int nr;
	int (*core)(int cpu);
	int (*cache)(int cpu);
	int (*node)(int cpu);
};

static const struct machine *machine;

static int none(int cpu)
{
	(void)cpu;
	return 0;
}

static int itself(int cpu)
{
	return cpu;
}

static int by_2(int cpu)
{
	return cpu / 2;
}

static int by_4(int cpu)
{
	return cpu / 4;
}

static int by_16(int cpu)
{
	return cpu / 16;
}

/* Hyper-threads come after all cores, as on most machines. */
static int core_of_8(int cpu)
{
	return cpu % 8;
}

static int core_of_16(int cpu)
{
	return cpu % 16;
}

static int core_by_4(int cpu)
{
	return cpu % 16 / 4;
}

static int core_by_8(int cpu)
{
	return cpu % 16 / 8;
}

static void put_sharers(int cpu, const char *name, int (*number)(int))
{
	char list[512];
	int length = 0;

	for (int i = 0; i < machine->nr; i++) {
		if (number(i) == number(cpu))
			length += snprintf(list + length,
					   sizeof(list) - (size_t)length,
					   "%s%d", length ? "," : "", i);
	}
	snprintf(list + length, sizeof(list) - (size_t)length, "\n");
	put_cpu(cpu, name, list);
}

static void build(const struct machine *what)
{
	char text[64];

	machine = what;
	make_tree();
	for (int i = 0; i < machine->nr; i++) {
		put_sharers(i, "topology/core_cpus_list", machine->core);
		put_cpu(i, "cache/index0/level", "1\n");
		put_sharers(i, "cache/index0/shared_cpu_list", machine->core);
		put_cpu(i, "cache/index1/level", "3\n");
		put_sharers(i, "cache/index1/shared_cpu_list", machine->cache);
		snprintf(text, sizeof(text), "node%d/there", machine->node(i));
		put_cpu(i, text, "");
	}
	snprintf(text, sizeof(text), "0-%d\n", machine->node(machine->nr - 1));
	put("/sys/devices/system/node/online", text);
}

static int distance(int a, int b)
{
	if (machine->core(a) == machine->core(b))
		return 0;
	if (machine->cache(a) == machine->cache(b))
		return 1;
	return machine->node(a) == machine->node(b) ? 2 : 3;
}

/* ---- workers on them ----------------------------------------------------------- */

static struct victims victims;
static struct mem mem;
static struct sley_cpus cpus;
static struct rand dice;
static int cpu_of[NR_MAX]; /* by worker */

static void begin(const char *list, unsigned int nr_workers)
{
	int cpu = -1;

	CHECK(os_cpus_parse(list, &cpus));
	mem_init(&mem, NULL);
	rand_seed(&dice, test_seed());
	errno = E2BIG;
	CHECK_EQ(victims_init(&victims, &mem, root, nr_workers, &cpus), 0);
	CHECK_EQ(errno, E2BIG);
	for (unsigned int i = 0; i < nr_workers; i++) {
		struct sley_cpus one = { { 0 } };

		cpu = sley_cpus_next(&cpus, cpu + 1);
		if (cpu < 0)
			cpu = sley_cpus_next(&cpus, 0);
		cpu_of[i] = cpu;
		CHECK(sley_cpus_add(&one, cpu));
		CHECK(!victims_place(&victims, i, &one));
	}
}

static void end(void)
{
	victims_fini(&victims, &mem);
	CHECK_EQ(mem_allocated(&mem), 0);
	remove_tree();
}

/* @self visits all others, once, and whoever is nearer first. */
static void check_walk(unsigned int self, unsigned int nr)
{
	struct victim_walk walk = victims_walk(&victims, self, nr, &dice);
	static unsigned char visited[NR_MAX];
	unsigned int nr_visited = 0;
	int index, last = 0;

	memset(visited, 0, sizeof(visited));
	while ((index = victims_next(&walk)) >= 0) {
		int ring = distance(cpu_of[self], cpu_of[index]);

		CHECK_LT(index, nr);
		CHECK_NE(index, self);
		CHECK_EQ(visited[index]++, 0);
		if (victims.borders)
			CHECK_GE(ring, last);
		last = ring;
		nr_visited++;
	}
	CHECK_EQ(nr_visited, nr - 1);
	CHECK_LT(victims_next(&walk), 0);
}

static void check_walks(const char *list, unsigned int nr, uint32_t borders)
{
	begin(list, nr);
	CHECK_EQ(victims.borders, borders);
	for (int round = 0; round < 20; round++)
		for (unsigned int i = 0; i < nr; i++)
			check_walk(i, nr);
	end();
}

#define CORE (1u << RING_CORE)
#define CACHE (1u << RING_CACHE)
#define NODE (1u << RING_NODE)

TEST(one_socket_with_hyper_threads_siblings_first)
{
	build(&(struct machine){ 16, core_of_8, none, none });
	check_walks("0-15", 16, CORE);
}

TEST(two_sockets_siblings_then_the_socket)
{
	build(&(struct machine){ 32, core_of_16, core_by_8, core_by_8 });
	check_walks("0-31", 32, CORE | CACHE);
}

TEST(several_caches_per_socket_are_rings_of_their_own)
{
	build(&(struct machine){ 32, core_of_16, core_by_4, core_by_8 });
	check_walks("0-31", 32, CORE | CACHE | NODE);
}

TEST(one_thread_per_core_has_no_siblings)
{
	build(&(struct machine){ 32, itself, by_4, by_16 });
	check_walks("0-31", 32, CACHE | NODE);
}

/* No last-level cache for several cores, as on small machines. */
TEST(caches_of_single_cores_are_no_ring)
{
	build(&(struct machine){ 32, by_2, by_2, by_16 });
	check_walks("0-31", 32, CORE | NODE);
}

TEST(one_cache_for_all_is_flat)
{
	build(&(struct machine){ 8, itself, none, none });
	check_walks("0-7", 8, 0);
}

/* Clusters below the cache: both sides of a border are nodes. */
TEST(nodes_that_share_a_cache_are_told_apart)
{
	build(&(struct machine){ 8, itself, none, by_4 });
	begin("0-7", 8);
	CHECK_EQ(victims.borders, NODE);
	CHECK_LT(victims.place[0] ^ victims.place[3], PLACE_NODE);
	CHECK_GE(victims.place[0] ^ victims.place[4], PLACE_NODE);
	end();
}

TEST(without_sys_it_is_flat)
{
	machine = &(struct machine){ 4096, itself, itself, none };
	make_tree();
	check_walks("0-7", 8, 0);
}

TEST(cpus_that_are_offline_or_not_ours_do_not_matter)
{
	build(&(struct machine){ 32, core_of_16, core_by_4, core_by_8 });
	put("/sys/devices/system/cpu/online", "0-2,5,8-31\n");
	CHECK(os_cpus_parse("0-31", &cpus));
	os_cpus_drop_offline(root, &cpus);
	CHECK_EQ(sley_cpus_count(&cpus), 28);
	/* The lowest of a core, of a cache and of a node are missing. */
	check_walks("1-2,5,9-31", 26, CORE | CACHE | NODE);
}

TEST(cpus_of_one_cache_are_flat_on_any_machine)
{
	build(&(struct machine){ 32, core_of_16, core_by_4, core_by_8 });
	check_walks("4-7", 4, 0);
}

TEST(more_workers_than_cpus_share_them)
{
	build(&(struct machine){ 16, by_2, by_4, by_16 });
	check_walks("0-15", 100, CORE | CACHE);
}

TEST(few_workers_do_not_ask)
{
	build(&(struct machine){ 32, core_of_16, core_by_4, core_by_8 });
	check_walks("0-31", 2, 0);
}

/* ---- every number of workers ----------------------------------------------------- */

TEST(any_number_of_workers_is_visited_with_any_stride)
{
	machine = &(struct machine){ 1, none, none, none };
	rand_seed(&dice, test_seed());
	for (unsigned int nr = 2; nr <= NR_MAX; nr += nr < 70 ? 1 : 1 + nr / 9)
		for (int round = 0; round < 40; round++)
			check_walk((unsigned int)test_random(nr), nr);
	for (int round = 0; round < 40; round++)
		check_walk(7, NR_MAX);
}

/* Of victims that stand side by side none is found by everybody. */
TEST(thieves_spread_over_the_victims_of_a_ring)
{
	unsigned int first[16] = { 0 }, nr = 20000;

	rand_seed(&dice, test_seed());
	for (unsigned int round = 0; round < nr; round++) {
		struct victim_walk walk = victims_walk(&victims, 15, 16, &dice);
		int index;

		/* Only these three have something. */
		while ((index = victims_next(&walk)) >= 0) {
			if (index >= 4 && index < 7)
				break;
		}
		first[index]++;
	}
	for (int i = 4; i < 7; i++)
		CHECK_GT(first[i], nr / 5);
}

/* ---- those who wander -------------------------------------------------------------- */

TEST(who_may_be_anywhere_is_where_it_was_last_seen)
{
	build(&(struct machine){ 32, core_of_16, core_by_4, core_by_8 });
	begin("0-23", 4);
	CHECK(victims_place(&victims, 0, NULL));
	CHECK(victims_place(&victims, 1, &cpus));
	victims_see(&victims, 0, 5);
	CHECK_EQ(victims.place[0], place_of(0, 4, 5));
	victims_see(&victims, 0, 23); /* the sibling of 7 */
	CHECK_EQ(victims.place[0], place_of(0, 4, 7));
	victims_see(&victims, 0, -1);
	victims_see(&victims, 0, 30); /* is none of ours */
	victims_see(&victims, 0, 100000);
	CHECK_EQ(victims.place[0], place_of(0, 4, 7));
	victims_see(&victims, 1, 12);
	CHECK_EQ(victims.place[1], place_of(1, 12, 12));
	end();
}

TEST(on_a_flat_machine_nobody_needs_to_look)
{
	build(&(struct machine){ 8, itself, none, none });
	begin("0-7", 8);
	CHECK(!victims_place(&victims, 0, NULL));
	end();
}

TEST(who_looks_around_sees_its_cpu)
{
	struct sley_cpus mine;

	machine = &(struct machine){ 0, itself, itself, none };
	make_tree();
	os_cpus_usable("", &mine);
	begin("0-4095", 3);
	/* There is no list of anything: each CPU has a place of its own. */
	for (int cpu = sley_cpus_next(&mine, 0); cpu >= 0;
	     cpu = sley_cpus_next(&mine, cpu + 1)) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
		victims_look_around(&victims, 1);
		CHECK_EQ(victims.place[1], place_of(0, cpu, cpu));
	}
	end();
}

/* ---- a runtime that believes it --------------------------------------------------- */

/*
 * All workers are held, and all but the thief have forked.  Then the thief alone goes
 * on: nothing but its walks decides in which order it takes the children.
 */
enum { NR_COMPLEXES = 8, PER_COMPLEX = 8, NR_PARTS = 3 };

#define NR_HELD (NR_COMPLEXES * PER_COMPLEX)
#define NR_NEAR ((PER_COMPLEX - 1) * NR_PARTS)
#define NR_ALL ((NR_HELD - 1) * NR_PARTS)

static struct {
	int thief;
	atomic_int held, forked; /* workers                                 */
	atomic_int stolen;       /* children                                */
	int near[2];             /* of the first NR_NEAR, and of the others */
} theft;

static int complex_of(int worker)
{
	return worker / PER_COMPLEX;
}

static void hold_until(atomic_int *count, int nr)
{
	while (atomic_load(count) < nr)
		test_nap_ms(1);
}

/* Only the thief runs these. */
static void be_stolen(void *arg)
{
	int parent = *(const int *)arg, nr = atomic_load(&theft.stolen);

	CHECK_EQ(sley_worker(), theft.thief);
	theft.near[nr >= NR_NEAR] += complex_of(parent) ==
				     complex_of(theft.thief);
	atomic_store(&theft.stolen, nr + 1);
}

static void hold_and_fork(void *arg)
{
	struct sley_forked child[NR_PARTS];
	int worker = sley_worker();

	(void)arg;
	atomic_fetch_add(&theft.held, 1);
	hold_until(&theft.held, NR_HELD);
	if (worker == theft.thief) {
		hold_until(&theft.forked, NR_HELD - 1);
		return;
	}
	for (int i = 0; i < NR_PARTS; i++)
		sley_fork(&child[i], be_stolen, &worker);
	atomic_fetch_add(&theft.forked, 1);
	hold_until(&theft.stolen, NR_ALL);
	for (int i = NR_PARTS; i-- > 0;)
		sley_fork_join(&child[i]);
}

/* Workers side by side share a cache, if there is @near to anything. */
static void pretend(struct sley *rt, bool near)
{
	for (int i = 0; i < NR_HELD; i++)
		store_relaxed(&rt->victims.place[i],
			      place_of(0, complex_of(i), i));
	store_relaxed(&rt->victims.borders, near ? CACHE : 0);
}

static void steal_all(bool near, int thief)
{
	struct sley_config config = *test_config();
	struct sley_task task[NR_HELD];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = NULL;

	config.workers = NR_HELD;
	/* So that they do not see where they really are. */
	config.placement = SLEY_PLACE_ONE_OF;
	/* So that children are public at once, and not for who asks first. */
	config.no_membarrier = true;
	CHECK_EQ(sley_create(&rt, &config), 0);
	pretend(rt, near);
	memset(&theft, 0, sizeof(theft));
	theft.thief = thief;
	for (int i = 0; i < NR_HELD; i++)
		CHECK_EQ(sley_spawn_on(rt, &group, &task[i], hold_and_fork,
				       NULL, NULL),
			 0);
	sley_join(&group);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(theft.stolen, NR_ALL);
	CHECK_EQ(theft.near[0] + theft.near[1], NR_NEAR);
}

TEST(what_is_near_is_stolen_first)
{
	if (test_is_chaotic())
		test_skip("tasks go where chaos sends them");
	test_timeout(60);
	for (int thief = 0; thief < NR_HELD; thief += 21) {
		steal_all(true, thief);
		CHECK_EQ(theft.near[0], NR_NEAR);
	}
}

/* One in nine is near; two thirds of the first are by chance once in 10^8 times. */
TEST(where_nothing_is_near_anything_is_stolen_first)
{
	if (test_is_chaotic())
		test_skip("tasks go where chaos sends them");
	test_timeout(60);
	steal_all(false, 0);
	CHECK_LT(theft.near[0], NR_NEAR * 2 / 3);
}

/* ---- workers that wander -------------------------------------------------------- */

enum { NR_WANDERERS = 4 };

#define NOT_SEEN place_of(0, SLEY_CPUS_MAX, 0)

struct wander {
	atomic_int here;
	bool wanders;
};

/* On each worker: all are here at once. */
static void set_wandering(void *arg)
{
	struct wander *wander = arg;

	worker_current()->wanders = wander->wanders;
	atomic_fetch_add(&wander->here, 1);
	while (atomic_load(&wander->here) < NR_WANDERERS)
		test_nap_ms(1);
}

static void let_all_wander(struct sley *rt, bool wanders)
{
	struct wander wander = { .wanders = wanders };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_WANDERERS];

	for (int i = 0; i < NR_WANDERERS; i++)
		CHECK_EQ(sley_spawn_on(rt, &group, &task[i], set_wandering,
				       &wander, NULL),
			 0);
	sley_join(&group);
}

static bool is_seen(struct sley *rt, int worker)
{
	return load_relaxed(&rt->victims.place[worker]) < NOT_SEEN;
}

TEST(workers_that_wander_say_where_they_are_before_they_sleep)
{
	static uint64_t cpu_place[SLEY_CPUS_MAX];
	struct sley_config config = *test_config();
	struct victims own;
	struct sley *rt = NULL;

	for (int i = 0; i < SLEY_CPUS_MAX; i++)
		cpu_place[i] = place_of(0, i, i);
	config.workers = NR_WANDERERS;
	config.placement = SLEY_PLACE_ONE_OF; /* nobody wanders by itself */
	CHECK_EQ(sley_create(&rt, &config), 0);
	for (int i = 0; i < NR_WANDERERS; i++)
		store_relaxed(&rt->victims.place[i], NOT_SEEN);
	store_relaxed(&rt->victims.borders, CACHE);
	own = rt->victims;
	rt->victims.cpu_place = cpu_place;
	rt->victims.nr_cpus = SLEY_CPUS_MAX;
	let_all_wander(rt, true);
	for (int i = 0; i < NR_WANDERERS; i++)
		CHECK_EVENTUALLY(is_seen(rt, i));
	let_all_wander(rt, false);
	rt->victims.cpu_place = own.cpu_place;
	rt->victims.nr_cpus = own.nr_cpus;
	CHECK_EQ(sley_destroy(rt), 0);
}

/* ---- places that change all the time ------------------------------------------------ */

struct shuffle {
	struct sley *rt;
	atomic_bool over;
};

static void *shuffle_places(void *arg)
{
	struct shuffle *shuffle = arg;

	store_relaxed(&shuffle->rt->victims.borders, CORE | CACHE | NODE);
	while (!atomic_load(&shuffle->over)) {
		uint64_t worker = test_random(shuffle->rt->nr_workers);
		int n = (int)test_random(16);

		store_relaxed(&shuffle->rt->victims.place[worker],
			      place_of(n & 1, n / 2, n / 4));
	}
	return NULL;
}

static void count(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

static void spawn_and_hold(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[8];
	atomic_int ran = 0;

	(void)arg;
	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &task[i], count, &ran);
	/* Others have to find them, however much the places move. */
	while (sley_nr_workers(sley_current()) > 1 && ran < 8)
		test_nap_ms(0);
	sley_join(&group);
	CHECK_EQ(ran, 8);
}

TEST_WORKERS(nothing_is_missed_while_places_change)
{
	struct sley_config config = *test_config();
	struct shuffle shuffle = { 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	pthread_t thread;

	if (config.workers < 2)
		test_skip("there is nobody to steal from");
	config.placement = SLEY_PLACE_ONE_OF;
	CHECK_EQ(sley_create(&shuffle.rt, &config), 0);
	thread = test_thread(shuffle_places, &shuffle);
	for (int round = 0; round < test_scale(400); round++) {
		CHECK_EQ(sley_spawn_on(shuffle.rt, &group, &task,
				       spawn_and_hold, NULL, NULL),
			 0);
		sley_join(&group);
	}
	atomic_store(&shuffle.over, true);
	pthread_join(thread, NULL);
	CHECK_EQ(sley_destroy(shuffle.rt), 0);
}
