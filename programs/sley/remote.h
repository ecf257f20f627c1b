/* SPDX-License-Identifier: MIT */
/*
 * remote.h - a daemon, as the commands that talk to one see it.
 *
 * All such commands have the options --socket and --json.  An error is a line on stderr
 * that says what to do, and the exit status: STATUS_NO_DAEMON if there is no daemon.
 */
#ifndef SLEY_PROGRAM_REMOTE_H
#define SLEY_PROGRAM_REMOTE_H

#include "command.h"
#include "words.h"

#include <sley/client.h>
#include <sley/sley.h>

struct remote {
	const struct command *command;
	const char *socket; /* --socket; or NULL                             */
	bool json;          /* --json                                        */
	bool quiet;         /* a daemon that is missing is no mistake        */
	struct sley_client *client;
	int err;        /* of the attempt to connect                         */
	char line[448]; /* what the library said last                        */
};

/* The options of all commands, for the list of a command. */
#define REMOTE_OPTIONS(remote)                                                 \
	{ .name = "socket", .text = &(remote)->socket },                       \
	{                                                                      \
		.name = "json", .flag = &(remote)->json                        \
	}

/* For the help of all commands. */
#define REMOTE_HELP                                                            \
	"  --socket PATH   the daemon there; default: $SLEY_SOCKET, "          \
	"$XDG_RUNTIME_DIR/sley/\n"                                             \
	"                  sleyd.sock if it is there, else "                   \
	"/run/sley/sleyd.sock\n"                                               \
	"  --json          for programs\n"

/* Connects.  STATUS_OK, or another status, with a line; .err has the error. */
int remote_open(struct remote *remote);
void remote_close(struct remote *remote);

/* What a command knows. */
struct remote_words {
	const struct word_option *options;
	const struct subcommand *subcommands;
	size_t nr;
	int (*prepare)(void *self); /* before it connects; NULL: nothing     */
	void *self;                 /* for .prepare and the subcommands      */
};

/* A whole command: takes its words apart, connects, and runs the subcommand. */
int remote_run(struct remote *remote, const struct remote_words *known,
	       int argc, char **argv);

/* Writes a name into a field of a request.  0, or -ENAMETOOLONG. */
int remote_name(char *field, size_t size, const char *name);

/*
 * Sends a request to the pool @name, and waits for it.  *@out_size, which may be NULL, gets
 * the length of the answer.  The code of the request, or an error.
 */
int remote_call(struct remote *remote, const char *pool,
		const struct sley_request_spec *spec, size_t *out_size);

/*
 * The same for an answer of which nobody knows the length: *@out gets it, with a 0 behind;
 * the caller frees it.  Only for methods that may run twice.
 */
int remote_ask(struct remote *remote, const char *pool,
	       const struct sley_request_spec *spec, char **out, size_t *size);

/* The answer to a query of <sley/pool_inspect.h>; @pool may be "": the router. */
int remote_inspect(struct remote *remote, const char *pool, const char *query,
		   char **text);

/*
 * Says on stderr that @what has failed, and what to do.  Returns the status; STATUS_OK,
 * without a line, if @err is 0.
 */
int remote_explain(const struct remote *remote, int err, const char *format,
		   ...) __attribute__((format(printf, 3, 4)));

/* The same with the reason @why, if it is not NULL: the caller knows more than the code. */
int remote_explain_as(const struct remote *remote, int err, const char *why,
		      const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* There is no such pool: STATUS_TROUBLE. */
int remote_no_pool(const struct remote *remote, const char *pool);

#endif
