/* SPDX-License-Identifier: MIT */
/*
 * value.c - key_read(): what stands behind a key becomes the value of a field.
 *
 * Numbers are decimal, and a 0 in front is refused: in YAML 1.1 the text 010 is the
 * number eight.  No function of the C library reads numbers here: strtod() goes by the
 * locale of the program, which may want a comma where the file has a point.
 */
#include "config/key.h"
#include "config/params.h"
#include "config/users.h"

#include <errno.h>
#include <sley/cpus.h>
#include <sley/query.h>
#include <sley/task.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FOLDER_MAX 511 /* route/load.c has room for so many bytes */
#define RATE_DIGITS_MAX 9

/* One value that is being read. */
struct reading {
	struct reader *reader;
	const struct key *key;
	const struct node *node;
	void *target;
	struct found *found;
};

static int mistake_at(const struct reading *r, const struct node *node,
		      const char *what)
{
	if (node->kind != NODE_TEXT)
		return reader_mistake(
			r->reader, node->at, "'%s' wants %s, and this is a %s",
			r->key->name, what,
			node->kind == NODE_LIST ? "list" : "map of keys");
	return reader_mistake(r->reader, node->at,
			      "'%s' wants %s, and this is '%.*s'", r->key->name,
			      what, reader_shown(node->text, node->size),
			      node->text);
}

static int mistake(const struct reading *r, const char *what)
{
	return mistake_at(r, r->node, what);
}

/* @value, of a type as large as the field, goes there. */
static int store(const struct reading *r, const void *value)
{
	if (r->key->size)
		memcpy((char *)r->target + r->key->offset, value, r->key->size);
	return 0;
}

static int store_number(const struct reading *r, uint64_t number)
{
	uint32_t half = (uint32_t)number;

	return store(r, r->key->size == sizeof(half) ? (void *)&half
						     : (void *)&number);
}

static int store_text(const struct reading *r, const char *text)
{
	r->found->text = text;
	return store(r, &text);
}

/* ---- numbers, words, switches ------------------------------------------------------ */

/* The number at *@at; *@at moves behind the number.  False: none, or too large. */
static bool take_number(const char **at, uint64_t *number)
{
	const char *text = *at;
	uint64_t sum = 0;

	if (*text < '0' || *text > '9' ||
	    (*text == '0' && text[1] >= '0' && text[1] <= '9'))
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*text - '0'), &sum))
			return false;
	}
	*at = text;
	*number = sum;
	return true;
}

static const struct word *find_word(const struct reading *r)
{
	const struct word *word = r->key->words;

	while (word && word->text) {
		if (r->node->kind == NODE_TEXT &&
		    !strcasecmp(word->text, r->node->text))
			return word;
		word++;
	}
	return NULL;
}

/* "debug, info, warning or error" */
static void list_words(const struct reading *r, char *out, size_t size)
{
	const struct word *word = r->key->words;
	size_t length = 0;

	out[0] = '\0';
	for (; word && word->text && length < size; word++) {
		const char *before = word == r->key->words ? ""
				     : word[1].text        ? ", "
							   : " or ";

		length += (size_t)snprintf(out + length, size - length, "%s%s",
					   before, word->text);
	}
}

static int read_word(const struct reading *r)
{
	const struct word *word = find_word(r);
	char all[128];

	if (word)
		return store_number(r, word->number);
	list_words(r, all, sizeof(all));
	return mistake(r, all);
}

static bool has_zero_in_front(const struct node *node)
{
	return node->kind == NODE_TEXT && node->text[0] == '0' &&
	       node->text[1] >= '0' && node->text[1] <= '9';
}

