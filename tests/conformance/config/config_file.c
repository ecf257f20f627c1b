/* SPDX-License-Identifier: MIT */
/*
 * config_file.c - what a configuration file says, and where values come from: C51.
 *
 * SAMPLE is docs/sley.yaml, DOCUMENTS the folder of the documents and of the manual.
 */
#include "conformance/config/said.h"

#include "mem/alloc.h"

#include <sys/stat.h>

static const char seed_block[] = "runtime:\n"
				 "  local_sched: \"my_scheduler\"\n"
				 "  num_threads: 4\n"
				 "  queue_depth: 1024\n";

TEST(c51_the_block_of_the_seed_keeps_its_meaning)
{
	struct sley_config_file *file = NULL;
	struct said said;

	CHECK_EQ(parse(&file, seed_block, &said), 0);
	CHECK_STR(sley_config_file_router(file)->policy, "my_scheduler");
	CHECK_EQ(sley_config_file_runtime(file)->workers, 4);
	CHECK_STR(said.text,
		  "t:4:16: 'queue_depth' has no effect: queues have no "
		  "bound\n");
	CHECK_STR(value_of(file, "runtime.queue_depth")->text, "1024");
	sley_config_file_free(file);
}

TEST(c51_no_file_is_all_defaults)
{
	struct sley_config_file *file = NULL;
	struct sley_config defaults = sley_config_default();

	CHECK_EQ(sley_config_file_load(&file, NULL, NULL), 0);
	CHECK(!memcmp(sley_config_file_runtime(file), &defaults,
		      sizeof(defaults)));
	CHECK(!sley_config_file_router(file)->policy);
	CHECK_EQ(sley_config_file_router(file)->size,
		 sizeof(struct sley_router_options));
	CHECK(sley_config_file_pool(file, 0) == NULL);
	CHECK(sley_config_file_router(file)->learning_rate == 0);
	sley_config_file_free(file);
	sley_config_file_free(NULL);
}

TEST(c51_a_file_that_says_nothing_is_all_defaults)
{
	static const char *const texts[] = {
		"",
		"# nothing\n",
		"---\n",
		"---\n...\n",
		"runtime:\n",
		"{}",
		"compose:\n",
		"compose: []\n",
		"null\n",
		"runtime: {}\n",
		"networking: ~\n",
		"\xef\xbb\xbfruntime:\n", /* a byte order mark */
		"%YAML 1.1\n---\nruntime:\n",
		"\r\n# \t text\r\nruntime:\t# text\r\n\r\n",
	};
	struct sley_config defaults = sley_config_default();

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct sley_config_file *file = parse_good(texts[i]);
		struct sley_config config = *sley_config_file_runtime(file);

		config.report = NULL;
		config.report_self = NULL;
		CHECK(!memcmp(&config, &defaults, sizeof(defaults)));
		sley_config_file_free(file);
	}
}

static void check_config(const struct sley_config *config)
{
	CHECK_EQ(config->size, sizeof(*config));
	CHECK_EQ(config->workers, 3);
	CHECK_EQ(config->spin_us, 7);
	CHECK_EQ(config->migratable, true);
	CHECK_EQ(config->save_fpu, true);
	CHECK_EQ(config->io, SLEY_IO_EPOLL);
	CHECK_EQ(config->watchdog_ms, 250);
	CHECK_EQ(config->tick_us, 500);
	CHECK_EQ(config->stack_kib, 64);
	CHECK_EQ(config->stack_cache, 8);
	CHECK_EQ(config->blocking_max, 16);
	CHECK_EQ(config->blocking_idle_ms, 20);
	CHECK_EQ(config->max_processes, 99);
	CHECK_EQ(config->placement, SLEY_PLACE_ONE_OF);
	CHECK_EQ(sley_cpus_count(config->cpus), 4);
	CHECK(sley_cpus_has(config->cpus, 0) && sley_cpus_has(config->cpus, 2));
	CHECK(sley_cpus_has(config->cpus, 8) &&
	      !sley_cpus_has(config->cpus, 3));
	CHECK_EQ(config->seed, UINT64_MAX);
	CHECK_STR(config->name, "service");
	CHECK_STR(config->trace, "full:/tmp/t.json");
}

