/* SPDX-License-Identifier: MIT */
/*
 * file.h - a file that is written once, from its beginning to its end.
 *
 * In between, stdio: failures there are found at the end.
 */
#ifndef SLEY_OS_FILE_H
#define SLEY_OS_FILE_H

#include "base/compiler.h"

#include <stdio.h>

/* Empty, not inherited by other programs; 0 or -errno. */
must_check int os_file_create(FILE **out, const char *path);

/* 0, or the reason why the file is incomplete: -errno. */
must_check int os_file_close(FILE *file);

#endif
