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
 * machine.  "make prove" judges the times, too: how soon after the end or the stop of a process
 * the others have its cores, and what they get done between 50 and 100 ms after it, compared
 * with what all did before.
 *
 * $DOMAIN_KILLS is how often: members, hosts, stops.  "make prove" has 1000, 100, 100.
 */
#include "stress/domain_scene.h"

#include <stdio.h>

#define VICTIM 2u
#define SURVIVORS 3u /* bits: places */
#define ALL 7u
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

/* ---- what is measured ------------------------------------------------------------------- */

/* Of each fall of a process, in the order of time. */
struct falls {
	uint32_t nr, max;
	bool judges_times; /* a short run says nothing of them             */
	uint64_t window_ns;
	uint64_t *ns;   /* until the others went on                         */
	uint64_t *kept; /* percent of the tasks of before                   */
};

static struct falls falls_of(uint32_t max, bool judges_times)
{
	return (struct falls){
		.max = max,
		.judges_times = judges_times,
		.window_ns = (judges_times ? 50 : 5) * MSEC,
		.ns = calloc(max, sizeof(uint64_t)),
		.kept = calloc(max, sizeof(uint64_t)),
	};
}

static void falls_free(struct falls *falls)
{
	free(falls->ns);
	free(falls->kept);
}

/* The others went on after @ns; and how many tasks they had in a second. */
static void fell(struct falls *falls, uint64_t ns, double before, double after)
{
	CHECK_LT(falls->nr, falls->max);
	falls->ns[falls->nr] = ns;
	falls->kept[falls->nr] = scene_kept(before, after);
	falls->nr++;
}

/*
 * @name is what has happened in that time.  A line of docs/PROOF.md if times are judged: there
 * are many short runs.
 */
static void judge(struct falls *falls, const char *what, uint32_t nr,
		  const char *name)
{
	uint64_t p50 = cast_percentile(falls->ns, falls->nr, 50);
	uint64_t p99 = cast_percentile(falls->ns, falls->nr, 99);
	uint64_t kept = cast_percentile(falls->kept, falls->nr, 50);
	char p50_name[32], p99_name[32];

	printf("     %s: %.2f ms (p50), %.2f ms (p99); %llu %% of the tasks of "
	       "before\n",
	       name, ms(p50), ms(p99), (unsigned long long)kept);
	if (!falls->judges_times)
		return;
	snprintf(p50_name, sizeof(p50_name), "%s p50 ms", name);
	snprintf(p99_name, sizeof(p99_name), "%s p99 ms", name);
	test_reliability(what, nr,
			 (struct test_figure[]){ { p50_name, ms(p50) },
						 { p99_name, ms(p99) },
						 { "kept %", (double)kept } },
			 3);
	CHECK_GE(kept, KEPT_MIN);
}

/* ---- members that are killed ------------------------------------------------------------ */

struct deaths {
	struct scene scene;
	uint32_t nr, nr_early;
	struct falls falls; /* but for those that were early                 */
	uint64_t *dying_ns;
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
	uint64_t window_ns = deaths->falls.window_ns, reclaim_ns;
	uint32_t by_host;
	double before;