TEST(c51_every_key_sets_its_field)
{
	struct sley_config_file *file =
		parse_good("runtime:\n"
			   "  num_threads: 3\n"
			   "  local_sched: local\n"
			   "  first_busy_wait: 7\n"
			   "  learning_rate: 0.25\n"
			   "  conf_dir: /var/lib/x\n"
			   "  directories: [ /a, '/b c' ]\n"
			   "  log_level: debug\n"
			   "  migratable: yes\n"
			   "  save_fpu: ON\n"
			   "  io: epoll\n"
			   "  watchdog_ms: 250\n"
			   "  tick_us: 500\n"
			   "  stack_kib: 64\n"
			   "  stack_cache: 8\n"
			   "  blocking_max: 16\n"
			   "  blocking_idle_ms: 20\n"
			   "  max_processes: 99\n"
			   "  placement: one_of\n"
			   "  cpus: 0-2,8\n"
			   "  seed: 18446744073709551615\n"
			   "  name: service\n"
			   "  trace: full:/tmp/t.json\n");
	const struct sley_router_options *router =
		sley_config_file_router(file);

	check_config(sley_config_file_runtime(file));
	CHECK_STR(router->policy, "local");
	CHECK_STR(router->directories, "/a:/b c");
	CHECK_EQ(router->log_level, 1); /* SLEY_LOG_DEBUG */
	CHECK(router->learning_rate == 0.25);
	CHECK_STR(value_of(file, "runtime.conf_dir")->text, "/var/lib/x");
	sley_config_file_free(file);
}

TEST(c51_words_stand_for_the_values_that_are_no_numbers)
{
	struct sley_config_file *file = parse_good("runtime:\n"
						   "  first_busy_wait: 0\n"
						   "  watchdog_ms: never\n"
						   "  blocking_max: unlimited\n"
						   "  num_threads: 0\n"
						   "  cpus: [ 0, '2-3' ]\n"
						   "  learning_rate: 1\n"
						   "  directories: /a:/b\n");
	const struct sley_config *config = sley_config_file_runtime(file);

	CHECK_EQ(config->spin_us, SLEY_NO_SPIN);
	CHECK_EQ(config->watchdog_ms, SLEY_NEVER);
	CHECK_EQ(config->blocking_max, SLEY_UNBOUNDED);
	CHECK_EQ(config->workers, 0);
	CHECK_EQ(sley_cpus_count(config->cpus), 3);
	CHECK(sley_config_file_router(file)->learning_rate == 1);
	CHECK_STR(sley_config_file_router(file)->directories, "/a:/b");
	sley_config_file_free(file);
}

/* A program that uses numbers with a comma still reads 0.25. */
TEST(c51_numbers_do_not_go_by_the_locale)
{
	static const char *const rates[] = { "0.25", ".25", "0.250000000" };

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		char text[64];
		struct sley_config_file *file;

		snprintf(text, sizeof(text), "runtime:\n  learning_rate: %s\n",
			 rates[i]);
		file = parse_good(text);
		CHECK(sley_config_file_router(file)->learning_rate == 0.25);
		sley_config_file_free(file);
	}
}

TEST(c51_pools_are_listed_in_their_order)
{
	struct sley_config_file *file =
		parse_good("compose:\n"
			   "  - mod_name: kv\n"
			   "    pool_name: sessions\n"
			   "    pool_id: 300.0\n"
			   "    pool_query: LOCAL\n"
			   "    restart: true\n"
			   "    containers: 8\n"
			   "    params:\n"
			   "      limit: 100\n"
			   "      log: { level: info, file: }\n"
			   "      paths: [ /a, '/b = c' ]\n"
			   "      none: {}\n"
			   "  - { mod_name: file, pool_name: disk }\n");
	const struct sley_config_pool *pool = sley_config_file_pool(file, 0);

	CHECK_STR(pool->module, "kv");
	CHECK_STR(pool->name, "sessions");
	CHECK_STR(pool->id, "300.0");
	CHECK_EQ(pool->query.kind, SLEY_QUERY_LOCAL);
	CHECK_EQ(pool->restart, true);
	CHECK_EQ(pool->containers, 8);
	CHECK_EQ(pool->line, 2);
	CHECK_EQ(pool->column, 5);
	CHECK_STR(pool->params, "limit=100\nlog.level=info\nlog.file=\n"
				"paths.0=/a\npaths.1=/b = c\n");
	CHECK_EQ(pool->params_size, strlen(pool->params));
	pool = sley_config_file_pool(file, 1);
	CHECK_STR(pool->name, "disk");
	CHECK(!pool->params && !pool->params_size && !pool->id);
	CHECK_EQ(pool->containers, 0);
	CHECK_EQ(pool->line, 13);
	CHECK(sley_config_file_pool(file, 2) == NULL);
	sley_config_file_free(file);
}

