/* SPDX-License-Identifier: MIT */
/*
 * domain.c - the simulator of a domain: members that share cores, and their host.
 *
 *   ./sim_domain [--seeds N] [--first N]   N histories; the same ones each time
 *   ./sim_domain --today [--seeds N]       others each day
 *   ./sim_domain --seed N [--trace]        one history, and what happens in it
 *
 * A process can be left for another one at each atomic operation of src/domain, and there
 * it can be killed or stopped.  One member may be hostile: it writes to its page what it
 * likes; or it is *cunning*: it has cores as others have, gives them, and hides it or gives
 * them again.
 *
 * What must hold, in any history:
 *
 *   - no two workers have one core at a time; but for a tick, if a member was stopped
 *     shortly before, or a hostile one is there
 *   - no core is lost: while a member wants a core, each core has a worker again within
 *     five ticks: the host waits for three until a receiver counts as stopped
 *   - an honest member is never ejected; a hostile one that writes nonsense always is.
 *     Who has lied of a cunning one and of those it fooled, nobody can know
 *   - a dead member is in no set of live members, and nobody gives it anything, two ticks
 *     after its death; but for a core that went round so fast that the host saw nothing
 */
#include "step.h"
#include "world.h"

#include "base/bits.h"
#include "domain/broker.h"
#include "domain/wants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEMBERS 6u
#define LIVES 3u /* of an index */
#define CORES_MAX 5u
#define TICK (2 * MS)
#define END_NS (120 * MS)

struct life {
	struct process process;
	struct member_page *page;
	struct domain_view view;
	struct wants wants;
	uint32_t index;
	bool strict, hostile, cunning, ejected, joined;
	bool ticks;          /* its monitor is awake                */
	uint64_t died_ns;    /* 0: lives                          */
	uint64_t resumed_ns; /* the end of the last SIGSTOP       */
	uint64_t tick_ns, demand_until;
	uint32_t demand, level;
	bool runs[CORES_MAX];
	bool asked[CORES_MAX];
	uint64_t wants_since; /* 0: it wants nothing */
};

static const char *program;
static struct process host_process;
static struct broker broker;
static struct host_page *host_page;
static struct life lives[MEMBERS * LIVES];
static uint32_t nr_lives, nr_cores;
static struct life *member[MEMBERS];
static uint64_t overlap_since[CORES_MAX];
static uint64_t unused_since[CORES_MAX];
static bool kills, stops, strict_only;
static struct life *hostile;

/* Of all histories. */
static struct {
	uint64_t lives, kills, stops, ejected, gives;
} counts;

/* Nobody asks what is begun, and pages are not given back before the end. */
void sim_stored(const void *at, size_t size)
{
	(void)at;
	(void)size;
}

void shared_put(struct shared *shared)
{
	(void)shared;
}

/* ---- a member -------------------------------------------------------------------------- */

static uint32_t nr_busy(const struct life *life)
{
	uint32_t nr = 0;

	for (uint32_t core = 0; core < nr_cores; core++)
		nr += life->runs[core];
	return nr;
}

static void begins_to_run(struct life *life, int core)
{
	trace("runs on core %d, since %llu, of %u", core,
	      (unsigned long long)core_generation(life->page->core[core]),
	      core_member(life->page->core[core]));
	HOLDS(!life->runs[core], "two workers of a process on core %d", core);
	life->runs[core] = true;
}

static void ceases_to_run(struct life *life, uint32_t core)
{
	trace("no longer runs on core %u, since %llu", core,
	      (unsigned long long)core_generation(life->page->core[core]));
	life->runs[core] = false;
}

static void tick_of(struct life *life)
{
	int core;

	member_beat(life->page);
	member_show(life->page, life->demand ? 1ull << life->level : 0,
		    nr_busy(life) ? life->level : DOMAIN_LEVELS, 0);
	for (uint32_t i = 0; i < nr_cores; i++)
		life->asked[i] = true;
	while ((core = cores_take_any(&life->view)) != DOMAIN_NO_CORE)
		(void)cores_leave(&life->view, (uint32_t)core);
	wants_tick(&life->wants);
}

/* A worker at a pick. */
static void look_around(struct life *life, uint32_t core)
{
	uint32_t wish;

	if (!cores_hold(&life->view, core)) {
		ceases_to_run(life, core);
		return;
	}
	if (!life->asked[core] &&
	    !(life->strict &&
	      wants_look(&life->wants, life->level) != WANTS_NOBODY))
		return;
	life->asked[core] = false;
	wish = wish_member(host_wish(life->view.host, core));
	ceases_to_run(life, core);
	if (wants_serve_peer(&life->wants, core, wish) ||
	    wants_serve(&life->wants, core, life->level) != WANTS_NOBODY)
		return;
	if (cores_hold(&life->view, core))
		begins_to_run(life, (int)core);
}

