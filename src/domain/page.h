/* SPDX-License-Identifier: MIT */
/*
 * page.h - the words that the processes of a domain share.
 *
 * A *domain* is a group of processes, its *members*, which share the cores of the machine
 * under one order of priorities.  A *host*, which runs no tasks, looks after them.  Each
 * process has one page of 4,096 bytes, which it alone can write:
 *
 *   member page   of each member; the host and all other members read it
 *   host page     of the host; all members read it
 *
 * So every word has one writer, no process can destroy the words of another, and no word
 * needs a lock: what a process is about to write when it is killed concerns its own page.
 *
 * A reader believes nothing.  It reads a word once, into a copy, and checks the copy: all
 * that is written here is a hint, but for the host page, which members believe.
 *
 * The words of a core are the one thing that must agree.  A *lease* is the right to run one
 * worker, any worker of the process.  There are as many leases as cores in the domain;
 * lease number c is called core c.  Each page has one *core word* for each core:
 *
 *   {generation, member, kind}
 *
 * A hand-over raises the generation, and the word with the highest one is true:
 *
 *   BUSY   the writer holds the core, and a worker runs
 *   IDLE   the writer holds the core, and no worker runs
 *   GIVEN  the writer gives the core to .member, which alone may take it
 *   NONE   the writer has no say; of the generation at which it held the core: it has let
 *          go, and the core is the host's to give
 *
 * and of the host alone
 *
 *   SEEN     .member holds the core, as the host has seen; says nothing new
 *   PENDING  the host is about to take a core, which another member keeps idle or has not
 *            taken yet, for .member; nobody takes the core yet (domain/cores.h).  Of the
 *            generation after IDLE, or after the one with which the core would be taken
 *   IDLE     nobody wants the core
 *
 * IDLE and BUSY change without a new generation.
 *
 * A member that wants a core says so in its own page, too: .want.  The giver of a core
 * changes the word of the receiver in the array .gives of its own page, says what it wants
 * itself, and wakes the sleepers of this word.
 *
 * All numbers are little-endian and have the same places on all processors.  There are no
 * pointers.  A change of the layout is a new DOMAIN_PAGE_VERSION.
 *
 * Edges:
 *
 *   DP1  the giver stores GIVEN, then changes .gives -> the receiver loads .gives : the
 *        core word
 *   DP2  the writer of a core word -> its reader : all core words that were before it, so
 *        that the reader of a hand-over finds the hand-over before
 *   DP3  a member: IDLE becomes BUSY, then it looks at the host's word -> the host: PENDING,
 *        then it looks at the member's word.  One of the two sees the other.
 *   DP4  a member: BUSY becomes IDLE, then it looks at the wants -> another: its want,
 *        then it looks for idle cores.  As above.
 *   DP5  a member has a want, then it changes .asks -> the host loads .asks : the want
 *   DP6  the host: .highest of a member, then it welcomes this member, which then has a
 *        want -> a reader of the want : .highest, so that no want counts before its limit.
 *        The packet is a system call; the rest is this edge
 */
#ifndef SLEY_DOMAIN_PAGE_H
#define SLEY_DOMAIN_PAGE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/futex.h"
#include "shm/foreign.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define DOMAIN_PAGE_SIZE 4096u
#define DOMAIN_PAGE_VERSION 1u
#define DOMAIN_MEMBER_MAGIC 0x6d6d6f6479656c73ull /* "sleydomm" */
#define DOMAIN_HOST_MAGIC 0x686d6f6479656c73ull   /* "sleydomh" */

#define DOMAIN_MEMBERS_MAX 64u
#define DOMAIN_CORES_MAX 256u
#define DOMAIN_LEVELS 64u        /* NR_LEVELS of core/; 0 is the most urgent */
#define DOMAIN_LEVEL_DEFAULT 32u /* LEVEL_DEFAULT of core/ */
#define DOMAIN_TIDS 64u /* threads that a member names                */

/* In place of the index of a member. */
#define DOMAIN_HOST 254u
#define DOMAIN_NOBODY 255u

/* ---- core words ---------------------------------------------------------------------- */

enum core_kind {
	CORE_NONE,
	CORE_IDLE,
	CORE_BUSY,
	CORE_GIVEN,
	CORE_SEEN,    /* of the host */
	CORE_PENDING, /* of the host */
};

