/* SPDX-License-Identifier: MIT */
/*
 * ipc.c - random changes of good handshakes and good rings, and what must hold for each.
 *
 *   ./ipc [executions] [seed]     the same executions each time
 *
 * LLVMFuzzerTestOneInput() is there for libFuzzer, as in http.c.
 *
 * The first byte of an input says what is changed.  The rest are changes of 4 bytes each:
 * what to do, two bytes for the place, and a value.
 *
 *   0  packets of a client, to a session: it accepts a packet if and only if the packet is
 *      the one that is due, and answers each other packet with a packet that is good
 *   1  packets of a daemon, to packet_check(): the same against a slow check
 *   2  the ring of a session: whatever is written there, a taken request has a slot that is
 *      not in flight, its IN part lies inside of the slot or of a segment, its answer fits,
 *      and at the end nothing is in flight
 *   3  the ring of a link: each request ends once, with an answer that fits its memory
 */
#include "base/compiler.h"
#include "ipc/link.h"
#include "ipc/session.h"

#include <errno.h>
#include <sley/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define DEPTH 8u
#define SLOT 256u
#define SEGMENT 320u
#define CHANGE 4u
#define CHANGES_MAX 12u
#define KINDS 4u

/* ---- what must hold -------------------------------------------------------------- */

static const uint8_t *current;
static size_t current_size;

static void failed(const char *what, int line)
{
	fprintf(stderr, "ipc.c:%d: %s does not hold for this input:\n", line,
		what);
	for (size_t i = 0; i < current_size; i++)
		fprintf(stderr, "%02x ", current[i]);
	fprintf(stderr, "\n");
	abort();
}

#define HOLDS(x) ((x) ? (void)0 : failed(#x, __LINE__))

/* ---- changes --------------------------------------------------------------------- */

static const uint32_t values[] = { 0,          1,          2,
				   7,          8,          9,
				   63,         64,         65,
				   255,        256,        257,
				   0x7fffffff, 0x80000000, UINT32_MAX - 1,
				   UINT32_MAX };

/* Applies a change to @size bytes. */
static void apply(void *memory, size_t size, const uint8_t *change)
{
	unsigned char *bytes = memory;
	size_t at = (change[1] | (size_t)change[2] << 8) % size;
	uint32_t value;

	switch (change[0] % 4) {
	case 0:
		bytes[at] = change[3];
		break;
	case 1:
		bytes[at] ^= (unsigned char)(1 << change[3] % 8);
		break;
	case 2:
		at &= ~(size_t)3;
		value = values[change[3] % 16];
		memcpy(bytes + at, &value, size - at < 4 ? size - at : 4);
		break;
	default:
		at &= ~(size_t)3;
		if (size - at < 4)
			break;
		memcpy(&value, bytes + at, 4);
		value += (uint32_t)(int8_t)change[3];
		memcpy(bytes + at, &value, 4);
	}
}

/* ---- packets --------------------------------------------------------------------- */

static const struct session_limits limits = { .max_depth = 64,
					      .max_slot_size = 1024,
					      .max_segment_bytes = 4096 };

