/* SPDX-License-Identifier: MIT */
/*
 * domain_hostile.c - a member of a domain that always claims the most urgent work, and one
 * that scribbles over all that it may write, beside members that are honest.
 *
 * The first gets what it asks for, as any program does with the most urgent priority; the
 * others get something if the host lets wants age, all if the host has a limit for it, and all
 * of the cores when it is gone.
 * The second is thrown out, or harms itself alone: no honest member is thrown out or loses
 * its cores, and the host goes on.
 *
 * $DOMAIN_SCRIBBLERS is how many scribble, one after the other; "make prove" has 500, and
 * judges then what the others keep beside floods with a limit.
 */
#include "stress/domain_scene.h"

#include <stdio.h>
#include <sys/wait.h>

#define HOSTILE 2u
#define STRETCH 5000u     /* tasks: some quanta                               */
#define HONEST 3u         /* bits: places                                    */
#define WRITES_MAX 20000u /* then a scribbler that was not thrown out ends  */
#define FLOODS 40u        /* with a limit, in "make prove"                   */
#define WINDOW_NS 50000000u
#define KEPT_MIN 95 /* percent, the median, in "make prove"            */

static uint32_t nr_scribblers(void)
{
	return cast_how_often("DOMAIN_SCRIBBLERS", 0, 16);
}

/* Times are judged, and docs/PROOF.md has a line: there are many short runs. */
static bool is_long(void)
{
	return nr_scribblers() >= 200;
}

static void start_honest(struct scene *scene)
{
	scene_start(scene, 0, (struct scene_role){ .strict = true });
	scene_start(scene, 1, (struct scene_role){ .strict = false });
	scene_await_members(scene);
	scene_await_cores(scene, HONEST);
}

static void check_honest(struct scene *scene)
{
	CHECK_EQ(waitpid(scene->host, NULL, WNOHANG), 0);
	for (uint32_t i = 0; i < HOSTILE; i++) {
		uint64_t seen = scene_tasks(scene, i);

		EVENTUALLY(scene_tasks(scene, i) > seen);
		CHECK(scene_is_in(scene, i));
		CHECK_EQ(scene_joins(scene, i), 1);
	}
}

/* ---- urgent work for ever -------------------------------------------------------------- */

/* The cores are all with the one that floods. */
static void flood(struct scene *scene)
{
	scene_start(scene, HOSTILE,
		    (struct scene_role){ .priority = -32, .strict = true });
	scene_await_members(scene);
	scene_await_cores(scene, 1u << HOSTILE);
}

static void end_flood(struct scene *scene)
{
	scene_kill(scene, HOSTILE);
	scene_await_cores(scene, HONEST);
	check_honest(scene);
	test_count(scene_all_tasks(scene));
	scene_end(scene);
}

/* Of the tasks of all, while the one that floods ran @nr. */
static uint64_t others_during(const struct scene *scene, uint64_t nr)
{
	uint64_t urgent = scene_tasks(scene, HOSTILE);
	uint64_t all = scene_all_tasks(scene);

	EVENTUALLY(scene_tasks(scene, HOSTILE) - urgent >= nr);
	urgent = scene_tasks(scene, HOSTILE) - urgent;
	return scene_all_tasks(scene) - all - urgent;
}

/*
 * By design, as among the levels of one process.  A member that got no CPU for some ticks
 * counts as stopped, and others get its cores for a moment.  So the test waits for a stretch
 * of time that is much longer than a turn among equals, in which they got next to nothing.
 */
TEST(ru8_urgent_work_for_ever_comes_first)
{
	static struct scene scene;

	scene_begin(&scene, (struct sley_domain_host_options){ 0 });
	start_honest(&scene);
	flood(&scene);
	EVENTUALLY(others_during(&scene, STRETCH) <= STRETCH / 100);
	end_flood(&scene);
}

TEST(ru8_work_that_ages_is_not_starved_by_urgent_work)
{
	/* A round takes seconds: beside urgent work a batch thread waits for its CPU. */
	int rounds = is_long() ? 8 : 2;
	static struct scene scene;
	uint64_t seen[HOSTILE], urgent;

	test_timeout(is_long() ? 600 : 120);
	scene_begin(&scene,
		    (struct sley_domain_host_options){ .age_ns = 1000000 });
	start_honest(&scene);
	flood(&scene);
	urgent = scene_tasks(&scene, HOSTILE);
	for (int round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < HOSTILE; i++)
			seen[i] = scene_tasks(&scene, i);
		for (uint32_t i = 0; i < HOSTILE; i++)
			EVENTUALLY(scene_tasks(&scene, i) > seen[i]);
		scene_await_cores(&scene, 1u << HOSTILE);
	}
	printf("     %llu urgent tasks beside\n",
	       (unsigned long long)(scene_tasks(&scene, HOSTILE) - urgent));
	end_flood(&scene);
}

/* Of the member that floods, while the honest ones run @nr. */
static uint64_t flood_during(const struct scene *scene, uint64_t nr)
{
	uint64_t all = scene_all_tasks(scene);
	uint64_t flood = scene_tasks(scene, HOSTILE);

	EVENTUALLY(scene_all_tasks(scene) - all >= nr);
	return scene_tasks(scene, HOSTILE) - flood;
}

