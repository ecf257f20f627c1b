/* SPDX-License-Identifier: MIT */
/*
 * stock.h - creates a stock: a bounded pool of objects that are borrowed and
 * returned, as in <sley/stock.h>.
 *
 * src/api/stock.c has checked the configuration.  sync/stock.c is the rest.
 */
#ifndef SLEY_SYNC_STOCK_H
#define SLEY_SYNC_STOCK_H

#include "base/compiler.h"

#include <sley/stock.h>

/* 0 or -ENOMEM. */
must_check int stock_create(struct sley_stock **out,
			    const struct sley_stock_config *config);

#endif