TEST(c51_queries_for_this_machine_are_taken)
{
	static const char *const queries[] = { "local",       "Dynamic",
					       "broadcast",   "physical:0",
					       "direct_id:0", "direct_hash:9",
					       "range:0:1",   "local@250" };

	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		char text[128];

		snprintf(text, sizeof(text),
			 "compose: [ { mod_name: a, pool_name: b, pool_query: "
			 "'%s' } ]",
			 queries[i]);
		sley_config_file_free(parse_good(text));
	}
}

TEST(c51_keys_of_networking_are_known_and_have_no_effect)
{
	struct sley_config_file *file = NULL;
	struct said said;

	CHECK_EQ(parse(&file,
		       "networking:\n"
		       "  port: 9413\n"
		       "  neighborhood_size: 32\n"
		       "  hostfile: ''\n"
		       "  wait_for_restart: 30\n"
		       "  wait_for_restart_poll_period: 1\n",
		       &said),
		 0);
	CHECK_EQ(said.nr, 5);
	CHECK(strstr(said.text, "t:2:9: 'port' has no effect: there are no "
				"other machines so far\n") == said.text);
	CHECK_STR(value_of(file, "networking.port")->text, "9413");
	sley_config_file_free(file);
}

/* ---- where values come from -------------------------------------------------------- */

static void check_origin(const struct sley_config_file *file, const char *key,
			 const char *text, enum sley_config_origin origin,
			 uint32_t line)
{
	const struct sley_config_value *value = value_of(file, key);

	CHECK_STR(value->text, text);
	CHECK_EQ(value->origin, origin);
	CHECK_EQ(value->line, line);
}

TEST(c51_the_environment_wins_over_the_file)
{
	struct sley_config_file *file;

	setenv("SLEY_NUM_THREADS", "5", 1);
	setenv("SLEY_IO", "threads", 1);
	setenv("SLEY_DIRECTORIES", "/x:/y", 1);
	setenv("SLEY_LOG_LEVEL", "", 1); /* as if it were not set */
	file = parse_good("runtime:\n"
			  "  num_threads: 2\n"
			  "  local_sched: none\n"
			  "  log_level: info\n");
	CHECK_EQ(sley_config_file_runtime(file)->workers, 5);
	CHECK_EQ(sley_config_file_runtime(file)->io, SLEY_IO_THREADS);
	CHECK_STR(sley_config_file_router(file)->directories, "/x:/y");
	check_origin(file, "runtime.num_threads", "5",
		     SLEY_CONFIG_FROM_ENVIRONMENT, 0);
	check_origin(file, "runtime.local_sched", "none", SLEY_CONFIG_FROM_FILE,
		     3);
	check_origin(file, "runtime.log_level", "info", SLEY_CONFIG_FROM_FILE,
		     4);
	check_origin(file, "runtime.tick_us", "1000", SLEY_CONFIG_DEFAULT, 0);
	CHECK_STR(value_of(file, "runtime.tick_us")->variable, "SLEY_TICK_US");
	/* The texts are copies. */
	setenv("SLEY_NUM_THREADS", "6", 1);
	CHECK_STR(value_of(file, "runtime.num_threads")->text, "5");
	sley_config_file_free(file);
}

