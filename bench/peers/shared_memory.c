/* SPDX-License-Identifier: MIT */
/*
 * shared_memory.c - the peers `rings` and `memcpy` of the rows `client-...`: two
 * processes that share memory, spin, and do nothing else.
 *
 * client-rate  a pair of rings for each client, with one writer and one reader each.  A
 *              question is a cache line, an answer is two words.  A side publishes a
 *              whole batch by one store, and reads the other side's word again only when
 *              it has used up what it knew of.
 * client-big   the sender copies into a buffer that both map, the receiver copies it out
 *
 * With more processes than CPUs, a side that has waited for some time lets others run.
 */
#include "../problems/trips.h"

#define RING_SIZE 256u /* entries: a power of two, above CLIENT_BATCH */
#define YIELD_AFTER 1000

struct question {
	uint64_t word[8];
} __attribute__((aligned(64)));

struct answer {
	uint64_t number;
	uint64_t word;
};

/*
 * No client has more questions under way than fit, so nobody waits for room.  The counts
 * are on lines of their own; a neighbour line is prefetched, too.
 */
struct pair {
	uint32_t asked __attribute__((aligned(128)));
	uint32_t answered __attribute__((aligned(128)));
	struct question questions[RING_SIZE] __attribute__((aligned(128)));
	struct answer answers[RING_SIZE];
	uint32_t over __attribute__((aligned(128)));
};

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* A round of waiting. */
static void idle(uint32_t *nr)
{
	measure_pause();
	if (++*nr % YIELD_AFTER == 0)
		sched_yield();
}

/* ---- client-rate --------------------------------------------------------------------- */

struct rate {
	struct trips_rate rate;
	struct pair *pairs; /* shared */
};

/* Answers all that was asked; false if nothing was. */
static bool answer(struct pair *pair)
{
	uint32_t at = pair->answered, end = load(&pair->asked);

	if (at == end)
		return false;
	for (; at != end; at++) {
		struct question got = pair->questions[at % RING_SIZE];

		pair->answers[at % RING_SIZE] =
			(struct answer){ got.word[0], got.word[7] + 1 };
	}
	store(&pair->answered, end);
	return true;
}

static void serve_rings(void *arg)
{
	const struct rate *rate = arg;
	int nr = rate->rate.m->workers, nr_over = 0;
	uint32_t nr_idle = 0;

	while (nr_over < nr) {
		bool found = false;

		nr_over = 0;
		for (int i = 0; i < nr; i++) {
			found |= answer(&rate->pairs[i]);
			nr_over += (int)load(&rate->pairs[i].over);
		}
		if (!found)
			idle(&nr_idle);
	}
}

struct asker {
	const struct trips_rate *rate;
	struct pair *pair;
};

static void ask_batch(void *self, uint64_t first)
{
	const struct asker *asker = self;
	struct pair *pair = asker->pair;
	uint32_t at = pair->asked, end = at + asker->rate->at_a_time;
	uint32_t known = at, nr_idle = 0;

	for (uint32_t i = at; i != end; i++)
		pair->questions[i % RING_SIZE] =
			(struct question){ { i, 0, 0, 0, 0, 0, 0, first } };
	store(&pair->asked, end);
	for (uint32_t i = at; i != end; i++) {
		const struct answer *got = &pair->answers[i % RING_SIZE];

		while (i == known) {
			known = load(&pair->answered);
			if (i == known)
				idle(&nr_idle);
		}
		MEASURE_CHECK(asker->rate->m, got->number == i);
		MEASURE_CHECK(asker->rate->m, got->word == first + 1);
	}
}

static void client_rate(struct crowd_member *member)
{
	struct rate *rate = member->arg;
	struct asker asker = { &rate->rate, &rate->pairs[member->nth] };

	trips_rate_ask(&rate->rate, member, ask_batch, &asker);
	store(&asker.pair->over, 1);
}

static void measure_rate_of(const struct measure *m, uint32_t at_a_time)
{
	size_t size = (size_t)m->workers * sizeof(struct pair);
	struct rate rate = { .pairs = crowd_shared(m, size) };
	uint64_t ns;
	pid_t pid;

	trips_rate_init(&rate.rate, m, at_a_time);
	pid = crowd_serve(m, serve_rings, &rate);
	ns = crowd_run(m, client_rate, &rate);
	crowd_join(m, pid);
	munmap(rate.pairs, size);
	trips_rate_report(&rate.rate, ns);
}

static void run_client_rate(const struct measure *m)
{
	measure_rate_of(m, 1);
	measure_rate_of(m, CLIENT_BATCH);
}

/* ---- client-big ---------------------------------------------------------------------- */

struct buffer {
	uint32_t asked __attribute__((aligned(128))); /* trips so far      */
	uint32_t answered __attribute__((aligned(128)));
	bool over;
	uint64_t words[TRIPS_BIG_WORDS] __attribute__((aligned(4096)));
};

struct big {
	const struct measure *m;
	struct buffer *shared;
	uint64_t *words; /* each process has its own copy after the fork */
};

static void await(const uint32_t *word, uint32_t value)
{
	uint32_t nr = 0;

	while (load(word) != value)
		idle(&nr);
}

/* Waits for question number @nr; false if there are no more. */
static bool await_question(const struct big *big, uint32_t nr)
{
	await(&big->shared->asked, nr);
	return !big->shared->over;
}

static void serve_there(void *arg)
{
	const struct big *big = arg;

	for (uint32_t nr = 1; await_question(big, nr); nr++) {
		memcpy(big->words, big->shared->words, CLIENT_BIG);
		MEASURE_CHECK(big->m, trips_big_is(big->words, big->words[0]));
		store(&big->shared->answered, nr);
	}
}

static void serve_back(void *arg)
{
	const struct big *big = arg;

	for (uint32_t nr = 1; await_question(big, nr); nr++) {
		trips_big_stamp(big->words, big->shared->words[0]);
		memcpy(big->shared->words, big->words, CLIENT_BIG);
		store(&big->shared->answered, nr);
	}
}

static void ask(struct buffer *shared)
{
	uint32_t nr = shared->asked + 1;

	store(&shared->asked, nr);
	await(&shared->answered, nr);
}

static void ask_there(void *self, uint64_t value)
{
	const struct big *big = self;

	trips_big_stamp(big->words, value);
	memcpy(big->shared->words, big->words, CLIENT_BIG);
	ask(big->shared);
}

static void ask_back(void *self, uint64_t value)
{
	const struct big *big = self;

	big->shared->words[0] = value;
	ask(big->shared);
	memcpy(big->words, big->shared->words, CLIENT_BIG);
	MEASURE_CHECK(big->m, trips_big_is(big->words, value));
}

static void big_trips(const struct measure *m, const char *metric,
		      void (*serve)(void *), trips_fn *trip)
{
	struct big big = { m, crowd_shared(m, sizeof(struct buffer)),
			   trips_big_alloc(m) };
	pid_t pid = crowd_serve(m, serve, &big);

	crowd_pin(m, 0);
	trips_big(m, metric, trip, &big);
	big.shared->over = true;
	store(&big.shared->asked, big.shared->asked + 1);
	crowd_join(m, pid);
	munmap(big.shared, sizeof(struct buffer));
	free(big.words);
}

static void run_client_big(const struct measure *m)
{
	crowd_needs_two_cpus();
	big_trips(m, "there_ns", serve_there, ask_there);
	big_trips(m, "back_ns", serve_back, ask_back);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "client-rate", run_client_rate },
		{ "client-big", run_client_big },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
