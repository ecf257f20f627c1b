/* SPDX-License-Identifier: MIT */
/*
 * rows.h - our side of each row.
 *
 * The rows are ordinary users of <sley/sley.h>: a program gets the same speed.  The
 * only exception is `switch`, a separate program.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "../measure.h"

#include <sley/sley.h>

void row_yield(const struct measure *m);
void row_create(const struct measure *m);
void row_spawn(const struct measure *m);
void row_chan(const struct measure *m);
void row_chan_cross(const struct measure *m);
void row_fanin(const struct measure *m);
void row_mutex(const struct measure *m);
void row_cond(const struct measure *m);
void row_blocked(const struct measure *m);
void row_urgent(const struct measure *m);
void row_timers_busy(const struct measure *m);
void row_outside(const struct measure *m);
void row_idle(const struct measure *m);
void row_rate(const struct measure *m);
void row_rwlock(const struct measure *m);
void row_sem(const struct measure *m);
void row_select(const struct measure *m);
void row_future(const struct measure *m);
void row_waitgroup(const struct measure *m);
void row_blocking(const struct measure *m);
void row_once(const struct measure *m);
void row_stock(const struct measure *m);
void row_timers(const struct measure *m);
void row_event_chain(const struct measure *m);
void row_fib(const struct measure *m);
void row_coarse(const struct measure *m);
void row_skynet(const struct measure *m);
void row_nqueens(const struct measure *m);
void row_uts(const struct measure *m);
void row_spawn_batch(const struct measure *m);
void row_matmul(const struct measure *m);
void row_for_tiny(const struct measure *m);
void row_for_saxpy(const struct measure *m);
void row_reduce(const struct measure *m);
void row_scan(const struct measure *m);
void row_sort(const struct measure *m);
void row_pingpong(const struct measure *m);
void row_pingpong_cross(const struct measure *m);
void row_count(const struct measure *m);
void row_fanin_actors(const struct measure *m);
void row_spawn_actors(const struct measure *m);
void row_ring(const struct measure *m);
void row_big(const struct measure *m);
void row_chameneos(const struct measure *m);
void row_idle_actors(const struct measure *m);
void row_idle_actors_10m(const struct measure *m);
void row_philosophers(const struct measure *m);
void row_bank(const struct measure *m);
void row_sieve(const struct measure *m);
void row_buffer(const struct measure *m);
void row_smokers(const struct measure *m);
void row_dictionary(const struct measure *m);
void row_radix(const struct measure *m);
void row_logmap(const struct measure *m);
void row_dag(const struct measure *m);
void row_dag_stencil(const struct measure *m);
void row_subprocess(const struct measure *m);
void row_io_echo(const struct measure *m);
void row_io_accept(const struct measure *m);
void row_io_file(const struct measure *m);
void row_route(const struct measure *m);
void row_route_queued(const struct measure *m);
void row_kv_local(const struct measure *m);
void row_kv(const struct measure *m);
void row_client_rtt(const struct measure *m);
void row_client_rate(const struct measure *m);
void row_client_big(const struct measure *m);
void row_periodic(const struct measure *m);
void row_policy(const struct measure *m);
void row_policy_none(const struct measure *m);
void row_policy_default(const struct measure *m);
void row_policy_none_inline(const struct measure *m);
void row_policy_default_inline(const struct measure *m);
void row_variety(const struct measure *m);
void row_variety_thread(const struct measure *m);
void row_broadcast(const struct measure *m);
void row_broadcast_tasks(const struct measure *m);
void row_domain_latency(const struct measure *m);
void row_domain_latency_outside(const struct measure *m);
void row_domain_yield(const struct measure *m);
void row_domain_hand_over(const struct measure *m);
void row_domain_coexec(const struct measure *m);
void row_domain_coexec_oversubscribed(const struct measure *m);
void row_domain_coexec_in_turn(const struct measure *m);
void row_domain_idle(const struct measure *m);
void row_levels(const struct measure *m);

/* Runs @root as the first task of a runtime. */
static inline void row_run_config(const struct sley_config *config,
				  sley_fn *root, void *arg)
{
	int err = sley_run(config, root, arg);

	if (err != 0) {
		fprintf(stderr, "sley_run: %s\n", sley_strerror(err));
		exit(1);
	}
}

/* The same, with m->workers workers. */
static inline void row_run(const struct measure *m, sley_fn *root, void *arg)
{
	row_run_config(SLEY_CONFIG(.workers = m->workers), root, arg);
}

#endif
