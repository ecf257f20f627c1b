/* SPDX-License-Identifier: MIT */
/*
 * select.h - sley_select_until() that looks at case @start first.
 *
 * A function of its own, so that the models can choose @start and explore the
 * rest.
 */
#ifndef SLEY_SYNC_SELECT_H
#define SLEY_SYNC_SELECT_H

#include "base/compiler.h"

#include <sley/select.h>

must_check int select_from(struct sley_case *cases, unsigned int nr,
			   unsigned int start, uint64_t deadline_ns);

#endif
