/* SPDX-License-Identifier: MIT */
/*
 * tour_domain.c - a stop of the tour: an urgent process overtakes two busy processes.
 *
 * The three processes are this very program (tour_member.c).  They run twice: as ordinary
 * programs, between which the kernel divides the CPUs, and as members of a domain.  The
 * host of the domain is a thread of this process, so that nothing is left if the tour is
 * killed: its members wait for a host of that kind, start none, and end with their input.
 *
 * How long the urgent work waited is shown and not judged: a busy machine makes any time
 * long.  What must hold is that all of it ran, that the busy processes got on, and that in
 * the domain cores changed hands, but not outside of it.
 */
#include "tour.h"

#include "screen.h"

#include <errno.h>
#include <sley/domain_host.h>
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE (30 * SLEY_SEC)
#define NR_BUSY 2
#define NR_MEMBERS (NR_BUSY + 1)

/* The last line of a member. */
struct figures {
	unsigned long long nr_ran;
	unsigned long long median_ns, worst_ns; /* urgent: waits              */
	unsigned long long nr_members, given, taken, overtakes;
};

struct show {
	struct figures urgent;
	struct figures busy[NR_BUSY];
};

struct cast {
	const char *socket; /* "-": no domain                                */
	char self[512];
	struct sley_program member[NR_MEMBERS]; /* the last one is urgent     */
	int nr;
};

/* ---- the processes -------------------------------------------------------------------- */

static int start_member(struct cast *cast, const char *role)
{
	const char *const argv[] = { cast->self, "tour",       "--member",
				     role,       cast->socket, NULL };
	int err = sley_program_start(
		&cast->member[cast->nr], argv,
		SLEY_PROGRAM_OPTIONS(.in = SLEY_PROGRAM_PIPE,
				     .out = SLEY_PROGRAM_PIPE,
				     .err = SLEY_PROGRAM_NOTHING));

	cast->nr += !err;
	return err;
}

/* A short line comes as a whole. */
static int read_line(const struct sley_program *member, char *line, size_t size)
{
	ssize_t nr = sley_io_read_until(member->out, line, size - 1,
					sley_after(PATIENCE));

	if (nr <= 0)
		return nr ? (int)nr : -EPIPE;
	line[nr] = '\0';
	return 0;
}

static int start_busy(struct cast *cast)
{
	char line[16];
	int err = start_member(cast, "busy");

	return err ? err
		   : read_line(&cast->member[cast->nr - 1], line, sizeof(line));
}

static int read_figures(const struct sley_program *member, struct figures *out)
{
	char line[200];
	int err = read_line(member, line, sizeof(line));

	if (err)
		return err;
	return sscanf(line, "%llu %llu %llu %llu %llu %llu %llu", &out->nr_ran,
		      &out->median_ns, &out->worst_ns, &out->nr_members,
		      &out->given, &out->taken, &out->overtakes) == 7
		       ? 0
		       : -EPROTO;
}

static int play(struct cast *cast, struct show *show)
{
	int err = 0;

	for (int i = 0; i < NR_BUSY && !err; i++)
		err = start_busy(cast);
	if (!err)
		err = start_member(cast, "urgent");
	if (!err)
		err = read_figures(&cast->member[NR_BUSY], &show->urgent);
	for (int i = 0; i < NR_BUSY && !err; i++) {
		sley_program_shut(&cast->member[i]);
		err = read_figures(&cast->member[i], &show->busy[i]);
	}
	return err;
}

static int play_all(const char *socket, struct show *show)
{
	struct cast cast = { .socket = socket };
	ssize_t length =
		readlink("/proc/self/exe", cast.self, sizeof(cast.self) - 1);
	int err;

	if (length < 0)
		return -errno;
	err = play(&cast, show);
	while (cast.nr)
		sley_program_close(&cast.member[--cast.nr]);
	return err;
}

/* ---- the domain ----------------------------------------------------------------------- */

static void ignore_line(void *self, const char *line)
{
	(void)self;
	(void)line;
}

static int play_in_domain(const char *socket, struct show *show)
{
	struct sley_domain_host *host;
	int err = sley_domain_host_create(
		&host, SLEY_DOMAIN_HOST_OPTIONS(.name = socket,
						.report = ignore_line));

	if (err)
		return err;
	err = play_all(socket, show);
	sley_domain_host_destroy(host);
	return err;
}

static int play_in_folder(struct show *show)
{
	char folder[] = "/tmp/sley-tour-XXXXXX";
	char socket[sizeof(folder) + 8], lock[sizeof(socket) + 8];
	int err;

	if (!mkdtemp(folder))
		return -errno;
	(void)snprintf(socket, sizeof(socket), "%s/sock", folder);
	(void)snprintf(lock, sizeof(lock), "%s.lock", socket);
	err = play_in_domain(socket, show);
	(void)unlink(socket);
	(void)unlink(lock);
	(void)rmdir(folder);
	return err;
}

/* ---- what came of it ------------------------------------------------------------------ */

static unsigned long long nr_given(const struct show *show)
{
	unsigned long long nr = show->urgent.given;

	for (int i = 0; i < NR_BUSY; i++)
		nr += show->busy[i].given;
	return nr;
}

/* Without a core no worker runs urgent work, unless it overtakes. */
static bool is_right(const struct show *show, unsigned int nr_members)
{
	unsigned long long nr_rights =
		show->urgent.taken + show->urgent.overtakes;

	for (int i = 0; i < NR_BUSY; i++) {
		if (!show->busy[i].nr_ran)
			return false;
	}
	return show->urgent.nr_ran == TOUR_NR_URGENT &&
	       show->urgent.nr_members == nr_members &&
	       (nr_members ? nr_rights > 0 : !nr_rights && !nr_given(show));
}

static void note_waits(struct outcome *out, const char *where,
		       const struct show *show)
{
	char median[SCREEN_NUMBER_SIZE], worst[SCREEN_NUMBER_SIZE];

	outcome_note(out, "%-19s %9s %9s %12llu %11llu", where,
		     screen_time(median, (double)show->urgent.median_ns),
		     screen_time(worst, (double)show->urgent.worst_ns),
		     nr_given(show), show->urgent.overtakes);
}

void tour_domain(struct outcome *out)
{
	struct show without = { .urgent.nr_ran = 0 };
	struct show with = { .urgent.nr_ran = 0 };
	char time[SCREEN_NUMBER_SIZE];
	int err;

	outcome_start(out);
	err = play_all("-", &without);
	if (!err)
		err = play_in_folder(&with);
	outcome_stop(out);
	if (err == -EOPNOTSUPP) {
		outcome_result(out, "not on this kernel");
		return;
	}
	if (err)
		outcome_trouble(out, "the host or a member failed: %s",
				sley_strerror(err));
	else if (!is_right(&without, 0) || !is_right(&with, NR_MEMBERS))
		outcome_trouble(out,
				"%llu and %llu of %d ran, %llu members, %llu "
				"cores handed over",
				without.urgent.nr_ran, with.urgent.nr_ran,
				TOUR_NR_URGENT, with.urgent.nr_members,
				nr_given(&with));
	outcome_result(out, "waited %s",
		       screen_time(time, (double)with.urgent.median_ns));
	outcome_note(out, "%-19s %9s %9s %12s %11s", "urgent work waited",
		     "median", "worst", "hand-overs", "overtakes");
	note_waits(out, "without a domain", &without);
	note_waits(out, "in a domain", &with);
}