#define CORE_GENERATION_BITS 48

static inline uint64_t core_word(uint64_t generation, enum core_kind kind,
				 uint32_t member)
{
	return generation << 16 | (uint64_t)(member & 255) << 8 | kind;
}

static inline uint64_t core_generation(uint64_t word)
{
	return word >> 16;
}

/* Of a member: to which it is given, or of which it was taken. */
static inline uint32_t core_member(uint64_t word)
{
	return word >> 8 & 255;
}

/* May be no enum core_kind. */
static inline uint32_t core_kind(uint64_t word)
{
	return word & 255;
}

/* The generation that @word, of the host, tells of: PENDING tells of none yet. */
static inline uint64_t core_told(uint64_t word)
{
	return core_generation(word) - (core_kind(word) == CORE_PENDING);
}

/* The writer of @word holds the core, if the word is true. */
static inline bool core_is_held(uint64_t word)
{
	return core_kind(word) == CORE_IDLE || core_kind(word) == CORE_BUSY;
}

static inline bool core_is_given_to(uint64_t word, uint32_t member)
{
	return core_kind(word) == CORE_GIVEN && core_member(word) == member;
}

/* ---- wants --------------------------------------------------------------------------- */

/* What a member wants: {sequence:32, nr:16, level:8, reserved:8}. */
static inline uint64_t want_word(uint32_t sequence, uint32_t nr, uint32_t level)
{
	return (uint64_t)sequence << 32 | (nr & 0xffff) << 16 |
	       (level & 255) << 8;
}

/* Changes with each change of the want. */
static inline uint32_t want_sequence(uint64_t want)
{
	return (uint32_t)(want >> 32);
}

/* How many workers want a core. */
static inline uint32_t want_nr(uint64_t want)
{
	return want >> 16 & 0xffff;
}

/* The most urgent level that they would run; may be no level. */
static inline uint32_t want_level(uint64_t want)
{
	return want >> 8 & 255;
}

/* A wish of the host: {sequence:24, member:8}. */
static inline uint32_t wish_word(uint32_t sequence, uint32_t member)
{
	return sequence << 8 | (member & 255);
}

static inline uint32_t wish_member(uint32_t wish)
{
	return wish & 255;
}

/* ---- the pages ----------------------------------------------------------------------- */

#define MEMBER_STRICT 1u /* for .flags */

/* In .runs: no worker runs. */
#define MEMBER_RUNS_NOTHING DOMAIN_LEVELS

/* What a member says of itself, for people. */
struct member_figures {
	uint64_t nr_given;    /* cores to others, on demand                  */
	uint64_t nr_taken;    /* cores of others                             */
	uint64_t nr_overtook; /* urgent workers that ran without a core      */
	uint64_t nr_in_vain;  /* cores that came and found no work           */
	uint64_t nr_asked;    /* looks that found a peer with a better claim */
	uint64_t nr_waits;    /* waits for a core                            */
	uint64_t wait_ns;     /* all of them                                 */
	uint64_t wait_max_ns; /* the longest                                 */
};

struct member_page {
	uint64_t magic;
	uint32_t version;
	uint32_t flags;
	uint64_t generation; /* of this membership; 0: not welcome yet */
	uint32_t beat;       /* ticks of its monitor */
	uint32_t reserved;
	/* Its peers look here at each pick. */
	cache_aligned uint64_t want;
	cache_aligned uint64_t levels; /* bits: levels with ready tasks */
	uint32_t runs; /* the least urgent level that a worker with a core runs */
	uint32_t load; /* ready tasks, about */
	cache_aligned struct member_figures figures;
	/* The host sleeps on this word: "look now, and not at the next tick". */
	cache_aligned uint32_t asks;
	/* The member itself sleeps on this word. */
	uint32_t bell;
	/* A word for each member, on which it sleeps: changes with each give to it. */
	cache_aligned uint32_t gives[DOMAIN_MEMBERS_MAX];
	/* The kernel's numbers of workers that run ordinary work for long; 0: none. */
	cache_aligned int32_t tid[DOMAIN_TIDS];
	uint8_t free[1216];
	cache_aligned uint64_t core[DOMAIN_CORES_MAX];
};

