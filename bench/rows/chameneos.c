/* SPDX-License-Identifier: MIT */
/*
 * chameneos.c - row `chameneos`: 100 creatures meet in pairs, and change colour.
 *
 * A mall introduces the second of a pair to the first, which tells the second the
 * new colour of both.  When there are no meetings left, the mall stops each creature
 * that asks, and the creature reports the number of its meetings.
 */
#include "actors.h"

enum { MEET, CHANGE, STOP, MET };

struct guest {
	sley_pid pid;
	uint64_t colour; /* 0, 1 or 2 */
};

static uint64_t complement(uint64_t one, uint64_t other)
{
	return one == other ? one : 3 - one - other;
}

/* ---- creatures ------------------------------------------------------------------ */

struct creature {
	sley_pid mall;
	uint64_t colour;
	uint64_t met;
};

static void go_to_mall(const struct creature *c)
{
	struct guest me = { sley_self(), c->colour };

	sley_send(c->mall, MEET, &me, sizeof(me));
}

static void meet(struct creature *c, const struct guest *other)
{
	c->colour = complement(c->colour, other->colour);
	c->met++;
	actors_send(other->pid, CHANGE, c->colour);
	go_to_mall(c);
}

static enum sley_step creature_step(void *self, struct sley_msg *const *msg,
				    size_t nr, struct sley_out *out)
{
	struct creature *c = self;

	if (nr == 0)
		go_to_mall(c);
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == STOP) {
			actors_send(c->mall, MET, c->met);
			return sley_out_done(out, 0);
		}
		if (msg[i]->tag == MEET) {
			meet(c, msg[i]->data);
			continue;
		}
		c->colour = actors_word(msg[i]);
		c->met++;
		go_to_mall(c);
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour creature = {
	.name = "creature",
	.size = sizeof(struct creature),
	.init = actors_init,
	.step = creature_step,
};

/* ---- the mall -------------------------------------------------------------------- */

struct mall {
	struct answer *answer;
	sley_pid waiting;
	uint64_t left;
	uint64_t met;
	int gone;
};

static void introduce(struct mall *mall, const struct guest *guest)
{
	if (mall->left == 0) {
		actors_send(guest->pid, STOP, 0);
	} else if (mall->waiting == SLEY_NO_PID) {
		mall->waiting = guest->pid;
	} else {
		mall->left--;
		sley_send(mall->waiting, MEET, guest, sizeof(*guest));
		mall->waiting = SLEY_NO_PID;
	}
}

static enum sley_step mall_step(void *self, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	struct mall *mall = self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == MEET) {
			introduce(mall, msg[i]->data);
			continue;
		}
		mall->met += actors_word(msg[i]);
		if (++mall->gone == CHAMENEOS) {
			answer_give(mall->answer, mall->met);
			return sley_out_done(out, 0);
		}
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour mall = {
	.name = "mall",
	.size = sizeof(struct mall),
	.init = actors_init,
	.step = mall_step,
};

static void chameneos(const struct measure *m, uint64_t meetings)
{
	struct answer answer = ANSWER_INIT;
	struct mall place = { .answer = &answer, .left = meetings };
	struct creature c = { .mall = actors_spawn(m, &mall, &place) };

	for (uint64_t i = 0; i < CHAMENEOS; i++) {
		c.colour = i % 3;
		actors_spawn(m, &creature, &c);
	}
	MEASURE_CHECK(m, answer_take(&answer) == 2 * meetings);
}

void row_chameneos(const struct measure *m)
{
	actors_run(m, chameneos, "ns", CHAMENEOS_MEETINGS, 1);
}