static int read_number(const struct reading *r)
{
	const struct word *word = find_word(r);
	const char *at = r->node->text;
	char words[64], wanted[160];
	uint64_t number;

	if (word)
		return store_number(r, word->number);
	if (r->node->kind == NODE_TEXT && take_number(&at, &number) && !*at &&
	    number >= r->key->min && number <= r->key->max)
		return store_number(r, number);
	list_words(r, words, sizeof(words));
	snprintf(wanted, sizeof(wanted), "a number from %llu to %llu%s%s%s",
		 (unsigned long long)r->key->min,
		 (unsigned long long)r->key->max,
		 has_zero_in_front(r->node) ? ", without a 0 in front" : "",
		 *words ? ", or " : "", words);
	return mistake(r, wanted);
}

static int read_priority(const struct reading *r)
{
	const char *at = r->node->kind == NODE_TEXT ? r->node->text : "";
	bool is_negative = *at == '-';
	uint64_t number;
	int32_t priority;
	char wanted[64];

	at += is_negative;
	if (take_number(&at, &number) && !*at &&
	    number <= (uint64_t)(is_negative ? -SLEY_PRIORITY_MIN
					     : SLEY_PRIORITY_MAX)) {
		priority = is_negative ? -(int32_t)number : (int32_t)number;
		return store(r, &priority);
	}
	snprintf(wanted, sizeof(wanted),
		 "a priority from %d, the most urgent, to %d",
		 SLEY_PRIORITY_MIN, SLEY_PRIORITY_MAX);
	return mistake(r, wanted);
}

static int read_switch(const struct reading *r)
{
	static const char *const words[][2] = { { "false", "true" },
						{ "no", "yes" },
						{ "off", "on" } };

	for (size_t i = 0; i < array_size(words); i++) {
		for (int on = 0; on < 2 && r->node->kind == NODE_TEXT; on++) {
			bool value = on;

			if (!strcasecmp(r->node->text, words[i][on]))
				return store(r, &value);
		}
	}
	return mistake(r, "true or false");
}

/* 1, 0.25, .5 are rates; 1e-3 is none. */
static int read_rate(const struct reading *r)
{
	const char *at = r->node->kind == NODE_TEXT ? r->node->text : "";
	double rate = 0, unit = 1;
	int digits = 0;

	while (*at == '0' || *at == '1')
		rate = rate * 10 + (*at++ - '0');
	if (*at == '.') {
		for (at++; *at >= '0' && *at <= '9'; at++, digits++) {
			unit /= 10;
			rate += unit * (*at - '0');
		}
	}
	if (*at || digits > RATE_DIGITS_MAX || !(rate > 0) || rate > 1)
		return mistake(r, "a number above 0 and up to 1, as 0.25");
	return store(r, &rate);
}

/* ---- texts ------------------------------------------------------------------------- */

static int read_text(const struct reading *r)
{
	char wanted[64];

	if (r->node->kind == NODE_TEXT && r->node->size >= r->key->min &&
	    r->node->size <= r->key->max)
		return store_text(r, r->node->text);
	snprintf(wanted, sizeof(wanted), "a text of %u to %u bytes",
		 (unsigned int)r->key->min, (unsigned int)r->key->max);
	return mistake(r, wanted);
}

static bool is_folder(const char *text, size_t size)
{
	return size && size <= FOLDER_MAX && *text == '/';
}

#define FOLDER_WANTED "an absolute path, as /usr/lib/sley, of 511 bytes at most"

static int read_folder(const struct reading *r)
{
	if (r->node->kind == NODE_TEXT &&
	    is_folder(r->node->text, r->node->size))
		return store_text(r, r->node->text);
	return mistake(r, FOLDER_WANTED);
}

static int check_folders(const struct reading *r, const struct node *node)
{
	const char *text = node->text;

	for (;;) {
		size_t length = strcspn(text, ":");

		if (!is_folder(text, length))
			return mistake_at(r, node, FOLDER_WANTED);
		if (!text[length])
			return 0;
		text += length + 1;
	}
}

