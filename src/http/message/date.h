/* SPDX-License-Identifier: MIT */
/*
 * date.h - dates of fields: "Sun, 06 Nov 1994 08:49:37 GMT".
 *
 * This is the IMF-fixdate of RFC 9110, the only form that may be sent.  No locale, no
 * time zone and no lock of the C library is involved.  The two obsolete forms are not
 * parsed: a server that cannot parse the date of a condition sends the whole answer,
 * which is right, only longer.
 */
#ifndef SLEY_HTTP_DATE_H
#define SLEY_HTTP_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define HTTP_DATE_SIZE 29

/*
 * Writes HTTP_DATE_SIZE bytes without a NUL behind.  False, and nothing is written, if
 * the year is not between 0 and 9999.
 */
bool http_date_write(char *text, time_t time);

/* False: @text is no such date, or its day of the week is wrong. */
bool http_date_parse(const char *text, size_t size, time_t *time);

#endif
