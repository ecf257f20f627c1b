/* SPDX-License-Identifier: MIT */
/*
 * config_mistakes.c - what is wrong with a configuration file is said with its line: C51.
 */
#include "conformance/config/said.h"

#include "config/tree.h"

struct mistake {
	const char *text;
	const char *said; /* the lines, without their ends */
};

static void check_mistakes(const struct mistake *mistakes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct sley_config_file *file = NULL;
		struct said said;
		int err = parse(&file, mistakes[i].text, &said);
		char wanted[1024];

		snprintf(wanted, sizeof(wanted), "%s\n", mistakes[i].said);
		CHECK_STR(said.text, wanted);
		CHECK_EQ(err, -EINVAL);
		CHECK(file == NULL);
	}
}

#define RUNTIME(line) "runtime:\n  " line "\n"

TEST(c51_unknown_keys_are_named_with_what_was_meant)
{
	static const struct mistake mistakes[] = {
		{ RUNTIME("num_thread: 4"),
		  "t:2:3: there is no key 'num_thread' in 'runtime'; did you "
		  "mean 'num_threads'?" },
		{ RUNTIME("num_thraeds: 4"),
		  "t:2:3: there is no key 'num_thraeds' in 'runtime'; did you "
		  "mean 'num_threads'?" },
		{ RUNTIME("oi: epoll"),
		  "t:2:3: there is no key 'oi' in 'runtime'; 'sley config "
		  "--sample' prints all keys" },
		{ RUNTIME("workers: 4"),
		  "t:2:3: 'workers' is called 'num_threads' in 'runtime'" },
		{ RUNTIME("policy: x"),
		  "t:2:3: 'policy' is called 'local_sched' in 'runtime'" },
		{ RUNTIME("pool_name: x"),
		  "t:2:3: 'pool_name' is no key of 'runtime', but of an entry "
		  "of 'compose': indent it below that" },
		/* The block of the seed without its indentation. */
		{ "runtime:\nlocal_sched: x\nnum_threads: 4\n",
		  "t:2:1: 'local_sched' is no key of the file itself, but of "
		  "'runtime': indent it below that\n"
		  "t:3:1: 'num_threads' is no key of the file itself, but of "
		  "'runtime': indent it below that" },
		{ "runtimes:\n",
		  "t:1:1: there is no key 'runtimes' in the file itself; did "
		  "you mean 'runtime'?" },
		{ "networking: { prot: 1 }",
		  "t:1:15: there is no key 'prot' in 'networking'; 'sley "
		  "config --sample' prints all keys" },
		{ "compose: [ { mod_name: a, pool_name: b, limit: 1 } ]",
		  "t:1:41: there is no key 'limit' in an entry of 'compose'; "
		  "parameters of the module go below 'params:'" },
	};

	check_mistakes(mistakes, ARRAY_SIZE(mistakes));
}

TEST(c51_values_of_another_type_are_refused)
{
	static const struct mistake mistakes[] = {
		{ RUNTIME("num_threads: many"),
		  "t:2:16: 'num_threads' wants a number from 0 to 4096, and "
		  "this is 'many'" },
		{ RUNTIME("num_threads: [ 4 ]"),
		  "t:2:16: 'num_threads' wants a number from 0 to 4096, and "
		  "this is a list" },
		{ RUNTIME("num_threads: { a: 4 }"),
		  "t:2:16: 'num_threads' wants a number from 0 to 4096, and "
		  "this is a map of keys" },
		{ RUNTIME("num_threads: 4.0"),
		  "t:2:16: 'num_threads' wants a number from 0 to 4096, and "
		  "this is '4.0'" },
		{ RUNTIME("num_threads: 010"),
		  "t:2:16: 'num_threads' wants a number from 0 to 4096, "
		  "without a 0 in front, and this is '010'" },
		{ RUNTIME("num_threads:"),
		  "t:2:15: 'num_threads' has no value: write one behind the "
		  "colon, or take the key out" },
		{ RUNTIME("migratable: maybe"),
		  "t:2:15: 'migratable' wants true or false, and this is "
		  "'maybe'" },
		{ RUNTIME("migratable: 1"),
		  "t:2:15: 'migratable' wants true or false, and this is "
		  "'1'" },
		{ RUNTIME("io: kqueue"),
		  "t:2:7: 'io' wants uring, epoll or threads, and this is "
		  "'kqueue'" },
		{ RUNTIME("placement: custom"),
		  "t:2:14: 'placement' wants none, any_of or one_of, and this "
		  "is 'custom'" },
		{ RUNTIME("name: ''"),
		  "t:2:9: 'name' wants a text of 1 to 15 bytes, and this is "
		  "''" },
		{ RUNTIME("local_sched: [ x ]"),
		  "t:2:16: 'local_sched' wants a text of 1 to 63 bytes, and "
		  "this is a list" },
		{ "runtime: 4",
		  "t:1:10: 'runtime' wants keys, each as 'key: value' on a "
		  "line of its own" },
		{ "- runtime",
		  "t:1:1: the file wants the keys 'runtime:' and 'compose:'; "
		  "'sley config --sample' prints a file" },
		{ "compose: { mod_name: a }",
		  "t:1:10: 'compose' wants a list of at most 1000 pools, each "
		  "beginning with '- mod_name:'" },
	};

	check_mistakes(mistakes, ARRAY_SIZE(mistakes));
}

