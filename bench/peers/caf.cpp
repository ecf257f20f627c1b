/* SPDX-License-Identifier: MIT */
/*
 * caf.cpp - the peer CAF, the C++ Actor Framework 0.17: event-based actors on
 * the work-stealing scheduler, which gets as many threads as there are workers.
 *
 * An actor with many messages to send sends some, and then sends itself a message
 * to go on, so that mailboxes do not grow without end.  For `pingpong-cross` both
 * actors have threads of their own.
 */
#include "../measure.h"
#include "../problems/minstd.h"

#include <caf/all.hpp>

#include <atomic>
#include <memory>
#include <vector>

using caf::actor;
using caf::behavior;
using caf::event_based_actor;

using ping_atom = caf::atom_constant<caf::atom("ping")>;
using pong_atom = caf::atom_constant<caf::atom("pong")>;
using next_atom = caf::atom_constant<caf::atom("next")>;
using stop_atom = caf::atom_constant<caf::atom("stop")>;
using done_atom = caf::atom_constant<caf::atom("done")>;
using sum_atom = caf::atom_constant<caf::atom("sum")>;
using add_atom = caf::atom_constant<caf::atom("add")>;
using get_atom = caf::atom_constant<caf::atom("get")>;
using meet_atom = caf::atom_constant<caf::atom("meet")>;
using change_atom = caf::atom_constant<caf::atom("change")>;

/* Never leaves the program. */
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::vector<actor>)

#define CHUNK 1000 /* messages in a row */

static uint64_t await_sum(caf::scoped_actor &self)
{
	uint64_t sum = 0;

	self->receive([&](sum_atom, uint64_t value) { sum = value; });
	return sum;
}

/* ---- pingpong ---------------------------------------------------------------- */

static behavior pong(event_based_actor *self)
{
	return {
		[](ping_atom, uint64_t value) {
			return caf::make_message(pong_atom::value, value + 1);
		},
		[=](stop_atom) { self->quit(); },
	};
}

static behavior ping(event_based_actor *self, actor peer, actor root,
		     uint64_t nr)
{
	auto right = std::make_shared<uint64_t>(0);

	self->send(peer, ping_atom::value, uint64_t{ 0 });
	return {
		[=](pong_atom, uint64_t value) {
			*right += value == *right + 1;
			if (value < nr) {
				self->send(peer, ping_atom::value, value);
				return;
			}
			self->send(peer, stop_atom::value);
			self->send(root, sum_atom::value, *right);
			self->quit();
		},
	};
}

template <caf::spawn_options options>
static void trips(const struct measure *m, caf::actor_system &system,
		  uint64_t nr)
{
	caf::scoped_actor self{ system };
	actor peer = system.spawn<options>(pong);

	system.spawn<options>(ping, peer, actor(self), nr);
	MEASURE_CHECK(m, await_sum(self) == nr);
}

/* ---- count, fanin-actors ------------------------------------------------------- */

static behavior counter(event_based_actor *self)
{
	auto sum = std::make_shared<uint64_t>(0);

	return {
		[=](add_atom, uint64_t value) { *sum += value; },
		[=](get_atom, const actor &root) {
			self->send(root, sum_atom::value, *sum);
			self->quit();
		},
	};
}

/* Adds 1 @nr times, and asks for the sum. */
static behavior adder(event_based_actor *self, actor to, actor root,
		      uint64_t nr)
{
	auto left = std::make_shared<uint64_t>(nr);

	self->send(self, next_atom::value);
	return {
		[=](next_atom) {
			for (int i = 0; i<CHUNK && * left> 0; i++, --*left)
				self->send(to, add_atom::value, uint64_t{ 1 });
			if (*left > 0) {
				self->send(self, next_atom::value);
				return;
			}
			self->send(to, get_atom::value, root);
			self->quit();
		},
	};
}

static void count(const struct measure *m, caf::actor_system &system,
		  uint64_t nr)
{
	caf::scoped_actor self{ system };
	actor to = system.spawn(counter);

	system.spawn(adder, to, actor(self), nr);
	MEASURE_CHECK(m, await_sum(self) == nr);
}

static behavior consumer(event_based_actor *self, actor root, uint64_t nr)
{
	auto sum = std::make_shared<uint64_t>(0);
	auto left = std::make_shared<uint64_t>(nr);

	return {
		[=](uint64_t value) {
			*sum += value;
			if (--*left > 0)
				return;
			self->send(root, sum_atom::value, *sum);
			self->quit();
		},
	};
}

static behavior producer(event_based_actor *self, actor to, uint64_t nr)
{
	auto i = std::make_shared<uint64_t>(0);

	self->send(self, next_atom::value);
	return {
		[=](next_atom) {
			for (int j = 0; j < CHUNK && *i < nr; j++, ++*i)
				self->send(to, *i);
			if (*i < nr)
				self->send(self, next_atom::value);
			else
				self->quit();
		},
	};
}