struct host_page {
	uint64_t magic;
	uint32_t version;
	uint32_t nr_cores;
	uint64_t generation; /* of this host */
	uint64_t tick_ns;
	uint32_t beat;
	uint32_t reserved;
	cache_aligned uint64_t live; /* bits: indices of members */
	uint64_t disputed; /* bits: members that contradict each other */
	uint64_t doubted;  /* bits: members that somebody may have fooled */
	uint64_t lowered;  /* bits: members with threads of LOWERING_NICE */
	uint8_t free[96];
	/* Of each member: the most urgent level that counts.  Constant as a rule. */
	uint8_t highest[DOMAIN_MEMBERS_MAX];
	uint64_t member[DOMAIN_MEMBERS_MAX]; /* their generations; 0: none */
	uint32_t gives[DOMAIN_MEMBERS_MAX];  /* as above */
	uint32_t wish[DOMAIN_CORES_MAX];     /* give this core to that member */
	uint64_t core[DOMAIN_CORES_MAX];
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as it is written");
_Static_assert(sizeof(struct member_figures) == 64, "the same everywhere");
_Static_assert(sizeof(struct member_page) == DOMAIN_PAGE_SIZE, "as above");
_Static_assert(offsetof(struct member_page, version) == 8, "as above");
_Static_assert(offsetof(struct member_page, flags) == 12, "as above");
_Static_assert(offsetof(struct member_page, generation) == 16, "as above");
_Static_assert(offsetof(struct member_page, beat) == 24, "as above");
_Static_assert(offsetof(struct member_page, want) == 64, "as above");
_Static_assert(offsetof(struct member_page, levels) == 128, "as above");
_Static_assert(offsetof(struct member_page, runs) == 136, "as above");
_Static_assert(offsetof(struct member_page, load) == 140, "as above");
_Static_assert(offsetof(struct member_page, figures) == 192, "as above");
_Static_assert(offsetof(struct member_page, asks) == 256, "as above");
_Static_assert(offsetof(struct member_page, bell) == 260, "as above");
_Static_assert(offsetof(struct member_page, gives) == 320, "as above");
_Static_assert(offsetof(struct member_page, tid) == 576, "as above");
_Static_assert(offsetof(struct member_page, core) == 2048, "as above");
_Static_assert(sizeof(struct host_page) == DOMAIN_PAGE_SIZE, "as above");
_Static_assert(offsetof(struct host_page, version) == 8, "as above");
_Static_assert(offsetof(struct host_page, nr_cores) == 12, "as above");
_Static_assert(offsetof(struct host_page, generation) == 16, "as above");
_Static_assert(offsetof(struct host_page, tick_ns) == 24, "as above");
_Static_assert(offsetof(struct host_page, beat) == 32, "as above");
_Static_assert(offsetof(struct host_page, live) == 64, "as above");
_Static_assert(offsetof(struct host_page, disputed) == 72, "as above");
_Static_assert(offsetof(struct host_page, doubted) == 80, "as above");
_Static_assert(offsetof(struct host_page, lowered) == 88, "as above");
_Static_assert(offsetof(struct host_page, highest) == 192, "as above");
_Static_assert(offsetof(struct host_page, member) == 256, "as above");
_Static_assert(offsetof(struct host_page, gives) == 768, "as above");
_Static_assert(offsetof(struct host_page, wish) == 1024, "as above");
_Static_assert(offsetof(struct host_page, core) == 2048, "as above");

/* ---- looking at any page ------------------------------------------------------------- */

static inline uint64_t member_core(const struct member_page foreign *page,
				   uint32_t core)
{
	return load_acquire(&page->core[core]); /* DP2 */
}

static inline uint64_t host_core(const struct host_page foreign *page,
				 uint32_t core)
{
	return load_acquire(&page->core[core]); /* DP2 */
}

/* The same, after the caller has changed a core word in a page of its own. */
static inline uint64_t member_core_now(const struct member_page foreign *page,
				       uint32_t core)
{
	return load_seq_cst(&page->core[core]); /* DP3, DP4 */
}

static inline uint64_t host_core_now(const struct host_page foreign *page,
				     uint32_t core)
{
	return load_seq_cst(&page->core[core]); /* DP3 */
}

/* How often @page gave a core to @member. */
static inline uint32_t member_gives(const struct member_page foreign *page,
				    uint32_t member)
{
	return load_acquire(&page->gives[member]); /* DP1 */
}

static inline uint32_t host_gives(const struct host_page foreign *page,
				  uint32_t member)
{
	return load_acquire(&page->gives[member]); /* DP1 */
}

/* How often @page asked the host to look. */
static inline uint32_t member_asks(const struct member_page foreign *page)
{
	return load_acquire(&page->asks); /* DP5 */
}

static inline uint64_t member_want(const struct member_page foreign *page)
{
	return load_acquire(&page->want); /* DP6 */
}

/* The same, after the caller has changed a core word in its own page. */
static inline uint64_t member_want_now(const struct member_page foreign *page)
{
	return load_seq_cst(&page->want); /* DP4, DP6 */
}

static inline uint64_t member_levels(const struct member_page foreign *page)
{
	/* relaxed: hints. */
	return load_relaxed(&page->levels);
}

static inline uint64_t member_in_vain(const struct member_page foreign *page)
{
	/* relaxed: a hint. */
	return load_relaxed(&page->figures.nr_in_vain);
}

static inline uint64_t host_live(const struct host_page foreign *page)
{
	/* relaxed: pages of members are mapped by descriptors that packets bring. */
	return load_relaxed(&page->live);
}

static inline uint32_t host_highest(const struct host_page foreign *page,
				    uint32_t member)
{
	/* relaxed: ordered by the want that was read before. */
	return load_relaxed(&page->highest[member]);
}

/* 0: nobody has this number. */
static inline uint64_t host_member(const struct host_page foreign *page,
				   uint32_t member)
{
	/* relaxed: see host_member_set(). */
	return load_relaxed(&page->member[member]);
}

/* What comes of a word that was mended comes behind these sets (DP2). */
static inline uint64_t host_disputed(const struct host_page foreign *page)
{
	/* relaxed: ordered by the core word that was read before. */
	return load_relaxed(&page->disputed);
}

static inline uint64_t host_doubted(const struct host_page foreign *page)
{
	/* relaxed: as above. */
	return load_relaxed(&page->doubted);
}

static inline uint64_t host_lowered(const struct host_page foreign *page)
{
	/* relaxed: a member reads it when the host is gone. */
	return load_relaxed(&page->lowered);
}

static inline int32_t member_tid(const struct member_page foreign *page,
				 uint32_t i)
{
	/* relaxed: a hint, which the kernel is asked about. */
	return load_relaxed(&page->tid[i]);
}

static inline uint32_t member_beats(const struct member_page foreign *page)
{
	/* relaxed: a hint. */
	return load_relaxed(&page->beat);
}

static inline uint32_t member_runs(const struct member_page foreign *page)
{
	/* relaxed: a hint. */
	return load_relaxed(&page->runs);
}

static inline uint32_t host_wish(const struct host_page foreign *page,
				 uint32_t core)
{
	/* relaxed: a hint. */
	return load_relaxed(&page->wish[core]);
}

/* Of a page that another process has made: is it what it should be? */
static inline must_check bool
member_page_is_sound(const struct member_page foreign *page)
{
	/* relaxed: written before its descriptor was sent. */
	return load_relaxed(&page->magic) == DOMAIN_MEMBER_MAGIC &&
	       load_relaxed(&page->version) == DOMAIN_PAGE_VERSION;
}

static inline uint32_t host_beats(const struct host_page foreign *page)
{
	/* relaxed: members see whether it changes. */
	return load_relaxed(&page->beat);
}

static inline bool member_is_strict(const struct member_page foreign *page)
{
	/* relaxed: for people. */
	return load_relaxed(&page->flags) & MEMBER_STRICT;
}

static inline uint32_t member_load(const struct member_page foreign *page)
{
	/* relaxed: for people. */
	return load_relaxed(&page->load);
}

/* ---- writing to the own page --------------------------------------------------------- */

/*
 * Of a member.  Its threads take turns at a word: false, and *@expected is new, if another
 * thread was first.
 */
static inline must_check bool member_core_change(struct member_page *page,
						 uint32_t core,
						 uint64_t *expected,
						 uint64_t word)
{
	/* DP2, DP3, DP4 */
	return cas_seq_cst(&page->core[core], expected, word);
}

static inline void member_want_set(struct member_page *page, uint64_t want)
{
	(void)xchg_seq_cst(&page->want, want); /* DP4, DP6 */
}

/* Wakes the host. */
static inline void member_ask(struct member_page *page)
{
	(void)add_release(&page->asks, 1); /* DP5 */
	os_futex_wake_shared(&page->asks, INT_MAX);
}

/* Of the host, which is one thread. */
static inline void host_core_set(struct host_page *page, uint32_t core,
				 uint64_t word)
{
	(void)xchg_seq_cst(&page->core[core], word); /* DP2, DP3 */
}

/* Hints of a member, for the host and for people; see struct member_page. */
static inline void member_show(struct member_page *page, uint64_t levels,
			       uint32_t runs, uint32_t load)
{
	/* relaxed: hints. */
	store_relaxed(&page->levels, levels);
	store_relaxed(&page->runs, runs);
	store_relaxed(&page->load, load);
}

static inline void member_show_figures(struct member_page *page,
				       const struct member_figures *figures)
{
	const uint64_t *from = (const uint64_t *)figures;
	uint64_t *to = (uint64_t *)&page->figures;

	/* relaxed: figures for people. */
	for (size_t i = 0; i < sizeof(*figures) / sizeof(*from); i++)
		store_relaxed(&to[i], from[i]);
}

static inline void member_tid_set(struct member_page *page, uint32_t i,
				  int32_t tid)
{
	/* relaxed: as above. */
	store_relaxed(&page->tid[i], tid);
}

static inline void member_generation_set(struct member_page *page,
					 uint64_t generation)
{
	/* relaxed: for people. */
	store_relaxed(&page->generation, generation);
}

static inline void member_beat(struct member_page *page)
{
	/* relaxed: the host sees that it changes. */
	store_relaxed(&page->beat, load_relaxed(&page->beat) + 1);
}

static inline void member_strict_set(struct member_page *page, bool strict)
{
	/* relaxed: a hint. */
	store_relaxed(&page->flags, strict ? MEMBER_STRICT : 0);
}

/* After a core word has become GIVEN. */
static inline void member_tell(struct member_page *page, uint32_t to)
{
	(void)add_release(&page->gives[to], 1); /* DP1 */
}

/* After member_tell(): the receiver may sleep. */
static inline void member_wake(struct member_page *page, uint32_t to)
{
	os_futex_wake_shared(&page->gives[to], INT_MAX);
}

static inline void host_page_begin(struct host_page *page, uint64_t generation,
				   uint64_t tick_ns, uint32_t nr_cores)
{
	page->magic = DOMAIN_HOST_MAGIC;
	page->version = DOMAIN_PAGE_VERSION;
	page->generation = generation;
	page->tick_ns = tick_ns;
	page->nr_cores = nr_cores;
}

static inline void host_live_set(struct host_page *page, uint64_t live)
{
	/* relaxed: see host_live(). */
	store_relaxed(&page->live, live);
}

/* Before the words that mend what these members say. */
static inline void host_disputed_set(struct host_page *page, uint64_t disputed,
				     uint64_t doubted)
{
	/* relaxed: the next core word has the edge. */
	store_relaxed(&page->disputed, disputed);
	store_relaxed(&page->doubted, doubted);
}

/* Before their threads are lowered, and after they are restored. */
static inline void host_lowered_set(struct host_page *page, uint64_t members)
{
	/* relaxed: system calls are in between. */
	store_relaxed(&page->lowered, members);
}

/* Before the member is welcome; later as a hint. */
static inline void host_highest_set(struct host_page *page, uint32_t member,
				    uint32_t highest)
{
	/* relaxed: the packet that welcomes comes later. */
	store_relaxed(&page->highest[member], (uint8_t)highest);
}

static inline void host_member_set(struct host_page *page, uint32_t member,
				   uint64_t generation)
{
	/* relaxed: its readers were told of the member by a packet, or by the member. */
	store_relaxed(&page->member[member], generation);
}

static inline void host_wish_set(struct host_page *page, uint32_t core,
				 uint32_t wish)
{
	/* relaxed: a hint. */
	store_relaxed(&page->wish[core], wish);
}

static inline void host_beat(struct host_page *page)
{
	/* relaxed: for people. */
	store_relaxed(&page->beat, load_relaxed(&page->beat) + 1);
}

static inline void host_tell(struct host_page *page, uint32_t to)
{
	(void)add_release(&page->gives[to], 1); /* DP1 */
	os_futex_wake_shared(&page->gives[to], INT_MAX);
}

#endif