static void take_cores(struct life *life)
{
	while (nr_busy(life) < life->demand) {
		int core = cores_resume(&life->view);

		if (core == DOMAIN_NO_CORE)
			core = cores_take(&life->view);
		if (core == DOMAIN_NO_CORE)
			return;
		begins_to_run(life, core);
	}
}

static void say_want(struct life *life)
{
	uint32_t nr = life->demand - nr_busy(life);
	uint64_t now = member_want(life->page);

	if (nr_busy(life) > life->demand)
		nr = 0;
	life->wants_since =
		nr ? life->wants_since ? life->wants_since : world.now_ns : 0;
	if (want_nr(now) != nr || (nr && want_level(now) != life->level))
		wants_tell(&life->wants, nr, life->level);
}

static void run(struct life *life)
{
	for (uint32_t core = 0; core < nr_cores; core++) {
		if (!life->runs[core])
			continue;
		if (nr_busy(life) > life->demand) {
			ceases_to_run(life, core);
			wants_leave(&life->wants, core);
		} else {
			look_around(life, core);
		}
	}
	take_cores(life);
	say_want(life);
	cores_wake(&life->view);
}

static void demand(struct life *life)
{
	bool was_asleep = !life->demand && !nr_busy(life);

	if (world.now_ns < life->demand_until)
		return;
	life->demand = one_in(3) ? 0 : draw(nr_cores + 1);
	life->level = 8 + 8 * draw(4);
	life->demand_until = world.now_ns + draw(6 * MS);
	/* It wakes up; its monitor looks later, unless it has not slept yet. */
	if (was_asleep && !life->ticks) {
		life->tick_ns = world.now_ns + draw(TICK);
		life->ticks = true;
	}
	trace("wants %u cores for level %u", life->demand, life->level);
}

static void sleep_a_while(struct life *life)
{
	uint64_t until = life->demand_until;

	if (nr_busy(life))
		until = world.now_ns + draw(20 * US);
	else if (life->demand && cores_have_news(&life->view))
		return;
	if (life->ticks && life->tick_ns < until)
		until = life->tick_ns;
	process_sleep(until);
}

static void member_main(void *self)
{
	struct life *life = self;

	while (!life->ejected) {
		demand(life);
		if (life->ticks && world.now_ns >= life->tick_ns) {
			tick_of(life);
			life->tick_ns = world.now_ns + TICK;
			/* The monitor goes to sleep in its look, and not before. */
			life->ticks = life->demand || nr_busy(life);
		}
		run(life);
		sleep_a_while(life);
	}
	memset(life->runs, 0, sizeof(life->runs));
}

/* ---- a hostile member ------------------------------------------------------------------- */

static uint64_t nonsense(void)
{
	uint32_t core = draw(nr_cores);
	uint64_t near = core_generation(host_page->core[core]) + draw(40);
	uint32_t who = draw(MEMBERS + 1);

	switch (draw(3)) {
	case 0:
		return rand_next(&world.rand);
	case 1:
		return core_word(near, CORE_GIVEN, who);
	default:
		return core_word(near, draw(2) ? CORE_BUSY : CORE_IDLE, who);
	}
}

/* Gives the core, but for what it may say later. */
static void seem_to_give(struct life *life, uint32_t core, uint64_t word,
			 uint32_t more)
{
	uint32_t to = (life->index + 1 + draw(MEMBERS - 1)) % MEMBERS;

	life->page->core[core] =
		core_word(core_generation(word) + 1 + more, CORE_GIVEN, to);
	trace("gives core %u with %llu to %u", core,
	      (unsigned long long)core_generation(life->page->core[core]), to);
	member_tell(life->page, to);
	member_wake(life->page, to);
}

/* It has @core, as @word says.  Others do something with what they were given. */
static void fool(struct life *life, uint32_t core, uint64_t word)
{
	seem_to_give(life, core, word, one_in(4) ? 2 * draw(8) : 0);
	process_sleep(world.now_ns + draw(one_in(2) ? 10 * US : 2 * MS));
	switch (draw(4)) {
	case 0:
		return;
	case 1:
		seem_to_give(life, core, word, one_in(4) ? 2 * draw(8) : 0);
		return;
	case 2:
		word = core_word(core_generation(word), CORE_NONE,
				 DOMAIN_NOBODY);
	}
	trace("hides that it gave core %u", core);
	life->page->core[core] = word;
}

