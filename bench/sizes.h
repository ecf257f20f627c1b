/* SPDX-License-Identifier: MIT */
/*
 * sizes.h - the sizes that our rows and the peers' have in common.
 *
 * The sizes are defined once, so that all participants are measured at the same
 * size.  The peers in Go and Erlang repeat some sizes, with the same names.
 */
#ifndef BENCH_SIZES_H
#define BENCH_SIZES_H

#define SPAWN_BATCH 1000      /* tasks spawned before a join */
#define SPAWN_BATCHES 2000    /* per measurement */
#define CREATE_BATCH 16       /* fibers alive at the same time */
#define CREATE_BATCHES 50000  /* per measurement */
#define SWITCH_TURNS 10000000 /* there and back again */
#define YIELD_TURNS 2000000   /* per fiber */
#define CHAN_TRIPS 500000     /* there and back again */
#define FANIN_PRODUCERS 8
#define FANIN_CAPACITY 1024
#define FANIN_EACH 250000 /* messages of one producer */
#define MUTEX_TURNS 20000000
#define ROUTE_TURNS 5000000
#define KV_KEYS 1000000
#define KV_TURNS 4000000
#define PERIODIC_NS 5000000u /* the period of a request               */
#define PERIODIC_BUSY 8      /* requests beside busy tasks            */
#define PERIODIC_RUNS 500    /* of each                               */
#define PERIODIC_IDLE 1000   /* requests that have nothing to do      */
#define PERIODIC_IDLE_NS 3000000000u
#define POLICY_TURNS 2000000
#define POLICY_COUNTED 100000    /* requests under valgrind            */
#define VARIETY_NS 6000000000ull /* the hog holds a sixth of it, twice */
#define BROADCAST_PARTS 2000000
#define COND_TRIPS 500000
#define BLOCKED_FIBERS 1000000
#define BLOCKED_QUICK 10000
#define BLOCKED_STACK_KIB 16
#define WAKE_SAMPLES 400
#define WAKE_IDLE_NS 2000000 /* the pool sleeps so long before a wake */
#define URGENT_SAMPLES 1000
#define URGENT_PAUSE_NS 10000000 /* between two submissions */
#define URGENT_FIB 27
#define URGENT_FIB_IS 196418
#define URGENT_PIECES 1000000
#define TIMERS_BUSY_SAMPLES 500
#define OUTSIDE_SAMPLES 10000 /* one by one, and again in bursts */
#define OUTSIDE_PAUSE_NS 1000000
#define OUTSIDE_BURST 1000
#define OUTSIDE_BURST_PAUSE_NS 20000000
#define OUTSIDE_TASK_NS 5000
#define OUTSIDE_LEAF_NS 15625 /* of 64: a root of a millisecond */
#define OUTSIDE_DEPTH 6
#define IDLE_NS 5000000000u
#define RATE_NS 5000000000u
#define RATE_TASK_NS 1000000  /* one empty task each */
#define RWLOCK_TURNS 10000000 /* per task */
#define SEM_TURNS 10000000
#define SELECT_TRIPS 300000
#define FUTURE_TURNS 1000000
#define WAITGROUP_TURNS 20000000
#define BLOCKING_SAMPLES 2000
#define BLOCKING_PAUSE_NS 200000 /* long enough for all to park */
#define ONCE_TURNS 100000000
#define POOL_TURNS 5000000
#define POOL_CAPACITY 16
#define TIMERS 100000
#define TIMERS_STACK_KIB 16
#define CHAIN_LINKS 512
#define CHAINS 500
#define SUBPROCESS_TRIPS 200000 /* there and back again */
#define SUBPROCESS_CALLERS 16

/* ---- client processes ---------------------------------------------------------- */

#define CLIENT_TRIPS 200000 /* there and back again, both sides spin */
#define CLIENT_BATCH 64
#define CLIENT_BATCHES 10000 /* of one client */
#define CLIENT_SINGLES 30000
#define CLIENT_BIG (1u << 20)
#define CLIENT_BIG_TRIPS 500
#define KV_CLIENT_TURNS 60000 /* of one client, one at a time */

/* ---- processes that share the cores ---------------------------------------------- */

#define OVERTAKE_SAMPLES 3000 /* urgent tasks, 1,000 a second             */
#define OVERTAKE_PAUSE_NS 1000000u
#define OVERTAKE_NS 50000u /* of an urgent task                          */
#define OVERTAKE_TASK_PIECES 500 /* of 10 us: 5 ms                       */
#define OVERTAKE_YIELD_PIECES 10 /* between two yields: 100 us           */
#define OVERTAKE_NEVER UINT32_MAX
#define OVERTAKE_BASE_NS 1000000000u
#define HAND_OVER_ROUNDS 200  /* of some sixty hand-overs                 */
#define HAND_OVER_TRIPS 20000 /* two hand-overs each                     */
#define COEXEC_LOOPS 200
#define COEXEC_PIECES 32
#define COEXEC_PIECE_NS 100000u
#define LEVELS_NR 8
#define LEVELS_SOURCES 64 /* of each level                               */
#define LEVELS_NS 10000000000u
#define LEVELS_PERIOD_NS 100000000u
#define LEVELS_PIECE_NS 600000u /* all sources want 1.5 of two CPUs      */

/* ---- input and output --------------------------------------------------------- */

#define ECHO_MESSAGES 300000
#define ECHO_MESSAGES_ONE 30000
#define ACCEPT_CONNECTIONS 50000
#define ACCEPT_CONNECTIONS_ONE 20000
#define ACCEPT_BURST 64 /* at a time */
#define FILE_CACHED_SIZE (16u << 20)
#define FILE_READS 500000
#define FILE_READS_LARGE 5000
#define FILE_DIRECT_SIZE (1u << 30)
#define FILE_DIRECT_QUICK (4u << 20)
#define FILE_DIRECT_READS 64000
#define FILE_DIRECT_DEPTH 32

/* ---- processes and their messages --------------------------------------------- */

#define PINGPONG_TRIPS 500000
#define PINGPONG_CROSS_SLOW 10000 /* for peers that sleep meanwhile */
#define COUNT_MESSAGES 2000000
#define SPAWN_ACTORS_BATCHES 500 /* of SPAWN_BATCH */
#define RING_PROCESSES 1000
#define RING_HOPS 1000000
#define BIG_PROCESSES 120
#define BIG_PINGS 5000 /* per process */
#define CHAMENEOS 100
#define CHAMENEOS_MEETINGS 200000
#define IDLE_ACTORS 1000000
#define IDLE_ACTORS_QUICK 1000
#define IDLE_ACTORS_MANY 10000000
#define PHILOSOPHERS 20
#define PHILOSOPHERS_MEALS 10000 /* each */
#define BANK_ACCOUNTS 1000
#define BANK_TRANSFERS 100000
#define SIEVE_NUMBERS 100000
#define SIEVE_PRIMES 100 /* of one process */
#define BUFFER_ENDS 40   /* producers, and as many consumers */
#define BUFFER_SLOTS 50
#define BUFFER_ITEMS 5000 /* per producer */
#define SMOKERS 200
#define SMOKERS_ROUNDS 500000
#define DICTIONARY_WORKERS 20
#define DICTIONARY_ASKS 20000 /* per worker */
#define DICTIONARY_KEYS 4096
#define RADIX_BITS 20
#define RADIX_NUMBERS 50000
#define LOGMAP_SERIES 10
#define LOGMAP_TERMS 25000 /* each */

#endif
