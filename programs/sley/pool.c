/* SPDX-License-Identifier: MIT */
/*
 * pool.c - sley pool: the pools of a daemon.
 */
#include "flat_json.h"
#include "pool_make.h"
#include "remote.h"
#include "screen.h"
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pool_command {
	struct remote remote;
	struct pool_make make;
	const char *timeout, *version;
	uint64_t deadline_ns; /* 0: none                                     */
	uint64_t to_version;
};

static int list(void *self, const char *const *words, int nr)
{
	static const char *const keys[] = { "name",    "module",     "version",
					    "phase",   "containers", "open",
					    "drained", "down",       "inside",
					    "waiting", NULL };
	struct pool_command *command = self;
	struct remote *remote = &command->remote;
	struct table table;
	char *text;
	int err = remote_inspect(remote, "", "pool_stats", &text);

	(void)words;
	(void)nr;
	if (err)
		return remote_explain(remote, err, "the pools are not listed");
	table_of_json(&table, json_member(text, "pools"), keys);
	table_print(&table, remote->json);
	table_free(&table);
	free(text);
	return STATUS_OK;
}

static int create(void *self, const char *const *words, int nr)
{
	struct pool_command *command = self;
	char name[SLEY_POOL_NAME_MAX + 1];
	int err;

	(void)nr;
	if (pool_make_name(words[0]))
		return STATUS_USAGE;
	err = pool_make_send(&command->make, &command->remote, words[0],
			     words[1]);
	if (err)
		return pool_make_explain(&command->make, &command->remote, err,
					 words[0], words[1]);
	snprintf(name, sizeof(name), "%s", words[0]);
	if (!command->remote.json)
		printf("The pool '%s' is there%s.\n", screen_clean(name),
		       command->make.keep ? ", and comes again after a restart"
					  : "");
	return STATUS_OK;
}

static int compose(void *self, const char *const *words, int nr)
{
	struct pool_command *command = self;

	(void)nr;
	return pool_make_file(&command->remote, words[0]);
}

/* ---- requests about a pool, or a container ------------------------------------------------ */

static int call(struct pool_command *command, uint32_t method, const char *pool,
		uint32_t container)
{
	struct sley_admin_target in = {
		.container = container,
		.version = method == SLEY_ADMIN_UPGRADE
				   ? (uint32_t)command->to_version
				   : 0,
	};

	if (remote_name(in.pool, sizeof(in.pool), pool))
		return -ENAMETOOLONG;
	return remote_call(&command->remote, "admin",
			   SLEY_REQUEST(.method = method, .in = &in,
					.in_size = sizeof(in),
					.deadline_ns = command->deadline_ns),
			   NULL);
}

/* What a code means for a pool or a container; NULL: no more than its text. */
static const char *reason(uint32_t method, int err)
{
	switch (err) {
	case -EPERM:
		return "the daemon itself needs this pool";
	case -EALREADY:
		return method == SLEY_ADMIN_DRAIN
			       ? "it is drained already, or another command "
				 "drains it"
			       : NULL;
	case -EBUSY:
		return "another command upgrades it";
	case -EOPNOTSUPP:
		return "the pool is isolated: destroy it, and create it again";
	case -EINVAL:
		return method == SLEY_ADMIN_OPEN ? "it is not drained"
		       : method == SLEY_ADMIN_UPGRADE
			       ? "there is no newer version of its module with "
				 "an upgrade() for it; 'sley module refresh' "
				 "looks for new files"
			       : NULL;
	default:
		return NULL;
	}
}

static int explain_pool(struct pool_command *command, uint32_t method, int err,
			const char *pool, const char *not_done)
{
	if (err == -ENOENT)
		return remote_no_pool(&command->remote, pool);
	return remote_explain_as(&command->remote, err, reason(method, err),
				 "the pool '%s' is not %s", pool, not_done);
}

