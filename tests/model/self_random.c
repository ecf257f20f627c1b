/* SPDX-License-Identifier: MIT */
/*
 * self_random.c - the reduction loses nothing.
 *
 * Small random programs of every kind of operation are explored several times:
 * naively, with partial-order reduction, and bounded with bounds that are never
 * reached.  All searches must find the same set of outcomes: the results of all
 * operations, the final memory, and whether the program hung.  A search with few
 * delays must find a subset, a search with more delays no smaller set; random
 * executions must find a subset, and the same executions twice from one seed.  With
 * the seed of a failure the program is printed.  Seed 0 is a known program.
 *
 *	self_random [SEED] [NUMBER OF PROGRAMS]
 */
#include "engine.h"

#include "base/atomic.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/membarrier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCATIONS 2
#define OPS_MAX 5
#define OUTCOMES_MAX 65536
#define NAIVE_LIMIT 100000
#define DRAWN 100

enum action {
	LOAD,
	STORE,
	XCHG,
	ADD,
	CAS,
	CONSISTENT,
	CONSISTENT_ADD,
	AWAIT,
	WAIT,
	TIMED_WAIT,
	WAKE,
	BARRIER,
	NOW,
	LOCKED,
	TRIED,
	NR_ACTIONS
};

struct instruction {
	enum action action;
	int location;
	uint32_t value;
	bool relaxed;
};

struct outcomes {
	uint64_t hash[OUTCOMES_MAX];
	int nr;
};

static struct instruction program[MODEL_THREADS_MAX][OPS_MAX];
static int nr_ops[MODEL_THREADS_MAX];
static uint32_t memory[LOCATIONS], lock;
static uint64_t returned[MODEL_THREADS_MAX][OPS_MAX];
static struct outcomes drawn, *collecting;
static uint64_t in_order; /* over all executions, as they came */
static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull >> 16;
}

static uint32_t random_below(uint32_t n)
{
	return (uint32_t)(random_next() % n);
}

/* A critical section with one or two accesses in it. */
static uint64_t count_locked(uint32_t *p, uint32_t value)
{
	uint64_t old;

	while (xchg_acquire(&lock, 1))
		spin_hint(&lock);
	old = load_relaxed(p);
	if (value)
		store_relaxed(p, (uint32_t)old + 1);
	store_release(&lock, 0);
	return old;
}

/* The same for one that does not wait. */
static uint64_t count_if_free(uint32_t *p, uint32_t value)
{
	uint32_t free = 0;
	uint64_t old;

	if (!cas_acquire(&lock, &free, 1))
		return UINT32_MAX;
	old = load_relaxed(p);
	if (value)
		store_relaxed(p, (uint32_t)old + 1);
	store_release(&lock, 0);
	return old;
}

static uint64_t perform(const struct instruction *i)
{
	uint32_t *p = &memory[i->location];
	uint32_t expected = i->value;

	switch (i->action) {
	case LOAD:
		return i->relaxed ? load_relaxed(p) : load_acquire(p);
	case STORE:
		if (i->relaxed)
			store_relaxed(p, i->value);
		else
			store_release(p, i->value);
		return 0;
	case XCHG:
		return i->relaxed ? xchg_relaxed(p, i->value)
				  : xchg_acq_rel(p, i->value);
	case ADD:
		return i->relaxed ? add_relaxed(p, i->value)
				  : add_acq_rel(p, i->value);
	case CAS:
		if (i->relaxed)
			return cas_relaxed(p, &expected, i->value + 1);
		return cas_acq_rel(p, &expected, i->value + 1);
	case CONSISTENT:
		return load_seq_cst(p);
	case CONSISTENT_ADD:
		return add_seq_cst(p, i->value);
	case AWAIT:
		while (load_relaxed(p) == i->value)
			spin_hint(p);
		return 0;
	case WAIT:
		return (uint64_t)os_futex_wait(p, i->value, UINT64_MAX);
	case TIMED_WAIT:
		return (uint64_t)os_futex_wait(p, i->value,
					       2000000000u + i->value);
	case WAKE:
		os_futex_wake(p, (int)i->value + 1);
		return 0;
	case BARRIER:
		os_membarrier();
		return 0;
	case LOCKED:
		return count_locked(p, i->value);
	case TRIED:
		return count_if_free(p, i->value);
	default:
		return os_now();
	}
}

