/* SPDX-License-Identifier: MIT */
/*
 * turnstile.h - lets tokens into a stage one at a time: in the order of their
 * numbers, or as they come.
 *
 * Nobody waits here.  A token that cannot go in is put down, and belongs to the
 * turnstile; who leaves the stage gets the next one, which is in then.
 *
 * In order: number `turn` may go in.  Tokens that come too early are put down
 * by number modulo the number of tokens.  That is enough: all numbers from
 * `turn` to theirs have not passed yet, so each of them has a token.  As they
 * come: it is busy or not, and has a queue.
 *
 * Under a spinlock, which also orders what is done in the stage.
 */
#ifndef SLEY_TASK_TURNSTILE_H
#define SLEY_TASK_TURNSTILE_H

#include "base/list.h"
#include "lf/spin.h"

/* An item that is under way. */
struct token {
	struct list list; /* free, ready, or before a stage  */
	void *item;
	uint64_t number; /* of the item                     */
	size_t stage;    /* that is next                    */
	bool admitted;   /* to it, while it was put down    */
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

/* False: @token is put down, and may be somebody else's already. */
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

/* Who is in now, and was put down; NULL: nobody. */
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