static void fanin(const struct measure *m, caf::actor_system &system,
		  uint64_t each)
{
	caf::scoped_actor self{ system };
	actor to = system.spawn(consumer, actor(self), FANIN_PRODUCERS * each);

	for (int i = 0; i < FANIN_PRODUCERS; i++)
		system.spawn(producer, to, each);
	MEASURE_CHECK(m, await_sum(self) ==
				 FANIN_PRODUCERS * (each * (each - 1) / 2));
}

/* ---- spawn-actors -------------------------------------------------------------- */

struct batch {
	std::atomic<uint64_t> ran, sum;
};

static behavior child(event_based_actor *self, struct batch *batch, actor root)
{
	return {
		[=](uint64_t value) {
			batch->sum += value;
			if (++batch->ran == SPAWN_BATCH)
				self->send(root, done_atom::value);
			self->quit();
		},
	};
}

static void batches(const struct measure *m, caf::actor_system &system,
		    uint64_t nr)
{
	caf::scoped_actor self{ system };
	struct batch batch;

	for (uint64_t i = 0; i < nr; i++) {
		batch.ran = 0;
		batch.sum = 0;
		for (uint64_t j = 1; j <= SPAWN_BATCH; j++)
			self->send(self->spawn(child, &batch, actor(self)), j);
		self->receive([](done_atom) {});
		MEASURE_CHECK(m,
			      batch.sum == SPAWN_BATCH * (SPAWN_BATCH + 1) / 2);
	}
}

/* ---- ring ---------------------------------------------------------------------- */

/* The token counts down; then the hops that each has seen are added up. */
static behavior station(event_based_actor *self, actor first, actor root)
{
	auto next = std::make_shared<actor>(first);
	auto seen = std::make_shared<uint64_t>(0);

	return {
		[=](uint64_t left) {
			if (left == 0) {
				self->send(*next, sum_atom::value,
					   uint64_t{ 1 }, uint64_t{ 0 });
				return;
			}
			++*seen;
			self->send(*next, left - 1);
		},
		[=](sum_atom, uint64_t nr, uint64_t sum) {
			if (nr == RING_PROCESSES)
				self->send(root, sum_atom::value, sum + *seen);
			else
				self->send(*next, sum_atom::value, nr + 1,
					   sum + *seen);
			self->quit();
		},
		[=](next_atom, const actor &other) { *next = other; },
	};
}

static void ring(const struct measure *m, caf::actor_system &system,
		 uint64_t hops)
{
	caf::scoped_actor self{ system };
	actor first = system.spawn(station, actor(), actor(self)), last = first;

	for (int i = 1; i < RING_PROCESSES; i++)
		last = system.spawn(station, last, actor(self));
	self->send(first, next_atom::value, last);
	self->send(first, hops);
	MEASURE_CHECK(m, await_sum(self) == hops);
}

/* ---- big ----------------------------------------------------------------------- */

struct talker {
	std::vector<actor> all;
	uint64_t seed, nr, seen;
};

static behavior talk(event_based_actor *self, uint64_t seed, actor root,
		     uint64_t pings)
{
	auto t = std::make_shared<talker>();
	auto ask = [=] {
		t->seed = minstd(t->seed);
		self->send(t->all[t->seed % BIG_PROCESSES], ping_atom::value,
			   t->nr);
	};

	t->seed = seed;
	return {
		[=](const std::vector<actor> &all) {
			t->all = all;
			ask();
		},
		[=](ping_atom, uint64_t value) {
			t->seen++;
			return caf::make_message(pong_atom::value, value + 1);
		},
		[=](pong_atom, uint64_t value) {
			if (value != ++t->nr)
				self->quit(caf::exit_reason::kill);
			else if (t->nr < pings)
				ask();
			else
				self->send(root, done_atom::value);
		},
		[=](stop_atom) {
			self->send(root, sum_atom::value, t->seen);
			self->quit();
		},
	};
}

static void big(const struct measure *m, caf::actor_system &system,
		uint64_t pings)
{
	caf::scoped_actor self{ system };
	std::vector<actor> all;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < BIG_PROCESSES; i++)
		all.push_back(system.spawn(talk, i + 1, actor(self), pings));
	for (auto &each : all)
		self->send(each, all);
	for (int i = 0; i < BIG_PROCESSES; i++)
		self->receive([](done_atom) {});
	for (auto &each : all)
		self->send(each, stop_atom::value);
	for (int i = 0; i < BIG_PROCESSES; i++)
		sum += await_sum(self);
	MEASURE_CHECK(m, sum == BIG_PROCESSES * pings);
}

/* ---- chameneos ----------------------------------------------------------------- */

static int complement(int one, int other)
{
	return one == other ? one : 3 - one - other;
}

