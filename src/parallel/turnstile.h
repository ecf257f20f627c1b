/* SPDX-License-Identifier: MIT */
/*
 * turnstile.h - lets tokens into a stage one at a time: in the order of their
 * numbers, or as they come.
 *
 * No thread waits here.  A token that cannot go in is put down, and belongs to the
 * turnstile.  Leaving the stage returns the next token, which is in then.
 *
 * In order: number `turn` may go in.  Tokens that come too early are put down
 * by number modulo the number of tokens.  That is enough: no number from `turn` to
 * the number of an early token has passed yet, so each of these numbers has a
 * token.  As they come: the turnstile is busy or not, and has a queue.
 *
 * Under a spinlock, which also orders the work that is done in the stage.
 */
#ifndef SLEY_PARALLEL_TURNSTILE_H
#define SLEY_PARALLEL_TURNSTILE_H

#include "base/list.h"
#include "lf/spin.h"

/* Holds an item that is under way. */
struct token {
	struct list list; /* free, ready, or before a stage  */
	void *item;
	uint64_t number; /* of the item                     */
	size_t stage;    /* the next stage                  */
	bool admitted;   /* to the stage, while put down    */
};

#define token_of(node) container_of(node, struct token, list)

struct turnstile {
	struct spinlock lock;
	bool busy;         /* as they come */
	struct list queue; /* as they come */
	uint32_t nr_tokens;
	uint64_t turn;          /* in order */
	struct token **waiting; /* in order */
};

/* @waiting: room for @nr_tokens, zeroed. */
static inline void turnstile_init(struct turnstile *at, struct token **waiting,
				  uint32_t nr_tokens)
{
	*at = (struct turnstile){ .nr_tokens = nr_tokens, .waiting = waiting };
	list_init(&at->queue);
}

/* False: @token is put down, and another runner may have it already. */
static inline must_check bool turnstile_enter_ordered(struct turnstile *at,
						      struct token *token)
{
	bool in;

	spin_lock(&at->lock);
	in = at->turn == token->number;
	if (!in)
		at->waiting[token->number % at->nr_tokens] = token;
	spin_unlock(&at->lock);
	return in;
}

/* The token that was put down and is in now; or NULL. */
static inline struct token *turnstile_leave_ordered(struct turnstile *at)
{
	struct token **place, *next;

	spin_lock(&at->lock);
	at->turn++;
	place = &at->waiting[at->turn % at->nr_tokens];
	next = *place;
	*place = NULL;
	spin_unlock(&at->lock);
	return next;
}

static inline must_check bool turnstile_enter_serial(struct turnstile *at,
						     struct token *token)
{
	bool in;

	spin_lock(&at->lock);
	in = !at->busy;
	if (in)
		at->busy = true;
	else
		list_append(&at->queue, &token->list);
	spin_unlock(&at->lock);
	return in;
}

static inline struct token *turnstile_leave_serial(struct turnstile *at)
{
	struct list *next;

	spin_lock(&at->lock);
	next = list_take_first(&at->queue);
	if (!next)
		at->busy = false;
	spin_unlock(&at->lock);
	return next ? token_of(next) : NULL;
}

#endif
