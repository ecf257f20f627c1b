/* SPDX-License-Identifier: MIT */
/*
 * http_head.c - heads that are taken, and each reason to refuse one.
 *
 * Each message is parsed as a whole, in single bytes and in all pairs of pieces, with
 * equal results: see http_pieces.h.
 */
#include "unit/http_pieces.h"

#include <stdio.h>

#define GET "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define END "\r\n"

static void check_slice(const char *text, struct http_slice slice,
			const char *wanted)
{
	CHECK_EQ(slice.size, strlen(wanted));
	CHECK(!memcmp(text + slice.at, wanted, slice.size));
}

/* ---- what is taken --------------------------------------------------------------- */

TEST(a_request_has_its_parts)
{
	static const char text[] = "GET /a?b=c HTTP/1.1\r\n"
				   "Host: localhost:8080\r\n"
				   "User-Agent:wrk/4.1 \t \r\n"
				   "Empty:\r\n"
				   "Blank: \t\r\n"
				   "Tab: \t a\tb \xff~\r\n"
				   "\r\n"
				   "rest";
	struct parsed whole;
	const struct http_field *fields = whole.fields;

	ACCEPTED(&whole, "GET /a?b=c HTTP/1.1\r\n"
			 "Host: localhost:8080\r\n"
			 "User-Agent:wrk/4.1 \t \r\n"
			 "Empty:\r\n"
			 "Blank: \t\r\n"
			 "Tab: \t a\tb \xff~\r\n"
			 "\r\n"
			 "rest");
	CHECK_EQ(whole.head.size, sizeof(text) - 1 - 4);
	check_slice(text, whole.head.method, "GET");
	check_slice(text, whole.head.target, "/a?b=c");
	CHECK_EQ(whole.head.minor, 1);
	CHECK_EQ(whole.head.nr_fields, 5);
	check_slice(text, fields[0].name, "Host");
	check_slice(text, fields[0].value, "localhost:8080");
	check_slice(text, fields[1].name, "User-Agent");
	check_slice(text, fields[1].value, "wrk/4.1");
	check_slice(text, fields[2].name, "Empty");
	check_slice(text, fields[2].value, "");
	check_slice(text, fields[3].value, "");
	check_slice(text, fields[4].value, "a\tb \xff~");
	CHECK(!whole.head.has_length);
	CHECK(!whole.head.is_chunked);
	CHECK(!whole.head.expects_continue);
}

TEST(a_response_has_its_parts)
{
	static const char text[] = "HTTP/1.0 404 Not Found\r\nA: b\r\n\r\n";
	struct parsed whole;

	ACCEPTED_RESPONSE(&whole, "HTTP/1.0 404 Not Found\r\nA: b\r\n\r\n");
	CHECK_EQ(whole.head.status, 404);
	CHECK_EQ(whole.head.minor, 0);
	check_slice(text, whole.head.reason, "Not Found");
	CHECK(!whole.head.keep_alive);
	ACCEPTED_RESPONSE(&whole, "HTTP/1.1 200 \r\n\r\n");
	CHECK_EQ(whole.head.status, 200);
	CHECK_EQ(whole.head.reason.size, 0);
	CHECK(whole.head.keep_alive);
}

TEST(long_parts_are_taken)
{
	struct parsed whole;

	ACCEPTED(&whole,
		 "M-SEARCH_WITH.A!LONG#NAME /0123456789abcdef0123456789"
		 "?x=~!@$^&*()_+{}|:\"<>?[];',./ HTTP/1.1\r\n"
		 "Host: [2001:db8::ff00:42:8329]:8080\r\n"
		 "X-0123456789-abcdefghijklmnopqrstuvwxyz!#$%&'*+.^_`|~:"
		 "0123456789abcdef0123456789abcdef\xff~\xfe~\xff\x80\r\n"
		 "\r\n");
	CHECK_EQ(whole.head.method.size, 25);
	CHECK_EQ(whole.head.nr_fields, 2);
}

TEST(an_empty_line_before_a_request_is_skipped)
{
	struct parsed whole;

	ACCEPTED(&whole, END GET HOST END);
	CHECK_EQ(whole.head.method.at, 2);
}

