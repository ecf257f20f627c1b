/* SPDX-License-Identifier: MIT */
/*
 * host.c - the thread of a host, its beginning and its end.  See host.h.
 */
#include "domain/host.h"

#include "base/options.h"
#include "core/task/countdown.h"
#include "mem/alloc.h"
#include "os/at_fork.h"
#include "os/clock.h"
#include "os/cpus.h"
#include "os/eventfd.h"
#include "os/map.h"
#include "os/sched_attr.h"
#include "os/shared_memory.h"
#include "os/thread.h"

#include <errno.h>
#include <sley/cpus.h>
#include <sley/error.h>

#define LISTENER UINT32_MAX
#define NEWS (UINT32_MAX - 1)
#define TAGS_MAX 16
#define LONELY_NS 10000000000ull /* until the first member must have come   */
#define PAUSE_NS 50000000u /* after the kernel has accepted nobody         */

/* ---- the thread ---------------------------------------------------------------------- */

/* Else it would be told of the process that waits, again and again. */
static void pause_listening(struct sley_domain_host *host, int err)
{
	host_say(host, "cannot accept a process: %s", sley_strerror(err));
	os_epoll_remove(host->epoll, host->listener.fd);
	host->listen_again_ns = os_now() + PAUSE_NS;
}

static void accept_some(struct sley_domain_host *host)
{
	int err = host_accept(host);

	if (err)
		pause_listening(host, err);
}

static void listen_again(struct sley_domain_host *host, uint64_t now)
{
	if (!host->listen_again_ns || now < host->listen_again_ns)
		return;
	host->listen_again_ns = 0;
	if (os_epoll_add(host->epoll, host->listener.fd, LISTENER) != 0)
		host->listen_again_ns = now + PAUSE_NS;
}

/* It may be another guest by now: so look. */
static void hear(struct sley_domain_host *host, uint32_t tag)
{
	struct guest *guest = &host->guest[tag / 2];

	if (guest->socket < 0)
		return;
	if (tag % 2 == 0)
		host_hear(host, guest);
	else if (os_fd_is_readable(guest->pidfd))
		host_end_guest(host, guest, 0, NULL);
}

static void hear_news(struct sley_domain_host *host)
{
	/* First, so that no later signal is lost. */
	os_eventfd_clear(host->news);
	host_refresh(host);
}

static void hear_all(struct sley_domain_host *host)
{
	uint32_t tags[TAGS_MAX];
	int nr = os_epoll_wait(host->epoll, tags, TAGS_MAX, 0);

	for (int i = 0; i < nr; i++) {
		if (tags[i] == LISTENER)
			accept_some(host);
		else if (tags[i] == NEWS)
			hear_news(host);
		else
			hear(host, tags[i]);
	}
	host_end_deaf(host);
}

static bool is_over(const struct sley_domain_host *host, uint64_t now)
{
	if (!host->options.ends_alone || host->nr_members)
		return false;
	return host->had_member || now - host->began_ns > LONELY_NS;
}

/* How long the host may sleep if nothing happens. */
static uint64_t deadline(const struct sley_domain_host *host)
{
	uint64_t at = UINT64_MAX;

	if (host->options.ends_alone && !host->had_member)
		at = host->began_ns + LONELY_NS + 1;
	if (host->listen_again_ns && host->listen_again_ns < at)
		at = host->listen_again_ns;
	return at;
}

static void *serve(void *arg)
{
	struct sley_domain_host *host = arg;
	uint64_t now = os_now();

	while (!os_fd_is_readable(host->bell) && !is_over(host, now)) {
		if (host->nr_members < 2)
			(void)!os_poll_two(host->epoll, host->bell,
					   deadline(host));
		else
			host_sleep(host);
		hear_all(host);
		now = os_now();
		listen_again(host, now);
		host_tick(host, now);
	}
	/* First the socket: a process that connects now starts the next host. */
	os_local_unlisten(&host->listener);
	for (uint32_t i = 0; i < HOST_GUESTS; i++) {
		if (host->guest[i].socket >= 0)
			host_end_guest(host, &host->guest[i], 0, NULL);
	}
	(void)countdown_done(&host->running);
	return NULL;
}

