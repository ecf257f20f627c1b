/* SPDX-License-Identifier: MIT */
/*
 * key.c - see key.h.
 */
#include "config/key.h"

#include "config/keys.h"

#include <errno.h>
#include <string.h>

#define WORD_MAX 64 /* longer words are near to nothing */

const struct key *key_find(const struct key_table *table, const char *name)
{
	for (size_t i = 0; i < table->nr; i++) {
		if (!strcmp(table->keys[i].name, name))
			return &table->keys[i];
	}
	return NULL;
}

/* ---- keys that are not there ------------------------------------------------------- */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* How many letters must be added, taken away or changed to make one of the other. */
static unsigned int steps_between(const char *a, const char *b)
{
	size_t nr_b = strlen(b);
	unsigned int row[WORD_MAX + 1];

	for (size_t j = 0; j <= nr_b; j++)
		row[j] = (unsigned int)j;
	for (; *a; a++) {
		unsigned int diagonal = row[0]++;

		for (size_t j = 1; j <= nr_b; j++) {
			unsigned int above = row[j];

			row[j] = least(least(above, row[j - 1]) + 1,
				       diagonal + (*a != b[j - 1]));
			diagonal = above;
		}
	}
	return row[nr_b];
}

/* The key of @table that @word may have been meant to be, or NULL. */
static const struct key *nearest(const struct key_table *table,
				 const struct node *word)
{
	unsigned int best = word->size < 6 ? 2 : 3; /* so many are too many */
	const struct key *near = NULL;

	for (size_t i = 0; i < table->nr && word->size < WORD_MAX; i++) {
		unsigned int steps =
			steps_between(word->text, table->keys[i].name);

		if (steps < best) {
			best = steps;
			near = &table->keys[i];
		}
	}
	return near;
}

static const struct key *find_field(const struct key_table *table,
				    const char *name)
{
	for (size_t i = 0; i < table->nr; i++) {
		const char *field = table->keys[i].field;

		if (field && !strcmp(field, name))
			return &table->keys[i];
	}
	return NULL;
}

/* The table that has the key, but is not the one where it stands; or NULL. */
static const struct key_table *find_table(const char *name)
{
	static const struct key_table *const tables[] = {
		&keys_runtime, &keys_networking, &keys_pool, &keys_daemon
	};

	for (size_t i = 0; i < array_size(tables); i++) {
		if (key_find(tables[i], name))
			return tables[i];
	}
	return NULL;
}

void key_unknown(struct reader *reader, const struct key_table *table,
		 const struct node *node)
{
	int shown = reader_shown(node->text, node->size);
	const struct key_table *other = find_table(node->text);
	const struct key *key = find_field(table, node->text);

	if (key) {
		(void)reader_mistake(reader, node->at,
				     "'%.*s' is called '%s' in %s", shown,
				     node->text, key->name, table->where);
		return;
	}
	key = nearest(table, node);
	if (key)
		(void)reader_mistake(reader, node->at,
				     "there is no key '%.*s' in %s; did you "
				     "mean '%s'?",
				     shown, node->text, table->where,
				     key->name);
	else if (other)
		(void)reader_mistake(reader, node->at,
				     "'%.*s' is no key of %s, but of %s: "
				     "indent it below that",
				     shown, node->text, table->where,
				     other->where);
	else
		(void)reader_mistake(
			reader, node->at, "there is no key '%.*s' in %s; %s",
			shown, node->text, table->where,
			table->advice ? table->advice
				      : "'sley config --sample' prints all "
					"keys");
}

/* ---- maps -------------------------------------------------------------------------- */

static int read_one(struct reader *reader, const struct key_table *table,
		    const struct node *value, void *target, struct found *found)
{
	const struct key *key = key_find(table, value->key->text);
	struct found *mine;

	if (!key) {
		key_unknown(reader, table, value->key);
		return 0;
	}
	mine = &found[key - table->keys];
	if (found_any(mine)) {
		(void)reader_mistake(reader, value->key->at,
				     "'%s' is there twice: line %u has it, too",
				     key->name, mine->at.line);
		return 0;
	}
	mine->at = value->at; /* also if its value is wrong: it is there */
	return key_read(reader, key, value, target, mine);
}

static void check_needed(struct reader *reader, const struct key_table *table,
			 const struct node *node, const struct found *found)
{
	for (size_t i = 0; i < table->nr; i++) {
		if (table->keys[i].is_needed && !found_any(&found[i]))
			(void)reader_mistake(reader, node->at,
					     "%s needs the key '%s'",
					     table->where, table->keys[i].name);
	}
}

int keys_read(struct reader *reader, const struct key_table *table,
	      const struct node *node, void *target, struct found *found)
{
	if (node->kind != NODE_MAP) {
		(void)reader_mistake(reader, node->at,
				     "%s wants keys, each as 'key: value' on a "
				     "line of its own",
				     table->where);
		return 0;
	}
	for (const struct node *value = node->first; value;
	     value = value->next) {
		if (read_one(reader, table, value, target, found) == -ENOMEM)
			return -ENOMEM;
	}
	check_needed(reader, table, node, found);
	return 0;
}
