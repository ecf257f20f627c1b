/* SPDX-License-Identifier: MIT */
/*
 * daemon.c - sley daemon: start, stop, look at and restart a daemon of this machine.
 */
#include "daemon_start.h"
#include "flat_json.h"
#include "peer.h"
#include "remote.h"
#include "screen.h"

#include "../sleyd/control.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* After the grace period the daemon has so long to end. */
#define END_MS 15000
#define GRACE_MS 10000 /* of a daemon that does not tell */

struct daemon_command {
	struct remote remote;
	struct daemon_start start;
	const char *grace;
	bool now;
	uint64_t grace_ms;
};

/* ---- status --------------------------------------------------------------------------- */

static int ask_status(struct remote *remote, struct control_status *status)
{
	size_t size = 0;
	int err = remote_call(remote, CONTROL_MODULE,
			      SLEY_REQUEST(.method = CONTROL_STATUS,
					   .out = status,
					   .out_size = sizeof(*status)),
			      &size);

	if (!err && size != sizeof(*status))
		err = -EPROTO;
	if (err)
		return err;
	/* Texts of another process end where we say. */
	status->name[sizeof(status->name) - 1] = '\0';
	status->version[sizeof(status->version) - 1] = '\0';
	status->socket[sizeof(status->socket) - 1] = '\0';
	status->config[sizeof(status->config) - 1] = '\0';
	status->log[sizeof(status->log) - 1] = '\0';
	status->state_dir[sizeof(status->state_dir) - 1] = '\0';
	return 0;
}

static void print_text(const char *name, const char *text)
{
	printf("%-12s %s\n", name, *text ? text : "-");
}

static void print_number(const char *name, uint64_t number)
{
	char text[SCREEN_NUMBER_SIZE];

	printf("%-12s %s\n", name, screen_count(text, number));
}

static void print_status(const struct control_status *status)
{
	char text[SCREEN_NUMBER_SIZE];

	print_text("state",
		   status->flags & CONTROL_STOPPING ? "stopping" : "serving");
	printf("%-12s %u\n", "pid", status->pid);
	printf("%-12s %u\n", "uid", status->uid);
	print_text("name", status->name);
	print_text("version", status->version);
	print_text("socket", status->socket);
	print_text("config", status->config);
	print_text("log", status->log);
	print_text("state_dir", status->state_dir);
	print_text("seccomp", status->flags & CONTROL_FILTERED ? "on" : "off");
	print_text("uptime", screen_time(text, (double)status->uptime_ns));
	printf("%-12s %u ms\n", "grace", status->grace_ms);
	print_number("workers", status->nr_workers);
	print_number("pools", status->nr_pools);
	print_number("clients", status->nr_clients);
	print_number("accepted", status->nr_accepted);
	print_number("refused", status->nr_refused);
	print_number("ejected", status->nr_ejected);
	print_number("requests", status->nr_requests);
	print_number("in flight", status->nr_in_flight);
	print_number("segments", status->segment_bytes);
}

static void put_member(const char *name, const char *text)
{
	printf(",\"%s\":", name);
	json_put(stdout, text, strlen(text));
}

static void put_status(const struct control_status *status)
{
	printf("{\"state\":\"%s\",\"pid\":%u,\"uid\":%u",
	       status->flags & CONTROL_STOPPING ? "stopping" : "serving",
	       status->pid, status->uid);
	put_member("name", status->name);
	put_member("version", status->version);
	put_member("socket", status->socket);
	put_member("config", status->config);
	put_member("log", status->log);
	put_member("state_dir", status->state_dir);
	printf(",\"seccomp\":%s,\"managed\":%s,\"uptime_ns\":%llu,"
	       "\"grace_ms\":%u,\"workers\":%u,\"pools\":%u,\"clients\":%u,"
	       "\"accepted\":%llu,\"refused\":%llu,\"ejected\":%llu,"
	       "\"requests\":%llu,\"in_flight\":%llu,"
	       "\"segment_bytes\":%llu}\n",
	       status->flags & CONTROL_FILTERED ? "true" : "false",
	       status->flags & CONTROL_MANAGED ? "true" : "false",
	       (unsigned long long)status->uptime_ns, status->grace_ms,
	       status->nr_workers, status->nr_pools, status->nr_clients,
	       (unsigned long long)status->nr_accepted,
	       (unsigned long long)status->nr_refused,
	       (unsigned long long)status->nr_ejected,
	       (unsigned long long)status->nr_requests,
	       (unsigned long long)status->nr_in_flight,
	       (unsigned long long)status->segment_bytes);
}

/*
 * Nobody serves there: a line, which the library has, with the path; or JSON.
 * STATUS_NO_DAEMON, or STATUS_TROUBLE: a daemon has lost its socket.
 */
