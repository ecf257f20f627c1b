/* SPDX-License-Identifier: MIT */
/*
 * file.h - a file that is written once, from its beginning to its end.
 *
 * In between, stdio: what fails there is found at the end.
 */
#ifndef SLEY_OS_FILE_H
#define SLEY_OS_FILE_H

#include "base/compiler.h"

#include <stdio.h>

/* Empty, not inherited by other programs; 0 or -errno. */
must_check int os_file_create(FILE **out, const char *path);

/* 0, or why not everything is in it: -errno. */
must_check int os_file_close(FILE *file);

#endif
