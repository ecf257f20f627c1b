/* SPDX-License-Identifier: MIT */
/*
 * main.c - sleyd: pools of a machine, for other processes.
 *
 * The order of the start is the order in which rights are given away.  The configuration
 * is read, names of users are looked up, and folders are made as the user that started the
 * daemon.  Then the process becomes the user of the daemon, for good.  Then the fork
 * server of isolated pools is made, while there is one thread.  Then system calls are
 * filtered, and only then threads start, modules are loaded and a socket is opened.
 */
#include "daemon.h"
#include "domain_only.h"
#include "filter.h"
#include "log.h"
#include "notify.h"
#include "place.h"
#include "user.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_CONFIG "/etc/sley/sleyd.yaml"

enum { STATUS_OK = 0, STATUS_TROUBLE = 1, STATUS_USAGE = 2 };

struct options {
	const char *config;
	const char *socket;
	const char *log;
	const char *domain; /* --domain-only; or NULL */
	bool check;
	bool foreground;
};

static const char help[] =
	"usage: sleyd [OPTION...]\n\n"
	"Serves pools to other processes of this machine, through shared "
	"memory.\n\n"
	"  --config FILE  the configuration; default: $SLEY_CONFIG, else\n"
	"                 " SYSTEM_CONFIG " if it is there\n"
	"  --socket PATH  where clients connect; wins over the configuration\n"
	"  --log FILE     log lines go there, not to stderr; SIGHUP opens it "
	"again\n"
	"  --check        check the configuration and its users, and end\n"
	"  --domain-only NAME\n"
	"                 host the domain NAME and nothing else, in the "
	"background, until\n"
	"                 its last member has gone\n"
	"  --foreground   stay in the foreground, as the daemon always does "
	"otherwise\n"
	"  --version, --help\n\n"
	"SIGTERM and SIGINT stop it: requests under way are answered.  A "
	"second one\n"
	"cancels them.  SIGHUP reads the users of the configuration again, "
	"and loads\n"
	"new versions of modules.  'sley daemon start' starts it in the "
	"background.\n"
	"More: man 8 sleyd.\n";

static int usage(void)
{
	fputs("Run 'sleyd --help' for its options.\n", stderr);
	return STATUS_USAGE;
}

/* -1: go on. */
static int parse(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "socket", required_argument, NULL, 's' },
		{ "log", required_argument, NULL, 'l' },
		{ "check", no_argument, NULL, 'k' },
		{ "domain-only", required_argument, NULL, 'd' },
		{ "foreground", no_argument, NULL, 'f' },
		{ "no-daemonise", no_argument, NULL, 'f' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "c:s:l:fVh", known, NULL)) !=
	       -1) {
		if (option == 'c')
			options->config = optarg;
		else if (option == 's' && !*optarg) {
			fputs("sleyd: --socket wants a path\n", stderr);
			return usage();
		} else if (option == 's')
			options->socket = optarg;
		else if (option == 'l')
			options->log = optarg;
		else if (option == 'k')
			options->check = true;
		else if (option == 'V')
			return printf("sleyd %s\n", sley_version()) < 0;
		else if (option == 'h')
			return fputs(help, stdout) < 0;
		else if (option == 'd')
			options->domain = optarg;
		else if (option == 'f')
			options->foreground = true;
		else
			return usage();
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "sleyd: unexpected '%s'\n", argv[optind]);
	return usage();
}

/* Mistakes are FILE:LINE:COLUMN, as editors like them. */
static void report_mistake(void *self, const char *line)
{
	(void)self;
	fprintf(stderr, "%s\n", line);
}

static int load(struct daemon *daemon, const struct options *options)
{
	const char *path = options->config, *named = getenv("SLEY_CONFIG");
	uint32_t flags = 0;
	struct sley_config_file *file;
	int err;

	if (!path && (!named || !*named)) {
		path = SYSTEM_CONFIG;
		flags = SLEY_CONFIG_FILE_OPTIONAL;
	}
	err = sley_config_file_load(
		&file, path,
		SLEY_CONFIG_FILE_OPTIONS(.flags = flags,
					 .report = report_mistake));
	if (err)
		return err;
	daemon->file = file;
	daemon->config = sley_config_file_daemon(file);
	daemon->config_path = path ? path : named;
	if (flags && access(path, F_OK))
		daemon->config_path = NULL;
	return 0;
}