TEST(c51_a_bad_variable_is_named)
{
	struct sley_config_file *file = NULL;
	struct said said;

	setenv("SLEY_NUM_THREADS", "many", 1);
	setenv("SLEY_NAME", "a\033[31mb", 1);
	setenv("SLEY_TRACE", "\xff", 1);
	CHECK_EQ(parse(&file, "", &said), -EINVAL);
	CHECK_STR(said.text,
		  "$SLEY_NUM_THREADS: 'num_threads' wants a number from 0 to "
		  "4096, and this is 'many'\n"
		  "$SLEY_NAME: a value has a control character, or several "
		  "lines: a value is one line of plain text\n"
		  "$SLEY_TRACE: this is not valid UTF-8\n");
	CHECK_EQ(
		sley_config_file_parse(
			&file, "t", "", 0,
			SLEY_CONFIG_FILE_OPTIONS(
					.flags =
						SLEY_CONFIG_FILE_NO_ENVIRONMENT)),
		0);
	CHECK_EQ(sley_config_file_runtime(file)->workers, 0);
	sley_config_file_free(file);
}

TEST(c51_a_variable_names_the_file)
{
	static const char text[] = "runtime:\n  num_threads: 9\n";
	struct sley_config_file *file = NULL;
	struct said said = { .nr = 0 };
	struct sley_config_file_options options = options_of(&said);
	char path[64];

	write_file(path, text, strlen(text));
	setenv("SLEY_CONFIG", path, 1);
	CHECK_EQ(sley_config_file_load(&file, NULL, &options), 0);
	CHECK_EQ(sley_config_file_runtime(file)->workers, 9);
	sley_config_file_free(file);
	CHECK_EQ(unlink(path), 0);
	/* The user has named it: it must be there, whatever the program says. */
	options.flags = SLEY_CONFIG_FILE_OPTIONAL;
	CHECK_EQ(sley_config_file_load(&file, NULL, &options), -ENOENT);
	CHECK(strstr(said.text, ": the file is not read: No such file or "
				"directory\n") != NULL);
	options.flags = SLEY_CONFIG_FILE_NO_ENVIRONMENT;
	CHECK_EQ(sley_config_file_load(&file, NULL, &options), 0);
	sley_config_file_free(file);
}

TEST(c51_a_missing_file_is_an_error_unless_it_is_optional)
{
	static const char path[] = "/nowhere/at/all.yaml";
	struct sley_config_file *file = NULL;
	struct said said = { .nr = 0 };
	struct sley_config_file_options options = options_of(&said);

	CHECK_EQ(sley_config_file_load(&file, path, &options), -ENOENT);
	CHECK_STR(said.text, "/nowhere/at/all.yaml: the file is not read: No "
			     "such file or directory\n");
	CHECK(file == NULL);
	options.flags = SLEY_CONFIG_FILE_OPTIONAL;
	CHECK_EQ(sley_config_file_load(&file, path, &options), 0);
	CHECK_EQ(said.nr, 1);
	sley_config_file_free(file);
}

/* ---- files that are not believed ---------------------------------------------------- */

static int load(const char *path, struct said *said)
{
	const struct sley_config_file_options options = options_of(said);
	struct sley_config_file *file = NULL;
	int err;

	*said = (struct said){ .nr = 0 };
	err = sley_config_file_load(&file, path, &options);
	CHECK_EQ(said->nr, err ? 1 : 0);
	CHECK_EQ(file != NULL, err == 0);
	sley_config_file_free(file);
	return err;
}

TEST(c51_a_file_that_others_may_write_is_refused)
{
	struct said said;
	char path[64];

	write_file(path, "runtime:\n", 9);
	CHECK_EQ(load(path, &said), 0);
	CHECK_EQ(chmod(path, 0644), 0);
	CHECK_EQ(load(path, &said), 0);
	CHECK_EQ(chmod(path, 0664), 0);
	CHECK_EQ(load(path, &said), -EPERM);
	CHECK(strstr(said.text, "chmod go-w") != NULL);
	CHECK_EQ(chmod(path, 0602), 0);
	CHECK_EQ(load(path, &said), -EPERM);
	if (geteuid() == 0) {
		CHECK_EQ(chmod(path, 0600), 0);
		CHECK_EQ(chown(path, 12345, 12345), 0);
		CHECK_EQ(load(path, &said), -EPERM);
	}
	CHECK_EQ(unlink(path), 0);
}

