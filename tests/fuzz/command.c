/* SPDX-License-Identifier: MIT */
/*
 * command.c - random command lines, answers of a daemon and lines of kept pools, and what
 * must hold for each.
 *
 *   ./command [executions] [seed]     the same executions each time
 *
 * LLVMFuzzerTestOneInput() is there for libFuzzer, as in http.c.
 *
 * The first byte of an input says what the rest is:
 *
 *   0  words of a command, each behind a byte that says which: words_parse() finds the same
 *      words, options and mistakes as a slow reading of them
 *   1  a number: it is taken if and only if it consists of digits and is small enough
 *   2  JSON: all values that are found lie inside of the text, and what is shown is
 *      printable and has an end
 *   3  a pool and changes of its line: the line is refused, or says the same
 */
#include "flat_json.h"
#include "kept_line.h"
#include "words.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define KINDS 4u
#define INPUT_MAX 400u
#define ARGS_MAX 24
#define VALUES_MAX 1000

/* ---- what must hold -------------------------------------------------------------- */

static const uint8_t *current;
static size_t current_size;
static int error_fd = STDERR_FILENO; /* the mistakes of commands go nowhere */

static void failed(const char *what, int line)
{
	(void)dprintf(error_fd,
		      "command.c:%d: %s does not hold for this input:\n", line,
		      what);
	for (size_t i = 0; i < current_size; i++)
		(void)dprintf(error_fd, "%02x ", current[i]);
	(void)dprintf(error_fd, "\n%.*s\n", (int)current_size,
		      (const char *)current);
	abort();
}

#define HOLDS(x) ((x) ? (void)0 : failed(#x, __LINE__))

/* ---- words ----------------------------------------------------------------------- */

/* Of programs/sley/main.c. */
int command_usage(const struct command *command)
{
	(void)command;
	return STATUS_USAGE;
}

static const struct command command = { .name = "fuzz" };

static const char *const tokens[] = {
	"get",      "--socket", "--socket=/x", "--json", "--json=1",  "--param",
	"--param=", "a=b",      "--",          "-",      "--nothing", "--sockt",
	"",         "-5",       "--=",
};

#define NR_TOKENS (sizeof(tokens) / sizeof(tokens[0]))

/* What a command line says. */
struct line {
	const char *socket;
	bool json;
	int nr_params;
	int nr_words;
	int status;
};

static int count_param(void *self, const char *text)
{
	HOLDS(text != NULL);
	++*(int *)self;
	return STATUS_OK;
}

/* The text of an option with one; moves on if it is the next word. */
static const char *text_of(const char *const *args, int nr, int *i,
			   const char *name)
{
	size_t length = strlen(name);

	if (strncmp(args[*i], name, length) != 0)
		return NULL;
	if (args[*i][length] == '=')
		return args[*i] + length + 1;
	return !args[*i][length] && *i + 1 < nr ? args[++*i] : NULL;
}

static void read_slowly(struct line *line, const char *const *args, int nr)
{
	bool ended = false;

	*line = (struct line){ .status = STATUS_OK };
	for (int i = 0; i < nr && line->status == STATUS_OK; i++) {
		const char *text;

		if (ended || strncmp(args[i], "--", 2) != 0) {
			if (++line->nr_words > WORDS_MAX)
				line->status = STATUS_USAGE;
		} else if (!args[i][2]) {
			ended = true;
		} else if (strcmp(args[i], "--json") == 0) {
			line->json = true;
		} else if ((text = text_of(args, nr, &i, "--socket"))) {
			line->socket = text;
			line->status = *text ? STATUS_OK : STATUS_USAGE;
		} else if (text_of(args, nr, &i, "--param")) {
			line->nr_params++;
		} else {
			line->status = STATUS_USAGE;
		}
	}
}

static void check_words(const uint8_t *input, size_t size)
{
	static char texts[ARGS_MAX][16];
	const char *args[ARGS_MAX];
	char *argv[ARGS_MAX + 2] = { texts[0] };
	struct line wanted, found = { 0 };
	struct word_option options[] = {
		{ .name = "socket", .text = &found.socket },
		{ .name = "json", .flag = &found.json },
		{ .name = "param",
		  .each = count_param,
		  .self = &found.nr_params },
		{ 0 },
	};
	struct words words;
	int nr = size < ARGS_MAX ? (int)size : ARGS_MAX;

	for (int i = 0; i < nr; i++) {
		args[i] = tokens[input[i] % NR_TOKENS];
		(void)snprintf(texts[i], sizeof(texts[i]), "%s", args[i]);
		argv[1 + i] = texts[i];
	}
	read_slowly(&wanted, args, nr);
	found.status = words_parse(&words, &command, options, nr + 1, argv);
	HOLDS(found.status == wanted.status);
	if (found.status != STATUS_OK)
		return;
	HOLDS(words.nr == wanted.nr_words);
	HOLDS(found.json == wanted.json);
	HOLDS(found.nr_params == wanted.nr_params);
	HOLDS(!found.socket == !wanted.socket);
	HOLDS(!found.socket || !strcmp(found.socket, wanted.socket));
}