TEST(c51_values_out_of_range_are_refused)
{
	static const struct mistake mistakes[] = {
		{ RUNTIME("num_threads: 4097"),
		  "t:2:16: 'num_threads' wants a number from 0 to 4096, and "
		  "this is '4097'" },
		{ RUNTIME("num_threads: -1"),
		  "t:2:16: 'num_threads' wants a number from 0 to 4096, and "
		  "this is '-1'" },
		{ RUNTIME("seed: 18446744073709551616"),
		  "t:2:9: 'seed' wants a number from 0 to "
		  "18446744073709551615, and this is '18446744073709551616'" },
		{ RUNTIME("tick_us: 99"),
		  "t:2:12: 'tick_us' wants a number from 100 to 10000, and "
		  "this is '99'" },
		{ RUNTIME("watchdog_ms: 0"),
		  "t:2:16: 'watchdog_ms' wants a number from 1 to 4294967295, "
		  "or never, and this is '0'" },
		{ RUNTIME("first_busy_wait: 1000001"),
		  "t:2:20: 'first_busy_wait' wants a number from 1 to 1000000, "
		  "or 0, and this is '1000001'" },
		{ RUNTIME("name: sixteen-letters!"),
		  "t:2:9: 'name' wants a text of 1 to 15 bytes, and this is "
		  "'sixteen-letters!'" },
		{ RUNTIME("learning_rate: 0"),
		  "t:2:18: 'learning_rate' wants a number above 0 and up to 1, "
		  "as 0.25, and this is '0'" },
		{ RUNTIME("learning_rate: 1.01"),
		  "t:2:18: 'learning_rate' wants a number above 0 and up to 1, "
		  "as 0.25, and this is '1.01'" },
		{ RUNTIME("learning_rate: 0,5"),
		  "t:2:18: 'learning_rate' wants a number above 0 and up to 1, "
		  "as 0.25, and this is '0,5'" },
		{ RUNTIME("learning_rate: nan"),
		  "t:2:18: 'learning_rate' wants a number above 0 and up to 1, "
		  "as 0.25, and this is 'nan'" },
		{ RUNTIME("cpus: 3-1"),
		  "t:2:9: 'cpus' wants numbers of CPUs, as 0-3,8, all below "
		  "4096, and this is '3-1'" },
		{ RUNTIME("cpus: 0,"),
		  "t:2:9: 'cpus' wants numbers of CPUs, as 0-3,8, all below "
		  "4096, and this is '0,'" },
		{ RUNTIME("cpus: 4096"),
		  "t:2:9: 'cpus' wants numbers of CPUs, as 0-3,8, all below "
		  "4096, and this is '4096'" },
		{ RUNTIME("cpus: []"),
		  "t:2:9: 'cpus' wants numbers of CPUs, as 0-3,8, and this is "
		  "a list" },
	};

	check_mistakes(mistakes, ARRAY_SIZE(mistakes));
}

#define FOLDER                                                                 \
	"wants an absolute path, as /usr/lib/sley, of 511 bytes at most, "     \
	"and this is "

TEST(c51_folders_are_absolute)
{
	static const struct mistake mistakes[] = {
		{ RUNTIME("directories: lib"),
		  "t:2:16: 'directories' " FOLDER "'lib'" },
		{ RUNTIME("directories: /a::/b"),
		  "t:2:16: 'directories' " FOLDER "'/a::/b'" },
		{ RUNTIME("directories: [ /a, b ]"),
		  "t:2:22: 'directories' " FOLDER "'b'" },
		{ RUNTIME("directories: [ /a, [ b ] ]"),
		  "t:2:22: 'directories' " FOLDER "a list" },
		{ RUNTIME("directories: { a: /a }"),
		  "t:2:16: 'directories' wants a list of folders, and this is "
		  "a map of keys" },
		{ RUNTIME("conf_dir: '~/x'"),
		  "t:2:13: 'conf_dir' " FOLDER "'~/x'" },
	};

	check_mistakes(mistakes, ARRAY_SIZE(mistakes));
}

