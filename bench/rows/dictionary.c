/* SPDX-License-Identifier: MIT */
/*
 * dictionary.c - row `dictionary`: 20 processes ask a dictionary for words; about
 * one request in ten is a write.
 *
 * The dictionary is a step process.  The askers wait for answers, and are actors.
 */
#include "actors.h"

#include "../problems/minstd.h"

enum { READ, WRITE, STOP };

/* ---- the dictionary ----------------------------------------------------------------- */

#define SLOTS (4 * DICTIONARY_KEYS)

struct word {
	uint64_t key;
	uint64_t value; /* 0: the slot is free */
};

struct dictionary {
	uint64_t writes;
	struct word *words; /* open addressing */
};

static int dictionary_init(void *self, const char *method, const void *input,
			   size_t size)
{
	struct dictionary *d = self;

	(void)method, (void)input, (void)size;
	d->words = calloc(SLOTS, sizeof(*d->words));
	return d->words != NULL ? 0 : -ENOMEM;
}

static void dictionary_close(void *self, int reason)
{
	struct dictionary *d = self;

	(void)reason;
	free(d->words);
}

/* The slot of a key, or a free slot for the key. */
static struct word *find(struct dictionary *d, uint64_t key)
{
	uint64_t slot = key * 0x9e3779b97f4a7c15u >> 32;
	struct word *word;

	do
		word = &d->words[slot++ % SLOTS];
	while (word->value != 0 && word->key != key);
	return word;
}

static enum sley_step dictionary_step(void *self, struct sley_msg *const *msg,
				      size_t nr, struct sley_out *out)
{
	struct dictionary *d = self;
	const struct word *asked;
	struct word *word;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == STOP) {
			sley_reply(msg[i], STOP, &d->writes, sizeof(d->writes));
			return sley_out_done(out, 0);
		}
		asked = msg[i]->data;
		word = find(d, asked->key);
		if (msg[i]->tag == WRITE) {
			*word = *asked;
			d->writes++;
		}
		sley_reply(msg[i], READ, &word->value, sizeof(word->value));
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour dictionary = {
	.name = "dictionary",
	.size = sizeof(struct dictionary),
	.init = dictionary_init,
	.step = dictionary_step,
	.close = dictionary_close,
};

/* ---- the askers ---------------------------------------------------------------------- */

struct library {
	const struct measure *m;
	sley_pid dictionary;
	uint64_t asks;      /* of each */
	uint64_t next_seed; /* by any worker, hence atomic */
	uint64_t writes;
	struct sley_waitgroup readers;
};

/* The value of the requested word. */
static uint64_t ask(struct library *l, uint64_t tag, const struct word *word)
{
	struct sley_msg *reply;
	uint64_t value;

	MEASURE_CHECK(l->m, sley_call(l->dictionary, tag, word, sizeof(*word),
				      &reply) == 0);
	value = actors_word(reply);
	sley_msg_free(reply);
	return value;
}

static int reader(void *arg)
{
	struct library *l = arg;
	uint64_t writes = 0, value;
	uint64_t seed = __atomic_add_fetch(&l->next_seed, 1, __ATOMIC_RELAXED);

	for (uint64_t i = 0; i < l->asks; i++) {
		struct word word;
		bool write;

		seed = minstd(seed);
		write = seed % 10 == 0;
		word.key = seed % DICTIONARY_KEYS;
		word.value = word.key + 1;
		value = ask(l, write ? WRITE : READ, &word);
		MEASURE_CHECK(l->m,
			      value == word.value || (value == 0 && !write));
		writes += write;
	}
	__atomic_fetch_add(&l->writes, writes, __ATOMIC_RELAXED);
	sley_waitgroup_done(&l->readers);
	return 0;
}

static void look_up(const struct measure *m, uint64_t asks)
{
	struct library l = { .m = m, .asks = asks };
	struct word none = { 0, 0 };

	sley_waitgroup_add(&l.readers, DICTIONARY_WORKERS);
	MEASURE_CHECK(m, sley_process_spawn(&l.dictionary, &dictionary, NULL, 0,
					    NULL) == 0);
	for (int i = 0; i < DICTIONARY_WORKERS; i++)
		actors_spawn_fiber(m, reader, &l);
	(void)!sley_waitgroup_wait(&l.readers);
	MEASURE_CHECK(m, ask(&l, STOP, &none) == l.writes);
}

void row_dictionary(const struct measure *m)
{
	actors_run(m, look_up, "ns", DICTIONARY_ASKS, DICTIONARY_WORKERS);
}
