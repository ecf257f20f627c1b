/* SPDX-License-Identifier: MIT */
/*
 * listing.h - the members of a domain, for people: what the host and the pages say.
 *
 * The caller is no member.  It asks the host for all pages, reads each word once, and
 * unmaps them again.  What it shows is a moment of each page, and no moment of all: a core
 * on its way from one member to another may be counted for none of them.
 */
#ifndef SLEY_DOMAIN_LISTING_H
#define SLEY_DOMAIN_LISTING_H

#include "base/compiler.h"

#include <sley/domain.h>

/* As sley_domain_list(). */
must_check int listing_make(const char *name,
			    struct sley_domain_member *members, uint32_t room,
			    uint32_t *nr_cores);

#endif
