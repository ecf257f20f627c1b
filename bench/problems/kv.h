/* SPDX-License-Identifier: MIT */
/*
 * kv.h - the work of the rows `kv-local` and `kv`: KV_KEYS keys of 16 bytes with values of
 * 100 bytes, read and written by as many clients as there are workers.
 *
 *   ns       reads of keys that are equally likely
 *   set_ns   writes of such keys
 *   a_ns     half reads, half writes; the keys after Zipf's law with 0.99
 *   b_ns     95 % reads
 *   c_ns     reads
 *
 * The last three have the mixtures of YCSB A, B and C.  The keys of a run are drawn
 * before the run.  A read checks the first bytes of the value.
 */
#ifndef BENCH_PROBLEMS_KV_H
#define BENCH_PROBLEMS_KV_H

#include "../measure.h"
#include "splitmix.h"

#include <math.h>

#define KV_KEY_SIZE 16
#define KV_VALUE_SIZE 100
#define KV_ZIPF 0.99
#define KV_SHARDS 16
#define KV_CLIENTS_MAX 64
#define KV_WRITES (1u << 31) /* of a draw; the rest is the number of the key */

/* How a participant reads and writes; 0 is success. */
struct kv_side {
	int (*get)(void *self, const void *key, void *value, size_t room);
	int (*set)(void *self, const void *key, const void *value);
	void *self;
};

struct kv_client {
	const struct measure *m;
	const struct kv_side *side;
	uint32_t *draws;
	uint64_t nr;
};

/* What a participant measures. */
struct kv_run {
	const struct measure *m;
	const struct kv_side *side;
	/* Lets all clients work at the same time: how many ns they took. */
	uint64_t (*crowd)(const struct kv_run *run, struct kv_client *clients);
	void *arg;
	uint64_t turns;       /* of one client                                */
	const char *names[3]; /* before the names of metrics; ended by NULL   */
};

/* ---- a client ------------------------------------------------------------------------ */

static inline void kv_key(uint64_t *key, uint32_t number)
{
	key[0] = splitmix(number);
	key[1] = number;
}

static inline void kv_write(const struct kv_client *client, uint32_t number)
{
	uint64_t key[2], value[(KV_VALUE_SIZE + 7) / 8] = { number };

	kv_key(key, number);
	MEASURE_CHECK(client->m,
		      client->side->set(client->side->self, key, value) == 0);
}

static inline void kv_read(const struct kv_client *client, uint32_t number)
{
	uint64_t key[2], value[(KV_VALUE_SIZE + 7) / 8];

	kv_key(key, number);
	MEASURE_CHECK(client->m, client->side->get(client->side->self, key,
						   value, sizeof(value)) == 0);
	MEASURE_CHECK(client->m, value[0] == number);
}

static inline void kv_turn(const struct kv_client *client, uint32_t draw)
{
	if (draw & KV_WRITES)
		kv_write(client, draw & ~KV_WRITES);
	else
		kv_read(client, draw);
}

static inline void kv_client_run(void *arg)
{
	const struct kv_client *client = arg;

	for (uint64_t i = 0; i < client->nr; i++)
		kv_turn(client, client->draws[i]);
}

/* ---- drawing ------------------------------------------------------------------------- */

struct kv_drawer {
	uint64_t state;
	uint32_t nr_keys;
	uint32_t writes_pct;
	const double *sums; /* of the weights up to each rank; NULL: all equal */
};

static inline double kv_uniform(struct kv_drawer *drawer)
{
	drawer->state += SPLITMIX_STEP;
	return (double)(splitmix(drawer->state) >> 11) / 9007199254740992.0;
}

/* The first rank whose sum is above a random part of all. */
static inline uint32_t kv_zipf(struct kv_drawer *drawer)
{
	double at = kv_uniform(drawer) * drawer->sums[drawer->nr_keys - 1];
	uint32_t low = 0, high = drawer->nr_keys - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (drawer->sums[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static inline uint32_t kv_draw(struct kv_drawer *drawer)
{
	uint32_t number =
		drawer->sums ? kv_zipf(drawer)
			     : (uint32_t)(kv_uniform(drawer) * drawer->nr_keys);
	bool writes = kv_uniform(drawer) * 100 < drawer->writes_pct;

	/* Frequent keys are not neighbours. */
	number = (uint32_t)(((uint64_t)number * 7919 + 13) % drawer->nr_keys);
	return number | (writes ? KV_WRITES : 0);
}

static inline double *kv_zipf_sums(const struct measure *m, uint32_t nr_keys)
{
	double *sums = malloc(nr_keys * sizeof(*sums)), sum = 0;

	MEASURE_CHECK(m, sums != NULL);
	for (uint32_t i = 0; i < nr_keys; i++)
		sums[i] = sum += 1 / pow(i + 1, KV_ZIPF);
	return sums;
}

/* ---- the row ------------------------------------------------------------------------- */

static inline uint32_t kv_nr_keys(const struct measure *m)
{
	return (uint32_t)measure_size(m, KV_KEYS);
}

static inline void kv_report(const struct kv_run *run, const char *metric,
			     double value)
{
	for (int i = 0; run->names[i] != NULL; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s%s", run->names[i], metric);
		measure_report(name, value);
	}
}

static inline void kv_mix(const struct kv_run *run, struct kv_client *clients,
			  struct kv_drawer *drawer, const char *metric)
{
	int nr = run->m->workers;

	for (int i = 0; i < nr; i++) {
		for (uint64_t at = 0; at < clients[i].nr; at++)
			clients[i].draws[at] = kv_draw(drawer);
	}
	kv_report(run, metric,
		  (double)run->crowd(run, clients) /
			  (double)((uint64_t)nr * run->turns));
}

/* All mixtures, of keys that are there. */
static inline void kv_mixes(const struct kv_run *run)
{
	const struct measure *m = run->m;
	uint32_t nr_keys = kv_nr_keys(m);
	double *sums = kv_zipf_sums(m, nr_keys);
	struct kv_drawer equal = { 1, nr_keys, 0, NULL };
	struct kv_drawer zipf = { 2, nr_keys, 0, sums };
	static struct kv_client clients[KV_CLIENTS_MAX];

	MEASURE_CHECK(m, m->workers <= KV_CLIENTS_MAX);
	for (int i = 0; i < m->workers; i++) {
		uint32_t *draws = malloc(run->turns * sizeof(uint32_t));

		MEASURE_CHECK(m, draws != NULL);
		clients[i] =
			(struct kv_client){ m, run->side, draws, run->turns };
	}
	kv_mix(run, clients, &equal, "ns");
	equal.writes_pct = 100;
	kv_mix(run, clients, &equal, "set_ns");
	zipf.writes_pct = 50;
	kv_mix(run, clients, &zipf, "a_ns");
	zipf.writes_pct = 5;
	kv_mix(run, clients, &zipf, "b_ns");
	zipf.writes_pct = 0;
	kv_mix(run, clients, &zipf, "c_ns");
	for (int i = 0; i < m->workers; i++)
		free(clients[i].draws);
	free(sums);
}

static inline void kv_fill(const struct measure *m, const struct kv_side *side)
{
	struct kv_client client = { m, side, NULL, 0 };

	for (uint32_t i = 0; i < kv_nr_keys(m); i++)
		kv_write(&client, i);
}

/* Row `kv-local`; @run lacks .turns and .names. */
static inline void kv_local(struct kv_run *run)
{
	run->turns =
		measure_size(run->m, KV_TURNS) / (uint64_t)run->m->workers + 1;
	run->names[0] = "";
	kv_fill(run->m, run->side);
	kv_mixes(run);
}

#endif
