/* SPDX-License-Identifier: MIT */
/*
 * client.c - sley client: the clients of a daemon.
 */
#include "remote.h"
#include "table.h"

#include "../sleyd/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client_command {
	struct remote remote;
	const char *reason;
};

static void add_client(struct table *table,
		       const struct sley_server_client *client)
{
	uint64_t now = sley_now();
	uint64_t age = client->connected_ns < now ? now - client->connected_ns
						  : 0;

	table_add(table, "%llu", (unsigned long long)client->session);
	table_add(table, "%d", client->pid);
	table_add(table, "%u", client->uid);
	table_add(table, "%.*s", (int)strnlen(client->name, SLEY_CLIENT_NAME),
		  client->name);
	table_add(table, "%llu", (unsigned long long)client->nr_requests);
	table_add(table, "%llu", (unsigned long long)client->nr_in_flight);
	table_add(table, "%u", client->depth);
	table_add(table, "%u", client->nr_pools);
	table_add(table, "%llu", (unsigned long long)client->segment_bytes);
	table_add(table, "%llu", (unsigned long long)(age / SLEY_SEC));
}

static int list(void *self, const char *const *words, int nr)
{
	static const char *const headings[] = {
		"session",       "pid",       "uid",   "name",
		"requests",      "in_flight", "depth", "pools",
		"segment_bytes", "seconds",   NULL
	};
	struct client_command *command = self;
	struct remote *remote = &command->remote;
	struct table table;
	char *answer;
	size_t size;
	int err = remote_ask(remote, CONTROL_MODULE,
			     SLEY_REQUEST(.method = CONTROL_CLIENTS), &answer,
			     &size);

	(void)words;
	(void)nr;
	if (err)
		return remote_explain(remote, err,
				      "the clients are not listed");
	table_init(&table, headings);
	for (size_t at = 0; at + sizeof(struct sley_server_client) <= size;
	     at += sizeof(struct sley_server_client)) {
		struct sley_server_client client;

		memcpy(&client, answer + at, sizeof(client));
		add_client(&table, &client);
	}
	table_print(&table, remote->json);
	table_free(&table);
	free(answer);
	return STATUS_OK;
}

static int eject(void *self, const char *const *words, int nr)
{
	struct client_command *command = self;
	struct remote *remote = &command->remote;
	struct control_eject in = { 0 };
	int err;

	(void)nr;
	if (words_count(remote->command, "the session", words[0], UINT64_MAX,
			&in.session))
		return STATUS_USAGE;
	snprintf(in.reason, sizeof(in.reason), "%s",
		 command->reason ? command->reason
				 : "an operator has ended the session");
	err = remote_call(remote, CONTROL_MODULE,
			  SLEY_REQUEST(.method = CONTROL_EJECT, .in = &in,
				       .in_size = sizeof(in)),
			  NULL);
	if (err == -ENOENT) {
		fprintf(stderr,
			"sley client: there is no session %s; 'sley client "
			"list' shows all\n",
			words[0]);
		return STATUS_TROUBLE;
	}
	return remote_explain(remote, err, "session %s is not ended", words[0]);
}

static int run(int argc, char **argv)
{
	static const struct subcommand subcommands[] = {
		{ "list", "", 0, 0, list },
		{ "eject", "SESSION [--reason TEXT]", 1, 1, eject },
	};
	struct client_command command = { .remote.command = &command_client };
	const struct word_option options[] = {
		REMOTE_OPTIONS(&command.remote),
		{ .name = "reason", .text = &command.reason },
		{ 0 },
	};
	const struct remote_words words = {
		.options = options,
		.subcommands = subcommands,
		.nr = sizeof(subcommands) / sizeof(*subcommands),
		.self = &command,
	};

	return remote_run(&command.remote, &words, argc, argv);
}

const struct command command_client = {
	.name = "client",
	.arguments = "list|eject",
	.summary = "the clients of a daemon",
	.help = "  list             all clients: other processes, and this "
		"command\n"
		"  eject SESSION    end the session of a client; its requests "
		"are cancelled, and a\n"
		"                   client that is meant well connects again\n"
		"      --reason TEXT    for the client and for the log\n\n" REMOTE_HELP,
	.run = run,
};