static int say_none(const struct remote *remote)
{
	struct peer peer;
	int holder;

	if (peer_find(&peer, remote->socket, PEER_STOPPING)) {
		printf(remote->json ? "{\"state\":\"stopping\",\"pid\":%d}\n"
				    : "The daemon, process %d, is stopping.\n",
		       peer.pid);
		peer_close(&peer);
		return STATUS_NO_DAEMON;
	}
	holder = peer_holder(peer.path);
	if (holder) {
		if (remote->json)
			printf("{\"state\":\"lost\",\"pid\":%d}\n", holder);
		else
			printf("process %d holds %s.lock, though %s is gone: "
			       "end it by `kill %d`\n",
			       holder, peer.path, peer.path, holder);
		return STATUS_TROUBLE;
	}
	if (remote->json)
		puts("{\"state\":\"none\"}");
	else
		printf("%c%s\n", toupper((unsigned char)remote->line[0]),
		       remote->line + 1);
	return STATUS_NO_DAEMON;
}

static int show_status(void *self, const char *const *words, int nr)
{
	struct daemon_command *command = self;
	struct remote *remote = &command->remote;
	struct control_status status;
	int result, err;

	(void)words;
	(void)nr;
	remote->quiet = true;
	result = remote_open(remote);
	if (result == STATUS_NO_DAEMON) {
		(void)say_none(remote);
		return result;
	}
	if (result)
		return result;
	err = ask_status(remote, &status);
	if (err)
		return remote_explain(remote, err,
				      "the daemon does not tell its status");
	if (remote->json)
		put_status(&status);
	else
		print_status(&status);
	return STATUS_OK;
}

/* ---- stop ------------------------------------------------------------------------------ */

/*
 * A handle of the daemon's process, by which its end is seen: the session is still there,
 * so the number is still that of the daemon.
 */
static int open_process(struct remote *remote)
{
	struct sley_client_info info = { .size = sizeof(info) };

	if (sley_client_inspect(remote->client, &info) || !info.daemon_pid)
		return -1;
	return (int)syscall(SYS_pidfd_open, (int)info.daemon_pid, 0);
}

/* Waits for the end of the process.  False: it still runs. */
static bool wait_for_end(int process, uint64_t ms)
{
	struct pollfd end = { .fd = process, .events = POLLIN };
	int result;

	do {
		result = poll(&end, 1, ms > INT32_MAX ? INT32_MAX : (int)ms);
	} while (result < 0 && errno == EINTR);
	return result > 0;
}

static int await_end(int process, uint64_t grace_ms)
{
	if (wait_for_end(process, grace_ms + END_MS))
		return STATUS_OK;
	fprintf(stderr, "sley daemon: the process still runs; its log tells "
			"more, and 'kill -9' ends it\n");
	return STATUS_TROUBLE;
}

/*
 * The daemon does not answer.  It hears signals also while methods hold its workers; a
 * process under SIGSTOP hears them after SIGCONT.
 */
static int stop_silent(struct daemon_command *command)
{
	struct peer peer;
	int result;

	if (!peer_find(&peer, command->remote.socket, ""))
		return STATUS_TROUBLE;
	/* Another signal is the second request, which ends the grace period. */
	if (peer_signal(&peer, SIGTERM) ||
	    (command->now && peer_signal(&peer, SIGINT)) ||
	    peer_signal(&peer, SIGCONT)) {
		fprintf(stderr, "sley daemon: process %d gets no signal: %s\n",
			peer.pid, strerror(errno));
		result = STATUS_TROUBLE;
	} else {
		fprintf(stderr,
			"sley daemon: process %d has got SIGTERM; waiting for "
			"its end\n",
			peer.pid);
		result = await_end(peer.process, command->now ? 0 : GRACE_MS);
	}
	peer_close(&peer);
	return result;
}

/* The daemon has been asked to stop before.  STATUS_NO_DAEMON: there is none. */
static int stop_again(struct daemon_command *command)
{
	struct peer peer;
	int result;

	if (!peer_find(&peer, command->remote.socket, PEER_STOPPING))
		return STATUS_NO_DAEMON;
	fprintf(stderr,
		"sley daemon: the daemon, process %d, is stopping already; "
		"waiting for its end%s\n",
		peer.pid, command->now ? "" : " (--now hurries it)");
	if (command->now && peer_signal(&peer, SIGTERM)) {
		fprintf(stderr, "sley daemon: process %d gets no signal: %s\n",
			peer.pid, strerror(errno));
		result = STATUS_TROUBLE;
	} else {
		/* Only the daemon knows the length of its grace period. */
		result = await_end(peer.process,
				   command->now ? 0 : INT32_MAX - END_MS);
	}
	peer_close(&peer);
	return result;
}

/* STATUS_NO_DAEMON: there was none. */
static int stop_daemon(struct daemon_command *command,
		       struct control_status *status)
{
	struct remote *remote = &command->remote;
	const struct control_stop in = {
		.grace_ms = (uint32_t)command->grace_ms,
		.flags = command->now ? CONTROL_NOW : 0,
	};
	uint64_t grace_ms;
	int process, err, result;

