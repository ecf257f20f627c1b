/* SPDX-License-Identifier: MIT */
/*
 * head.c - two ways through the lines of a head.
 *
 * A whole line takes the fast way: http_skip_...() over each part.  A line that is not
 * whole yet, or not good, takes the slow way: the machine in line_step() and the
 * machine of field.h, a byte at a time.  The machines alone refuse bytes, so an error
 * does not depend on the way, and a line that arrives in pieces costs no more than its
 * bytes: the machines stop and go on anywhere.
 *
 * Tried and dropped: a search for the end of the line first.  This costs a pass more,
 * and a bad byte is refused only when the end of its line arrives.
 */
#include "http/message/head.h"

#include "http/message/chars.h"
#include "http/message/field.h"

/* .part */
enum { FIRST_LINE, FIELDS, PAST };

/* .state in FIRST_LINE */
enum line_state {
	LINE_BEGIN,
	LINE_EMPTY_LF, /* behind the CR of an empty line before a request */
	LINE_METHOD,
	LINE_TARGET,
	LINE_REQUEST_VERSION,
	LINE_CR, /* behind the version of a request */
	LINE_RESPONSE_VERSION,
	LINE_STATUS,
	LINE_REASON,
	LINE_LF,
	LINE_DONE,
};

/* .seen */
enum {
	SEEN_HOST = 1 << 0,
	SEEN_LENGTH = 1 << 1,
	SEEN_CODING = 1 << 2,
	SEEN_CLOSE = 1 << 3,
	SEEN_KEEP_ALIVE = 1 << 4,
	SEEN_EXPECT = 1 << 5,
	SEEN_EMPTY_LINE = 1 << 6,
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void init(struct http_head *head, struct http_field *fields,
		 uint32_t max_fields, const struct http_head_limits *limits)
{
	head->fields = fields;
	head->max_fields = max_fields;
	head->limits = limits;
	head->line_end = smaller(limits->line_size, limits->head_size);
	head->nr_fields = 0;
	head->error = HTTP_OK;
	head->seen = 0;
	head->part = FIRST_LINE;
	head->state = LINE_BEGIN;
	head->looked = 0;
	head->token = 0;
	head->status = 0;
	head->is_response = false;
}

void http_request_init(struct http_head *head, struct http_field *fields,
		       uint32_t max_fields,
		       const struct http_head_limits *limits)
{
	init(head, fields, max_fields, limits);
}

void http_response_init(struct http_head *head, struct http_field *fields,
			uint32_t max_fields,
			const struct http_head_limits *limits)
{
	init(head, fields, max_fields, limits);
	head->is_response = true;
}

static struct http_slice slice(uint32_t from, uint32_t to)
{
	return (struct http_slice){ from, to - from };
}

/* ---- what fields mean ----------------------------------------------------------- */

static enum http_error take_host(struct http_head *head,
				 const unsigned char *value, uint32_t size)
{
	if (head->is_response)
		return HTTP_OK;
	if (head->seen & SEEN_HOST)
		return HTTP_HOST_TWICE;
	head->seen |= SEEN_HOST;
	/* A space or a CR is behind the value. */
	return http_skip(value, HTTP_HOST) == value + size ? HTTP_OK
							   : HTTP_BAD_HOST;
}

static enum http_error take_length(struct http_head *head,
				   const unsigned char *value, uint32_t size)
{
	uint64_t length = 0;

	if (head->seen & SEEN_LENGTH)
		return HTTP_LENGTH_TWICE;
	head->seen |= SEEN_LENGTH;
	if (!size)
		return HTTP_BAD_LENGTH;
	for (uint32_t i = 0; i < size; i++) {
		if (!http_is(value[i], HTTP_DIGIT))
			return HTTP_BAD_LENGTH;
	}
	for (uint32_t i = 0; i < size; i++) {
		unsigned int digit = value[i] - '0';

		if (length > ((uint64_t)INT64_MAX - digit) / 10)
			return HTTP_LENGTH_OVERFLOW;
		length = length * 10 + digit;
	}
	head->length = length;
	return HTTP_OK;
}

/* "chunked" alone is taken; a coding before it is not known here. */
static enum http_error take_coding(struct http_head *head,
				   const unsigned char *value, uint32_t size)
{
	const unsigned char *last = value + size - 7;

	if (head->seen & SEEN_CODING)
		return HTTP_CODING_TWICE;
	head->seen |= SEEN_CODING;
	if (size < 7 || !http_same(last, "chunked", 7))
		return HTTP_CODING_NOT_CHUNKED;
	if (size == 7)
		return HTTP_OK;
	while (last > value && http_is(last[-1], HTTP_SPACE))
		last--;
	return last > value && last[-1] == ',' ? HTTP_OTHER_CODING
					       : HTTP_CODING_NOT_CHUNKED;
}

static bool take_option(struct http_head *head, const unsigned char *option,
			size_t size)
{
	if (size == 5 && http_same(option, "close", 5)) {
		head->seen |= SEEN_CLOSE;
		return true;
	}
	if (size == 10 && http_same(option, "keep-alive", 10)) {
		head->seen |= SEEN_KEEP_ALIVE;
		return true;
	}
	return false;
}

/* A list of options; two of them have a meaning here. */
static void take_connection(struct http_head *head, const unsigned char *value,
			    uint32_t size)
{
	const unsigned char *at = value, *end = value + size;

	if (take_option(head, value, size))
		return;
	while (at < end) {
		const unsigned char *comma =
			memchr(at, ',', (size_t)(end - at));
		const unsigned char *last = comma ? comma : end;

		while (at < last && http_is(*at, HTTP_SPACE))
			at++;
		while (at < last && http_is(last[-1], HTTP_SPACE))
			last--;
		take_option(head, at, (size_t)(last - at));
		at = comma ? comma + 1 : end;
	}
}

/* By the size of a name: the first letter of a name that has a meaning. */
static const unsigned char first_letters[] = {
	[4] = 'h', [6] = 'e', [10] = 'c', [14] = 'c', [17] = 't'
};

static inline bool may_mean(const unsigned char *name, uint32_t size)
{
	return size < sizeof(first_letters) &&
	       first_letters[size] == (*name | 0x20);
}

static enum http_error take_meaning(struct http_head *head,
				    const unsigned char *buffer,
				    const struct http_field *field)
{
	const unsigned char *name = buffer + field->name.at;
	const unsigned char *value = buffer + field->value.at;
	uint32_t size = field->value.size;

	if (field->name.size == 4 && http_same(name, "host", 4))
		return take_host(head, value, size);
	if (field->name.size == 10 && http_same(name, "connection", 10))
		take_connection(head, value, size);
	if (field->name.size == 14 && http_same(name, "content-length", 14))
		return take_length(head, value, size);
	if (field->name.size == 17 && http_same(name, "transfer-encoding", 17))
		return take_coding(head, value, size);
	if (field->name.size == 6 && http_same(name, "expect", 6) &&
	    size == 12 && http_same(value, "100-continue", 12))
		head->seen |= SEEN_EXPECT;
	return HTTP_OK;
}

/* The last line has ended. */
static enum http_error take_end(struct http_head *head)
{
	unsigned int seen = head->seen;

