/* SPDX-License-Identifier: MIT */
/*
 * domain.c - sley domain: the members of a domain, once or again and again.
 *
 * With --watch, columns that count show what was added since the last look, so that a row
 * says what happens now.  A member that was not there then shows all that it has counted.
 */
#include "screen.h"
#include "table.h"
#include "words.h"

#include <errno.h>
#include <sley/domain.h>
#include <sley/domain_host.h>
#include <sley/error.h>
#include <sley/task.h>
#include <sley/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 1000000u
#define EVERY_MAX_MS 3600000u
#define COLUMNS_ALWAYS 14

struct look {
	struct sley_domain_member member[SLEY_DOMAIN_MEMBERS_MAX];
	uint32_t nr;
	uint32_t nr_cores;
};

struct domain_command {
	const char *name;
	bool json;
	bool watch;
	const char *rounds; /* --rounds: how often; or NULL                  */
	const char *every;  /* --every: milliseconds; or NULL                */
	uint64_t nr_rounds;
	uint64_t every_ms;
	bool clears; /* the screen, before each look                         */
	struct look now, last;
};

/* ---- a table ------------------------------------------------------------------------- */

/* Of one look before: the same member; or a member that has done nothing. */
static struct sley_domain_member find_last(const struct look *last,
					   const struct sley_domain_member *now)
{
	for (uint32_t i = 0; i < last->nr; i++) {
		if (last->member[i].index == now->index &&
		    last->member[i].pid == now->pid)
			return last->member[i];
	}
	return (struct sley_domain_member){ .index = now->index };
}

static void add_count(struct table *table, uint64_t now, uint64_t last)
{
	table_add(table, "%llu",
		  (unsigned long long)(now > last ? now - last : 0));
}

/* The most urgent level with ready work, as a priority; "-": none. */
static void add_level(struct table *table, uint64_t levels)
{
	if (!levels)
		table_add(table, "-");
	else
		table_add(table, "%d", __builtin_ctzll(levels) - 32);
}

/* Of the waits that have ended since the last look, in microseconds. */
static void add_wait(struct table *table, const struct sley_domain_member *now,
		     const struct sley_domain_member *last)
{
	uint64_t nr = now->waits - last->waits;
	uint64_t ns = now->wait_ns - last->wait_ns;

	table_add(table, "%llu",
		  (unsigned long long)(nr && now->waits > last->waits
					       ? ns / nr / SLEY_USEC
					       : 0));
}

static void add_member(struct table *table,
		       const struct sley_domain_member *now,
		       const struct sley_domain_member *last)
{
	table_add(table, "%d", now->pid);
	table_add(table, "%u", now->uid);
	table_add(table, "%.*s",
		  (int)strnlen(now->program, SLEY_DOMAIN_PROGRAM),
		  now->program);
	table_add(table, "%s", now->strict ? "strict" : "relaxed");
	table_add(table, "%u", now->nr_workers);
	table_add(table, "%u", now->nr_held);
	table_add(table, "%u", now->nr_waiting);
	add_level(table, now->levels);
	add_count(table, now->given, last->given);
	add_count(table, now->taken, last->taken);
	add_count(table, now->in_vain, last->in_vain);
	add_count(table, now->overtakes, last->overtakes);
	add_count(table, now->waits, last->waits);
	add_wait(table, now, last);
}

/* What the host lets its work count for. */
static void add_terms(struct table *table, const struct sley_domain_member *now)
{
	if (now->most_urgent == SLEY_PRIORITY_MIN)
		table_add(table, "-");
	else
		table_add(table, "%d", now->most_urgent);
	table_add(table, "%u", now->share);
}

static bool has_terms(const struct look *now)
{
	for (uint32_t i = 0; i < now->nr; i++) {
		if (now->member[i].most_urgent != SLEY_PRIORITY_MIN ||
		    now->member[i].share != SLEY_DOMAIN_SHARE)
			return true;
	}
	return false;
}

static void print(const struct domain_command *command)
{
	const char *headings[] = { "pid",     "uid",     "program", "mode",
				   "workers", "cores",   "waiting", "level",
				   "given",   "taken",   "vain",    "over",
				   "waits",   "wait_us", "limit",   "share",
				   NULL };
	const struct look *now = &command->now;
	bool terms = command->json || has_terms(now);
	struct table table;

	if (!terms)
		headings[COLUMNS_ALWAYS] = NULL;
	table_init(&table, headings);
	for (uint32_t i = 0; i < now->nr; i++) {
		struct sley_domain_member last =
			find_last(&command->last, &now->member[i]);

		add_member(&table, &now->member[i], &last);
		if (terms)
			add_terms(&table, &now->member[i]);
	}
	if (command->clears)
		fputs("\033[H\033[J", stdout);
	if (!command->json)
		printf("domain %s: %u of %u members, %u cores\n\n",
		       command->name, now->nr, SLEY_DOMAIN_MEMBERS_MAX,
		       now->nr_cores);
	table_print(&table, command->json);
	table_free(&table);
	fflush(stdout);
}