TEST(c51_a_key_is_there_once)
{
	static const struct mistake mistakes[] = {
		{ "runtime:\n  io: epoll\n  tick_us: 100\n  io: epoll\n",
		  "t:4:3: 'io' is there twice: line 2 has it, too" },
		{ "runtime:\n  io: x\n  io: epoll\n",
		  "t:2:7: 'io' wants uring, epoll or threads, and this is 'x'\n"
		  "t:3:3: 'io' is there twice: line 2 has it, too" },
		{ "runtime:\ncompose:\nruntime:\n",
		  "t:3:1: 'runtime' is there twice: line 1 has it, too" },
		{ "compose:\n- mod_name: a\n  pool_name: b\n  mod_name: a\n",
		  "t:4:3: 'mod_name' is there twice: line 2 has it, too" },
		{ "compose: [{mod_name: a, pool_name: b, params: {\n"
		  "x: 1,\nx: 2}}]",
		  "t:3:1: 'x' is there twice: line 2 has it, too" },
	};

	check_mistakes(mistakes, ARRAY_SIZE(mistakes));
}

#define POOL(rest) "compose:\n- mod_name: a\n  pool_name: b\n  " rest "\n"

TEST(c51_entries_of_compose_are_checked)
{
	static const struct mistake mistakes[] = {
		{ "compose:\n- pool_name: b\n",
		  "t:2:3: an entry of 'compose' needs the key 'mod_name'" },
		{ "compose:\n- mod_name: b\n",
		  "t:2:3: an entry of 'compose' needs the key 'pool_name'" },
		{ "compose:\n- kv\n",
		  "t:2:3: an entry of 'compose' wants keys, each as 'key: "
		  "value' on a line of its own" },
		{ POOL("containers: 0"),
		  "t:4:15: 'containers' wants a number from 1 to 65536, and "
		  "this is '0'" },
		{ POOL("pool_id: 1.x"),
		  "t:4:12: 'pool_id' wants a number, or two with a point "
		  "between them, and this is '1.x'" },
		{ POOL("pool_query: nearby"),
		  "t:4:15: 'pool_query' wants a query, as local, dynamic or "
		  "broadcast, and this is 'nearby'" },
		{ POOL("pool_query: physical:1"),
		  "t:4:15: 'pool_query' wants a query for this machine, which "
		  "is number 0, since there are no others so far, and this is "
		  "'physical:1'" },
		{ POOL("pool_query: range:0:2"),
		  "t:4:15: 'pool_query' wants a query for this machine, which "
		  "is number 0, since there are no others so far, and this is "
		  "'range:0:2'" },
		{ POOL("params: 4"),
		  "t:4:11: 'params' wants keys of the module" },
		{ POOL("params: { 'a b': 4 }"),
		  "t:4:13: 'a b' is no name of a parameter: use letters, "
		  "digits, _ and -" },
		{ POOL("params: { '': 4 }"),
		  "t:4:13: '' is no name of a parameter: use letters, digits, "
		  "_ and -" },
		{ POOL("pool_id: 7") "- mod_name: a\n  pool_name: b\n",
		  "t:5:3: the pool 'b' is there twice: line 2 has it, too" },
		{ POOL("pool_id: 7") "- mod_name: a\n  pool_name: c\n  pool_id: 7\n",
		  "t:5:3: pool_id 7 is there twice: line 2 has it, too" },
	};

	check_mistakes(mistakes, ARRAY_SIZE(mistakes));
}

