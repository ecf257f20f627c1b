/* SPDX-License-Identifier: MIT */
/*
 * 54_domain_wake.c - a task is woken by another process, which was sent its waker
 *
 *   cc 54_domain_wake.c $(pkg-config --cflags --libs sley)
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/sley-54-XXXXXX", path[64], byte = '!';
static int go[2], told[2]; /* pipes to the child, and back */
static struct sley_domain_waker waker;
static struct sley *rt;

static void sleeper(void *arg)
{
	struct sley_waker self;

	if (!sley_waker_self(&self) &&
	    !sley_domain_share_waker(rt, self.id, &waker) &&
	    write(told[1], &waker, sizeof(waker)) == sizeof(waker))
		*(int *)arg = sley_suspend_until(sley_after(10 * SLEY_SEC));
}

static int be_child(int result)
{
	if (close(go[1]) || read(go[0], &byte, 1) != 1 ||
	    sley_create(&rt, SLEY_CONFIG(.domain = path)) ||
	    sley_schedule_on(rt, sleeper, &result, NULL) || sley_destroy(rt))
		return 1;
	return result;
}

int main(void)
{
	struct sley_domain_host *host;
	int err, status;

	if (!mkdtemp(folder) || pipe(go) || pipe(told) ||
	    snprintf(path, sizeof(path), "%s/s", folder) < 0)
		return 1;
	if (!fork()) /* before there are threads */
		return be_child(1);
	if (sley_domain_host_create(&host,
				    SLEY_DOMAIN_HOST_OPTIONS(.name = path)) ||
	    sley_create(&rt, SLEY_CONFIG(.domain = path)) ||
	    write(go[1], &byte, 1) != 1 || close(told[1]) ||
	    read(told[0], &waker, sizeof(waker)) != sizeof(waker))
		return 1;
	while ((err = sley_domain_wake(rt, &waker)) == -EAGAIN)
		sley_sleep(SLEY_MSEC); /* it has come a moment ago */
	printf("wake: %s\n", sley_strerror(err));
	return wait(&status) < 0 || status || sley_destroy(rt) || err ||
	       (sley_domain_host_destroy(host), rmdir(folder));
}