	*status = (struct control_status){ 0 };
	remote->quiet = true;
	result = remote_open(remote);
	if (result && remote->err == -ETIMEDOUT)
		return stop_silent(command);
	if (result == STATUS_NO_DAEMON)
		return stop_again(command);
	if (result)
		return result;
	process = open_process(remote);
	err = ask_status(remote, status);
	if (err == -EACCES) { /* the user may stop, and not look */
		*status = (struct control_status){ .grace_ms = GRACE_MS };
		err = 0;
	}
	if (!err)
		err = remote_call(remote, CONTROL_MODULE,
				  SLEY_REQUEST(.method = CONTROL_STOP,
					       .in = &in,
					       .in_size = sizeof(in)),
				  NULL);
	remote_close(remote);
	result = remote_explain(remote, err, "the daemon does not stop");
	grace_ms = command->now        ? 0
		   : command->grace_ms ? command->grace_ms
				       : status->grace_ms;
	if (!result && process >= 0)
		result = await_end(process, grace_ms);
	if (process >= 0)
		close(process);
	return result;
}

static int stop(void *self, const char *const *words, int nr)
{
	struct daemon_command *command = self;
	struct control_status status;
	int result = stop_daemon(command, &status);

	(void)words;
	(void)nr;
	if (result == STATUS_NO_DAEMON)
		/* Without a daemon, all is as was asked for. */
		return say_none(&command->remote) == STATUS_TROUBLE
			       ? STATUS_TROUBLE
			       : STATUS_OK;
	if (!result && !command->remote.json)
		printf("The daemon%s%s has ended.\n",
		       *status.socket ? " at " : "", status.socket);
	return result;
}

/* ---- start ----------------------------------------------------------------------------- */

static int start(void *self, const char *const *words, int nr)
{
	struct daemon_command *command = self;

	(void)words;
	(void)nr;
	command->start.socket = command->remote.socket;
	return daemon_start(&command->start, command->remote.json);
}

static int restart(void *self, const char *const *words, int nr)
{
	struct daemon_command *command = self;
	struct control_status status = { 0 };
	int result = stop_daemon(command, &status);

	if (result == STATUS_OK && status.flags & CONTROL_MANAGED) {
		puts("systemd has started this daemon, and is to start it "
		     "again: systemctl restart sleyd");
		return STATUS_OK;
	}
	if (result != STATUS_OK && result != STATUS_NO_DAEMON)
		return result;
	if (result == STATUS_NO_DAEMON && !command->remote.json)
		puts("No daemon ran.");
	if (!command->start.config && *status.config)
		command->start.config = status.config;
	if (!command->start.log && *status.log)
		command->start.log = status.log;
	if (!command->remote.socket && *status.socket)
		command->remote.socket = status.socket;
	return start(command, words, nr);
}

static int run(int argc, char **argv)
{
	static const struct subcommand subcommands[] = {
		{ "start", "[--config FILE] [--log FILE]", 0, 0, start },
		{ "stop", "[--grace MS] [--now]", 0, 0, stop },
		{ "status", "", 0, 0, show_status },
		{ "restart", "[--grace MS] [--now]", 0, 0, restart },
	};
	struct daemon_command command = { .remote.command = &command_daemon };
	const struct word_option options[] = {
		REMOTE_OPTIONS(&command.remote),
		{ .name = "config", .text = &command.start.config },
		{ .name = "log", .text = &command.start.log },
		{ .name = "grace", .text = &command.grace },
		{ .name = "now", .flag = &command.now },
		{ 0 },
	};
	const struct subcommand *found;
	struct words words;
	int status = words_parse(&words, &command_daemon, options, argc, argv);

	if (status)
		return status;
	found = words_find(&words, &command_daemon, subcommands,
			   sizeof(subcommands) / sizeof(*subcommands));
	if (!found)
		return STATUS_USAGE;
	if (command.grace)
		status = words_number(&command_daemon, "--grace", command.grace,
				      3600000, &command.grace_ms);
	if (!status)
		status = found->run(&command, words.word + 1, words.nr - 1);
	remote_close(&command.remote);
	return status;
}

const struct command command_daemon = {
	.name = "daemon",
	.arguments = "start|stop|...",
	.summary = "start, stop or look at a daemon",
	.help = "  start            start sleyd in the background, and wait "
		"until it serves\n"
		"      --config FILE    its configuration\n"
		"      --log FILE       its log; without it, lines after the "
		"start are lost\n"
		"  stop             requests under way are answered; says so "
		"if none runs\n"
		"      --grace MS       they have so long\n"
		"      --now            they are cancelled\n"
		"  status           what it does; the exit status is 3 if none "
		"runs\n"
		"  restart          stop, and start with the same "
		"configuration; clients stay\n\n" REMOTE_HELP
		"\nman 8 sleyd and docs/DAEMON.md are about the daemon "
		"itself.\n",
	.run = run,
};