TEST(c51_only_plain_files_are_read)
{
	struct said said;
	char path[64];

	CHECK_EQ(load("/tmp", &said), -EINVAL);
	CHECK_EQ(load("/dev/zero", &said), -EINVAL);
	CHECK_EQ(load("", &said), -ENOENT);
	snprintf(path, sizeof(path), "/tmp/sley-pipe.%d", (int)getpid());
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK_EQ(load(path, &said), -EINVAL); /* and does not wait */
	CHECK_EQ(unlink(path), 0);
}

TEST(c51_a_file_has_a_longest_size)
{
	size_t size = SLEY_CONFIG_FILE_MAX;
	char *text = malloc(size + 1);
	struct sley_config_file *file = NULL;
	struct said said;
	char path[64];

	CHECK(text != NULL);
	memset(text, '#', size + 1);
	write_file(path, text, size);
	CHECK_EQ(load(path, &said), 0);
	CHECK_EQ(unlink(path), 0);
	write_file(path, text, size + 1);
	CHECK_EQ(load(path, &said), -EFBIG);
	CHECK(strstr(said.text, "longer than 1048576 bytes") != NULL);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(sley_config_file_parse(&file, "t", text, size + 1, NULL),
		 -EFBIG);
	free(text);
}

TEST(c51_options_of_the_future_are_refused)
{
	struct sley_config_file *file = NULL;
	struct sley_config_file_options options = { .size = sizeof(options),
						    .flags = 4 };

	CHECK_EQ(sley_config_file_load(&file, NULL, &options), -EINVAL);
	options = (struct sley_config_file_options){ .size = sizeof(options),
						     .reserved = { 1 } };
	CHECK_EQ(sley_config_file_load(&file, NULL, &options), -E2BIG);
	options = (struct sley_config_file_options){ .size = 0 };
	CHECK_EQ(sley_config_file_parse(&file, "t", "", 0, &options), -EINVAL);
}

TEST(c51_all_memory_comes_back)
{
	uint64_t before = mem_allocated(&sley__program_mem);
	struct sley_config_file *file = NULL;
	struct said said;

	CHECK_EQ(parse(&file, seed_block, &said), 0);
	CHECK(mem_allocated(&sley__program_mem) > before);
	sley_config_file_free(file);
	CHECK_EQ(mem_allocated(&sley__program_mem), before);
	CHECK_EQ(parse(&file, "runtime: { num_threads: x }", &said), -EINVAL);
	CHECK_EQ(mem_allocated(&sley__program_mem), before);
	CHECK_EQ(load("/nowhere", &said), -ENOENT);
	CHECK_EQ(mem_allocated(&sley__program_mem), before);
}

/* ---- the sample and the documents --------------------------------------------------- */

static char *read_whole(const char *path)
{
	static char text[1 << 18];
	FILE *file = fopen(path, "r");
	size_t size;

	CHECK(file != NULL);
	size = fread(text, 1, sizeof(text) - 1, file);
	CHECK_LT(size, sizeof(text) - 1);
	text[size] = '\0';
	CHECK_EQ(fclose(file), 0);
	return text;
}

/* Takes the '#' away from each line that is a setting. */
static void switch_on(char *text)
{
	for (char *line = text; line; line = strchr(line, '\n')) {
		char *from;

		line += *line == '\n';
		if (line[0] != '#')
			continue;
		for (from = line + 1; *from == ' '; from++)
			;
		if (line[1] == ' ' && line[2] != ' ')
			continue; /* text */
		memmove(line, line + 1, strlen(line));
	}
}

TEST(c51_the_sample_says_nothing_as_it_is)
{
	struct sley_config_file *file = parse_good(read_whole(SAMPLE));
	const struct sley_config_value *value;

	for (size_t i = 0; (value = sley_config_file_value(file, i)); i++)
		CHECK_EQ(value->origin, SLEY_CONFIG_DEFAULT);
	CHECK(sley_config_file_pool(file, 0) == NULL);
	sley_config_file_free(file);
}

