/* SPDX-License-Identifier: MIT */
/*
 * shadow.c - races on plain data, found by vector clocks (mode RA).
 *
 * For each byte that a model thread has touched, a cell holds when each thread last
 * read and wrote the byte, plainly and as an atomic.  Two accesses of two threads
 * race if at least one writes, at least one is plain, and neither happens before the
 * other.  The second access of the execution finds the race, so plain accesses need
 * no scheduling points: only the order of the atomics around the accesses matters.
 *
 * The accesses come from the compiler: sources of models are compiled as for
 * ThreadSanitizer (instrument.c).  setup and finish are before and after all
 * threads.  Bookkeeping of a model is exempt after model_ledger().
 *
 * Memory that a thread has just mapped or allocated counts as written by that
 * thread, since the kernel's zeroes are ordered with nothing but the mapping: a
 * thread that finds the address by a relaxed load races with the mapping.  A mapping
 * may be large, so the mapping is kept as a range; a cell in the range gets the
 * write when the cell is first touched.
 */
#include "engine.h"

#include <stdio.h>
#include <string.h>

#define CELLS 8192 /* a power of two */
#define CELL_SIZE 8
#define LEDGERS_MAX 32
#define MAPPINGS_MAX 64

enum access { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, ACCESSES };

static const uint8_t conflicts[ACCESSES] = {
	[PLAIN_READ] = 1 << PLAIN_WRITE | 1 << ATOMIC_WRITE,
	[PLAIN_WRITE] = (1 << ACCESSES) - 1,
	[ATOMIC_READ] = 1 << PLAIN_WRITE,
	[ATOMIC_WRITE] = 1 << PLAIN_READ | 1 << PLAIN_WRITE,
};

static struct cell {
	uintptr_t key;
	uint64_t execution;          /* of this cell; others: free */
	uint8_t location[CELL_SIZE]; /* of history.c, that begins here; or 0 */
	uint16_t latest[ACCESSES][THREADS];          /* of all bytes */
	uint16_t time[ACCESSES][THREADS][CELL_SIZE]; /* 0: never */
	uint32_t site[ACCESSES][THREADS];            /* in the program */
} cells[CELLS];
static uint64_t execution = 1;
static int nr_cells;

/* The place of the checked access; 0: a step of the listing. */
static uint32_t last_site;
extern const char __executable_start[]; /* the linker's */

static struct ledger {
	const char *start, *end;
} ledgers[LEDGERS_MAX];
static int nr_ledgers;

/* The mappings of this execution, the latest last. */
static struct mapping {
	uintptr_t start, end;
	int thread;
	uint16_t time;
	uint32_t site;
} mappings[MAPPINGS_MAX];
static int nr_mappings;

void shadow_reset(void)
{
	execution++;
	nr_cells = 0;
	nr_mappings = 0;
}

void shadow_forget_ledgers(void)
{
	nr_ledgers = 0;
}

void model_ledger(const volatile void *p, size_t size)
{
	const char *start = (const char *)(uintptr_t)p;

	if (nr_ledgers == LEDGERS_MAX)
		model_fail(MODEL_UNSTABLE, "too many ledgers");
	ledgers[nr_ledgers++] = (struct ledger){ start, start + size };
}

static bool in_ledger(const char *p)
{
	for (int i = 0; i < nr_ledgers; i++) {
		if (p >= ledgers[i].start && p < ledgers[i].end)
			return true;
	}
	return false;
}

/* Clears the entries of all threads of the model. */
static void cell_clear(struct cell *c)
{
	size_t nr = (size_t)engine.nr_threads;

	memset(c->location, 0, sizeof(c->location));
	memset(c->latest, 0, sizeof(c->latest));
	for (int i = 0; i < ACCESSES; i++)
		memset(c->time[i], 0, nr * sizeof(c->time[i][0]));
}

/* A new cell: the mapping around the cell, if any, has written the cell. */
static void cell_map(struct cell *c)
{
	uintptr_t addr = c->key * CELL_SIZE;

	for (int i = 0; i < nr_mappings; i++) {
		const struct mapping *m = &mappings[i];

		if (addr < m->start || addr >= m->end)
			continue;
		for (int byte = 0; byte < CELL_SIZE; byte++)
			c->time[PLAIN_WRITE][m->thread][byte] = m->time;
		c->latest[PLAIN_WRITE][m->thread] = m->time;
		c->site[PLAIN_WRITE][m->thread] = m->site;
	}
}

/* The place of the cell with @key in the table, or the place for a new cell. */
static struct cell *cell_find(uintptr_t key)
{
	size_t i = (size_t)(key * 0x9e3779b97f4a7c15ull >> 40) % CELLS;

	while (cells[i].execution == execution && cells[i].key != key)
		i = (i + 1) % CELLS;
	return &cells[i];
}

static struct cell *cell_of(uintptr_t addr)
{
	uintptr_t key = addr / CELL_SIZE;
	struct cell *c = cell_find(key);

	if (c->execution != execution) {
		if (++nr_cells > CELLS / 2)
			model_fail(MODEL_UNSTABLE, "too much memory in use");
		cell_clear(c);
		c->execution = execution;
		c->key = key;
		cell_map(c);
	}
	return c;
}

