/* SPDX-License-Identifier: MIT */
/*
 * picture.c - see picture.h.
 */
#include "graph/picture.h"

#include "base/atomic.h"
#include "base/bits.h"
#include "os/clock.h"

#include <string.h>

#define MAX_DEFAULT 4096
#define EDGES_EACH 8 /* room for so many, on average */

/* ---- life -------------------------------------------------------------------------- */

static size_t table_size(const struct picture *picture)
{
	return ((size_t)picture->mask + 1) * sizeof(*picture->table);
}

static size_t records_size(const struct picture *picture)
{
	return picture->max * sizeof(*picture->record);
}

static size_t edges_size(const struct picture *picture)
{
	return picture->max_edges * sizeof(*picture->edge);
}

struct picture *picture_create(struct mem *mem, uint32_t max)
{
	struct picture *picture = mem_alloc(mem, sizeof(*picture));

	if (!picture)
		return NULL;
	picture->mem = mem;
	picture->max = max ? max : MAX_DEFAULT;
	picture->max_edges = picture->max * EDGES_EACH;
	/* At most half full. */
	picture->mask = (4u << bits_last(picture->max)) - 1;
	picture->record = mem_alloc(mem, records_size(picture));
	picture->edge = mem_alloc(mem, edges_size(picture));
	picture->table = mem_alloc(mem, table_size(picture));
	if (picture->record && picture->edge && picture->table)
		return picture;
	picture_destroy(picture);
	return NULL;
}

void picture_destroy(struct picture *picture)
{
	if (!picture)
		return;
	mem_free(picture->mem, picture->record, records_size(picture));
	mem_free(picture->mem, picture->edge, edges_size(picture));
	mem_free(picture->mem, picture->table, table_size(picture));
	mem_free(picture->mem, picture, sizeof(*picture));
}

/* Nobody runs. */
static void begin_anew(struct picture *picture)
{
	picture->over = false;
	picture->nr = picture->nr_edges = 0;
	picture->nr_left_out = picture->nr_edges_left_out = 0;
	memset(picture->table, 0, table_size(picture));
}

/* ---- from nodes to records ----------------------------------------------------------- */

static uint32_t hash_of(sley_node id)
{
	return (uint32_t)((id * 0x9e3779b97f4a7c15u) >> 32);
}

/* The cell of @id, or the one it would have. */
static uint32_t find_cell(const struct picture *picture, sley_node id)
{
	uint32_t at = hash_of(id) & picture->mask;

	for (;; at = (at + 1) & picture->mask) {
		/* relaxed: what is added meanwhile is not the one. */
		uint32_t cell = load_relaxed(&picture->table[at]);

		/* relaxed: no node has the number of another one. */
		if (!cell || load_relaxed(&picture->record[cell - 1].id) == id)
			return at;
	}
}

/* Or PICTURE_NONE. */
static uint32_t find(const struct picture *picture, sley_node id)
{
	/* relaxed: set by who submitted it, or by a holder of the lock. */
	return load_relaxed(&picture->table[find_cell(picture, id)]) - 1;
}

bool picture_has(const struct picture *picture, sley_node id)
{
	return find(picture, id) != PICTURE_NONE;
}

/* ---- by who submits ------------------------------------------------------------------- */

/* To the record that is being added, which is no other's. */
static void add_edge(struct picture *picture, sley_node id, uint32_t flags)
{
	uint32_t from = find(picture, id), to = picture->nr;

	if (from == PICTURE_NONE || picture->record[from].stamp == to + 1)
		return;
	picture->record[from].stamp = to + 1;
	if (picture->nr_edges == picture->max_edges) {
		picture->nr_edges_left_out++;
		return;
	}
	picture->edge[picture->nr_edges++] = from | flags;
	picture->record[to].nr_edges++;
}

static void fill(struct picture *picture, struct picture_record *record,
		 const struct picture_node *node)
{
	record->name = node->name;
	record->fn = node->fn;
	record->begin_ns = record->end_ns = 0;
	record->end = 0;
	record->code = 0;
	record->first_edge = picture->nr_edges;
	record->nr_edges = 0;
	record->depth = node->depth;
	record->stamp = 0;
}

void picture_add(struct picture *picture, const struct picture_node *node)
{
	struct picture_record *record;

	if (picture->over)
		begin_anew(picture);
	if (picture->nr == picture->max) {
		picture->nr_left_out++;
		return;
	}
	record = &picture->record[picture->nr];
	fill(picture, record, node);
	for (uint32_t i = 0; i < node->found->nr; i++)
		add_edge(picture, node->found->node[i],
			 i < node->nr_needed ? 0 : PICTURE_ORDER_ONLY);
	/* relaxed: others step over it, and who runs the node comes later. */
	store_relaxed(&record->id, node->id);
	/* relaxed: as above. */
	store_relaxed(&picture->table[find_cell(picture, node->id)],
		      ++picture->nr);
}

/* ---- by who runs it -------------------------------------------------------------------- */

void picture_begin(struct picture *picture, sley_node id)
{
	uint32_t i = find(picture, id);

	if (i != PICTURE_NONE)
		/* relaxed: a word for those who look. */
		store_relaxed(&picture->record[i].begin_ns, os_now());
}

void picture_end(struct picture *picture, sley_node id,
		 enum sley_outcome outcome, int code, uint32_t worker)
{
	uint32_t i = find(picture, id);
	struct picture_record *record;

	if (i == PICTURE_NONE)
		return;
	record = &picture->record[i];
	/* relaxed: a word for those who look; so are those below. */
	store_relaxed(&record->code, code);
	/* relaxed: as above. */
	store_relaxed(&record->end, (uint32_t)outcome | worker << 8);
	/* relaxed: as above. */
	store_relaxed(&record->end_ns, os_now());
}
