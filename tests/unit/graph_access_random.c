/* SPDX-License-Identifier: MIT */
/*
 * graph_access_random.c - the map against one that knows each byte.
 *
 * Nodes use random ranges of a small space, which is somewhere in the address
 * space, each of its units so many bytes.  Some of them never come, some are over
 * as soon as those they wait for are.  Of each node:
 *
 *   - it needs, directly, the last writer of each unit it reads,
 *   - it comes after the last writer of each unit it writes, and those who have
 *     read it since; perhaps through others,
 *   - whoever it waits for shares a unit with it that one of them writes, and it
 *     needs nobody but for what it reads.
 */
#include "unit/graph_access.h"

#include <string.h>

#define UNITS 256
#define NODES 500
#define USES 4
#define WORDS ((NODES + 63) / 64)

struct use {
	unsigned int first, last;
	enum sley_access_mode mode;
};

struct one {
	struct use use[USES];
	uint32_t nr;
	bool is_over;
	uint64_t before[WORDS]; /* all that it comes after */
};

struct world {
	struct scene scene;
	uint64_t base, unit;
	struct one one[NODES];
	sley_node writer[UNITS];
	uint64_t readers[UNITS][WORDS];
};

static bool has(const uint64_t *set, sley_node node)
{
	return set[node / 64] >> node % 64 & 1;
}

static void put(uint64_t *set, sley_node node)
{
	set[node / 64] |= 1ull << node % 64;
}

static bool one_is_over(void *arg, sley_node node)
{
	return ((struct world *)arg)->one[node].is_over;
}

/* ---- what it does ---------------------------------------------------------------- */

static void use_something(struct use *use)
{
	unsigned int most = test_random(8) ? 8 : UNITS;
	unsigned int first = (unsigned int)test_random(UNITS);

	/* Most are of a few that come again. */
	if (test_random(2))
		first &= ~7u;
	use->first = first;
	use->last = first + (unsigned int)test_random(most);
	if (test_random(2))
		use->last = first | 7;
	if (use->last >= UNITS)
		use->last = UNITS - 1;
	use->mode = (enum sley_access_mode)test_random(4);
}

static struct sley_access access_of(const struct world *world,
				    const struct use *use)
{
	uint64_t at = world->base + use->first * world->unit;
	uint64_t size = (use->last - use->first + 1) * world->unit;

	/* All of it would be 2^64 bytes. */
	return access_to(at, size ? size : UINT64_MAX, use->mode);
}

static bool share(const struct use *a, const struct use *b)
{
	return a->first <= b->last && b->first <= a->last;
}

/* Is there a reason for @later to wait, with one of @modes, for @one? */
static bool conflicts(const struct one *one, const struct one *later, int modes)
{
	for (uint32_t i = 0; i < later->nr; i++) {
		const struct use *use = &later->use[i];

		for (uint32_t k = 0; k < one->nr; k++) {
			int other = (int)one->use[k].mode;

			if (share(use, &one->use[k]) &&
			    ((int)use->mode & modes) && other &&
			    (((int)use->mode | other) & SLEY_ACCESS_WRITE))
				return true;
		}
	}
	return false;
}

/* ---- what must be ---------------------------------------------------------------- */

static void check_found(struct world *world, const struct one *one,
			sley_node node)
{
	const struct node_list *found = &world->scene.found;

	for (uint32_t i = 0; i < found->nr; i++) {
		int modes = i < world->scene.nr_needed ? SLEY_ACCESS_READ
						       : SLEY_ACCESS_WRITE;

		CHECK_GT(found->node[i], 0);
		CHECK_LT(found->node[i], node);
		CHECK(conflicts(&world->one[found->node[i]], one, modes));
	}
}

