/* SPDX-License-Identifier: MIT */
/*
 * ledger.c - see ledger.h.
 */
#include "ledger.h"

#include "ipc/wire.h"
#include "step.h"
#include "world.h"

#include <errno.h>
#include <sley/error.h>

#define RINGS_MAX 64u
#define PROCESSES_MAX 64u

struct ledger_counts ledger_counts;

static struct ledger_entry entries[LEDGER_MAX];
static uint32_t nr_entries;

/* Of a client: ends without a name. */
static uint32_t nr_failed[PROCESSES_MAX];

static struct {
	struct request_memory *memory;
	uint32_t depth, slot_size;
} rings[RINGS_MAX];

void ledger_begin(void)
{
	nr_entries = 1;
	memset(nr_failed, 0, sizeof(nr_failed));
	memset(rings, 0, sizeof(rings));
}

uint32_t ledger_new(const struct ledger_entry *entry)
{
	if (nr_entries == LEDGER_MAX)
		return 0;
	entries[nr_entries] = *entry;
	ledger_counts.submitted++;
	return nr_entries++;
}

struct ledger_entry *ledger_at(uint32_t serial)
{
	HOLDS(serial && serial < nr_entries, "there is no request %u", serial);
	return &entries[serial];
}

/* ---- taken ----------------------------------------------------------------------------- */

void ledger_watch(struct request_memory *memory, uint32_t depth,
		  uint32_t slot_size)
{
	for (uint32_t i = 0; i < RINGS_MAX; i++) {
		if (!rings[i].memory) {
			rings[i].memory = memory;
			rings[i].depth = depth;
			rings[i].slot_size = slot_size;
			return;
		}
	}
	fail("too many rings");
}

void ledger_unwatch(const struct request_memory *memory)
{
	for (uint32_t i = 0; i < RINGS_MAX; i++) {
		if (rings[i].memory == memory)
			rings[i].memory = NULL;
	}
}

static void begun(uint32_t serial)
{
	struct ledger_entry *entry = ledger_at(serial);

	trace("begins request %u", serial);
	if (entry->hostile)
		return;
	HOLDS(!entry->ended, "request %u is taken after its end", serial);
	HOLDS(!entry->published, "request %u is taken after its answer",
	      serial);
	if (entry->nr_begun++) {
		HOLDS(entry->idempotent, "request %u is taken twice", serial);
		HOLDS(entry->session_over,
		      "request %u is taken again, and daemon %u has it", serial,
		      entry->begun_by);
		ledger_counts.again++;
	}
	entry->begun_by = world.current->generation;
	entry->session_over = false;
	entry->answered = false;
}

/* A store of 8 bytes: to begun, in a ring, by a daemon. */
void sim_stored(const void *at, size_t size)
{
	for (uint32_t i = 0; size == 8 && i < RINGS_MAX; i++) {
		struct request_memory *memory = rings[i].memory;
		const struct ring_entry *entry;
		const unsigned char *slots;
		struct wire_head head;

		if (!memory || at != &memory->begun ||
		    !world.current->generation)
			continue;
		entry = &memory->entries[(memory->begun - 1) &
					 (rings[i].depth - 1)];
		slots = (const unsigned char *)(memory->entries +
						2 * (size_t)rings[i].depth);
		memcpy(&head, slots + (size_t)entry->slot * rings[i].slot_size,
		       sizeof(head));
		if (head.pool)
			begun((uint32_t)head.group);
	}
}

void ledger_acked(uint32_t serial, uint32_t session)
{
	struct ledger_entry *entry = ledger_at(serial);

	entry->acked = true;
	entry->sent_to = session;
}

/* ---- run ------------------------------------------------------------------------------- */

void ledger_run(uint32_t serial, uint32_t daemon)
{
	struct ledger_entry *entry = ledger_at(serial);

	trace("runs request %u", serial);
	if (entry->hostile)
		return;
	ledger_counts.run++;
	entry->nr_run++;
	HOLDS(entry->begun_by == daemon && entry->nr_begun,
	      "request %u is run by daemon %u, which has not begun it", serial,
	      daemon);
	HOLDS(entry->nr_run <= entry->nr_begun,
	      "request %u is run %u times, and taken %u times", serial,
	      entry->nr_run, entry->nr_begun);
}

void ledger_answered(uint32_t serial, int32_t code)
{
	struct ledger_entry *entry = ledger_at(serial);

	trace("answers request %u with %d", serial, code);
	if (entry->hostile)
		return;
	HOLDS(!entry->answered, "request %u is answered twice", serial);
	entry->answered = true;
	entry->answer = code;
}