	scene_await_members(scene);
	dead = eye_find(&scene->eye, scene->members[VICTIM]);
	CHECK_GT(dead->generation, newest);
	scene_watch_until(scene, test_now_ns() + test_random(window_ns));
	before = scene_rate(scene, ALL, window_ns, true);
	begin_ns = test_now_ns();
	scene_kill(scene, VICTIM);
	deaths->dying_ns[deaths->falls.nr] = test_now_ns() - begin_ns;
	begin_ns = test_now_ns();
	check_gone(&scene->eye, dead);
	by_members = eye_gives_of_members(&scene->eye, dead->seat);
	by_host = eye_gives_of_host(&scene->eye, dead->seat);
	scene_await_cores(scene, SURVIVORS);
	reclaim_ns = test_now_ns() - begin_ns;
	scene_watch_until(scene, begin_ns + window_ns);
	fell(&deaths->falls, reclaim_ns, before,
	     scene_rate(scene, SURVIVORS, window_ns, true));
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

static void judge_deaths(struct deaths *deaths)
{
	uint32_t nr = deaths->falls.nr;

	printf("     %u kills, %u of them in the first 4 ms of a life; the "
	       "kernel needs %.2f ms (p50), %.2f ms (p99)\n",
	       deaths->nr, deaths->nr_early,
	       ms(cast_percentile(deaths->dying_ns, nr, 50)),
	       ms(cast_percentile(deaths->dying_ns, nr, 99)));
	say_tasks(&deaths->scene);
	judge(&deaths->falls, "members of a domain killed", deaths->nr,
	      "reclaim");
	if (deaths->falls.judges_times)
		CHECK_LE(cast_percentile(deaths->falls.ns, nr, 99),
			 RECLAIM_MAX_NS);
}

TEST(members_that_are_killed_take_nothing_with_them)
{
	static struct deaths deaths;
	uint32_t nr = how_often(0, 24);

	test_timeout(nr >= 1000 ? 3000 : 60);
	deaths.falls = falls_of(nr, nr >= 1000);
	deaths.dying_ns = calloc(nr, sizeof(uint64_t));
	scene_begin(&deaths.scene, (struct sley_domain_host_options){ 0 });
	start_survivors(&deaths.scene);
	while (deaths.nr < nr)
		kill_one(&deaths);
	judge_deaths(&deaths);
	scene_end(&deaths.scene);
	free(deaths.dying_ns);
	falls_free(&deaths.falls);
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
	scene_await_cores(scene, ALL);
}

struct host_deaths {
	struct scene scene;
	struct falls falls;
	uint64_t *joined_ns;
};

static void kill_one_host(struct host_deaths *deaths)
{
	struct scene *scene = &deaths->scene;
	struct falls *falls = &deaths->falls;
	uint64_t begin_ns, alone_ns;
	double before;

	cast_nap(10000);
	before = scene_rate(scene, ALL, falls->window_ns, false);
	alone_ns = kill_host(scene);
	if (alone_ns < falls->window_ns)
		usleep((useconds_t)(falls->window_ns - alone_ns) / 1000);
	fell(falls, alone_ns, before,
	     scene_rate(scene, ALL, falls->window_ns, false));
	if (test_random(4) == 0) {
		/* The next one dies while they say hello. */
		scene_start_host(scene);
		cast_nap(4000);
		scene_kill_host(scene);
	}
	begin_ns = test_now_ns();
	scene_start_host(scene);
	await_joins(scene, falls->nr + 1);
	deaths->joined_ns[falls->nr - 1] = test_now_ns() - begin_ns;
}

static void judge_host_deaths(struct host_deaths *deaths)
{
	uint32_t nr = deaths->falls.nr;

	printf("     %u kills of the host; each member has joined the next and "
	       "has cores after %.2f ms (p50), %.2f ms (p99)\n",
	       nr, ms(cast_percentile(deaths->joined_ns, nr, 50)),
	       ms(cast_percentile(deaths->joined_ns, nr, 99)));
	test_count(scene_all_tasks(&deaths->scene));
	judge(&deaths->falls, "hosts of a domain killed", nr, "alone");
	if (deaths->falls.judges_times)
		CHECK_LE(cast_percentile(deaths->falls.ns, nr, 50),
			 ALONE_MAX_NS);
}

TEST(hosts_that_are_killed_hold_nobody_up)
{
	uint32_t nr = how_often(1, 8);
	static struct host_deaths deaths;

	test_timeout(nr >= 100 ? 1500 : 60);
	deaths.falls = falls_of(nr, nr >= 100);
	deaths.joined_ns = calloc(nr, sizeof(uint64_t));
	scene_begin(&deaths.scene, (struct sley_domain_host_options){ 0 });
	start_survivors(&deaths.scene);
	scene_start(&deaths.scene, VICTIM,
		    (struct scene_role){
			    .priority = -10, .pause_us = 300, .strict = true });
	scene_await_members(&deaths.scene);
	while (deaths.falls.nr < nr)
		kill_one_host(&deaths);
	judge_host_deaths(&deaths);
	scene_end(&deaths.scene);
	falls_free(&deaths.falls);
	free(deaths.joined_ns);
}

/* ---- members that are stopped ------------------------------------------------------------ */

/* It stops with a core; the others get that, and later it gets one again. */
static void stop_one(struct scene *scene, struct falls *falls, uint32_t place)
{
	uint32_t others = ALL & ~(1u << place);
	uint64_t seen, begin_ns, reclaim_ns;
	double before;

	eye_open(&scene->eye, scene->path);
	before = scene_rate(scene, ALL, falls->window_ns, true);
	seen = scene_tasks(scene, place);
	EVENTUALLY(scene_tasks(scene, place) > seen);
	begin_ns = test_now_ns();
	cast_stop(scene->members[place]);
	scene_await_cores(scene, others);
	reclaim_ns = test_now_ns() - begin_ns;
	seen = scene_tasks(scene, place);
	scene_watch_until(scene, begin_ns + falls->window_ns);
	fell(falls, reclaim_ns, before,
	     scene_rate(scene, others, falls->window_ns, true));
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
	struct falls falls = falls_of(nr, nr >= 100);
	static struct scene scene;

	test_timeout(nr >= 100 ? 600 : 60);
	scene_begin(&scene, (struct sley_domain_host_options){ 0 });
	start_survivors(&scene);
	scene_start(&scene, VICTIM, (struct scene_role){ .strict = true });
	scene_await_members(&scene);
	for (uint32_t i = 0; i < nr; i++) {
		cast_nap(5000);
		stop_one(&scene, &falls, (uint32_t)test_random(VICTIM + 1));
	}
	scene_await_cores(&scene, ALL);
	printf("     %u stops\n", nr);
	say_tasks(&scene);
	judge(&falls, "members of a domain stopped", nr, "reclaim");
	scene_end(&scene);
	falls_free(&falls);
}

/*
 * Nobody divides the cores meanwhile, and a member that has none waits.  For longer than a
 * second, members would take the host for dead.
 */
static void stop_host(struct scene *scene, struct falls *falls)
{
	double before = scene_rate(scene, SURVIVORS, falls->window_ns, true);
	uint64_t seen = scene_all_tasks(scene), begin_ns = test_now_ns(), ns;

	cast_stop(scene->host);
	EVENTUALLY(scene_all_tasks(scene) > seen);
	ns = test_now_ns() - begin_ns;
	fell(falls, ns, before,
	     scene_rate(scene, SURVIVORS, falls->window_ns, true));
	cast_nap(10000);
	CHECK_EQ(kill(scene->host, SIGCONT), 0);
	scene_await_cores(scene, SURVIVORS);
	check_survivors(scene, 1);
}

TEST(hosts_that_are_stopped_for_a_while_lose_no_core)
{
	uint32_t nr = how_often(2, 24);
	struct falls falls = falls_of(nr, nr >= 100);
	static struct scene scene;

	test_timeout(nr >= 100 ? 600 : 60);
	scene_begin(&scene, (struct sley_domain_host_options){ 0 });
	start_survivors(&scene);
	for (uint32_t i = 0; i < nr; i++) {
		cast_nap(5000);
		stop_host(&scene, &falls);
	}
	printf("     %u stops of the host\n", nr);
	say_tasks(&scene);
	judge(&falls, "hosts of a domain stopped", nr, "next task");
	scene_end(&scene);
	falls_free(&falls);
}
