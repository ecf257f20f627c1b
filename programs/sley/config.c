/* SPDX-License-Identifier: MIT */
/*
 * config.c - sley config: what a configuration file says, and what is wrong with it.
 */
#include "command.h"
#include "config_sample.h"

#include <errno.h>
#include <sley/config_file.h>
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_WIDTH 40
#define TEXT_WIDTH 20

/* Mistakes go to stderr, for editors that look for FILE:LINE:COLUMN. */
static void report(void *self, const char *line)
{
	(void)self;
	fprintf(stderr, "%s\n", line);
}

/* The rest of the line stands in the same column also behind a long word. */
static void print_words(const char *key, const char *text)
{
	printf("%-*s ", KEY_WIDTH, key);
	if (strlen(key) > KEY_WIDTH)
		printf("\n%*s ", KEY_WIDTH, "");
	printf("%-*s ", TEXT_WIDTH, text);
	if (strlen(text) > TEXT_WIDTH)
		printf("\n%*s ", KEY_WIDTH + 1 + TEXT_WIDTH, "");
}

static void print_origin(const struct sley_config_value *value,
			 const char *path)
{
	if (value->origin == SLEY_CONFIG_FROM_ENVIRONMENT)
		printf("$%s", value->variable);
	else if (value->origin == SLEY_CONFIG_FROM_FILE)
		printf("%s:%u", path, value->line);
	else
		printf("default");
}

static void print_values(const struct sley_config_file *file, const char *path)
{
	const struct sley_config_value *value;

	for (size_t i = 0; (value = sley_config_file_value(file, i)); i++) {
		if (value->note && value->origin == SLEY_CONFIG_DEFAULT)
			continue;
		print_words(value->key, *value->text ? value->text : "-");
		print_origin(value, path);
		printf("%s\n", value->note ? ", without effect" : "");
	}
}

static void print_params(const struct sley_config_pool *pool)
{
	const char *line = pool->params;

	while (line && *line) {
		int length = (int)strcspn(line, "\n");

		printf("  %.*s\n", length, line);
		line += length + 1;
	}
}

static void print_pools(const struct sley_config_file *file, const char *path)
{
	const struct sley_config_pool *pool;

	for (size_t i = 0; (pool = sley_config_file_pool(file, i)); i++) {
		char key[128], text[128];

		snprintf(key, sizeof(key), "pool %s", pool->name);
		snprintf(text, sizeof(text), "%s, %u", pool->module,
			 pool->containers ? pool->containers : 1);
		print_words(key, text);
		printf("%s:%u\n", path, pool->line);
		print_params(pool);
	}
}

static void print_user(const char *key, uint32_t may)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} rights[] = {
		{ SLEY_CONFIG_MAY_SUBMIT, "submit" },
		{ SLEY_CONFIG_MAY_CREATE, "create" },
		{ SLEY_CONFIG_MAY_UPGRADE, "upgrade" },
		{ SLEY_CONFIG_MAY_STOP, "stop" },
		{ SLEY_CONFIG_MAY_LOOK, "look" },
		{ SLEY_CONFIG_MAY_JOIN, "join" },
	};
	char text[64] = "";
	size_t length = 0;

	for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++) {
		if (may & rights[i].bit)
			length += (size_t)snprintf(text + length,
						   sizeof(text) - length,
						   "%s%s", length ? ", " : "",
						   rights[i].name);
	}
	print_words(key, text);
}

static void print_users(const struct sley_config_file *file, const char *path)
{
	const struct sley_config_daemon *daemon = sley_config_file_daemon(file);

	for (size_t i = 0; i < daemon->nr_users; i++) {
		const struct sley_config_user *user = &daemon->users[i];
		char key[300];

		snprintf(key, sizeof(key), "%s%s",
			 user->user    ? "user "
			 : user->group ? "group "
				       : "everybody",
			 user->user    ? user->user
			 : user->group ? user->group
				       : "");
		print_user(key, user->may);
		printf("%s:%u\n", path, user->line);
	}
}

static int check(const char *path)
{
	struct sley_config_file *file;
	const char *shown = path ? path : getenv("SLEY_CONFIG");
	int err = sley_config_file_load(
		&file, path, SLEY_CONFIG_FILE_OPTIONS(.report = report));

	if (!shown || !*shown)
		fputs("sley config: no FILE, and no $SLEY_CONFIG: these are "
		      "the defaults\n",
		      stderr);
	if (err == -ENOMEM)
		fprintf(stderr, "sley config: %s\n", sley_strerror(err));
	if (err)
		return STATUS_TROUBLE;
	print_values(file, shown);
	print_pools(file, shown);
	print_users(file, shown);
	sley_config_file_free(file);
	return STATUS_OK;
}

static int run(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--sample")) {
		fputs(config_sample, stdout);
		return STATUS_OK;
	}
	if ((argc == 2 || argc == 3) && !strcmp(argv[1], "--check"))
		return check(argv[2]); /* NULL behind the last */
	if (argc > 1 && strcmp(argv[1], "--check"))
		fprintf(stderr, "sley config: unexpected '%s'\n", argv[1]);
	return command_usage(&command_config);
}

const struct command command_config = {
	.name = "config",
	.arguments = "--check|--sample",
	.summary = "check a configuration file, or print one with every key",
	.help = "  --check [FILE]  says what is wrong with FILE, a line for "
		"each mistake with file,\n"
		"                  line and column.  If nothing is, prints all "
		"values and where each\n"
		"                  comes from: the file, the environment or "
		"the default.  Without\n"
		"                  FILE it checks the file that $SLEY_CONFIG "
		"names.\n"
		"  --sample        prints a file with every key, its default "
		"and its meaning.\n\n"
		"The exit status of --check is 1 if there are mistakes.  "
		"Modules and policies are\n"
		"looked for when a program starts, not here.  man 5 sley has "
		"all keys.\n",
	.run = run,
};
