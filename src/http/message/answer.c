/* SPDX-License-Identifier: MIT */
/*
 * answer.c - see answer.h.
 */
#include "http/message/answer.h"

#include "http/message/chars.h"

#include <string.h>

static const struct {
	int status;
	const char *text;
} names[] = {
	{ 100, "Continue" },
	{ 101, "Switching Protocols" },
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 203, "Non-Authoritative Information" },
	{ 204, "No Content" },
	{ 205, "Reset Content" },
	{ 206, "Partial Content" },
	{ 300, "Multiple Choices" },
	{ 301, "Moved Permanently" },
	{ 302, "Found" },
	{ 303, "See Other" },
	{ 304, "Not Modified" },
	{ 307, "Temporary Redirect" },
	{ 308, "Permanent Redirect" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 402, "Payment Required" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 411, "Length Required" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 415, "Unsupported Media Type" },
	{ 416, "Range Not Satisfiable" },
	{ 417, "Expectation Failed" },
	{ 422, "Unprocessable Content" },
	{ 426, "Upgrade Required" },
	{ 428, "Precondition Required" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
	{ 505, "HTTP Version Not Supported" },
};

const char *http_status_text(int status)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].status == status)
			return names[i].text;
	}
	return "";
}

static char *put(char *to, const char *text, size_t size)
{
	memcpy(to, text, size);
	return to + size;
}

/* A text whose size the compiler knows. */
#define PUT(to, text) put((to), (text), sizeof(text) - 1)

char *http_number_write(char *to, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return put(to, digits + at, sizeof(digits) - at);
}

char *http_chunk_size_write(char *to, uint64_t size)
{
	char digits[16];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[size % 16];
		size /= 16;
	} while (size);
	return PUT(put(to, digits + at, sizeof(digits) - at), "\r\n");
}

static char *put_status(char *to, int status)
{
	const char *text;

	if (status == 200)
		return PUT(to, "HTTP/1.1 200 OK\r\nDate: ");
	text = http_status_text(status);
	to = http_number_write(PUT(to, "HTTP/1.1 "), (uint64_t)status);
	*to++ = ' ';
	return PUT(put(to, text, strlen(text)), "\r\nDate: ");
}

char *http_answer_write(char *to, const struct http_answer *answer,
			const char *date)
{
	to = put(put_status(to, answer->status), date, HTTP_DATE_SIZE);
	if (answer->type) {
		to = PUT(to, "\r\nContent-Type: ");
		to = put(to, answer->type, answer->type_size);
	}
	if (answer->body == HTTP_ANSWER_LENGTH)
		to = http_number_write(PUT(to, "\r\nContent-Length: "),
				       answer->length);
	else if (answer->body == HTTP_ANSWER_CHUNKED)
		to = PUT(to, "\r\nTransfer-Encoding: chunked");
	if (answer->connection == HTTP_CLOSE)
		to = PUT(to, "\r\nConnection: close");
	else if (answer->connection == HTTP_KEEP_ALOUD)
		to = PUT(to, "\r\nConnection: keep-alive");
	return PUT(to, "\r\n");
}

static bool all_are(const char *text, size_t size, enum http_class class)
{
	for (size_t i = 0; i < size; i++) {
		if (!http_is((unsigned char)text[i], class))
			return false;
	}
	return true;
}

bool http_name_is_good(const char *name, size_t size)
{
	return size && all_are(name, size, HTTP_TOKEN);
}

/* Eight bytes at a time, as http_skip_value(); from a doubtful byte on one by one. */
bool http_value_is_good(const char *value, size_t size)
{
	size_t i = 0;

	for (; size - i >= 8; i += 8) {
		uint64_t word = http_word((const unsigned char *)value + i);
		/* below ' ', DEL, and perhaps a good byte beside them */
		uint64_t marks =
			((word - HTTP_ONES * ' ') | (word + HTTP_ONES)) &
			~word & HTTP_HIGH;

		if (marks)
			break;
	}
	return all_are(value + i, size - i, HTTP_VALUE);
}
