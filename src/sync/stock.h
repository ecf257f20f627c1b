/* SPDX-License-Identifier: MIT */
/*
 * stock.h - making a stock of a configuration that src/api/stock.c has checked.
 */
#ifndef SLEY_SYNC_STOCK_H
#define SLEY_SYNC_STOCK_H

#include "base/compiler.h"

#include <sley/stock.h>

/* 0 or -ENOMEM. */
must_check int stock_create(struct sley_stock **out,
			    const struct sley_stock_config *config);

#endif
