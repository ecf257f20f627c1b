/* SPDX-License-Identifier: MIT */
/*
 * manual.c - see manual.h.
 *
 * The pages lie beside the program: it may have been installed where man does not
 * look, or not at all.
 */
#include "manual.h"

#include "command.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLACE_SIZE 2048

/* The folder above man3 with our pages; false: there is none. */
static bool find_pages(char place[PLACE_SIZE])
{
	static const char *const places[] = { "/../share/man", "/../man" };
	char program[1024], page[PLACE_SIZE + 32];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
	const char *slash;

	if (length <= 0)
		return false;
	slash = memrchr(program, '/', (size_t)length);
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(place, PLACE_SIZE, "%.*s%s", (int)(slash - program),
			 program, places[i]);
		snprintf(page, sizeof(page), "%s/man3/sley.h.3", place);
		if (access(page, R_OK) == 0)
			return true;
	}
	return false;
}

/* Let man look at our pages first. */
static void add_manpath(void)
{
	const char *others = getenv("MANPATH");
	char place[PLACE_SIZE], value[2 * PLACE_SIZE];

	if (!find_pages(place))
		return;
	/* An empty place means: where man looks by itself. */
	snprintf(value, sizeof(value), "%s:%s", place, others ? others : "");
	setenv("MANPATH", value, 1);
}

static int is_page(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 7 && strncmp(entry->d_name, "sley_", 5) == 0 &&
	       strcmp(entry->d_name + length - 2, ".3") == 0;
}

void manual_offer(struct near *near)
{
	size_t skipped = strncmp(near->word, "sley_", 5) ? 5 : 0;
	char place[PLACE_SIZE], folder[PLACE_SIZE + 8];
	struct dirent **pages;
	int nr;

	if (!find_pages(place))
		return;
	snprintf(folder, sizeof(folder), "%s/man3", place);
	nr = scandir(folder, &pages, is_page, alphasort);
	for (int i = 0; i < nr; i++) {
		char *name = pages[i]->d_name;

		name[strlen(name) - 2] = '\0';
		near_offer(near, name + skipped, name, NULL);
		free(pages[i]);
	}
	if (nr >= 0)
		free(pages);
}

int manual_show(const char *name)
{
	add_manpath();
	execlp("man", "man", "3", name, (char *)NULL);
	perror("sley: cannot run man");
	return STATUS_TROUBLE;
}
