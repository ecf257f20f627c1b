/* SPDX-License-Identifier: MIT */
/*
 * domain_kill.c - members and hosts of a domain are killed and stopped at random moments, as
 * processes, while all of them have more work than the cores can do.
 *
 * After each death the others have all cores, no word of the host names the dead, nobody
 * gives it anything, and nobody else is thrown out.  A core is nobody's twice for more than a
 * tick (domain_eye.h).  A dead host holds nobody up.
 *
 * What must be is a matter of words and ticks, and not of time, which says little on a busy
 * machine.  "make prove" judges the times, too: how soon after the end of a process the others
 * have its cores, and what they get done between 50 and 100 ms after it, compared with what
 * all did before.
 *
 * $DOMAIN_KILLS is how often: members, hosts, stops.  "make prove" has 1000, 100, 100.
 */
#include "stress/domain_scene.h"

#include <stdio.h>

#define VICTIM 2u
#define SURVIVORS 3u /* bits: places */
#define MSEC 1000000ull
#define RECLAIM_MAX_NS (50 * MSEC) /* p99, in "make prove"                    */
#define KEPT_MIN 95                /* percent, the median, in "make prove"    */
#define ALONE_MAX_NS (50 * MSEC)   /* the median, in "make prove"             */

static uint32_t how_often(uint32_t which, uint32_t usual)
{
	return cast_how_often("DOMAIN_KILLS", which, usual);
}

static void start_survivors(struct scene *scene)
{
	scene_start(scene, 0, (struct scene_role){ .strict = true });
	scene_start(scene, 1, (struct scene_role){ .strict = false });
	scene_await_members(scene);
}

static double ms(uint64_t ns)
{
	return (double)ns / MSEC;
}

/* Short runs, of which there are many, are no lines of docs/PROOF.md. */
static void prove(const char *what, uint32_t nr, const char *p50_name,
		  uint64_t p50, const char *p99_name, uint64_t p99)
{
	test_reliability(what, nr,
			 (struct test_figure[]){ { p50_name, ms(p50) },
						 { p99_name, ms(p99) } },
			 2);
}

/* ---- members that are killed ------------------------------------------------------------ */

struct deaths {
	struct scene scene;
	bool judges_times;
	uint32_t nr, nr_early;
	uint64_t *dying_ns, *reclaim_ns, *kept; /* percent */
	uint64_t window_ns;
};

/* It has always work, or urgent work always, or urgent work now and then. */
static struct scene_role draw_role(void)
{
	static const struct scene_role roles[] = {
		{ .priority = 0 },
		{ .priority = -10 },
		{ .priority = -10, .pause_us = 300 },
	};
	struct scene_role role = roles[test_random(3)];

	role.strict = test_random(2);
	/* An emulator cannot fork a process with threads. */
	role.has_child = !test_emulated() && test_random(4) == 0;
	return role;
}

/*
 * The host hears of the end before its next tick, and then no word names the dead.  A tick
 * may be under way.
 */
static void check_gone(const struct eye *eye, const struct eye_member *dead)
{
	uint32_t begin = host_beats(eye->host);

	for (;;) {
		uint32_t beats = host_beats(eye->host) - begin;

		if (!eye_names(eye, dead->seat, dead->generation))
			return;
		CHECK_LE(beats, 2);
		usleep(100);
	}
}

/* Members of the list are those that live. */
static void check_list(const struct scene *scene, uint32_t places)
{
	struct sley_domain_member members[SCENE_PLACES];
	int nr = sley_domain_list(scene->path, members, SCENE_PLACES, NULL);
	int nr_left = nr;

	for (uint32_t i = 0; i < SCENE_PLACES; i++) {
		for (int j = 0; places >> i & 1 && j < nr; j++)
			nr_left -= members[j].pid == scene->members[i];
	}
	CHECK_EQ(nr, __builtin_popcount(places));
	CHECK_EQ(nr_left, 0);
}

/* Nobody was thrown out, or has lost the host, and each goes on. */
static void check_survivors(const struct scene *scene, uint32_t nr_joins)
{
	for (uint32_t i = 0; i < VICTIM; i++) {
		uint64_t seen = scene_tasks(scene, i);

		CHECK(scene_is_in(scene, i));
		CHECK_EQ(scene_joins(scene, i), nr_joins);
		EVENTUALLY(scene_tasks(scene, i) > seen);
	}
}

