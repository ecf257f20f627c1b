/* SPDX-License-Identifier: MIT */
/*
 * key.h - the keys of a map, what each takes, and where its value goes.
 *
 * A table of keys is the one place that knows them: reading, the variables of the
 * environment, the list of "sley config --check" and the tests of the sample and of the
 * documents all go by it.
 */
#ifndef SLEY_CONFIG_KEY_H
#define SLEY_CONFIG_KEY_H

#include "config/tree.h"

enum value_kind {
	VALUE_NUMBER,   /* .min to .max, or one of .words                     */
	VALUE_SWITCH,   /* true or false: a bool                              */
	VALUE_WORD,     /* one of .words                                      */
	VALUE_TEXT,     /* .min to .max bytes: a const char *                 */
	VALUE_FOLDER,   /* an absolute path: a const char *                   */
	VALUE_FOLDERS,  /* several, as a list or with colons: the same        */
	VALUE_CPUS,     /* "0-3,8": a const struct sley_cpus *                */
	VALUE_RATE,     /* above 0, up to 1: a double                         */
	VALUE_ID,       /* "200" or "200.0": a const char *                   */
	VALUE_QUERY,    /* of this machine: a struct sley_query               */
	VALUE_PARAMS,   /* any map: a const char * of lines                   */
	VALUE_PATH,     /* an absolute path of up to .max bytes: the same     */
	VALUE_MODE,     /* "0660": rights of a file, a uint32_t               */
	VALUE_RIGHTS,   /* some of .words, as a list: their bits, a uint32_t  */
	VALUE_USERS,    /* entries with rights: a struct users                */
	VALUE_PRIORITY, /* of tasks: an int32_t                              */
};

struct word {
	const char *text;
	uint64_t number;
};

struct key {
	const char *name;
	enum value_kind kind;
	bool is_needed;
	uint64_t min, max;
	const struct word *words; /* the last has no text; or NULL            */
	/* Where the value goes in the target; size 0: nowhere. */
	size_t offset, size;
	const char *field;    /* the name that a program uses, if it differs  */
	const char *standard; /* the default, as a text                       */
	const char *note;     /* why the value has no effect                  */
};

#define KEY_FIELD(type, member)                                                \
	.offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

struct key_table {
	const char *where; /* in messages: "'runtime'"                         */
	const char *advice; /* for keys that it does not have; or NULL         */
	const struct key *keys;
	size_t nr;
};

/* A value that was read. */
struct found {
	struct place at;  /* line 0 and no variable: none was found           */
	const char *text; /* for messages and lists                           */
};

/* Was there a value? */
static inline bool found_any(const struct found *found)
{
	return found->at.line || found->at.variable;
}

/* The key @name of @table, or NULL. */
const struct key *key_find(const struct key_table *table, const char *name);

/*
 * Reads the values of the map @node into @target and @found, which has an entry for
 * each key.  Mistakes are reported.  0 or -ENOMEM.
 */
must_check int keys_read(struct reader *reader, const struct key_table *table,
			 const struct node *node, void *target,
			 struct found *found);

/* One value, as keys_read().  -EINVAL: a mistake was reported. */
must_check int key_read(struct reader *reader, const struct key *key,
			const struct node *node, void *target,
			struct found *found);

/* A mistake about the key @node, which @table does not have. */
void key_unknown(struct reader *reader, const struct key_table *table,
		 const struct node *node);

#endif