static void thread(int id)
{
	for (int i = 0; i < nr_ops[id]; i++)
		returned[id][i] = perform(&program[id][i]) + 1;
}

static void setup(void)
{
	memset(memory, 0, sizeof(memory));
	lock = 0;
	model_lock_word(&lock);
	memset(returned, 0, sizeof(returned));
	model_ledger(returned, sizeof(returned));
}

static uint64_t outcome_hash(void)
{
	uint64_t h = engine.failure;

	for (int t = 0; t < engine.nr_threads; t++) {
		for (int i = 0; i < OPS_MAX; i++)
			h = (h ^ returned[t][i]) * 0x9e3779b97f4a7c15ull;
	}
	for (int i = 0; i < LOCATIONS; i++)
		h = (h ^ memory[i] ^ h >> 29) * 0x9e3779b97f4a7c15ull;
	return h;
}

static void collect_into(struct outcomes *set)
{
	collecting = set;
	set->nr = 0;
	in_order = 0;
}

static void collect(void)
{
	uint64_t h = outcome_hash();

	in_order = (in_order ^ h ^ (unsigned int)engine.depth) *
		   0x9e3779b97f4a7c15ull;
	for (int i = 0; i < collecting->nr; i++) {
		if (collecting->hash[i] == h)
			return;
	}
	if (collecting->nr < OUTCOMES_MAX)
		collecting->hash[collecting->nr++] = h;
}

static int compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sort_outcomes(struct outcomes *set)
{
	qsort(set->hash, (size_t)set->nr, sizeof(set->hash[0]), compare_hashes);
}

static bool same_outcomes(const struct outcomes *a, const struct outcomes *b)
{
	return a->nr == b->nr &&
	       memcmp(a->hash, b->hash, (size_t)a->nr * sizeof(a->hash[0])) ==
		       0;
}

static void print_program(const struct model *m)
{
	static const char *const names[] = { "load",       "store",  "xchg",
					     "add",        "cas",    "sc_load",
					     "sc_add",     "await",  "wait",
					     "timed_wait", "wake",   "barrier",
					     "now",        "locked", "tried" };

	for (int t = 0; m->threads[t]; t++) {
		printf("     thread %d:", t);
		for (int i = 0; i < nr_ops[t]; i++)
			printf(" %s%s(%d, %u)", names[program[t][i].action],
			       program[t][i].relaxed ? "_relaxed" : "",
			       program[t][i].location, program[t][i].value);
		printf("\n");
	}
}

/* Explored in part only once: an interrupt comes before an add, too. */
static void generate_known(struct model *m)
{
	static const struct instruction known[3][2] = {
		{ { .action = BARRIER }, { LOAD, 1, 1, true } },
		{ { ADD, 1, 1, false }, { LOAD, 1, 0, false } },
		{ { ADD, 1, 1, true }, { CONSISTENT_ADD, 0, 0, false } },
	};

	for (int t = 0; t < 3; t++) {
		m->threads[t] = thread;
		nr_ops[t] = 2;
		memcpy(program[t], known[t], sizeof(known[t]));
	}
}

/* 2 threads of up to 5 operations, or 3 of up to 3. */
static void generate(struct model *m)
{
	uint32_t threads = 2 + random_below(2);
	/* Half of the programs leave out the rarer calls. */
	uint32_t kinds = random_below(2) ? (uint32_t)NR_ACTIONS
					 : (uint32_t)AWAIT;

	memset(m->threads, 0, sizeof(m->threads));
	for (uint32_t t = 0; t < threads; t++) {
		m->threads[t] = thread;
		nr_ops[t] = (threads == 2 ? 3 : 2) +
			    (int)random_below(threads == 2 ? 3 : 2);
		for (int i = 0; i < nr_ops[t]; i++) {
			program[t][i] = (struct instruction){
				.action = (enum action)random_below(kinds),
				.location = (int)random_below(LOCATIONS),
				.value = random_below(2),
				.relaxed = random_below(2)
			};
		}
	}
	/* Each of them comes between the steps of all others. */
	for (uint32_t t = 0; t < threads && random_below(2); t++)
		program[t][random_below((uint32_t)nr_ops[t])].action = BARRIER;
	m->buffer = random_below(4) ? 8 : 1;
}

