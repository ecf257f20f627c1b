/* SPDX-License-Identifier: MIT */
/*
 * sides.h - the two sides: clients around ipc/link, daemons around ipc/session and
 * ipc/quota.  What is here plays the shells (ipc/client.c, ipc/server.c): packets, memory
 * and signals of the simulated machine in place of system calls.
 */
#ifndef SLEY_TESTS_SIM_SIDES_H
#define SLEY_TESTS_SIM_SIDES_H

#include "ipc/link.h"
#include "ipc/quota.h"
#include "ipc/session.h"
#include "world.h"

#define NR_POOLS 3u /* that a client may open, by number         */
#define ITEMS_MAX 24u
#define IN_MAX 512u
#define SEGMENT_SIZE 512u
#define SEGMENTS_MAX 3u
#define SLOT_SIZE 256u
#define ROUND_MAX 8u /* requests that are taken at once           */
#define JOBS_MAX 128u

/* ---- the client ---------------------------------------------------------------------- */

enum owner_kind {
	OWNER_ITEM,
	OWNER_OPEN,
	OWNER_CLOSE,
	OWNER_SEGMENT,
};

/* The owner of a request. */
struct owner {
	enum owner_kind kind;
	bool busy;
};

struct item {
	struct owner owner;
	uint32_t serial, slot;
	uint32_t in_size;
	bool fresh; /* not published yet                            */
	bool sent;  /* the same, with an entry in the ring          */
	unsigned char in[IN_MAX], out[IN_MAX];
};

struct client_pool {
	struct owner open, close;
	uint32_t place; /* of the link; 0: closed                    */
	uint64_t retry_ns;
	struct wire_open wish;
	struct wire_opened opened;
	struct wire_number number; /* to be closed                   */
	bool must_close;
};

struct client_segment {
	struct shared *memory; /* NULL: none                         */
	uint32_t number;
	uintptr_t handle; /* no two segments have the same          */
	bool used, stale;
};

struct client {
	struct process process;
	uint32_t number; /* its place; the user is number % 2          */
	uint32_t id;     /* among all processes, for the ledger        */
	bool hostile, abrupt, is_watched, must_be_ejected;
	uint32_t depth, nr_ops;
	uint64_t next_op_ns, retry_ns;
	uint32_t session;
	struct link link;
	struct connection *connection;
	struct shared *ring;
	struct item items[ITEMS_MAX];
	struct client_pool pools[NR_POOLS];
	struct client_segment segments[SEGMENTS_MAX];
	struct owner segment_owner;
	struct wire_number segment_wish, segment_number;
	uintptr_t nr_segments; /* so far                              */
};

void client_start(struct client *client, uint32_t number, uint32_t id);
/* Requests to send, by chance; client_work.c. */
void client_operate(struct client *client);
void client_complete(struct client *client, const struct link_done *done);
/* False: the connection is of no use. */
bool client_take_packets(struct client *client);
void client_drop_stale(struct client *client);
void client_scribble(struct client *client);
void client_open_pools(struct client *client);
void client_house_all(struct client *client);
bool client_is_idle(const struct client *client);
/* Bytes of a request and of its answer. */
unsigned char pattern(uint32_t serial, uint32_t at);

/* ---- the daemon ---------------------------------------------------------------------- */

/* A session and its client. */
struct served {
	struct session session;
	struct connection *connection; /* NULL: over                 */
	struct client *client;         /* for the ledger alone       */
	uint32_t number;               /* of the session             */
	uint32_t client_id;
	bool hostile;
	struct quota_user *user;
	struct shared *ring;
	struct shared *segments[SESSION_SEGMENTS_MAX + 1];
	bool held;
	bool leaving; /* thrown out: until the last answer              */
	bool cut;     /* nothing is written to the ring any more         */
	bool gone;    /* the client is, and its ring can be emptied      */
	uint32_t nr_jobs;
	uint32_t answers[JOBS_MAX], nr_answers; /* not published      */
	struct served *next;
};

struct job {
	struct served *served; /* NULL: free                          */
	uint32_t slot, serial, out_room;
	uint64_t start_ns, finish_ns, deadline_ns;
	bool started, cancelled, forgotten;
	int32_t code;
};

struct daemon {
	struct process process;
	uint32_t generation;
	bool wants_stop, stopping, lacks_pool;
	struct client *eject; /* who is to be thrown out                */
	struct quota quota;
	bool has_quota;
	struct served *served;
	struct connection *backlog, *accepting;
	struct job jobs[JOBS_MAX];
	unsigned char in[4096]; /* the copy of a request             */
};

/* That listens, or NULL. */
extern struct daemon *listening;

void daemon_start(struct daemon *daemon, uint32_t generation);

/* ---- requests that a daemon has; daemon_jobs.c ---------------------------------------- */

void daemon_serve(struct daemon *daemon, struct served *served, uint32_t slot);
bool daemon_work(struct daemon *daemon, uint64_t *next_ns);
void daemon_publish(struct served *served);
void daemon_eject(struct daemon *daemon, struct served *served, int32_t code,
		  const char *reason);
void daemon_tell(const struct served *served, int bits);
/* Quota of @nr requests is given back. */
void daemon_give(struct daemon *daemon, struct served *served, uint32_t nr);

#endif
