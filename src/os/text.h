/* SPDX-License-Identifier: MIT */
/*
 * text.h - the small texts that the kernel offers as files.
 */
#ifndef SLEY_OS_TEXT_H
#define SLEY_OS_TEXT_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a path; the names of containers are long. */
#define OS_PATH_SIZE 1024

/*
 * Reads as much as fits of the file that @format names into @text, and adds a zero
 * byte.  False: there is no such file, or the path is too long.
 */
must_check printf_like(3, 4) bool os_text_read(char *text, size_t size,
					       const char *format, ...);

/* A decimal number at *@text, which moves behind the number; false: no number. */
must_check bool os_text_number(const char **text, uint64_t *out);

#endif