/* The texts of a list with @between between them. */
static int join(const struct reading *r, const char *wanted, char between,
		char **out)
{
	size_t size = 0;
	char *text;

	for (struct node *node = r->node->first; node; node = node->next) {
		if (node->kind != NODE_TEXT || node_is_empty(node))
			return mistake_at(r, node, wanted);
		size += node->size + 1;
	}
	if (!size)
		return mistake(r, wanted);
	*out = text = pile_alloc(&r->reader->pile, size);
	if (!text)
		return -ENOMEM;
	for (struct node *node = r->node->first; node; node = node->next) {
		memcpy(text, node->text, node->size);
		text += node->size;
		*text++ = node->next ? between : '\0';
	}
	return 0;
}

/* A list, or a text with colons; a text in the list may have colons, too. */
static int read_folders(const struct reading *r)
{
	char *joined = NULL;
	int err;

	if (r->node->kind == NODE_MAP)
		return mistake(r, "a list of folders");
	if (r->node->kind == NODE_TEXT)
		return check_folders(r, r->node)
			       ?: store_text(r, r->node->text);
	err = join(r, FOLDER_WANTED, ':', &joined);
	for (struct node *node = r->node->first; node && !err;
	     node = node->next)
		err = check_folders(r, node);
	return err ?: store_text(r, joined);
}

static int read_id(const struct reading *r)
{
	const char *at = r->node->kind == NODE_TEXT ? r->node->text : "";
	uint64_t number;

	if (take_number(&at, &number) &&
	    (!*at || (*at++ == '.' && take_number(&at, &number) && !*at)))
		return store_text(r, r->node->text);
	return mistake(r, "a number, or two with a point between them");
}

/* ---- sets of CPUs ------------------------------------------------------------------ */

#define CPUS_WANTED "numbers of CPUs, as 0-3,8"

/* One number, or two with a minus between them. */
static bool take_cpus(const char **at, struct sley_cpus *cpus)
{
	uint64_t first, last;

	*at += strspn(*at, " ");
	if (!take_number(at, &first))
		return false;
	last = first;
	if (**at == '-') {
		++*at;
		if (!take_number(at, &last))
			return false;
	}
	if (last < first || last >= SLEY_CPUS_MAX)
		return false;
	for (; first <= last; first++)
		(void)sley_cpus_add(cpus, (int)first);
	return true;
}

static int read_cpus(const struct reading *r)
{
	struct sley_cpus *cpus = pile_alloc(&r->reader->pile, sizeof(*cpus));
	const char *text = r->node->text;
	char *joined = NULL;
	int err = 0;

	if (!cpus)
		return -ENOMEM;
	if (r->node->kind == NODE_MAP)
		return mistake(r, CPUS_WANTED);
	if (r->node->kind == NODE_LIST)
		err = join(r, CPUS_WANTED, ',', &joined);
	if (err)
		return err;
	if (joined)
		text = joined;
	r->found->text = text;
	while (take_cpus(&text, cpus)) {
		if (!*text)
			return store(r, &cpus);
		if (*text++ != ',')
			break;
	}
	return mistake(r, CPUS_WANTED ", all below 4096");
}

/* ---- queries ------------------------------------------------------------------------ */

/*
 * In Chimaera the query says on which machines the pool is made: a container of the
 * admin pool is a machine.  Does @query mean this machine?
 */
static bool is_here(const struct sley_query *query)
{
	switch (query->kind) {
	case SLEY_QUERY_ID:
	case SLEY_QUERY_PHYSICAL:
		return query->first == 0;
	case SLEY_QUERY_RANGE:
		return query->first == 0 && query->count == 1;
	default:
		return true;
	}
}

static int read_query(const struct reading *r)
{
	struct sley_query query;

	if (r->node->kind != NODE_TEXT ||
	    sley_query_parse(&query, r->node->text))
		return mistake(r, "a query, as local, dynamic or broadcast");
	if (!is_here(&query))
		return mistake(r, "a query for this machine, which is number "
				  "0, since there are no others so far");
	return store(r, &query);
}