/* Tasks of all members in a second, in the next @window_ns. */
static double rate(struct scene *scene, uint64_t window_ns)
{
	uint64_t begin_ns = test_now_ns(), nr = scene_all_tasks(scene);

	scene_watch_until(scene, begin_ns + window_ns);
	nr = scene_all_tasks(scene) - nr;
	return (double)nr * 1e9 / (double)(test_now_ns() - begin_ns);
}

/* The victim has hardly begun: it may be in its handshake, and nobody knows its seat. */
static void kill_early(struct deaths *deaths)
{
	struct scene *scene = &deaths->scene;

	deaths->nr_early++;
	cast_nap(4000);
	scene_kill(scene, VICTIM);
	EVENTUALLY(nr_members() == 2);
	eye_open(&scene->eye, scene->path);
	scene_await_cores(scene, SURVIVORS);
}

/* A worker that has just decided to give the dead a core does so once. */
static void check_gives(const struct scene *scene,
			const struct eye_member *dead, uint64_t by_members,
			uint32_t by_host)
{
	CHECK_LE(eye_gives_of_members(&scene->eye, dead->seat) - by_members,
		 2 * SCENE_WORKERS);
	CHECK_EQ(eye_gives_of_host(&scene->eye, dead->seat), by_host);
}

static void kill_late(struct deaths *deaths)
{
	struct scene *scene = &deaths->scene;
	uint64_t newest = scene->eye.generation_max, begin_ns, by_members;
	const struct eye_member *dead;
	uint32_t by_host, i = deaths->nr - deaths->nr_early;
	double before, after;

	scene_await_members(scene);
	dead = eye_find(&scene->eye, scene->members[VICTIM]);
	CHECK_GT(dead->generation, newest);
	scene_watch_until(scene,
			  test_now_ns() + test_random(deaths->window_ns));
	before = rate(scene, deaths->window_ns);
	begin_ns = test_now_ns();
	scene_kill(scene, VICTIM);
	deaths->dying_ns[i] = test_now_ns() - begin_ns;
	begin_ns = test_now_ns();
	check_gone(&scene->eye, dead);
	by_members = eye_gives_of_members(&scene->eye, dead->seat);
	by_host = eye_gives_of_host(&scene->eye, dead->seat);
	scene_await_cores(scene, SURVIVORS);
	deaths->reclaim_ns[i] = test_now_ns() - begin_ns;
	scene_watch_until(scene, begin_ns + deaths->window_ns);
	after = rate(scene, deaths->window_ns);
	/* Where nobody got a CPU before, nothing can be said. */
	deaths->kept[i] = before > 0 ? (uint64_t)(after * 100 / before) : 100;
	scene_await_cores(scene, SURVIVORS);
	check_gives(scene, dead, by_members, by_host);
}

static void kill_one(struct deaths *deaths)
{
	struct scene *scene = &deaths->scene;

	scene_start(scene, VICTIM, draw_role());
	if (test_random(4) == 0)
		kill_early(deaths);
	else
		kill_late(deaths);
	check_list(scene, SURVIVORS);
	scene_end_child(scene, VICTIM);
	check_survivors(scene, 1);
	deaths->nr++;
}

static void say_tasks(const struct scene *scene)
{
	uint64_t nr = scene_all_tasks(scene);

	printf("     %llu tasks, %llu of them on a core that was another's; "
	       "%llu words of that, for at most %u ticks of the loser\n",
	       (unsigned long long)nr,
	       (unsigned long long)scene_all_lost(scene),
	       (unsigned long long)scene->eye.nr_twice, scene->eye.beats_max);
	test_count(nr);
}

static void judge_deaths(const struct deaths *deaths)
{
	uint32_t nr = deaths->nr - deaths->nr_early;
	uint64_t p50 = cast_percentile(deaths->reclaim_ns, nr, 50);
	uint64_t p99 = cast_percentile(deaths->reclaim_ns, nr, 99);
	uint64_t kept = cast_percentile(deaths->kept, nr, 50);

	printf("     %u kills, %u of them in the first 4 ms of a life; the "
	       "kernel needs %.2f ms (p50), %.2f ms (p99); others have the "
	       "cores %.2f ms, %.2f ms after that; %llu %% of the tasks of "
	       "before\n",
	       deaths->nr, deaths->nr_early,
	       ms(cast_percentile(deaths->dying_ns, nr, 50)),
	       ms(cast_percentile(deaths->dying_ns, nr, 99)), ms(p50), ms(p99),
	       (unsigned long long)kept);
	say_tasks(&deaths->scene);
	if (!deaths->judges_times)
		return;
	prove("members of a domain killed", deaths->nr, "reclaim p50 ms", p50,
	      "reclaim p99 ms", p99);
	CHECK_LE(p99, RECLAIM_MAX_NS);
	CHECK_GE(kept, KEPT_MIN);
}

