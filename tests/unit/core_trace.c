/* SPDX-License-Identifier: MIT */
/*
 * core_trace.c - tracks of the flight recorder, and what asks for a full one.
 */
#include "harness/test.h"

#include "core/trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct trace trace;
static struct trace_ring ring;
static struct mem mem;

static void begin(const char *setting)
{
	mem_init(&mem, NULL);
	trace_init(&trace, setting, 2);
	CHECK_EQ(trace_ring_init(&ring, &trace, &mem), 0);
}

static void end(void)
{
	trace_ring_fini(&ring, &mem);
	trace_free_kept(&trace, &mem);
	CHECK_EQ(mem_allocated(&mem), 0);
}

static const struct trace_record *newest(void)
{
	struct trace_track *track = ring.track;

	return &track->record[(track->head - 1) & (track->capacity - 1)];
}

TEST(nothing_asked_for_is_a_sparse_trace)
{
	trace_init(&trace, NULL, 2);
	CHECK(!trace.full);
	trace_init(&trace, "", 2);
	CHECK(!trace.full);
	CHECK(!trace.too_long);
}

TEST(the_word_full_names_a_file_after_the_process)
{
	char expected[64];

	(void)snprintf(expected, sizeof(expected), "sley-trace.%d.json",
		       (int)getpid());
	trace_init(&trace, "full", 2);
	CHECK(trace.full);
	CHECK_STR(trace.path, expected);
	trace_init(&trace, "full:", 2);
	CHECK(trace.full);
	CHECK_STR(trace.path, expected);
}

TEST(a_file_is_named_with_or_without_the_word)
{
	trace_init(&trace, "full:some/where.json", 2);
	CHECK(trace.full);
	CHECK_STR(trace.path, "some/where.json");
	trace_init(&trace, "fuller", 2);
	CHECK(trace.full);
	CHECK_STR(trace.path, "fuller");
}

TEST(a_file_name_that_does_not_fit_is_not_cut)
{
	static char name[2 * TRACE_PATH_SIZE];

	memset(name, 'x', TRACE_PATH_SIZE - 1);
	trace_init(&trace, name, 2);
	CHECK(trace.full);
	CHECK(!trace.too_long);
	name[TRACE_PATH_SIZE - 1] = 'x';
	trace_init(&trace, name, 2);
	CHECK(!trace.full);
	CHECK(trace.too_long);
}

TEST(the_newest_events_stay_and_the_others_are_counted)
{
	uint64_t capacity;

	begin(NULL);
	capacity = ring.track->capacity;
	for (uint64_t i = 0; i < capacity; i++)
		trace_event(&ring, TRACE_STEAL, i);
	CHECK_EQ(trace_ring_dropped(&ring), 0);
	for (uint64_t i = 0; i < 3; i++)
		trace_event(&ring, TRACE_STEAL, capacity + i);
	CHECK_EQ(trace_ring_dropped(&ring), 3);
	CHECK_EQ(newest()->arg, capacity + 2);
	CHECK_EQ(ring.track->record[3].arg, 3); /* the oldest one left */
	end();
}

TEST(many_workers_share_the_memory_of_a_full_trace)
{
	uint32_t alone;

	trace_init(&trace, "full", 0);
	alone = trace.capacity;
	trace_init(&trace, "full", 4);
	CHECK_EQ(trace.capacity, alone);
	trace_init(&trace, "full", 64);
	CHECK_EQ(trace.capacity, alone / 4);
	trace_init(&trace, "full", 4096);
	CHECK_EQ(trace.capacity, alone / 64);
}

TEST(events_are_recorded_in_the_order_of_their_times)
{
	begin(NULL);
	trace_event(&ring, TRACE_PARK, 0);
	trace_event(&ring, TRACE_UNPARK, 0);
	CHECK_EQ(ring.track->record[0].kind, TRACE_PARK);
	CHECK_EQ(ring.track->record[1].kind, TRACE_UNPARK);
	CHECK_GT(ring.track->record[0].time_ns, 0);
	CHECK_GE(ring.track->record[1].time_ns, ring.track->record[0].time_ns);
	end();
}

static void fn(void *arg)
{
	(void)arg;
}

TEST(tasks_are_recorded_in_a_full_trace_only)
{
	struct sley_task task = { .fn = fn };

	begin(NULL);
	trace_task(&ring, TRACE_TASK_BEGIN, &task);
	CHECK_EQ(ring.track->head, 0);
	end();
	begin("full");
	trace_task(&ring, TRACE_TASK_BEGIN, &task);
	CHECK_EQ(ring.track->head, 1);
	CHECK_EQ(newest()->arg, (uintptr_t)fn);
	CHECK_EQ(newest()->task, (uintptr_t)&task);
	CHECK_STR(newest()->name, "");
	end();
}

TEST(a_record_has_its_own_copy_of_the_name)
{
	char name[] = "short";
	struct sley_task task = { .fn = fn, .name = name };

	begin("full");
	trace_task(&ring, TRACE_TASK_BEGIN, &task);
	memset(name, '#', sizeof(name) - 1);
	CHECK_STR(newest()->name, "short");
	task.name = "longer than the record can hold";
	trace_task(&ring, TRACE_TASK_END, &task);
	CHECK(memcmp(newest()->name, "longer than the", TRACE_NAME_SIZE) == 0);
	end();
}

TEST(a_full_track_outlives_its_worker_and_is_used_again)
{
	struct trace_track *first;

	begin("full");
	first = ring.track;
	trace_event(&ring, TRACE_PARK, 0);
	trace_ring_fini(&ring, &mem);
	CHECK_EQ(first->head, 1);
	CHECK_EQ(trace_ring_init(&ring, &trace, &mem), 0);
	CHECK(ring.track == first);
	trace_event(&ring, TRACE_PARK, 0);
	CHECK_EQ(first->head, 2);
	end();
}

TEST(threads_at_the_same_time_have_tracks_of_their_own)
{
	struct trace_ring other;

	begin("full");
	CHECK_EQ(trace_ring_init(&other, &trace, &mem), 0);
	CHECK(other.track != ring.track);
	CHECK_EQ(ring.track->number, 0);
	CHECK_EQ(other.track->number, 1);
	trace_ring_fini(&other, &mem);
	end();
}

TEST(a_ring_that_was_never_made_may_be_ended)
{
	memset(&ring, 0, sizeof(ring));
	trace_ring_fini(&ring, &mem);
}