static void check_unit(const struct world *world, const struct one *one,
		       unsigned int unit, enum sley_access_mode mode)
{
	sley_node writer = world->writer[unit];

	if (writer && !world->one[writer].is_over) {
		if (mode & SLEY_ACCESS_READ)
			CHECK(needs(&world->scene, writer));
		else
			CHECK(has(one->before, writer));
	}
	for (sley_node i = 1; i < NODES && mode & SLEY_ACCESS_WRITE; i++) {
		if (has(world->readers[unit], i) && !world->one[i].is_over)
			CHECK(has(one->before, i));
	}
}

static void check_uses(const struct world *world, const struct one *one)
{
	for (uint32_t i = 0; i < one->nr; i++) {
		const struct use *use = &one->use[i];
		unsigned int unit = use->first;

		for (; use->mode && unit <= use->last; unit++)
			check_unit(world, one, unit, use->mode);
	}
}

static void note_uses(struct world *world, const struct one *one,
		      sley_node node)
{
	for (uint32_t k = 0; k < 2 * one->nr; k++) {
		const struct use *use = &one->use[k / 2];
		bool writes = k % 2;

		if (!(use->mode &
		      (writes ? SLEY_ACCESS_WRITE : SLEY_ACCESS_READ)))
			continue;
		for (unsigned int i = use->first; i <= use->last; i++) {
			if (!writes) {
				put(world->readers[i], node);
				continue;
			}
			world->writer[i] = node;
			memset(world->readers[i], 0, sizeof(*world->readers));
		}
	}
}

static void collect_before(struct world *world, struct one *one)
{
	const struct node_list *found = &world->scene.found;

	for (uint32_t i = 0; i < found->nr; i++) {
		const struct one *other = &world->one[found->node[i]];

		put(one->before, found->node[i]);
		for (int k = 0; k < WORDS; k++)
			one->before[k] |= other->before[k];
	}
}

/* Some have ended, each after those it waits for. */
static void end_some(struct world *world, sley_node upto)
{
	for (sley_node node = 1; node <= upto; node++) {
		struct one *one = &world->one[node];
		bool may = test_random(2);

		for (sley_node i = 1; i < node && may; i++)
			may = !has(one->before, i) || world->one[i].is_over;
		one->is_over |= may;
	}
}

static void run_node(struct world *world, sley_node node)
{
	struct one *one = &world->one[node];
	struct sley_access access[USES];
	bool comes;

	do {
		comes = test_random(8);
		one->nr = (uint32_t)test_random(USES + 1);
		for (uint32_t i = 0; i < one->nr; i++) {
			use_something(&one->use[i]);
			access[i] = access_of(world, &one->use[i]);
		}
		CHECK_EQ(scene_find(&world->scene, access, one->nr), 0);
	} while (!comes);
	access_note(&world->scene.map, access, one->nr, node);
	check_found(world, one, node);
	collect_before(world, one);
	check_uses(world, one);
	note_uses(world, one, node);
}

static void run_round(struct world *world, uint64_t base, uint64_t unit,
		      bool ends)
{
	memset(world->one, 0, sizeof(world->one));
	memset(world->writer, 0, sizeof(world->writer));
	memset(world->readers, 0, sizeof(world->readers));
	world->base = base;
	world->unit = unit;
	for (sley_node node = 1; node < NODES; node++) {
		run_node(world, node);
		if (ends && test_random(10) == 0)
			end_some(world, node);
	}
	access_forget(&world->scene.map);
}

TEST(s04_every_conflict_is_found_and_nothing_else)
{
	static const uint64_t place[][2] = {
		{ 0, 1 },
		{ 4096, 8 },
		{ 12345, 24 },
		{ (1ull << 32) - 1000, 100 },
		{ UINT64_MAX - UNITS + 1, 1 },
		{ 0, 1ull << 55 },
		{ 0, 1ull << 56 },
		{ (1ull << 47) - 77777, 4097 },
	};
	static struct world world;
	int rounds = test_scale(200);

	scene_begin(&world.scene);
	world.scene.map.is_over = one_is_over;
	world.scene.map.arg = &world;
	for (int i = 0; i < rounds; i++)
		run_round(&world, place[i % 8][0], place[i % 8][1], i / 8 % 2);
	scene_end(&world.scene);
}