TEST(http_1_0_needs_no_host)
{
	struct parsed whole;

	ACCEPTED(&whole, "GET / HTTP/1.0\r\n\r\n");
	CHECK_EQ(whole.head.nr_fields, 0);
}

static bool keeps_alive(const char *version, const char *connection)
{
	char text[200];
	struct parsed whole;
	struct message message = MESSAGE("");

	message.text = text;
	message.size = (size_t)snprintf(text, sizeof(text),
					"GET / HTTP/%s\r\nHost: a\r\n"
					"%s\r\n",
					version, connection);
	parse(&whole, &message);
	CHECK_EQ(whole.result, HTTP_DONE);
	return whole.head.keep_alive;
}

TEST(keep_alive_comes_from_version_and_options)
{
	CHECK(keeps_alive("1.1", ""));
	CHECK(!keeps_alive("1.0", ""));
	CHECK(keeps_alive("1.0", "Connection: keep-alive\r\n"));
	CHECK(keeps_alive("1.0", "connection: x,\tKeep-ALIVE , y\r\n"));
	CHECK(!keeps_alive("1.0", "Connection: keep-alive, close\r\n"));
	CHECK(!keeps_alive("1.0", "Connection: keep-alivex\r\n"));
	CHECK(!keeps_alive("1.0", "Connection: keep alive\r\n"));
	CHECK(!keeps_alive("1.0", "Connectiox: keep-alive\r\n"));
	CHECK(!keeps_alive("1.1", "Connection: close\r\n"));
	CHECK(!keeps_alive("1.1", "CONNECTION: upgrade, CLOSE\r\n"));
	CHECK(!keeps_alive("1.1", "Connection: ,,close\r\n"));
	CHECK(!keeps_alive("1.1", "Connection: a\r\nConnection: close\r\n"));
	CHECK(keeps_alive("1.1", "Connection: closed, xclose, clos\r\n"));
	CHECK(keeps_alive("1.1", "Proxy-Close: close\r\n"));
}

TEST(an_expectation_is_reported)
{
	struct parsed whole;

	ACCEPTED(&whole, GET HOST "Expect: 100-Continue\r\n" END);
	CHECK(whole.head.expects_continue);
	ACCEPTED(&whole, GET HOST "Expect: 100-continued\r\n" END);
	CHECK(!whole.head.expects_continue);
	ACCEPTED(&whole, "GET / HTTP/1.0\r\nExpect: 100-continue\r\n" END);
	CHECK(!whole.head.expects_continue);
}

TEST(a_length_is_a_number)
{
	struct parsed whole;

	ACCEPTED(&whole, GET HOST "content-LENGTH: 00120\r\n" END);
	CHECK(whole.head.has_length);
	CHECK_EQ(whole.head.length, 120);
	ACCEPTED(&whole,
		 GET HOST "Content-Length:9223372036854775807 \r\n" END);
	CHECK_EQ(whole.head.length, INT64_MAX);
}

TEST(chunked_is_known_in_any_case)
{
	struct parsed whole;

	ACCEPTED(&whole, GET HOST "Transfer-Encoding: \t Chunked \r\n" END);
	CHECK(whole.head.is_chunked);
	ACCEPTED_RESPONSE(&whole, "HTTP/1.1 200 OK\r\n"
				  "transfer-encoding:chunked\r\n" END);
	CHECK(whole.head.is_chunked);
}

TEST(fields_are_found_by_name)
{
	static const char text[] = GET HOST
		"X_a: 1\r\nhost-x: 2\r\nx_A: 3\r\n" END;
	struct parsed whole;
	const struct http_field *field;

	ACCEPTED(&whole, GET HOST "X_a: 1\r\nhost-x: 2\r\nx_A: 3\r\n" END);
	field = http_head_find(&whole.head, text, "x_a", 0);
	CHECK(field == &whole.fields[1]);
	field = http_head_find(&whole.head, text, "x_a", 2);
	CHECK(field == &whole.fields[3]);
	CHECK(!http_head_find(&whole.head, text, "x_a", 4));
	CHECK(!http_head_find(&whole.head, text, "x-a", 0));
}