	head->size = head->looked;
	head->part = PAST;
	head->is_chunked = head->has_length = head->expects_continue = false;
	head->keep_alive = true;
	/* The usual request has no body, and stays. */
	if (!(seen & ~(SEEN_HOST | SEEN_KEEP_ALIVE)) && (seen & SEEN_HOST) &&
	    head->minor == 1)
		return HTTP_OK;
	if ((seen & SEEN_CODING) && (seen & SEEN_LENGTH))
		return HTTP_LENGTH_AND_CODING;
	if ((seen & SEEN_CODING) && head->minor == 0)
		return HTTP_CODING_IN_1_0;
	if (!(seen & SEEN_HOST) && head->minor == 1 && !head->is_response)
		return HTTP_NO_HOST;
	head->is_chunked = seen & SEEN_CODING;
	head->has_length = seen & SEEN_LENGTH;
	head->expects_continue = (seen & SEEN_EXPECT) && head->minor == 1 &&
				 !head->is_response;
	head->keep_alive = !(seen & SEEN_CLOSE) &&
			   (head->minor == 1 || (seen & SEEN_KEEP_ALIVE));
	return HTTP_OK;
}

/* ---- the slow way: a byte at a time --------------------------------------------- */

/* "HTTP/1.0" or "HTTP/1.1"; @idx is the place of @c in it. */
static enum http_error version_step(struct http_head *head, uint32_t idx,
				    unsigned char c)
{
	if (idx == 5 || idx == 7) {
		if (!http_is(c, HTTP_DIGIT))
			return HTTP_BAD_VERSION;
		if (c != '1' && (idx == 5 || c != '0'))
			return HTTP_OTHER_VERSION;
		head->minor = (uint8_t)(c - '0');
		return HTTP_OK;
	}
	return c == (unsigned char)"HTTP/1.1"[idx] ? HTTP_OK : HTTP_BAD_VERSION;
}

static enum http_error begin_step(struct http_head *head, uint32_t at,
				  unsigned char c)
{
	head->token = at;
	if (head->is_response) {
		head->state = LINE_RESPONSE_VERSION;
		return version_step(head, 0, c);
	}
	if (c == '\r') {
		if (head->seen & SEEN_EMPTY_LINE)
			return HTTP_EMPTY_LINES;
		head->seen |= SEEN_EMPTY_LINE;
		/* The two bytes do not count as part of the request line. */
		if (head->line_end < head->limits->head_size)
			head->line_end = smaller(head->line_end + 2,
						 head->limits->head_size);
		head->state = LINE_EMPTY_LF;
		return HTTP_OK;
	}
	if (c == '\n')
		return HTTP_BARE_LF;
	head->state = LINE_METHOD;
	return http_is(c, HTTP_TOKEN) ? HTTP_OK : HTTP_BAD_METHOD;
}

static enum http_error request_step(struct http_head *head, uint32_t at,
				    unsigned char c)
{
	switch ((enum line_state)head->state) {
	case LINE_METHOD:
		if (http_is(c, HTTP_TOKEN))
			return HTTP_OK;
		if (c == '\r' || c == '\n')
			return c == '\r' ? HTTP_BAD_LINE : HTTP_BARE_LF;
		if (c != ' ')
			return HTTP_BAD_METHOD;
		head->method = slice(head->token, at);
		head->state = LINE_TARGET;
		break;
	case LINE_TARGET:
		if (http_is(c, HTTP_VISIBLE))
			return HTTP_OK;
		if (c == '\r' || c == '\n')
			return c == '\r' ? HTTP_BAD_LINE : HTTP_BARE_LF;
		if (c != ' ' || at == head->token)
			return HTTP_BAD_TARGET;
		head->target = slice(head->token, at);
		head->state = LINE_REQUEST_VERSION;
		break;
	case LINE_REQUEST_VERSION:
		if (at - head->token == 7)
			head->state = LINE_CR;
		return version_step(head, at - head->token, c);
	default: /* LINE_CR */
		if (c != '\r')
			return c == '\n' ? HTTP_BARE_LF : HTTP_BAD_VERSION;
		head->state = LINE_LF;
		return HTTP_OK;
	}
	head->token = at + 1;
	return HTTP_OK;
}

static enum http_error response_step(struct http_head *head, uint32_t at,
				     unsigned char c)
{
	uint32_t idx = at - head->token;

	switch ((enum line_state)head->state) {
	case LINE_RESPONSE_VERSION:
		if (idx < 8)
			return version_step(head, idx, c);
		if (c != ' ')
			return c == '\r' ? HTTP_BAD_LINE : HTTP_BAD_VERSION;
		head->state = LINE_STATUS;
		break;
	case LINE_STATUS:
		if (idx < 3) {
			if (!http_is(c, HTTP_DIGIT) ||
			    (idx == 0 && (c < '1' || c > '5')))
				return HTTP_BAD_STATUS;
			head->status = (uint16_t)(head->status * 10 + c - '0');
			return HTTP_OK;
		}
		if (c != ' ')
			return c == '\r' ? HTTP_BAD_LINE : HTTP_BAD_STATUS;
		head->state = LINE_REASON;
		break;
	default: /* LINE_REASON */
		if (c == '\n')
			return HTTP_BARE_LF;
		if (c != '\r')
			return http_is(c, HTTP_VALUE) ? HTTP_OK
						      : HTTP_BAD_REASON;
		head->reason = slice(head->token, at);
		head->state = LINE_LF;
		return HTTP_OK;
	}
	head->token = at + 1;
	return HTTP_OK;
}

static enum http_error line_step(struct http_head *head, uint32_t at,
				 unsigned char c)
{
	switch ((enum line_state)head->state) {
	case LINE_BEGIN:
		return begin_step(head, at, c);
	case LINE_EMPTY_LF:
	case LINE_LF:
		if (c != '\n')
			return HTTP_BARE_CR;
		head->token = at + 1;
		head->state = head->state == LINE_LF ? LINE_DONE : LINE_BEGIN;
		return HTTP_OK;
	default:
		return head->is_response ? response_step(head, at, c)
					 : request_step(head, at, c);
	}
}

/* From head->looked to the end of the first line, or to @end. */
static enum http_error slow_line(struct http_head *head,
				 const unsigned char *buffer, uint32_t end)
{
	enum http_error error = HTTP_OK;

	while (head->looked < end && head->state != LINE_DONE && !error) {
		uint32_t at = head->looked++;

		error = line_step(head, at, buffer[at]);
		/* Behind an empty line the fast way is open again. */
		if (head->state == LINE_BEGIN)
			break;
	}
	return error;
}

static enum http_error take_field(struct http_head *head,
				  const unsigned char *buffer)
{
	const struct http_field *field = &head->fields[head->nr_fields++];

	head->state = HTTP_FIELD_BEGIN;
	return take_meaning(head, buffer, field);
}

/* Notes in the field that @state has begun with the byte at @at. */
static void note(struct http_head *head, enum http_field_state state,
		 uint32_t at, const unsigned char *buffer)
{
	struct http_field *field = &head->fields[head->nr_fields];

	switch (state) {
	case HTTP_FIELD_NAME:
		head->token = at;
		break;
	case HTTP_FIELD_SPACE:
		field->name = slice(head->token, at);
		head->token = 0;
		break;
	case HTTP_FIELD_VALUE:
		head->token = at;
		break;
	case HTTP_FIELD_LF:
		/* The value begins at the token; without one it is empty. */
		field->value.at = head->token ? head->token : at;
		while (at > field->value.at &&
		       http_is(buffer[at - 1], HTTP_SPACE))
			at--;
		field->value.size = at - field->value.at;
		break;
	default:
		break;
	}
}

/* From head->looked to the end of a line, or to @end. */
static enum http_error slow_field(struct http_head *head,
				  const unsigned char *buffer, uint32_t end)
{
	while (head->looked < end) {
		enum http_field_state state = head->state;
		uint32_t at = head->looked++;
		enum http_error error = http_field_step(&state, buffer[at]);

		if (error)
			return error;
		if (state == head->state)
			continue;
		if (state == HTTP_FIELD_NAME &&
		    head->nr_fields == head->max_fields)
			return HTTP_TOO_MANY_FIELDS;
		head->state = (uint8_t)state;
		if (state == HTTP_FIELD_DONE)
			return take_field(head, buffer);
		if (state == HTTP_FIELD_END)
			return take_end(head);
		note(head, state, at, buffer);
	}
	return HTTP_OK;
}

/* ---- the fast way: whole lines --------------------------------------------------- */

/*
 * The skips need a line feed in front of the end of the bytes.  Only whole lines go the
 * fast way, so the end may be moved back to the last line feed.  At the beginning of a
 * line all these bytes are new, so the search does not look at a byte a second time.
 * NULL: there is no whole line.
 */
static const unsigned char *end_of_lines(const unsigned char *at,
					 const unsigned char *end)
{
	const unsigned char *last;

	if (at < end && end[-1] == '\n')
		return end;
	last = memrchr(at, '\n', (size_t)(end - at));
	return last ? last + 1 : NULL;
}

/* Takes a whole request line; false: not whole, or not good. */
static bool fast_line(struct http_head *head, const unsigned char *buffer,
		      uint32_t size)
{
	const unsigned char *begin = buffer + head->looked;
	const unsigned char *end = end_of_lines(begin, buffer + size);
	const unsigned char *space, *target, *version;

	if (!end)
		return false;
	space = http_skip(begin, HTTP_TOKEN);
	if (space == begin || *space != ' ')
		return false;
	target = space + 1;
	version = http_skip_visible(target, end);
	if (version == target || end - version < 11 || *version != ' ')
		return false;
	head->target = slice((uint32_t)(target - buffer),
			     (uint32_t)(version - buffer));
	version++;
	if ((http_word(version) | (uint64_t)1 << 56) !=
		    http_word((const unsigned char *)"HTTP/1.1") ||
	    version[8] != '\r' || version[9] != '\n')
		return false;
	head->method = slice(head->looked, (uint32_t)(space - buffer));
	head->minor = version[7] & 1;
	head->looked = (uint32_t)(version + 10 - buffer);
	return true;
}

/*
 * Takes a whole field at @name into @field.  Returns the end of the field; NULL: not
 * whole, or not good.
 */
static inline const unsigned char *fast_field(const unsigned char *buffer,
					      const unsigned char *name,
					      const unsigned char *end,
					      struct http_field *field)
{
	const unsigned char *value = http_skip(name, HTTP_TOKEN);
	const unsigned char *last, *behind;

