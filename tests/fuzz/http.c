/* SPDX-License-Identifier: MIT */
/*
 * http.c - random changes of good messages, and what must hold for each.
 *
 *   ./http [executions] [seed]     the same executions each time
 *
 * LLVMFuzzerTestOneInput() is there for libFuzzer, which brings its own main():
 * compile with -DFUZZ_LIBFUZZER -fsanitize=fuzzer.
 *
 * The first byte of an input says what the rest is.  Checked for each input:
 *
 *   - any pieces give the same result as the whole
 *   - used bytes are at most the bytes that were given
 *   - slices lie inside of the buffer
 *   - a head, or a body in chunks, is taken if and only if http_reference.c takes it,
 *     and both find the same
 *   - decoded paths, ranges and dates have the properties that their headers promise
 */
#include "fuzz/http_reference.h"
#include "http/message/body.h"
#include "http/message/date.h"
#include "http/message/head.h"
#include "http/message/range.h"
#include "http/message/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* ---- random numbers -------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % n;
}

/* ---- what must hold -------------------------------------------------------------- */

static const uint8_t *current;
static size_t current_size;

static void failed(const char *what, int line)
{
	fprintf(stderr, "http.c:%d: %s does not hold for this input:\n", line,
		what);
	for (size_t i = 0; i < current_size; i++)
		fprintf(stderr, "%02x%s", current[i],
			i % 32 == 31 ? "\n" : " ");
	fprintf(stderr, "\n%.*s\n", (int)current_size, (const char *)current);
	abort();
}

#define HOLDS(x) ((x) ? (void)0 : failed(#x, __LINE__))

/* ---- heads ----------------------------------------------------------------------- */

/* Small, so that inputs are often beyond. */
#define MAX_FIELDS 6
#define LINE_SIZE 80
#define HEAD_SIZE 200

struct parsed {
	struct http_field fields[MAX_FIELDS];
	struct http_head head;
	enum http_result result;
};

static const struct http_head_limits head_limits = { LINE_SIZE, HEAD_SIZE };

static void begin_head(struct parsed *to, bool is_response)
{
	memset(to, 0, sizeof(*to));
	(is_response ? http_response_init : http_request_init)(
		&to->head, to->fields, MAX_FIELDS, &head_limits);
	to->result = HTTP_MORE;
}

static void compare_heads(const struct parsed *a, const struct parsed *b)
{
	const struct http_head *x = &a->head, *y = &b->head;

	HOLDS(a->result == b->result);
	HOLDS(x->error == y->error);
	if (a->result != HTTP_DONE)
		return;
	HOLDS(x->size == y->size && x->nr_fields == y->nr_fields);
	HOLDS(x->status == y->status && x->minor == y->minor);
	HOLDS(x->keep_alive == y->keep_alive);
	HOLDS(x->expects_continue == y->expects_continue);
	HOLDS(x->has_length == y->has_length);
	HOLDS(x->is_chunked == y->is_chunked);
	HOLDS(!x->has_length || x->length == y->length);
	HOLDS(!memcmp(&x->method, &y->method, sizeof(x->method)));
	HOLDS(!memcmp(&x->target, &y->target, sizeof(x->target)));
	HOLDS(!memcmp(&x->reason, &y->reason, sizeof(x->reason)));
	HOLDS(!memcmp(a->fields, b->fields,
		      x->nr_fields * sizeof(a->fields[0])));
}

static bool is_inside(struct http_slice slice, uint32_t size)
{
	return slice.at <= size && slice.size <= size - slice.at;
}

static void compare_reference(const struct parsed *parsed, const char *text,
			      const struct reference_head *wanted)
{
	const struct http_head *head = &parsed->head;

	HOLDS(head->size == wanted->size);
	HOLDS(head->nr_fields == wanted->nr_fields);
	HOLDS(head->keep_alive == wanted->keep_alive);
	HOLDS(head->expects_continue == wanted->expects_continue);
	HOLDS(head->has_length == wanted->has_length);
	HOLDS(head->is_chunked == wanted->is_chunked);
	HOLDS(!head->has_length || head->length == wanted->length);
	HOLDS(head->status == wanted->status);
	for (uint32_t i = 0; i < head->nr_fields; i++) {
		const struct http_field *field = &parsed->fields[i];

		HOLDS(is_inside(field->name, head->size));
		HOLDS(is_inside(field->value, head->size));
		HOLDS(text + field->name.at == wanted->names[i]);
		HOLDS(field->name.size == wanted->name_sizes[i]);
		HOLDS(field->value.size == wanted->value_sizes[i]);
		HOLDS(!field->value.size ||
		      text + field->value.at == wanted->values[i]);
	}
}

