/* SPDX-License-Identifier: MIT */
/*
 * lease_peers.h - the table of a lease without other processes.
 *
 * A few cores under a mutex.  A core is free, has a worker, or is away: a peer has it.
 * The test plays the peers: it takes cores away, gives them back, and wants them.
 */
#ifndef SLEY_TESTS_UNIT_LEASE_PEERS_H
#define SLEY_TESTS_UNIT_LEASE_PEERS_H

#include "conformance/bound.h"

#include "core/sched/lease.h"
#include "core/sched/worker.h"
#include "os/futex.h"

#include <pthread.h>

#define PEERS_CORES 8
#define PEERS_NUMBER 5 /* of the one peer */

enum peers_core { CORE_NONE, CORE_FREE, CORE_BUSY, CORE_AWAY };

struct peers {
	pthread_mutex_t lock;
	struct sley *rt;
	enum peers_core core[PEERS_CORES];
	atomic_int wants; /* a peer wants a core for a task of this level     */
	atomic_int wished; /* 1 + the core that the tick asks for; 0: none     */
	atomic_bool
		refuses; /* the want is gone as soon as a core is offered    */
	atomic_int nr_busy, most_busy;
	atomic_int nr_away;
	atomic_int told_nr, told_level, nr_told;
	atomic_int nr_owed; /* cores given, and the peer was not woken since   */
	atomic_int told_when_woken; /* .told_nr                                */
	atomic_int nr_ticks, nr_calls;
	atomic_bool has_urgent; /* what the peers run is as urgent as anything */
	atomic_bool unfair; /* the next pick of an overtaker is not fair       */
	atomic_int nr_parked,
		nr_stood; /* calls of ->rest                             */
	atomic_int nr_started, started_level;
};

static inline void peers_init(struct peers *peers, int nr_cores)
{
	memset(peers, 0, sizeof(*peers));
	pthread_mutex_init(&peers->lock, NULL);
	atomic_store(&peers->wants, LEASE_NO_LEVEL);
	atomic_store(&peers->told_level, LEASE_NO_LEVEL);
	for (int i = 0; i < nr_cores; i++)
		peers->core[i] = CORE_FREE;
}

static inline struct peers *peers_call(void *arg)
{
	struct peers *peers = arg;

	atomic_fetch_add(&peers->nr_calls, 1);
	return peers;
}

/* The first core in the state @from, now in the state @to; or LEASE_NO_CORE. */
static inline int peers_move(struct peers *peers, enum peers_core from,
			     enum peers_core to)
{
	int found = LEASE_NO_CORE;

	pthread_mutex_lock(&peers->lock);
	for (int i = 0; i < PEERS_CORES && found < 0; i++) {
		if (peers->core[i] != from)
			continue;
		peers->core[i] = to;
		found = i;
	}
	pthread_mutex_unlock(&peers->lock);
	return found;
}

static inline int peers_take(void *arg, uint32_t *from)
{
	struct peers *peers = peers_call(arg);
	int core = peers_move(peers, CORE_FREE, CORE_BUSY), nr;

	*from = LEASE_NO_PEER;
	if (core < 0)
		return core;
	nr = atomic_fetch_add(&peers->nr_busy, 1) + 1;
	if (nr > atomic_load(&peers->most_busy))
		atomic_store(&peers->most_busy, nr);
	return core;
}

/* False: the core was away already. */
static inline bool peers_end(struct peers *peers, int core, enum peers_core to)
{
	bool busy;

	pthread_mutex_lock(&peers->lock);
	busy = peers->core[core] == CORE_BUSY;
	if (busy) {
		atomic_fetch_sub(&peers->nr_busy, 1);
		peers->core[core] = to;
		if (to == CORE_AWAY)
			atomic_fetch_add(&peers->nr_away, 1);
	}
	pthread_mutex_unlock(&peers->lock);
	return busy;
}

static inline uint32_t peers_put(void *arg, int core)
{
	(void)peers_end(peers_call(arg), core, CORE_FREE);
	return LEASE_NO_PEER;
}

static inline uint32_t peers_give(void *arg, int core, unsigned int level)
{
	struct peers *peers = peers_call(arg);
	int wished = core + 1;

	if (atomic_load(&peers->refuses))
		return LEASE_NO_PEER;
	if (!atomic_compare_exchange_strong(&peers->wished, &wished, 0) &&
	    atomic_load(&peers->wants) >= (int)level)
		return LEASE_NO_PEER;
	if (!peers_end(peers, core, CORE_AWAY))
		return LEASE_NO_PEER;
	atomic_fetch_add(&peers->nr_owed, 1);
	return PEERS_NUMBER;
}

