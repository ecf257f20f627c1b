/* SPDX-License-Identifier: MIT */
/*
 * plan.c - the table of rows.  bench/README.md explains each row, and plan_find.c
 * looks rows and bars up.
 */
#include "plan.h"

/* The formatter would make the tables hard to read. */
/* clang-format off */
#define SLEY { .name = "sley", .program = "sley" }
#define BOOST_CONTEXT(as)                                                      \
	{ .name = "boost.context", .program = "boost.context",                 \
	  .package = "libboost-context-dev", .single = true, .row = (as) }
#define BOOST_FIBER                                                            \
	{ .name = "boost.fiber", .program = "boost.fiber",                     \
	  .package = "libboost-fiber-dev", .single = true }
#define TBB_AS(as)                                                             \
	{ .name = "tbb", .program = "tbb", .package = "libtbb-dev",            \
	  .row = (as) }
#define GO_AS(as)                                                              \
	{ .name = "go", .program = "go", .package = "golang-go", .row = (as) }
#define LIBGOMP_AS(as)                                                         \
	{ .name = "libgomp", .program = "libgomp", .package = "gcc",           \
	  .row = (as) }
#define LIBOMP_AS(as)                                                          \
	{ .name = "libomp", .program = "libomp",                               \
	  .package = "clang-14 libomp-14-dev", .row = (as) }
#define TBB TBB_AS(NULL)
#define GO GO_AS(NULL)
#define LIBGOMP LIBGOMP_AS(NULL)
#define LIBOMP LIBOMP_AS(NULL)
#define EPOLL { .name = "epoll", .program = "epoll" }
#define LIBUV                                                                  \
	{ .name = "libuv", .program = "libuv", .package = "libuv1-dev" }
#define FUTEX { .name = "futex", .program = "futex" }
#define PTHREAD { .name = "pthread", .program = "pthread" }
#define CACHELINE_AS(as)                                                       \
	{ .name = "cacheline", .program = "cacheline", .row = (as) }
#define CACHELINE CACHELINE_AS(NULL)
#define ERLANG                                                                 \
	{ .name = "erlang", .program = "erlang", .package = "erlang-base" }
#define CAF { .name = "caf", .program = "caf", .package = "libcaf-dev" }

#define STARPU                                                                 \
	{ .name = "starpu", .program = "starpu", .package = "libstarpu-dev" }

/* Separate programs, since OpenBLAS starts threads in a program that links it. */
#define SLEY_CHOLESKY                                                          \
	{ .name = "sley", .program = "sley-cholesky",                          \
	  .package = "libopenblas-dev" }
#define STARPU_CHOLESKY                                                        \
	{ .name = "starpu", .program = "starpu-cholesky",                      \
	  .package = "starpu-examples libopenblas-dev" }

#define SLEY_HTTP(needs)                                                       \
	{ .name = "sley", .program = "sley-http", .package = (needs) }
#define HTTP_NGINX                                                             \
	{ .name = "nginx", .program = "http-nginx",                            \
	  .package = "wrk nginx-light", .workers = 1 }
#define HTTP_H2O                                                               \
	{ .name = "h2o", .program = "http-h2o", .package = "wrk h2o",          \
	  .workers = 1 }
#define HTTP_GO                                                                \
	{ .name = "go", .program = "http-go", .package = "wrk golang-go",      \
	  .workers = 1 }

/* Another row of ours, in the same rounds. */
#define SLEY_AS(as) { .name = (as), .program = "sley", .row = (as) }

#define SERIAL { .name = "serial", .program = "serial", .workers = 1 }

/* The bar for two workers: sley with one worker, in the same rounds. */
#define SLEY_1 { .name = "sley-1", .program = "sley", .workers = 1 }
#define FASTER(metric, times) { (metric), "sley-1", 1.0 / (times), 0, 2 }