/* ---- the beginning --------------------------------------------------------------------- */

static int complete(struct sley_domain_host *host)
{
	struct sley_domain_host_options *options = &host->options;
	struct sley_cpus cpus;
	int err;

	if (!options->name)
		return -EINVAL;
	err = domain_place_find(&host->place, options->name);
	if (err)
		return err;
	options->name = host->place.name;
	if (!options->mode)
		options->mode = 0600;
	if (options->nr_cores > DOMAIN_CORES_MAX)
		return -EINVAL;
	if (!options->nr_cores) {
		os_cpus_usable("", &cpus);
		options->nr_cores = (uint32_t)sley_cpus_count(&cpus);
	}
	if (options->nr_cores > DOMAIN_CORES_MAX)
		options->nr_cores = DOMAIN_CORES_MAX;
	host->says.report = options->report;
	host->says.report_self = options->self;
	return 0;
}

static int make_page(struct sley_domain_host *host)
{
	void *memory;
	int fd =
		os_shared_page_create("sley domain", DOMAIN_PAGE_SIZE, &memory);

	if (fd < 0)
		return fd == -EINVAL ? -EOPNOTSUPP : fd;
	host->page_fd = fd;
	host->page = memory;
	/* No two members of a machine since its start have the same. */
	host->generation = os_now();
	host_begin(host);
	return 0;
}

static int open_descriptors(struct sley_domain_host *host)
{
	host->bell = os_eventfd_create();
	if (host->bell < 0)
		return host->bell;
	host->news = os_eventfd_create();
	if (host->news < 0)
		return host->news;
	host->epoll = os_epoll_create();
	if (host->epoll < 0)
		return host->epoll;
	return os_epoll_add(host->epoll, host->news, NEWS)
		       ?: os_epoll_add(host->epoll, host->listener.fd,
				       LISTENER);
}

static int open_socket(struct sley_domain_host *host)
{
	int err = domain_place_prepare(&host->place);

	return err
		       ?: os_local_listen(&host->listener,
					  host->place.path[host->place.own],
					  host->options.mode);
}

static void free_host(struct sley_domain_host *host)
{
	if (host->listener.fd >= 0)
		os_local_unlisten(&host->listener);
	os_close(host->epoll);
	os_close(host->news);
	os_close(host->bell);
	os_close(host->page_fd);
	if (host->page)
		os_unmap(host->page, DOMAIN_PAGE_SIZE);
	mem_free(&sley__program_mem, host, sizeof(*host));
}

static int begin(struct sley_domain_host *host)
{
	int err = open_socket(host) ?: make_page(host)
					       ?: open_descriptors(host);

	if (err)
		return err;
	countdown_add(&host->running, 1);
	err = os_thread_start(&host->thread, "sley-domain", serve, host);
	return err;
}

int sley_domain_host_create(struct sley_domain_host **out,
			    const struct sley_domain_host_options *given)
{
	struct sley_domain_host_options options;
	struct sley_domain_host *host;
	int err = options_take(&options, given);

	if (err)
		return err;
	host = mem_alloc(&sley__program_mem, sizeof(*host));
	if (!host)
		return -ENOMEM;
	host->options = options;
	host->listener.fd = host->epoll = host->bell = host->news = -1;
	host->page_fd = -1;
	host->began_ns = os_now();
	host->forks = os_fork_generation();
	for (uint32_t i = 0; i < HOST_GUESTS; i++)
		host->guest[i].socket = -1;
	host->may_lower = os_sched_may_restore_nice();
	err = complete(host) ?: begin(host);
	if (err)
		free_host(host);
	else
		*out = host;
	return err;
}

void sley_domain_host_stop(struct sley_domain_host *host)
{
	os_eventfd_signal(host->bell);
}

void sley_domain_host_wait(struct sley_domain_host *host)
{
	(void)!countdown_wait(&host->running, UINT64_MAX, WAIT_SHIELDED);
}

void sley_domain_host_destroy(struct sley_domain_host *host)
{
	/* The thread is in the parent of this process. */
	if (!host || host->forks != os_fork_generation())
		return;
	sley_domain_host_stop(host);
	os_thread_join(host->thread);
	free_host(host);
}
