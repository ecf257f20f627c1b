/* SPDX-License-Identifier: MIT */
/*
 * symbol.h - addresses of code as people read them; and whether an address is loaded.
 */
#ifndef SLEY_OS_SYMBOL_H
#define SLEY_OS_SYMBOL_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the function at @code if the dynamic linker knows the name, with the
 * offset behind a plus sign if @code is inside of the function; else the position in
 * the file of the code, as addr2line(1) takes it.  Always ends with a zero byte.
 *
 * Takes the dynamic linker's lock: in a signal handler, only as a last act.
 */
void os_symbol(char *out, size_t size, const void *code);

/*
 * Is @address in the program, or in a library that is loaded?  In a program that is
 * linked statically the dynamic linker knows no address, and the answer is true.
 */
must_check bool os_symbol_is_known(const void *address);

#endif