uint8_t *shadow_location(const char *addr, uint32_t size)
{
	uintptr_t a = (uintptr_t)addr;

	if (a % size)
		model_fail(MODEL_UNSTABLE, "an atomic that is not aligned");
	return &cell_of(a)->location[a % CELL_SIZE];
}

static uint32_t site_number(const void *pc)
{
	return pc ? (uint32_t)((const char *)pc - __executable_start) : 0;
}

static void race(const struct cell *c, int other, int kind, int with)
{
	static const char *const names[] = {
		[PLAIN_READ] = "plain read",
		[PLAIN_WRITE] = "plain write",
		[ATOMIC_READ] = "atomic read",
		[ATOMIC_WRITE] = "atomic write",
	};
	char here[96], there[96];

	report_where(last_site, here, sizeof(here));
	report_where(c->site[with][other], there, sizeof(there));
	model_fail(MODEL_RACE, "%s by thread %d%s, %s by thread %d%s",
		   names[kind], engine.current, here, names[with], other,
		   there);
}

/* The bytes [first, last) of a cell. */
struct bytes {
	unsigned int first, last;
};

/* Did @t access a byte in a way that the current thread does not know of? */
static bool unordered(const struct cell *c, struct bytes bytes, int t, int with)
{
	const uint16_t *time = c->time[with][t];

	if (history_happened_before(t, c->latest[with][t], engine.current))
		return false;
	for (unsigned int i = bytes.first; i < bytes.last; i++) {
		if (time[i] &&
		    !history_happened_before(t, time[i], engine.current))
			return true;
	}
	return false;
}

static void check(const struct cell *c, struct bytes bytes, int kind)
{
	for (int with = 0; with < ACCESSES; with++) {
		if (!(conflicts[kind] & 1 << with))
			continue;
		for (int t = 0; t < engine.nr_threads; t++) {
			if (t != engine.current && unordered(c, bytes, t, with))
				race(c, t, kind, with);
		}
	}
}

static bool known(const struct cell *c, struct bytes bytes, int kind,
		  uint16_t time)
{
	for (unsigned int i = bytes.first; i < bytes.last; i++) {
		if (c->time[kind][engine.current][i] != time)
			return false;
	}
	return true;
}

static void access_cell(struct cell *c, struct bytes bytes, int kind,
			uint32_t site)
{
	/* An access between two operations has the time of the later operation:
	   only a release from then on can publish the access. */
	uint16_t time = (uint16_t)(engine.nr_by[engine.current] + 1);

	if (kind == PLAIN_WRITE)
		memset(c->location + bytes.first, 0, bytes.last - bytes.first);
	if (known(c, bytes, kind, time))
		return;
	check(c, bytes, kind);
	for (unsigned int i = bytes.first; i < bytes.last; i++)
		c->time[kind][engine.current][i] = time;
	c->latest[kind][engine.current] = time;
	c->site[kind][engine.current] = site;
}

static void access(uintptr_t addr, size_t size, int kind, uint32_t site)
{
	while (size > 0) {
		struct bytes bytes = { .first = addr % CELL_SIZE };
		size_t room = CELL_SIZE - bytes.first;

		if (room > size)
			room = size;
		bytes.last = bytes.first + (unsigned int)room;
		access_cell(cell_of(addr), bytes, kind, site);
		addr += room;
		size -= room;
	}
}

void shadow_plain(const void *p, size_t size, bool write, const void *site)
{
	const char *addr = p;

	if (engine.mode != MODEL_RA || engine.current < 0 || in_ledger(addr))
		return;
	machine_check_alive(addr);
	last_site = site_number(site);
	access((uintptr_t)addr, size, write ? PLAIN_WRITE : PLAIN_READ,
	       last_site);
}

/*
 * A cell that exists already was touched by a thread that had no right to the memory
 * yet, or the memory is used again: the mapping counts as a write of the cell.
 */
void shadow_mapped(const void *p, size_t size, const void *site)
{
	uintptr_t start = (uintptr_t)p, end = start + size;

	if (engine.mode != MODEL_RA || engine.current < 0)
		return;
	if (start % CELL_SIZE || nr_mappings == MAPPINGS_MAX)
		model_fail(MODEL_UNSTABLE,
			   "mappings: not aligned, or too many");
	last_site = site_number(site);
	for (uintptr_t addr = start; addr < end; addr += CELL_SIZE) {
		struct cell *c = cell_find(addr / CELL_SIZE);

		if (c->execution == execution)
			access(addr, CELL_SIZE, PLAIN_WRITE, last_site);
	}
	mappings[nr_mappings++] = (struct mapping){
		.start = start,
		.end = end,
		.thread = engine.current,
		.time = (uint16_t)(engine.nr_by[engine.current] + 1),
		.site = last_site,
	};
}

void shadow_atomic(const struct op *op)
{
	bool write = op->kind != OP_LOAD && op->kind != OP_FUTEX_WAIT;

	last_site = 0;
	access((uintptr_t)op->addr, op->size,
	       write ? ATOMIC_WRITE : ATOMIC_READ, 0);
}
