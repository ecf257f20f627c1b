/* SPDX-License-Identifier: MIT */
/*
 * entry_ring.h - a ring of short entries in shared memory, from one process to another.
 *
 * The writer copies entries in, and publishes any number of entries with one addition
 * to the count word (shm/count_word.h).  The reader copies entries out.  The ring has
 * no word in which the reader says how far it is: the users of two rings know that
 * from the entries of the other ring.
 *
 * Each side keeps its count, the addresses and the size of the ring in private memory,
 * and reads nothing of that from the shared memory again.  Indices are masked.  So
 * garbage in the shared memory makes garbage entries or a garbage count, and the side
 * that reads them stays within its bounds.  The reader's user checks both: a count
 * that is too large, and each entry, of which it has a private copy by then.
 *
 * Several threads of the reading process may wait at once, on the word or for the
 * eventfd.  So a waiter never clears a bit: the other waiters may rely on it.  The
 * writer clears the bits with the operation that finds them, and then wakes or signals
 * all of their waiters.
 *
 * A publish is the last access of the writer to the word.  A reader that has seen what it
 * waits for may give the ring to another writer at once: a writer that clears bits later
 * would clear those of its successor, whose reader then sleeps for ever.
 *
 * One thread of a process writes or reads at a time: a lock for that is the business
 * of that process, and is not in the shared memory.
 */
#ifndef SLEY_SHM_ENTRY_RING_H
#define SLEY_SHM_ENTRY_RING_H

#include "base/assert.h"
#include "os/clock.h"
#include "os/thread.h"
#include "shm/count_word.h"

#include <errno.h>
#include <limits.h>

#define ENTRY_RING_LOOKS_PER_CLOCK 32

/* A waiter that has spun for so long lets other threads of its CPU run in between. */
#define ENTRY_RING_YIELD_NS 2000u

/* What a waiter looks for: a changed count, or STOP. */
#define ENTRY_RING_NEWS (~(COUNT_WORD_SLEEPS | COUNT_WORD_WATCHED))

struct ring_entry {
	uint64_t id;
	uint32_t slot;  /* where the data is       */
	uint32_t size;  /* of the data, in bytes   */
	uint64_t value; /* of the user of the ring */
	uint64_t reserved;
};

_Static_assert(sizeof(struct ring_entry) == 32, "the same everywhere");
_Static_assert(offsetof(struct ring_entry, slot) == 8, "the same everywhere");
_Static_assert(offsetof(struct ring_entry, size) == 12, "the same everywhere");
_Static_assert(offsetof(struct ring_entry, value) == 16, "the same everywhere");

/* Private to the writing process. */
struct entry_writer {
	uint32_t foreign *word;
	struct ring_entry foreign *entries;
	uint32_t mask;
	uint64_t nr; /* of the next entry; does not wrap */
	uint64_t nr_published;
};

/* Private to the reading process. */
struct entry_reader {
	uint32_t foreign *word;
	const struct ring_entry foreign *entries;
	uint32_t mask;
	uint64_t nr; /* of the next entry; does not wrap */
	bool stopped;
};

/* ---- the writer ----------------------------------------------------------------- */

/* There is room: the users of the ring know that by other means. */
static inline void entry_ring_put(struct entry_writer *writer,
				  const struct ring_entry *entry)
{
	struct ring_entry *to =
		(struct ring_entry *)&writer->entries[writer->nr & writer->mask];

	/* Field by field: a copy of an entry that was just made would wait for it. */
	to->id = entry->id;
	to->slot = entry->slot;
	to->size = entry->size;
	to->value = entry->value;
	to->reserved = 0;
	writer->nr++;
}

/* The word, if the reader wishes nothing. */
static inline uint32_t entry_ring_word(const struct entry_writer *writer)
{
	return (uint32_t)writer->nr_published * COUNT_WORD_ONE;
}

/*
 * The reader may have all entries.  Returns the bits of the reader's waiters, for
 * entry_ring_tell(); or -EPROTO: the other process has changed the count.
 */
static inline must_check int entry_ring_publish(struct entry_writer *writer)
{
	uint64_t before = writer->nr_published;
	uint32_t found;

	if (writer->nr == before)
		return 0;
	found = count_word_hand_over(writer->word, entry_ring_word(writer),
				     (uint32_t)(writer->nr - before));
	writer->nr_published = writer->nr;
	if (unlikely(count_word_count(found) != (before & COUNT_WORD_MASK)))
		return -EPROTO;
	return (int)(found & ~ENTRY_RING_NEWS);
}

/* The writer will publish nothing more.  Returns bits, as entry_ring_publish(). */
static inline must_check int entry_ring_stop(struct entry_writer *writer)
{
	uint32_t found = count_word_hand_over_stop(writer->word,
						   entry_ring_word(writer));

	return (int)(found & ~ENTRY_RING_NEWS);
}

/*
 * Wakes the threads that sleep on the word, if @bits has SLEEPS.  True: signal the
 * eventfd.  Needs no lock.
 */
