/* SPDX-License-Identifier: MIT */
/*
 * listing.c - see listing.h.
 */
#include "domain/listing.h"

#include "core/task/task_state.h"
#include "domain/talk.h"
#include "mem/alloc.h"
#include "os/clock.h"
#include "os/map.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <string.h>

_Static_assert(SLEY_DOMAIN_MEMBERS_MAX == DOMAIN_MEMBERS_MAX,
	       "one limit, two names");
_Static_assert(SLEY_DOMAIN_CORES_MAX == DOMAIN_CORES_MAX, "as above");
_Static_assert(SLEY_DOMAIN_NAME == DOMAIN_PATH_SIZE, "as above");
_Static_assert(SLEY_DOMAIN_PROGRAM == DOMAIN_TEXT, "as above");

/* Too large for the stack of a fiber. */
struct listing {
	int socket;
	uint64_t deadline_ns;
	const struct host_page foreign *host;
	uint32_t nr_cores;
	uint32_t nr;
	struct domain_person person[DOMAIN_MEMBERS_MAX];
	const struct member_page foreign *page[DOMAIN_MEMBERS_MAX];
	uint32_t nr_held[DOMAIN_MEMBERS_MAX]; /* in the order of .person     */
};

/* ---- the question ---------------------------------------------------------------------- */

/* A packet of this kind, and its page. */
static int receive(struct listing *listing, uint32_t kind,
		   struct domain_packet *packet, const void **page)
{
	int fds[DOMAIN_PACKET_FDS];
	int err = talk_receive(listing->socket, packet, fds, -1,
			       listing->deadline_ns);

	if (err)
		return err;
	os_close(fds[1]); /* a line, which a host does not send to a tool */
	if (packet->kind == kind)
		return talk_map(fds[0], page);
	os_close(fds[0]);
	return packet->kind == DOMAIN_REFUSED ? packet->code : -EPROTO;
}

static int receive_members(struct listing *listing, uint32_t nr)
{
	struct domain_packet packet;
	const void *page;
	int err = 0;

	while (!err && listing->nr < nr) {
		err = receive(listing, DOMAIN_PEER, &packet, &page);
		if (err)
			break;
		listing->page[listing->nr] = page;
		domain_packet_read(&packet, &listing->person[listing->nr]);
		listing->nr++;
	}
	return err;
}

static int ask(struct listing *listing)
{
	struct domain_packet packet;
	const void *page;
	int err;

	domain_packet_list(&packet);
	err = talk_send(listing->socket, &packet, -1);
	if (!err)
		err = receive(listing, DOMAIN_LISTED, &packet, &page);
	if (err)
		return err;
	listing->host = page;
	listing->nr_cores = packet.nr_cores;
	return receive_members(listing, packet.nr);
}

/* ---- what the pages say ---------------------------------------------------------------- */

/* The true word of a core is the one with the highest generation. */
static void count_holder(struct listing *listing, uint32_t core)
{
	uint64_t newest = core_generation(host_core(listing->host, core));
	uint32_t holder = DOMAIN_NOBODY;

	for (uint32_t i = 0; i < listing->nr; i++) {
		uint64_t word = member_core(listing->page[i], core);

		if (core_generation(word) < newest || !core_is_held(word))
			continue;
		newest = core_generation(word);
		holder = i;
	}
	if (holder != DOMAIN_NOBODY)
		listing->nr_held[holder]++;
}

static int32_t most_urgent(const struct listing *listing, uint32_t index)
{
	return (int32_t)host_highest(listing->host, index) - LEVEL_DEFAULT;
}

static void describe(const struct listing *listing, uint32_t i,
		     struct sley_domain_member *out)
{
	const struct member_page foreign *page = listing->page[i];
	const struct domain_person *person = &listing->person[i];
	struct member_figures figures;

	foreign_read(&figures, &page->figures, sizeof(figures));
	*out = (struct sley_domain_member){
		.index = person->index,
		.pid = person->pid,
		.uid = person->uid,
		.nr_workers = person->nr_workers,
		.strict = member_is_strict(page),
		.nr_held = listing->nr_held[i],
		.nr_waiting = want_nr(member_want(page)),
		.load = member_load(page),
		.levels = member_levels(page),
		.given = figures.nr_given,
		.taken = figures.nr_taken,
		.entries = figures.nr_asked,
		.in_vain = figures.nr_in_vain,
		.overtakes = figures.nr_overtook,
		.waits = figures.nr_waits,
		.wait_ns = figures.wait_ns,
		.most_urgent = most_urgent(listing, person->index),
		.share = person->share,
	};
	memcpy(out->program, person->name, sizeof(out->program));
}

/* ---- the call -------------------------------------------------------------------------- */

static void free_listing(struct listing *listing)
{
	for (uint32_t i = 0; i < listing->nr; i++)
		os_unmap((void *)(uintptr_t)listing->page[i], DOMAIN_PAGE_SIZE);
	if (listing->host)
		os_unmap((void *)(uintptr_t)listing->host, DOMAIN_PAGE_SIZE);
	mem_free(&sley__program_mem, listing, sizeof(*listing));
}

/* @socket is closed. */
static int make(struct listing *listing, int socket,
		struct sley_domain_member *members, uint32_t room)
{
	int err;

	listing->socket = socket;
	err = ask(listing);
	os_close(socket);
	if (err)
		return err;
	for (uint32_t core = 0; core < listing->nr_cores; core++)
		count_holder(listing, core);
	for (uint32_t i = 0; i < listing->nr && i < room; i++)
		describe(listing, i, &members[i]);
	return (int)listing->nr;
}

int listing_make(const char *name, struct sley_domain_member *members,
		 uint32_t room, uint32_t *nr_cores)
{
	struct domain_place place;
	struct listing *listing;
	int result = domain_place_find(&place, name);

	if (result)
		return result;
	listing = mem_alloc(&sley__program_mem, sizeof(*listing));
	if (!listing)
		return -ENOMEM;
	listing->deadline_ns = os_now() + TALK_NS;
	result = talk_connect(&place, -1, listing->deadline_ns);
	if (result >= 0)
		result = make(listing, result, members, room);
	if (result >= 0 && nr_cores)
		*nr_cores = listing->nr_cores;
	free_listing(listing);
	return result == -ECONNREFUSED ? -ENOENT : result;
}
