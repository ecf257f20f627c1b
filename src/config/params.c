/* SPDX-License-Identifier: MIT */
/*
 * params.c - see params.h.
 *
 * The tree is walked twice: once for the size, once to write.  Its depth has a limit,
 * so recursion has one, too.
 */
#include "config/params.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 256 /* of all keys of a value, with points */

struct writer {
	struct reader *reader;
	char *out; /* NULL: only count */
	size_t size;
	uint32_t nr;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static int check_key(struct writer *writer, const struct node *key)
{
	for (size_t i = 0; i < key->size; i++) {
		if (!is_letter(key->text[i]))
			break;
		if (i + 1 == key->size)
			return 0;
	}
	return reader_mistake(writer->reader, key->at,
			      "'%.*s' is no name of a parameter: use letters, "
			      "digits, _ and -",
			      reader_shown(key->text, key->size), key->text);
}

/* In all, at most PARAMS_MAX * PARAMS_MAX / 2 comparisons. */
static int check_once(struct writer *writer, const struct node *map,
		      const struct node *value)
{
	for (const struct node *other = map->first; other != value;
	     other = other->next) {
		if (!strcmp(other->key->text, value->key->text))
			return reader_mistake(
				writer->reader, value->key->at,
				"'%s' is there twice: line %u has it, too",
				value->key->text, other->key->at.line);
	}
	return 0;
}

static void put(struct writer *writer, const char *text, size_t size)
{
	if (writer->out)
		memcpy(writer->out + writer->size, text, size);
	writer->size += size;
}

static void write_value(struct writer *writer, const struct node *node,
			const char *path)
{
	put(writer, path, strlen(path));
	put(writer, "=", 1);
	put(writer, node->text, node_is_empty(node) ? 0 : node->size);
	put(writer, "\n", 1);
}

static int write_node(struct writer *writer, const struct node *node,
		      const char *path);

static int write_child(struct writer *writer, const struct node *parent,
		       const struct node *node, const char *path, uint32_t nr)
{
	char inner[PATH_SIZE];
	const char *point = *path ? "." : "";
	int err = 0, length;

	if (++writer->nr > PARAMS_MAX)
		return reader_mistake(writer->reader, node->at,
				      "more than %d parameters", PARAMS_MAX);
	if (parent->kind == NODE_MAP) {
		err = check_key(writer, node->key)
			      ?: check_once(writer, parent, node);
		length = snprintf(inner, sizeof(inner), "%s%s%s", path, point,
				  node->key->text);
	} else {
		length = snprintf(inner, sizeof(inner), "%s%s%u", path, point,
				  nr);
	}
	if (err)
		return err;
	if (length < 0 || (size_t)length >= sizeof(inner))
		return reader_mistake(writer->reader, node->at,
				      "the names above this value have more "
				      "than %d bytes in all",
				      PATH_SIZE - 1);
	return write_node(writer, node, inner);
}

static int write_node(struct writer *writer, const struct node *node,
		      const char *path)
{
	uint32_t nr = 0;
	int err = 0;

	if (node->kind == NODE_TEXT)
		write_value(writer, node, path);
	for (const struct node *child = node->first; child && !err;
	     child = child->next)
		err = write_child(writer, node, child, path, nr++);
	return err;
}

int params_make(struct reader *reader, const struct node *node,
		struct params *out)
{
	struct writer counter = { .reader = reader };
	struct writer writer = { .reader = reader };
	int err;

	if (node_is_empty(node))
		return 0;
	if (node->kind != NODE_MAP)
		return reader_mistake(reader, node->at,
				      "'params' wants keys of the module");
	err = write_node(&counter, node, "");
	if (err)
		return err;
	writer.out = pile_alloc(&reader->pile, counter.size + 1);
	if (!writer.out)
		return -ENOMEM;
	err = write_node(&writer, node, "");
	*out = (struct params){ writer.out, writer.size };
	return err;
}
