/* SPDX-License-Identifier: MIT */
/*
 * rights.h - what each user may do.
 *
 * The names in the configuration are looked up when the daemon starts, and again when it is
 * told to: a question to the databases of users may take long, and the rights of a client
 * are asked for on a worker.  Of a group the members are looked up, too; a user whose first group it is
 * counts as well.
 *
 * Root and the user of the daemon may all.  Other users may what the entries say that name
 * them; without an entry, nothing, not even connect.
 *
 * Rights of several entries add up.  What a user's work counts for says the first entry that
 * names the user and has the key: so an exception stands before the rule.  The most urgent
 * priority holds for members of the domain and for requests.
 */
#ifndef SLEYD_RIGHTS_H
#define SLEYD_RIGHTS_H

#include <sley/config_file.h>
#include <sley/domain_host.h>
#include <sley/server.h>

#define RIGHTS_ALL                                                             \
	(SLEY_CONFIG_MAY_SUBMIT | SLEY_CONFIG_MAY_CREATE |                     \
	 SLEY_CONFIG_MAY_UPGRADE | SLEY_CONFIG_MAY_STOP |                      \
	 SLEY_CONFIG_MAY_LOOK | SLEY_CONFIG_MAY_JOIN)

struct right; /* of a user or a group */

struct rights {
	struct right *list;
	size_t nr;
	uint32_t own_uid;
};

/*
 * Looks up all names of @daemon.  0; -ENOENT: a user or a group does not exist, and the
 * log has a line with its place in @file; -ENOMEM.
 */
int rights_init(struct rights *rights, const struct sley_config_daemon *daemon,
		const char *file);
void rights_fini(struct rights *rights);

/* What is asked from now on is answered by @next; @rights and @next change places. */
void rights_swap(struct rights *rights, struct rights *next);

/* Bits of enum sley_config_right. */
uint32_t rights_of(const struct rights *rights, uint32_t uid, uint32_t gid);

/*
 * For struct sley_server_options and struct sley_domain_host_options, with the struct rights
 * as .self.
 */
bool rights_join(void *self, const struct sley_domain_peer *peer);
void rights_terms(void *self, const struct sley_domain_peer *peer,
		  struct sley_domain_terms *terms);
bool rights_connect(void *self, const struct sley_server_peer *peer);
bool rights_make(void *self, const struct sley_server_peer *peer,
		 const char *pool, const char *module);
uint64_t rights_use(void *self, const struct sley_server_peer *peer,
		    const char *pool, const char *module);
int32_t rights_most_urgent(void *self, const struct sley_server_peer *peer);

#endif