/* Where a second worker cannot help, the second worker does no harm. */
#define NOT_SLOWER(metric) { (metric), "sley-1", 1.2, 0, 2 }
#define DAG_NOT_SLOWER                                                         \
	NOT_SLOWER("run_ns"), NOT_SLOWER("explicit_ns"), NOT_SLOWER("infer_ns")

/* Ahead of all other systems with processes. */
#define AHEAD                                                                  \
	{ "ns", "erlang", 1.0, 0, 0 }, { "ns", "caf", 1.0, 0, 0 },             \
		{ "ns", "go", 1.0, 0, 0 }

/* No slower than an earlier build, in time and in instructions. */
#define AS_BEFORE(metric) { (metric), PLAN_BEFORE, 1.15, 0, 0 }
#define COUNTED_AS_BEFORE(factor)                                              \
	{ PLAN_INSTRUCTIONS, PLAN_BEFORE, (factor), 0, 1 }

#define KIB 1024.0

const struct plan_row plan_rows[] = {
	{
		.name = "switch",
		.about = "raw switch between two stacks, one way",
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,
		.peers = {
			{ .name = "sley", .program = "sley-switch" },
			BOOST_CONTEXT(NULL),
		},
		.bars = { { "ns", "boost.context", 0.8, 0, 0 } },
	},
	{
		.name = "yield",
		.about = "switch through the scheduler, one way, two fibers",
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,
		.peers = {
			SLEY, BOOST_CONTEXT("switch"), BOOST_FIBER, GO,
		},
		.bars = { { "ns", "boost.context", 2.5, 0, 0 } },
		.before = { AS_BEFORE("ns"), COUNTED_AS_BEFORE(1.15) },
	},
	{
		.name = "create",
		.about = "create, run, block once, resume, end, destroy a fiber",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, BOOST_CONTEXT(NULL) },
		.bars = { { "ns", "boost.context", 1.0, 0, 1 } },
	},
	{
		.name = "spawn",
		.about = "spawn and join empty tasks in batches of 1000, each",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, TBB, LIBGOMP, LIBOMP, GO },
		.bars = {
			{ "ns", "tbb", 0.5, 0, 1 },
			{ "ns", "tbb", 0.8, 0, 2 },
		},
		.before = { AS_BEFORE("ns"), COUNTED_AS_BEFORE(1.02) },
	},
	{
		.name = "chan",
		.about = "round trip over two channels without a buffer",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, BOOST_FIBER, GO },
		.bars = {
			{ "ns", "boost.fiber", 0.2, 0, 1 },
			{ "ns", "go", 0.2, 0, 1 },
		},
		.before = { AS_BEFORE("ns"), COUNTED_AS_BEFORE(1.02) },
	},
	{
		.name = "chan-cross",
		.about = "the same between two workers on two CPUs",
		.workers = { 2 }, .workers_min = 2, .workers_max = 2,
		.peers = { SLEY, CACHELINE },
		.bars = { { "ns", "cacheline", 2.0, 300, 0 } },
	},
	{
		.name = "fanin",
		.about = "8 producers, one channel of 1024, each message",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO },
		.bars = { { "ns", "go", 0.5, 0, 2 } },
	},
	{
		.name = "mutex",
		.about = "lock and unlock, uncontended",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO, BOOST_FIBER },
		.bars = { { "ns", "go", 1.3, 0, 1 } },
		.before = { AS_BEFORE("ns"), COUNTED_AS_BEFORE(1.15) },
	},
	{
		.name = "cond",
		.about = "round trip over a condition variable",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, BOOST_FIBER, GO },
		.bars = { { "ns", "boost.fiber", 0.2, 0, 1 } },
	},
	{
		.name = "blocked",
		.about = "1,000,000 blocked fibers: memory and time of each",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, BOOST_CONTEXT(NULL) },
		.bars = {
			{ "bytes", NULL, 0, 4.6 * KIB, 0 },
			{ "ns", "boost.context", 1.3, 0, 1 },
		},
	},
	{
		.name = "wake",
		.about = "submit to a pool asleep for 2 ms until the task runs",
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,
		.peers = {
			{ .name = "sley", .program = "sley-wake" }, FUTEX,
		},
		.bars = {
			{ "p50_ns", "futex", 1.2, 0, 0 },
			{ "uring_p50_ns", "futex", 1.3, 0, 0 },
			{ "epoll_p50_ns", "futex", 1.6, 0, 0 },
		},
	},
	{
		.name = "urgent",
		.about = "submit the most urgent task until it runs, all busy",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, FUTEX },
		.bars = {
			{ "fork_p50_ns", NULL, 0, 25000, 2 },
			{ "for_p50_ns", NULL, 0, 25000, 2 },
			{ "turn_p50_ns", NULL, 0, 25000, 2 },
			{ "node_p50_ns", NULL, 0, 25000, 2 },
			{ "fork_p99_ns", "futex", 1.0, 50000, 2 },
			{ "for_p99_ns", "futex", 1.0, 50000, 2 },
			{ "turn_p99_ns", "futex", 1.0, 50000, 2 },
			{ "node_p99_ns", "futex", 1.0, 50000, 2 },
		},
	},
	{
		.name = "timers-busy",
		.about = "how late a deadline is on a busy worker, less a task",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY },
		.bars = {
			{ "100us_p99_ns", NULL, 0, 1200000, 0 },
			{ "1ms_p99_ns", NULL, 0, 1200000, 0 },
		},
	},
	{
		.name = "outside",
		.about = "submit until the task runs, beside endless local work",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, TBB, GO },
		.bars = {
			{ "task_single_p50_ns", "tbb", 1.2, 0, 0 },
			{ "task_single_p99_ns", "tbb", 1.5, 0, 0 },
			{ "task_single_p99_ns", NULL, 0, 2005000, 0 },
			{ "task_burst_p50_ns", "tbb", 1.2, 0, 0 },
			{ "task_burst_p99_ns", "tbb", 1.5, 0, 0 },
			{ "root_single_p50_ns", "tbb", 1.2, 0, 0 },
			{ "root_single_p99_ns", "tbb", 1.5, 0, 0 },
			{ "root_single_p99_ns", NULL, 0, 3000000, 0 },
			{ "root_burst_p50_ns", "tbb", 1.2, 0, 0 },
			{ "root_burst_p99_ns", "tbb", 1.5, 0, 0 },
		},
	},
	{
		.name = "idle",
		.about = "CPU of an idle pool in 5 s",
		.workers = { 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, FUTEX },
		.bars = { { "cpu_ms", NULL, 0, 1.0, 0 } },
	},
	{
		.name = "rate",
		.about = "CPU of a pool at one empty task per ms",
		.workers = { 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, FUTEX, GO },
		.bars = { { "busy_pct", NULL, 0, 3.0, 0 } },
	},
	{
		.name = "rwlock",
		.about = "read lock and unlock, a task per worker, no writer",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO, PTHREAD },
		.bars = { { "ns", "go", 1.2, 0, 0 } },
	},
	{
		.name = "sem",
		.about = "acquire and release a unit, uncontended",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO, PTHREAD },
	},
	{
		.name = "select",
		.about = "round trip to a task that selects over two channels",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO },
		.bars = { { "ns", "go", 0.3, 0, 0 } },
		.before = { AS_BEFORE("ns"), COUNTED_AS_BEFORE(1.02) },
	},
	{
		.name = "future",
		.about = "spawn a task that completes a future, wait for it",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO, BOOST_FIBER },
	},
	{
		.name = "waitgroup",
		.about = "add and done, uncontended",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO },
		.bars = { { "ns", "go", 1.2, 0, 0 } },
	},
	{
		.name = "blocking",
		.about = "call an empty function on a parked thread, and return",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, FUTEX, PTHREAD },
		.bars = { { "p50_ns", "futex", 2.0, 0, 0 } },
	},
	{
		.name = "once",
		.about = "ask again for what has been done",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO, PTHREAD },
	},
	{
		.name = "stock",
		.about = "borrow an object of a stock and give it back",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO },
	},
	{
		.name = "timers",
		.about = "100,000 waits with a deadline, armed and cancelled, each",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO },
		.bars = { { "ns", "go", 0.5, 0, 0 } },
	},
	{
		.name = "event-chain",
		.about = "512 tasks, each waits for the one before it: a chain",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, GO, BOOST_FIBER },
	},
	{
		.name = "fib",
		.about = "fork one half, call the other, join: each fork",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true, .form = "plain_ns",
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = {
			{ "ns", "serial", 3.5, 0, 1 },
			{ "ns", "tbb", 0.05, 0, 1 },
			{ "plain_ns", "serial", 5.0, 0, 1 },
			FASTER("ns", 1.6), FASTER("plain_ns", 1.6),
		},
		.before = {
			AS_BEFORE("ns"), AS_BEFORE("plain_ns"),
			COUNTED_AS_BEFORE(1.02),
		},
	},
	{
		.name = "coarse",
		.about = "two halves of a second, nobody calls sley meanwhile",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = { FASTER("ms", 1.9) },
	},
	{
		.name = "skynet",
		.about = "a tree of ten ways, a million leaves: each child",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true, .form = "plain_ns",
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = {
			{ "ns", "serial", 2.5, 0, 1 },
			FASTER("ns", 1.6),
		},
	},
	{
		.name = "nqueens",
		.about = "13 queens, a child for each safe square: each child",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true, .form = "plain_ns",
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = {
			{ "ns", "serial", 1.1, 0, 1 },
			FASTER("ns", 1.8),
		},
	},
	{
		.name = "uts",
		.about = "an unbalanced tree 1596 deep: each node",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true, .form = "plain_ns",
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = {
			{ "ns", "serial", 1.5, 0, 1 },
			FASTER("ns", 1.6),
		},
	},
	{
		.name = "spawn-batch",
		.about = "fork and join empty children in batches of 1000, each",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true, .form = "plain_ns",
		.peers = {
			SLEY, SERIAL, TBB_AS("spawn"), LIBGOMP_AS("spawn"),
			LIBOMP_AS("spawn"), GO_AS("spawn"),
		},
		.bars = {
			{ "ns", "tbb", 0.15, 0, 1 },
			{ "ns", "tbb", 0.15, 0, 2 },
		},
	},
	{
		.name = "matmul",
		.about = "product of two matrices of 1024 x 1024, by quarters",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = { { "ms", "tbb", 1.05, 0, 2 } },
	},
	{
		.name = "for-tiny",
		.about = "a loop over 1,000 elements, nothing to do: each loop",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = {
			{ "ns", "tbb", 0.3, 0, 2 },
			{ "ns", "libgomp", 1.0, 0, 2 },
		},
	},
	{
		.name = "for-saxpy",
		.about = "y += a * x, 10,000,000 floats: each element",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = { { "ns", "tbb", 1.05, 0, 2 } },
	},
	{
		.name = "reduce",
		.about = "sum of 10,000,000 doubles: each element",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = { { "ns", "tbb", 1.05, 0, 2 } },
	},
	{
		.name = "scan",
		.about = "running sums of 10,000,000 integers: each element",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, SERIAL, TBB, LIBGOMP, LIBOMP, GO },
		.bars = { { "ns", "tbb", 1.05, 0, 2 } },
	},
	{
		.name = "sort",
		.about = "sort 10,000,000 random integers: each element",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true, .form = "generic_ns",
		.peers = { SLEY, SLEY_1, SERIAL, TBB },
		.bars = { { "ns", "tbb", 1.05, 0, 2 } },
	},
	{
		.name = "pingpong",
		.about = "a message to a process, and one back: both",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.form = "actor_ns",
		.peers = { SLEY, ERLANG, CAF, GO },
		.bars = {
			{ "ns", "erlang", 0.08, 0, 1 },
			{ "ns", "go", 0.2, 0, 1 },
		},
		.before = { AS_BEFORE("ns"), COUNTED_AS_BEFORE(1.02) },
	},
	{
		.name = "pingpong-cross",
		.about = "the same between two workers on two CPUs",
		.workers = { 2 }, .workers_min = 2, .workers_max = 2,
		.peers = {
			SLEY, CACHELINE_AS("chan-cross"), ERLANG, CAF, GO,
		},
		.bars = { { "ns", "cacheline", 2.0, 300, 0 } },
	},
	{
		.name = "count",
		.about = "messages to a process that counts, each",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, CAF, GO },
	},
	{
		.name = "fanin-actors",
		.about = "8 processes send to one, each message",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.form = "bounded_ns",
		.peers = { SLEY, ERLANG, CAF, GO },
		.bars = {
			{ "ns", "go", 0.4, 0, 2 },
			{ "ns", "erlang", 0.15, 0, 2 },
		},
	},
	{
		.name = "spawn-actors",
		.about = "a process begins, gets a message and ends, each",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.form = "actor_ns",
		.peers = { SLEY, ERLANG, CAF, GO },
		.bars = { { "ns", "erlang", 0.15, 0, 0 } },
	},
	{
		.name = "ring",
		.about = "1,000 processes, one token: each hop",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, CAF, GO },
		.bars = { AHEAD },
	},
	{
		.name = "big",
		.about = "120 processes ask each other: each question",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, CAF, GO },
		.bars = { AHEAD },
	},
	{
		.name = "chameneos",
		.about = "100 creatures meet in pairs: each meeting",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, CAF, GO },
		.bars = { AHEAD },
	},
	{
		.name = "idle-actors",
		.about = "1,000,000 processes that wait: memory of each",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, CAF, GO },
		.bars = { { "bytes", NULL, 0, 320, 0 } },
	},
	{
		.name = "idle-actors-10m",
		.about = "10,000,000 processes that wait: memory of all",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY },
		.bars = { { "gib", NULL, 0, 8, 0 } },
	},
	{
		.name = "philosophers",
		.about = "20 philosophers ask for forks: each meal",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, GO },
	},
	{
		.name = "bank",
		.about = "transfers among 1,000 accounts, each calls the other",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, GO },
	},
	{
		.name = "sieve",
		.about = "primes below 100,000 by a chain of processes: a number",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, GO },
	},
	{
		.name = "buffer",
		.about = "40 producers, 40 consumers, 50 places: each item",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, GO },
	},
	{
		.name = "smokers",
		.about = "200 smokers, one told after the other: each round",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, GO },
	},
	{
		.name = "dictionary",
		.about = "20 processes ask one, a tenth writes: each answer",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, GO },
	},
	{
		.name = "radix",
		.about = "50,000 numbers sorted bit by bit: each hop",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, GO },
	},
	{
		.name = "logmap",
		.about = "ten series, each with a computer: each term",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, ERLANG, GO },
	},
	{
		.name = "dag-chain",
		.about = "a graph, each node after the last one: each node",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, TBB, LIBGOMP, LIBOMP, STARPU },
		.bars = {
			{ "run_ns", "tbb", 0.5, 0, 1 },
			DAG_NOT_SLOWER,
		},
	},
	{
		.name = "dag-wavefront",
		.about = "a graph, each node after two neighbours: each node",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, TBB, LIBGOMP, LIBOMP, STARPU },
		.bars = {
			{ "run_ns", "tbb", 0.15, 0, 1 },
			{ "run_ns", "tbb", 0.2, 0, 2 },
			{ "infer_ns", "libgomp", 0.2, 0, 0 },
			{ "infer_ns", "starpu", 0.04, 0, 2 },
			DAG_NOT_SLOWER,
		},
		.before = {
			AS_BEFORE("explicit_ns"), AS_BEFORE("infer_ns"),
			AS_BEFORE("run_ns"), COUNTED_AS_BEFORE(1.02),
		},
	},
	{
		.name = "dag-tree",
		.about = "a graph, each node before two others: each node",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, TBB, LIBGOMP, LIBOMP, STARPU },
		.bars = {
			DAG_NOT_SLOWER,
		},
	},
	{
		.name = "dag-random",
		.about = "a graph, each node after up to four: each node",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, TBB, LIBGOMP, LIBOMP, STARPU },
		.bars = {
			DAG_NOT_SLOWER,
		},
	},
	{
		.name = "dag-stencil",
		.about = "rows of cells, each from three of the last row",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY, SLEY_1, LIBGOMP, LIBOMP, STARPU },
		.bars = {
			{ "metg8_ns", "libgomp", 0.35, 0, 2 },
			{ "metg64_ns", "libgomp", 0.35, 0, 2 },
			NOT_SLOWER("empty8_ns"), NOT_SLOWER("empty64_ns"),
		},
	},
	{
		.name = "cholesky",
		.about = "a matrix of floats factored tile by tile, OpenBLAS",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.calibrated = true,
		.peers = { SLEY_CHOLESKY, STARPU_CHOLESKY },
		.bars = {
			{ "2k_64_gflops", "starpu", 1.2, 0, 2 },
			{ "2k_192_gflops", "starpu", 0.97, 0, 2 },
			{ "2k_256_gflops", "starpu", 0.97, 0, 2 },
			{ "2k_320_gflops", "starpu", 0.97, 0, 2 },
			{ "4k_64_gflops", "starpu", 1.2, 0, 2 },
			{ "4k_192_gflops", "starpu", 0.97, 0, 2 },
			{ "4k_256_gflops", "starpu", 0.97, 0, 2 },
			{ "4k_320_gflops", "starpu", 0.97, 0, 2 },
		},
	},
	{
		.name = "subprocess",
		.about = "a call of a function in a subprocess",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = {
			SLEY, CACHELINE_AS("chan-cross"), FUTEX,
		},
		.bars = {
			{ "ns", "cacheline", 2.0, 600, 0 },
			{ "p50_ns", "futex", 1.4, 0, 0 },
			{ "epoll_p50_ns", "futex", 1.8, 0, 0 },
		},
	},
	{
		.name = "route",
		.about = "a request to a pool, on the stack of the caller",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, SLEY_AS("spawn") },
		.bars = { { "ns", "spawn", 3.0, 0, 0 } },
	},
	{
		.name = "route-queued",
		.about = "a request to a pool as a task, and a wait for it",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, SLEY_AS("future") },
		.bars = { { "ns", "future", 2.0, 0, 0 } },
	},
	{
		.name = "policy",
		.about = "the same under each policy that is built in",
		.workers = { 1 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY },
		.bars = {
			{ "queued_instructions", NULL, 0, 120, 1 },
			{ "inline_instructions", NULL, 0, 120, 1 },
		},
	},
	{
		.name = "kv-local",
		.about = "a key read or written by tasks, a million keys",
		.workers = { 2 }, .workers_min = 1, .workers_max = 64,
		.peers = {
			SLEY,
			{ .name = "table", .program = "kv-table" },
			{ .name = "redis", .program = "kv-redis",
			  .package = "redis", .workers = 1 },
		},
		.bars = {
			{ "ns", "table", 2.5, 0, 0 },
			{ "ns", "redis", 0.05, 0, 0 },
		},
	},
	{
		.name = "periodic",
		.about = "how late periodic requests are on busy workers, less a task",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = {
			SLEY, { .name = "timerfd", .program = "timerfd" },
		},
		.bars = {
			{ "p99_ns", NULL, 0, 1200000, 0 },
			{ "idle_pct", NULL, 0, 2, 0 },
		},
	},
	{
		.name = "variety",
		.about = "requests of 1 us beside long ones, a worker held",
		.workers = { 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY, SLEY_AS("variety-thread") },
		.bars = { { "p99_ns", "variety-thread", 3.0, 0, 2 } },
	},
	{
		.name = "broadcast",
		.about = "a request to 1, 4, 16 and 64 containers, per container",
		.workers = { 1, 2 }, .workers_min = 1, .workers_max = 64,
		.peers = {
			SLEY,
			{ .name = "tasks", .program = "sley",
			  .row = "broadcast-tasks" },
		},
	},
	{
		.name = "io-echo",
		.about = "CPU of a server for each message sent back, 64 fibers",
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,
		.peers = { SLEY, EPOLL, LIBUV },
		.bars = {
			{ "ns", "epoll", 1.1, 0, 0 },
			{ "many_ns", "epoll", 1.2, 0, 0 },
			{ "one_ns", "epoll", 1.15, 0, 0 },
			{ "one_spin_ns", "epoll", 1.5, 0, 0 },
			{ "one_p50_ns", "epoll", 1.0, 0, 0 },
		},
	},
	{
		.name = "io-accept",
		.about = "CPU of a server for each connection, accept and close",
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,
		.form = "task_ns",
		.peers = {
			SLEY, EPOLL, LIBUV,
			{ .name = "uring", .program = "uring" },
		},
		.bars = {
			{ "ns", "epoll", 1.25, 0, 0 },
			{ "one_ns", "epoll", 1.25, 0, 0 },
		},
	},
	{
		.name = "io-file",
		.about = "reads of a file: from the page cache, and direct",
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,
		.peers = {
			SLEY, { .name = "pread", .program = "pread" },
			{ .name = "fio", .program = "fio", .package = "fio" },
		},
		.bars = {
			{ "ns", "pread", 1.15, 0, 0 },
			{ "large_ns", "pread", 1.15, 0, 0 },
			{ "direct_ns", "fio", 1 / 0.9, 0, 0 },
		},
	},
	{
		.name = "http-hello",
		.about = "CPU of a server for each request, 64 connections",
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,
		.peers = {
			SLEY_HTTP("wrk"),
			{ .name = "epoll", .program = "http-epoll",
			  .package = "wrk" },
			HTTP_NGINX, HTTP_H2O,
			{ .name = "libuv", .program = "http-libuv",
			  .package = "wrk libuv1-dev" },
			HTTP_GO,
		},
		.bars = {
			{ "ns", "nginx", 0.95, 0, 0 },
			{ "ns", "epoll", 1.2, 0, 0 },
			{ "ns", "go", 0.55, 0, 0 },
			{ "wall_ns", "nginx", 1 / 0.9, 0, 0 },
			{ "p99_ns", "nginx", 1.1, 0, 0 },
			{ "pipelined_ns", "nginx", 0.2, 0, 0 },
			{ "pipelined_ns", "epoll", 1.8, 0, 0 },
		},
	},
	{
		.name = "http-file",
		.about = "CPU of a server for each file, 64 connections",
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,
		.peers = { SLEY_HTTP("wrk"), HTTP_NGINX, HTTP_H2O, HTTP_GO },
		.bars = {
			{ "4k_ns", "nginx", 1.0, 0, 0 },
			{ "1m_ns", "nginx", 1.0, 0, 0 },
		},
	},
	{
		.name = "http-idle",
		.about = "10,000 idle connections: memory, wake-ups in 10 s",
		.workers = { 2 }, .workers_min = 1, .workers_max = 64,
		.peers = { SLEY_HTTP(NULL), HTTP_NGINX, HTTP_H2O, HTTP_GO },
		.bars = {
			{ "bytes", NULL, 0, 4.6 * KIB, 0 },
			{ "sleeps", NULL, 0, 0, 0 },
		},
	},
	{
		.name = "http-busy",
		.about = "a request while a task holds one of two workers",
		.workers = { 2 }, .workers_min = 2, .workers_max = 64,
		.peers = {
			{ .name = "sley", .program = "sley-http-busy" },
			{ .name = "thread", .program = "sley-http-busy",
			  .row = "http-busy-thread" },
		},
		.bars = { { "p99_ns", "thread", 2.0, 0, 0 } },
	},
};
/* clang-format on */

const size_t plan_nr_rows = sizeof(plan_rows) / sizeof(plan_rows[0]);
