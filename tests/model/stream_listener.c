/* SPDX-License-Identifier: MIT */
/*
 * stream_listener.c - src/stream/listener.c: an accepter never accepts from a number
 * that its listener does not have any more.
 *
 * With the very descriptor.c.  The kernel is a count of the files that the number has
 * had: a close gives the number to another file at once.  A call of the kernel orders no
 * memory.  An accept does not wait: io_ready.c has the waits, and closers against them.
 *
 * Complete for an accepter against a closer, and for two closers.  Opening a listener
 * is left out: no other thread knows it by then.
 */
#include "threads_only.h"

#include "stream/listener.c"

#include "io/file.h"
#include "io/reactor.h"
#include "io/ready.h"
#include "io/thread_wait.h"
#include "io_parts.h"

#include <string.h>

static struct sley_listener listener;
static uint32_t file;    /* how often the number was closed */
static sa_family_t kind; /* of the address */
static int address_says; /* of the kernel, that is asked for the address */
static struct ledger {
	int closed, refused;
	int changed, removed; /* the event is set; the Unix socket goes */
} ledger;

/* ---- the kernel, and the rest of src/io ------------------------------------------- */

/* relaxed, here and below: the kernel orders nothing for its callers. */
int file_close(int fd, uint32_t traits)
{
	(void)traits;
	MODEL_CHECK(fd == FD);
	MODEL_CHECK(add_relaxed(&file, 1) == 0);
	return 0;
}

/* There is no connection. */
int sley_io_accept_until(int fd, struct sockaddr *address, socklen_t *length,
			 uint64_t deadline_ns)
{
	(void)address;
	(void)length;
	(void)deadline_ns;
	MODEL_CHECK(fd == FD);
	MODEL_CHECK(add_relaxed(&file, 0) == 0);
	return -EAGAIN;
}

int sley_address_of(struct sley_address *address, int fd)
{
	struct sockaddr_un *name = (struct sockaddr_un *)&address->storage;

	MODEL_CHECK(fd == FD);
	MODEL_CHECK(add_relaxed(&file, 0) == 0);
	name->sun_family = kind;
	memcpy(name->sun_path, "socket", sizeof("socket"));
	return address_says;
}

int sley_io_close(int fd)
{
	return descriptor_close(fd);
}

void ready_close(struct io_descriptor *descriptor)
{
	MODEL_CHECK(descriptor == &places[FD]);
}

void thread_waits_end(int fd)
{
	MODEL_CHECK(fd == FD);
}

void reactors_forget(struct io_descriptor *descriptor, int fd)
{
	MODEL_CHECK(descriptor == &places[FD] && fd == FD);
}

void sley_event_set(struct sley_event *event)
{
	MODEL_CHECK(event == &listener.changed);
	ledger.changed++;
}

void os_remove_file(const char *path)
{
	MODEL_CHECK(!strcmp(path, "socket"));
	ledger.removed++;
}

/* ---- what is left out ---------------------------------------------------------------- */

struct os_fd_traits os_fd_traits(int fd)
{
	(void)fd;
	never();
	return (struct os_fd_traits){ 0 };
}

short os_fd_poll(int fd, short events)
{
	(void)fd;
	(void)events;
	never();
	return false;
}

int sley_io_poll_until(int fd, short events, uint64_t deadline_ns)
{
	(void)fd;
	(void)events;
	(void)deadline_ns;
	never();
	return 0;
}

int sley_address_text(const struct sley_address *address, char *text,
		      size_t size)
{
	(void)address;
	(void)text;
	(void)size;
	never();
	return 0;
}

int sley_address_resolve_until(struct sley_address *addresses, int nr,
			       const char *text, uint64_t deadline_ns)
{
	(void)addresses;
	(void)nr;
	(void)text;
	(void)deadline_ns;
	never();
	return 0;
}

void sley_stream_open(struct sley_stream *stream, int fd)
{
	(void)stream;
	(void)fd;
	never();
}

void sley_event_init(struct sley_event *event, bool auto_reset, bool set)
{
	(void)event;
	(void)auto_reset;
	(void)set;
	never();
}

int(os_socket)(int family, int type)
{
	(void)family;
	(void)type;
	never();
	return 0;
}

int(os_bind)(int fd, const struct sockaddr *address, socklen_t length)
{
	(void)fd;
	(void)address;
	(void)length;
	never();
	return 0;
}

int(os_listen)(int fd, int backlog)
{
	(void)fd;
	(void)backlog;
	never();
	return 0;
}

int(os_connect)(int fd, const struct sockaddr *address, socklen_t length)
{
	(void)fd;
	(void)address;
	(void)length;
	never();
	return 0;
}

int os_socket_switch_on(int fd, int level, int option)
{
	(void)fd;
	(void)level;
	(void)option;
	never();
	return 0;
}

void os_close(int fd)
{
	(void)fd;
	never();
}

/* ---- scenes ------------------------------------------------------------------------------ */

static void setup(void)
{
	memset(places, 0, sizeof(places));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	selves_set(&(struct self){ 0 });
	sley__descriptors[0] = places;
	listener = (struct sley_listener){ .fd = FD };
	file = 0;
	kind = AF_INET;
	address_says = 0;
	model_name(&listener.fd, "fd");
	model_name(&places[FD].users, "users");
	model_name(&file, "file");
	for (int i = 0; i < NR_IO_DIRECTIONS; i++)
		model_lock_word(&places[FD].side[i].q.word);
}

static void setup_unix(void)
{
	setup();
	kind = AF_UNIX;
}

static void setup_no_address(void)
{
	setup_unix();
	address_says = -ENOBUFS;
}

/* -EAGAIN: it was in time.  A server that is refused asks why, as in stream/serve.c. */
static void accepter(int id)
{
	struct sley_stream stream;
	int err = sley_listener_accept_until(&listener, &stream, UINT64_MAX);

	(void)id;
	MODEL_CHECK(err == -EBADF || err == -EAGAIN);
	MODEL_CHECK(err == -EAGAIN || listener_is_closed(&listener));
}

static void closer(int id)
{
	int err = sley_listener_close(&listener);

	(void)id;
	MODEL_CHECK(!err || err == -EBADF);
	MODEL_CHECK(listener_is_closed(&listener));
	ledger.closed += !err;
	ledger.refused += err != 0;
}

static void has_one_file_less(void)
{
	MODEL_CHECK(ledger.closed == 1 && file == 1 && listener.fd == -1);
	MODEL_CHECK(!places[FD].users);
	MODEL_CHECK(ledger.changed == 1);
	MODEL_CHECK(ledger.removed == (kind == AF_UNIX && !address_says));
}

static void one_has_closed(void)
{
	has_one_file_less();
	MODEL_CHECK(ledger.refused == 1);
}

MODEL(no_accept_from_a_number_that_is_gone, .setup = setup,
      .threads = { accepter, closer }, .finish = has_one_file_less);

MODEL(one_of_two_closers_closes, .setup = setup, .threads = { closer, closer },
      .finish = one_has_closed);

MODEL(a_unix_socket_is_removed, .setup = setup_unix, .threads = { closer },
      .finish = has_one_file_less);

MODEL(what_has_no_address_is_not_removed, .setup = setup_no_address,
      .threads = { closer }, .finish = has_one_file_less);
