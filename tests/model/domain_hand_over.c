/* SPDX-License-Identifier: MIT */
/*
 * domain_hand_over.c - a core goes from one process of a domain to another, by the lines of
 * src/domain/cores.c and src/domain/broker.c.
 *
 * Processes are threads; a process that is stopped is a thread whose turn does not come.  A
 * process dies in front of any change of a word of its page, and between the change and
 * the wake-up of the receiver: dies().
 *
 * At no time have two processes a worker on the core; but for the scene in which the host
 * takes the core of a process that is stopped: there only one of them thinks so in the end.
 * And the core is not lost: after the next tick of the host a process has it that wants
 * it.
 *
 * Complete for one core, two members and the host, where no number of delays is named.
 */
#include "explorer.h"

#include <setjmp.h>
#include <string.h>

#include "domain/page.h"

static void dies(void);

/* The changes of words, at each of which a process may die. */
#define member_core_change(page, core, expected, word)                         \
	(dies(), member_core_change(page, core, expected, word))
#define member_tell(page, to) (dies(), member_tell(page, to))

#include "domain/broker.c"
#include "domain/cores.c"
#include "domain/ledger_walk.h"

#define A 0u
#define B 1u
#define C 2u
#define NR 3u

static struct member_page page[NR], nobody;
static struct host_page host;
static struct broker broker;
static struct domain_view view[NR];
static int running; /* plain: the worker of the core is alone with it */
static jmp_buf death;
static bool is_mortal;
static struct {
	bool dead, got[NR], gave;
	uint64_t ejected;
} ledger;

/* ---- scenery --------------------------------------------------------------------------- */

/* Only A dies, and only in scenes about that. */
static void dies(void)
{
	if (is_mortal && model_thread() == A && !ledger.dead &&
	    model_choose(2)) {
		ledger.dead = true;
		longjmp(death, 1);
	}
}

static void begin(uint32_t nr, enum core_kind kind)
{
	const struct ledger_options options = LEDGER_OPTIONS_DEFAULT;
	const struct ledger_terms terms = { .weight = LEDGER_WEIGHT };

	memset(page, 0, sizeof(page));
	memset(&host, 0, sizeof(host));
	broker_init(&broker, &host, 1, 1, 1, &options);
	is_mortal = false;
	for (uint32_t i = 0; i < nr; i++) {
		view[i] = (struct domain_view){
			.self = i, .nr_cores = 1, .own = &page[i], .host = &host
		};
		for (uint32_t j = 0; j < DOMAIN_MEMBERS_MAX; j++)
			view[i].page[j] = j < nr ? &page[j] : &nobody;
		broker_admit(&broker, i, 1, &page[i], &terms);
		/* A alone gets the core, and the next tick finds it there. */
		(void)!broker_tick(&broker, true);
		if (i == A)
			(void)cores_take(&view[A]);
	}
	if (kind == CORE_IDLE)
		(void)cores_leave(&view[A], 0);
	page[A].runs = 30;
	(void)!broker_tick(&broker, true);
	running = kind == CORE_BUSY;
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	model_ledger(&broker, sizeof(broker));
	model_name(&page[A].core[0], "A's word");
	model_name(&page[B].core[0], "B's word");
	model_name(&page[C].core[0], "C's word");
	model_name(&host.core[0], "host's word");
	model_name(&page[A].gives[B], "A's gives to B");
	model_name(&page[B].gives[A], "B's gives to A");
	model_name(&host.gives[B], "host's gives to B");
}

/* The worker of the core is here, and nobody else is. */
static void enter(uint32_t member)
{
	model_access(&running);
	MODEL_CHECK(running == 0);
	running = 1;
	ledger.got[member] = true;
}

static void leave(void)
{
	model_access(&running);
	running = 0;
}

/* ---- an idle core -------------------------------------------------------------------------- */

static void idle(void)
{
	begin(2, CORE_IDLE);
	page[B].want = want_word(1, 1, 10);
}

static void a_resumes(int id)
{
	(void)id;
	if (cores_resume(&view[A]) != DOMAIN_NO_CORE)
		enter(A);
}

static void a_resumes_and_leaves(int id)
{
	(void)id;
	if (cores_resume(&view[A]) == DOMAIN_NO_CORE)
		return;
	enter(A);
	leave();
	(void)cores_leave(&view[A], 0);
}

static void b_takes(int id)
{
	(void)id;
	if (cores_take(&view[B]) != DOMAIN_NO_CORE)
		enter(B);
}

static void host_reclaims(int id)
{
	(void)id;
	broker.ledger.core[0].reclaim = B;
	reclaim(&broker, 0);
}

