/* SPDX-License-Identifier: MIT */
/*
 * sizes.h - the sizes that our rows and the peers' have in common.
 *
 * They are here once so that nobody is measured at another size.  The Go peer
 * repeats those it needs, with the same names.
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
#define COND_TRIPS 500000
#define BLOCKED_FIBERS 1000000
#define BLOCKED_QUICK 10000
#define BLOCKED_STACK_KIB 16
#define WAKE_SAMPLES 400
#define WAKE_IDLE_NS 2000000 /* how long the pool sleeps before a wake */
#define IDLE_NS 5000000000u
#define RATE_NS 5000000000u
#define RATE_TASK_NS 1000000  /* one empty task each */
#define RWLOCK_TURNS 10000000 /* per task */
#define SEM_TURNS 10000000
#define SELECT_TRIPS 300000
#define FUTURE_TURNS 1000000
#define WAITGROUP_TURNS 20000000
#define BLOCKING_SAMPLES 2000
#define BLOCKING_PAUSE_NS 200000 /* long enough for everybody to park */
#define ONCE_TURNS 100000000
#define POOL_TURNS 5000000
#define POOL_CAPACITY 16
#define TIMERS 100000
#define TIMERS_STACK_KIB 16
#define CHAIN_LINKS 512
#define CHAINS 500

#endif
