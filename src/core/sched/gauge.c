/* SPDX-License-Identifier: MIT */
/*
 * gauge.c - see gauge.h.
 */
#include "core/sched/gauge.h"

#include "core/sched/worker.h"

uint32_t gauge_mean(uint32_t mean, uint64_t ns, uint64_t idle_ns)
{
	uint64_t busy_ns = idle_ns < ns ? ns - idle_ns : 0;
	unsigned int shift = ns >> 40 ? 24 : 0; /* no overflow below */
	int64_t share, change;

	if (!ns)
		return mean;
	share = (int64_t)((busy_ns >> shift) * GAUGE_FULL / (ns >> shift));
	if (ns >= GAUGE_MEAN_NS)
		return (uint32_t)share;
	change = (share - (int64_t)mean) * (int64_t)ns / (int64_t)GAUGE_MEAN_NS;
	return (uint32_t)((int64_t)mean + change);
}

/* How long @worker has been idle in all, until @now_ns. */
static uint64_t idle_until(const struct worker *worker, uint64_t now_ns)
{
	/* relaxed: hints; a sum that is one idle time too small is put right. */
	uint64_t since_ns = load_relaxed(&worker->idle.since_ns);
	/* relaxed: the same. */
	uint64_t total_ns = load_relaxed(&worker->idle.total_ns);

	if (since_ns && since_ns < now_ns)
		total_ns += now_ns - since_ns;
	return total_ns;
}

uint32_t gauge_load(const struct worker *worker, uint64_t now_ns)
{
	const struct gauge_load *load = &worker->load;
	/* relaxed: hints. */
	uint64_t seen_ns = load_relaxed(&load->seen_ns);
	uint64_t idle_ns = idle_until(worker, now_ns);
	/* relaxed: hints. */
	uint64_t idle_seen_ns = load_relaxed(&load->idle_ns);

	idle_ns = idle_ns > idle_seen_ns ? idle_ns - idle_seen_ns : 0;
	/* relaxed: hints. */
	return gauge_mean(load_relaxed(&load->mean),
			  now_ns > seen_ns ? now_ns - seen_ns : 0, idle_ns);
}

/* A number that changes with each task that ends, and with each switch. */
static uint64_t progress(const struct worker *worker)
{
	const struct worker_counters *counters = &worker->counters;

	return counter_read(&counters->finished) +
	       counter_read(&counters->switches) +
	       counter_read(&counters->turns);
}

bool gauge_is_held(const struct worker *worker)
{
	const struct gauge_load *load = &worker->load;

	/* relaxed: hints. */
	return unlikely(load_relaxed(&load->held)) &&
	       load_relaxed(&load->held_at) == progress(worker);
}

#ifndef SLEY_MODEL
/* The worker has done @nothing since the last look. */
static void see_held(struct worker *worker, bool nothing, uint64_t now_ns)
{
	struct gauge_load *load = &worker->load;

	/* relaxed: the monitor's own. */
	uint64_t idle_ns = load_relaxed(&load->idle_ns);

	/* A worker that was idle meanwhile has begun its task since. */
	if (!nothing || idle_until(worker, now_ns) != idle_ns)
		load->moved_ns = now_ns;
	/* relaxed: hints; the monitor is the only writer. */
	store_relaxed(&load->held_at, progress(worker));
	/* relaxed: the same. */
	store_relaxed(&load->held, now_ns - load->moved_ns >= GAUGE_HELD_NS);
}

void gauge_see(struct worker *worker, bool nothing, uint64_t now_ns)
{
	uint32_t mean = gauge_load(worker, now_ns);

	see_held(worker, nothing, now_ns);
	/* relaxed: hints; the monitor is the only writer. */
	store_relaxed(&worker->load.mean, mean);
	/* relaxed: the same. */
	store_relaxed(&worker->load.idle_ns, idle_until(worker, now_ns));
	/* relaxed: the same. */
	store_relaxed(&worker->load.seen_ns, now_ns);
}
#endif

static void read_lengths(const struct worker *worker,
			 struct sley_worker_stats *out)
{
	out->ring = ring_size(&worker->ring);
	out->next = !next_empty(&worker->next);
	/* relaxed: hints. */
	out->lane = load_relaxed(&worker->nr_lane.nr);
	/* relaxed: hints. */
	out->home = load_relaxed(&worker->nr_home.nr);
	out->own = levels_length(&worker->ready);
	out->ready = out->ring + out->next + out->lane + out->home + out->own;
}

uint32_t gauge_bound(const struct worker *worker)
{
	/* relaxed: hints. */
	return load_relaxed(&worker->nr_home.nr) +
	       levels_length(&worker->ready);
}

uint32_t gauge_ready(const struct worker *worker)
{
	struct sley_worker_stats lengths;

	read_lengths(worker, &lengths);
	return lengths.ready;
}

void gauge_worker_stats(const struct worker *worker, uint64_t now_ns,
			struct sley_worker_stats *out)
{
	const struct worker_counters *counters = &worker->counters;
	uint64_t load = gauge_load(worker, now_ns);

	*out = (struct sley_worker_stats){
		.size = sizeof(*out),
		.load = (uint32_t)((load * 1000 + GAUGE_FULL / 2) / GAUGE_FULL),
		.finished = counter_read(&counters->finished),
		.switches = counter_read(&counters->switches),
		.steals = counter_read(&counters->steals),
		.parks = counter_read(&counters->parks),
		.timers = timers_pending(&worker->timers),
		.asleep = idle_is_parked(&worker->seat),
	};
	read_lengths(worker, out);
}
