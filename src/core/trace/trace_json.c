/* SPDX-License-Identifier: MIT */
/*
 * trace_json.c - a full trace as a file for Perfetto or chrome://tracing.
 *
 * One process, one thread per track.  Each stretch in which a worker runs a
 * task without a break is a slice; args.task tells which slices belong to one
 * task, args.end why a slice ended.  Park, unpark and steal are instants, and so is a core
 * that this process gives to another or gets.  A wait for a core is a slice between the
 * slices of tasks.  Events
 * that the user adds have a category: scopes are slices within the slices of their
 * task.  Edges of a graph are flows: arrows from the slice that has ended last on
 * its track to the slice that is open when the edge is recorded.
 * Times are in microseconds of the monotonic clock.
 *
 * A ring may have lost its oldest events, so an end without a beginning is
 * passed over, and a beginning without an end lasts until the next event of
 * the same kind.  Everything is streamed: no event is looked at twice.
 *
 * A process that traces several runtimes into one file name gets several
 * files: trace.json, trace.2.json, ...
 */
#include "core/trace/trace.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "core/trace/report.h"
#include "core/trace/trace_scope.h"
#include "core/sched/worker.h"
#include "lf/spin.h"

#include "os/file.h"
#include "os/at_fork.h"
#include "os/symbol.h"

#include <errno.h>
#include <inttypes.h>
#include <sley/version.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The file names of the traces that this process has written, hashed. */
#define NR_WRITTEN 64

static struct {
	struct spinlock lock;
	unsigned int nr;
	uint64_t hash[NR_WRITTEN];
} written;

struct writer {
	FILE *file;
	int pid;
	uint32_t tid;                    /* of the current track      */
	const struct trace_record *open; /* the current slice         */
	uint64_t last_ns; /* in the slice before, at its end; 0: no slice */
	const struct trace_record *scope[TRACE_SCOPES_MAX]; /* in the slice */
	unsigned int nr_scopes; /* that are open             */
	uint64_t nr_dropped;    /* on all tracks             */
	bool first;             /* no comma before the event */
};

/* ---- text ------------------------------------------------------------------ */

/* Up to @size bytes; a byte that is not text becomes a question mark. */
static void put_text(FILE *file, const char *given, size_t size)
{
	const unsigned char *text = (const unsigned char *)given;

	size = strnlen(given, size);
	while (size) {
		size_t length = utf8_length(text, size);

		if (*text == '"' || *text == '\\')
			(void)fprintf(file, "\\%c", *text);
		else if (length == 0 || *text < 0x20)
			(void)fputc('?', file);
		else
			(void)fwrite(text, 1, length, file);
		length = length ? length : 1;
		text += length;
		size -= length;
	}
}

static void put_function(FILE *file, uint64_t fn)
{
	char text[128];

	os_symbol(text, sizeof(text), (const void *)(uintptr_t)fn);
	put_text(file, text, SIZE_MAX);
}

/* ---- events ------------------------------------------------------------------ */

static void begin_event(struct writer *writer, char phase)
{
	(void)fprintf(writer->file,
		      "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%" PRIu32,
		      writer->first ? "" : ",", phase, writer->pid,
		      writer->tid);
	writer->first = false;
}

static void put_time(struct writer *writer, const char *key, uint64_t ns)
{
	(void)fprintf(writer->file, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000,
		      (unsigned int)(ns % 1000));
}

static void put_instant(struct writer *writer, uint64_t time_ns,
			const char *name)
{
	begin_event(writer, 'i');
	put_time(writer, "ts", time_ns);
	(void)fprintf(writer->file, ",\"s\":\"t\",\"name\":\"%s\"", name);
}

static void put_instant_of(struct writer *writer, uint64_t time_ns,
			   const char *name, const char *key, uint64_t value)
{
	put_instant(writer, time_ns, name);
	(void)fprintf(writer->file, ",\"args\":{\"%s\":%" PRIu64 "}}", key,
		      value);
}

