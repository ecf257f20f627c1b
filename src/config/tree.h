/* SPDX-License-Identifier: MIT */
/*
 * tree.h - a text in YAML as a tree of texts, lists and maps.
 *
 * What configuration has no use for is refused: anchors and aliases (a few lines of
 * aliases can stand for billions of values), tags, keys that are no texts, a second
 * document, control characters, tabs at the beginning of a line, and more than TREE_DEPTH_MAX levels
 * or TREE_NODES_MAX values.
 *
 * libyaml finds the events of the text.  Rejected: its documents (yaml_parser_load()),
 * which follow aliases, and know no limits.
 */
#ifndef SLEY_CONFIG_TREE_H
#define SLEY_CONFIG_TREE_H

#include "config/reader.h"

#include <stdbool.h>

#define TREE_DEPTH_MAX 16
#define TREE_NODES_MAX 100000

enum node_kind { NODE_TEXT, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	bool is_plain; /* a text without quotes                             */
	struct place at;
	const char *text; /* with a 0 behind, and none inside                */
	size_t size;
	const struct node *key; /* of a value in a map                     */
	struct node *first, *last,
		*next; /* values; the next in its map or list */
	uint32_t nr;   /* of values                         */
};

/*
 * The tree of @text; *@root is NULL if there is nothing but comments.  0; -EINVAL:
 * a mistake was reported; -ENOMEM.
 */
must_check int tree_parse(struct reader *reader, const char *text, size_t size,
			  struct node **root);

/* Is there nothing behind the key?  NULL counts as nothing. */
bool node_is_empty(const struct node *node);

/*
 * Is @text valid UTF-8 without control characters?  A mistake about @at is reported
 * if not: -EINVAL.
 */
must_check int tree_check_text(struct reader *reader, struct place at,
			       const char *text, size_t size);

#endif