static void check_number(const uint8_t *input, size_t size)
{
	char text[32];
	uint64_t max = size && input[0] & 1 ? 99999 : UINT64_MAX, number;
	size_t length = size < sizeof(text) ? size : sizeof(text) - 1;
	bool good;

	memcpy(text, input, length);
	text[length] = '\0';
	good = *text && strspn(text, "0123456789") == strlen(text);
	if (words_number(&command, "a number", text, max, &number)) {
		HOLDS(!good || strlen(text) > 5);
		return;
	}
	HOLDS(good && number <= max);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void walk(const char *text, size_t size, const char *value, int *left)
{
	static const char *const keys[] = { "name", "n", "", "list" };
	char shown[12];

	if (!value || --*left < 0)
		return;
	HOLDS(value >= text && value < text + size);
	json_show(value, shown, sizeof(shown));
	HOLDS(strnlen(shown, sizeof(shown)) < sizeof(shown));
	for (const char *at = shown; *at; at++)
		HOLDS(*at >= ' ' && *at < 127);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		walk(text, size, json_member(value, keys[i]), left);
	for (value = json_first(value); value && *left > 0;
	     value = json_next(value))
		walk(text, size, value, left);
}

static void check_json(const uint8_t *input, size_t size)
{
	int left = VALUES_MAX;
	/* Of exactly this size: a sanitizer sees a byte too many. */
	char *text = malloc(size + 1);

	memcpy(text, input, size);
	text[size] = '\0';
	walk(text, size, *text ? text : NULL, &left);
	free(text);
}

/* ---- pools that are kept --------------------------------------------------------- */

static char *write_line(const struct kept_pool *pool)
{
	char *line = NULL;
	size_t size;
	FILE *file = open_memstream(&line, &size);

	HOLDS(file && kept_line_write(pool, file) == 0);
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static bool is_same(const struct kept_pool *a, const struct kept_pool *b)
{
	const struct sley_pool_options *x = &a->options, *y = &b->options;

	return !strcmp(a->name, b->name) && !strcmp(x->module, y->module) &&
	       x->containers == y->containers && x->isolated == y->isolated &&
	       x->max_restarts == y->max_restarts &&
	       x->limit_ns == y->limit_ns && x->params_size == y->params_size &&
	       (!x->params_size ||
		!memcmp(x->params, y->params, x->params_size));
}

/* The first half of the input is the parameters, the other half are changes. */
static void check_kept(const uint8_t *input, size_t size)
{
	size_t half = size / 2;
	struct kept_pool pool = {
		.name = size & 1 ? "a pool" : "p",
		.options = { .size = sizeof(pool.options),
			     .module = "kv",
			     .containers = 3,
			     .isolated = size & 2,
			     .limit_ns = UINT64_MAX,
			     .params = (const char *)input,
			     .params_size = half },
	};
	struct kept_pool read;
	char *line = write_line(&pool);
	size_t length = strlen(line);
	int err;

	for (size_t i = half; i + 1 < size && i < half + 8; i += 2) {
		if (input[i + 1])
			line[input[i] * length / 256] = (char)input[i + 1];
	}
	err = kept_line_read(line, &read);
	HOLDS(err == 0 || (err == -EINVAL && size - half >= 2));
	if (!err) {
		HOLDS(is_same(&pool, &read));
		kept_line_free(&read);
	}
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static void (*const check[KINDS])(const uint8_t *,
					  size_t) = { check_words, check_number,
						      check_json, check_kept };

	current = input;
	current_size = size;
	if (size)
		check[input[0] % KINDS](input + 1, size - 1);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % n;
}

static const char *const good[] = {
	"{\"name\":\"a\\\"b\",\"n\":17,\"list\":[1,-2.5e3,{\"n\":true},[]]}",
	"[{\"name\":\"x\",\"list\":[{\"list\":[{\"list\":[1]}]}]},null,\"\"]",
	"[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]",
	"  { \"\" : { \"name\" : \"\\u0041\\\\\" } , \"n\" : [ 1 , 2 ] }",
};

/* A JSON text with some changes. */
static size_t draw_json(uint8_t *out)
{
	static const char letters[] = "{}[]\",:\\ 01a\x01\xff";
	const char *text = good[random_below(4)];
	size_t size = strlen(text);

	memcpy(out, text, size);
	for (uint64_t nr = random_below(5); nr; nr--)
		out[random_below(size)] =
			(uint8_t)letters[random_below(sizeof(letters) - 1)];
	return random_below(4) ? size : random_below(size + 1);
}

static size_t draw_bytes(uint8_t *out, bool digits)
{
	size_t size = random_below(digits ? 24 : 40);

	for (size_t i = 0; i < size; i++)
		out[i] = digits && random_below(30)
				 ? (uint8_t)('0' + random_below(10))
				 : (uint8_t)random_below(256);
	return size;
}

int main(int argc, char **argv)
{
	long executions = argc > 1 ? atol(argv[1]) : 100000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	error_fd = dup(STDERR_FILENO);
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	random_state = seed * 0x9e3779b97f4a7c15u | 1;
	for (long i = 0; i < executions; i++) {
		uint8_t input[INPUT_MAX] = { (uint8_t)i };
		size_t size = i % KINDS == 2
				      ? draw_json(input + 1)
				      : draw_bytes(input + 1, i % KINDS == 1);

		LLVMFuzzerTestOneInput(input, 1 + size);
	}
	printf("%ld executions, seed %llu\n", executions,
	       (unsigned long long)seed);
	return 0;
}

#endif