static void put_slice(struct writer *writer, uint64_t end_ns, const char *end)
{
	const struct trace_record *open = writer->open;
	FILE *file = writer->file;

	if (!open)
		return;
	writer->open = NULL;
	writer->last_ns = end_ns > open->time_ns ? end_ns - 1 : end_ns;
	begin_event(writer, 'X');
	put_time(writer, "ts", open->time_ns);
	put_time(writer, "dur", end_ns - open->time_ns);
	(void)fputs(",\"name\":\"", file);
	if (open->name[0])
		put_text(file, open->name, TRACE_NAME_SIZE);
	else
		put_function(file, open->arg);
	(void)fputs("\",\"args\":{\"fn\":\"", file);
	put_function(file, open->arg);
	(void)fprintf(file, "\",\"task\":\"0x%" PRIx64 "\",\"end\":\"%s\"}}",
		      open->task, end);
}

/* One end of an arrow, if the slice of that end is there. */
static void put_edge(struct writer *writer, char phase, uint64_t time_ns,
		     uint64_t id)
{
	if (phase == 's' ? !writer->last_ns : !writer->open)
		return;
	begin_event(writer, phase);
	put_time(writer, "ts", time_ns);
	(void)fprintf(writer->file,
		      ",\"cat\":\"graph\",\"name\":\"edge\",\"id\":\"0x%" PRIx64
		      "\"%s}",
		      id, phase == 'f' ? ",\"bp\":\"e\"" : "");
}

/* ---- cores that processes share ----------------------------------------------------- */

static void put_peer(struct writer *writer, const char *key, uint32_t peer)
{
	if (peer == LEASE_HOST)
		(void)fprintf(writer->file, ",\"%s\":\"host\"", key);
	else
		(void)fprintf(writer->file, ",\"%s\":\"member %" PRIu32 "\"",
			      key, peer);
}

static void put_hand_over(struct writer *writer,
			  const struct trace_record *record, const char *name)
{
	put_instant(writer, record->time_ns, name);
	(void)fprintf(writer->file,
		      ",\"cat\":\"domain\",\"args\":{\"core\":%" PRIu64,
		      record->arg >> 32);
	put_peer(writer, "from", record->arg >> 16 & 0xffff);
	put_peer(writer, "to", record->arg & 0xffff);
	(void)fputs("}}", writer->file);
}

static void put_overtake(struct writer *writer,
			 const struct trace_record *record)
{
	put_instant(writer, record->time_ns, "overtake");
	(void)fprintf(writer->file,
		      ",\"cat\":\"domain\",\"args\":{\"priority\":%d}}",
		      (int)record->arg - (int)LEVEL_DEFAULT);
}

static void put_core_wait(struct writer *writer,
			  const struct trace_record *record)
{
	begin_event(writer, 'X');
	put_time(writer, "ts", record->arg);
	put_time(writer, "dur", record->time_ns - record->arg);
	(void)fputs(",\"cat\":\"domain\",\"name\":\"wait for a core\"}",
		    writer->file);
}

static void put_core_record(struct writer *writer,
			    const struct trace_record *record)
{
	switch ((enum trace_kind)record->kind) {
	case TRACE_CORE_GIVEN:
		put_hand_over(writer, record, "core given");
		break;
	case TRACE_CORE_TAKEN:
		put_hand_over(writer, record, "core taken");
		break;
	case TRACE_CORE_WAIT:
		put_core_wait(writer, record);
		break;
	default:
		put_overtake(writer, record);
	}
}

/* ---- events of the user ------------------------------------------------------------ */

static void put_user_name(struct writer *writer, const char *category,
			  const struct trace_record *record)
{
	(void)fprintf(writer->file, ",\"cat\":\"%s\",\"name\":\"", category);
	put_text(writer->file, (const char *)(uintptr_t)record->arg, SIZE_MAX);
	(void)fputc('"', writer->file);
}

/* The ring may have lost the beginning: then there is no scope to end. */
static void put_scope(struct writer *writer, uint64_t end_ns)
{
	const struct trace_record *begin;

	if (!writer->nr_scopes)
		return;
	begin = writer->scope[--writer->nr_scopes];
	begin_event(writer, 'X');
	put_time(writer, "ts", begin->time_ns);
	put_time(writer, "dur", end_ns - begin->time_ns);
	put_user_name(writer, "scope", begin);
	(void)fprintf(writer->file, ",\"args\":{\"task\":\"0x%" PRIx64 "\"}}",
		      begin->task);
}