static void check_head(const char *text, size_t size, bool is_response)
{
	static const struct reference_limits limits = { LINE_SIZE, HEAD_SIZE,
							MAX_FIELDS };
	static struct reference_head wanted;
	static struct parsed whole, other;
	bool is_good;

	begin_head(&whole, is_response);
	whole.result = http_head_parse(&whole.head, text, size);
	begin_head(&other, is_response);
	for (size_t i = 0; i <= size && other.result == HTTP_MORE; i++)
		other.result = http_head_parse(&other.head, text, i);
	compare_heads(&whole, &other);
	begin_head(&other, is_response);
	for (size_t i = random_below(size + 1);;
	     i += 1 + random_below(size - i)) {
		other.result = http_head_parse(&other.head, text, i);
		if (i == size)
			break;
	}
	compare_heads(&whole, &other);

	is_good = reference_head(text, size, is_response, &limits, &wanted);
	HOLDS(is_good == (whole.result == HTTP_DONE));
	HOLDS((whole.result == HTTP_FAILED) == (whole.head.error != HTTP_OK));
	HOLDS(whole.result != HTTP_MORE || size < HEAD_SIZE);
	if (!is_good)
		return;
	HOLDS(whole.head.size <= size);
	HOLDS(is_inside(whole.head.method, whole.head.size));
	HOLDS(is_inside(whole.head.target, whole.head.size));
	HOLDS(is_inside(whole.head.reason, whole.head.size));
	compare_reference(&whole, text, &wanted);
}

/* ---- bodies ---------------------------------------------------------------------- */

#define MAX_DATA sizeof(((struct reference_chunks *)0)->data)
#define MAX_EXTENSIONS 24
#define MAX_TRAILERS 60

struct decoded {
	char data[MAX_DATA];
	size_t size, used;
	enum http_body_event event;
	struct http_body body;
};

static const struct http_body_limits body_limits = { MAX_DATA, MAX_EXTENSIONS,
						     MAX_TRAILERS, 3 };

static void begin_body(struct decoded *to)
{
	to->size = to->used = 0;
	to->event = HTTP_BODY_MORE;
	http_body_init(&to->body, HTTP_CHUNKED, 0, &body_limits);
}

static void give(struct decoded *to, const char *in, size_t size)
{
	struct http_piece piece;

	do {
		to->event = http_body_next(&to->body, in, size, &piece);
		HOLDS(piece.used <= size);
		HOLDS(piece.at + piece.size <= piece.used);
		HOLDS((to->event == HTTP_BODY_DATA) == (piece.size > 0));
		HOLDS(piece.size <= MAX_DATA - to->size);
		memcpy(to->data + to->size, in + piece.at, piece.size);
		to->size += piece.size;
		to->used += piece.used;
		in += piece.used;
		size -= piece.used;
	} while (to->event == HTTP_BODY_DATA);
	HOLDS(to->event != HTTP_BODY_MORE || size == 0);
}

static void compare_bodies(const struct decoded *a, const struct decoded *b)
{
	HOLDS(a->event == b->event);
	HOLDS(a->body.error == b->body.error);
	HOLDS(a->used == b->used && a->size == b->size);
	HOLDS(!memcmp(a->data, b->data, a->size));
}

static void check_chunks(const char *text, size_t size)
{
	static struct reference_chunks wanted;
	static struct decoded whole, other;
	bool is_good;

	begin_body(&whole);
	give(&whole, text, size);
	begin_body(&other);
	for (size_t i = 0; i < size && other.event == HTTP_BODY_MORE; i++)
		give(&other, text + i, 1);
	compare_bodies(&whole, &other);
	begin_body(&other);
	for (size_t i = 0; i < size && other.event == HTTP_BODY_MORE;) {
		size_t part = 1 + random_below(size - i);

		give(&other, text + i, part);
		i += part;
	}
	compare_bodies(&whole, &other);

	is_good = reference_chunks(text, size, MAX_EXTENSIONS, MAX_TRAILERS,
				   &wanted);
	HOLDS(is_good == (whole.event == HTTP_BODY_END));
	if (!is_good)
		return;
	HOLDS(whole.used == wanted.size);
	HOLDS(whole.size == wanted.data_size);
	HOLDS(!memcmp(whole.data, wanted.data, whole.size));
}

