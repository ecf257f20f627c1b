/* SPDX-License-Identifier: MIT */
/*
 * world.h - the machine that is simulated: processes, time, chance, memory that processes
 * share, and sockets.
 *
 * A process is a fiber.  It is left at its steps (step.h) and when it sleeps.  A process
 * that is killed is a fiber that is not resumed: its memory is freed, what it has mapped is
 * unmapped, its connections are closed, and nothing else of it is undone.
 *
 * Time passes with each turn of a process, by chance, and is set forward when all processes
 * sleep.  Everything is drawn from one generator: the same seed, the same history.
 *
 * The promises of a kernel are kept: a signal (a bell, a packet, the end of the peer) is
 * not lost, but may take its time; packets arrive whole and in order; memory is what was
 * last written there.
 */
#ifndef SLEY_TESTS_SIM_WORLD_H
#define SLEY_TESTS_SIM_WORLD_H

#include "base/rand.h"
#include "ipc/wire.h"
#include "mem/alloc.h"

#include <stdbool.h>
#include <stdint.h>

#define US 1000ull
#define MS 1000000ull

#define CLIENTS_MAX 5u
#define MAPS_MAX 64u

/* Faults: each seed has some of them. */
enum fault {
	FAULT_KILL_DAEMON,
	FAULT_KILL_CLIENT,
	FAULT_STOP,    /* SIGSTOP, for a while                       */
	FAULT_REPLACE, /* the daemon stops, and the next one comes   */
	FAULT_EJECT,   /* a person throws a client out               */
	FAULT_HOSTILE, /* the first client writes garbage            */
	FAULT_NO_MEMORY,
	FAULT_FEW,       /* small quotas                               */
	FAULT_DELAY,     /* signals take long                          */
	FAULT_NO_DAEMON, /* long pauses between two daemons          */
	FAULT_NO_POOL,   /* a daemon lacks a pool                      */
	NR_FAULTS,
};

/* ---- processes ----------------------------------------------------------------------- */

enum process_state {
	PROCESS_NONE,
	PROCESS_READY,
	PROCESS_SLEEPS,
	PROCESS_ENDED,
};

struct shared;
struct flow; /* the fiber and its stack */

struct process {
	char name[16];
	enum process_state state;
	uint32_t generation;    /* of a daemon, from 1; 0: a client    */
	uint64_t stopped_until; /* SIGSTOP                            */
	uint64_t wake_ns;       /* SLEEPS: until then, or a signal    */
	uint64_t signal_ns;     /* when a signal comes; UINT64_MAX    */
	uint32_t nr_stops;
	void (*main)(void *self);
	void (*killed)(void *self); /* its connections                */
	void *self;
	struct flow *flow;
	struct mem mem;
	struct block *blocks; /* memory that it has allocated         */
	struct shared *maps[MAPS_MAX];
	bool fails; /* its allocations may fail                        */
};

void process_start(struct process *process, const char *name,
		   void (*main)(void *self), void *self);
void process_kill(struct process *process);
/* Ends the calling process; its memory must be free by then. */
void process_exit(void) __attribute__((noreturn));
/* The calling process sleeps until a signal, or @until_ns. */
void process_sleep(uint64_t until_ns);
/* There is news for the process; NULL: there is none any more. */
void process_signal(struct process *process);
bool process_lives(const struct process *process);

/* ---- the world ----------------------------------------------------------------------- */

struct world {
	struct rand rand;
	uint64_t seed;
	uint64_t now_ns;
	uint64_t nr_turns;
	bool trace;
	bool quiet; /* no more faults: all must come to its end         */
	bool faults[NR_FAULTS];
	struct process *current;
	struct process *last; /* that had its turn */
	struct process *processes[32];
	uint32_t nr_processes;
	uint64_t nr_shared; /* objects of shared memory                 */
	uint64_t nr_connections;
	uint32_t nr_sessions; /* so far                                  */
	void (*wake)(const uint32_t *word); /* of a futex; or NULL     */
};

extern struct world world;

void world_begin(uint64_t seed, bool trace);
void world_end(void);
/* A process has its turn.  False: all processes sleep for ever. */
bool world_turn(void);

/* A number below @n; and true once in @n. */
uint32_t draw(uint32_t n);
bool one_in(uint32_t n);

printf_like(1, 2) void trace(const char *format, ...);
/* The seed has failed. */
noreturn_fn printf_like(1, 2) void fail(const char *format, ...);

/* A line for docs/PROOF.md, of JSON, if $SLEY_PROOF names its file. */
printf_like(1, 2) void prove(const char *format, ...);

#define HOLDS(x, ...) ((x) ? (void)0 : fail(__VA_ARGS__))

/* ---- shared memory ------------------------------------------------------------------- */

struct shared {
	uint32_t nr_refs; /* maps, and packets under way               */
	uint32_t size;
	unsigned char *bytes;
};

/* Mapped by the calling process, as memory is that comes with a packet. */
struct shared *shared_create(uint32_t size);
void shared_put(struct shared *shared);
/* In the calling process. */
void shared_map(struct shared *shared);
void shared_unmap(struct shared *shared);

/* ---- sockets ------------------------------------------------------------------------- */

enum side {
	SIDE_CLIENT,
	SIDE_DAEMON,
};

#define PACKETS_MAX 8u

struct parcel {
	struct wire_packet packet;
	struct shared *memory; /* or NULL */
	uint32_t nr_fds;
};

struct connection {
	struct process *ends[2]; /* NULL: closed                        */
	struct parcel queue[2][PACKETS_MAX]; /* to this side            */
	uint32_t first[2], nr[2];
	uint32_t client;         /* the uid, and more                   */
	struct connection *next; /* in the backlog                      */
};

struct connection *connection_create(struct process *client, uint32_t number);
/* False: the peer is gone, or does not read. */
bool connection_send(struct connection *connection, enum side from,
		     const struct wire_packet *packet, struct shared *memory,
		     uint32_t nr_fds);
bool connection_receive(struct connection *connection, enum side to,
			struct parcel *out);
bool connection_is_cut(const struct connection *connection, enum side to);
/* For the process on this side, which may be dead. */
void connection_close(struct connection *connection, enum side side);

#endif