void ledger_published(uint32_t serial)
{
	entries[serial].published = true;
}

/* ---- ended ----------------------------------------------------------------------------- */

/* A code that the client has found by itself. */
static void check_own(uint32_t serial, const struct ledger_entry *entry,
		      int32_t code)
{
	HOLDS(!entry->nr_begun || entry->idempotent,
	      "request %u ends with %d, and was begun by daemon %u", serial,
	      code, entry->begun_by);
	HOLDS(!entry->published, "request %u has an answer, and ends with %d",
	      serial, code);
	HOLDS(code == -ECANCELED || code == -ETIMEDOUT || code == -EHOSTDOWN ||
		      code == -ENOENT || code == -EACCES || code == -EMSGSIZE,
	      "request %u ends with %d", serial, code);
	HOLDS(code != -ECANCELED || entry->cancelled,
	      "request %u was not cancelled", serial);
}

static void check_unknown(uint32_t serial, const struct ledger_entry *entry)
{
	HOLDS(entry->nr_begun, "request %u: unknown, and not begun", serial);
	HOLDS(!entry->idempotent, "request %u: unknown, and idempotent",
	      serial);
	HOLDS(!entry->published, "request %u: unknown, and has an answer",
	      serial);
	HOLDS(entry->session_over,
	      "request %u: unknown, and daemon %u lives and has it", serial,
	      entry->begun_by);
}

void ledger_ended(uint32_t serial, int32_t code)
{
	struct ledger_entry *entry = ledger_at(serial);

	trace("request %u ends with %d", serial, code);
	HOLDS(!entry->ended, "request %u ends twice", serial);
	entry->ended = true;
	entry->code = code;
	if (entry->hostile)
		return;
	ledger_counts.completed++;
	ledger_counts.unknown += code == SLEY_EUNKNOWN;
	ledger_counts.host_down += code == -EHOSTDOWN;
	ledger_counts.cancelled += code == -ECANCELED;
	ledger_counts.timed_out += code == -ETIMEDOUT;
	HOLDS(code != -ETIMEDOUT || (entry->deadline_ns &&
				     world.now_ns >= entry->deadline_ns),
	      "request %u times out early", serial);
	if (code == SLEY_EUNKNOWN) {
		check_unknown(serial, entry);
	} else if (entry->answered && entry->answer == code) {
		HOLDS(code || entry->nr_run, "request %u was not run", serial);
	} else {
		HOLDS(code, "request %u ends with 0, which nobody answered",
		      serial);
		check_own(serial, entry, code);
	}
}

void ledger_forgotten_ended(uint32_t client, int32_t code)
{
	ledger_counts.forgotten++;
	if (code)
		nr_failed[client]++;
}

/* ---- processes ------------------------------------------------------------------------- */

void ledger_session_over(uint32_t client, uint32_t daemon)
{
	for (uint32_t i = 1; i < nr_entries; i++) {
		if (entries[i].client == client && entries[i].nr_begun &&
		    entries[i].begun_by == daemon && !entries[i].published)
			entries[i].session_over = true;
	}
}

void ledger_client_died(uint32_t client)
{
	for (uint32_t i = 1; i < nr_entries; i++) {
		if (entries[i].client == client)
			entries[i].acked = false;
	}
}

void ledger_emptied(uint32_t session)
{
	for (uint32_t i = 1; i < nr_entries; i++) {
		const struct ledger_entry *entry = &entries[i];

		if (entry->forgotten && entry->sent_to == session &&
		    !entry->deadline_ns && !entry->hostile)
			HOLDS(entry->nr_run,
			      "request %u was forgotten by a client that died, "
			      "and is not run",
			      i);
	}
}

void ledger_client_done(uint32_t client)
{
	uint32_t nr_missing = 0;

	for (uint32_t i = 1; i < nr_entries; i++) {
		const struct ledger_entry *entry = &entries[i];

		if (entry->client != client || !entry->acked || entry->hostile)
			continue;
		if (entry->forgotten)
			nr_missing += !entry->nr_run;
		else
			HOLDS(entry->ended,
			      "request %u was acknowledged and is lost", i);
	}
	HOLDS(nr_missing <= nr_failed[client],
	      "%u forgotten requests were not run, and %u have failed",
	      nr_missing, nr_failed[client]);
}