/* A thread of its own waits for them; all threads inherit what is blocked. */
static void block_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Everything that needs the rights of the user that started the daemon. */
static int prepare(struct daemon *daemon, const struct options *options)
{
	const struct sley_config_daemon *config = daemon->config;
	const char *given = options->socket ? options->socket : config->socket;
	int err = log_open(config->name ? config->name : "sleyd", options->log);

	if (err) {
		fprintf(stderr, "sleyd: the log '%s' is not opened: %s\n",
			options->log, strerror(-err));
		return err;
	}
	daemon->socket = place_socket(given);
	if (!daemon->socket)
		return -ENOENT;
	notify_open();
	daemon->is_managed = getenv("INVOCATION_ID") && getppid() == 1;
	daemon->listen_fd = notify_socket();
	if (daemon->listen_fd < 0) {
		log_line("the service manager has to open one socket of the "
			 "type SEQPACKET: ListenSequentialPacket=PATH");
		return daemon->listen_fd;
	}
	if (!daemon->listen_fd)
		err = place_make_folder(daemon->socket, config->user);
	daemon->state_dir = config->state_dir ? config->state_dir
					      : getenv("STATE_DIRECTORY");
	if (!err && daemon->state_dir)
		err = place_make_state(daemon->state_dir, config->user);
	return err;
}

static int give_rights_away(struct daemon *daemon)
{
	const struct sley_config_daemon *config = daemon->config;
	int err = user_become(config->user);

	if (!err)
		err = rights_init(&daemon->rights, config, daemon->config_path);
	if (!err)
		err = kept_open(&daemon->kept, daemon->state_dir);
	if (err)
		return err;
	block_signals();
	err = sley_subprocesses_init();
	if (err) {
		log_line("the server of isolated pools does not start: %s",
			 sley_strerror(err));
		return err;
	}
	if (config->no_seccomp)
		return 0;
	err = filter_install();
	daemon->is_filtered = !err;
	if (err)
		log_line("system calls are not filtered: %s; 'seccomp: false' "
			 "in the configuration lets the daemon start without",
			 strerror(-err));
	return err;
}

/* "sleyd --check": all that can be wrong before anything is opened. */
static int check(struct daemon *daemon)
{
	uint32_t uid, gid;
	int err = 0;

	if (daemon->config->user &&
	    user_find(daemon->config->user, &uid, &gid)) {
		log_line("'user: %s': there is no such user",
			 daemon->config->user);
		err = -ENOENT;
	}
	err = rights_init(&daemon->rights, daemon->config, daemon->config_path)
		      ?: err;
	rights_fini(&daemon->rights);
	if (!err)
		puts("The configuration is good.");
	return err ? STATUS_TROUBLE : STATUS_OK;
}

static int run(struct daemon *daemon, const struct options *options)
{
	int status = STATUS_TROUBLE;

	daemon->kept.folder = -1;
	if (prepare(daemon, options) == 0 && give_rights_away(daemon) == 0)
		status = daemon_run(daemon);
	place_remove_folder(daemon->socket);
	kept_close(&daemon->kept);
	rights_fini(&daemon->rights);
	sley_subprocesses_exit();
	return status;
}

int main(int argc, char **argv)
{
	static char config_path[PATH_MAX], log_path[PATH_MAX];
	struct options options = { 0 };
	struct daemon daemon = { 0 };
	int status = parse(&options, argc, argv);

	if (status >= 0)
		return status;
	umask(022);
	if (options.domain)
		return domain_only(options.domain, options.foreground);
	options.log = place_absolute(options.log, log_path, sizeof(log_path));
	if (load(&daemon, &options))
		return STATUS_TROUBLE;
	daemon.config_path = place_absolute(daemon.config_path, config_path,
					    sizeof(config_path));
	daemon.log_path = options.log;
	if (options.check)
		status = check(&daemon);
	else
		status = run(&daemon, &options);
	sley_config_file_free((struct sley_config_file *)daemon.file);
	return status;
}