/* Members that join while *@self is set: their work counts less than ordinary work. */
static void limit_newcomers(void *self, const struct sley_domain_peer *peer,
			    struct sley_domain_terms *terms)
{
	(void)peer;
	if (atomic_load((atomic_bool *)self))
		terms->most_urgent = 1;
}

/* Percent of their tasks that the honest members keep. */
static uint64_t flood_under_a_limit(struct scene *scene)
{
	uint64_t window_ns = is_long() ? WINDOW_NS : WINDOW_NS / 10;
	double before = scene_rate(scene, HONEST, window_ns, true), after;

	scene_start(scene, HOSTILE,
		    (struct scene_role){ .priority = -32, .strict = true });
	scene_await_members(scene);
	EVENTUALLY(flood_during(scene, STRETCH) <= STRETCH / 100);
	after = scene_rate(scene, HONEST, window_ns, true);
	scene_kill(scene, HOSTILE);
	scene_await_cores(scene, HONEST);
	check_honest(scene);
	return scene_kept(before, after);
}

TEST(ru8_a_flood_under_a_limit_takes_next_to_nothing_from_others)
{
	atomic_bool *limits = cast_share(sizeof(*limits));
	uint32_t nr = is_long() ? FLOODS : 2;
	static struct scene scene;
	uint64_t kept[FLOODS];

	test_timeout(is_long() ? 600 : 60);
	scene_begin(&scene, (struct sley_domain_host_options){
				    .terms = limit_newcomers, .self = limits });
	start_honest(&scene);
	atomic_store(limits, true);
	for (uint32_t i = 0; i < nr; i++)
		kept[i] = flood_under_a_limit(&scene);
	test_count(scene_all_tasks(&scene));
	scene_end(&scene);
	printf("     %llu %% of the tasks of before\n",
	       (unsigned long long)cast_percentile(kept, nr, 50));
	if (!is_long())
		return;
	test_reliability(
		"floods of a domain under a limit", nr,
		(struct test_figure[]){
			{ "kept %", (double)cast_percentile(kept, nr, 50) } },
		1);
	CHECK_GE(cast_percentile(kept, nr, 50), KEPT_MIN);
}

/* ---- scribbling ------------------------------------------------------------------------ */

struct outcomes {
	uint32_t nr_thrown_out, nr_died;
	uint64_t nr_writes;
};

/*
 * Until the host throws it out, or it has written enough.  Its own runtime believes what it
 * finds in its page, so it may die of that: this is its own business.
 */
static void let_scribble(struct scene *scene, struct outcomes *outcomes)
{
	struct scene_member *counts = &scene->page->members[HOSTILE];
	struct eye_member *member;
	int status;

	scene_start(scene, HOSTILE,
		    (struct scene_role){ .strict = test_random(2),
					 .scribbles = true });
	scene_await_members(scene);
	member = eye_find(&scene->eye, scene->members[HOSTILE]);
	atomic_store(&counts->may_scribble, true);
	EVENTUALLY(!eye_names(&scene->eye, member->seat, member->generation) ||
		   atomic_load(&counts->nr_writes) > WRITES_MAX);
	outcomes->nr_thrown_out +=
		!eye_names(&scene->eye, member->seat, member->generation);
	outcomes->nr_writes += atomic_load(&counts->nr_writes);
	CHECK_EQ(kill(scene->members[HOSTILE], SIGKILL), 0);
	CHECK_EQ(waitpid(scene->members[HOSTILE], &status, 0),
		 scene->members[HOSTILE]);
	outcomes->nr_died += !WIFSIGNALED(status) ||
			     WTERMSIG(status) != SIGKILL;
	scene->members[HOSTILE] = 0;
}

/* What it gave away may be taken for some ticks, and is mended then. */
static void check_after_scribbling(struct scene *scene, bool strictly)
{
	EVENTUALLY(nr_members() == 2);
	eye_open(&scene->eye, scene->path);
	scene_await_cores(scene, HONEST);
	check_honest(scene);
	scene->eye.may_be_fooled = !strictly;
	if (strictly)
		scene_watch_until(scene, test_now_ns() + 20000000);
}

static void prove_scribblers(uint32_t nr, const struct outcomes *outcomes)
{
	test_reliability("members of a domain that scribble", nr,
			 (struct test_figure[]){
				 { "thrown out", outcomes->nr_thrown_out },
				 { "words", (double)outcomes->nr_writes } },
			 2);
}

TEST(a_member_that_scribbles_harms_itself_alone)
{
	uint32_t nr = nr_scribblers();
	struct outcomes outcomes = { .nr_writes = 0 };
	static struct scene scene;

	test_timeout(is_long() ? 600 : 60);
	scene_begin(&scene, (struct sley_domain_host_options){ 0 });
	start_honest(&scene);
	scene.eye.may_be_fooled = true;
	for (uint32_t i = 0; i < nr; i++) {
		let_scribble(&scene, &outcomes);
		check_after_scribbling(&scene, false);
	}
	test_nap_ms(100);
	check_after_scribbling(&scene, true);
	printf("     %u scribblers, %llu words: %u thrown out, %u died of it\n",
	       nr, (unsigned long long)outcomes.nr_writes,
	       outcomes.nr_thrown_out, outcomes.nr_died);
	CHECK_GT(outcomes.nr_thrown_out, 0);
	test_count(outcomes.nr_writes);
	scene_end(&scene);
	if (is_long())
		prove_scribblers(nr, &outcomes);
}
