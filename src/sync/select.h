/* SPDX-License-Identifier: MIT */
/*
 * select.h - sley_select_until() with a further argument, @start: the number of the
 * case that is tried first.
 *
 * sley_select_until() draws this number.  The models choose it, and explore the rest.
 */
#ifndef SLEY_SYNC_SELECT_H
#define SLEY_SYNC_SELECT_H

#include "base/compiler.h"

#include <sley/select.h>

must_check int select_from(struct sley_case *cases, unsigned int nr,
			   unsigned int start, uint64_t deadline_ns);

#endif
