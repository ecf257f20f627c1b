/* SPDX-License-Identifier: MIT */
/*
 * node_log.c - see node_log.h.
 */
#include "graph/log/node_log.h"

#include "base/atomic.h"
#include "base/bits.h"
#include "base/hash.h"
#include "os/clock.h"

#include <string.h>

#define MAX_DEFAULT 4096
#define EDGES_EACH 8 /* average number, for the reserved memory */

/* ---- life -------------------------------------------------------------------------- */

static size_t table_size(const struct node_log *log)
{
	return sizeof(*log->table) << log->bits;
}

static size_t records_size(const struct node_log *log)
{
	return log->max * sizeof(*log->record);
}

static size_t edges_size(const struct node_log *log)
{
	return log->max_edges * sizeof(*log->edge);
}

struct node_log *node_log_create(struct mem *mem, uint32_t max)
{
	struct node_log *log = mem_alloc(mem, sizeof(*log));

	if (!log)
		return NULL;
	log->mem = mem;
	log->max = max ? max : MAX_DEFAULT;
	log->max_edges = log->max * EDGES_EACH;
	/* At most half full. */
	log->bits = (uint32_t)bits_last(log->max) + 2;
	log->record = mem_alloc(mem, records_size(log));
	log->edge = mem_alloc(mem, edges_size(log));
	log->table = mem_alloc(mem, table_size(log));
	if (log->record && log->edge && log->table)
		return log;
	node_log_destroy(log);
	return NULL;
}

void node_log_destroy(struct node_log *log)
{
	if (!log)
		return;
	mem_free(log->mem, log->record, records_size(log));
	mem_free(log->mem, log->edge, edges_size(log));
	mem_free(log->mem, log->table, table_size(log));
	mem_free(log->mem, log, sizeof(*log));
}

/* No node runs. */
static void begin_anew(struct node_log *log)
{
	log->over = false;
	log->nr = log->nr_edges = 0;
	log->nr_left_out = log->nr_edges_left_out = 0;
	memset(log->table, 0, table_size(log));
}

/* ---- from nodes to records ----------------------------------------------------------- */

/* The cell of @id, or the cell that @id would have. */
static size_t find_cell(const struct node_log *log, sley_node id)
{
	size_t mask = ((size_t)1 << log->bits) - 1;
	size_t at = hash_slot(hash_word(id), log->bits);

	for (;; at = (at + 1) & mask) {
		/* relaxed: an entry that is added meanwhile has another id. */
		uint32_t cell = load_relaxed(&log->table[at]);

		/* relaxed: ids are unique. */
		if (!cell || load_relaxed(&log->record[cell - 1].id) == id)
			return at;
	}
}

/* The number of the record, or PICTURE_NONE. */
static uint32_t find(const struct node_log *log, sley_node id)
{
	/* relaxed: set by the submitter of the node, or by a holder of the lock. */
	return load_relaxed(&log->table[find_cell(log, id)]) - 1;
}

bool node_log_has(const struct node_log *log, sley_node id)
{
	return find(log, id) != PICTURE_NONE;
}

/* ---- by the submitter ----------------------------------------------------------------- */

/* To the record that is being added, which no other thread knows. */
static void add_edge(struct node_log *log, sley_node id, uint32_t flags)
{
	uint32_t from = find(log, id), to = log->nr;

	if (from == PICTURE_NONE || log->record[from].stamp == to + 1)
		return;
	log->record[from].stamp = to + 1;
	if (log->nr_edges == log->max_edges) {
		log->nr_edges_left_out++;
		return;
	}
	log->edge[log->nr_edges++] = from | flags;
	log->record[to].nr_edges++;
}

static void fill(struct node_log *log, struct node_log_record *record,
		 const struct node_log_node *node)
{
	record->name = node->name;
	record->fn = node->fn;
	record->begin_ns = record->end_ns = 0;
	record->end = 0;
	record->code = 0;
	record->first_edge = log->nr_edges;
	record->nr_edges = 0;
	record->depth = node->depth;
	record->stamp = 0;
}

void node_log_add(struct node_log *log, const struct node_log_node *node)
{
	const struct predecessors *found = node->found;
	struct node_log_record *record;

	if (log->over)
		begin_anew(log);
	if (log->nr == log->max) {
		log->nr_left_out++;
		return;
	}
	record = &log->record[log->nr];
	fill(log, record, node);
	for (uint32_t i = 0; i < found->list.nr; i++)
		add_edge(log, found->list.node[i],
			 i < found->nr_needed ? 0 : PICTURE_ORDER_ONLY);
	/* relaxed: readers step over it; the node runs later. */
	store_relaxed(&record->id, node->id);
	/* relaxed: as above. */
	store_relaxed(&log->table[find_cell(log, node->id)], ++log->nr);
}

/* ---- by the thread that runs the node -------------------------------------------------- */

void node_log_begin(struct node_log *log, sley_node id)
{
	uint32_t i = find(log, id);

	if (i != PICTURE_NONE)
		/* relaxed: a word for readers. */
		store_relaxed(&log->record[i].begin_ns, os_now());
}

void node_log_end(struct node_log *log, sley_node id, enum sley_outcome outcome,
		  int code, uint32_t worker)
{
	uint32_t i = find(log, id);
	struct node_log_record *record;

	if (i == PICTURE_NONE)
		return;
	record = &log->record[i];
	/* relaxed: a word for readers, as are the next two. */
	store_relaxed(&record->code, code);
	/* relaxed: as above. */
	store_relaxed(&record->end, (uint32_t)outcome | worker << 8);
	/* relaxed: as above. */
	store_relaxed(&record->end_ns, os_now());
}