static void put_user_instant(struct writer *writer,
			     const struct trace_record *record)
{
	begin_event(writer, 'i');
	put_time(writer, "ts", record->time_ns);
	put_user_name(writer, "user", record);
	(void)fputs(",\"s\":\"t\"}", writer->file);
}

static void put_async(struct writer *writer, char phase,
		      const struct trace_record *record)
{
	begin_event(writer, phase);
	put_time(writer, "ts", record->time_ns);
	put_user_name(writer, "user", record);
	(void)fprintf(writer->file, ",\"id\":\"0x%" PRIx64 "\"}", record->task);
}

static void put_user_record(struct writer *writer,
			    const struct trace_record *record)
{
	switch ((enum trace_kind)record->kind) {
	case TRACE_SCOPE_BEGIN:
		if (writer->nr_scopes < TRACE_SCOPES_MAX)
			writer->scope[writer->nr_scopes++] = record;
		break;
	case TRACE_SCOPE_END:
		put_scope(writer, record->time_ns);
		break;
	case TRACE_INSTANT:
		put_user_instant(writer, record);
		break;
	case TRACE_ASYNC_BEGIN:
		put_async(writer, 'b', record);
		break;
	case TRACE_ASYNC_END:
		put_async(writer, 'e', record);
		break;
	default:
		break;
	}
}

/* ---- events of one track ------------------------------------------------------------ */

static void put_record(struct writer *writer, const struct trace_record *record)
{
	uint64_t now_ns = record->time_ns;

	switch ((enum trace_kind)record->kind) {
	case TRACE_PARK:
		put_instant(writer, now_ns, "park");
		(void)fputc('}', writer->file);
		break;
	case TRACE_UNPARK:
		put_instant(writer, now_ns, "unpark");
		(void)fputc('}', writer->file);
		break;
	case TRACE_STEAL:
		put_instant_of(writer, now_ns, "steal", "from", record->arg);
		break;
	case TRACE_CORE_GIVEN:
	case TRACE_CORE_TAKEN:
	case TRACE_CORE_WAIT:
	case TRACE_OVERTAKE:
		put_core_record(writer, record);
		break;
	case TRACE_TASK_BEGIN:
	case TRACE_RESUME:
		put_slice(writer, now_ns, "unknown");
		writer->open = record;
		break;
	case TRACE_TASK_END:
		put_slice(writer, now_ns, "done");
		break;
	case TRACE_BLOCK:
		put_slice(writer, now_ns, "blocked");
		break;
	case TRACE_YIELD:
		put_slice(writer, now_ns, "yielded");
		break;
	case TRACE_EDGE_OUT:
		put_edge(writer, 's', writer->last_ns, record->arg);
		break;
	case TRACE_EDGE_IN:
		put_edge(writer, 'f', now_ns, record->arg);
		break;
	default:
		put_user_record(writer, record);
	}
}

/* ---- the file ------------------------------------------------------------------ */

static const struct trace_record *record_at(const struct trace_track *track,
					    uint64_t index)
{
	return &track->record[index & (track->capacity - 1)];
}

static void put_track_name(struct writer *writer,
			   const struct trace_track *track, const char *kind)
{
	begin_event(writer, 'M');
	(void)fputs(",\"name\":\"thread_name\",\"args\":{\"name\":\"",
		    writer->file);
	if (track->name)
		put_text(writer->file, track->name, SIZE_MAX);
	else
		(void)fprintf(writer->file, "%s %" PRIu32, kind, track->number);
	(void)fputs("\"}}", writer->file);
}