TEST(bytes_behind_a_head_are_not_looked_at)
{
	struct parsed whole;

	ACCEPTED(&whole, GET HOST END "\0\n\r\x7f");
	CHECK_EQ(whole.head.size, sizeof(GET HOST END) - 1);
}

TEST(half_a_head_is_neither_good_nor_bad)
{
	struct message message = MESSAGE(GET HOST END);
	struct parsed whole;

	for (size_t size = message.size; size-- > 0;) {
		message.size = size;
		parse(&whole, &message);
		CHECK_EQ(whole.result, HTTP_MORE);
	}
}

/* ---- what is refused: lines ------------------------------------------------------ */

TEST(a_bare_cr_is_refused)
{
	REFUSED("GET / HTTP/1.1\rHost: a\r\n\r\n", HTTP_BARE_CR, 400);
	REFUSED(GET "Host: a\rb\r\n\r\n", HTTP_BARE_CR, 400);
	REFUSED(GET "Host: a\r\r\n\r\n", HTTP_BARE_CR, 400);
	REFUSED(GET HOST "\r\r\n", HTTP_BARE_CR, 400);
	REFUSED("\rGET / HTTP/1.1\r\n" HOST END, HTTP_BARE_CR, 400);
	REFUSED_RESPONSE("HTTP/1.1 200 O\rK\r\n\r\n", HTTP_BARE_CR);
}

TEST(a_bare_lf_in_the_first_line_is_refused)
{
	REFUSED("GET / HTTP/1.1\nHost: a\r\n\r\n", HTTP_BARE_LF, 400);
	REFUSED("GET /\n", HTTP_BARE_LF, 400);
	REFUSED("GET\n", HTTP_BARE_LF, 400);
	REFUSED("\nGET / HTTP/1.1\r\n" HOST END, HTTP_BARE_LF, 400);
	REFUSED_RESPONSE("HTTP/1.1 200 OK\n\r\n", HTTP_BARE_LF);
}

TEST(a_bare_lf_in_a_field_is_refused)
{
	REFUSED(GET "Host: a\n\r\n", HTTP_BARE_LF, 400);
	REFUSED(GET "Host:\n\r\n", HTTP_BARE_LF, 400);
	REFUSED(GET "Host\n\r\n", HTTP_BARE_LF, 400);
	REFUSED(GET HOST "\n", HTTP_BARE_LF, 400);
}

TEST(two_empty_lines_before_a_request_are_refused)
{
	REFUSED(END END GET HOST END, HTTP_EMPTY_LINES, 400);
}

TEST(an_empty_line_before_a_response_is_refused)
{
	REFUSED_RESPONSE("\r\nHTTP/1.1 200 OK\r\n\r\n", HTTP_BAD_VERSION);
}

TEST(a_request_line_without_a_version_is_refused)
{
	REFUSED("GET /\r\n", HTTP_BAD_LINE, 400);
	REFUSED("GET\r\n", HTTP_BAD_LINE, 400);
}

TEST(a_method_that_is_no_token_is_refused)
{
	REFUSED("G(T / HTTP/1.1\r\n" HOST END, HTTP_BAD_METHOD, 400);
	REFUSED("(ET / HTTP/1.1\r\n" HOST END, HTTP_BAD_METHOD, 400);
	REFUSED("G\0T / HTTP/1.1\r\n" HOST END, HTTP_BAD_METHOD, 400);
	REFUSED(" / HTTP/1.1\r\n" HOST END, HTTP_BAD_METHOD, 400);
	REFUSED("GET\t/ HTTP/1.1\r\n" HOST END, HTTP_BAD_METHOD, 400);
}

TEST(a_target_that_is_empty_or_not_ascii_is_refused)
{
	REFUSED("GET  HTTP/1.1\r\n" HOST END, HTTP_BAD_TARGET, 400);
	REFUSED("GET /\xc3\xa4 HTTP/1.1\r\n" HOST END, HTTP_BAD_TARGET, 400);
	REFUSED("GET /\x7f HTTP/1.1\r\n" HOST END, HTTP_BAD_TARGET, 400);
	REFUSED("GET /a\0b HTTP/1.1\r\n" HOST END, HTTP_BAD_TARGET, 400);
	REFUSED("GET /\t HTTP/1.1\r\n" HOST END, HTTP_BAD_TARGET, 400);
}

