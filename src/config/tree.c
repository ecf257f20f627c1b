/* SPDX-License-Identifier: MIT */
/*
 * tree.c - see tree.h.
 */
#include "config/tree.h"

#include "base/utf8.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

struct builder {
	struct reader *reader;
	const char *text;
	size_t size;
	struct node *root;
	struct node *open[TREE_DEPTH_MAX]; /* lists and maps, the inner last   */
	struct node *key[TREE_DEPTH_MAX]; /* of a map: without a value so far */
	uint32_t depth;
	uint32_t nr_nodes;
	bool has_document;
};

/* ---- the text before libyaml sees it ---------------------------------------------- */

/* From U+0080 to U+009F are controls as well, also for terminals. */
static bool is_control(const unsigned char *at, size_t length)
{
	return at[0] < 0x20 || at[0] == 0x7f ||
	       (length == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

int tree_check_text(struct reader *reader, struct place at, const char *text,
		    size_t size)
{
	const unsigned char *bytes = (const unsigned char *)text;

	for (size_t i = 0, length; i < size; i += length) {
		length = utf8_length(bytes + i, size - i);
		if (!length)
			return reader_mistake(reader, at,
					      "this is not valid UTF-8");
		if (is_control(bytes + i, length))
			return reader_mistake(
				reader, at,
				"a value has a control character, or several "
				"lines: a value is one line of plain text");
	}
	return 0;
}

/* libyaml refuses most of these, with a sentence that names no tab. */
static int check_indent(struct reader *reader, const char *line, size_t size,
			uint32_t number)
{
	size_t spaces = 0;

	while (spaces < size && line[spaces] == ' ')
		spaces++;
	if (spaces == size || line[spaces] != '\t')
		return 0;
	return reader_mistake(reader,
			      (struct place){ .line = number,
					      .column = (uint32_t)spaces + 1 },
			      "a tab stands at the beginning of the line: "
			      "indent with spaces");
}

/* Tabs may stand behind a text, and CR stands before the end of a line. */
static bool is_plain(const unsigned char *at, size_t length)
{
	return at[0] == '\t' || at[0] == '\r' || !is_control(at, length);
}

static int check_bytes(struct reader *reader, const char *line, size_t size,
		       uint32_t number)
{
	const unsigned char *bytes = (const unsigned char *)line;
	struct place at = { .line = number, .column = 1 };

	for (size_t i = 0, length; i < size; i += length, at.column++) {
		length = utf8_length(bytes + i, size - i);
		if (!length)
			return reader_mistake(reader, at,
					      "byte 0x%02x is not valid UTF-8: "
					      "save the file as UTF-8",
					      bytes[i]);
		if (!is_plain(bytes + i, length))
			return reader_mistake(reader, at,
					      "there is a control character: "
					      "take it out");
	}
	return 0;
}

static int check_lines(struct reader *reader, const char *text, size_t size)
{
	uint32_t number = 1;

	for (size_t at = 0; at < size; number++) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;
		int err = check_bytes(reader, text + at, length, number)
				  ?: check_indent(reader, text + at, length,
						  number);

		if (err)
			return err;
		at += length + 1;
	}
	return 0;
}

/* ---- from events to nodes ---------------------------------------------------------- */

static struct place place_of(yaml_mark_t mark)
{
	return (struct place){ .line = (uint32_t)mark.line + 1,
			       .column = (uint32_t)mark.column + 1 };
}

static struct node *new_node(struct builder *builder, enum node_kind kind,
			     const yaml_event_t *event)
{
	struct node *node =
		pile_alloc(&builder->reader->pile, sizeof(struct node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->at = place_of(event->start_mark);
	return node;
}

static void append(struct node *parent, struct node *node)
{
	if (parent->last)
		parent->last->next = node;
	else
		parent->first = node;
	parent->last = node;
	parent->nr++;
}

/* Puts @node where the text has it. */
static int attach(struct builder *builder, struct node *node)
{
	uint32_t top = builder->depth - 1;
	struct node *parent;

	if (++builder->nr_nodes > TREE_NODES_MAX)
		return reader_mistake(builder->reader, node->at,
				      "the file has more than %d values",
				      TREE_NODES_MAX);
	if (!builder->depth) {
		builder->root = node;
		return 0;
	}
	parent = builder->open[top];
	if (parent->kind == NODE_MAP && !builder->key[top]) {
		if (node->kind != NODE_TEXT)
			return reader_mistake(builder->reader, node->at,
					      "a key must be a word");
		builder->key[top] = node;
		return 0;
	}
	if (parent->kind == NODE_MAP) {
		node->key = builder->key[top];
		builder->key[top] = NULL;
	}
	append(parent, node);
	return 0;
}

static int take_text(struct builder *builder, const yaml_event_t *event)
{
	struct node *node = new_node(builder, NODE_TEXT, event);
	const char *text = (const char *)event->data.scalar.value;
	int err;

	if (!node)
		return -ENOMEM;
	node->size = event->data.scalar.length;
	node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	err = tree_check_text(builder->reader, node->at, text, node->size);
	if (err)
		return err;
	node->text = pile_text(&builder->reader->pile, text, node->size);
	return node->text ? attach(builder, node) : -ENOMEM;
}

static int take_start(struct builder *builder, const yaml_event_t *event,
		      enum node_kind kind)
{
	struct node *node = new_node(builder, kind, event);
	int err;

	if (!node)
		return -ENOMEM;
	err = attach(builder, node);
	if (err)
		return err;
	if (builder->depth == TREE_DEPTH_MAX)
		return reader_mistake(builder->reader, node->at,
				      "more than %d levels of lists and keys",
				      TREE_DEPTH_MAX);
	builder->key[builder->depth] = NULL;
	builder->open[builder->depth++] = node;
	return 0;
}

static int take_document(struct builder *builder, const yaml_event_t *event)
{
	if (builder->has_document)
		return reader_mistake(builder->reader,
				      place_of(event->start_mark),
				      "a second document begins here: a file "
				      "has one");
	builder->has_document = true;
	return 0;
}

/* What the text attaches to a value, beside the value. */
static int check_extras(struct builder *builder, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
	}
	if (anchor || event->type == YAML_ALIAS_EVENT)
		return reader_mistake(builder->reader,
				      place_of(event->start_mark),
				      "anchors (&) and aliases (*) are not "
				      "taken: write the value out, or put it "
				      "in quotes");
	if (tag)
		return reader_mistake(builder->reader,
				      place_of(event->start_mark),
				      "tags (!) are not taken: write the value "
				      "alone, or put it in quotes");
	return 0;
}

static int take_event(struct builder *builder, const yaml_event_t *event)
{
	int err = check_extras(builder, event);

	if (err)
		return err;
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return take_text(builder, event);
	case YAML_SEQUENCE_START_EVENT:
		return take_start(builder, event, NODE_LIST);
	case YAML_MAPPING_START_EVENT:
		return take_start(builder, event, NODE_MAP);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		builder->depth--;
		return 0;
	case YAML_DOCUMENT_START_EVENT:
		return take_document(builder, event);
	default:
		return 0;
	}
}

/* ---- a line that is indented wrongly ------------------------------------------------ */

/* What libyaml says of such a line, and what the user shall do. */
static const struct advice {
	const char *problem;
	bool at_colon; /* it stands behind the key, or else before           */
	const char *text;
} advices[] = {
	{ "did not find expected key", false,
	  ": indent this line exactly as the keys above that it belongs to" },
	{ "did not find expected '-' indicator", false,
	  ": indent this line as the '-' above, or as the keys behind it" },
	{ "mapping values are not allowed in this context", true,
	  ": the line above has a value already, so indent this line as that "
	  "one" },
};

/* Is @column that of the first word of @line, or of the first colon? */
static bool is_first(const char *line, size_t size, size_t column,
		     bool at_colon)
{
	size_t at = 0;

	while (at < size && (at_colon ? line[at] != ':' : line[at] == ' '))
		at++;
	return at == column;
}

/* "": the same words of libyaml, but another mistake. */
static const char *advise(const struct builder *builder,
			  const yaml_mark_t *mark, const char *problem)
{
	const char *line = builder->text, *end = line + builder->size, *next;

	for (size_t i = mark->line; i; i--, line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (!next)
			return "";
	}
	for (size_t i = 0; i < array_size(advices); i++) {
		const struct advice *advice = &advices[i];

		if (strcmp(problem, advice->problem) == 0 &&
		    is_first(line, (size_t)(end - line), mark->column,
			     advice->at_colon))
			return advice->text;
	}
	return "";
}

/* ---- the events -------------------------------------------------------------------- */

static int complain(const struct builder *builder, const yaml_parser_t *parser)
{
	struct reader *reader = builder->reader;
	const char *problem = parser->problem ? parser->problem
					      : "the text is no YAML";

	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (parser->error == YAML_READER_ERROR)
		return reader_mistake(reader, (struct place){ .line = 0 },
				      "%s, at byte %zu", problem,
				      parser->problem_offset);
	if (parser->context && parser->context_mark.line)
		return reader_mistake(
			reader, place_of(parser->problem_mark),
			"%s, %s from line %zu on%s", problem, parser->context,
			parser->context_mark.line + 1,
			advise(builder, &parser->problem_mark, problem));
	return reader_mistake(reader, place_of(parser->problem_mark),
			      "%s%s%s%s", problem, parser->context ? ", " : "",
			      parser->context ? parser->context : "",
			      advise(builder, &parser->problem_mark, problem));
}

static int take_events(struct builder *builder, yaml_parser_t *parser)
{
	bool is_end = false;
	int err = 0;

	while (!err && !is_end) {
		yaml_event_t event;

		if (!yaml_parser_parse(parser, &event))
			return complain(builder, parser);
		is_end = event.type == YAML_STREAM_END_EVENT;
		err = take_event(builder, &event);
		yaml_event_delete(&event);
	}
	return err;
}

int tree_parse(struct reader *reader, const char *text, size_t size,
	       struct node **root)
{
	struct builder builder = {
		.reader = reader,
		.text = text,
		.size = size,
	};
	yaml_parser_t parser;
	int err = check_lines(reader, text, size);

	if (err)
		return err;
	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text,
				     size);
	err = take_events(&builder, &parser);
	yaml_parser_delete(&parser);
	*root = node_is_empty(builder.root) ? NULL : builder.root;
	return err;
}

bool node_is_empty(const struct node *node)
{
	return !node || (node->kind == NODE_TEXT && node->is_plain &&
			 (!node->size || !strcmp(node->text, "~") ||
			  !strcasecmp(node->text, "null")));
}