static behavior creature(event_based_actor *self, actor mall, int first)
{
	auto colour = std::make_shared<int>(first);
	auto met = std::make_shared<uint64_t>(0);

	self->send(mall, meet_atom::value, actor(self), first);
	return {
		[=](meet_atom, const actor &other, int his) {
			*colour = complement(*colour, his);
			++*met;
			self->send(other, change_atom::value, *colour);
			self->send(mall, meet_atom::value, actor(self),
				   *colour);
		},
		[=](change_atom, int now) {
			*colour = now;
			++*met;
			self->send(mall, meet_atom::value, actor(self), now);
		},
		[=](stop_atom) {
			self->send(mall, sum_atom::value, *met);
			self->quit();
		},
	};
}

struct place {
	actor waiting;
	uint64_t left, sum;
	int faded;
};

static behavior mall(event_based_actor *self, actor root, uint64_t meetings)
{
	auto p = std::make_shared<place>();

	p->left = meetings;
	return {
		[=](meet_atom, const actor &who, int colour) {
			if (p->left == 0) {
				self->send(who, stop_atom::value);
			} else if (!p->waiting) {
				p->waiting = who;
			} else {
				p->left--;
				self->send(p->waiting, meet_atom::value, who,
					   colour);
				p->waiting = actor();
			}
		},
		[=](sum_atom, uint64_t met) {
			p->sum += met;
			if (++p->faded < CHAMENEOS)
				return;
			self->send(root, sum_atom::value, p->sum);
			self->quit();
		},
	};
}

static void chameneos(const struct measure *m, caf::actor_system &system,
		      uint64_t meetings)
{
	caf::scoped_actor self{ system };
	actor place = system.spawn(mall, actor(self), meetings);

	for (int i = 0; i < CHAMENEOS; i++)
		system.spawn(creature, place, i % 3);
	MEASURE_CHECK(m, await_sum(self) == 2 * meetings);
}

/* ---- idle-actors --------------------------------------------------------------- */

static behavior idle(event_based_actor *self, uint64_t state, actor root)
{
	return {
		[=](get_atom) {
			self->send(root, sum_atom::value, state);
			self->quit();
		},
		[=](next_atom) { self->send(root, done_atom::value); },
	};
}

static void idle_actors(const struct measure *m, caf::actor_system &system)
{
	caf::scoped_actor self{ system };
	uint64_t nr = m->quick ? IDLE_ACTORS_QUICK : IDLE_ACTORS, sum = 0;
	uint64_t rss = measure_rss(), start = measure_now();
	std::vector<actor> all(nr);

	for (uint64_t i = 0; i < nr; i++)
		all[i] = system.spawn(idle, i, actor(self));
	self->send(all[nr - 1], next_atom::value);
	self->receive([](done_atom) {});
	measure_report_each("ns", start, nr);
	measure_report("bytes", (double)(measure_rss() - rss) / (double)nr);
	for (auto &each : all)
		self->send(each, get_atom::value);
	for (uint64_t i = 0; i < nr; i++)
		sum += await_sum(self);
	MEASURE_CHECK(m, sum == nr * (nr - 1) / 2);
}

/* ---- the program --------------------------------------------------------------- */

typedef void program(const struct measure *m, caf::actor_system &system,
		     uint64_t nr);

static void set_up(const struct measure *m, caf::actor_system_config &config)
{
	config.set("scheduler.max-threads", (size_t)m->workers);
	config.set("logger.verbosity", caf::atom("quiet"));
}

/* At a tenth of the size to get warm, then timed. */
template <program run, uint64_t full, uint64_t per>
static void row(const struct measure *m)
{
	caf::actor_system_config config;
	uint64_t nr = measure_size(m, full), start;

	set_up(m, config);
	caf::actor_system system{ config };
	run(m, system, nr / 10);
	start = measure_now();
	run(m, system, nr);
	measure_report_each("ns", start, nr * per);
}

static void row_idle(const struct measure *m)
{
	caf::actor_system_config config;

	set_up(m, config);
	caf::actor_system system{ config };
	idle_actors(m, system);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "pingpong",
		  row<trips<caf::no_spawn_options>, PINGPONG_TRIPS, 1> },
		{ "pingpong-cross",
		  row<trips<caf::detached>, PINGPONG_CROSS_SLOW, 1> },
		{ "count", row<count, COUNT_MESSAGES, 1> },
		{ "fanin-actors", row<fanin, FANIN_EACH, FANIN_PRODUCERS> },
		{ "spawn-actors",
		  row<batches, SPAWN_ACTORS_BATCHES, SPAWN_BATCH> },
		{ "ring", row<ring, RING_HOPS, 1> },
		{ "big", row<big, BIG_PINGS, BIG_PROCESSES> },
		{ "chameneos", row<chameneos, CHAMENEOS_MEETINGS, 1> },
		{ "idle-actors", row_idle },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
