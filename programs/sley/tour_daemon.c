/* SPDX-License-Identifier: MIT */
/*
 * tour_daemon.c - a stop of the tour: a daemon and two clients; one client and the daemon
 * are killed.
 *
 * The daemon is the program sleyd with a pool of the module kv.  A client is this very
 * program (tour_client.c).  The first client is killed.  Then the daemon is killed, while
 * requests of the second client are under way, and another daemon starts at the same
 * socket.  The second client goes on, and nothing that was acknowledged may be missing in
 * its count.
 */
#include "tour.h"

#include "screen.h"

#include <errno.h>
#include <signal.h>
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE (20 * SLEY_SEC)

/* What the client says at its end. */
struct tally {
	unsigned long long acknowledged, answered, failed;
};

struct scene {
	char self[512]; /* this program                                     */
	char daemon[512];
	char folder[64];
	char socket[96];
	char config[96];
	struct sley_program sleyd;
	struct sley_program clients[2];
};

static const char config_text[] = "compose:\n"
				  "  - mod_name: kv\n"
				  "    pool_name: tour\n"
				  "    containers: 4\n";

static int write_config(const struct scene *scene)
{
	FILE *file = fopen(scene->config, "we");

	if (!file)
		return -errno;
	fputs(config_text, file);
	return fclose(file) ? -errno : 0;
}

/* The daemon is beside this program, or where the system has its daemons. */
static int find_programs(struct scene *scene)
{
	ssize_t length = readlink("/proc/self/exe", scene->self,
				  sizeof(scene->self) - 1);
	char *slash;

	if (length < 0)
		return -errno;
	slash = strrchr(scene->self, '/');
	(void)snprintf(scene->daemon, sizeof(scene->daemon), "%.*s/sleyd",
		       (int)(slash - scene->self), scene->self);
	if (access(scene->daemon, X_OK))
		(void)snprintf(scene->daemon, sizeof(scene->daemon),
			       "%.*s/../sbin/sleyd", (int)(slash - scene->self),
			       scene->self);
	return access(scene->daemon, X_OK) ? -ENOENT : 0;
}

static int make_folder(struct scene *scene)
{
	(void)snprintf(scene->folder, sizeof(scene->folder),
		       "/tmp/sley-tour-XXXXXX");
	if (!mkdtemp(scene->folder))
		return -errno;
	(void)snprintf(scene->socket, sizeof(scene->socket), "%s/sock",
		       scene->folder);
	(void)snprintf(scene->config, sizeof(scene->config), "%s/yaml",
		       scene->folder);
	return write_config(scene);
}

static void remove_folder(const struct scene *scene)
{
	char lock[128];

	(void)snprintf(lock, sizeof(lock), "%s.lock", scene->socket);
	(void)unlink(scene->config);
	(void)unlink(scene->socket);
	(void)unlink(lock);
	(void)rmdir(scene->folder);
}

static int start_daemon(struct scene *scene)
{
	const char *const argv[] = { scene->daemon, "--config",
				     scene->config, "--socket",
				     scene->socket, NULL };

	return sley_program_start(
		&scene->sleyd, argv,
		SLEY_PROGRAM_OPTIONS(.in = SLEY_PROGRAM_NOTHING,
				     .err = SLEY_PROGRAM_NOTHING));
}

static int start_client(struct scene *scene, int i)
{
	const char *const argv[] = { scene->self, "tour", "--client",
				     scene->socket, NULL };

	return sley_program_start(
		&scene->clients[i], argv,
		SLEY_PROGRAM_OPTIONS(.in = SLEY_PROGRAM_PIPE,
				     .out = SLEY_PROGRAM_PIPE,
				     .err = SLEY_PROGRAM_NOTHING));
}

/* What the client wrote, up to now; a short line comes as a whole. */
static int read_line(const struct scene *scene, int i, char *line, size_t size)
{
	ssize_t nr = sley_io_read_until(scene->clients[i].out, line, size - 1,
					sley_after(PATIENCE));

	if (nr <= 0)
		return nr ? (int)nr : -EPIPE;
	line[nr] = '\0';
	return 0;
}

/* SIGKILL: nothing can be put in order before the end. */
static int kill_program(struct sley_program *program)
{
	struct sley_program_end end;
	int err = sley_program_signal(program, SIGKILL);

	return err ? err
		   : sley_program_wait_until(program, &end,
					     sley_after(PATIENCE));
}

static int kill_both(struct scene *scene)
{
	char line[64];
	int err = read_line(scene, 0, line, sizeof(line));

	if (!err)
		err = read_line(scene, 1, line, sizeof(line));
	if (!err)
		err = kill_program(&scene->clients[0]);
	if (!err)
		err = kill_program(&scene->sleyd);
	if (err)
		return err;
	sley_program_close(&scene->sleyd);
	err = start_daemon(scene);
	/* The client says that it is under way again. */
	return err ? err : read_line(scene, 1, line, sizeof(line));
}

/* The client that lives ends with its input. */
static int count_answers(struct scene *scene, struct tally *tally)
{
	char line[64];
	int err;

	sley_program_shut(&scene->clients[1]);
	err = read_line(scene, 1, line, sizeof(line));
	if (err)
		return err;
	return sscanf(line, "%llu %llu %llu", &tally->acknowledged,
		      &tally->answered, &tally->failed) == 3
		       ? 0
		       : -EPROTO;
}

static int play(struct scene *scene, struct tally *tally)
{
	int err = start_client(scene, 0);

	if (err)
		return err;
	err = start_client(scene, 1);
	if (!err) {
		err = kill_both(scene);
		if (!err)
			err = count_answers(scene, tally);
		sley_program_close(&scene->clients[1]);
	}
	sley_program_close(&scene->clients[0]);
	return err;
}

/* SIGTERM: the daemon ends in order, and leaves no file behind. */
static int stop_daemon(struct scene *scene)
{
	struct sley_program_end end;
	int err = sley_program_signal(&scene->sleyd, SIGTERM);

	if (!err)
		err = sley_program_wait_until(&scene->sleyd, &end,
					      sley_after(PATIENCE));
	if (!err && (!end.exited || end.code))
		err = -EPROTO;
	if (!err && !access(scene->socket, F_OK))
		err = -EEXIST;
	sley_program_close(&scene->sleyd);
	return err;
}

static int run_scene(struct scene *scene, struct tally *tally)
{
	int err = make_folder(scene), stop_err;

	if (err)
		return err;
	err = start_daemon(scene);
	if (!err) {
		err = play(scene, tally);
		stop_err = stop_daemon(scene);
		err = err ? err : stop_err;
	}
	remove_folder(scene);
	return err;
}

void tour_daemon(struct outcome *out)
{
	struct scene scene = { .folder = "" };
	char number[SCREEN_NUMBER_SIZE];
	struct tally tally = { 0 };
	int err = find_programs(&scene);

	if (err) {
		outcome_trouble(out,
				"there is no program %s: build it with "
				"libyaml",
				scene.daemon);
		return;
	}
	outcome_start(out);
	err = run_scene(&scene, &tally);
	outcome_stop(out);
	if (err)
		outcome_trouble(out, "the daemon or a client failed: %s",
				sley_strerror(err));
	if (tally.answered != tally.acknowledged || tally.failed)
		outcome_trouble(out,
				"%llu acknowledged, %llu answered, %llu failed",
				tally.acknowledged, tally.answered,
				tally.failed);
	outcome_result(out, "%s, none lost",
		       screen_count(number, tally.answered));
	outcome_note(out,
		     "a client and the daemon were killed (SIGKILL); the next "
		     "daemon took over");
}
