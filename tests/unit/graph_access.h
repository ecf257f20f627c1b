/* SPDX-License-Identifier: MIT */
/*
 * graph_access.h - nodes that are numbers, and a map of what they use.
 */
#ifndef SLEY_TESTS_UNIT_GRAPH_ACCESS_H
#define SLEY_TESTS_UNIT_GRAPH_ACCESS_H

#include "graph/access/access.h"
#include "harness/test.h"

struct scene {
	struct access_map map;
	struct mem mem;
	struct node_list found; /* by the last node      */
	uint32_t nr_needed;     /* the first of those    */
	sley_node last;         /* who that was          */
	sley_node over_below;   /* those before are over */
	uint64_t nr_asked;      /* whether one is over   */
	uint64_t nr_until;      /* not 0: all are, then  */
};

static inline bool is_below(void *arg, sley_node node)
{
	struct scene *scene = arg;

	scene->nr_asked++;
	return node < scene->over_below ||
	       (scene->nr_until && scene->nr_asked >= scene->nr_until);
}

static inline void scene_begin(struct scene *scene)
{
	*scene = (struct scene){ .map = { .is_over = is_below, .arg = scene } };
	mem_init(&scene->mem, &test_config()->allocator);
	access_map_init(&scene->map, &scene->mem);
}

static inline void scene_end(struct scene *scene)
{
	access_map_destroy(&scene->map);
	node_list_destroy(&scene->found, &scene->mem);
	CHECK_EQ(mem_allocated(&scene->mem), 0);
}

static inline int scene_find(struct scene *scene,
			     const struct sley_access *access, uint32_t nr)
{
	int err;

	scene->found.nr = 0;
	err = access_find(&scene->map, access, nr, &scene->found);
	scene->nr_needed = scene->found.nr;
	if (!err)
		err = access_find_order(&scene->map, &scene->found);
	return err;
}

/* The next node.  Who it waits for is in found. */
static inline sley_node scene_add(struct scene *scene,
				  const struct sley_access *access, uint32_t nr)
{
	CHECK_EQ(scene_find(scene, access, nr), 0);
	access_note(&scene->map, access, nr, ++scene->last);
	return scene->last;
}

#define ADD(scene, ...)                                                        \
	scene_add((scene), (const struct sley_access[]){ __VA_ARGS__ },        \
		  sizeof((struct sley_access[]){ __VA_ARGS__ }) /              \
			  sizeof(struct sley_access))

static inline bool is_in(const struct node_list *list, uint32_t from,
			 uint32_t to, sley_node node)
{
	while (from < to && list->node[from] != node)
		from++;
	return from < to;
}

static inline bool needs(const struct scene *scene, sley_node node)
{
	return is_in(&scene->found, 0, scene->nr_needed, node);
}

static inline bool follows(const struct scene *scene, sley_node node)
{
	return is_in(&scene->found, scene->nr_needed, scene->found.nr, node);
}

static inline struct sley_access access_to(uint64_t at, uint64_t size,
					   enum sley_access_mode mode)
{
	return sley_access_of((const void *)(uintptr_t)at, size, mode);
}

#define IN(at, size) access_to((at), (size), SLEY_ACCESS_READ)
#define OUT(at, size) access_to((at), (size), SLEY_ACCESS_WRITE)
#define INOUT(at, size) access_to((at), (size), SLEY_ACCESS_UPDATE)
#define NONE(at, size) access_to((at), (size), SLEY_ACCESS_NONE)

#endif
