/* SPDX-License-Identifier: MIT */
/*
 * 53_domain.c - two runtimes share the cores: urgent tasks of one run before all tasks of
 * the other
 *
 *   cc 53_domain.c $(pkg-config --cflags --libs sley)
 *
 * In life they are two programs, which need no more than SLEY_DOMAIN=NAME.
 */
#define _XOPEN_SOURCE 700
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/sley-53-XXXXXX", path[64];

/* Work that has time: between two pieces others may go first. */
static void batch(void *arg)
{
	for (volatile int *piece = arg; *piece < 20000; ++*piece)
		sley_yield();
}

/* A frame is due every millisecond. */
static void frames(void *arg)
{
	for (int *frame = arg; *frame < 50; ++*frame) {
		if (sley_sleep(SLEY_MSEC))
			return;
	}
}

int main(void)
{
	struct sley_domain_member member[2];
	struct sley_domain_host *host;
	struct sley *rt[2];
	int pieces = 0, nr_frames = 0, nr;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/s", folder);
	if (sley_domain_host_create(&host,
				    SLEY_DOMAIN_HOST_OPTIONS(.name = path)) ||
	    sley_create(&rt[0], SLEY_CONFIG(.domain = path, .workers = 2)) ||
	    sley_create(&rt[1], SLEY_CONFIG(.domain = path, .workers = 2)) ||
	    sley_schedule_on(rt[0], batch, &pieces, NULL) ||
	    sley_schedule_on(rt[1], frames, &nr_frames,
			     SLEY_OPTIONS(.priority = -10)))
		return 1;
	nr = sley_domain_list(path, member, 2, NULL);
	for (int i = 0; i < nr; i++)
		printf("member %u of pid %d\n", member[i].index, member[i].pid);
	if (sley_destroy(rt[0]) || sley_destroy(rt[1]))
		return 1;
	printf("%d pieces, %d frames\n", pieces, nr_frames);
	sley_domain_host_destroy(host);
	return nr != 2 || nr_frames != 50 || rmdir(folder);
}
