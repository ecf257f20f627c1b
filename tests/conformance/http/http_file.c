/* SPDX-License-Identifier: MIT */
/*
 * http_file.c - <sley/http.h>: files as answers.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "conformance/http/serving.h"

#define FILE_SIZE 100000

static struct reply reply;

struct shared_file {
	int fd;
	int result;
};

static int send_file(struct sley_http_request *request,
		     struct sley_http_response *response, void *arg)
{
	struct shared_file *file = arg;

	(void)request;
	file->result = sley_http_respond_file(response, file->fd, "text/plain");
	return file->result;
}

static char byte_at(size_t i)
{
	return (char)('a' + (i * 31 + i / 251) % 26);
}

static int make_file(size_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	char *data = malloc(size + 1);

	CHECK(fd >= 0);
	CHECK(data != NULL);
	for (size_t i = 0; i < size; i++)
		data[i] = byte_at(i);
	CHECK_EQ(write(fd, data, size), size);
	free(data);
	return fd;
}

static void check_body(size_t first, size_t size)
{
	CHECK_EQ(reply.size, size);
	for (size_t i = 0; i < size; i++)
		CHECK_EQ(reply.body[i], byte_at(first + i));
}

static void ask(struct peer *peer, const char *method, const char *fields)
{
	char text[500];

	snprintf(text, sizeof(text), "%s / HTTP/1.1\r\nHost: a\r\n%s\r\n",
		 method, fields);
	peer_send(peer, text);
}

TEST_WORKERS(a_file_arrives_whole_and_in_parts)
{
	struct sley *rt = start();
	struct shared_file file = { .fd = make_file(FILE_SIZE) };
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, send_file, &file, NULL);
	peer = peer_connect(&serving);
	ask(peer, "GET", "");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 200);
	CHECK(reply_has(&reply, "Accept-Ranges: bytes"));
	check_body(0, FILE_SIZE);
	ask(peer, "GET", "Range: bytes=50000-50009\r\n");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 206);
	CHECK(reply_has(&reply, "Content-Range: bytes 50000-50009/100000"));
	check_body(50000, 10);
	ask(peer, "GET", "Range: bytes=-3\r\n");
	peer_reply(peer, &reply);
	CHECK(reply_has(&reply, "Content-Range: bytes 99997-99999/100000"));
	check_body(FILE_SIZE - 3, 3);
	ask(peer, "GET", "Range: bytes=0-1,3-4\r\n");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 200);
	check_body(0, FILE_SIZE);
	ask(peer, "GET", "Range: bytes=100000-\r\n");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 416);
	CHECK(reply_has(&reply, "Content-Range: bytes */100000"));
	CHECK_EQ(reply.size, 0);
	peer_close(peer);
	serving_stop(&serving);
	CHECK_EQ(close(file.fd), 0);
	stop(rt);
}

TEST_WORKERS(head_of_a_file_has_its_length_and_no_body)
{
	struct sley *rt = start();
	struct shared_file file = { .fd = make_file(FILE_SIZE) };
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, send_file, &file, NULL);
	peer = peer_connect(&serving);
	ask(peer, "HEAD", "");
	peer_head(peer, &reply);
	CHECK_EQ(reply.status, 200);
	CHECK(reply_has(&reply, "Content-Length: 100000"));
	ask(peer, "GET", "Range: bytes=1-2\r\n");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 206);
	peer_close(peer);
	serving_stop(&serving);
	CHECK_EQ(close(file.fd), 0);
	stop(rt);
}

TEST_WORKERS(a_client_with_a_fresh_copy_gets_304)
{
	struct sley *rt = start();
	struct shared_file file = { .fd = make_file(0) };
	struct serving serving;
	struct peer *peer;
	char fields[200], *tag;

	serving_start(&serving, send_file, &file, NULL);
	peer = peer_connect(&serving);
	ask(peer, "GET", "");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 200);
	CHECK_EQ(reply.size, 0);
	tag = strstr(reply.head, "\r\nETag: ");
	CHECK(tag != NULL);
	snprintf(fields, sizeof(fields), "If-None-Match: %.*s",
		 (int)(strchr(tag + 2, '\n') - tag - 7), tag + 8);
	ask(peer, "GET", fields);
	peer_head(peer, &reply);
	CHECK_EQ(reply.status, 304);
	CHECK(strstr(reply.head, "Content-Length") == NULL);
	/* The next answer follows at once: 304 has no body. */
	ask(peer, "GET", "If-Match: \"x\"\r\n");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 412);
	peer_close(peer);
	serving_stop(&serving);
	CHECK_EQ(close(file.fd), 0);
	stop(rt);
}