TEST(members_that_are_killed_take_nothing_with_them)
{
	static struct deaths deaths;
	uint32_t nr = how_often(0, 24);

	test_timeout(nr >= 1000 ? 3000 : 60);
	deaths.judges_times = nr >= 1000;
	deaths.window_ns = (deaths.judges_times ? 50 : 5) * MSEC;
	deaths.dying_ns = calloc(nr, sizeof(uint64_t));
	deaths.reclaim_ns = calloc(nr, sizeof(uint64_t));
	deaths.kept = calloc(nr, sizeof(uint64_t));
	scene_begin(&deaths.scene, (struct sley_domain_host_options){ 0 });
	start_survivors(&deaths.scene);
	while (deaths.nr < nr)
		kill_one(&deaths);
	judge_deaths(&deaths);
	scene_end(&deaths.scene);
	free(deaths.dying_ns);
	free(deaths.reclaim_ns);
	free(deaths.kept);
}

/* ---- hosts that are killed --------------------------------------------------------------- */

struct progress {
	uint64_t nr[VICTIM + 1][SCENE_WORKERS];
};

static void read_progress(const struct scene *scene, struct progress *out)
{
	for (uint32_t i = 0; i <= VICTIM; i++) {
		for (uint32_t j = 0; j < SCENE_WORKERS; j++)
			out->nr[i][j] = atomic_load(
				&scene->page->members[i].by_worker[j]);
	}
}

/* Has each worker of each member run a task since? */
static bool all_ran(const struct scene *scene, const struct progress *since)
{
	struct progress now;

	read_progress(scene, &now);
	for (uint32_t i = 0; i <= VICTIM; i++) {
		for (uint32_t j = 0; j < SCENE_WORKERS; j++) {
			if (now.nr[i][j] == since->nr[i][j])
				return false;
		}
	}
	return true;
}

/* All members are alone: with more workers than there are cores, and all of them run. */
static uint64_t kill_host(struct scene *scene)
{
	struct progress progress;
	uint64_t begin_ns, ran_ns;

	scene_kill_host(scene);
	begin_ns = test_now_ns();
	read_progress(scene, &progress);
	EVENTUALLY(all_ran(scene, &progress));
	ran_ns = test_now_ns();
	for (uint32_t i = 0; i <= VICTIM; i++)
		EVENTUALLY(!scene_is_in(scene, i));
	/* Nobody at all is left at a gate. */
	read_progress(scene, &progress);
	EVENTUALLY(all_ran(scene, &progress));
	return ran_ns - begin_ns;
}

static void await_joins(struct scene *scene, uint32_t nr_joins)
{
	for (uint32_t i = 0; i <= VICTIM; i++)
		EVENTUALLY(scene_is_in(scene, i) &&
			   scene_joins(scene, i) >= nr_joins);
	scene_await_members(scene);
	scene_await_cores(scene, 7);
}

struct host_deaths {
	struct scene scene;
	uint32_t nr;
	uint64_t *alone_ns, *joined_ns;
};

static void kill_one_host(struct host_deaths *deaths)
{
	struct scene *scene = &deaths->scene;
	uint64_t begin_ns;

	cast_nap(10000);
	deaths->alone_ns[deaths->nr] = kill_host(scene);
	if (test_random(4) == 0) {
		/* The next one dies while they say hello. */
		scene_start_host(scene);
		cast_nap(4000);
		scene_kill_host(scene);
	}
	begin_ns = test_now_ns();
	scene_start_host(scene);
	await_joins(scene, deaths->nr + 2);
	deaths->joined_ns[deaths->nr] = test_now_ns() - begin_ns;
	deaths->nr++;
}

