/* SPDX-License-Identifier: MIT */
/*
 * domain_eye.c - see domain_eye.h.
 *
 * The question to the host is that of sley_domain_list(), whose source is included.
 */
#include "stress/domain_eye.h"

#include "harness/test.h"

#include "domain/listing.c"

#include <stdlib.h>

#define BEATS_MAX 2u /* a tick that was under way, and a whole one */

/* ---- the pages ------------------------------------------------------------------------- */

void eye_close(struct eye *eye)
{
	for (uint32_t i = 0; i < eye->nr; i++)
		os_unmap((void *)(uintptr_t)eye->members[i].page,
			 DOMAIN_PAGE_SIZE);
	if (eye->host)
		os_unmap((void *)(uintptr_t)eye->host, DOMAIN_PAGE_SIZE);
	eye->host = NULL;
	eye->nr = 0;
}

static void take_over(struct eye *eye, struct listing *listing)
{
	CHECK_LE(listing->nr_cores, EYE_CORES);
	eye->host = listing->host;
	eye->nr_cores = listing->nr_cores;
	eye->nr = listing->nr;
	for (uint32_t i = 0; i < listing->nr; i++) {
		const struct domain_person *person = &listing->person[i];

		eye->members[i] =
			(struct eye_member){ .pid = person->pid,
					     .seat = person->index,
					     .generation = person->generation,
					     .page = listing->page[i] };
		if (person->generation > eye->generation_max)
			eye->generation_max = person->generation;
	}
}

void eye_open(struct eye *eye, const char *path)
{
	struct listing *listing = calloc(1, sizeof(*listing));
	struct domain_place place;

	eye_close(eye);
	listing->deadline_ns = os_now() + TALK_NS;
	CHECK_EQ(domain_place_find(&place, path), 0);
	listing->socket = talk_connect(&place, -1, listing->deadline_ns);
	CHECK_GE(listing->socket, 0);
	CHECK_EQ(ask(listing), 0);
	os_close(listing->socket);
	take_over(eye, listing);
	free(listing);
}

struct eye_member *eye_find(struct eye *eye, pid_t pid)
{
	for (uint32_t i = 0; i < eye->nr; i++) {
		if (eye->members[i].pid == pid)
			return &eye->members[i];
	}
	return NULL;
}

/* ---- a look ---------------------------------------------------------------------------- */

/* The true word of a core is the one with the highest generation. */
static void find_holder(struct eye *eye, uint32_t core)
{
	uint64_t newest = core_generation(host_core(eye->host, core));

	eye->holder[core] = EYE_NOBODY;
	for (uint32_t i = 0; i < eye->nr; i++) {
		uint64_t word = member_core(eye->members[i].page, core);

		if (core_generation(word) < newest || !core_is_held(word) ||
		    eye->members[i].is_gone)
			continue;
		newest = core_generation(word);
		eye->holder[core] = i;
		eye->is_busy[core] = core_kind(word) == CORE_BUSY;
	}
}

/* The generation with which @member runs on a core that is another's; 0: it does not. */
static uint64_t outdated(const struct eye *eye, const struct eye_member *member,
			 uint32_t core)
{
	uint64_t word = member_core(member->page, core);

	for (uint32_t i = 0; i < eye->nr; i++) {
		const struct eye_member *other = &eye->members[i];
		uint64_t newer = member_core(other->page, core);

		if (core_kind(word) == CORE_BUSY && !other->is_gone &&
		    core_kind(newer) == CORE_BUSY &&
		    core_generation(newer) > core_generation(word) &&
		    member_core(member->page, core) == word)
			return core_generation(word);
	}
	return 0;
}

static void watch(struct eye *eye, struct eye_member *member, uint32_t core)
{
	struct eye_claim *claim = &member->claims[core];
	uint32_t beat = member_beats(member->page);
	uint64_t generation = outdated(eye, member, core);

	if (!generation || generation != claim->generation) {
		claim->generation = generation;
		claim->beat = member_beats(member->page);
		eye->nr_twice += generation != 0;
		return;
	}
	if (beat - claim->beat > eye->beats_max)
		eye->beats_max = beat - claim->beat;
	if (!eye->may_be_fooled)
		CHECK_LE(beat - claim->beat, BEATS_MAX);
}

void eye_look(struct eye *eye)
{
	for (uint32_t core = 0; core < eye->nr_cores; core++) {
		find_holder(eye, core);
		for (uint32_t i = 0; i < eye->nr; i++) {
			if (!eye->members[i].is_gone)
				watch(eye, &eye->members[i], core);
		}
	}
}

/* ---- what is left of a member ---------------------------------------------------------- */

bool eye_names(const struct eye *eye, uint32_t seat, uint64_t generation)
{
	/* relaxed: for people. */
	if (host_live(eye->host) >> seat & 1 ||
	    load_relaxed(&eye->host->member[seat]) == generation)
		return true;
	for (uint32_t core = 0; core < eye->nr_cores; core++) {
		if (wish_member(host_wish(eye->host, core)) == seat)
			return true;
	}
	return false;
}

uint64_t eye_gives_of_members(const struct eye *eye, uint32_t seat)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < eye->nr; i++) {
		if (!eye->members[i].is_gone)
			nr += member_gives(eye->members[i].page, seat);
	}
	return nr;
}

uint32_t eye_gives_of_host(const struct eye *eye, uint32_t seat)
{
	return host_gives(eye->host, seat);
}
