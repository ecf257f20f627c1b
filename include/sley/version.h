/* SPDX-License-Identifier: MIT */
/*
 * sley/version.h - the version of these headers.
 */
#ifndef SLEY_VERSION_H
#define SLEY_VERSION_H

#define SLEY_VERSION_MAJOR 0
#define SLEY_VERSION_MINOR 1
#define SLEY_VERSION_PATCH 0
#define SLEY_VERSION "0.1.0"

/* True if these headers are at least version @major.@minor. */
#define SLEY_VERSION_AT_LEAST(major, minor)                                    \
	(SLEY_VERSION_MAJOR > (major) ||                                       \
	 (SLEY_VERSION_MAJOR == (major) && SLEY_VERSION_MINOR >= (minor)))

#endif