/* ---- targets, ranges, dates ------------------------------------------------------ */

static size_t count(const char *text, size_t size, char c)
{
	size_t nr = 0;

	for (size_t i = 0; i < size; i++)
		nr += text[i] == c;
	return nr;
}

static void check_path(const char *path, uint32_t size)
{
	char decoded[64];
	size_t length;

	if (http_path_decode(path, size, decoded, 60, &length) != HTTP_OK)
		return;
	HOLDS(length < 60 && strlen(decoded) == length);
	HOLDS(decoded[0] == '/' && length <= (size ? size : 1));
	HOLDS(!size || count(decoded, length, '/') == count(path, size, '/'));
	for (size_t i = 0; i < length; i++)
		HOLDS((unsigned char)decoded[i] >= 32 && decoded[i] != 127);
	/* With a slash behind, all segments look alike. */
	memcpy(decoded + length, "/", 2);
	HOLDS(!strstr(decoded, "/./") && !strstr(decoded, "/../"));
}

static void check_target(const char *text, size_t size)
{
	struct http_target target;

	if (http_target_split(text, (uint32_t)size, &target) == HTTP_OK) {
		HOLDS(is_inside(target.host, (uint32_t)size));
		HOLDS(is_inside(target.path, (uint32_t)size));
		HOLDS(is_inside(target.query, (uint32_t)size));
		HOLDS(!target.path.size || text[target.path.at] == '/');
		HOLDS(count(text, size, '#') == 0);
		check_path(text + target.path.at, target.path.size);
	}
	check_path(text, (uint32_t)size);
}

static void check_range(const char *text, size_t size)
{
	uint64_t file_size = random_below(2) ? random_below(200) : UINT64_MAX;
	uint64_t sum = 0;
	struct http_range ranges[4];
	size_t nr;
	enum http_range_answer answer =
		http_range_parse(text, size, file_size, ranges, 4, &nr);

	HOLDS(nr <= 4 && (answer == HTTP_RANGE_PARTS) == (nr > 0));
	for (size_t i = 0; i < nr; i++) {
		HOLDS(ranges[i].size > 0 && ranges[i].first < file_size);
		HOLDS(ranges[i].size <= file_size - ranges[i].first);
		HOLDS(ranges[i].size <= file_size - sum);
		sum += ranges[i].size;
	}
}

