/* SPDX-License-Identifier: MIT */
/*
 * domain_scene.h - members of a domain and their host, each in a process of its own, and a
 * page outside of the product on which the members keep count.
 *
 * A member runs short tasks, all of the same work, one behind the other in several lanes.
 * Each task counts itself, and looks whether the core of its worker is the member's still.
 */
#ifndef SLEY_TESTS_STRESS_DOMAIN_SCENE_H
#define SLEY_TESTS_STRESS_DOMAIN_SCENE_H

#include "conformance/domain/stage.h"
#include "stress/cast.h"
#include "stress/domain_eye.h"

#include <stdatomic.h>

#define SCENE_PLACES 4u
#define SCENE_WORKERS 2u /* of a member */
#define SCENE_CORES 2u

struct scene_role {
	int priority;
	uint32_t pause_us; /* between two tasks of a lane; 0: it is never idle */
	bool strict;
	bool has_child; /* a forked one, which holds what the member held   */
	bool scribbles; /* when it may; it does not look at its cores          */
};

struct scene_member {
	atomic_ullong nr_tasks;
	atomic_ullong by_worker[SCENE_WORKERS];
	atomic_ullong nr_lost; /* tasks on a core that was another's by then  */
	/* Of its sley_domain_info(), some hundred times a second. */
	atomic_uint state, nr_joined;
	atomic_bool stop;
	atomic_int child;
	/* Of one that scribbles: it begins when it may.                     */
	atomic_bool may_scribble;
	atomic_ullong nr_writes;
};

struct scene_page {
	struct scene_member members[SCENE_PLACES];
};

struct scene {
	struct scene_page *page;
	const char *path;
	struct sley_domain_host_options options;
	pid_t host;
	pid_t members[SCENE_PLACES];
	struct scene_role roles[SCENE_PLACES];
	uint32_t place; /* of the member that was started last              */
	uint64_t nr_tasks, nr_lost; /* of members that are gone            */
	struct eye eye;
};

void scene_begin(struct scene *scene, struct sley_domain_host_options options);
/* All members end in order; nothing is left. */
void scene_end(struct scene *scene);

void scene_start_host(struct scene *scene);
void scene_kill_host(struct scene *scene);

void scene_start(struct scene *scene, uint32_t place, struct scene_role role);
/* Its child, if it has one, lives until scene_end_child(). */
void scene_kill(struct scene *scene, uint32_t place);
void scene_end_child(struct scene *scene, uint32_t place);

/* All members that were started are in, and the eye sees them. */
void scene_await_members(struct scene *scene);

bool scene_is_in(const struct scene *scene, uint32_t place);
/* Of the member that is there; and of all that ever were. */
uint64_t scene_tasks(const struct scene *scene, uint32_t place);
uint64_t scene_all_tasks(const struct scene *scene);
uint64_t scene_all_lost(const struct scene *scene);
uint32_t scene_joins(const struct scene *scene, uint32_t place);

/*
 * Tasks in a second of the members of @places, bits, in the next @window_ns.  The eye looks on
 * meanwhile, if @looks.
 */
double scene_rate(struct scene *scene, uint32_t places, uint64_t window_ns,
		  bool looks);
/* The rate @after, in percent of that before; where nobody got a CPU before, 100. */
uint64_t scene_kept(double before, double after);

/* Looks until each core was with a member of @places, bits, and busy; since the call. */
void scene_await_cores(struct scene *scene, uint32_t places);

/* Until @end_ns the eye looks on. */
void scene_watch_until(struct scene *scene, uint64_t end_ns);

#endif