static void cunning_main(void *self)
{
	struct life *life = self;

	while (!life->ejected) {
		uint32_t nr = draw(nr_cores + 1);

		member_beat(life->page);
		member_show(life->page, 1, 8 * draw(5), 0);
		wants_tell(&life->wants, nr, 8 * draw(5));
		while (cores_take_any(&life->view) != DOMAIN_NO_CORE)
			;
		for (uint32_t core = 0; core < nr_cores; core++) {
			uint64_t word = life->page->core[core];

			if (cores_hold(&life->view, core) && !one_in(3))
				fool(life, core, word);
		}
		process_sleep(world.now_ns + draw(MS));
	}
}

static void hostile_main(void *self)
{
	struct life *life = self;
	uint64_t *words = (uint64_t *)life->page;

	if (life->cunning)
		cunning_main(life);
	while (!life->ejected) {
		uint32_t nr = 1 + draw(64);

		for (uint32_t i = 0; i < nr; i++) {
			if (one_in(2))
				life->page->core[draw(nr_cores)] = nonsense();
			else
				words[draw(DOMAIN_PAGE_SIZE / 8)] =
					rand_next(&world.rand);
		}
		for (uint32_t i = 0; i < MEMBERS; i++)
			life->page->gives[i]++;
		process_sleep(world.now_ns + draw(MS));
	}
}

/* ---- lives ------------------------------------------------------------------------------ */

static void was_killed(void *self)
{
	struct life *life = self;

	memset(life->runs, 0, sizeof(life->runs));
	life->died_ns = world.now_ns;
	/* The host hears of it a little later. */
}

static void begin_life(uint32_t index, bool is_hostile)
{
	struct life *life = &lives[nr_lives++];
	char name[16];

	counts.lives++;
	*life = (struct life){ .index = index,
			       .strict = strict_only || one_in(2),
			       .hostile = is_hostile };
	if (posix_memalign((void **)&life->page, DOMAIN_PAGE_SIZE,
			   DOMAIN_PAGE_SIZE))
		abort();
	memset(life->page, 0, DOMAIN_PAGE_SIZE);
	life->view = (struct domain_view){ .self = index,
					   .nr_cores = nr_cores,
					   .own = life->page,
					   .host = host_page };
	for (uint32_t i = 0; i < MEMBERS; i++) {
		life->view.page[i] = member[i] ? member[i]->page : life->page;
		if (member[i])
			member[i]->view.page[index] = life->page;
	}
	wants_init(&life->wants, &life->view);
	member[index] = life;
	if (is_hostile) {
		hostile = life;
		life->cunning = one_in(2);
	}
	(void)snprintf(name, sizeof(name), "%s%u.%u", is_hostile ? "evil" : "m",
		       index, nr_lives);
	life->process.killed = was_killed;
	process_start(&life->process, name,
		      is_hostile ? hostile_main : member_main, life);
}

/* ---- the host --------------------------------------------------------------------------- */

/* Of two users; many are as usual. */
static struct ledger_terms draw_terms(void)
{
	return (struct ledger_terms){
		.user = draw(2),
		.weight = one_in(2) ? LEDGER_WEIGHT : 1 + draw(300),
		.highest = one_in(3) ? 8 * draw(5) : 0,
	};
}

/* A configuration was read again. */
static void change_terms(void)
{
	for (uint32_t i = 0; i < nr_lives; i++) {
		struct ledger_terms terms = draw_terms();

		if (lives[i].joined)
			broker_set_terms(&broker, lives[i].index, &terms);
	}
}

static void admit_and_retire(void)
{
	static uint64_t generation;

	for (uint32_t i = 0; i < nr_lives; i++) {
		struct life *life = &lives[i];
		struct ledger_terms terms = draw_terms();

		if (!life->joined && !life->died_ns && !life->ejected &&
		    member[life->index] == life &&
		    !(broker.ledger.leaving >> life->index & 1)) {
			life->joined = true;
			broker_admit(&broker, life->index, ++generation,
				     life->page, &terms);
		}
		if (life->joined && (life->died_ns || life->ejected)) {
			life->joined = false;
			broker_retire(&broker, life->index);
		}
	}
}

