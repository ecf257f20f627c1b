/* SPDX-License-Identifier: MIT */
/*
 * fake_neighbour.h - a router with a neighbour that is a fake, and a pool of letters.
 *
 * Container n answers with its letter: a small one here, a capital one elsewhere.  The
 * answers of several containers are a word.
 */
#ifndef SLEY_TESTS_CONFORMANCE_ROUTE_FAKE_NEIGHBOUR_H
#define SLEY_TESTS_CONFORMANCE_ROUTE_FAKE_NEIGHBOUR_H

#include "conformance/bound.h"

#include "route/neighbour.h"

#define MOST 128 /* containers, and parcels of a test */

enum mood {
	ANSWERS,     /* at once, while send() runs        */
	KEEPS,       /* the test answers, or nobody does  */
	UNREACHABLE, /* -EHOSTUNREACH                     */
	REFUSES,     /* -E2BIG                            */
};

struct fake {
	struct sley_router *router;
	struct sley_mutex lock;
	atomic_int mood, nr_sent, nr_dropped, nr_stopped;
	atomic_int machine[MOST]; /* of each container                    */
	struct parcel sent[MOST]; /* (lock)                               */
	char in[8];               /* of the last (lock)                   */
	struct ticket dropped;    /* the last (lock)                      */
};
extern struct fake fake;
extern const struct neighbour_ops fake_ops;

/* The only method of the module answers with a letter. */
enum { LETTER };
extern const struct sley_module letters;
extern atomic_int nr_ran, nr_scheduled;
extern struct sley_query scheduled; /* what schedule() answers */

struct scene {
	struct sley *rt;
	struct sley_router *router;
	struct sley_pool *pool;
};

/* A pool of @nr containers, all of them here; the fake does as @mood says. */
struct scene scene_start(uint32_t nr, enum mood mood);
void scene_stop(struct scene *scene);

/* So many containers are on @machine from now on. */
void move(uint32_t first, uint32_t nr, int machine);

/* As the other machine would answer: the error of neighbour_answer(). */
int answer(const struct parcel *parcel);

/* The code of a request; its answer is the text *@out. */
int ask(struct sley_pool *pool, struct sley_query query, char *out);
void check_word(struct sley_pool *pool, struct sley_query query,
		const char *word);

/* For tasks: until the fake has @nr parcels. */
void await_sent(int nr);

/* A request that is out, or too late for that, in memory of its own. */
struct out {
	struct sley_request request;
	char word[4];
};

struct out *send_out(struct sley_pool *pool, struct sley_query query,
		     uint64_t deadline_ns);

/* Its code; its memory is gone. */
int end_out(struct out *out);

/* Answers the last parcel, which no request waits for. */
void answer_in_vain(void);

#endif
