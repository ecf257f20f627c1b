/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - what is known of each request from outside: the checks of the simulator.
 *
 * The serial of a request is in .group of its head.  The ledger hears of each request when
 * it is submitted, acknowledged, taken ("begun": the store to that word of the ring is
 * seen, wherever the daemon is killed afterwards), run, answered, published and ended.
 *
 *   ends once, and not before it was submitted
 *   not idempotent: taken once, run at most once
 *   idempotent: taken again only after a session that ended without its answer
 *   published: its answer is the end of it, with the same code, whatever comes after
 *   0: it was run, and just once unless it is idempotent
 *   outcome unknown: it was begun, by a daemon that was killed or threw the client out
 *   other codes: the answer of a daemon; or the client's, for a request that no daemon
 *     has begun
 *   a client that lives: all that was acknowledged has ended, at the end
 *   forgotten: the same, counted, since nobody is told which; and run, if it was in the
 *     ring when its client was killed
 */
#ifndef SLEY_TESTS_SIM_LEDGER_H
#define SLEY_TESTS_SIM_LEDGER_H

#include "shm/request_ring.h"

#include <stdbool.h>
#include <stdint.h>

#define LEDGER_MAX 4096u

/* The life of a client's process, among all of them. */
struct ledger_entry {
	uint32_t client; /* which process                              */
	bool idempotent, forgotten, hostile;
	bool acked, cancelled, published, ended;
	uint64_t deadline_ns; /* 0: none                               */
	uint32_t in_size, out_size;
	uint32_t nr_begun, nr_run;
	uint32_t begun_by; /* the daemon                               */
	uint32_t sent_to;  /* the session; 0: it was held at first     */
	bool session_over; /* of the daemon that has begun it          */
	bool answered;
	int32_t answer, code;
};

struct ledger_counts {
	uint64_t submitted, completed, run, again, unknown, host_down,
		cancelled, timed_out, forgotten, ejected, kills, lives;
};

extern struct ledger_counts ledger_counts;

void ledger_begin(void);
/* The serial of a new request; 0: there are too many. */
uint32_t ledger_new(const struct ledger_entry *entry);
struct ledger_entry *ledger_at(uint32_t serial);

/* It is in the ring, for @session; 0: it is held. */
void ledger_acked(uint32_t serial, uint32_t session);
void ledger_run(uint32_t serial, uint32_t daemon);
void ledger_answered(uint32_t serial, int32_t code);
void ledger_published(uint32_t serial);
void ledger_ended(uint32_t serial, int32_t code);
void ledger_forgotten_ended(uint32_t client, int32_t code);

/* The session of @client with @daemon is over, without more answers. */
void ledger_session_over(uint32_t client, uint32_t daemon);
void ledger_client_died(uint32_t client);
/*
 * The client of @session is dead, and the daemon has emptied its ring: what nobody waits for
 * was run.
 */
void ledger_emptied(uint32_t session);
/* A client ends, all of whose requests must have ended. */
void ledger_client_done(uint32_t client);

/* A ring whose begun is to be watched, and its server. */
void ledger_watch(struct request_memory *memory, uint32_t depth,
		  uint32_t slot_size);
void ledger_unwatch(const struct request_memory *memory);

#endif