static inline void peers_wake(void *arg)
{
	struct peers *peers = peers_call(arg);

	atomic_store(&peers->told_when_woken, atomic_load(&peers->told_nr));
	atomic_store(&peers->nr_owed, 0);
}

static inline bool peers_holds(void *arg, int core)
{
	struct peers *peers = peers_call(arg);
	bool holds;

	pthread_mutex_lock(&peers->lock);
	holds = peers->core[core] == CORE_BUSY;
	pthread_mutex_unlock(&peers->lock);
	return holds;
}

static inline bool peers_look(void *arg, unsigned int level)
{
	struct peers *peers = peers_call(arg);

	return atomic_load(&peers->wants) < (int)level;
}

static inline void peers_want(void *arg, unsigned int nr, unsigned int level)
{
	struct peers *peers = peers_call(arg);

	atomic_store(&peers->told_nr, (int)nr);
	atomic_store(&peers->told_level, (int)level);
	atomic_fetch_add(&peers->nr_told, 1);
}

static inline void peers_wait(void *arg, const uint32_t *word, uint32_t value,
			      uint64_t deadline_ns)
{
	struct peers *peers = peers_call(arg);
	bool free = false;

	pthread_mutex_lock(&peers->lock);
	for (int i = 0; i < PEERS_CORES; i++)
		free |= peers->core[i] == CORE_FREE;
	pthread_mutex_unlock(&peers->lock);
	if (!free)
		(void)os_futex_wait(word, value, deadline_ns);
}

static inline void peers_tick(void *arg, uint64_t now_ns)
{
	struct peers *peers = peers_call(arg);
	int wished = atomic_load(&peers->wished);

	(void)now_ns;
	atomic_fetch_add(&peers->nr_ticks, 1);
	if (wished)
		lease_ask(peers->rt, wished - 1);
}

static inline void peers_rest(void *arg, bool parks)
{
	struct peers *peers = peers_call(arg);

	atomic_fetch_add(parks ? &peers->nr_parked : &peers->nr_stood, 1);
}

static inline void peers_start(void *arg, unsigned int level)
{
	struct peers *peers = peers_call(arg);

	atomic_store(&peers->started_level, (int)level);
	atomic_fetch_add(&peers->nr_started, 1);
}

/* All that peers run is less urgent, unless the test says otherwise. */
static bool peers_overtakes(void *arg, unsigned int level)
{
	struct peers *peers = peers_call(arg);

	(void)level;
	if (atomic_load(&peers->unfair))
		worker_current()->tick = 0;
	return !atomic_load(&peers->has_urgent);
}

static const struct lease_ops peers_ops = {
	.take = peers_take,
	.put = peers_put,
	.give = peers_give,
	.wake = peers_wake,
	.holds = peers_holds,
	.look = peers_look,
	.overtakes = peers_overtakes,
	.want = peers_want,
	.wait = peers_wait,
	.tick = peers_tick,
	.rest = peers_rest,
	.start = peers_start,
};

/* A peer that has a core gives it back. */
static inline void peers_return(struct peers *peers)
{
	CHECK(peers_move(peers, CORE_AWAY, CORE_FREE) >= 0);
	atomic_fetch_sub(&peers->nr_away, 1);
	lease_kick(peers->rt);
}

/* One more core than before. */
static inline void peers_add(struct peers *peers)
{
	CHECK(peers_move(peers, CORE_NONE, CORE_FREE) >= 0);
	lease_kick(peers->rt);
}

static inline void peers_join(struct peers *peers, struct sley *rt,
			      const struct lease_terms *terms)
{
	peers->rt = rt;
	CHECK_EQ(lease_switch_on(rt, &peers_ops, peers, terms), 0);
}

static inline struct lease_counters counters_of(const struct sley *rt)
{
	struct lease_counters counters;

	lease_read_counters(rt, &counters);
	return counters;
}

/* No worker runs without a core any more: each has been in its loop since, or sleeps. */
static inline bool peers_settled(const struct sley *rt)
{
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		const struct worker *worker = rt->worker[i];

		if (lease_is_asked(&worker->lease) &&
		    !idle_is_parked(&worker->seat))
			return false;
	}
	return true;
}

#endif