	if (*value != ':' || value == name)
		return NULL;
	field->name =
		slice((uint32_t)(name - buffer), (uint32_t)(value - buffer));
	value++;
	while (http_is(*value, HTTP_SPACE))
		value++;
	last = http_skip_value(value, end);
	if (last[0] != '\r' || last[1] != '\n')
		return NULL;
	behind = last + 2;
	while (last > value && http_is(last[-1], HTTP_SPACE))
		last--;
	field->value =
		slice((uint32_t)(value - buffer), (uint32_t)(last - buffer));
	return behind;
}

/* Takes whole and good lines, as many as there are. */
static enum http_error fast_fields(struct http_head *head,
				   const unsigned char *buffer, uint32_t size)
{
	const unsigned char *at = buffer + head->looked;
	const unsigned char *end = end_of_lines(at, buffer + size);
	enum http_error error = HTTP_OK;

	if (!end)
		return HTTP_OK;
	while (at < end && !error) {
		struct http_field *field = &head->fields[head->nr_fields];
		const unsigned char *next;

		if (at[0] == '\r' && at[1] == '\n') {
			head->looked = (uint32_t)(at + 2 - buffer);
			return take_end(head);
		}
		if (head->nr_fields == head->max_fields)
			break;
		next = fast_field(buffer, at, end, field);
		if (!next)
			break;
		head->nr_fields++;
		if (may_mean(at, field->name.size))
			error = take_meaning(head, buffer, field);
		at = next;
	}
	head->looked = (uint32_t)(at - buffer);
	return error;
}

/* ---- both ------------------------------------------------------------------------ */

/* The fields among the first @size bytes, from a line or inside of one. */
static enum http_error parse_fields(struct http_head *head,
				    const unsigned char *buffer, uint32_t size)
{
	enum http_error error = HTTP_OK;

	while (head->part == FIELDS && head->looked < size && !error) {
		if (head->state == HTTP_FIELD_BEGIN)
			error = fast_fields(head, buffer, size);
		if (head->part == FIELDS && !error)
			error = slow_field(head, buffer, size);
	}
	return error;
}

static enum http_error parse_line(struct http_head *head,
				  const unsigned char *buffer, size_t size)
{
	while (head->part == FIRST_LINE) {
		uint32_t limit = head->line_end;
		uint32_t end = size < limit ? (uint32_t)size : limit;
		enum http_error error = HTTP_OK;

		if (head->looked >= limit)
			return limit < head->limits->head_size
				       ? HTTP_LINE_TOO_LONG
				       : HTTP_HEAD_TOO_LARGE;
		if (head->looked == end)
			return HTTP_OK;
		if (head->state == LINE_BEGIN && !head->is_response &&
		    fast_line(head, buffer, end))
			head->state = LINE_DONE;
		else
			error = slow_line(head, buffer, end);
		if (error)
			return error;
		if (head->state == LINE_DONE) {
			head->part = FIELDS;
			head->state = HTTP_FIELD_BEGIN;
		}
	}
	return HTTP_OK;
}

/*
 * Bytes behind a limit are not looked at.  A first line, or a head, that has not ended
 * before its limit is too large, be there more bytes or not.
 */
enum http_result http_head_parse(struct http_head *head, const char *text,
				 size_t size)
{
	const unsigned char *buffer = (const unsigned char *)text;
	uint32_t limit = head->limits->head_size;
	enum http_error error = HTTP_OK;

	if (head->part == FIRST_LINE)
		error = parse_line(head, buffer, size);
	if (head->part == FIELDS && !error)
		error = parse_fields(head, buffer,
				     size < limit ? (uint32_t)size : limit);
	if (head->part == FIELDS && !error && head->looked >= limit)
		error = HTTP_HEAD_TOO_LARGE;
	if (error) {
		head->error = error;
		head->part = PAST;
	}
	if (head->part != PAST)
		return HTTP_MORE;
	return head->error ? HTTP_FAILED : HTTP_DONE;
}

static char lower_case(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

const struct http_field *http_head_find(const struct http_head *head,
					const char *buffer, const char *lower,
					uint32_t from)
{
	size_t size = strlen(lower);

	for (uint32_t i = from; i < head->nr_fields; i++) {
		const char *name = buffer + head->fields[i].name.at;
		size_t idx = 0;

		if (head->fields[i].name.size != size)
			continue;
		while (idx < size && lower_case(name[idx]) == lower[idx])
			idx++;
		if (idx == size)
			return &head->fields[i];
	}
	return NULL;
}
