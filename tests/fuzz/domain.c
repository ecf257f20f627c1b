/* SPDX-License-Identifier: MIT */
/*
 * domain.c - random changes of good packets of a domain, and what must hold for each: a
 * packet is accepted if and only if a slow check, in other words, accepts it, and then its
 * text is harmless and its numbers index what they are for.
 *
 *   ./domain [executions] [seed]     the same executions each time
 *
 * LLVMFuzzerTestOneInput() is there for libFuzzer, as in http.c.  The first two bytes of an
 * input say which packet, of which side, and how many descriptors; the rest are changes of
 * 4 bytes each: what to do, two bytes for the place, and a value.
 */
#include "domain/packet.h"

#include <errno.h>
#include <sley/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define HEAD 2u
#define CHANGE 4u
#define CHANGES_MAX 8u
#define KINDS 7u

/* ---- what must hold -------------------------------------------------------------- */

static const uint8_t *current;
static size_t current_size;

static void failed(const char *what, int line)
{
	fprintf(stderr, "domain.c:%d: %s does not hold for this input:\n", line,
		what);
	for (size_t i = 0; i < current_size; i++)
		fprintf(stderr, "%02x ", current[i]);
	fprintf(stderr, "\n");
	abort();
}

#define HOLDS(x) ((x) ? (void)0 : failed(#x, __LINE__))

/* A row of the protocol: which field must be how, for which kind. */
static bool is_good(const struct domain_packet *p, bool of_host,
		    uint32_t nr_fds)
{
	bool workers = p->nr - 1 < SLEY_WORKERS_MAX;
	bool cores = p->nr_cores - 1 < DOMAIN_CORES_MAX;
	bool member = p->index < DOMAIN_MEMBERS_MAX && p->generation;

	if (p->magic != DOMAIN_MAGIC || p->major != DOMAIN_MAJOR)
		return false;
	if (!of_host)
		return (p->kind == DOMAIN_HELLO && nr_fds == 1 && workers) ||
		       (p->kind == DOMAIN_LIST && nr_fds == 0);
	return (p->kind == DOMAIN_WELCOME && nr_fds == 1 && member && cores &&
		p->flags <= 1) ||
	       (p->kind == DOMAIN_REFUSED && nr_fds == 0 && p->code < 0) ||
	       (p->kind == DOMAIN_PEER && (nr_fds == 1 || nr_fds == 2) &&
		member && workers && p->pid >= 0) ||
	       (p->kind == DOMAIN_GONE && nr_fds == 0 && member) ||
	       (p->kind == DOMAIN_LISTED && nr_fds == 1 && cores &&
		p->nr <= DOMAIN_MEMBERS_MAX);
}

static bool is_text(const char *text)
{
	size_t length = strnlen(text, DOMAIN_TEXT);

	for (size_t i = 0; i < length; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return length < DOMAIN_TEXT;
}

/* ---- packets --------------------------------------------------------------------- */

static void make(struct domain_packet *packet, uint8_t what)
{
	const struct domain_person person = {
		.index = what % DOMAIN_MEMBERS_MAX,
		.nr_workers = 1 + what,
		.generation = 1 + what,
		.pid = what,
		.name = "fuzz\x07\xff",
	};

	switch (what % KINDS) {
	case 0:
		domain_packet_hello(packet, "fuzz\n", 1 + what);
		break;
	case 1:
		domain_packet_list(packet);
		break;
	case 2:
		domain_packet_welcome(packet, what % 64, 1, 1 + what, what & 8);
		break;
	case 3:
		domain_packet_refused(packet, -1 - what, "no: %s", "\x1b[2J");
		break;
	case 4:
		domain_packet_peer(packet, &person);
		break;
	case 5:
		domain_packet_gone(packet, what % 64, 7);
		break;
	default:
		domain_packet_listed(packet, what % 65, 1 + what);
	}
}

/* Applies a change to one number or byte of the packet. */
static void apply(struct domain_packet *packet, const uint8_t *change)
{
	static const uint32_t values[] = { 0,    1,    2,          7,
					   63,   64,   65,         255,
					   256,  257,  4095,       4096,
					   4097, 0x80, 0x80000000, UINT32_MAX };
	unsigned char *bytes = (unsigned char *)packet;
	size_t at = (change[1] | (size_t)change[2] << 8) % sizeof(*packet);

	if (change[0] & 1) {
		bytes[at] = change[3];
		return;
	}
	/* Most numbers are before the text. */
	at %= offsetof(struct domain_packet, text);
	memcpy(bytes + (at & ~(size_t)3), &values[change[3] % 16], 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct domain_packet packet;
	struct domain_person person;
	bool of_host, good;
	uint32_t nr_fds;
	int result;

	current = input;
	current_size = size;
	if (size < HEAD)
		return 0;
	make(&packet, input[0]);
	nr_fds = domain_packet_nr_fds(packet.kind);
	of_host = input[0] % KINDS > 1;
	if (input[1] % 8 == 1)
		of_host = !of_host;
	if (input[1] % 8 == 2)
		nr_fds = input[1] / 8;
	for (size_t at = HEAD; at + CHANGE <= size; at += CHANGE)
		apply(&packet, input + at);
	good = is_good(&packet, of_host, nr_fds);
	result = domain_packet_check(
		&packet, of_host ? DOMAIN_OF_HOST : DOMAIN_OF_GUEST, nr_fds);
	HOLDS(good == (result == 0));
	HOLDS(result == 0 || result == -EPROTO || result == -EPROTONOSUPPORT);
	HOLDS(result != -EPROTONOSUPPORT || packet.major != DOMAIN_MAJOR);
	HOLDS(packet.magic != DOMAIN_MAGIC || is_text(packet.text));
	if (result)
		return 0;
	domain_packet_read(&packet, &person);
	HOLDS(is_text(person.name));
	HOLDS(packet.kind != DOMAIN_PEER || person.index < DOMAIN_MEMBERS_MAX);
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
		uint8_t input[HEAD + CHANGES_MAX * CHANGE];
		size_t nr = random_below(4), size = HEAD + nr * CHANGE;

		for (size_t j = 0; j < size; j++)
			input[j] = (uint8_t)random_below(256);
		LLVMFuzzerTestOneInput(input, size);
	}
	printf("%ld executions, seed %llu\n", executions,
	       (unsigned long long)seed);
	return 0;
}

#endif