TEST(c51_text_that_is_no_plain_yaml_is_refused)
{
	static const struct mistake mistakes[] = {
		{ "runtime:\n\tio: epoll\n",
		  "t:2:1: a tab stands at the beginning of the line: indent "
		  "with spaces" },
		{ "runtime:\n  \tio: epoll\n",
		  "t:2:3: a tab stands at the beginning of the line: indent "
		  "with spaces" },
		{ "runtime:\n\t\n",
		  "t:2:1: a tab stands at the beginning of the line: indent "
		  "with spaces" },
		{ "runtime:\n  io: &x epoll\n",
		  "t:2:7: anchors (&) and aliases (*) are not taken: write the "
		  "value out, or put it in quotes" },
		{ "runtime: &x\n  io: epoll\n",
		  "t:1:10: anchors (&) and aliases (*) are not taken: write "
		  "the value out, or put it in quotes" },
		{ "runtime:\n  io: *x\n",
		  "t:2:7: anchors (&) and aliases (*) are not taken: write the "
		  "value out, or put it in quotes" },
		{ "runtime:\n  io: !!str epoll\n",
		  "t:2:7: tags (!) are not taken: write the value alone, or "
		  "put it in quotes" },
		{ "runtime:\n---\nruntime:\n",
		  "t:2:1: a second document begins here: a file has one" },
		{ "runtime:\n  io: caf\xe9\n",
		  "t:2:10: byte 0xe9 is not valid UTF-8: save the file as "
		  "UTF-8" },
		{ "# \xc2\x9b\n",
		  "t:1:3: there is a control character: take it out" },
		{ "# \xef\xbf\xbf\n", /* no character at all */
		  "t: control characters are not allowed, at byte 2" },
		{ "# \xc3\xa9\xff\n",
		  "t:1:4: byte 0xff is not valid UTF-8: save the file as "
		  "UTF-8" },
		{ "runtime:\n  name: \"a\\eb\"\n",
		  "t:2:9: a value has a control character, or several lines: "
		  "a value is one line of plain text" },
		{ "runtime:\n  name: \"a\\x9bb\"\n",
		  "t:2:9: a value has a control character, or several lines: "
		  "a value is one line of plain text" },
		{ "runtime:\n  name: |\n    a\n    b\n",
		  "t:2:9: a value has a control character, or several lines: "
		  "a value is one line of plain text" },
		{ "runtime:\n  ? [ a ]\n  : b\n",
		  "t:2:5: a key must be a word" },
		{ "runtime: { io: epoll\n",
		  "t:2:1: did not find expected ',' or '}', while parsing a "
		  "flow mapping" },
		{ "runtime: @x\n",
		  "t:1:10: found character that cannot start any token, while "
		  "scanning for the next token" },
	};

	check_mistakes(mistakes, ARRAY_SIZE(mistakes));
}

TEST(c51_a_line_that_is_indented_wrongly_is_refused_with_advice)
{
	static const struct mistake mistakes[] = {
		{ "runtime:\n  io: epoll\n bad: 1\n",
		  "t:3:2: did not find expected key, while parsing a block "
		  "mapping: indent this line exactly as the keys above that "
		  "it belongs to" },
		{ "runtime:\n  io: \"epoll\" b: 1\n", /* no matter of spaces */
		  "t:2:15: did not find expected key, while parsing a block "
		  "mapping from line 2 on" },
		{ "runtime:\n  io: epoll\n    name: b\n",
		  "t:3:9: mapping values are not allowed in this context: the "
		  "line above has a value already, so indent this line as "
		  "that one" },
		{ "runtime:\n  io: epoll: b\n",
		  "t:2:12: mapping values are not allowed in this context" },
		{ "compose:\n  - a: 1\n   - b: 2\n",
		  "t:3:4: did not find expected '-' indicator, while parsing a "
		  "block collection from line 2 on: indent this line as the "
		  "'-' above, or as the keys behind it" },
	};

	check_mistakes(mistakes, ARRAY_SIZE(mistakes));
}

TEST(c51_a_zero_byte_is_refused)
{
	static const char text[] = "runtime:\n  name: a\0b\n";
	struct sley_config_file *file = NULL;
	struct said said = { .nr = 0 };
	const struct sley_config_file_options options = options_of(&said);

	CHECK_EQ(sley_config_file_parse(&file, "t", text, sizeof(text) - 1,
					&options),
		 -EINVAL);
	CHECK_STR(said.text,
		  "t:2:10: there is a control character: take it out\n");
}

/* 60 bytes at most, and whole letters. */
TEST(c51_long_texts_are_cut_in_messages)
{
	struct sley_config_file *file = NULL;
	struct said said;
	char text[256] = "runtime:\n  io: x", wanted[256];
	size_t length = strlen(text);

	for (int i = 0; i < 40; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "\xc3\xa9");
	snprintf(wanted, sizeof(wanted),
		 "t:2:7: 'io' wants uring, epoll or threads, and this is "
		 "'%.59s'\n",
		 text + strlen("runtime:\n  io: "));
	CHECK_EQ(parse(&file, text, &said), -EINVAL);
	CHECK_STR(said.text, wanted);
}