TEST(a_malformed_version_is_refused)
{
	REFUSED("GET / HTTX/1.1\r\n" HOST END, HTTP_BAD_VERSION, 400);
	REFUSED("GET / http/1.1\r\n" HOST END, HTTP_BAD_VERSION, 400);
	REFUSED("GET / HTTP/1.x\r\n" HOST END, HTTP_BAD_VERSION, 400);
	REFUSED("GET / HTTP/1,1\r\n" HOST END, HTTP_BAD_VERSION, 400);
	REFUSED("GET / HTTP/1.1 \r\n" HOST END, HTTP_BAD_VERSION, 400);
	REFUSED("GET / HTTP/1.11\r\n" HOST END, HTTP_BAD_VERSION, 400);
	REFUSED("GET / a HTTP/1.1\r\n" HOST END, HTTP_BAD_VERSION, 400);
	REFUSED_RESPONSE("HTTP/1.1200 OK\r\n\r\n", HTTP_BAD_VERSION);
}

TEST(a_version_other_than_1_0_and_1_1_is_refused)
{
	REFUSED("GET / HTTP/1.2\r\n" HOST END, HTTP_OTHER_VERSION, 505);
	REFUSED("GET / HTTP/2.0\r\n" HOST END, HTTP_OTHER_VERSION, 505);
	REFUSED("GET / HTTP/0.9\r\n" HOST END, HTTP_OTHER_VERSION, 505);
	REFUSED("GET / HTTP/1.9\r\n" HOST END, HTTP_OTHER_VERSION, 505);
}

TEST(a_malformed_status_is_refused)
{
	REFUSED_RESPONSE("HTTP/1.1 2x0 OK\r\n\r\n", HTTP_BAD_STATUS);
	REFUSED_RESPONSE("HTTP/1.1 099 OK\r\n\r\n", HTTP_BAD_STATUS);
	REFUSED_RESPONSE("HTTP/1.1 600 OK\r\n\r\n", HTTP_BAD_STATUS);
	REFUSED_RESPONSE("HTTP/1.1 2000 OK\r\n\r\n", HTTP_BAD_STATUS);
	REFUSED_RESPONSE("HTTP/1.1  200 OK\r\n\r\n", HTTP_BAD_STATUS);
}

TEST(a_status_line_without_its_parts_is_refused)
{
	REFUSED_RESPONSE("HTTP/1.1\r\n\r\n", HTTP_BAD_LINE);
	REFUSED_RESPONSE("HTTP/1.1 200\r\n\r\n", HTTP_BAD_LINE);
}

TEST(a_control_character_in_a_reason_is_refused)
{
	REFUSED_RESPONSE("HTTP/1.1 200 O\0K\r\n\r\n", HTTP_BAD_REASON);
	REFUSED_RESPONSE("HTTP/1.1 200 O\x7f\r\n\r\n", HTTP_BAD_REASON);
}

/* ---- what is refused: fields ----------------------------------------------------- */

TEST(a_folded_line_is_refused)
{
	REFUSED(GET "Host: a\r\n b\r\n\r\n", HTTP_FOLDED_LINE, 400);
	REFUSED(GET "Host: a\r\n\tb\r\n\r\n", HTTP_FOLDED_LINE, 400);
	REFUSED(GET " Host: a\r\n\r\n", HTTP_FOLDED_LINE, 400);
	REFUSED(GET HOST " \r\n\r\n", HTTP_FOLDED_LINE, 400);
}

TEST(a_space_before_the_colon_is_refused)
{
	REFUSED(GET "Host : a\r\n\r\n", HTTP_SPACE_BEFORE_COLON, 400);
	REFUSED(GET "Host\t: a\r\n\r\n", HTTP_SPACE_BEFORE_COLON, 400);
}

TEST(an_empty_name_is_refused)
{
	REFUSED(GET HOST ": a\r\n\r\n", HTTP_EMPTY_NAME, 400);
}