static void host_main(void *self)
{
	uint64_t next_ns = 0;

	(void)self;
	for (;;) {
		bool between = world.now_ns < next_ns;
		uint64_t ejected;

		admit_and_retire();
		if (one_in(20))
			change_terms();
		trace("looks");
		ejected = broker_tick(&broker, between);
		if (!between)
			next_ns = world.now_ns + TICK;
		for (; ejected; ejected &= ejected - 1) {
			struct life *life = member[bits_first(ejected)];

			trace("ejects %s: %s", life->process.name,
			      ledger_reason(
				      broker.ledger.member[life->index].fault));
			HOLDS(life->hostile, "%s is ejected: %s",
			      life->process.name,
			      ledger_reason(
				      broker.ledger.member[life->index].fault));
			life->ejected = true;
			counts.ejected++;
			broker_retire(&broker, life->index);
			life->joined = false;
		}
		process_sleep(next_ns);
	}
}

static void host_killed(void *self)
{
	(void)self;
}

/* ---- what must hold --------------------------------------------------------------------- */

static bool excused(void)
{
	if (hostile && (!hostile->ejected || hostile->process.state))
		return true;
	for (uint32_t i = 0; i < nr_lives; i++) {
		if (lives[i].resumed_ns &&
		    lives[i].resumed_ns + 4 * TICK > world.now_ns)
			return true;
	}
	return false;
}

static bool is_stopped(const struct life *life)
{
	return life->process.stopped_until > world.now_ns;
}

static uint32_t nr_running(uint32_t core)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < nr_lives; i++)
		nr += lives[i].runs[core] && !is_stopped(&lives[i]);
	return nr;
}

static void check_overlap(uint32_t core)
{
	if (nr_running(core) < 2) {
		overlap_since[core] = 0;
		return;
	}
	HOLDS(excused(), "core %u has %u workers", core, nr_running(core));
	if (!overlap_since[core])
		overlap_since[core] = world.now_ns;
	HOLDS(world.now_ns - overlap_since[core] < TICK + TICK / 2,
	      "core %u has two workers for more than a tick", core);
}

static bool somebody_wants(void)
{
	for (uint32_t i = 0; i < nr_lives; i++) {
		const struct life *life = &lives[i];

		if (life->joined && !is_stopped(life) && life->wants_since &&
		    life->resumed_ns + 4 * TICK < world.now_ns &&
		    life->wants_since + 2 * TICK < world.now_ns)
			return true;
	}
	return false;
}

/* It says that it runs. */
static bool is_with_cunning(uint32_t core)
{
	const struct ledger_core *at = &broker.ledger.core[core];

	return hostile && hostile->cunning && !hostile->ejected &&
	       at->state != LEDGER_FREE && at->member == hostile->index;
}

static void check_lost(uint32_t core)
{
	if (nr_running(core) || !somebody_wants() || is_with_cunning(core)) {
		unused_since[core] = 0;
		return;
	}
	if (!unused_since[core])
		unused_since[core] = world.now_ns;
	HOLDS(world.now_ns - unused_since[core] < (excused() ? 12 : 5) * TICK,
	      "core %u is lost", core);
}

static void check_dead(void)
{
	for (uint32_t i = 0; i < nr_lives; i++) {
		const struct life *life = &lives[i];

		if (member[life->index] != life || !life->died_ns ||
		    life->died_ns + 2 * TICK + MS > world.now_ns)
			continue;
		HOLDS(!(host_page->live >> life->index & 1),
		      "a dead member is among the living");
		for (uint32_t core = 0; core < nr_cores; core++)
			HOLDS(broker.sights.blurred[core] ||
				      broker.ledger.core[core].state ==
					      LEDGER_FREE ||
				      broker.ledger.core[core].member !=
					      life->index,
			      "core %u is with a dead member", core);
	}
}

/* ---- a history -------------------------------------------------------------------------- */

static void wake(const uint32_t *word)
{
	for (uint32_t i = 0; i < MEMBERS; i++) {
		if (!member[i])
			continue;
		if (word == &host_page->gives[i])
			process_signal(&member[i]->process);
		for (uint32_t j = 0; j < nr_lives; j++) {
			if (word == &lives[j].page->gives[i]) {
				counts.gives++;
				process_signal(&member[i]->process);
			}
			if (word == &lives[j].page->asks)
				process_signal(&host_process);
		}
	}
}