static bool is_text(const char *text)
{
	size_t length = strnlen(text, WIRE_TEXT);

	for (size_t i = 0; i < length; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return length < WIRE_TEXT;
}

/* As wire.h says it, in other words than packet.c. */
static bool is_due(const struct wire_packet *packet, uint32_t kind,
		   uint32_t nr_fds)
{
	uint32_t due = kind == WIRE_HELLO && (packet->flags & WIRE_ADOPT);

	return packet->magic == WIRE_MAGIC && packet->major == WIRE_MAJOR &&
	       packet->kind == kind && nr_fds == due &&
	       (kind != WIRE_READY || packet->life);
}

static void check_answer(struct wire_packet *answer)
{
	HOLDS(is_text(answer->text));
	HOLDS(answer->kind == WIRE_REFUSED && answer->code < 0);
	HOLDS(packet_check(answer, PACKET_FROM_DAEMON, 0, false) == 0);
}

static void change_packet(struct wire_packet *packet, const uint8_t **changes,
			  size_t *nr)
{
	size_t mine = *nr / 2 + *nr % 2;

	for (size_t i = 0; i < mine; i++)
		apply(packet, sizeof(*packet), *changes + i * CHANGE);
	*changes += mine * CHANGE;
	*nr -= mine;
}

static unsigned char *ring_bytes;

static void make_ring(struct request_ring *ring)
{
	uint64_t size = request_ring_size(DEPTH, SLOT);

	/* Of exactly this size: a sanitizer sees a byte too many. */
	free(ring_bytes);
	ring_bytes = aligned_alloc(64, size);
	memset(ring_bytes, 0, size);
	*ring = (struct request_ring){ .memory = (void *)ring_bytes,
				       .size = size,
				       .depth = DEPTH,
				       .slot_size = SLOT,
				       .version = REQUEST_RING_VERSION };
	request_ring_begin_life(ring, 1, UINT32_MAX - 3);
}

static void check_handshake(const uint8_t *changes, size_t nr)
{
	static struct session session;
	struct packet_offer offer = { .session = 1 };
	uint32_t nr_fds = nr && changes[0] == 77;
	struct wire_packet packet, answer;
	struct request_ring ring;
	bool due;
	int result;

	session_init(&session, &limits);
	packet_hello(&packet, "fuzz\x07\xff", 16, 256, nr && changes[3] & 1);
	nr_fds ^= packet.flags & WIRE_ADOPT;
	change_packet(&packet, &changes, &nr);
	due = is_due(&packet, WIRE_HELLO, nr_fds);
	result = session_packet(&session, &packet, nr_fds, &answer);
	HOLDS(due == (result >= 0));
	if (result < 0) {
		check_answer(&answer);
		return;
	}
	HOLDS(is_text(session.name));
	HOLDS(result == (packet.flags & WIRE_ADOPT ? SESSION_ADOPT_RING
						   : SESSION_MAKE_RING));
	HOLDS(session.depth && session.depth <= limits.max_depth);
	HOLDS(session.slot_size <= limits.max_slot_size);
	HOLDS(request_ring_size(session.depth, session.slot_size));
	make_ring(&ring);
	HOLDS(session_welcome(&session, &sley__program_mem, &ring, &offer,
			      &answer) == 0);
	packet_ready(&packet, ring.life);
	change_packet(&packet, &changes, &nr);
	due = is_due(&packet, WIRE_READY, 0) && packet.life == ring.life;
	result = session_packet(&session, &packet, 0, &answer);
	HOLDS(due == (result == SESSION_BEGIN));
	HOLDS(due == (session.state == SESSION_LIVE));
	if (!due)
		check_answer(&answer);
	session_free(&session, &sley__program_mem);
}

static void check_daemon_packet(const uint8_t *changes, size_t nr)
{
	uint32_t what = nr ? changes[0] % 4 : 0, nr_fds;
	bool adopted = nr && changes[1] & 1, good;
	struct packet_offer offer = { .depth = 8, .slot_size = 256 };
	struct wire_packet packet;
	int result;

	if (what == 0)
		packet_welcome(&packet, &offer);
	else if (what == 1)
		packet_refused(&packet, -EACCES, "no: %s", "\x1b[2J");
	else if (what == 2)
		packet_goodbye(&packet, -EPROTO, "%200s", "long");
	else
		packet_segment(&packet, 3, 4096);
	nr_fds = packet_nr_fds(&packet, adopted);
	for (size_t i = 0; i < nr; i++)
		apply(&packet, sizeof(packet), changes + i * CHANGE);
	good = packet.magic == WIRE_MAGIC && packet.major == WIRE_MAJOR &&
	       packet.kind >= WIRE_WELCOME && packet.kind <= WIRE_GOODBYE &&
	       (packet.kind == WIRE_WELCOME || packet.kind == WIRE_SEGMENT ||
		packet.code < 0);
	if (packet.kind == WIRE_WELCOME)
		good = good && nr_fds == (adopted ? 3 : 4);
	else
		good = good && nr_fds == (packet.kind == WIRE_SEGMENT);
	result = packet_check(&packet, PACKET_FROM_DAEMON, nr_fds, adopted);
	HOLDS(good == (result == 0));
	HOLDS(packet.magic != WIRE_MAGIC || is_text(packet.text));
}

/* ---- the ring of a session ------------------------------------------------------- */

static unsigned char *segment;

static void begin_session(struct session *session, struct request_ring *ring)
{
	struct packet_offer offer = { .session = 1 };
	struct wire_packet packet, answer;

	session_init(session, &limits);
	packet_hello(&packet, "fuzz", DEPTH, SLOT, false);
	HOLDS(session_packet(session, &packet, 0, &answer) >= 0);
	HOLDS(session_welcome(session, &sley__program_mem, ring, &offer,
			      &answer) == 0);
	packet_ready(&packet, ring->life);
	HOLDS(session_packet(session, &packet, 0, &answer) == SESSION_BEGIN);
	HOLDS(session_add_pool(session, session, 0x8000000000000003u) == 1);
	free(segment);
	segment = malloc(SEGMENT);
	HOLDS(session_reserve_segment(session, SEGMENT) == 1);
	session_set_segment(session, 1, segment, SEGMENT);
}

/* Good requests of all kinds. */
static void submit_some(const struct request_ring *ring)
{
	static union {
		struct request_submitter submitter;
		unsigned char bytes[sizeof(struct request_submitter) +
				    DEPTH * sizeof(struct request_pending)];
	} memory;
	struct request_submitter *submitter = &memory.submitter;

	request_submitter_init(submitter, ring);
	for (uint32_t i = 0; i < DEPTH - 1; i++) {
		unsigned char data[SLOT] = { 0 };
		struct wire_head head = { .pool = i % 2,
					  .method = i % 3,
					  .out_room = 32 * i };
		struct wire_bulk bulk = { .segment = 1, .in_size = SEGMENT };
		struct request_submission what = { .data = data };
		uint64_t id;

		what.size = sizeof(head) + 8 * i;
		if (i == 3) {
			head.flags = WIRE_BULK;
			head.out_room = SEGMENT;
			what.size = sizeof(head) + sizeof(bulk);
			memcpy(data + sizeof(head), &bulk, sizeof(bulk));
		}
		if (i == 5)
			head.flags = WIRE_FORGOTTEN;
		memcpy(data, &head, sizeof(head));
		HOLDS(request_submit(submitter, &what, &id) == 0);
	}
	HOLDS(request_publish(submitter) == 0);
}

static bool is_inside(const void *at, uint32_t size, const void *memory,
		      size_t room)
{
	uintptr_t offset = (uintptr_t)at - (uintptr_t)memory;

	return offset <= room && size <= room - offset;
}

static void serve(struct session *session, uint32_t slot)
{
	const unsigned char *place;
	struct session_call call;
	unsigned char copy[SEGMENT];
	int err = session_check(session, slot, &call);

	HOLDS(call.slot == slot);
	if (!err) {
		place = request_ring_slot(&session->server.ring, slot);
		HOLDS(is_inside(call.in, call.in_size,
				call.segment ? segment : place,
				call.segment ? SEGMENT : SLOT));
		HOLDS(call.out_room <= (call.segment ? SEGMENT : SLOT));
		HOLDS(!(call.head.flags & WIRE_FORGOTTEN) || !call.out_room);
		HOLDS(!call.head.pool == !call.pool);
		memcpy(copy, call.in, call.in_size);
		memset(session_answer_place(session, slot), 5, call.out_room);
	}
	(void)session_answer(session, slot, err, err ? 0 : call.out_room);
}

static void check_session(const uint8_t *changes, size_t nr)
{
	static struct session session;
	struct request_ring ring;
	uint32_t slots[DEPTH], nr_kept = 0, kept[DEPTH];
	int taken;

	make_ring(&ring);
	begin_session(&session, &ring);
	submit_some(&ring);
	for (size_t i = 0; i < nr; i++)
		apply(ring_bytes, ring.size, changes + i * CHANGE);
	while ((taken = session_take(&session, slots, 3)) > 0) {
		HOLDS(session_nr_in_flight(&session) <= DEPTH);
		for (int i = 0; i < taken; i++) {
			HOLDS(slots[i] < DEPTH);
			for (uint32_t j = 0; j < nr_kept; j++)
				HOLDS(kept[j] != slots[i]);
			/* Every third stays in flight for a while. */
			if (slots[i] % 3 == 0)
				kept[nr_kept++] = slots[i];
			else
				serve(&session, slots[i]);
		}
	}
	HOLDS(taken == 0 || taken == -EPROTO);
	HOLDS(taken == 0 || session.reason);
	while (nr_kept)
		serve(&session, kept[--nr_kept]);
	HOLDS(session_publish(&session) >= 0);
	HOLDS(session_nr_in_flight(&session) == 0);
	HOLDS(!session.pools[1].nr_used && !session.segments[1].used);
	session_free(&session, &sley__program_mem);
}

/* ---- the ring of a link ---------------------------------------------------------- */

struct owned {
	unsigned char out[64];
	unsigned char guard;
	uint32_t nr_ended;
};

static struct owned owned[DEPTH];
static uint32_t room; /* of an answer */

static uint32_t link_with_requests(struct link *link, uint32_t *nr)
{
	uint32_t pool = link_pool_add(link);

	link_pool_open(link, pool, 1);
	for (*nr = 0; *nr < 5; ++*nr) {
		struct link_submission what = {
			.head = { .method = 1, .out_room = room },
			.pool = pool,
			.flags = *nr == 2 ? LINK_IDEMPOTENT : 0,
			.in = "input",
			.in_size = 5,
			.out = owned[*nr].out,
			.owner = &owned[*nr],
		};

		HOLDS(link_submit(link, &what) >= 0);
	}
	HOLDS(link_publish(link) >= 0);
	return pool;
}

/* A server that answers some of what was asked. */
static void answer_some(const struct request_ring *ring)
{
	struct request_server server;
	struct request request;
	unsigned char data[SLOT];

	request_server_init(&server, ring);
	for (int i = 0; i < 4; i++) {
		HOLDS(request_take(&server, &request, data) == 1);
		if (i != 1)
			HOLDS(request_put_answer(&server, &request,
						 wire_answer(-i, 16 * i), data,
						 16 * (uint32_t)i) == 0);
	}
	HOLDS(request_publish_answers(&server) >= 0);
}

static void collect(struct link *link)
{
	struct link_done done[DEPTH];
	int nr;

	while ((nr = link_collect(link, done, DEPTH)) > 0) {
		for (int i = 0; i < nr; i++) {
			struct owned *owner = done[i].owner;

			HOLDS(owner >= owned && owner < owned + DEPTH);
			HOLDS(owner->nr_ended++ == 0);
			HOLDS(done[i].size <= room && !owner->guard);
		}
	}
	HOLDS(nr == 0 || link_is_broken(link));
}

static void check_link(const uint8_t *changes, size_t nr)
{
	struct request_ring ring;
	struct link link;
	uint32_t nr_requests, life;

	make_ring(&ring);
	memset(owned, 0, sizeof(owned));
	/* Some answers are too long then. */
	room = nr && changes[1] % 8 == 0 ? 16 : 64;
	link_init(&link, &sley__program_mem, 1000);
	link_greet(&link, 1);
	HOLDS(link_begin(&link, &ring, &life) == 0);
	link_with_requests(&link, &nr_requests);
	answer_some(&link.submitter->ring);
	for (size_t i = 0; i < nr; i++)
		apply(ring_bytes, ring.size, changes + i * CHANGE);
	collect(&link);
	HOLDS(!link_is_drained(&link) || link.submitter->completions.stopped);
	link_lost(&link, 10);
	collect(&link);
	/* What is held goes to the next daemon, or ends. */
	link_greet(&link, 11);
	if (nr && changes[0] & 2) {
		HOLDS(link_begin(&link, NULL, &life) == 0);
		HOLDS(link_publish(&link) >= 0);
		link_lost(&link, 12);
	} else {
		link_lost(&link, 12);
	}
	link_expire(&link, 5000);
	collect(&link);
	for (uint32_t i = 0; i < nr_requests; i++)
		HOLDS(owned[i].nr_ended == 1);
	HOLDS(link.nr_used == 0);
	link_fini(&link);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static void (*const check[KINDS])(const uint8_t *, size_t) = {
		check_handshake, check_daemon_packet, check_session, check_link
	};
	size_t nr = size ? (size - 1) / CHANGE : 0;

	current = input;
	current_size = size;
	if (size)
		check[input[0] % KINDS](input + 1,
					nr > CHANGES_MAX ? CHANGES_MAX : nr);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % n;
}

int main(int argc, char **argv)
{
	long executions = argc > 1 ? atol(argv[1]) : 100000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	random_state = seed * 0x9e3779b97f4a7c15u | 1;
	for (long i = 0; i < executions; i++) {
		uint8_t input[1 + CHANGES_MAX * CHANGE];
		size_t nr = random_below(6), size = 1 + nr * CHANGE;

		input[0] = (uint8_t)i;
		for (size_t j = 1; j < size; j++)
			input[j] = (uint8_t)random_below(256);
		LLVMFuzzerTestOneInput(input, size);
	}
	free(ring_bytes);
	free(segment);
	printf("%ld executions, seed %llu\n", executions,
	       (unsigned long long)seed);
	return 0;
}

#endif
