/* SPDX-License-Identifier: MIT */
/*
 * error.c - <sley/error.h>
 */
#include <sley/error.h>

#include <string.h>

#define ERROR_CASE(name, value, text)                                          \
	case name:                                                             \
		return text;

const char *sley_strerror(int err)
{
	const char *text = NULL;

	if (err == 0)
		return "success";
	switch (err) {
		SLEY_ERRORS(ERROR_CASE)
	default:
		break;
	}
	if (err < 0 && err > -4096)
		text = strerrordesc_np(-err);
	return text ? text : "unknown error";
}
