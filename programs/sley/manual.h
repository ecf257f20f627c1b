/* SPDX-License-Identifier: MIT */
/*
 * manual.h - the manual pages of the calls of the library.
 */
#ifndef SLEY_PROGRAM_MANUAL_H
#define SLEY_PROGRAM_MANUAL_H

#include "near.h"

/* Offers all calls and headers that came with this program. */
void manual_offer(struct near *near);

/* Shows the page of @name with man; returns only if it could not: the status. */
int manual_show(const char *name);

#endif