static inline must_check bool entry_ring_tell(uint32_t foreign *word, int bits)
{
	if (bits < 0)
		return false;
	if ((uint32_t)bits & COUNT_WORD_SLEEPS)
		count_word_wake(word, INT_MAX);
	return (uint32_t)bits & COUNT_WORD_WATCHED;
}

/* ---- the reader ----------------------------------------------------------------- */

/*
 * How many entries can be read, or -EPROTO: more than @max, which the reader knows to
 * be impossible.
 */
static inline must_check int entry_ring_look(struct entry_reader *reader,
					     uint32_t max)
{
	uint32_t word = count_word_load(reader->word);
	uint32_t nr = count_word_distance((uint32_t)reader->nr,
					  count_word_count(word));

	if (word & COUNT_WORD_STOP)
		reader->stopped = true;
	return nr > max ? -EPROTO : (int)nr;
}

/* Copies the next entry, which entry_ring_look() has counted. */
static inline void entry_ring_get(struct entry_reader *reader,
				  struct ring_entry *out)
{
	const struct ring_entry foreign *entry =
		&reader->entries[reader->nr & reader->mask];

	/* relaxed: CW1 of count_word.h; each field is read once, and only the copy counts. */
	out->id = load_relaxed(&entry->id);
	out->slot = load_relaxed(&entry->slot);
	out->size = load_relaxed(&entry->size);
	out->value = load_relaxed(&entry->value);
	out->reserved = 0;
	reader->nr++;
}

/* The slot of the entry that comes @ahead entries later: a hint, nothing is checked. */
static inline uint32_t entry_ring_glance(const struct entry_reader *reader,
					 uint32_t ahead)
{
	uint64_t number = reader->nr + ahead;

	/* relaxed: a hint, see above. */
	return load_relaxed(&reader->entries[number & reader->mask].slot);
}

/* The state of the word that the reader knows, for the two calls below. */
static inline uint32_t entry_ring_seen(const struct entry_reader *reader)
{
	return (uint32_t)reader->nr * COUNT_WORD_ONE |
	       (reader->stopped ? COUNT_WORD_STOP : 0);
}

static inline bool entry_ring_is_news(uint32_t word, uint32_t seen)
{
	return (word ^ seen) & ENTRY_RING_NEWS;
}

/*
 * Asks for a signal of the eventfd at the next publish or stop.  True: there is news
 * already.  Needs no lock, as entry_ring_await().
 */
static inline must_check bool entry_ring_watch(uint32_t foreign *word,
					       uint32_t seen)
{
	return entry_ring_is_news(count_word_ask(word, COUNT_WORD_WATCHED),
				  seen);
}

/* Sleeps once, if there is no news.  False: until @deadline_ns. */
static inline bool entry_ring_park(uint32_t foreign *word, uint32_t seen,
				   uint64_t deadline_ns)
{
	uint32_t value = count_word_ask(word, COUNT_WORD_SLEEPS);

	if (entry_ring_is_news(value, seen))
		return true;
	if (os_futex_wait_shared((const uint32_t *)word, value, deadline_ns) ==
	    -ETIMEDOUT)
		return false;
	/* A hostile writer may change the word before each sleep. */
	return deadline_ns == UINT64_MAX || os_now() < deadline_ns;
}

/*
 * The waiter has spun since @begin_ns: how long it shall spin in all, or 0: no longer.
 * The writer may be waiting for this very CPU.  An answer that comes while both sides
 * run comes sooner than the first yield.
 */
static inline uint64_t entry_ring_spin_on(uint64_t begin_ns, uint64_t spin_ns)
{
	uint64_t spun_ns = os_now() - begin_ns;

	if (spun_ns >= spin_ns)
		return 0;
	if (spun_ns >= ENTRY_RING_YIELD_NS)
		os_thread_yield();
	return spin_ns;
}

/*
 * Spins for @spin_ns, then sleeps, until there is news: 0.  -ETIMEDOUT: there was none
 * until @deadline_ns.
 */
static inline must_check int entry_ring_await(uint32_t foreign *word,
					      uint32_t seen, uint64_t spin_ns,
					      uint64_t deadline_ns)
{
	uint64_t begin_ns = spin_ns ? os_now() : 0;
	uint64_t left_ns = deadline_ns > begin_ns ? deadline_ns - begin_ns : 0;
	uint32_t looks = 0;

	if (spin_ns > left_ns)
		spin_ns = left_ns;
	while (!entry_ring_is_news(count_word_load(word), seen)) {
		if (spin_ns && ++looks % ENTRY_RING_LOOKS_PER_CLOCK == 0)
			spin_ns = entry_ring_spin_on(begin_ns, spin_ns);
		if (spin_ns)
			spin_hint(word);
		else if (!entry_ring_park(word, seen, deadline_ns))
			return entry_ring_is_news(count_word_load(word), seen)
				       ? 0
				       : -ETIMEDOUT;
	}
	return 0;
}

/*
 * The writer is dead: says STOP in its name, so that all threads that wait on the word
 * return.  True: signal the eventfd.
 */
static inline must_check bool entry_ring_end(uint32_t foreign *word)
{
	return entry_ring_tell(word,
			       (int)(count_word_stop(word) & ~ENTRY_RING_NEWS));
}

#endif
