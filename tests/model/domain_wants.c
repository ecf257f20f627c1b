/* SPDX-License-Identifier: MIT */
/*
 * domain_wants.c - a core that nobody needs and a want for it do not miss each other, and a
 * want gets no more cores than it asks for: src/domain/wants.c.
 *
 * And a want that is above the limit of its member, in the page of the host, never counts.
 *
 * Processes are threads; a packet is a word with an edge of its own.  Complete for two
 * members, for two workers of one of them, and for a host.
 */
#include "explorer.h"

#include "domain/wants.c"

#include <string.h>

#define A 0u
#define B 1u

static struct member_page page[2], nobody;
static struct host_page host;
static struct domain_view view[2];
static struct wants wants[2];
static struct ledger {
	int nr_served;
	uint32_t nr_asks; /* before the last want */
} ledger;
static uint32_t packet; /* 1: the host has welcomed B */

static void setup(void)
{
	memset(page, 0, sizeof(page));
	memset(&host, 0, sizeof(host));
	memset(&ledger, 0, sizeof(ledger));
	packet = 0;
	host.live = 3;
	for (uint32_t core = 0; core < 2; core++) {
		page[A].core[core] = core_word(4, CORE_BUSY, DOMAIN_HOST);
		host.core[core] = core_word(4, CORE_SEEN, A);
	}
	for (uint32_t i = 0; i < 2; i++) {
		view[i] = (struct domain_view){
			.self = i, .nr_cores = 2, .own = &page[i], .host = &host
		};
		for (uint32_t j = 0; j < DOMAIN_MEMBERS_MAX; j++)
			view[i].page[j] = j < 2 ? &page[j] : &nobody;
		wants_init(&wants[i], &view[i]);
	}
	model_ledger(&ledger, sizeof(ledger));
	model_name(&page[A].core[0], "A's word");
	model_name(&page[B].want, "B's want");
}

/* ---- an idle core ------------------------------------------------------------------------ */

static void a_leaves(int id)
{
	(void)id;
	wants_leave(&wants[A], 0);
}

static void b_wants(int id)
{
	(void)id;
	ledger.nr_asks = member_asks(&page[B]);
	wants_tell(&wants[B], 1, 40);
}

/* A gave the core, or the host has been asked to look, by the last want. */
static void want_is_seen(void)
{
	MODEL_CHECK(cores_take(&view[B]) == 0 || page[B].asks > ledger.nr_asks);
}

MODEL(a_want_sees_the_idle_core_or_is_seen, .setup = setup,
      .threads = { a_leaves, b_wants }, .finish = want_is_seen);

/* The want that comes first is taken back. */
static void b_wants_again(int id)
{
	wants_tell(&wants[B], 1, 40);
	wants_tell(&wants[B], 0, 0);
	b_wants(id);
}

MODEL(ru5_a_want_that_was_taken_back_and_set_again_is_seen, .setup = setup,
      .threads = { a_leaves, b_wants_again }, .finish = want_is_seen);

/* ---- two workers look at one want --------------------------------------------------------- */

static void b_wants_one(void)
{
	setup();
	page[B].want = want_word(1, 1, 10);
}

static void a_serves(int id)
{
	if (wants_serve(&wants[A], (uint32_t)id, 30) != WANTS_NOBODY)
		ledger.nr_served++;
}

static void one_core_was_given(void)
{
	MODEL_CHECK(ledger.nr_served == 1);
	MODEL_CHECK(cores_take(&view[B]) != DOMAIN_NO_CORE);
	MODEL_CHECK(cores_take(&view[B]) == DOMAIN_NO_CORE);
}

MODEL(a_want_for_one_core_gets_one, .setup = b_wants_one,
      .threads = { a_serves, a_serves }, .finish = one_core_was_given);

/* The want changes while the two look: no more than both are given. */
static void b_changes_its_mind(int id)
{
	(void)id;
	wants_tell(&wants[B], 0, 0);
	wants_tell(&wants[B], 1, 10);
}

static void not_lost(void)
{
	int nr = 0;

	while (cores_take(&view[B]) != DOMAIN_NO_CORE)
		nr++;
	MODEL_CHECK(nr == ledger.nr_served);
}

MODEL(ru5_a_want_that_changes_loses_no_core, .setup = b_wants_one,
      .threads = { a_serves, a_serves, b_changes_its_mind },
      .finish = not_lost);

/* ---- limits ------------------------------------------------------------------------------- */

static void host_welcomes(int id)
{
	(void)id;
	host_highest_set(&host, B, 40);
	store_release(&packet, 1);
}

static void b_wants_when_welcome(int id)
{
	(void)id;
	if (load_acquire(&packet))
		wants_tell(&wants[B], 1, 0);
}

static void a_serves_what_is_above_40(int id)
{
	(void)id;
	MODEL_CHECK(wants_serve(&wants[A], 0, 40) == WANTS_NOBODY);
}

MODEL(ru8_no_want_counts_before_its_limit, .setup = setup,
      .threads = { host_welcomes, b_wants_when_welcome,
		   a_serves_what_is_above_40 });