static void judge_host_deaths(const struct host_deaths *deaths)
{
	uint32_t nr = deaths->nr;
	uint64_t p50 = cast_percentile(deaths->alone_ns, nr, 50);
	uint64_t p99 = cast_percentile(deaths->alone_ns, nr, 99);

	printf("     %u kills of the host; each worker runs alone after %.2f ms "
	       "(p50), %.2f ms (p99), and each member has joined the next and "
	       "has cores after %.2f ms, %.2f ms\n",
	       nr, ms(p50), ms(p99),
	       ms(cast_percentile(deaths->joined_ns, nr, 50)),
	       ms(cast_percentile(deaths->joined_ns, nr, 99)));
	test_count(scene_all_tasks(&deaths->scene));
	if (nr < 100)
		return;
	prove("hosts of a domain killed", nr, "alone p50 ms", p50,
	      "alone p99 ms", p99);
	CHECK_LE(p50, ALONE_MAX_NS);
}

TEST(hosts_that_are_killed_hold_nobody_up)
{
	uint32_t nr = how_often(1, 8);
	static struct host_deaths deaths;

	test_timeout(nr >= 100 ? 1500 : 60);
	deaths.alone_ns = calloc(nr, sizeof(uint64_t));
	deaths.joined_ns = calloc(nr, sizeof(uint64_t));
	scene_begin(&deaths.scene, (struct sley_domain_host_options){ 0 });
	start_survivors(&deaths.scene);
	scene_start(&deaths.scene, VICTIM,
		    (struct scene_role){
			    .priority = -10, .pause_us = 300, .strict = true });
	scene_await_members(&deaths.scene);
	while (deaths.nr < nr)
		kill_one_host(&deaths);
	judge_host_deaths(&deaths);
	scene_end(&deaths.scene);
	free(deaths.alone_ns);
	free(deaths.joined_ns);
}

/* ---- members that are stopped ------------------------------------------------------------ */

/* It stops with a core; the others get that, and later it gets one again. */
static void stop_one(struct scene *scene, uint32_t place)
{
	uint32_t others = 7u & ~(1u << place);
	uint64_t seen;

	eye_open(&scene->eye, scene->path);
	seen = scene_tasks(scene, place);
	EVENTUALLY(scene_tasks(scene, place) > seen);
	cast_stop(scene->members[place]);
	scene_await_cores(scene, others);
	seen = scene_tasks(scene, place);
	scene_watch_until(scene, test_now_ns() + test_random(10 * MSEC));
	CHECK_EQ(scene_tasks(scene, place), seen);
	CHECK_EQ(kill(scene->members[place], SIGCONT), 0);
	scene_watch_until(scene, test_now_ns() + 10 * MSEC);
	while (scene_tasks(scene, place) == seen)
		scene_watch_until(scene, test_now_ns() + MSEC);
	for (uint32_t i = 0; i <= VICTIM; i++) {
		CHECK(scene_is_in(scene, i));
		CHECK_EQ(scene_joins(scene, i), 1);
	}
}

TEST(members_that_are_stopped_lose_their_cores_and_see_it)
{
	uint32_t nr = how_often(2, 24);
	static struct scene scene;

	test_timeout(nr >= 100 ? 600 : 60);
	scene_begin(&scene, (struct sley_domain_host_options){ 0 });
	start_survivors(&scene);
	scene_start(&scene, VICTIM, (struct scene_role){ .strict = true });
	scene_await_members(&scene);
	for (uint32_t i = 0; i < nr; i++) {
		cast_nap(5000);
		stop_one(&scene, (uint32_t)test_random(VICTIM + 1));
	}
	scene_await_cores(&scene, 7);
	printf("     %u stops\n", nr);
	say_tasks(&scene);
	scene_end(&scene);
}

/*
 * Nobody divides the cores meanwhile, and a member that has none waits.  For longer than a
 * second, members would take the host for dead.
 */
static void stop_host(struct scene *scene)
{
	uint64_t seen = scene_all_tasks(scene);

	cast_stop(scene->host);
	EVENTUALLY(scene_all_tasks(scene) > seen);
	cast_nap(10000);
	CHECK_EQ(kill(scene->host, SIGCONT), 0);
	scene_await_cores(scene, SURVIVORS);
	check_survivors(scene, 1);
}

TEST(hosts_that_are_stopped_for_a_while_lose_no_core)
{
	uint32_t nr = how_often(2, 24);
	static struct scene scene;

	test_timeout(nr >= 100 ? 600 : 60);
	scene_begin(&scene, (struct sley_domain_host_options){ 0 });
	start_survivors(&scene);
	for (uint32_t i = 0; i < nr; i++) {
		cast_nap(5000);
		stop_host(&scene);
	}
	printf("     %u stops of the host\n", nr);
	say_tasks(&scene);
	scene_end(&scene);
}
