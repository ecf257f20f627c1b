/* SPDX-License-Identifier: MIT */
/*
 * domain.c - <sley/domain.h>: checks the user's arguments, and passes them on.
 */
#include <sley/domain.h>

#include "base/options.h"
#include "core/life/after_fork.h"
#include "core/task/slot.h"
#include "domain/listing.h"
#include "domain/membership.h"

#include <errno.h>
#include <sley/error.h>

int sley_domain_join(struct sley *rt, const char *name)
{
	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	return membership_join(rt, name);
}

int sley_domain_leave(struct sley *rt)
{
	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	return membership_leave(rt);
}

int sley_domain_set_strict(struct sley *rt, bool strict)
{
	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	membership_set_strict(rt, strict);
	return 0;
}

int sley_domain_share_waker(struct sley *rt, uint64_t id,
			    struct sley_domain_waker *out)
{
	struct slot *slot;

	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	slot = slot_lock_waker(id);
	if (!slot)
		return -ESRCH;
	slot_unlock(slot);
	return membership_share(rt, id, out);
}

int sley_domain_wake(struct sley *rt, const struct sley_domain_waker *waker)
{
	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	return membership_wake(rt, waker);
}

int sley_domain_info(struct sley *rt, struct sley_domain_info *out)
{
	struct sley_domain_info info = { .size = sizeof(info) };

	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	membership_info(rt, &info);
	return options_give(out, &info, sizeof(info));
}

int sley_domain_list(const char *name, struct sley_domain_member *members,
		     uint32_t room, uint32_t *nr_cores)
{
	return listing_make(name, members, room, nr_cores);
}
