/* SPDX-License-Identifier: MIT */
/*
 * field.h - the lines of fields, a byte at a time.
 *
 *   name ":" spaces value spaces CR LF ...  CR LF
 *
 * This machine is the judge of heads and of trailers: a line is refused here or
 * nowhere.  The fast path of head.c takes whole lines that this machine would take,
 * and leaves all other lines to this machine.
 *
 *   BEGIN -token-> NAME -":"-> SPACE -value-> VALUE -CR-> LF -LF-> DONE
 *         -CR-> LAST_LF -LF-> END        \---CR---/
 *
 * The machine gives no slices: the caller sees the states change, and notes where.
 */
#ifndef SLEY_HTTP_FIELD_H
#define SLEY_HTTP_FIELD_H

#include "http/message/chars.h"
#include "http/message/error.h"

enum http_field_state {
	HTTP_FIELD_BEGIN, /* at the beginning of a line      */
	HTTP_FIELD_NAME,
	HTTP_FIELD_SPACE, /* behind the colon                */
	HTTP_FIELD_VALUE,
	HTTP_FIELD_LF,      /* behind the CR of a field        */
	HTTP_FIELD_LAST_LF, /* behind the CR of the empty line */
	HTTP_FIELD_DONE,    /* a field has ended; go on with BEGIN */
	HTTP_FIELD_END,     /* the empty line has ended        */
};

/* Takes @c, and changes @state unless @c is refused. */
static inline enum http_error http_field_step(enum http_field_state *state,
					      unsigned char c)
{
	switch (*state) {
	case HTTP_FIELD_BEGIN:
		if (c == '\r') {
			*state = HTTP_FIELD_LAST_LF;
			return HTTP_OK;
		}
		if (http_is(c, HTTP_SPACE))
			return HTTP_FOLDED_LINE;
		if (c == ':')
			return HTTP_EMPTY_NAME;
		*state = HTTP_FIELD_NAME;
		/* fall through */
	case HTTP_FIELD_NAME:
		if (http_is(c, HTTP_TOKEN))
			return HTTP_OK;
		if (c == '\n')
			return HTTP_BARE_LF;
		if (http_is(c, HTTP_SPACE))
			return HTTP_SPACE_BEFORE_COLON;
		if (c != ':')
			return HTTP_BAD_NAME;
		*state = HTTP_FIELD_SPACE;
		return HTTP_OK;
	case HTTP_FIELD_SPACE:
		if (http_is(c, HTTP_SPACE))
			return HTTP_OK;
		/* fall through */
	case HTTP_FIELD_VALUE:
		if (c == '\n')
			return HTTP_BARE_LF;
		if (c != '\r' && !http_is(c, HTTP_VALUE))
			return HTTP_BAD_VALUE;
		*state = c == '\r' ? HTTP_FIELD_LF : HTTP_FIELD_VALUE;
		return HTTP_OK;
	case HTTP_FIELD_LF:
	case HTTP_FIELD_LAST_LF:
		if (c != '\n')
			return HTTP_BARE_CR;
		*state = *state == HTTP_FIELD_LF ? HTTP_FIELD_DONE
						 : HTTP_FIELD_END;
		return HTTP_OK;
	default:
		return HTTP_OK;
	}
}

#endif
