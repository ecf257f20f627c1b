/* SPDX-License-Identifier: MIT */
/*
 * library.h - shared objects that are loaded while the program runs.
 *
 * The code of a library runs with all rights of the program.  So a library is loaded only
 * if nobody but root and the user of the program could have put it there: the file, its
 * folder and all folders above belong to one of the two, and no other user may write to
 * them.  A folder with the sticky bit, as /tmp, may be written to by others, since they
 * cannot replace what is not theirs.
 */
#ifndef SLEY_OS_LIBRARY_H
#define SLEY_OS_LIBRARY_H

#include "base/compiler.h"

#include <stddef.h>

/*
 * Loads the file @name of the folder @dir.  0; -ENOENT: there is no such file; -EPERM:
 * others may write there; -ELIBBAD: it cannot be loaded.  On failure @why gets the
 * reason, or the path that others may write to, in at most @size bytes.
 */
must_check int os_library_open(void **library, const char *dir,
			       const char *name, char *why, size_t size);
void os_library_close(void *library);

/* The address of the symbol @name, or NULL. */
void *os_library_symbol(void *library, const char *name);

#endif