TEST(a_name_that_is_no_token_is_refused)
{
	REFUSED(GET "H\0st: a\r\n\r\n", HTTP_BAD_NAME, 400);
	REFUSED(GET "H(st: a\r\n\r\n", HTTP_BAD_NAME, 400);
	REFUSED(GET "H\xf6st: a\r\n\r\n", HTTP_BAD_NAME, 400);
	REFUSED(GET "\"Host\": a\r\n\r\n", HTTP_BAD_NAME, 400);
	REFUSED(GET "Host\r\n\r\n", HTTP_BAD_NAME, 400);
}

TEST(a_control_character_in_a_value_is_refused)
{
	REFUSED(GET "Host: a\0b\r\n\r\n", HTTP_BAD_VALUE, 400);
	REFUSED(GET HOST "A: 0123456\x1f\r\n\r\n", HTTP_BAD_VALUE, 400);
	REFUSED(GET HOST "A: 01\x7f"
			 "3456789abcdef\r\n\r\n",
		HTTP_BAD_VALUE, 400);
	REFUSED(GET HOST "A: \xff\x7f"
			 "3456789abcdef\r\n\r\n",
		HTTP_BAD_VALUE, 400);
	REFUSED(GET HOST "A:\b\r\n\r\n", HTTP_BAD_VALUE, 400);
}

/* ---- what is refused: meanings --------------------------------------------------- */

#define LENGTH(value) GET HOST "Content-Length:" value "\r\n"
#define CODING(value) GET HOST "Transfer-Encoding:" value "\r\n"

TEST(two_lengths_are_refused)
{
	REFUSED(LENGTH("1") "content-length: 2\r\n" END, HTTP_LENGTH_TWICE,
		400);
	REFUSED(LENGTH("1") "Content-Length: 1\r\n" END, HTTP_LENGTH_TWICE,
		400);
	REFUSED(LENGTH("1, 1") END, HTTP_BAD_LENGTH, 400);
}

TEST(a_length_with_a_sign_is_refused)
{
	REFUSED(LENGTH("+1") END, HTTP_BAD_LENGTH, 400);
	REFUSED(LENGTH("-1") END, HTTP_BAD_LENGTH, 400);
}

TEST(a_length_that_is_no_number_is_refused)
{
	REFUSED(LENGTH("1 1") END, HTTP_BAD_LENGTH, 400);
	REFUSED(LENGTH("0x1") END, HTTP_BAD_LENGTH, 400);
	REFUSED(LENGTH("1a") END, HTTP_BAD_LENGTH, 400);
	REFUSED(LENGTH("1.0") END, HTTP_BAD_LENGTH, 400);
}

TEST(an_empty_length_is_refused)
{
	REFUSED(LENGTH("") END, HTTP_BAD_LENGTH, 400);
	REFUSED(LENGTH(" \t") END, HTTP_BAD_LENGTH, 400);
}

TEST(a_length_that_overflows_is_refused)
{
	REFUSED(LENGTH("9223372036854775808") END, HTTP_LENGTH_OVERFLOW, 413);
	REFUSED(LENGTH("18446744073709551617") END, HTTP_LENGTH_OVERFLOW, 413);
	REFUSED(LENGTH("99999999999999999999999999") END, HTTP_LENGTH_OVERFLOW,
		413);
}

TEST(a_length_and_a_coding_are_refused)
{
	REFUSED(LENGTH("1") "Transfer-Encoding: chunked\r\n" END,
		HTTP_LENGTH_AND_CODING, 400);
	REFUSED(CODING("chunked") "Content-Length: 1\r\n" END,
		HTTP_LENGTH_AND_CODING, 400);
}

TEST(two_codings_are_refused)
{
	REFUSED(CODING("chunked") "Transfer-Encoding: chunked\r\n" END,
		HTTP_CODING_TWICE, 400);
}

TEST(a_coding_in_http_1_0_is_refused)
{
	REFUSED("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" END,
		HTTP_CODING_IN_1_0, 400);
}

TEST(a_coding_that_does_not_end_with_chunked_is_refused)
{
	REFUSED(CODING("gzip") END, HTTP_CODING_NOT_CHUNKED, 400);
	REFUSED(CODING("identity") END, HTTP_CODING_NOT_CHUNKED, 400);
	REFUSED(CODING("chunked, gzip") END, HTTP_CODING_NOT_CHUNKED, 400);
	REFUSED(CODING("xchunked") END, HTTP_CODING_NOT_CHUNKED, 400);
	REFUSED(CODING("gzip chunked") END, HTTP_CODING_NOT_CHUNKED, 400);
	REFUSED(CODING("chunked;q=1") END, HTTP_CODING_NOT_CHUNKED, 400);
	REFUSED(CODING("\"chunked\"") END, HTTP_CODING_NOT_CHUNKED, 400);
	REFUSED(CODING("") END, HTTP_CODING_NOT_CHUNKED, 400);
}

