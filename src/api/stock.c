/* SPDX-License-Identifier: MIT */
/*
 * stock.c - <sley/stock.h>: checks the user's arguments, and passes them on.
 */
#include "sync/stock.h"

#include "base/options.h"

#include <errno.h>

int sley_stock_create(struct sley_stock **out,
		      const struct sley_stock_config *given)
{
	struct sley_stock_config config;
	int err = options_take(&config, given);

	if (err)
		return err;
	/* With a header in front, and room for rounding. */
	if (config.object_size == 0 || config.object_size > SIZE_MAX / 2)
		return -EINVAL;
	if (config.align > SLEY_STOCK_ALIGN_MAX ||
	    (config.align & (config.align - 1)))
		return -EINVAL;
	return stock_create(out, &config);
}