/* The file of kept pools is not written: not an error of any other request. */
static int destroy(void *self, const char *const *words, int nr)
{
	struct pool_command *command = self;
	int err = call(command, SLEY_ADMIN_DESTROY, words[0], 0);

	(void)nr;
	if (!pool_make_is_unkept(err))
		return explain_pool(command, SLEY_ADMIN_DESTROY, err, words[0],
				    "destroyed");
	return remote_explain(&command->remote, err,
			      "the pool '%s' is destroyed, and comes again "
			      "after a restart, since the file of kept pools "
			      "is not written",
			      words[0]);
}

/* For the whole pool. */
static int call_pool(struct pool_command *command, uint32_t method,
		     const char *pool, const char *not_done)
{
	return explain_pool(command, method, call(command, method, pool, 0),
			    pool, not_done);
}

static int flush(void *self, const char *const *words, int nr)
{
	(void)nr;
	return call_pool(self, SLEY_ADMIN_FLUSH, words[0], "flushed");
}

static int count_containers(struct pool_command *command, const char *pool,
			    uint64_t *nr)
{
	char *text, number[32];
	int err = remote_inspect(&command->remote, pool, "pool_stats", &text);

	if (err == -ENOENT)
		return remote_no_pool(&command->remote, pool);
	if (err)
		return remote_explain(&command->remote, err,
				      "the containers of '%s' are not counted "
				      "(the number of one works, too)",
				      pool);
	json_show(json_member(text, "containers"), number, sizeof(number));
	*nr = strtoull(number, NULL, 10);
	free(text);
	return STATUS_OK;
}

static int no_container(struct pool_command *command, const char *pool,
			uint32_t container)
{
	uint64_t nr;
	int status = count_containers(command, pool, &nr);

	if (status)
		return status;
	fprintf(stderr, "sley pool: the pool '%s' has no container %u: it has ",
		pool, container);
	if (nr == 1)
		fputs("1 container, number 0\n", stderr);
	else
		fprintf(stderr, "%llu, from 0 to %llu\n",
			(unsigned long long)nr, (unsigned long long)nr - 1);
	return STATUS_TROUBLE;
}

/* For one container. */
static int call_one(struct pool_command *command, uint32_t method,
		    const char *pool, uint32_t container, const char *not_done)
{
	int err = call(command, method, pool, container);
	char version[96];
	const char *why = reason(method, err);

	if (err == -ENOENT)
		return remote_no_pool(&command->remote, pool);
	if (err == -ENXIO)
		return no_container(command, pool, container);
	if (err == -ESRCH) {
		snprintf(version, sizeof(version),
			 "there is no version %u of its module; 'sley module "
			 "list' shows all",
			 (uint32_t)command->to_version);
		why = version;
	}
	return remote_explain_as(&command->remote, err, why,
				 "container %u of '%s' %s", container, pool,
				 not_done);
}

typedef int container_fn(struct pool_command *command, const char *pool,
			 uint32_t container);

static int drain_one(struct pool_command *command, const char *pool,
		     uint32_t container)
{
	return call_one(command, SLEY_ADMIN_DRAIN, pool, container,
			"is not drained");
}

static int open_one(struct pool_command *command, const char *pool,
		    uint32_t container)
{
	return call_one(command, SLEY_ADMIN_OPEN, pool, container,
			"is not opened");
}

/* A container serves again, whether its upgrade succeeds or not. */
static int upgrade_one(struct pool_command *command, const char *pool,
		       uint32_t container)
{
	int status = drain_one(command, pool, container), opened;

	if (status)
		return status;
	status = call_one(command, SLEY_ADMIN_UPGRADE, pool, container,
			  "keeps its version");
	opened = open_one(command, pool, container);
	return status ? status : opened;
}

