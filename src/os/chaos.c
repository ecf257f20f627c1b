/* SPDX-License-Identifier: MIT */
/*
 * chaos.c - answers to the questions of base/chaos.h.
 *
 * The thread-local state is touched in functions that are not inlined and
 * cannot switch: a strand that moves asks from its new thread the next time.
 * A thread without a given stream gets the next free stream, in the order of the
 * first questions; so a main thread alone is always number 0.
 *
 * Plain atomics: the operations of base/atomic.h ask here.
 */
#include "base/chaos.h"

#if defined(SLEY_CHAOS) && !defined(SLEY_MODEL)

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/rand.h"
#include "os/env.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAUSE_NS_MAX 50000u
#define DELAYS_PER_PAUSE 16

struct chaos sley__chaos;

static _Thread_local struct {
	struct rand rand;
	bool seeded;
} self;

static uint32_t nr_others;
static uint32_t nr_announced;

/* ---- what a seed means ------------------------------------------------------- */

/* From rarely to often; a delay is asked for many times in each operation. */
static const uint32_t odds[NR_CHAOS][3] = {
	[CHAOS_DELAY] = { 2048, 512, 128 }, [CHAOS_WAKE] = { 16, 4, 2 },
	[CHAOS_STEAL] = { 32, 8, 2 },       [CHAOS_MOVE] = { 16, 4, 2 },
	[CHAOS_LOSE] = { 16, 4, 2 },
};

void chaos_begin(uint64_t seed)
{
	struct chaos chaos = { .on = true, .seed = seed };
	struct rand rand;

	rand_seed(&rand, seed);
	for (int kind = 0; kind < NR_CHAOS; kind++) {
		uint32_t how = rand_below(&rand, 4);

		chaos.odds[kind] = how < 3 ? odds[kind][how] : 0;
	}
	chaos.few = rand_below(&rand, 3);
	sley__chaos = chaos;
}

__attribute__((constructor)) static void begin_by_environment(void)
{
	const char *text = os_env("SLEY_CHAOS");
	char *end;
	uint64_t seed;

	if (!text || !*text)
		return;
	seed = strtoull(text, &end, 0);
	if (*end)
		fprintf(stderr, "sley: chaos: \"%s\" is no number\n", text);
	else
		chaos_begin(seed);
}

void chaos_announce(void)
{
	static const char *const names[NR_CHAOS] = {
		[CHAOS_DELAY] = "delays",    [CHAOS_WAKE] = "wake-ups",
		[CHAOS_STEAL] = "steals",    [CHAOS_MOVE] = "moves",
		[CHAOS_LOSE] = "lost races",
	};
	static const char *const sizes[] = { "usual", "tiny", "small" };
	char line[160];
	int n = 0;

	/* relaxed: counts. */
	if (!sley__chaos.on || add_relaxed(&nr_announced, 1))
		return;
	for (int kind = 0; kind < NR_CHAOS; kind++) {
		if (sley__chaos.odds[kind])
			n += snprintf(line + n, sizeof(line) - (size_t)n,
				      "%s 1/%u, ", names[kind],
				      sley__chaos.odds[kind]);
	}
	line[n] = '\0';
	fprintf(stderr, "sley: chaos %llu: %scapacities %s\n",
		(unsigned long long)sley__chaos.seed, line,
		sizes[sley__chaos.few]);
}

/* ---- what a thread draws ------------------------------------------------------- */

void chaos_thread(uint32_t stream)
{
	/* Streams of neighbouring numbers have nothing in common. */
	struct rand rand;

	rand_seed(&rand, sley__chaos.seed ^ (uint64_t)stream << 32);
	rand_seed(&self.rand, rand_next(&rand));
	self.seeded = true;
}

noinline uint32_t chaos_below(uint32_t n)
{
	if (unlikely(!self.seeded))
		/* relaxed: counts. */
		chaos_thread(CHAOS_STREAM_OTHER + add_relaxed(&nr_others, 1));
	return rand_below(&self.rand, n);
}

noinline bool chaos_draw(enum chaos_kind kind)
{
	uint32_t n = sley__chaos.odds[kind];

	return n && chaos_below(n) == 0;
}

/* Mostly another thread's turn; now and then the turn of all others. */
noinline void chaos_delay_now(void)
{
	struct timespec pause = { 0 };
	int saved = errno;

	if (!chaos_draw(CHAOS_DELAY))
		return;
	if (chaos_below(DELAYS_PER_PAUSE)) {
		sched_yield();
	} else {
		pause.tv_nsec = (long)chaos_below(PAUSE_NS_MAX);
		(void)nanosleep(&pause, NULL);
	}
	errno = saved;
}

#endif
