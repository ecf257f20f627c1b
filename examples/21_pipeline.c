/* SPDX-License-Identifier: MIT */
/*
 * 21_pipeline.c - lines read in order, changed side by side, written in order.
 *
 *   cc 21_pipeline.c $(pkg-config --cflags --libs sley)
 */
#include <ctype.h>
#include <sley/sley.h>
#include <stdio.h>
#include <string.h>

static char lines[3][20] = { "warp and", "weft", "go" };

/* The first stage makes the items; *item that stays NULL is the end. */
static int read_line(void **item, void *arg)
{
	int *at = arg;

	if (*at < 3)
		*item = lines[(*at)++];
	return 0;
}

static int shout(void **item, void *arg)
{
	char *line = *item;

	(void)arg;
	sley_sleep(strlen(line) * SLEY_MSEC); /* the first line takes longest */
	for (; *line; line++)
		*line = (char)toupper((unsigned char)*line);
	return 0;
}

static int write_line(void **item, void *arg)
{
	int *written = arg;

	puts(*item);
	return *item == lines[(*written)++] ? 0 : -1;
}

static void root(void *arg)
{
	int read = 0, written = 0;
	const struct sley_stage stages[] = {
		{ read_line, &read, SLEY_STAGE_ORDERED, NULL },
		{ shout, NULL, SLEY_STAGE_PARALLEL, NULL },
		{ write_line, &written, SLEY_STAGE_ORDERED, NULL },
	};

	*(bool *)arg = sley_pipeline(stages, 3, 4) == 0 && written == 3;
}

int main(void)
{
	bool ok = false;

	return sley_run(NULL, root, &ok) != 0 || !ok;
}
