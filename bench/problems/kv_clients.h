/* SPDX-License-Identifier: MIT */
/*
 * kv_clients.h - the row `kv`: the work of kv.h by processes that reach the store in
 * another process, each with one request at a time.
 *
 *   ns, set_ns, a_ns, b_ns, c_ns  as in kv.h: a second over the requests of a second, of
 *                                 all clients together
 *   p50_ns                        with one client, of `ns`: the median (blocks.h)
 *   parked_...                    the same, where a side that waits does not spin
 */
#ifndef BENCH_PROBLEMS_KV_CLIENTS_H
#define BENCH_PROBLEMS_KV_CLIENTS_H

#include "blocks.h"
#include "kv.h"

#define KV_BLOCK 64

/* How a client process gets to the store. */
struct kv_clients {
	const struct measure *m;
	/* Called in the client; @side gets the functions. */
	void (*open)(const struct kv_clients *clients, struct kv_side *side);
	void *arg;
	struct blocks blocks; /* of the first client                         */
};

/* All clients of a mixture. */
struct kv_crowd {
	struct kv_clients *clients;
	const struct kv_client *work; /* of each                             */
};

static inline void kv_clients_work(struct crowd_member *member)
{
	const struct kv_crowd *crowd = member->arg;
	struct kv_client client = crowd->work[member->nth];
	struct blocks *blocks = &crowd->clients->blocks;
	struct kv_side side;

	crowd->clients->open(crowd->clients, &side);
	client.side = &side;
	for (uint64_t i = 0; i < client.nr / 10; i++)
		kv_read(&client, client.draws[i] & ~KV_WRITES);
	crowd_begin(member);
	blocks_begin(blocks);
	for (uint64_t i = 0; i < client.nr; i++) {
		kv_turn(&client, client.draws[i]);
		if (member->nth == 0)
			blocks_count(blocks);
	}
}

/* The kernel places all processes, also if there is only one client. */
static inline uint64_t kv_clients_crowd(const struct kv_run *run,
					struct kv_client *work)
{
	struct kv_clients *clients = run->arg;
	struct kv_crowd crowd = { clients, work };
	bool first = clients->blocks.ns == NULL;
	uint64_t ns;

	if (first)
		blocks_init(&clients->blocks, run->m, KV_BLOCK, run->turns);
	ns = crowd_run_unpinned(run->m, kv_clients_work, &crowd);
	if (first && run->m->workers == 1)
		kv_report(run, "p50_ns",
			  blocks_median(&clients->blocks) / KV_BLOCK);
	return ns;
}

/* Measures once, and reports under each of the @names. */
static inline void kv_clients_run(struct kv_clients *clients,
				  const char *const names[2])
{
	struct kv_run run = { .m = clients->m,
			      .crowd = kv_clients_crowd,
			      .arg = clients,
			      .turns =
				      measure_size(clients->m, KV_CLIENT_TURNS),
			      .names = { names[0], names[1], NULL } };

	clients->blocks.ns = NULL;
	kv_mixes(&run);
	blocks_free(&clients->blocks);
}

#endif
