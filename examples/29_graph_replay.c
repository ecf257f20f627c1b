/* SPDX-License-Identifier: MIT */
/*
 * 29_graph_replay.c - a graph is recorded once and runs for each frame.
 *
 * The dependencies are found once.  A run allocates nothing, and has a parameter.
 *
 *   cc 29_graph_replay.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>

struct frame {
	int number, half[2], sum;
};

static int draw(void *which)
{
	struct frame *frame = sley_plan_param();

	frame->half[*(int *)which] = frame->number;
	return 0;
}

static int join(void *times)
{
	struct frame *frame = sley_plan_param();

	frame->sum = (frame->half[0] + frame->half[1]) * *(int *)times;
	return 0;
}

static void film(void *nr_right)
{
	struct sley_node_spec spec = { .size = sizeof(spec), .fn = draw };
	struct sley_plan *plan;
	sley_node half[2];
	int number[] = { 0, 1, 2 }, err = sley_plan_create(&plan, NULL);

	for (int i = 0; i < 2 && !err; i++) {
		spec.arg = &number[i];
		err = sley_plan_add(plan, &half[i], &spec);
	}
	spec = *SLEY_NODE_SPEC(.fn = join, .arg = &number[2], .after = half,
			       .nr_after = 2);
	if (err || sley_plan_add(plan, NULL, &spec) || sley_plan_seal(plan))
		return;
	for (int i = 0; i < 1000 && !err; i++) {
		struct frame frame = { .number = i };

		err = sley_plan_run(plan, &frame);
		*(int *)nr_right += frame.sum == 4 * i;
	}
	sley_plan_destroy(plan);
}

int main(void)
{
	int nr_right = 0;

	return sley_run(NULL, film, &nr_right) || nr_right != 1000;
}