static bool one_in_the_other(const struct outcomes *a, const struct outcomes *b)
{
	for (int i = 0; i < a->nr; i++) {
		if (!bsearch(&a->hash[i], b->hash, (size_t)b->nr,
			     sizeof(b->hash[0]), compare_hashes))
			return false;
	}
	return true;
}

/* The last two must find a part of what the one before them finds, the others
   what the first one finds. */
static const struct way {
	const char *name;
	enum search_kind kind;
	int bound;
	bool all;
} ways[] = {
	{ "naive", SEARCH_NAIVE, 0, true },
	{ "reduced", SEARCH_REDUCED, 0, true },
	{ "bounded", SEARCH_BOUNDED, 1000, true },
	{ "delayed", SEARCH_DELAYED, 1000, true },
	{ "by 2 delays", SEARCH_DELAYED, 2, false },
	{ "by 1 delay", SEARCH_DELAYED, 1, false },
};
#define WAYS ((int)(sizeof(ways) / sizeof(ways[0])))

static struct outcomes sets[WAYS];

static bool right(int way)
{
	if (way == 0)
		return true;
	if (ways[way].all)
		return same_outcomes(&sets[0], &sets[way]);
	return one_in_the_other(&sets[way], &sets[way - 1]);
}

/* Random executions end as others do, and as they did the last time. */
static bool drawn_right(struct model *m, enum model_mode mode)
{
	uint64_t first;

	engine.bound = 3;
	collect_into(&drawn);
	search_explore(m, mode, SEARCH_RANDOM, DRAWN);
	first = in_order;
	collect_into(&drawn);
	search_explore(m, mode, SEARCH_RANDOM, DRAWN);
	return in_order == first && one_in_the_other(&drawn, &sets[0]);
}

/* NULL: all is right.  *@too_big: it cannot be explored naively. */
static const char *check(struct model *m, enum model_mode mode,
			 uint64_t *executions, bool *too_big)
{
	for (int w = 0; w < WAYS; w++) {
		struct search_stats s;

		engine.bound = ways[w].bound;
		collect_into(&sets[w]);
		s = search_explore(m, mode, ways[w].kind, NAIVE_LIMIT);
		*too_big = w == 0 && !s.complete;
		if (*too_big)
			return NULL;
		executions[w] += s.executions;
		sort_outcomes(&sets[w]);
		if (!right(w))
			return ways[w].name;
	}
	return drawn_right(m, mode) ? NULL : "drawn";
}

static void print_failure(const struct model *m, uint64_t seed, const char *way)
{
	printf("FAIL seed %llu, %s: %s is not right; outcomes:",
	       (unsigned long long)seed, report_mode(engine.mode), way);
	for (int w = 0; w < WAYS; w++)
		printf(" %d %s", sets[w].nr, ways[w].name);
	printf("\n");
	print_program(m);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	int nr = argc > 2 ? atoi(argv[2]) : 120;
	struct model m = { .name = "random", .setup = setup };
	int passed = 0, failed = 0, skipped = 0;
	uint64_t executions[WAYS] = { 0 };

	engine.ended = collect;
	for (uint64_t i = seed; i < seed + (uint64_t)nr; i++) {
		engine.seed = i;
		random_state = i * 0x9e3779b97f4a7c15ull;
		if (i)
			generate(&m);
		else
			generate_known(&m);
		for (int mode = MODEL_SC; mode <= MODEL_RA; mode <<= 1) {
			bool too_big;
			const char *wrong = check(&m, (enum model_mode)mode,
						  executions, &too_big);

			skipped += too_big;
			passed += !too_big && !wrong;
			failed += wrong != NULL;
			if (wrong)
				print_failure(&m, i, wrong);
		}
	}
	printf("seed %llu: %d programs, %d too big; executions:",
	       (unsigned long long)seed, nr, skipped);
	for (int w = 0; w < WAYS; w++)
		printf(" %llu %s", (unsigned long long)executions[w],
		       ways[w].name);
	printf("\n%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