TEST(c51_all_mistakes_are_said_up_to_a_limit)
{
	struct sley_config_file *file = NULL;
	struct said said;
	char text[4096] = "runtime:\n";
	size_t length = strlen(text);

	for (int i = 0; i < 100; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "  strange%d: 1\n", i);
	CHECK_EQ(parse(&file, text, &said), -EINVAL);
	CHECK_EQ(said.nr, 21);
	CHECK(strstr(said.text, "t:21:3: ") != NULL);
	CHECK(strstr(said.text, "\nmore mistakes are not listed\n") != NULL);
}

/* ---- limits -------------------------------------------------------------------------- */

/* @nr times @part, from @head on. */
static char *repeat(const char *head, const char *part, size_t nr)
{
	size_t size = strlen(head), step = strlen(part);
	char *text = malloc(size + nr * step + 1);

	CHECK(text != NULL);
	memcpy(text, head, size);
	for (; nr; nr--, size += step)
		memcpy(text + size, part, step);
	text[size] = '\0';
	return text;
}

static void check_repeated(const char *head, const char *part, size_t nr,
			   const char *wanted)
{
	struct sley_config_file *file = NULL;
	uint64_t start_ns = test_now_ns();
	char *text = repeat(head, part, nr);
	struct said said;

	CHECK_EQ(parse(&file, text, &said), -EINVAL);
	if (!strstr(said.text, wanted))
		CHECK_STR(said.text, wanted);
	/* Nothing takes time in the square of the size: that is an hour. */
	CHECK_LT((test_now_ns() - start_ns) / 1000000, 60000);
	free(text);
}

TEST(c51_levels_values_and_pools_have_limits)
{
	check_repeated("", "[", TREE_DEPTH_MAX + 1,
		       "t:1:17: more than 16 levels of lists and keys");
	check_repeated("", "[", 1000000, "more than 16 levels");
	check_repeated("", "{a: ", 250000, "more than 16 levels");
	check_repeated("", "- ", 500000, "more than 16 levels");
	check_repeated("", "- x\n", TREE_NODES_MAX, "more than 100000 values");
	check_repeated("compose:\n", "- x\n", 1001,
		       "a list of at most 1000 pools");
	check_repeated("compose: [{mod_name: a, pool_name: b, params: {", "a,",
		       500000, "more than 100000 values");
	check_repeated("compose:\n- mod_name: a\n  pool_name: b\n  params:\n"
		       "    x:\n",
		       "    - y\n", 1000, "more than 1000 parameters");
}

TEST(c51_large_files_take_time_in_proportion)
{
	check_repeated("", "runtime: {}\n", 33000, "'runtime' is there twice");
	check_repeated("", "unknown: {}\n", 33000, "no key 'unknown'");
	check_repeated("runtime:\n", "  io0123456789io0123456789: x\n", 33000,
		       "no key 'io0123456789io0123456789'");
	check_repeated("runtime:\n", "  io: epoll\n", 33000,
		       "'io' is there twice");
	check_repeated("runtime: ", "x", 1000000, "'runtime' wants keys");
	check_repeated("runtime: \"", "\\x41", 250000, "");
	check_repeated("x: ", "? ", 500000, "");
	check_repeated("", "[a", 500000, "");
	check_repeated("", "&a ", 300000, "");
	check_repeated("", "*a ", 300000, "anchors");
	check_repeated("", "%", 1000000, "");
	check_repeated("", "---\n", 250000, "a second document");
	check_repeated("x: |\n", " \n", 500000, "");
	check_repeated("x: >\n", " a\n\n", 250000, "");
	check_repeated("", "'", 1000000, "");
}

/* An alias bomb: ten levels of ten would be ten billion values. */
TEST(c51_aliases_multiply_nothing)
{
	struct sley_config_file *file = NULL;
	struct said said;

	CHECK_EQ(parse(&file,
		       "a: &a [ x, x, x, x, x, x, x, x, x, x ]\n"
		       "b: &b [ *a, *a, *a, *a, *a, *a, *a, *a, *a, *a ]\n"
		       "c: &c [ *b, *b, *b, *b, *b, *b, *b, *b, *b, *b ]\n",
		       &said),
		 -EINVAL);
	CHECK_EQ(said.nr, 1);
	CHECK(strstr(said.text, "t:1:4: anchors (&) and aliases (*)") != NULL);
}
