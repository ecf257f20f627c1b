/* SPDX-License-Identifier: MIT */
/*
 * remote.c - see remote.h.
 */
#include "remote.h"

#include "screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_FIRST (16u << 10)
#define ANSWER_MAX (64u << 20)
#define TEXT_MAX 256

static void take_line(void *self, const char *line)
{
	static const char begin[] = "client: ";
	struct remote *remote = self;

	if (strncmp(line, begin, strlen(begin)) == 0)
		line += strlen(begin);
	snprintf(remote->line, sizeof(remote->line), "%s", line);
}

static bool is_missing(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED || err == -EHOSTDOWN;
}

int remote_open(struct remote *remote)
{
	int err = sley_client_open(
		&remote->client,
		SLEY_CLIENT_OPTIONS(.socket = remote->socket, .name = "sley",
				    .depth = 16,
				    .reconnect_ns = SLEY_CLIENT_NO_RECONNECT,
				    .report = take_line,
				    .report_self = remote));

	remote->err = err;
	if (!err)
		return STATUS_OK;
	if (!is_missing(err) || !remote->quiet)
		fprintf(stderr, "sley %s: %s\n", remote->command->name,
			*remote->line ? remote->line : sley_strerror(err));
	return is_missing(err) ? STATUS_NO_DAEMON : STATUS_TROUBLE;
}

void remote_close(struct remote *remote)
{
	if (remote->client)
		(void)!sley_client_close(remote->client);
	remote->client = NULL;
}

int remote_run(struct remote *remote, const struct remote_words *known,
	       int argc, char **argv)
{
	const struct subcommand *found;
	struct words words;
	int status = words_parse(&words, remote->command, known->options, argc,
				 argv);

	if (status)
		return status;
	found = words_find(&words, remote->command, known->subcommands,
			   known->nr);
	if (!found)
		return STATUS_USAGE;
	if (known->prepare)
		status = known->prepare(known->self);
	if (!status)
		status = remote_open(remote);
	if (!status)
		status = found->run(known->self, words.word + 1, words.nr - 1);
	remote_close(remote);
	return status;
}

int remote_name(char *field, size_t size, const char *name)
{
	size_t length = strlen(name);

	if (length >= size)
		return -ENAMETOOLONG;
	memcpy(field, name, length + 1);
	return 0;
}

int remote_call(struct remote *remote, const char *name,
		const struct sley_request_spec *spec, size_t *out_size)
{
	struct sley_pool *pool;
	int err = sley_client_pool_open(remote->client, &pool, name, NULL);

	if (err)
		return err;
	err = sley_pool_call(pool, spec, out_size);
	sley_pool_close(pool);
	return err;
}

int remote_ask(struct remote *remote, const char *pool,
	       const struct sley_request_spec *spec, char **out, size_t *size)
{
	struct sley_request_spec asked = *spec;
	size_t room = ANSWER_FIRST;
	int err;

	do {
		*out = calloc(1, room + 1);
		if (!*out)
			return -ENOMEM;
		asked.out = *out;
		asked.out_size = room;
		err = remote_call(remote, pool, &asked, size);
		if (err >= 0)
			return err;
		free(*out);
		room *= 8;
	} while (err == -EMSGSIZE && room <= ANSWER_MAX);
	return err;
}

int remote_inspect(struct remote *remote, const char *pool, const char *query,
		   char **text)
{
	struct sley_admin_query in = { 0 };
	size_t size;

	if (remote_name(in.pool, sizeof(in.pool), pool) ||
	    remote_name(in.query, sizeof(in.query), query))
		return -ENAMETOOLONG;
	return remote_ask(remote, "admin",
			  SLEY_REQUEST(.method = SLEY_ADMIN_INSPECT, .in = &in,
				       .in_size = sizeof(in)),
			  text, &size);
}

/* What to do about errors whose text does not tell. */
static const char *advice(int err)
{
	switch (err) {
	case -EACCES:
		return "your user may not do this; 'users:' in the "
		       "configuration of the daemon says who may";
	case -EHOSTDOWN:
		return "the daemon has ended; 'sley daemon start' starts one";
	case -ETIMEDOUT:
		return "it took too long";
	case -EDEADLK:
		return "a request to the pool of the daemon itself would wait "
		       "for itself";
	case -ECONNABORTED:
		return "the daemon has ended the session";
	case -ECANCELED:
		return "it was cancelled: the daemon stops, or an operator has "
		       "ended the session";
	case SLEY_ECHILD:
		return "the subprocess that should run it has ended; the log of "
		       "the daemon says why";
	default:
		return sley_strerror(err);
	}
}

static int explain(const struct remote *remote, int err, const char *why,
		   const char *format, va_list values)
{
	char text[1024];

	if (err >= 0)
		return STATUS_OK;
	vsnprintf(text, sizeof(text), format, values);
	fprintf(stderr, "sley %s: %s: ", remote->command->name,
		screen_clean(text));
	snprintf(text, sizeof(text), "%s", why ? why : advice(err));
	fprintf(stderr, "%s\n", screen_clean(text));
	return err == -EHOSTDOWN ? STATUS_NO_DAEMON : STATUS_TROUBLE;
}

int remote_explain(const struct remote *remote, int err, const char *format,
		   ...)
{
	va_list values;
	int status;

	va_start(values, format);
	status = explain(remote, err, NULL, format, values);
	va_end(values);
	return status;
}

int remote_explain_as(const struct remote *remote, int err, const char *why,
		      const char *format, ...)
{
	va_list values;
	int status;

	va_start(values, format);
	status = explain(remote, err, why, format, values);
	va_end(values);
	return status;
}

int remote_no_pool(const struct remote *remote, const char *pool)
{
	char name[TEXT_MAX];

	snprintf(name, sizeof(name), "%s", pool);
	fprintf(stderr,
		"sley %s: the daemon has no pool '%s'; 'sley pool list' shows "
		"all\n",
		remote->command->name, screen_clean(name));
	return STATUS_TROUBLE;
}
