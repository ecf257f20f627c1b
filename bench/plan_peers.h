/* SPDX-License-Identifier: MIT */
/*
 * plan_peers.h - participants and bars that several rows of the plan have.
 */
#ifndef BENCH_PLAN_PEERS_H
#define BENCH_PLAN_PEERS_H

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
#define DESCRIPTORS(as, of)                                                    \
	{ .name = (as), .program = "descriptors", .row = (of) }
#define SHARED_MEMORY(as) { .name = (as), .program = "shared-memory" }
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
/* clang-format on */

#endif
