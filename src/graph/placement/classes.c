/* SPDX-License-Identifier: MIT */
/*
 * classes.c - see classes.h.
 */
#include "graph/placement/classes.h"

#include <errno.h>

static int create(struct placement **out, struct sley *rt,
		  const struct sley_worker_class *given)
{
	struct placement *placement;
	int err;

	if (given->reserved0)
		return -E2BIG;
	placement = mem_alloc(&rt->mem, sizeof(*placement));
	if (!placement)
		return -ENOMEM;
	err = worker_class_create(&placement->class, rt, given->name,
				  given->workers, given->nr_words);
	if (err)
		mem_free(&rt->mem, placement, sizeof(*placement));
	else
		*out = placement;
	return err;
}

static size_t classes_size(uint32_t nr)
{
	return sizeof(struct classes) + nr * sizeof(struct placement *);
}

void classes_close(struct classes *classes, struct sley *rt)
{
	if (likely(!classes))
		return;
	for (uint32_t i = 0; i < classes->nr && classes->placement[i]; i++) {
		struct placement *placement = classes->placement[i];

		worker_class_close(placement->class);
		mem_free(&rt->mem, placement, sizeof(*placement));
	}
	mem_free(&rt->mem, classes, classes_size(classes->nr));
}

int classes_create_slow(struct classes **out, struct sley *rt,
			const struct sley_graph_options *options)
{
	const struct sley_worker_class *given = options->classes;
	struct classes *classes;
	int err = 0;

	if (options->nr_classes > SLEY_GRAPH_CLASSES || !given)
		return -EINVAL;
	classes = mem_alloc(&rt->mem, classes_size(options->nr_classes));
	if (!classes)
		return -ENOMEM;
	classes->nr = options->nr_classes;
	for (uint32_t i = 0; i < classes->nr && !err; i++)
		err = create(&classes->placement[i], rt, &given[i]);
	if (err) {
		classes_close(classes, rt);
		return err;
	}
	*out = classes;
	return 0;
}
