/* SPDX-License-Identifier: MIT */
/*
 * algorithms_stress.c - loops, sums, scans and searches, nested, from tasks and
 * from plain threads, of any priority, cancelled at any moment.
 *
 * Each checks its own result.  What a cancelled one has done, it did once.
 */
#include "stress/crowd.h"

#define NR_MOST 3000
#define NR_MEMBERS 10

struct desk {
	size_t nr;
	atomic_size_t done;
	atomic_uchar at[NR_MOST];
	int64_t in[NR_MOST], out[NR_MOST];
};

static struct desk desks[NR_MEMBERS];

static struct sley_how any_how(void)
{
	static const int priority[] = { 0, 0, 0, 0, -3, 9 };
	struct sley_how how = sley_how_default();

	how.priority = priority[test_random(6)];
	how.grain = one_in(3) ? test_random(200) : 0;
	how.ordered = one_in(3);
	return how;
}

static void count(size_t begin, size_t end, void *arg)
{
	atomic_fetch_add((atomic_size_t *)arg, end - begin);
	if (one_in(50))
		sley_yield();
}

static void visit(size_t begin, size_t end, void *arg)
{
	struct desk *desk = arg;

	for (size_t i = begin; i < end; i++)
		CHECK_EQ(atomic_fetch_add(&desk->at[i], 1), 0);
	atomic_fetch_add(&desk->done, end - begin);
	if (one_in(20)) {
		atomic_size_t inner = 0;

		sley_for(0, 200, count, &inner);
		CHECK_EQ(inner, 200);
	}
	if (one_in(100))
		(void)!sley_sleep(10 * SLEY_USEC);
}

static int loop(struct desk *desk, const struct sley_how *how)
{
	int err;

	for (size_t i = 0; i < desk->nr; i++)
		atomic_store(&desk->at[i], 0);
	atomic_store(&desk->done, 0);
	err = sley_for_with(0, desk->nr, visit, desk, how);
	CHECK_EQ(desk->done == desk->nr, err == 0);
	return err;
}

static int64_t sum_up(size_t begin, size_t end, void *arg)
{
	int64_t sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += (int64_t)i;
	atomic_fetch_add(&((struct desk *)arg)->done, (size_t)sum);
	if (one_in(30))
		sley_yield();
	return sum;
}

static int sum(struct desk *desk, const struct sley_how *how)
{
	int64_t sum = -1, nr = (int64_t)desk->nr;
	int err;

	atomic_store(&desk->done, 0);
	err = sley_reduce_int64_with(&sum, 0, desk->nr, sum_up, desk, how);
	CHECK_EQ((size_t)sum, desk->done);
	if (!err)
		CHECK_EQ(sum, nr * (nr - 1) / 2);
	return err;
}

static int scan(struct desk *desk, const struct sley_how *how)
{
	int64_t right = 0;
	int err;

	for (size_t i = 0; i < desk->nr; i++) {
		desk->in[i] = (int64_t)test_random(1000);
		desk->out[i] = -1;
	}
	err = sley_scan_int64_with(desk->out, desk->in, desk->nr, how);
	for (size_t i = 0; i < desk->nr; i++) {
		right += desk->in[i];
		CHECK(desk->out[i] == right || (err && desk->out[i] == -1));
	}
	return err;
}

struct needle {
	size_t from;
};

static bool is_needle(size_t index, void *arg)
{
	if (one_in(500))
		sley_yield();
	return index >= ((struct needle *)arg)->from;
}

static int find(struct desk *desk, const struct sley_how *how)
{
	struct needle needle = { test_random((unsigned int)desk->nr) };
	size_t found = SIZE_MAX;
	int err = sley_find_any_with(0, desk->nr, is_needle, &needle, &found,
				     how);

	if (err < 0)
		return err;
	CHECK_EQ(err, 1);
	CHECK_LE(needle.from, found);
	if (how->ordered)
		CHECK_EQ(found, needle.from);
	return 0;
}

static int act(void *scene, unsigned int index)
{
	struct desk *desk = &desks[index];
	struct sley_how how = any_how();

	(void)scene;
	desk->nr = 1 + test_random(NR_MOST - 1);
	switch (test_random(4)) {
	case 0:
		return loop(desk, &how);
	case 1:
		return sum(desk, &how);
	case 2:
		return scan(desk, &how);
	default:
		return find(desk, &how);
	}
}

static void play(void)
{
	struct crowd crowd = {
		.act = act,
		.nr_tasks = NR_MEMBERS - 2,
		.nr_threads = 2,
		.rounds = 20,
		.cancels = true,
	};

	crowd_run(&crowd);
}

STRESS(algorithms_are_cancelled_at_any_moment, play);
