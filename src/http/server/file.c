/* SPDX-License-Identifier: MIT */
/*
 * file.c - <sley/http.h>: a file as an answer.
 *
 * A small part of a file is read behind the exchange, and goes out together with the
 * head: two system calls, and an error of the read can still be answered.  A larger
 * part follows its head by sendfile(2), which copies nothing.
 */
#include "http/message/file_answer.h"
#include "http/server/exchange.h"
#include "http/server/system.h"

#include <errno.h>
#include <sley/io_file.h>
#include <stdio.h>

/* Each megabyte has a deadline. */
#define PIECE_SIZE (1u << 20)

static int send_part(struct exchange *exchange, int fd,
		     const struct http_range *part)
{
	uint64_t at = part->first, end = part->first + part->size;
	ssize_t n = connection_flush(exchange->connection);

	while (!n && at < end) {
		uint64_t left = end - at;

		n = sley_stream_sendfile_until(
			exchange->stream, fd, (int64_t)at,
			left < PIECE_SIZE ? (size_t)left : PIECE_SIZE,
			connection_deadline(
				exchange->connection,
				exchange->connection->options->write_ms));
		if (!n)
			n = -EIO; /* the file has shrunk */
		if (n > 0) {
			at += (uint64_t)n;
			n = 0;
		}
	}
	exchange->state = n ? ANSWER_BROKEN : ANSWER_DONE;
	return (int)n;
}

/* All of @part is in exchange->file_part: 0 or -errno. */
static int read_part(struct exchange *exchange, int fd,
		     const struct http_range *part)
{
	struct connection *connection = exchange->connection;
	size_t size = (size_t)part->size;
	ssize_t n =
		system_read_cached(fd, exchange->file_part, size, part->first);

	if (unlikely(n != (ssize_t)size))
		n = sley_io_pread_until(
			fd, exchange->file_part, size, (off_t)part->first,
			connection_deadline(connection,
					    connection->options->write_ms));
	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EIO; /* the file has shrunk */
}

static int add_fields(struct sley_http_response *response,
		      const struct http_file *file, int status,
		      const struct http_range *part)
{
	unsigned long long first = part->first, size = file->size;
	char date[HTTP_DATE_SIZE + 1], range[80];
	int err = sley_http_add(response, "ETag", file->tag);

	if (!err && http_date_write(date, file->changed.tv_sec)) {
		date[HTTP_DATE_SIZE] = '\0';
		err = sley_http_add(response, "Last-Modified", date);
	}
	if (!err)
		err = sley_http_add(response, "Accept-Ranges", "bytes");
	if (status == 206)
		snprintf(range, sizeof(range), "bytes %llu-%llu/%llu", first,
			 first + part->size - 1, size);
	else if (status == 416)
		snprintf(range, sizeof(range), "bytes */%llu", size);
	else
		return err;
	return err ? err : sley_http_add(response, "Content-Range", range);
}

/* 200 or 206: the head, and the part by sendfile(2). */
static int send_large(struct exchange *exchange, int status, const char *type,
		      int fd, const struct http_range *part)
{
	int err = response_begin(exchange, status, type, part->size);

	if (err)
		return err;
	if (!exchange->request.is_head)
		return send_part(exchange, fd, part);
	exchange->state = ANSWER_DONE;
	return 0;
}

int sley_http_respond_file(struct sley_http_response *response, int fd,
			   const char *type)
{
	struct exchange *exchange = response->exchange;
	struct timespec changed;
	struct http_range part;
	struct http_file file;
	uint64_t size;
	int status, err = system_file(fd, &size, &changed);
	bool is_small;

	if (err)
		return err;
	http_file_init(&file, size, changed);
	status = http_file_status(&file, &exchange->head, exchange->in, &part);
	if (status != 200 && status != 206) {
		err = add_fields(response, &file, status, &part);
		return err ? err
			   : sley_http_respond(response, status, NULL, NULL, 0);
	}
	is_small = part.size <= SMALL_FILE_MAX;
	if (is_small && part.size && !exchange->request.is_head)
		err = read_part(exchange, fd, &part);
	if (!err)
		err = add_fields(response, &file, status, &part);
	if (err)
		return err;
	if (is_small)
		return sley_http_respond(response, status, type,
					 exchange->file_part,
					 (size_t)part.size);
	return send_large(exchange, status, type, fd, &part);
}
