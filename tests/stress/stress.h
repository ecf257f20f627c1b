/* SPDX-License-Identifier: MIT */
/*
 * stress.h - the configurations that the stress tests run with, and chance.
 */
#ifndef SLEY_TESTS_STRESS_STRESS_H
#define SLEY_TESTS_STRESS_STRESS_H

#include <stdlib.h>

#include "conformance/bound.h"

/*
 * How long one test goes on, in milliseconds; what it has begun it finishes.
 * $STRESS_MS makes it longer: "make prove" does.
 */
static inline unsigned int stress_ms(void)
{
	const char *text = getenv("STRESS_MS");

	return text && *text ? (unsigned int)atoi(text) : 300;
}

#define STRESS_MS stress_ms()

/* Gives the test that time, too. */
static inline uint64_t stress_end(void)
{
	test_timeout(30 + 2 * STRESS_MS / 1000);
	return in_ms(STRESS_MS);
}

/* Four workers, whatever the machine has: they must get in each other's way. */
static inline struct sley_config stress_config(void)
{
	return config_of(4);
}

static inline struct sley_config stress_config_no_membarrier(void)
{
	struct sley_config config = stress_config();

	config.no_membarrier = true;
	return config;
}

static inline struct sley_config stress_config_migratable(void)
{
	struct sley_config config = stress_config();

	config.migratable = true;
	return config;
}

/* @play() again and again, by a thread that is bound to such a runtime. */
static inline void stress_play(const struct sley_config *config,
			       void (*play)(void))
{
	struct sley *rt = start_with(config);
	uint64_t end = stress_end();

	do
		play();
	while (sley_now() < end);
	stop(rt);
}

/* A test for each kind of runtime: plain, ... */
#define STRESS(name, play)                                                     \
	TEST(name)                                                             \
	{                                                                      \
		struct sley_config config = stress_config();                   \
                                                                               \
		stress_play(&config, play);                                    \
	}                                                                      \
	TEST(name##_without_membarrier)                                        \
	{                                                                      \
		struct sley_config config = stress_config_no_membarrier();     \
                                                                               \
		stress_play(&config, play);                                    \
	}                                                                      \
	TEST(name##_where_fibers_move)                                         \
	{                                                                      \
		struct sley_config config = stress_config_migratable();        \
                                                                               \
		stress_play(&config, play);                                    \
	}                                                                      \
	_Static_assert(1, "takes a semicolon")

static inline bool one_in(unsigned int n)
{
	return test_random(n) == 0;
}

/* Mostly in a moment, now and then in the past. */
static inline uint64_t soon(void)
{
	return one_in(8) ? 0 : sley_now() + test_random(200 * SLEY_USEC);
}

/* A little time passes, one way or the other. */
static inline void dawdle(void)
{
	if (one_in(4))
		sley_yield();
	else if (one_in(16))
		(void)sley_sleep(test_random(50 * SLEY_USEC));
}

#endif
