/* SPDX-License-Identifier: MIT */
/*
 * file.c - <sley/http.h>: a file as an answer.
 */
#include "http/message/file_answer.h"
#include "http/server/connection.h"
#include "http/server/system.h"

#include <errno.h>
#include <stdio.h>

/* Each megabyte has a deadline. */
#define PIECE_SIZE (1u << 20)

static int send_part(struct connection *connection, int fd,
		     const struct http_range *part)
{
	uint64_t at = part->first, end = part->first + part->size;
	ssize_t n = connection_flush(connection);

	while (!n && at < end) {
		uint64_t left = end - at;

		n = sley_stream_sendfile_until(
			connection->stream, fd, (int64_t)at,
			left < PIECE_SIZE ? (size_t)left : PIECE_SIZE,
			connection_deadline(connection,
					    connection->options->write_ms));
		if (!n)
			n = -EIO; /* the file has shrunk */
		if (n > 0) {
			at += (uint64_t)n;
			n = 0;
		}
	}
	connection->state = n ? ANSWER_BROKEN : ANSWER_DONE;
	return (int)n;
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

int sley_http_respond_file(struct sley_http_response *response, int fd,
			   const char *type)
{
	struct connection *connection = response->connection;
	struct timespec changed;
	struct http_range part;
	struct http_file file;
	uint64_t size;
	int status, err = system_file(fd, &size, &changed);

	if (err)
		return err;
	http_file_init(&file, size, changed);
	status = http_file_status(&file, &connection->head, connection->in,
				  &part);
	err = add_fields(response, &file, status, &part);
	if (err)
		return err;
	if (status != 200 && status != 206)
		return sley_http_respond(response, status, NULL, NULL, 0);
	err = response_begin(connection, status, type, part.size);
	if (err || connection->request.is_head || !part.size) {
		connection->state = err ? connection->state : ANSWER_DONE;
		return err;
	}
	return send_part(connection, fd, &part);
}
