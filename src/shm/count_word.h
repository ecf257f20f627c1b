/* SPDX-License-Identifier: MIT */
/*
 * count_word.h - a count in shared memory, and the sleep of the process that reads it.
 *
 * One process, the writer, adds to the count: "there is more".  A second process, the
 * reader, waits for more.  A reader that sleeps, or wants a signal, sets a bit in the
 * same word.  So "there is more" and a check for sleepers are one operation, and
 * neither process can miss the other:
 *
 *   writer                              reader
 *   write the data                      the count: nothing new
 *   add, and the bits that it finds:    set SLEEPS: still nothing new
 *   SLEEPS: wake the reader             sleep while the word has that value
 *   WATCHED: signal the eventfd         or set WATCHED, and sleep for the eventfd
 *
 * Both sides read-modify-write one word.  A process cannot use the cheaper protocol of
 * core/sched/idle.h instead: the membarrier() there reaches the threads of one process
 * only.
 *
 * STOP is the beginning of the end, and final: no operation here removes the bit.  The
 * users of the word say what ends.
 *
 * The word is memory that another process may scribble over.  Each side keeps the
 * count that it relies on in private memory, and compares.  A count has fewer bits
 * than the word, so it wraps at COUNT_WORD_MASK.
 *
 * Edges:
 *
 *   CW1  the writer adds, or stops -> the reader finds the word : the data
 */
#ifndef SLEY_SHM_COUNT_WORD_H
#define SLEY_SHM_COUNT_WORD_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/futex.h"
#include "shm/foreign.h"

#define COUNT_WORD_SLEEPS 1u  /* the reader sleeps on the word           */
#define COUNT_WORD_WATCHED 2u /* the reader wants a signal of an eventfd */
#define COUNT_WORD_STOP 4u    /* the writer has begun to end             */
#define COUNT_WORD_ONE 8u
#define COUNT_WORD_TRIES 4
#define COUNT_WORD_MASK (UINT32_MAX / COUNT_WORD_ONE)

static inline uint32_t count_word_count(uint32_t word)
{
	return word / COUNT_WORD_ONE;
}

static inline uint32_t count_word_distance(uint32_t from, uint32_t to)
{
	return (to - from) & COUNT_WORD_MASK;
}

/* ---- the writer ----------------------------------------------------------------- */

/* Nobody else uses the word: begins at @count, without bits. */
static inline void count_word_reset(uint32_t foreign *word, uint32_t count)
{
	/* relaxed: no other process uses the word yet. */
	store_relaxed(word, count * COUNT_WORD_ONE);
}

/* There are @nr more.  Returns the word before: its bits say what the reader wants. */
static inline must_check uint32_t count_word_add(uint32_t foreign *word,
						 uint32_t nr)
{
	return add_release(word, nr * COUNT_WORD_ONE); /* CW1 */
}

/* The writer begins to end.  Returns as count_word_add(). */
static inline must_check uint32_t count_word_stop(uint32_t foreign *word)
{
	return or_release(word, COUNT_WORD_STOP); /* CW1 */
}

/*
 * The same, and the reader's wishes are taken back in the same operation: the last of the
 * writer on the word.  So a reader that has seen the count may use the word anew, with
 * another writer.  @expected is what the word has if the reader wishes nothing.
 *
 * The reader changes the word twice at most.  One that does so more often is broken, and
 * harms itself.
 */
static inline must_check uint32_t count_word_hand_over(uint32_t foreign *word,
						       uint32_t expected,
						       uint32_t nr)
{
	uint32_t found = expected;

	for (int i = 0; i < COUNT_WORD_TRIES; i++) {
		uint32_t next = (found + nr * COUNT_WORD_ONE) &
				~(COUNT_WORD_SLEEPS | COUNT_WORD_WATCHED);

		if (likely(cas_release(word, &found, next))) /* CW1 */
			return found;
	}
	found = count_word_add(word, nr);
	/* relaxed: as count_word_clear(). */
	(void)and_relaxed(word, ~(COUNT_WORD_SLEEPS | COUNT_WORD_WATCHED));
	return found;
}

/* The writer begins to end, and the reader's wishes are taken back, as above. */
static inline must_check uint32_t
count_word_hand_over_stop(uint32_t foreign *word, uint32_t expected)
{
	uint32_t found = expected;

	for (int i = 0; i < COUNT_WORD_TRIES; i++) {
		uint32_t next = (found | COUNT_WORD_STOP) &
				~(COUNT_WORD_SLEEPS | COUNT_WORD_WATCHED);

		if (likely(cas_release(word, &found, next))) /* CW1 */
			return found;
	}
	return count_word_stop(word);
}

/* After count_word_add(): wakes at most @nr threads that sleep on the word. */
static inline void count_word_wake(uint32_t foreign *word, int nr)
{
	os_futex_wake_shared((const uint32_t *)word, nr);
}

/* ---- the reader ----------------------------------------------------------------- */

static inline uint32_t count_word_load(const uint32_t foreign *word)
{
	return load_acquire(word); /* CW1 */
}

/* The same, and from now on the writer finds @bit. */
static inline uint32_t count_word_ask(uint32_t foreign *word, uint32_t bit)
{
	return or_acquire(word, bit) | bit; /* CW1 */
}

/* Sleeps while the word is @value, as count_word_ask() returned it. */
static inline void count_word_sleep(const uint32_t foreign *word,
				    uint32_t value)
{
	/* relaxed: the caller looks again. */
	while (load_relaxed(word) == value)
		(void)os_futex_wait_shared((const uint32_t *)word, value,
					   UINT64_MAX);
}

/* ---- both ----------------------------------------------------------------------- */

/* Takes the request of count_word_ask() back, or the writer has seen it. */
static inline void count_word_clear(uint32_t foreign *word, uint32_t bits)
{
	/* relaxed: both sides look at the count afterwards, or wake or signal. */
	(void)and_relaxed(word, ~bits);
}

#endif