static void check_date(const char *text, size_t size)
{
	char again[HTTP_DATE_SIZE];
	time_t time;

	if (!http_date_parse(text, size, &time))
		return;
	/* A leap second at the end of the year 9999. */
	if (!http_date_write(again, time))
		return;
	HOLDS(size == HTTP_DATE_SIZE);
	HOLDS(!memcmp(text + 23, "60", 2) || !memcmp(again, text, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	const char *text = (const char *)input + 1;

	if (size == 0)
		return 0;
	current = input;
	current_size = size--;
	switch (input[0]) {
	case 'q':
		check_head(text, size, false);
		break;
	case 's':
		check_head(text, size, true);
		break;
	case 'c':
		check_chunks(text, size);
		break;
	case 't':
		check_target(text, size);
		break;
	case 'r':
		check_range(text, size);
		break;
	case 'd':
		check_date(text, size);
		break;
	}
	return 0;
}

#ifndef FUZZ_LIBFUZZER

/* ---- the messages, and their changes --------------------------------------------- */

static const char *const corpus[] = {
	"qGET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: keep-alive\r\n"
	"User-Agent: wrk/4.1\r\nAccept: */*\r\n\r\n",
	"qPOST /a?b=c HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n"
	"Expect: 100-continue\r\n\r\nhello, world",
	"qPUT /a HTTP/1.1\r\nhost:\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
	"q\r\nHEAD http://a/b HTTP/1.0\r\nConnection: close, keep-alive\r\n\r\n",
	"qGET /0123456789abcdef/0123456789abcdef HTTP/1.1\r\nHost: [::1]\r\n"
	"X: \t\xff\xfe~ \t 0123456789\t\r\nEmpty:\r\nConnection: Upgrade\r\n"
	"\r\nGET / HTTP/1.1\r\n",
	"sHTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: now\r\n\r\nhello",
	"sHTTP/1.0 404 Not Found\r\nConnection: keep-alive\r\n\r\n",
	"sHTTP/1.1 304 \r\nTransfer-Encoding:chunked\r\n\r\n",
	"c5\r\nhello\r\n10;a=b\r\n0123456789abcdef\r\n0\r\n\r\nGET /",
	"c1 ;x\r\n\n\r\n000\r\nA: b\r\nC: d\r\n\r\n",
	"ca\r\n\r\n0\r\n\r\n\r\n\r\n\r\n0;\"q\"\r\nExpires: never\r\n\r\n",
	"t/a/b%20c/.d/..e?f=%2f",
	"thttp://host:80/%41/b?c",
	"t/..%2e/a/%2e%2E./b",
	"rbytes=0-4,-5, 7-",
	"rbytes=99-100,18446744073709551615-",
	"dSun, 06 Nov 1994 08:49:37 GMT",
	"dThu, 29 Feb 2024 23:59:60 GMT",
};

static const char *const words[] = {
	"\r",
	"\n",
	"\r\n",
	"\r\n\r\n",
	" ",
	"\t",
	":",
	",",
	";",
	"%",
	"/",
	".",
	"..",
	"-",
	"0",
	"9",
	"f",
	"%2e",
	"%2f",
	"%00",
	"*",
	"\x7f",
	"\xff",
	"\r\n ",
	"\r\n\t",
	" :",
	"HTTP/1.1",
	"HTTP/1.0",
	"HTTP/2.0",
	"chunked",
	"gzip, ",
	"close",
	"keep-alive",
	"Content-Length: 5\r\n",
	"Content-Length: 99999999999999999999\r\n",
	"Content-Length:",
	"Transfer-Encoding: chunked\r\n",
	"Host: a\r\n",
	"Host: a b\r\n",
	"Connection: close\r\n",
	"Expect: 100-continue\r\n",
	"A: b\r\n",
	"0\r\n",
	"1\r\na\r\n",
	";ext\r\n",
	"fffffffffffffffff",
	"bytes=",
	"29 Feb",
	"0123456789012345678901234567890123456789",
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_INPUT 700

struct input {
	uint8_t bytes[MAX_INPUT];
	size_t size;
};

static void cut(struct input *input, size_t at, size_t size)
{
	memmove(input->bytes + at, input->bytes + at + size,
		input->size - at - size);
	input->size -= size;
}

static void insert(struct input *input, size_t at, const void *bytes,
		   size_t size)
{
	uint8_t copy[MAX_INPUT];

	if (size > MAX_INPUT - input->size)
		return;
	memcpy(copy, bytes, size); /* may be a part of the input */
	memmove(input->bytes + at + size, input->bytes + at, input->size - at);
	memcpy(input->bytes + at, copy, size);
	input->size += size;
}

/* One change behind the first byte, which says what the input is. */
static void change(struct input *input)
{
	size_t at = 1 + random_below(input->size);
	size_t left, size;
	const char *other;

	if (at > input->size)
		at = input->size;
	left = input->size - at;
	size = left ? 1 + random_below(left < 20 ? left : 20) : 0;
	switch (random_below(8)) {
	case 0:
		if (left)
			input->bytes[at] ^= (uint8_t)(1 << random_below(8));
		break;
	case 1:
		if (left)
			input->bytes[at] = (uint8_t)random_below(256);
		break;
	case 2:
		cut(input, at, size);
		break;
	case 3:
		insert(input, at, input->bytes + at, size);
		break;
	case 4:
		input->size = at;
		break;
	case 5: /* the end of another message */
		other = corpus[random_below(NR(corpus))];
		other += 1 + random_below(strlen(other));
		input->size = at;
		insert(input, at, other, strlen(other));
		break;
	default:
		other = words[random_below(NR(words))];
		insert(input, at, other, strlen(other));
	}
}

int main(int argc, char **argv)
{
	long executions = argc > 1 ? atol(argv[1]) : 100000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct input input;

	random_state = seed * 0x9e3779b97f4a7c15u | 1;
	for (long i = 0; i < executions; i++) {
		const char *text = corpus[i % (long)NR(corpus)];
		uint8_t *exact;

		input.size = 0;
		insert(&input, 0, text, strlen(text));
		for (uint64_t nr = random_below(5); nr > 0; nr--)
			change(&input);
		/* Nothing behind: so a sanitizer sees a byte too many. */
		exact = malloc(input.size);
		memcpy(exact, input.bytes, input.size);
		LLVMFuzzerTestOneInput(exact, input.size);
		free(exact);
	}
	printf("%ld executions, seed %llu\n", executions,
	       (unsigned long long)seed);
	return 0;
}

#endif