/* For one container, or for all: one after the other, until one fails. */
static int each(struct pool_command *command, const char *const *words, int nr,
		container_fn *fn)
{
	uint64_t first = 0, end = 0;
	int status;

	if (nr > 1) {
		status = words_number(command->remote.command, "the container",
				      words[1], UINT32_MAX - 1, &first);
		end = first + 1;
	} else {
		status = count_containers(command, words[0], &end);
	}
	for (; !status && first < end; first++)
		status = fn(command, words[0], (uint32_t)first);
	return status;
}

static int drain(void *self, const char *const *words, int nr)
{
	return each(self, words, nr, drain_one);
}

static int open_again(void *self, const char *const *words, int nr)
{
	return each(self, words, nr, open_one);
}

static int upgrade(void *self, const char *const *words, int nr)
{
	return each(self, words, nr, upgrade_one);
}

/* ------------------------------------------------------------------------------------------ */

static int take_numbers(void *self)
{
	struct pool_command *command = self;
	uint64_t ms = 0;
	int status = STATUS_OK;

	if (command->timeout)
		status = words_number(command->remote.command, "--timeout",
				      command->timeout, UINT32_MAX, &ms);
	if (!status && command->timeout)
		command->deadline_ns = sley_after(ms * SLEY_MSEC);
	if (!status && command->version)
		status = words_number(command->remote.command, "--version",
				      command->version, UINT32_MAX,
				      &command->to_version);
	return status ? status
		      : pool_make_numbers(&command->make,
					  command->remote.command);
}

static int run(int argc, char **argv)
{
	static const struct subcommand subcommands[] = {
		{ "list", "", 0, 0, list },
		{ "create", "POOL MODULE [OPTION...]", 2, 2, create },
		{ "destroy", "POOL", 1, 1, destroy },
		{ "flush", "POOL [--timeout MS]", 1, 1, flush },
		{ "drain", "POOL [CONTAINER] [--timeout MS]", 1, 2, drain },
		{ "open", "POOL [CONTAINER]", 1, 2, open_again },
		{ "upgrade", "POOL [CONTAINER] [--version N]", 1, 2, upgrade },
		{ "compose", "FILE", 1, 1, compose },
	};
	struct pool_command command = { .remote.command = &command_pool };
	const struct word_option options[] = {
		REMOTE_OPTIONS(&command.remote),
		POOL_MAKE_OPTIONS(&command.make),
		{ .name = "timeout", .text = &command.timeout },
		{ .name = "version", .text = &command.version },
		{ 0 },
	};
	const struct remote_words words = {
		.options = options,
		.subcommands = subcommands,
		.nr = sizeof(subcommands) / sizeof(*subcommands),
		.prepare = take_numbers,
		.self = &command,
	};
	int status = remote_run(&command.remote, &words, argc, argv);

	pool_make_free(&command.make);
	return status;
}

const struct command command_pool = {
	.name = "pool",
	.arguments = "list|create|...",
	.summary = "the pools of a daemon",
	.help = "  list                          all pools\n"
		"  create POOL MODULE            make a pool:\n"
		"      --containers N            with so many containers\n"
		"      --param NAME=VALUE        a parameter of the module; "
		"several are allowed\n"
		"      --keep                    it comes again after a "
		"restart of the daemon\n"
		"      --isolated                each container in a process "
		"of its own;\n"
		"      --max-restarts N, --limit MS   for these\n"
		"  compose FILE                  make the pools of a "
		"configuration file; those\n"
		"                                with 'restart: true' are "
		"kept\n"
		"  destroy POOL\n"
		"  flush POOL                    wait until it has no "
		"requests\n"
		"  drain POOL [CONTAINER]        complete requests, take no "
		"others\n"
		"  open POOL [CONTAINER]         end of the drain\n"
		"  upgrade POOL [CONTAINER]      drain, upgrade and open, one "
		"container after the\n"
		"                                other; --version N, default "
		"the newest\n\n"
		"  --timeout MS    give up then\n" REMOTE_HELP,
	.run = run,
};