static void host_ticks(int id)
{
	(void)id;
	ledger.ejected |= broker_tick(&broker, true);
}

/* The core has a worker, or B, which wants it, gets it with the next tick. */
static void core_is_not_lost(void)
{
	ledger.ejected |= broker_tick(&broker, true);
	MODEL_CHECK(!ledger.ejected);
	if (running)
		return;
	MODEL_CHECK(cores_take_any(&view[B]) == 0);
}

MODEL(an_idle_core_has_one_winner, .setup = idle,
      .threads = { a_resumes, b_takes, host_reclaims },
      .finish = core_is_not_lost);

MODEL(an_idle_core_is_found_by_the_tick, .setup = idle,
      .threads = { a_resumes_and_leaves, b_takes, host_ticks },
      .finish = core_is_not_lost, .delays = 3);

/* A gives the core on while the host believes that it is idle. */
static void idle_of_three(void)
{
	begin(3, CORE_IDLE);
	page[B].want = want_word(1, 1, 10);
}

static void a_resumes_and_gives(int id)
{
	(void)id;
	if (cores_resume(&view[A]) == DOMAIN_NO_CORE)
		return;
	enter(A);
	leave();
	(void)cores_give(&view[A], 0, C);
}

static void c_enters(int id)
{
	(void)id;
	if (cores_take(&view[C]) != DOMAIN_NO_CORE)
		enter(C);
}

static void b_or_c_has_it(void)
{
	ledger.ejected |= broker_tick(&broker, true);
	MODEL_CHECK(!ledger.ejected);
	if (running)
		return;
	MODEL_CHECK((cores_take_any(&view[B]) == 0) +
			    (cores_take_any(&view[C]) == 0) ==
		    1);
}

MODEL(an_idle_core_that_is_given_has_one_taker, .setup = idle_of_three,
      .threads = { a_resumes_and_gives, b_takes, c_enters, host_reclaims },
      .finish = b_or_c_has_it, .delays = 4);

/* Two threads of A. */
static void a_resumes_twice(int id)
{
	a_resumes(id);
}

MODEL(an_idle_core_is_resumed_once, .setup = idle,
      .threads = { a_resumes, a_resumes_twice, host_reclaims },
      .finish = core_is_not_lost);

/* ---- a core that is given ------------------------------------------------------------------- */

static void busy(void)
{
	begin(2, CORE_BUSY);
	page[B].want = want_word(1, 1, 10);
	page[B].runs = DOMAIN_LEVELS;
}

static void a_gives(int id)
{
	(void)id;
	leave();
	ledger.gave = cores_give(&view[A], 0, B);
	cores_wake(&view[A]);
}

/* As the leader of a gate sleeps, but on the word of A alone. */
static void b_waits(int id)
{
	(void)id;
	while (cores_take(&view[B]) == DOMAIN_NO_CORE)
		(void)os_futex_wait_shared(&page[A].gives[B], view[B].heard[A],
					   UINT64_MAX);
	enter(B);
}

static void b_has_it(void)
{
	MODEL_CHECK(ledger.got[B] && !ledger.ejected);
}

MODEL(a_give_wakes_the_receiver, .setup = busy, .threads = { a_gives, b_waits },
      .finish = b_has_it);

static void b_waits_too(int id)
{
	b_waits(id);
	leave();
	(void)cores_leave(&view[B], 0);
}

MODEL(a_give_is_taken_once, .setup = busy,
      .threads = { a_gives, b_takes, b_takes }, .finish = core_is_not_lost);

MODEL(a_give_is_no_lie, .setup = busy,
      .threads = { a_gives, b_waits_too, host_ticks }, .finish = b_has_it,
      .delays = 3);

static void b_gives_back(int id)
{
	(void)id;
	if (cores_take(&view[B]) == DOMAIN_NO_CORE)
		return;
	enter(B);
	leave();
	(void)cores_give(&view[B], 0, A);
}

static void a_gives_and_takes(int id)
{
	a_gives(id);
	if (cores_take(&view[A]) != DOMAIN_NO_CORE) {
		enter(A);
		leave();
		(void)cores_give(&view[A], 0, B);
	}
}

static void nobody_lies(void)
{
	ledger.ejected |= broker_tick(&broker, true);
	MODEL_CHECK(!ledger.ejected);
	MODEL_CHECK(cores_take_any(&view[A]) == 0 ||
		    cores_take_any(&view[B]) == 0);
}

MODEL(a_core_to_and_fro_is_no_lie, .setup = busy,
      .threads = { a_gives_and_takes, b_gives_back, host_ticks },
      .finish = nobody_lies, .delays = 3);

/* ---- a core that is not taken ---------------------------------------------------------------- */