static void put_track(struct writer *writer, const struct trace_track *track,
		      const char *kind)
{
	uint64_t dropped = trace_track_dropped(track);

	writer->tid = track->number + 1;
	writer->open = NULL;
	writer->last_ns = 0;
	writer->nr_scopes = 0;
	writer->nr_dropped += dropped;
	put_track_name(writer, track, kind);
	if (dropped)
		put_instant_of(writer, record_at(track, dropped)->time_ns,
			       "dropped", "events", dropped);
	for (uint64_t i = dropped; i < track->head; i++)
		put_record(writer, record_at(track, i));
	if (track->head) {
		uint64_t end_ns = record_at(track, track->head - 1)->time_ns;

		while (writer->nr_scopes)
			put_scope(writer, end_ns);
		put_slice(writer, end_ns, "unknown");
	}
}

static void put_head(struct writer *writer)
{
	const char *program = program_invocation_short_name;

	(void)fputs("{\"traceEvents\":[", writer->file);
	writer->first = true;
	begin_event(writer, 'M');
	(void)fputs(",\"name\":\"process_name\",\"args\":{\"name\":\"",
		    writer->file);
	put_text(writer->file, program, SIZE_MAX);
	(void)fputs("\"}}", writer->file);
}

static void put_tail(struct writer *writer)
{
	(void)fprintf(writer->file,
		      "\n],\n\"displayTimeUnit\":\"ns\",\n"
		      "\"otherData\":{\"producer\":\"sley " SLEY_VERSION
		      "\",\"dropped\":%" PRIu64 "}}\n",
		      writer->nr_dropped);
}

static void lock_written(void)
{
	spin_lock(&written.lock);
}

static void unlock_written(void)
{
	spin_unlock(&written.lock);
}

FORK_PART(FORK_TRACES, .lock = lock_written, .unlock = unlock_written);

/* How many traces have had this name, including this trace. */
static unsigned int count_path(const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	unsigned int number = 1;

	spin_lock(&written.lock);
	for (unsigned int i = 0; i < written.nr && i < NR_WRITTEN; i++)
		number += written.hash[i] == hash;
	if (written.nr < NR_WRITTEN)
		written.hash[written.nr] = hash;
	else
		number = written.nr + 1; /* not remembered: a number for all */
	written.nr++;
	spin_unlock(&written.lock);
	return number;
}

/* The second trace of a process does not overwrite the first. */
static void number_path(char *path)
{
	unsigned int number = count_path(path);
	size_t length = strlen(path);
	size_t stem = length;
	char suffix[] = ".json";

	if (number < 2)
		return;
	if (length > 5 && strcmp(path + length - 5, suffix) == 0)
		stem = length - 5;
	else
		suffix[0] = '\0';
	(void)snprintf(path + stem, TRACE_PATH_SIZE - stem, ".%u%s", number,
		       suffix);
}

static void put_all(struct writer *writer, const struct sley *rt)
{
	const struct trace_track *track;

	put_head(writer);
	for (unsigned int i = 0; i < rt->nr_workers; i++)
		put_track(writer, rt->worker[i]->trace.track, "worker");
	for (track = rt->trace.kept; track; track = track->next)
		put_track(writer, track, "bound thread");
	put_tail(writer);
}

void trace_write(struct sley *rt)
{
	struct trace *trace = &rt->trace;
	struct writer writer = { .pid = (int)getpid() };
	int err;

	if (trace->too_long)
		report(rt, "no trace: its file name has more than %d bytes",
		       TRACE_PATH_SIZE - 1);
	if (!trace->full)
		return;
	number_path(trace->path);
	err = os_file_create(&writer.file, trace->path);
	if (err) {
		report(rt, "cannot write the trace to %s: %s", trace->path,
		       strerror(-err));
		return;
	}
	put_all(&writer, rt);
	err = os_file_close(writer.file);
	if (err)
		report(rt, "the trace in %s is incomplete: %s", trace->path,
		       strerror(-err));
	if (trace->nr_lost)
		report(rt,
		       "the trace in %s lacks %" PRIu64
		       " events: they happened outside of a worker, as in a "
		       "blocking call, or in scopes nested more than %d deep",
		       trace->path, trace->nr_lost, TRACE_SCOPES_MAX);
	if (writer.nr_dropped)
		report(rt,
		       "the trace in %s lacks the oldest %" PRIu64
		       " events: newer events have overwritten them",
		       trace->path, writer.nr_dropped);
}