/* ------------------------------------------------------------------------------------ */

static int read_params(const struct reading *r)
{
	struct params params = { 0 };
	int err = params_make(r->reader, r->node, &params);

	return err ?: store(r, &params);
}

/* ---- daemons ----------------------------------------------------------------------- */

static int read_path(const struct reading *r)
{
	char wanted[64];

	if (r->node->kind == NODE_TEXT && *r->node->text == '/' &&
	    r->node->size <= r->key->max)
		return store_text(r, r->node->text);
	snprintf(wanted, sizeof(wanted), "an absolute path of %u bytes at most",
		 (unsigned int)r->key->max);
	return mistake(r, wanted);
}

/* Always octal, as for chmod(1). */
static int read_mode(const struct reading *r)
{
	const char *at = r->node->kind == NODE_TEXT ? r->node->text : "";
	uint32_t mode = 0;
	int digits = 0;

	for (; *at >= '0' && *at <= '7' && digits < 5; at++, digits++)
		mode = mode * 8 + (uint32_t)(*at - '0');
	if (*at || digits < 3 || digits > 4 || mode > 0777 || !(mode & 0600))
		return mistake(r, "rights of a file as 0660, with 6 for the "
				  "user");
	return store(r, &mode);
}

static int add_right(const struct reading *r, const struct node *node,
		     uint32_t *rights)
{
	const struct reading one = { r->reader, r->key, node, NULL, NULL };
	const struct word *word = find_word(&one);
	char all[128];

	if (word) {
		*rights |= (uint32_t)word->number;
		return 0;
	}
	list_words(r, all, sizeof(all));
	return mistake_at(r, node, all);
}

/* A list of words, or one word. */
static int read_rights(const struct reading *r)
{
	uint32_t rights = 0;
	int err = 0;

	if (r->node->kind == NODE_TEXT) {
		err = add_right(r, r->node, &rights);
		return err ?: store(r, &rights);
	}
	if (r->node->kind == NODE_MAP || !r->node->nr)
		return mistake(r, "a list of rights, as [ submit, look ]");
	for (struct node *node = r->node->first; node && !err;
	     node = node->next)
		err = add_right(r, node, &rights);
	return err ?: store(r, &rights);
}

static int read_users(const struct reading *r)
{
	struct users users = { 0 };
	int err = users_make(r->reader, r->node, &users);
	char text[32];

	if (err)
		return err;
	snprintf(text, sizeof(text), "%zu in all", users.nr);
	r->found->text = pile_text(&r->reader->pile, text, strlen(text));
	return r->found->text ? store(r, &users) : -ENOMEM;
}

static int (*const readers[])(const struct reading *r) = {
	[VALUE_NUMBER] = read_number, [VALUE_SWITCH] = read_switch,
	[VALUE_WORD] = read_word,     [VALUE_TEXT] = read_text,
	[VALUE_FOLDER] = read_folder, [VALUE_FOLDERS] = read_folders,
	[VALUE_CPUS] = read_cpus,     [VALUE_RATE] = read_rate,
	[VALUE_ID] = read_id,         [VALUE_QUERY] = read_query,
	[VALUE_PARAMS] = read_params, [VALUE_PATH] = read_path,
	[VALUE_MODE] = read_mode,     [VALUE_RIGHTS] = read_rights,
	[VALUE_USERS] = read_users,   [VALUE_PRIORITY] = read_priority,
};

int key_read(struct reader *reader, const struct key *key,
	     const struct node *node, void *target, struct found *found)
{
	const struct reading r = { reader, key, node, target, found };

	if (node_is_empty(node) && key->kind != VALUE_PARAMS)
		return reader_mistake(reader, node->at,
				      "'%s' has no value: write one behind the "
				      "colon, or take the key out",
				      key->name);
	found->at = node->at;
	found->text = node->text;
	return readers[key->kind](&r);
}