/* A has given the core to B, which wants nothing any more; C wants it. */
static void untaken(void)
{
	begin(3, CORE_BUSY);
	running = 0;
	(void)cores_give(&view[A], 0, B);
	(void)!broker_tick(&broker, false);
	(void)!broker_tick(&broker, false);
	page[C].want = want_word(1, 1, 10);
	model_ledger(&broker, sizeof(broker));
}

static void c_takes_it(int id)
{
	(void)id;
	if (cores_take_any(&view[C]) != DOMAIN_NO_CORE)
		enter(C);
}

static void b_takes_any(int id)
{
	(void)id;
	if (cores_take_any(&view[B]) != DOMAIN_NO_CORE)
		enter(B);
}

static void b_takes_and_leaves(int id)
{
	(void)id;
	if (cores_take_any(&view[B]) == DOMAIN_NO_CORE)
		return;
	enter(B);
	leave();
	(void)cores_leave(&view[B], 0);
}

/* B or C has it, or C gets it with the next ticks, however B was disturbed. */
static void c_is_not_forgotten(void)
{
	ledger.ejected |= broker_tick(&broker, true);
	if (!running && cores_take_any(&view[C]) == DOMAIN_NO_CORE) {
		ledger.ejected |= broker_tick(&broker, true);
		MODEL_CHECK(cores_take_any(&view[C]) == 0);
	}
	MODEL_CHECK(!ledger.ejected);
}

MODEL(an_untaken_core_has_one_winner, .setup = untaken,
      .threads = { b_takes_any, c_takes_it, host_ticks },
      .finish = c_is_not_forgotten, .delays = 4);

MODEL(an_untaken_core_is_found_by_the_tick, .setup = untaken,
      .threads = { b_takes_and_leaves, c_takes_it, host_ticks },
      .finish = c_is_not_forgotten, .delays = 3);

/* ---- death ---------------------------------------------------------------------------------- */

static void mortal_busy(void)
{
	busy();
	is_mortal = true;
}

static void mortal_idle(void)
{
	idle();
	is_mortal = true;
}

static void a_gives_or_dies(int id)
{
	leave();
	if (!setjmp(death))
		a_gives(id);
}

static void a_resumes_or_dies(int id)
{
	if (!setjmp(death))
		a_resumes_and_leaves(id);
}

/* At the end the host has heard of it, and ticks. */
static void b_inherits(void)
{
	if (ledger.dead)
		broker_retire(&broker, A);
	ledger.ejected |= broker_tick(&broker, true);
	MODEL_CHECK(!ledger.ejected);
	if (!ledger.dead || ledger.got[B])
		return;
	MODEL_CHECK(cores_take(&view[B]) == 0);
}

MODEL(a_giver_that_dies_loses_no_core, .setup = mortal_busy,
      .threads = { a_gives_or_dies, b_takes }, .finish = b_inherits);

MODEL(a_giver_that_dies_beside_a_tick, .setup = mortal_busy,
      .threads = { a_gives_or_dies, b_takes, host_ticks }, .finish = b_inherits,
      .delays = 3);

MODEL(a_holder_that_dies_loses_no_core, .setup = mortal_idle,
      .threads = { a_resumes_or_dies, b_takes, host_reclaims },
      .finish = b_inherits);

/* ---- a core that is taken by force ----------------------------------------------------------- */

static void stopped(void)
{
	begin(3, CORE_BUSY);
}

static void host_takes_it(int id)
{
	(void)id;
	ledger_give(&broker.ledger, 0, B);
	publish(&broker, 0);
}

static void a_gives_to_c(int id)
{
	(void)id;
	(void)cores_give(&view[A], 0, C);
}

static void c_takes(int id)
{
	(void)id;
	(void)cores_take(&view[C]);
}

static void b_takes_it(int id)
{
	(void)id;
	(void)cores_take(&view[B]);
}

/* B may still have to take it.  All others know that they have it no more. */
static void b_alone_holds_it(void)
{
	(void)cores_take_any(&view[B]);
	MODEL_CHECK(cores_hold(&view[B], 0));
	MODEL_CHECK(!cores_hold(&view[A], 0));
	MODEL_CHECK(!cores_hold(&view[C], 0));
	MODEL_CHECK(cores_take_any(&view[C]) == DOMAIN_NO_CORE);
	MODEL_CHECK(!broker_tick(&broker, true));
	MODEL_CHECK(broker.ledger.core[0].member == B);
}

MODEL(a_core_taken_by_force_has_one_holder, .setup = stopped,
      .threads = { a_gives_to_c, c_takes, b_takes_it, host_takes_it },
      .finish = b_alone_holds_it);
