/* SPDX-License-Identifier: MIT */
/*
 * admin_cases.h - cases of C44 for any admin pool: of a router in this process, and of a
 * daemon, through a client.
 */
#ifndef SLEY_TESTS_CONFORMANCE_MODULES_ADMIN_CASES_H
#define SLEY_TESTS_CONFORMANCE_MODULES_ADMIN_CASES_H

#include "conformance/bound.h"

#include <sley/admin.h>

/* The code of a request with an IN part. */
int admin_ask(struct sley_pool *admin, uint32_t method, const void *in,
	      size_t size);

/* The same about a pool, and perhaps a container. */
int admin_ask_pool(struct sley_pool *admin, uint32_t method, const char *pool,
		   uint32_t container);

/* @name is a pool of two containers. */
void admin_refuses_the_unknown(struct sley_pool *admin, const char *name);
void admin_refuses_other_sizes(struct sley_pool *admin, const char *name);

/*
 * @pool is the same pool, of version 1 of a module that has a version 2, too, and whose
 * method @echo returns 0.
 */
void admin_upgrades_a_container(struct sley_pool *admin, struct sley_pool *pool,
				uint32_t echo);

#endif
