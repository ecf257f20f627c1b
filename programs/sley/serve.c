/* SPDX-License-Identifier: MIT */
/*
 * serve.c - sley serve: a folder, over HTTP.
 */
#include "command.h"
#include "serve_files.h"

#include <errno.h>
#include <signal.h>
#include <sley/sley.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Requests under way have so long when the server is asked to stop. */
#define DRAIN_S 10

struct serve {
	const char *folder;
	const char *address;
	struct serve_files files;
	struct sley_http_server server;
	sigset_t signals;
	int err;
};

static int usage(const char *trouble, const char *word)
{
	fprintf(stderr, "sley serve: %s '%s'\n", trouble, word);
	return command_usage(&command_serve);
}

static int parse(struct serve *serve, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--list") == 0) {
			serve->files.lists = true;
		} else if (strcmp(argv[i], "--dot-files") == 0) {
			serve->files.dot_files = true;
		} else if (strcmp(argv[i], "--listen") == 0) {
			if (++i == argc)
				return usage("no address behind", argv[i - 1]);
			serve->address = argv[i];
		} else if (argv[i][0] == '-' || serve->folder) {
			return usage("unexpected", argv[i]);
		} else {
			serve->folder = argv[i];
		}
	}
	return serve->folder ? STATUS_OK : command_usage(&command_serve);
}

static int explain_folder(const struct serve *serve, int err)
{
	fprintf(stderr, "sley serve: cannot open the folder '%s': %s\n",
		serve->folder, sley_strerror(err));
	if (err == -ENOSYS)
		fputs("The kernel has no openat2(2), which keeps requests "
		      "inside of the folder.\nLinux 5.6 and later have it; a "
		      "sandbox may forbid it.\n",
		      stderr);
	return STATUS_TROUBLE;
}

static void explain_address(const struct serve *serve, int err)
{
	fprintf(stderr, "sley serve: cannot listen at '%s': %s\n",
		serve->address, sley_strerror(err));
	if (err == -EADDRINUSE)
		fputs("Another program listens there.  Choose another port, or "
		      "let the system choose: --listen 127.0.0.1:0\n",
		      stderr);
	else if (err == -EACCES)
		fputs("Ports below 1024 are for root.  Choose another one: "
		      "--listen 127.0.0.1:8080\n",
		      stderr);
	else
		fputs("An address is 127.0.0.1:8080, [::1]:8080, :8080 for all "
		      "networks, or unix:/path.\n",
		      stderr);
}

/* Waits for a signal, and asks the server to stop. */
static int wait_for_signal(void *arg)
{
	struct serve *serve = arg;
	int signal = sley_signal_wait(&serve->signals);

	if (signal < 0)
		return signal;
	fprintf(stderr, "sley serve: %s; requests under way are answered\n",
		strsignal(signal));
	if (sley_http_server_stop_until(&serve->server,
					sley_after(DRAIN_S * SLEY_SEC)))
		fprintf(stderr,
			"sley serve: requests that took longer than %d s were "
			"cut off\n",
			DRAIN_S);
	return 0;
}

static void run(void *arg)
{
	struct serve *serve = arg;
	struct sley_scope scope;
	struct sley_task stopper;
	char address[256];

	serve->err = sley_http_server_open(&serve->server, serve->address,
					   serve_files_answer, &serve->files,
					   NULL);
	if (serve->err) {
		explain_address(serve, serve->err);
		return;
	}
	if (sley_http_server_address(&serve->server, address, sizeof(address)) <
	    0)
		snprintf(address, sizeof(address), "%s", serve->address);
	printf("Serving '%s' at %s%s/\nCtrl-C stops.\n", serve->folder,
	       strncmp(address, "unix:", 5) == 0 ? "" : "http://", address);
	fflush(stdout);
	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &stopper, wait_for_signal, serve);
	serve->err = sley_http_server_run(&serve->server);
	if (serve->err && serve->err != -ECANCELED)
		fprintf(stderr, "sley serve: %s\n", sley_strerror(serve->err));
	else
		serve->err = 0;
	if (serve->err)
		sley_scope_cancel(&scope);
	(void)!sley_scope_close(&scope);
}

static int serve_command(int argc, char **argv)
{
	struct serve serve = { .address = "127.0.0.1:8080" };
	int err = parse(&serve, argc, argv);

	if (err)
		return err;
	err = serve_files_open(&serve.files, serve.folder);
	if (err)
		return explain_folder(&serve, err);
	/* Before the first thread: threads inherit what is blocked. */
	sigemptyset(&serve.signals);
	sigaddset(&serve.signals, SIGINT);
	sigaddset(&serve.signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &serve.signals, NULL);
	err = sley_run(NULL, run, &serve);
	if (err)
		fprintf(stderr, "sley serve: cannot start: %s\n",
			sley_strerror(err));
	close(serve.files.folder);
	return err || serve.err ? STATUS_TROUBLE : STATUS_OK;
}

const struct command command_serve = {
	.name = "serve",
	.arguments = "DIR [OPTION...]",
	.summary = "serve the files of a folder over HTTP",
	.help = "Serves the files of DIR at http://127.0.0.1:8080/, to this "
		"machine alone.\n"
		"Ctrl-C and SIGTERM stop it; requests under way get their "
		"answers.\n\n"
		"  --listen ADDRESS  listen there: 0.0.0.0:80, [::]:8080, "
		"unix:/path;\n"
		"                    with port 0 the system chooses\n"
		"  --list            list folders that have no index.html\n"
		"  --dot-files       serve names that begin with a dot, too\n\n"
		"Nothing outside of DIR is served, whatever a path or a "
		"symbolic link says.\n"
		"All else that is readable is served to everyone who can "
		"connect: there is no\n"
		"password and no encryption.\n",
	.run = serve_command,
};