/* Of some keys the default is no value that a file can have. */
static bool is_example(const char *key)
{
	static const char *const keys[] = {
		"runtime.cpus",          "runtime.directories",
		"runtime.learning_rate", "runtime.queue_depth",
		"runtime.conf_dir",      "runtime.trace",
		"daemon.socket",         "daemon.user",
		"daemon.users",          "daemon.state_dir",
		"daemon.pid_file",       "daemon.domain",
		"daemon.domain_cores",   "runtime.domain",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!strcmp(keys[i], key))
			return true;
	}
	return !strncmp(key, "networking.", 11);
}

TEST(c51_the_sample_has_every_key_with_its_default)
{
	char *text = read_whole(SAMPLE);
	struct sley_config_file *bare = parse_good(""), *file = NULL;
	const struct sley_config_value *value;
	const struct sley_config_pool *pool;
	struct said said;

	switch_on(text);
	CHECK_EQ(parse(&file, text, &said), 0);
	CHECK_EQ(said.nr, 6); /* queue_depth and networking */
	for (size_t i = 0; (value = sley_config_file_value(file, i)); i++) {
		const struct sley_config_value *standard =
			sley_config_file_value(bare, i);

		if (value->origin != SLEY_CONFIG_FROM_FILE)
			CHECK_STR(value->key, "is in the sample");
		if (!is_example(value->key))
			CHECK_STR(value->text, standard->text);
	}
	pool = sley_config_file_pool(file, 0);
	CHECK(pool && pool->id && pool->containers && pool->params);
	sley_config_file_free(bare);
	sley_config_file_free(file);
}

/* What --check calls the default is what a runtime takes. */
TEST(c51_the_defaults_are_those_of_a_runtime)
{
	char *text = read_whole(SAMPLE);
	struct sley_config_file *file = NULL;
	struct sley_config told, made;
	struct said said;
	struct sley *rt;

	switch_on(text);
	CHECK_EQ(parse(&file, text, &said), 0);
	told = *sley_config_file_runtime(file);
	CHECK_EQ(sley_create(&rt, NULL), 0);
	made.size = sizeof(made);
	CHECK_EQ(sley_get_config(rt, &made), 0);
	CHECK_EQ(told.spin_us, made.spin_us);
	CHECK_EQ(told.tick_us, made.tick_us);
	CHECK_EQ(told.watchdog_ms, made.watchdog_ms);
	CHECK_EQ(told.blocking_max, made.blocking_max);
	CHECK_EQ(told.blocking_idle_ms, made.blocking_idle_ms);
	CHECK_EQ(told.stack_kib, made.stack_kib);
	CHECK_EQ(told.stack_cache, made.stack_cache);
	CHECK_EQ(told.max_processes, made.max_processes);
	CHECK_EQ(told.placement, made.placement);
	CHECK_EQ(told.migratable, made.migratable);
	CHECK_EQ(told.save_fpu, made.save_fpu);
	CHECK_STR(told.name, made.name);
	CHECK_EQ(sley_destroy(rt), 0);
	sley_config_file_free(file);
}

static void check_document(const char *path)
{
	static const char *const pool_keys[] = {
		"mod_name",   "pool_name", "pool_id", "pool_query", "restart",
		"containers", "params",    "compose", "networking", "runtime",
		"isolated",   "limit_ms",  "may",     "everybody",  "daemon"
	};
	const char *text = read_whole(path);
	struct sley_config_file *file = parse_good("");
	const struct sley_config_value *value;

	for (size_t i = 0; (value = sley_config_file_value(file, i)); i++) {
		if (!strstr(text, strchr(value->key, '.') + 1))
			CHECK_STR(value->key, path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(pool_keys); i++) {
		if (!strstr(text, pool_keys[i]))
			CHECK_STR(pool_keys[i], path);
	}
	sley_config_file_free(file);
}

TEST(c51_the_documents_have_every_key)
{
	check_document(DOCUMENTS "/docs/CONFIGURATION.md");
	check_document(DOCUMENTS "/man/sley.5");
	check_document(SAMPLE);
}
