/* SPDX-License-Identifier: MIT */
/*
 * main.c - the program `sley`: all our rows but the raw switch.
 */
#include "rows.h"

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "yield", row_yield },
		{ "create", row_create },
		{ "spawn", row_spawn },
		{ "chan", row_chan },
		{ "fanin", row_fanin },
		{ "chan-cross", row_chan_cross },
		{ "mutex", row_mutex },
		{ "cond", row_cond },
		{ "blocked", row_blocked },
		{ "wake", row_wake },
		{ "idle", row_idle },
		{ "rate", row_rate },
		{ "rwlock", row_rwlock },
		{ "sem", row_sem },
		{ "select", row_select },
		{ "future", row_future },
		{ "blocking", row_blocking },
		{ "once", row_once },
		{ "pool", row_pool },
		{ "timers", row_timers },
		{ "waitgroup", row_waitgroup },
		{ "event-chain", row_event_chain },
		{ "fib", row_fib },
		{ "coarse", row_coarse },
		{ "skynet", row_skynet },
		{ "nqueens", row_nqueens },
		{ "uts", row_uts },
		{ "spawn-batch", row_spawn_batch },
		{ "matmul", row_matmul },
		{ "for-tiny", row_for_tiny },
		{ "for-saxpy", row_for_saxpy },
		{ "reduce", row_reduce },
		{ "scan", row_scan },
		{ "sort", row_sort },
		{ "pingpong", row_pingpong },
		{ "pingpong-cross", row_pingpong_cross },
		{ "count", row_count },
		{ "fanin-actors", row_fanin_actors },
		{ "spawn-actors", row_spawn_actors },
		{ "ring", row_ring },
		{ "big", row_big },
		{ "chameneos", row_chameneos },
		{ "idle-actors", row_idle_actors },
		{ "idle-actors-10m", row_idle_actors_10m },
		{ "philosophers", row_philosophers },
		{ "bank", row_bank },
		{ "sieve", row_sieve },
		{ "buffer", row_buffer },
		{ "smokers", row_smokers },
		{ "dictionary", row_dictionary },
		{ "radix", row_radix },
		{ "logmap", row_logmap },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
