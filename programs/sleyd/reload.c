/* SPDX-License-Identifier: MIT */
/*
 * reload.c - see reload.h.
 */
#include "reload.h"

#include "log.h"

#include <sley/blocking.h>
#include <stdlib.h>
#include <unistd.h>

/* Clients that may come while there is memory made for those that are there. */
#define MORE 16u

struct reading {
	const struct daemon *daemon;
	struct rights rights;
	int err;
};

/* Files and databases are read: on a thread that may block. */
static void read_rights(void *arg)
{
	struct reading *reading = arg;
	const char *path = reading->daemon->config_path;
	struct sley_config_file *file;

	reading->err = sley_config_file_load(
		&file, path, SLEY_CONFIG_FILE_OPTIONS(.report = log_report));
	if (reading->err)
		return;
	reading->err = rights_init(&reading->rights,
				   sley_config_file_daemon(file), path);
	sley_config_file_free(file);
}

static bool has_lost(const struct daemon *daemon, const struct rights *last,
		     const struct sley_server_client *client)
{
	uint32_t had = rights_of(last, client->uid, client->gid);

	return had & ~rights_of(&daemon->rights, client->uid, client->gid);
}

/* With the lock: the server is there.  How many. */
static uint32_t eject(struct daemon *daemon, const struct rights *last,
		      struct sley_server_client *clients, uint32_t room)
{
	uint32_t nr = sley_server_clients(daemon->stopped, clients, room);
	uint32_t nr_ejected = 0;

	for (uint32_t i = 0; i < nr && i < room; i++) {
		if (has_lost(daemon, last, &clients[i]) &&
		    sley_server_eject(daemon->stopped, clients[i].session,
				      "its user has lost rights") == 0)
			nr_ejected++;
	}
	return nr_ejected;
}

/*
 * A client has the rights with which it has opened its pools.  So a client that has lost one
 * is ejected, and comes again with those that are left.
 */
static uint32_t eject_losers(struct daemon *daemon, const struct rights *last)
{
	struct sley_server_client *clients = NULL;
	uint32_t nr_ejected = 0, room;

	sley_mutex_lock(&daemon->lock);
	if (daemon->stopped) {
		/* Clients that come from now on have the new rights. */
		room = sley_server_clients(daemon->stopped, NULL, 0) + MORE;
		clients = calloc(room, sizeof(*clients));
		if (clients)
			nr_ejected = eject(daemon, last, clients, room);
		else
			log_line("hang-up: no memory: clients keep the rights "
				 "that they have until they connect again");
	}
	sley_mutex_unlock(&daemon->lock);
	free(clients);
	return nr_ejected;
}

/* Members keep their cores, and clients their pools: they get what they may have now. */
static void refresh(struct daemon *daemon)
{
	if (daemon->domain)
		sley_domain_host_refresh(daemon->domain);
	sley_mutex_lock(&daemon->lock);
	if (daemon->stopped)
		sley_server_refresh(daemon->stopped);
	sley_mutex_unlock(&daemon->lock);
}

void reload_users(struct daemon *daemon)
{
	struct reading reading = { .daemon = daemon };
	int err;

	if (!daemon->config_path)
		return;
	err = sley_blocking_call(read_rights, &reading) ?: reading.err;
	if (err) {
		log_line(access(daemon->config_path, R_OK)
				 ? "hang-up: the users are as before: '%s' "
				   "cannot be read"
				 : "hang-up: the users are as before: '%s' "
				   "has the mistakes above",
			 daemon->config_path);
		return;
	}
	rights_swap(&daemon->rights, &reading.rights);
	refresh(daemon);
	log_line("hang-up: the users of '%s' count from now on; %u clients "
		 "have lost rights and are ejected",
		 daemon->config_path, eject_losers(daemon, &reading.rights));
	rights_fini(&reading.rights);
}
