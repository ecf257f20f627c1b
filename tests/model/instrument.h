/* SPDX-License-Identifier: MIT */
/*
 * instrument.h - included by the compiler before each source of a model.
 *
 * The functions of <string.h> are not instrumented; these are.
 */
#ifndef SLEY_TESTS_MODEL_INSTRUMENT_H
#define SLEY_TESTS_MODEL_INSTRUMENT_H

#include <stddef.h>
#include <string.h>

void *model_memset(void *p, int c, size_t size);
void *model_memcpy(void *to, const void *from, size_t size);

#ifdef __SANITIZE_THREAD__
#define SLEY_MODEL_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLEY_MODEL_INSTRUMENTED 1
#endif
#endif

#ifdef SLEY_MODEL_INSTRUMENTED
#define memset(p, c, size) model_memset((p), (c), (size))
#define memcpy(to, from, size) model_memcpy((to), (from), (size))
#endif

#endif