TEST(a_coding_beside_chunked_is_refused)
{
	REFUSED(CODING("gzip, chunked") END, HTTP_OTHER_CODING, 501);
	REFUSED(CODING("chunked,\tchunked") END, HTTP_OTHER_CODING, 501);
	REFUSED(CODING(",chunked") END, HTTP_OTHER_CODING, 501);
}

TEST(a_request_without_host_is_refused)
{
	REFUSED(GET END, HTTP_NO_HOST, 400);
	REFUSED(GET "Hos: a\r\nHost-: a\r\nHosu: a\r\n" END, HTTP_NO_HOST, 400);
}

TEST(two_hosts_are_refused)
{
	REFUSED(GET HOST HOST END, HTTP_HOST_TWICE, 400);
	REFUSED("GET / HTTP/1.0\r\n" HOST "hOST: a\r\n" END, HTTP_HOST_TWICE,
		400);
}

TEST(a_host_with_other_characters_is_refused)
{
	REFUSED(GET "Host: a b\r\n" END, HTTP_BAD_HOST, 400);
	REFUSED(GET "Host: a/b\r\n" END, HTTP_BAD_HOST, 400);
	REFUSED(GET "Host: user@a\r\n" END, HTTP_BAD_HOST, 400);
	REFUSED(GET "Host: a\xe4\r\n" END, HTTP_BAD_HOST, 400);
}

/* ---- what is refused: limits ----------------------------------------------------- */

TEST(a_long_request_line_is_refused)
{
	struct message message = MESSAGE(GET HOST END);
	struct message later = MESSAGE(END GET HOST END);
	struct parsed whole;

	message.limits.line_size = sizeof(GET) - 1;
	parse(&whole, &message);
	CHECK_EQ(whole.result, HTTP_DONE);
	message.limits.line_size--;
	check_refused(&message, HTTP_LINE_TOO_LONG, 414);
	/* An empty line before the request line does not count. */
	later.limits.line_size = sizeof(GET) - 1;
	parse(&whole, &later);
	CHECK_EQ(whole.result, HTTP_DONE);
	later.limits.line_size--;
	check_refused(&later, HTTP_LINE_TOO_LONG, 414);
}

TEST(a_large_head_is_refused)
{
	struct message message = MESSAGE(GET HOST END "more");
	struct parsed whole;

	message.limits.head_size = (uint32_t)message.size - 4;
	parse(&whole, &message);
	CHECK_EQ(whole.result, HTTP_DONE);
	while (--message.limits.head_size > 0)
		check_refused(&message, HTTP_HEAD_TOO_LARGE, 431);
	check_refused(&message, HTTP_HEAD_TOO_LARGE, 431);
}

TEST(too_many_fields_are_refused)
{
	struct message message = MESSAGE(GET HOST "A: b\r\nC: d\r\n" END);
	struct parsed whole;

	message.max_fields = 3;
	parse(&whole, &message);
	CHECK_EQ(whole.result, HTTP_DONE);
	message.max_fields = 2;
	check_refused(&message, HTTP_TOO_MANY_FIELDS, 431);
	message.max_fields = 0;
	check_refused(&message, HTTP_TOO_MANY_FIELDS, 431);
}

/* ---- errors ---------------------------------------------------------------------- */

TEST(each_error_has_a_sentence_and_a_status)
{
	for (int error = 0; error < HTTP_NR_ERRORS; error++) {
		int status = http_error_status(error);

		CHECK(strlen(http_error_text(error)) > 10);
		CHECK(status == 400 || status == 413 || status == 414 ||
		      status == 431 || status == 501 || status == 505 ||
		      error == HTTP_OK);
		for (int other = 0; other < error; other++)
			CHECK(strcmp(http_error_text(error),
				     http_error_text(other)) != 0);
	}
}
