/* SPDX-License-Identifier: MIT */
/*
 * self_random.c - the reduction loses nothing.
 *
 * Small random programs of every kind of operation are explored three times:
 * naively, with partial-order reduction, and bounded with a bound that is
 * never reached.  All three must end in the same set of outcomes: what every
 * operation returned, final memory, and whether it hung.  With the seed of a
 * failure the program is printed.
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
static struct outcomes sets[3], *collecting;
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

static void collect(void)
{
	uint64_t h = outcome_hash();

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

static bool same_outcomes(struct outcomes *a, struct outcomes *b)
{
	qsort(a->hash, (size_t)a->nr, sizeof(a->hash[0]), compare_hashes);
	qsort(b->hash, (size_t)b->nr, sizeof(b->hash[0]), compare_hashes);
	return a->nr == b->nr &&
	       memcmp(a->hash, b->hash, (size_t)a->nr * sizeof(a->hash[0])) ==
		       0;
}

static void print_program(const struct model *m)
{
	static const char *const names[] = { "load",       "store", "xchg",
					     "add",        "cas",   "sc_load",
					     "sc_add",     "await", "wait",
					     "timed_wait", "wake",  "barrier",
					     "now",        "locked" };

	for (int t = 0; m->threads[t]; t++) {
		printf("     thread %d:", t);
		for (int i = 0; i < nr_ops[t]; i++)
			printf(" %s%s(%d, %u)", names[program[t][i].action],
			       program[t][i].relaxed ? "_relaxed" : "",
			       program[t][i].location, program[t][i].value);
		printf("\n");
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
	m->buffer = random_below(4) ? 8 : 1;
}

/* 1: the same; 0: not; -1: too big to explore naively. */
static int check(struct model *m, enum model_mode mode, uint64_t *executions)
{
	static const enum search_kind kinds[] = { SEARCH_NAIVE, SEARCH_REDUCED,
						  SEARCH_BOUNDED };

	engine.bound = 1000;
	for (int k = 0; k < 3; k++) {
		struct search_stats s;

		collecting = &sets[k];
		collecting->nr = 0;
		s = search_explore(m, mode, kinds[k], NAIVE_LIMIT);
		if (k == 0 && !s.complete)
			return -1;
		executions[k] += s.executions;
	}
	return same_outcomes(&sets[0], &sets[1]) &&
	       same_outcomes(&sets[0], &sets[2]);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	int nr = argc > 2 ? atoi(argv[2]) : 120;
	struct model m = { .name = "random", .setup = setup };
	int passed = 0, failed = 0, skipped = 0;
	uint64_t executions[3] = { 0 };

	engine.ended = collect;
	for (int i = 0; i < nr; i++) {
		random_state = (seed + (uint64_t)i) * 0x9e3779b97f4a7c15ull;
		generate(&m);
		for (int mode = MODEL_SC; mode <= MODEL_RA; mode <<= 1) {
			int same = check(&m, (enum model_mode)mode, executions);

			passed += same > 0;
			failed += same == 0;
			skipped += same < 0;
			if (same)
				continue;
			printf("FAIL seed %llu, %s: %d outcomes naively, %d "
			       "reduced, %d bounded\n",
			       (unsigned long long)seed + (unsigned)i,
			       report_mode((enum model_mode)mode), sets[0].nr,
			       sets[1].nr, sets[2].nr);
			print_program(&m);
		}
	}
	printf("seed %llu: %d programs, %d too big; executions: %llu naive, "
	       "%llu reduced, %llu bounded\n",
	       (unsigned long long)seed, nr, skipped,
	       (unsigned long long)executions[0],
	       (unsigned long long)executions[1],
	       (unsigned long long)executions[2]);
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
