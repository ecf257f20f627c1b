/* SPDX-License-Identifier: MIT */
/*
 * serve_files.c - see serve_files.h.
 */
#include "serve_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sley/io.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_SIZE 4096

/* The Content-Type by the end of the name. */
static const struct {
	const char *end, *type;
} types[] = {
	{ ".html", "text/html; charset=utf-8" },
	{ ".htm", "text/html; charset=utf-8" },
	{ ".txt", "text/plain; charset=utf-8" },
	{ ".md", "text/plain; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".mjs", "text/javascript; charset=utf-8" },
	{ ".json", "application/json" },
	{ ".xml", "application/xml" },
	{ ".pdf", "application/pdf" },
	{ ".wasm", "application/wasm" },
	{ ".svg", "image/svg+xml" },
	{ ".png", "image/png" },
	{ ".jpg", "image/jpeg" },
	{ ".jpeg", "image/jpeg" },
	{ ".gif", "image/gif" },
	{ ".webp", "image/webp" },
	{ ".ico", "image/x-icon" },
	{ ".mp3", "audio/mpeg" },
	{ ".mp4", "video/mp4" },
	{ ".webm", "video/webm" },
	{ ".woff2", "font/woff2" },
};

static const char *type_of(const char *path)
{
	const char *end = strrchr(path, '.');

	for (size_t i = 0; end && i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcasecmp(end, types[i].end) == 0)
			return types[i].type;
	}
	return "application/octet-stream";
}

int serve_files_beneath(int folder, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_RDONLY | O_CLOEXEC | O_NOCTTY |
				    O_NONBLOCK),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	do {
		fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
	} while (fd < 0 &&
		 errno == EAGAIN); /* the folder was moved meanwhile */
	return fd < 0 ? -errno : (int)fd;
}

int serve_files_open(struct serve_files *files, const char *folder)
{
	int fd;

	files->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->folder < 0)
		return -errno;
	fd = serve_files_beneath(files->folder, ".", O_DIRECTORY);
	if (fd < 0) {
		close(files->folder);
		return fd;
	}
	close(fd);
	return 0;
}

/* Has the path a name that begins with a dot? */
static bool has_dot_file(const char *path)
{
	return strstr(path, "/.") != NULL;
}

/* What the client may not have, and what is not there, looks the same. */
static int hidden(int err)
{
	switch (err) {
	case -EXDEV: /* RESOLVE_BENEATH */
	case -ELOOP:
	case -ENOTDIR:
	case -ENAMETOOLONG:
	case -ENXIO:
	case -EACCES:
	case -EPERM:
		return -ENOENT;
	default:
		return err;
	}
}

/* Relative links in a page need the slash: the folder has another address. */
static int redirect(const struct sley_http_request *request,
		    struct sley_http_response *response)
{
	char to[PATH_SIZE + 2];
	int err;

	/* "//host/" would be another server. */
	if (request->path.size > PATH_SIZE || request->path.data[1] == '/')
		return -ENOENT;
	snprintf(to, sizeof(to), "%.*s/", (int)request->path.size,
		 request->path.data);
	err = sley_http_add(response, "Location", to);
	return err ? err : sley_http_respond(response, 301, NULL, NULL, 0);
}

static int answer_folder(const struct serve_files *files, int folder,
			 struct sley_http_response *response, const char *path)
{
	int err, index = serve_files_beneath(folder, "index.html", 0);

	if (index >= 0) {
		err = sley_http_respond_file(response, index, type_of(".html"));
		sley_io_close(index);
		return err;
	}
	if (!files->lists || index != -ENOENT)
		return -ENOENT;
	return serve_list(response, folder, path, files->dot_files);
}

static int answer_opened(const struct serve_files *files, int fd,
			 const struct sley_http_request *request,
			 struct sley_http_response *response, const char *path)
{
	bool slash = path[strlen(path) - 1] == '/';
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return slash ? answer_folder(files, fd, response, path)
			     : redirect(request, response);
	if (!S_ISREG(status.st_mode) || slash)
		return -ENOENT;
	return sley_http_respond_file(response, fd, type_of(path));
}

static bool is_method(const struct sley_http_request *request, const char *name)
{
	return request->method.size == strlen(name) &&
	       memcmp(request->method.data, name, request->method.size) == 0;
}

int serve_files_answer(struct sley_http_request *request,
		       struct sley_http_response *response, void *arg)
{
	const struct serve_files *files = arg;
	char path[PATH_SIZE];
	const char *inside = path;
	ssize_t n;
	int fd, err;

	if (!is_method(request, "GET") && !is_method(request, "HEAD")) {
		err = sley_http_add(response, "Allow", "GET, HEAD");
		return err ? err
			   : sley_http_respond(response, 405, NULL, NULL, 0);
	}
	n = sley_http_path(request, path, sizeof(path));
	if (n < 0)
		return (int)n;
	if (has_dot_file(path) && !files->dot_files)
		return -ENOENT;
	inside += strspn(path, "/");
	fd = serve_files_beneath(files->folder, *inside ? inside : ".", 0);
	if (fd < 0)
		return hidden(fd);
	err = sley_http_add(response, "X-Content-Type-Options", "nosniff");
	if (!err)
		err = answer_opened(files, fd, request, response, path);
	sley_io_close(fd);
	return err;
}
