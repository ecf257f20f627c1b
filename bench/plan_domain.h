/* SPDX-License-Identifier: MIT */
/*
 * plan_domain.h - the rows of the plan about processes that share the cores.
 */
#ifndef BENCH_PLAN_DOMAIN_H
#define BENCH_PLAN_DOMAIN_H

#include "plan_peers.h"

/* clang-format off */
#define THREADS_AS(as, of)                                                     \
	{ .name = (as), .program = "overtake-threads", .row = (of) }
/* A hand-over of a core, as measured in the same run. */
#define HAND_OVER                                                              \
	{ .name = "hand-over", .program = "sley", .row = "domain-hand-over" }

#define PLAN_DOMAIN_ROWS                                                       \
	{                                                                      \
		.name = "domain-latency",                                      \
		.about = "1,000 urgent tasks a second beside two processes",   \
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,          \
		.peers = {                                                     \
			SLEY, HAND_OVER,                                       \
			THREADS_AS("plain", "domain-latency-plain"),           \
			THREADS_AS("nice", "domain-latency-nice"),             \
			THREADS_AS("fifo", "domain-latency-fifo"),             \
			{ .name = "outside", .program = "sley",                \
			  .row = "domain-latency-outside" },                   \
		},                                                             \
		.bars = {                                                      \
			{ "yield_p99_ns", "hand-over", 4.0, 100000, 0 },       \
			{ "yield_p99_ns", "plain", 0.3, 0, 0 },                \
			{ "long_p99_ns", "fifo", 3.0, 0, 0 },                  \
			{ "yield_lost_pct", NULL, 0, 5, 0 },                   \
			{ "long_lost_pct", NULL, 0, 5, 0 },                    \
		},                                                             \
	},                                                                     \
	{                                                                      \
		.name = "domain-yield",                                        \
		.about = "a core goes over to another process, on one CPU",    \
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,          \
		.peers = { SLEY, FUTEX },                                      \
		.bars = { { "ns", "futex", 1.5, 0, 0 } },                      \
	},                                                                     \
	{                                                                      \
		.name = "domain-coexec",                                       \
		.about = "two programs of loops on the same cores",            \
		.workers = { 2 }, .workers_min = 1, .workers_max = 64,         \
		.peers = {                                                     \
			SLEY,                                                  \
			{ .name = "oversubscribed", .program = "sley",         \
			  .row = "domain-coexec-oversubscribed" },             \
			{ .name = "in-turn", .program = "sley",                \
			  .row = "domain-coexec-in-turn" },                    \
		},                                                             \
		.bars = {                                                      \
			{ "ns", "oversubscribed", 1.1, 0, 0 },                 \
			{ "ns", "in-turn", 1.1, 0, 0 },                        \
		},                                                             \
	},                                                                     \
	{                                                                      \
		.name = "domain-idle",                                         \
		.about = "instructions of other rows, alone in a domain",      \
		.workers = { 1 }, .workers_min = 1, .workers_max = 1,          \
		.peers = { SLEY },                                             \
		.bars = {                                                      \
			{ "spawn_times", NULL, 0, 1.03, 0 },                   \
			{ "yield_times", NULL, 0, 1.03, 0 },                   \
			{ "pingpong_times", NULL, 0, 1.03, 0 },                \
		},                                                             \
	},                                                                     \
	{                                                                      \
		.name = "levels",                                              \
		.about = "eight levels of 64 sources, in two processes",       \
		.workers = { 2 }, .workers_min = 2, .workers_max = 2,          \
		.peers = { SLEY, HAND_OVER },                                  \
		.bars = {                                                      \
			{ "late_p99_ns", "hand-over", 1.0, 0, 0 },             \
			{ "share_pct", NULL, 0, 10, 0 },                       \
		},                                                             \
	},
/* clang-format on */

#endif
