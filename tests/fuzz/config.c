/* SPDX-License-Identifier: MIT */
/*
 * config.c - random changes of good configuration files, and what must hold for each.
 *
 *   ./config [executions] [seed]     the same executions each time
 *
 * LLVMFuzzerTestOneInput() is there for libFuzzer, which brings its own main():
 * compile with -DFUZZ_LIBFUZZER -fsanitize=fuzzer.
 *
 * Checked for each input:
 *
 *   - the file is taken, and nothing but notes is said; or it is -EINVAL, and a line
 *     says why
 *   - a line is valid UTF-8 without control characters, and begins with the name of
 *     the file
 *   - the numbers of a file that is taken are in the ranges that a runtime takes
 *   - params are lines of "name=value", and a parameter is there once
 *   - no memory is left
 */
#include "base/utf8.h"
#include "mem/alloc.h"

#include <errno.h>
#include <sley/config_file.h>
#include <sley/cpus.h>
#include <sley/param.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* ---- random numbers -------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % n;
}

/* ---- what must hold -------------------------------------------------------------- */

static const uint8_t *current;
static size_t current_size;
static int nr_said, nr_notes;

static void failed(const char *what, int line)
{
	fprintf(stderr, "config.c:%d: %s does not hold for this input:\n", line,
		what);
	fprintf(stderr, "%.*s\n", (int)current_size, (const char *)current);
	abort();
}

#define HOLDS(x) ((x) ? (void)0 : failed(#x, __LINE__))

static void said(void *self, const char *line)
{
	const unsigned char *bytes = (const unsigned char *)line;
	size_t size = strlen(line);

	(void)self;
	nr_said++;
	nr_notes += strstr(line, " has no effect: ") != NULL;
	HOLDS(!strncmp(line, "t:", 2) ||
	      !strcmp(line, "more mistakes are not listed"));
	for (size_t i = 0, length; i < size; i += length) {
		length = utf8_length(bytes + i, size - i);
		HOLDS(length > 0);
		HOLDS(bytes[i] >= 0x20 && bytes[i] != 0x7f);
	}
}

static bool is_between(uint64_t value, uint64_t least, uint64_t most)
{
	return !value || (value >= least && value <= most);
}

static void check_runtime(const struct sley_config *config)
{
	HOLDS(config->workers >= 0 && config->workers <= SLEY_WORKERS_MAX);
	HOLDS(is_between(config->stack_kib, 16, 1 << 20));
	HOLDS(is_between(config->tick_us, 100, 10000));
	HOLDS(is_between(config->spin_us, 1, 1000000) ||
	      config->spin_us == SLEY_NO_SPIN);
	HOLDS(config->io <= SLEY_IO_THREADS);
	HOLDS(config->placement <= SLEY_PLACE_ONE_OF);
	HOLDS(!config->cpus || sley_cpus_count(config->cpus) > 0);
	HOLDS(!config->name || strlen(config->name) <= 15);
}

static void check_pool(const struct sley_config_pool *pool)
{
	const char *at = pool->params;

	HOLDS(pool->module && *pool->module && pool->name && *pool->name);
	HOLDS(pool->containers <= SLEY_CONTAINERS_MAX);
	HOLDS(pool->line > 0);
	HOLDS(!at == !pool->params_size || (at && !*at));
	while (at && *at) {
		size_t length = strcspn(at, "="), value_size;
		char name[256];

		HOLDS(length > 0 && length < sizeof(name));
		memcpy(name, at, length);
		name[length] = '\0';
		/* The first of that name, so it is there once. */
		HOLDS(sley_param_find(pool->params, pool->params_size, name,
				      &value_size) == at + length + 1);
		at += length + 1 + value_size;
		HOLDS(*at++ == '\n');
	}
}

