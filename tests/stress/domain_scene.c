/* SPDX-License-Identifier: MIT */
/*
 * domain_scene.c - see domain_scene.h.
 */
#include "stress/domain_scene.h"

#include "stress/domain_inside.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define LANES (2 * SCENE_WORKERS)
#define WORK 8000 /* turns of a loop: some microseconds                     */
#define LOOK_US 200
#define TELL_US 1000
#define LOOK_MAX_NS 20000000000ull

static struct scene_page *page;

/* ---- a task of a member ---------------------------------------------------------------- */

static struct {
	struct sley *rt;
	struct scene_role role;
	uint32_t place;
	struct scene_member *counts;
	atomic_uint nr_lanes;
} self;

static void work(void)
{
	for (volatile uint32_t i = 0; i < WORK; i++)
		;
}

static void step(void *arg);

static void schedule(void)
{
	CHECK_EQ(sley_schedule_on(self.rt, step, NULL,
				  SLEY_OPTIONS(.priority = self.role.priority)),
		 0);
}

static void step(void *arg)
{
	(void)arg;
	if (!self.role.scribbles && inside_core_is_lost())
		atomic_fetch_add(&self.counts->nr_lost, 1);
	work();
	atomic_fetch_add(&self.counts->nr_tasks, 1);
	atomic_fetch_add(&self.counts->by_worker[inside_worker()], 1);
	if (self.role.pause_us)
		CHECK_EQ(sley_sleep(self.role.pause_us * 1000ull), 0);
	if (atomic_load(&self.counts->stop))
		atomic_fetch_sub(&self.nr_lanes, 1);
	else
		schedule();
}

/* ---- a member -------------------------------------------------------------------------- */

static void tell(void)
{
	struct sley_domain_info info = info_of(self.rt);

	atomic_store(&self.counts->nr_joined, info.nr_joined);
	atomic_store(&self.counts->state, info.state);
}

/* The socket and the page of the member stay open in the child. */
static void have_child(void)
{
	pid_t pid = fork();

	CHECK_GE(pid, 0);
	while (!pid)
		pause();
	atomic_store(&self.counts->child, pid);
}

static void be_member(void *arg)
{
	const struct scene *scene = arg;

	self.place = scene->place;
	self.role = scene->roles[scene->place];
	self.counts = &page->members[scene->place];
	CHECK_EQ(sley_create(&self.rt, SLEY_CONFIG(.workers = SCENE_WORKERS,
						   .strict = self.role.strict,
						   .report = stage_report)),
		 0);
	CHECK_EQ(sley_domain_join(self.rt, scene->path), 0);
	atomic_store(&self.nr_lanes, LANES);
	for (uint32_t i = 0; i < LANES; i++)
		schedule();
	if (self.role.has_child)
		have_child();
	if (self.role.scribbles)
		/* It may have a lot to say. */
		CHECK(freopen("/dev/null", "w", stderr) != NULL);
	tell();
	while (!atomic_load(&self.counts->stop)) {
		if (atomic_load(&self.counts->may_scribble))
			inside_scribble(&self.counts->nr_writes);
		usleep(TELL_US);
		tell();
	}
	CHECK_EVENTUALLY(atomic_load(&self.nr_lanes) == 0);
	CHECK_EQ(sley_destroy(self.rt), 0);
}

void scene_start(struct scene *scene, uint32_t place, struct scene_role role)
{
	scene->nr_tasks += scene_tasks(scene, place);
	scene->nr_lost += atomic_load(&page->members[place].nr_lost);
	memset(&page->members[place], 0, sizeof(page->members[place]));
	scene->roles[place] = role;
	scene->place = place;
	/* Its children are to have random numbers of their own. */
	(void)test_random(2);
	scene->members[place] = cast_fork(be_member, scene);
}

void scene_kill(struct scene *scene, uint32_t place)
{
	struct eye_member *member =
		eye_find(&scene->eye, scene->members[place]);

	if (member)
		member->is_gone = true;
	cast_kill(scene->members[place]);
	scene->members[place] = 0;
}

void scene_end_child(struct scene *scene, uint32_t place)
{
	pid_t child = atomic_exchange(&scene->page->members[place].child, 0);

	if (child)
		cast_kill(child);
}

/* ---- the host -------------------------------------------------------------------------- */

static void be_host(void *arg)
{
	const struct scene *scene = arg;

	CHECK(host_start_with(scene->options) != NULL);
	for (;;)
		pause();
}

void scene_start_host(struct scene *scene)
{
	scene->host = cast_fork(be_host, scene);
	EVENTUALLY(nr_members() >= 0);
}

void scene_kill_host(struct scene *scene)
{
	cast_kill(scene->host);
	scene->host = 0;
}

