/* SPDX-License-Identifier: MIT */
/*
 * place.c - see place.h.
 */
#include "domain/place.h"

#include "os/clock.h"
#include "os/env.h"
#include "os/eventfd.h"
#include "os/program.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_FOLDER "/run/sley"
#define FILE_PREFIX "domain-"
#define START_NS 10000000000ull /* until the program must listen */

/* Where the daemon was installed: src/CMakeLists.txt. */
#ifndef SLEYD_PATH
#define SLEYD_PATH ""
#endif

/* ---- names --------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";
	size_t length = strlen(name);

	return length && length <= DOMAIN_NAME_MAX && *name != '.' &&
	       strspn(name, letters) == length;
}

static int add(struct domain_place *place, const char *folder, const char *name)
{
	int length = snprintf(place->path[place->nr], DOMAIN_PATH_SIZE,
			      "%s/" FILE_PREFIX "%s", folder, name);

	if (length >= (int)DOMAIN_PATH_SIZE)
		return -ENAMETOOLONG;
	place->nr++;
	return 0;
}

static int find_of_user(struct domain_place *place, const char *name)
{
	const char *runtime = os_env("XDG_RUNTIME_DIR");
	char folder[DOMAIN_PATH_SIZE];
	int err = 0;

	place->own = -1;
	if (runtime && *runtime == '/') {
		if (snprintf(folder, sizeof(folder), "%s/sley", runtime) >=
		    (int)sizeof(folder))
			return -ENAMETOOLONG;
		err = add(place, folder, name);
		place->own = 0;
	}
	return err ?: add(place, SYSTEM_FOLDER, name);
}

int domain_place_find(struct domain_place *out, const char *name)
{
	*out = (struct domain_place){ .own = 0 };
	if (strlen(name) > OS_LOCAL_PATH_MAX)
		return *name == '/' ? -ENAMETOOLONG : -EINVAL;
	memcpy(out->name, name, strlen(name) + 1);
	if (*name == '/') {
		memcpy(out->path[0], out->name, sizeof(out->name));
		out->nr = 1;
		return 0;
	}
	if (!is_name(name))
		return -EINVAL;
	return geteuid() ? find_of_user(out, name)
			 : add(out, SYSTEM_FOLDER, name);
}

int domain_place_prepare(const struct domain_place *place)
{
	if (place->own < 0)
		return -ENOENT;
	return os_local_make_folder(place->path[place->own],
				    !geteuid() ? 0755 : 0700);
}

/* ---- a host -------------------------------------------------------------------------- */

/* The programs to try, in this order; NULL: none. */
static void find_programs(const char *out[2])
{
	const char *given = os_env("SLEY_SLEYD");

	out[0] = out[1] = NULL;
	if (given && *given) {
		out[0] = given;
		return;
	}
	if (*SLEYD_PATH)
		out[0] = SLEYD_PATH;
	/* A program with more rights than its caller does not look into $PATH. */
	if (os_env("PATH"))
		out[1] = "sleyd";
}

static int start(const char *program, const char *name, int *pidfd)
{
	const char *argv[] = { program, "--domain-only", name, NULL };
	const struct os_program start = {
		.argv = argv,
		.directory = "/",
		.fd = { -1, -1, -1 },
	};

	return os_program_start(&start, pidfd);
}

/* The program has ended: 0 if a host listens now. */
static int result_of(int pidfd)
{
	bool exited;
	int code;

	/* A program that waits for all of its children has heard it instead of us. */
	if (os_program_reap(pidfd, &exited, &code) == -ECHILD)
		return 0;
	return exited && !code ? 0 : -EPIPE;
}

static int wait_for(int pidfd, int cancel)
{
	uint64_t deadline_ns = os_now() + START_NS;
	unsigned int ready;

	/* A signal ends the sleep early. */
	do
		ready = os_poll_two(pidfd, cancel, deadline_ns);
	while (!ready && os_now() < deadline_ns);
	if (ready & OS_POLL_FIRST)
		return result_of(pidfd);
	(void)!os_program_signal(pidfd, SIGKILL);
	os_program_end(pidfd);
	return ready ? -ECANCELED : -ETIMEDOUT;
}

int domain_place_host(const struct domain_place *place, int cancel)
{
	const char *programs[2];
	int pidfd, err = -ENOENT;

	if (place->own < 0)
		return -ENOENT;
	find_programs(programs);
	for (int i = 0; i < 2 && err == -ENOENT; i++) {
		if (programs[i])
			err = start(programs[i], place->name, &pidfd);
	}
	if (err < 0)
		return err;
	err = wait_for(pidfd, cancel);
	os_close(pidfd);
	return err;
}