static void check_file(const struct sley_config_file *file)
{
	const struct sley_router_options *router =
		sley_config_file_router(file);
	const struct sley_config_pool *pool;
	const struct sley_config_value *value;
	double rate = router->learning_rate;

	check_runtime(sley_config_file_runtime(file));
	HOLDS(rate >= 0 && rate <= 1);
	HOLDS(!router->directories || router->directories[0] == '/');
	HOLDS(router->log_level <= 4);
	for (size_t i = 0; (value = sley_config_file_value(file, i)); i++)
		HOLDS(value->key && value->text);
	for (size_t i = 0; (pool = sley_config_file_pool(file, i)); i++)
		check_pool(pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct sley_config_file *file = NULL;
	uint64_t before = mem_allocated(&sley__program_mem);
	int err;

	current = input;
	current_size = size;
	nr_said = nr_notes = 0;
	err = sley_config_file_parse(
		&file, "t", (const char *)input, size,
		SLEY_CONFIG_FILE_OPTIONS(.flags =
						 SLEY_CONFIG_FILE_NO_ENVIRONMENT,
					 .report = said));
	HOLDS(err == 0 || err == -EINVAL);
	HOLDS(err ? nr_said > nr_notes : nr_said == nr_notes);
	HOLDS(!file == (err != 0));
	if (file)
		check_file(file);
	sley_config_file_free(file);
	HOLDS(mem_allocated(&sley__program_mem) == before);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

/* ---- inputs ----------------------------------------------------------------------- */

#define INPUT_MAX 2048

static char sample[16384];

static const char *const good[] = {
	"runtime:\n  local_sched: \"my_scheduler\"\n  num_threads: 4\n"
	"  queue_depth: 1024\n",
	"runtime: { cpus: '0-3,8', directories: [ /a, /b ], io: epoll,\n"
	"  learning_rate: 0.25, watchdog_ms: never, first_busy_wait: 0 }\n",
	"compose:\n  - mod_name: kv\n    pool_name: sessions\n"
	"    pool_id: 300.0\n    pool_query: local\n    restart: true\n"
	"    containers: 8\n    params:\n      limit: 100\n"
	"      log: { level: info }\n      paths: [ /a, '/b' ]\n"
	"  - { mod_name: file, pool_name: disk }\n",
	"networking:\n  port: 9413\n  hostfile: ''\n",
};

/* What mutations put in. */
static const char *const pieces[] = {
	"\n",
	"\n  ",
	"\n- ",
	": ",
	"[",
	"]",
	"{",
	"}",
	"'",
	"\"",
	"#",
	"&a ",
	"*a",
	"!!str ",
	"---\n",
	"...\n",
	"? ",
	"|\n",
	">\n",
	"\t",
	"~",
	"null",
	"true",
	"-1",
	"0",
	"4096",
	"4097",
	"18446744073709551616",
	"\\x9b",
	"\xff",
	"\xc3",
	"\xc2\x85",
	"\xe2\x80\xa8",
	"runtime:",
	"compose:",
	"params:",
	"mod_name: a",
	"pool_name: b",
	"io: uring",
	"%YAML 1.2\n",
	"\r\n",
	",",
	"1-",
	".",
	"/a:/b",
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static size_t put(char *input, size_t size, size_t at, const char *piece)
{
	size_t length = strlen(piece);

	if (size + length > INPUT_MAX)
		return size;
	memmove(input + at + length, input + at, size - at);
	memcpy(input + at, piece, length);
	return size + length;
}

/* The line at @at once more. */
static size_t repeat_line(char *input, size_t size, size_t at)
{
	char line[INPUT_MAX + 1];
	size_t from = at, length;

	while (from && input[from - 1] != '\n')
		from--;
	for (length = 0; from + length < size;) {
		line[length] = input[from + length];
		if (line[length++] == '\n')
			break;
	}
	line[length] = '\0';
	return put(input, size, from, line);
}

static size_t mutate(char *input, size_t size)
{
	size_t at = random_below(size + 1);

	switch (random_below(5)) {
	case 0: /* another byte */
		if (at < size)
			input[at] = (char)random_below(256);
		return size;
	case 1: { /* some bytes less */
		size_t nr = random_below(8);

		if (at + nr > size)
			nr = size - at;
		memmove(input + at, input + at + nr, size - at - nr);
		return size - nr;
	}
	case 2:
		return repeat_line(input, size, at);
	default:
		return put(input, size, at, pieces[random_below(NR(pieces))]);
	}
}

/* A good file, or a part of the sample with all settings on. */
static size_t begin(char *input)
{
	const char *from = good[random_below(NR(good))];
	size_t size = strlen(from);

	if (random_below(4) == 0) {
		size_t at = random_below(strlen(sample));

		size = strlen(sample) - at;
		if (size > INPUT_MAX / 2)
			size = INPUT_MAX / 2;
		from = sample + at;
	}
	memcpy(input, from, size);
	return size;
}

static void read_sample(void)
{
	FILE *file = fopen(SAMPLE, "r");

	if (!file) {
		perror(SAMPLE);
		exit(1);
	}
	sample[fread(sample, 1, sizeof(sample) - 1, file)] = '\0';
	fclose(file);
	for (char *line = sample; (line = strstr(line, "\n#")); line++)
		memmove(line + 1, line + 2, strlen(line + 1));
}

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
	char input[INPUT_MAX];

	if (argc > 2)
		random_state = strtoull(argv[2], NULL, 10) * 2654435769u + 1;
	read_sample();
	for (unsigned long i = 0; i < nr; i++) {
		size_t size = begin(input);

		for (uint64_t more = random_below(6); more; more--)
			size = mutate(input, size);
		LLVMFuzzerTestOneInput((const uint8_t *)input, size);
	}
	printf("%lu inputs, all properties hold\n", nr);
	return 0;
}

#endif
