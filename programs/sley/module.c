/* SPDX-License-Identifier: MIT */
/*
 * module.c - sley module: the modules of a daemon.
 */
#include "flat_json.h"
#include "remote.h"
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int list(void *self, const char *const *words, int nr)
{
	static const char *const keys[] = { "name", "version", NULL };
	struct remote *remote = self;
	struct table table;
	char *text;
	int err = remote_inspect(remote, "", "system_stats", &text);

	(void)words;
	(void)nr;
	if (err)
		return remote_explain(remote, err,
				      "the modules are not listed");
	table_of_json(&table, json_member(text, "modules"), keys);
	table_print(&table, remote->json);
	table_free(&table);
	free(text);
	return STATUS_OK;
}

static int refresh(void *self, const char *const *words, int nr)
{
	struct remote *remote = self;
	uint32_t found = 0;
	int err = remote_call(remote, "admin",
			      SLEY_REQUEST(.method = SLEY_ADMIN_REFRESH,
					   .out = &found,
					   .out_size = sizeof(found)),
			      NULL);

	(void)words;
	(void)nr;
	if (err)
		return remote_explain(remote, err,
				      err == -EACCES
					      ? "modules are not looked for"
					      : "not all modules were loaded "
						"again (the log of the daemon "
						"names them)");
	if (remote->json)
		printf("{\"new\":%u}\n", found);
	else
		printf("%u new version%s%s\n", found, found == 1 ? "" : "s",
		       found ? "; 'sley pool upgrade POOL' uses it" : ".");
	return STATUS_OK;
}

static int run(int argc, char **argv)
{
	static const struct subcommand subcommands[] = {
		{ "list", "", 0, 0, list },
		{ "refresh", "", 0, 0, refresh },
	};
	struct remote remote = { .command = &command_module };
	const struct word_option options[] = { REMOTE_OPTIONS(&remote), { 0 } };
	const struct remote_words words = {
		.options = options,
		.subcommands = subcommands,
		.nr = sizeof(subcommands) / sizeof(*subcommands),
		.self = &remote,
	};

	return remote_run(&remote, &words, argc, argv);
}

const struct command command_module = {
	.name = "module",
	.arguments = "list|refresh",
	.summary = "the modules of a daemon",
	.help = "  list       the modules that were added or loaded, with "
		"their versions\n"
		"  refresh    look for new files of modules that were loaded; "
		"'sley pool upgrade'\n"
		"             gives them to pools\n\n" REMOTE_HELP,
	.run = run,
};