static void fault(void)
{
	struct life *life = member[draw(MEMBERS)];

	if (!life || !process_lives(&life->process))
		return;
	if (stops && one_in(4000)) {
		life->process.stopped_until = world.now_ns + draw(20 * MS);
		life->resumed_ns = life->process.stopped_until;
		trace("%s is stopped", life->process.name);
		counts.stops++;
	}
	if (kills && one_in(4000)) {
		process_kill(&life->process);
		counts.kills++;
	}
}

static void reincarnate(void)
{
	uint32_t index = draw(MEMBERS);
	struct life *life = member[index];

	if (nr_lives == MEMBERS * LIVES || !one_in(500) ||
	    (life && (process_lives(&life->process) || life->joined)))
		return;
	if (broker.ledger.live >> index & 1 ||
	    broker.ledger.leaving >> index & 1)
		return;
	begin_life(index, false);
}

static void check(void)
{
	for (uint32_t core = 0; core < nr_cores; core++) {
		check_overlap(core);
		check_lost(core);
	}
	check_dead();
}

static void begin(uint64_t seed, bool is_traced)
{
	struct ledger_options options = LEDGER_OPTIONS_DEFAULT;
	uint32_t first;

	world_begin(seed, is_traced);
	world.wake = wake;
	nr_cores = 1 + draw(CORES_MAX);
	kills = one_in(2);
	stops = one_in(2);
	strict_only = one_in(3);
	options.age_ticks = one_in(2) ? 0 : 4;
	options.by_user = one_in(2);
	nr_lives = 0;
	hostile = NULL;
	memset(member, 0, sizeof(member));
	memset(overlap_since, 0, sizeof(overlap_since));
	memset(unused_since, 0, sizeof(unused_since));
	if (!host_page && posix_memalign((void **)&host_page, DOMAIN_PAGE_SIZE,
					 DOMAIN_PAGE_SIZE))
		abort();
	memset(host_page, 0, DOMAIN_PAGE_SIZE);
	broker_init(&broker, host_page, 1, TICK, nr_cores, &options);
	host_process = (struct process){ .killed = host_killed };
	process_start(&host_process, "host", host_main, NULL);
	first = 1 + draw(4);
	for (uint32_t i = 0; i < first; i++)
		begin_life(i, false);
	if (one_in(3))
		begin_life(first, true);
}

static void play(uint64_t seed, bool is_traced)
{
	begin(seed, is_traced);
	while (world.now_ns < END_NS) {
		fault();
		reincarnate();
		if (!world_turn())
			fail("all sleep for ever");
		check();
	}
	HOLDS(!hostile || hostile->cunning || hostile->ejected ||
		      hostile->died_ns,
	      "nobody ejects a member that writes nonsense");
	world_end();
	for (uint32_t i = 0; i < nr_lives; i++)
		free(lives[i].page);
}

static void print_counts(uint64_t nr, uint64_t first)
{
	printf("%llu histories from seed %llu: %llu members, %llu kills, "
	       "%llu stops, %llu thrown out, %llu cores given\n",
	       (unsigned long long)nr, (unsigned long long)first,
	       (unsigned long long)counts.lives,
	       (unsigned long long)counts.kills,
	       (unsigned long long)counts.stops,
	       (unsigned long long)counts.ejected,
	       (unsigned long long)counts.gives);
	prove("{\"kind\":\"simulation-domain\",\"seeds\":%llu,"
	      "\"members\":%llu,\"kills\":%llu,\"stops\":%llu,"
	      "\"ejected\":%llu,\"gives\":%llu}\n",
	      (unsigned long long)nr, (unsigned long long)counts.lives,
	      (unsigned long long)counts.kills,
	      (unsigned long long)counts.stops,
	      (unsigned long long)counts.ejected,
	      (unsigned long long)counts.gives);
}

int main(int argc, char **argv)
{
	uint64_t first = 1, nr = 200;
	bool is_traced = false;

	program = argv[0];
	for (int i = 1; i < argc; i++) {
		const char *next = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--seeds"))
			nr = strtoull(next, NULL, 10);
		else if (!strcmp(argv[i], "--first"))
			first = strtoull(next, NULL, 10);
		else if (!strcmp(argv[i], "--today"))
			first = (uint64_t)time(NULL) / 86400 * 1000000;
		else if (!strcmp(argv[i], "--trace"))
			is_traced = true;
		else if (!strcmp(argv[i], "--seed")) {
			first = strtoull(next, NULL, 10);
			nr = 1;
		}
	}
	for (uint64_t seed = first; seed < first + nr; seed++)
		play(seed, is_traced);
	print_counts(nr, first);
	return 0;
}