/* ---- looking ------------------------------------------------------------------------- */

static int explain(const struct domain_command *command, int err)
{
	if (err == -ENOENT) {
		fprintf(stderr,
			"sley domain: nobody hosts the domain '%s'; the first "
			"program that runs with SLEY_DOMAIN=%s does\n",
			command->name, command->name);
		return STATUS_NO_DAEMON;
	}
	fprintf(stderr, "sley domain: the domain '%s' is not listed: %s\n",
		command->name,
		err == -EINVAL   ? "it has no good name: up to 31 letters, "
				   "digits, '-', '_' and '.', or a path"
		: err == -EACCES ? "its host lets this user not in"
				 : sley_strerror(err));
	return err == -EINVAL ? STATUS_USAGE : STATUS_TROUBLE;
}

static int look(struct domain_command *command)
{
	struct look *now = &command->now;
	int nr = sley_domain_list(command->name, now->member,
				  SLEY_DOMAIN_MEMBERS_MAX, &now->nr_cores);

	if (nr < 0)
		return explain(command, nr);
	now->nr = (uint32_t)nr;
	print(command);
	command->last = *now;
	return STATUS_OK;
}

static int look_again(struct domain_command *command)
{
	const struct timespec pause = {
		.tv_sec = (time_t)(command->every_ms / 1000),
		.tv_nsec = (long)(command->every_ms % 1000) * 1000000,
	};
	int status = look(command);

	for (uint64_t i = 1; i < command->nr_rounds && !status; i++) {
		nanosleep(&pause, NULL);
		status = look(command);
	}
	return status;
}

/* ---- words --------------------------------------------------------------------------- */

static int check(struct domain_command *command, const struct words *words)
{
	const char *named = getenv("SLEY_DOMAIN");

	if (words->nr > 1) {
		fprintf(stderr, "sley domain: unexpected '%s'\n",
			words->word[1]);
		return command_usage(&command_domain);
	}
	command->name = words->nr ? words->word[0] : named;
	if (!command->name || !*command->name) {
		fputs("sley domain: which domain?  Name it, or set "
		      "SLEY_DOMAIN\n",
		      stderr);
		return command_usage(&command_domain);
	}
	if ((command->rounds || command->every) && !command->watch) {
		fputs("sley domain: --rounds and --every need --watch\n",
		      stderr);
		return command_usage(&command_domain);
	}
	return STATUS_OK;
}

static int read_numbers(struct domain_command *command)
{
	int status = STATUS_OK;

	command->nr_rounds = command->watch ? UINT64_MAX : 1;
	command->every_ms = 1000;
	if (command->rounds)
		status = words_count(&command_domain, "--rounds",
				     command->rounds, ROUNDS_MAX,
				     &command->nr_rounds);
	if (!status && command->every)
		status = words_count(&command_domain, "--every", command->every,
				     EVERY_MAX_MS, &command->every_ms);
	return status;
}

static int run(int argc, char **argv)
{
	static struct domain_command command;
	const struct word_option options[] = {
		{ .name = "json", .flag = &command.json },
		{ .name = "watch", .flag = &command.watch },
		{ .name = "rounds", .text = &command.rounds },
		{ .name = "every", .text = &command.every },
		{ 0 },
	};
	struct words words;
	int status = words_parse(&words, &command_domain, options, argc, argv);

	if (!status)
		status = check(&command, &words);
	if (!status)
		status = read_numbers(&command);
	if (status)
		return status;
	command.clears = command.watch && !command.json && isatty(1);
	return look_again(&command);
}

const struct command command_domain = {
	.name = "domain",
	.arguments = "[NAME]",
	.summary = "the programs that share the cores of a domain",
	.help = "NAME is a domain, or the path of its socket; default: "
		"$SLEY_DOMAIN.\n\n"
		"  --watch       again every second; columns that count show "
		"what was added\n"
		"  --every MS    the same, every so many milliseconds\n"
		"  --rounds N    the same, so often\n"
		"  --json        for programs\n\n"
		"  workers  cores  waiting   threads; cores that it has; workers "
		"that wait for one\n"
		"  level                     the most urgent priority that has "
		"ready work\n"
		"  given  taken              cores handed over to others, and got "
		"from others\n"
		"  vain                      of these, without use\n"
		"  over                      urgent work that ran without a core\n"
		"  waits  wait_us            waits for a core, and their mean\n"
		"  limit  share              what the host lets its work count "
		"for: the most\n"
		"                            urgent priority, and the share "
		"among equals; shown\n"
		"                            where they are not the usual ones\n",
	.run = run,
};
