/* SPDX-License-Identifier: MIT */
/*
 * stats.c - sley stats: the figures of a daemon.
 */
#include "flat_json.h"
#include "remote.h"
#include "screen.h"
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stats_command {
	struct remote remote;
	const char *pool;
};

/* An array of objects, as a table of these members. */
static const struct view {
	const char *query;
	const char *member;
	const char *keys[TABLE_COLUMNS];
} views[] = {
	{ "worker_stats",
	  "workers",
	  { "worker", "queued", "load", "asleep", "timers", "submitted",
	    "completed", "inlined", "moved", "finished", "parks", NULL } },
	{ "pool_stats",
	  "pools",
	  { "name", "module", "version", "phase", "handles", "containers",
	    "open", "draining", "drained", "down", "inside", "waiting",
	    NULL } },
	{ "container_stats",
	  "containers",
	  { "id", "phase", "version", "inside", "groups", NULL } },
};

/* Members that are no objects and no arrays, one a line. */
static void print_members(const char *object)
{
	char name[TABLE_CELL], text[TABLE_CELL];
	const char *at = object && *object == '{' ? object + 1 : "";

	while (*at == '"') {
		const char *colon = strchr(at, ':');

		if (!colon)
			return;
		json_show(at, name, sizeof(name));
		json_show(colon + 1, text, sizeof(text));
		if (*text)
			printf("%-16s %s\n", name, text);
		at = json_next(colon + 1);
		if (!at)
			return;
	}
}

/* Their numbers are their places. */
static void print_methods(const char *methods)
{
	static const char *const headings[] = { "number", "name", NULL };
	char name[TABLE_CELL];
	struct table table;
	unsigned int number = 0;

	table_init(&table, headings);
	for (const char *at = json_first(methods); at; at = json_next(at)) {
		table_add(&table, "%u", number++);
		table_add(&table, "%s", json_show(at, name, sizeof(name)));
	}
	table_print(&table, false);
	table_free(&table);
}

static void print(const char *query, const char *text)
{
	if (strcmp(query, "methods") == 0) {
		print_methods(json_member(text, "methods"));
		return;
	}
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		const char *array = json_member(text, views[i].member);
		struct table table;

		if (strcmp(views[i].query, query) != 0 || !array)
			continue;
		table_of_json(&table, array, views[i].keys);
		table_print(&table, false);
		table_free(&table);
		return;
	}
	print_members(text);
}

/* "container_stats:N" of a pool with fewer containers. */
static int no_container(struct stats_command *command, const char *query)
{
	struct remote *remote = &command->remote;
	char *text, number[TABLE_CELL];
	int err = remote_inspect(remote, command->pool, "pool_stats", &text);
	unsigned long long nr;

	if (err)
		return remote_explain(remote, err, "no figures");
	json_show(json_member(text, "containers"), number, sizeof(number));
	free(text);
	nr = strtoull(number, NULL, 10);
	fprintf(stderr,
		"sley stats: '%s': the pool has no such container: it has "
		"%llu, from 0 to %llu\n",
		query, nr, nr ? nr - 1 : 0);
	return STATUS_TROUBLE;
}

static int no_query(struct stats_command *command, const char *query)
{
	struct remote *remote = &command->remote;
	const char *pool = command->pool;
	char *text;

	if (pool && remote_inspect(remote, pool, "pool_stats", &text))
		return remote_no_pool(remote, pool);
	if (!pool && (strcmp(query, "methods") == 0 ||
		      strncmp(query, "container_stats",
			      strlen("container_stats")) == 0)) {
		fprintf(stderr, "sley stats: '%s' needs --pool POOL\n", query);
		return STATUS_TROUBLE;
	}
	if (pool)
		free(text);
	fprintf(stderr,
		"sley stats: no query '%s'%s%s; queries are worker_stats, "
		"pool_stats and system_stats; with --pool POOL: pool_stats, "
		"methods, container_stats, container_stats:N, and "
		"container_stats:N:QUERY if its module has a monitor()\n",
		query, pool ? " of the pool " : "", pool ? pool : "");
	return STATUS_TROUBLE;
}

static int show(struct stats_command *command, const char *query)
{
	struct remote *remote = &command->remote;
	char *text;
	int err = remote_inspect(remote, command->pool ? command->pool : "",
				 query, &text);

	if (err == -ENOENT)
		return no_query(command, query);
	if (err == -ENXIO && command->pool)
		return no_container(command, query);
	if (err)
		return remote_explain(remote, err, "no figures");
	if (remote->json)
		puts(text);
	else
		print(query, text);
	free(text);
	return STATUS_OK;
}

static int run(int argc, char **argv)
{
	struct stats_command command = { .remote.command = &command_stats };
	const struct word_option options[] = {
		REMOTE_OPTIONS(&command.remote),
		{ .name = "pool", .text = &command.pool },
		{ 0 },
	};
	struct words words;
	int status = words_parse(&words, &command_stats, options, argc, argv);

	if (!status && words.nr > 1) {
		fprintf(stderr, "sley stats: unexpected '%s'\n", words.word[1]);
		status = command_usage(&command_stats);
	}
	if (!status)
		status = remote_open(&command.remote);
	if (!status)
		status = show(&command, words.nr       ? words.word[0]
					: command.pool ? "pool_stats"
						       : "system_stats");
	remote_close(&command.remote);
	return status;
}

const struct command command_stats = {
	.name = "stats",
	.arguments = "[QUERY]",
	.summary = "the figures of a daemon",
	.help = "  system_stats      the policy, and sums; the default\n"
		"  worker_stats      each worker\n"
		"  pool_stats        each pool\n"
		"  --pool POOL       of this pool: pool_stats, methods, "
		"container_stats,\n"
		"                    container_stats:N, "
		"container_stats:N:QUERY\n\n" REMOTE_HELP,
	.run = run,
};