/* ---- the stage ------------------------------------------------------------------------- */

void scene_begin(struct scene *scene, struct sley_domain_host_options options)
{
	memset(scene, 0, sizeof(*scene));
	/* Children of members that are killed are the stage's. */
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	scene->path = stage_open();
	scene->options = options;
	if (!options.nr_cores)
		scene->options.nr_cores = SCENE_CORES;
	page = cast_share(sizeof(*page));
	scene->page = page;
	scene_start_host(scene);
}

void scene_end(struct scene *scene)
{
	for (uint32_t i = 0; i < SCENE_PLACES; i++)
		atomic_store(&page->members[i].stop, true);
	for (uint32_t i = 0; i < SCENE_PLACES; i++) {
		if (scene->members[i])
			cast_reap(scene->members[i], 0);
	}
	EVENTUALLY(nr_members() == 0);
	eye_close(&scene->eye);
	scene_kill_host(scene);
	stage_close();
	munmap(page, sizeof(*page));
}

bool scene_is_in(const struct scene *scene, uint32_t place)
{
	return atomic_load(&scene->page->members[place].state) ==
	       SLEY_DOMAIN_IN;
}

void scene_await_members(struct scene *scene)
{
	int nr = 0;

	for (uint32_t i = 0; i < SCENE_PLACES; i++)
		nr += scene->members[i] != 0;
	/* What a member says of itself may be about the host before. */
	EVENTUALLY(nr_members() == nr);
	for (uint32_t i = 0; i < SCENE_PLACES; i++) {
		if (scene->members[i])
			EVENTUALLY(scene_is_in(scene, i));
	}
	eye_open(&scene->eye, scene->path);
	for (uint32_t i = 0; i < SCENE_PLACES; i++) {
		if (scene->members[i])
			CHECK(eye_find(&scene->eye, scene->members[i]) != NULL);
	}
}

uint64_t scene_tasks(const struct scene *scene, uint32_t place)
{
	return atomic_load(&scene->page->members[place].nr_tasks);
}

uint64_t scene_all_tasks(const struct scene *scene)
{
	uint64_t nr = scene->nr_tasks;

	for (uint32_t i = 0; i < SCENE_PLACES; i++)
		nr += scene_tasks(scene, i);
	return nr;
}

uint64_t scene_all_lost(const struct scene *scene)
{
	uint64_t nr = scene->nr_lost;

	for (uint32_t i = 0; i < SCENE_PLACES; i++)
		nr += atomic_load(&scene->page->members[i].nr_lost);
	return nr;
}

uint32_t scene_joins(const struct scene *scene, uint32_t place)
{
	return atomic_load(&scene->page->members[place].nr_joined);
}

/* ---- looking --------------------------------------------------------------------------- */

static bool is_one_of(const struct scene *scene, uint32_t holder,
		      uint32_t places)
{
	for (uint32_t i = 0; i < SCENE_PLACES; i++) {
		if (places >> i & 1 && holder != EYE_NOBODY &&
		    scene->eye.members[holder].pid == scene->members[i])
			return true;
	}
	return false;
}

void scene_await_cores(struct scene *scene, uint32_t places)
{
	uint32_t all = (1u << scene->eye.nr_cores) - 1, seen = 0;
	uint64_t end_ns = test_now_ns() + LOOK_MAX_NS;

	for (;;) {
		eye_look(&scene->eye);
		for (uint32_t core = 0; core < scene->eye.nr_cores; core++) {
			if (scene->eye.is_busy[core] &&
			    is_one_of(scene, scene->eye.holder[core], places))
				seen |= 1u << core;
		}
		if (seen == all)
			return;
		CHECK_LT(test_now_ns(), end_ns);
		usleep(LOOK_US);
	}
}

void scene_watch_until(struct scene *scene, uint64_t end_ns)
{
	while (test_now_ns() < end_ns) {
		eye_look(&scene->eye);
		usleep(LOOK_US);
	}
}

static uint64_t tasks_of(const struct scene *scene, uint32_t places)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < SCENE_PLACES; i++)
		nr += places >> i & 1 ? scene_tasks(scene, i) : 0;
	return nr;
}

double scene_rate(struct scene *scene, uint32_t places, uint64_t window_ns,
		  bool looks)
{
	uint64_t begin_ns = test_now_ns(), nr = tasks_of(scene, places);

	if (looks)
		scene_watch_until(scene, begin_ns + window_ns);
	else
		usleep((useconds_t)(window_ns / 1000));
	nr = tasks_of(scene, places) - nr;
	return (double)nr * 1e9 / (double)(test_now_ns() - begin_ns);
}

uint64_t scene_kept(double before, double after)
{
	return before > 0 ? (uint64_t)(after * 100 / before) : 100;
}
