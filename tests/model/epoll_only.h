/* SPDX-License-Identifier: MIT */
/*
 * epoll_only.h - for models of src/io/reactor.c, whose reactors have an epoll: the
 * names of the thread that others have in its place.
 *
 * Include this file in one source of a model.
 */
#ifndef SLEY_TESTS_MODEL_EPOLL_ONLY_H
#define SLEY_TESTS_MODEL_EPOLL_ONLY_H

#include "explorer.h"

#include "io/poll_thread.h"

int poll_thread_start(struct sley *owner, struct poll_thread **out)
{
	(void)owner;
	(void)out;
	MODEL_CHECK(!"there is an epoll");
	return 0;
}

void poll_thread_end(struct sley *owner, struct poll_thread *thread)
{
	(void)owner;
	(void)thread;
	MODEL_CHECK(!"there is an epoll");
}

int poll_thread_watch(struct poll_thread *thread, int fd, unsigned int bits)
{
	(void)thread;
	(void)fd;
	(void)bits;
	MODEL_CHECK(!"there is an epoll");
	return 0;
}

void poll_thread_forget(struct poll_thread *thread, int fd)
{
	(void)thread;
	(void)fd;
	MODEL_CHECK(!"there is an epoll");
}

#endif
