/* SPDX-License-Identifier: MIT */
/*
 * reload.h - the users of the configuration, read again while the daemon serves.
 *
 * The file counts as a whole: with a mistake in any of its parts, or without the right to
 * read it, the rights stay as they are.
 */
#ifndef SLEYD_RELOAD_H
#define SLEYD_RELOAD_H

#include "daemon.h"

/* By the task for hang-ups.  The log says what has come of it. */
void reload_users(struct daemon *daemon);

#endif