/* Answers in the order of their requests, files among them. */
TEST_WORKERS(files_and_other_answers_keep_their_order)
{
	struct sley *rt = start();
	struct shared_file file = { .fd = make_file(1000) };
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, send_file, &file, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, GET("/") "GET / HTTP/1.1\r\nHost: a\r\n"
				 "Range: bytes=5000-\r\n\r\n" GET("/"));
	peer_reply(peer, &reply);
	check_body(0, 1000);
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 416);
	peer_reply(peer, &reply);
	check_body(0, 1000);
	peer_close(peer);
	serving_stop(&serving);
	CHECK_EQ(close(file.fd), 0);
	stop(rt);
}

/* Small files are read, large files are sent by sendfile(2). */
TEST_WORKERS(files_of_all_sizes_arrive_whole)
{
	static const size_t sizes[] = { 0, 1, 4096, 8191, 8192, 8193, 30000 };
	struct sley *rt = start();
	struct shared_file file = { .fd = make_file(30000) };
	struct serving serving;
	struct peer *peer;
	char range[60];

	serving_start(&serving, send_file, &file, NULL);
	peer = peer_connect(&serving);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		int whole = make_file(sizes[i]);

		if (sizes[i]) {
			snprintf(range, sizeof(range), "Range: bytes=-%zu\r\n",
				 sizes[i]);
			ask(peer, "GET", range);
			peer_reply(peer, &reply);
			CHECK_EQ(reply.status, 206);
			check_body(30000 - sizes[i], sizes[i]);
		}
		CHECK_EQ(dup3(whole, file.fd, O_CLOEXEC), file.fd);
		CHECK_EQ(close(whole), 0);
		ask(peer, "GET", "");
		peer_reply(peer, &reply);
		CHECK_EQ(reply.status, 200);
		check_body(0, sizes[i]);
		whole = make_file(30000);
		CHECK_EQ(dup3(whole, file.fd, O_CLOEXEC), file.fd);
		CHECK_EQ(close(whole), 0);
	}
	peer_close(peer);
	serving_stop(&serving);
	CHECK_EQ(close(file.fd), 0);
	stop(rt);
}

/* Nothing is written before a small file is read. */
TEST_WORKERS(a_small_file_that_cannot_be_read_gets_an_answer)
{
	struct sley *rt = start();
	int fd = make_file(1000);
	struct shared_file file;
	struct serving serving;
	struct peer *peer;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file.fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK(file.fd >= 0);
	serving_start(&serving, send_file, &file, NULL);
	peer = peer_connect(&serving);
	for (int i = 0; i < 2; i++) {
		ask(peer, "GET", "");
		peer_reply(peer, &reply);
		CHECK_EQ(reply.status, 500);
		CHECK_EQ(file.result, -EBADF);
		CHECK(strstr(reply.head, "ETag") == NULL);
	}
	/* A HEAD needs no byte of the file. */
	ask(peer, "HEAD", "");
	peer_head(peer, &reply);
	CHECK_EQ(reply.status, 200);
	peer_close(peer);
	serving_stop(&serving);
	CHECK_EQ(close(file.fd), 0);
	CHECK_EQ(close(fd), 0);
	stop(rt);
}

TEST_WORKERS(what_is_no_file_is_refused)
{
	struct sley *rt = start();
	struct shared_file file = { .fd = open("/", O_RDONLY | O_CLOEXEC) };
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, send_file, &file, NULL);
	peer = peer_connect(&serving);
	ask(peer, "GET", "");
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 500);
	CHECK_EQ(file.result, -EINVAL);
	peer_close(peer);
	serving_stop(&serving);
	CHECK_EQ(close(file.fd), 0);
	stop(rt);
}

/* The size is told before the bytes are sent, and cannot be taken back. */
TEST_WORKERS(a_file_that_shrinks_ends_the_connection)
{
	struct sley *rt = start();
	struct shared_file file = { .fd = make_file(0) };
	struct serving serving;
	struct peer *peer;
	ssize_t n;

	CHECK_EQ(ftruncate(file.fd, 64 << 20), 0);
	serving_start(&serving, send_file, &file, NULL);
	peer = peer_connect(&serving);
	ask(peer, "GET", "");
	peer_head(peer, &reply);
	CHECK_EQ(reply.status, 200);
	CHECK_EQ(ftruncate(file.fd, 1), 0);
	do {
		peer->size = 0;
		n = peer_receive(peer);
	} while (n > 0);
	CHECK_EQ(n, -ECONNRESET);
	peer_close(peer);
	serving_stop(&serving);
	CHECK_EQ(file.result, -EIO);
	CHECK_EQ(close(file.fd), 0);
	stop(rt);
}
