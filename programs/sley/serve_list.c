/* SPDX-License-Identifier: MIT */
/*
 * serve_list.c - sley serve: the names in a folder, as a page.
 *
 * Names come from strangers, too: each is escaped twice, as a text of HTML and as a
 * part of an address.
 */
#include "serve_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_NAMES 10000

static void put_text(FILE *page, const char *text)
{
	for (; *text; text++) {
		if (strchr("&<>\"'", *text))
			fprintf(page, "&#%d;", *text);
		else
			fputc((unsigned char)*text < ' ' ? '?' : *text, page);
	}
}

static void put_address(FILE *page, const char *name)
{
	fputs("./", page); /* a colon in the name begins no scheme */
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (isalnum(c) || strchr("-_.~", c))
			fputc(c, page);
		else
			fprintf(page, "%%%02X", c);
	}
}

struct names {
	char **name; /* folders have a slash behind */
	size_t nr, max;
};

static int add(struct names *names, const struct dirent *entry)
{
	size_t size = strlen(entry->d_name);
	char *name;

	if (names->nr == names->max) {
		size_t max = names->max ? names->max * 2 : 64;
		char **more = realloc(names->name, max * sizeof(*more));

		if (!more)
			return -ENOMEM;
		names->name = more;
		names->max = max;
	}
	name = malloc(size + 2);
	if (!name)
		return -ENOMEM;
	memcpy(name, entry->d_name, size + 1);
	if (entry->d_type == DT_DIR)
		memcpy(name + size, "/", 2);
	names->name[names->nr++] = name;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(struct names *names, int folder, bool dot_files)
{
	/* A descriptor of its own: it has its own position. */
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && names->nr < MAX_NAMES && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0 ||
		    (entry->d_name[0] == '.' && !dot_files))
			continue;
		err = add(names, entry);
	}
	closedir(dir);
	qsort(names->name, names->nr, sizeof(*names->name), by_name);
	return err;
}

static void put_entry(FILE *page, char *name)
{
	size_t size = strlen(name);
	bool is_folder = name[size - 1] == '/';

	if (is_folder)
		name[size - 1] = '\0';
	fputs("<li><a href=\"", page);
	put_address(page, name);
	fputs(is_folder ? "/\">" : "\">", page);
	put_text(page, name);
	fputs(is_folder ? "/</a>\n" : "</a>\n", page);
}

static void put_page(FILE *page, const struct names *names, const char *path)
{
	fputs("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>", page);
	put_text(page, path);
	fputs("</title>\n<h1>", page);
	put_text(page, path);
	fputs("</h1>\n<ul>\n", page);
	if (strcmp(path, "/") != 0)
		fputs("<li><a href=\"../\">../</a>\n", page);
	for (size_t i = 0; i < names->nr; i++)
		put_entry(page, names->name[i]);
	fputs("</ul>\n", page);
	if (names->nr == MAX_NAMES)
		fprintf(page, "<p>Only %d names are listed.\n", MAX_NAMES);
}

int serve_list(struct sley_http_response *response, int folder,
	       const char *path, bool dot_files)
{
	struct names names = { NULL, 0, 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *page = open_memstream(&text, &size);
	int err = page ? read_names(&names, folder, dot_files) : -ENOMEM;

	if (!err)
		put_page(page, &names, path);
	if (page && fclose(page) && !err)
		err = -ENOMEM;
	if (!err)
		err = sley_http_respond(response, 200,
					"text/html; charset=utf-8", text, size);
	for (size_t i = 0; i < names.nr; i++)
		free(names.name[i]);
	free(names.name);
	free(text);
	return err;
}
