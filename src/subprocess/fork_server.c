/* SPDX-License-Identifier: MIT */
/*
 * fork_server.c - see fork_server.h.
 */
#include "subprocess/fork_server.h"

#include "subprocess/collector.h"
#include "os/eventfd.h"
#include "os/pidfd.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <string.h>

enum tag { TAG_ORDER, TAG_ENDED, TAG_PROGRAM, NR_TAGS };

_Static_assert(NR_FORK_SERVER_FDS <= OS_SEQPACKET_FDS,
	       "all go with one packet");

static struct server {
	int socket;
	int watch;
	int ended;   /* of subprocesses */
	int program; /* a descriptor for its end, or below 0 */
	int pid;
	struct os_signals signals; /* of the program */
	struct life {
		int pid; /* or 0 */
		uint32_t life;
	} lives[SLEY_SUBPROCESSES_MAX];
} server;

noreturn_fn static void end(void)
{
	for (uint32_t i = 0; i < array_size(server.lives); i++) {
		if (server.lives[i].pid)
			os_kill(server.lives[i].pid);
	}
	os_exit(0);
}

static void notify(uint32_t kind, uint32_t id, int pid, int status)
{
	const struct fork_server_notice notice = { .kind = kind,
						   .id = id,
						   .life = server.lives[id].life,
						   .pid = pid,
						   .status = status };

	/* The program would wait for ever for this message. */
	if (os_seqpacket_send(server.socket, &notice, sizeof(notice), NULL,
			      0) != 0)
		end();
}

noreturn_fn static void enter_subprocess(const int *fds,
					 const struct fork_server_order *order)
{
	os_end_with(server.pid);
	os_close(server.socket);
	os_close(server.watch);
	os_close(server.ended);
	os_close(server.program);
	os_thread_set_signals(&server.signals);
	collector_forget();
	subprocess_serve(fds, order);
}

static void start(const struct fork_server_order *order, const int *fds)
{
	struct life *life = &server.lives[order->id];
	int pid = os_fork();

	if (pid == 0)
		enter_subprocess(fds, order);
	for (int i = 0; i < NR_FORK_SERVER_FDS; i++)
		os_close(fds[i]);
	life->life = order->life;
	life->pid = pid > 0 ? pid : 0;
	if (pid > 0)
		notify(FORK_SERVER_STARTED, order->id, pid, 0);
	else
		notify(FORK_SERVER_FAILED, order->id, 0, pid);
}

static void obey(void)
{
	struct fork_server_order order;
	int fds[NR_FORK_SERVER_FDS];

	if (os_seqpacket_recv(server.socket, &order, sizeof(order), fds,
			      NR_FORK_SERVER_FDS, true) != 1)
		end();
	if (order.kind == FORK_SERVER_START)
		start(&order, fds);
	else if (server.lives[order.id].pid &&
		 server.lives[order.id].life == order.life)
		os_kill(server.lives[order.id].pid);
}

static void reap(void)
{
	int pid, status;

	os_hush_children(server.ended);
	while ((pid = os_reap(&status)) != 0) {
		for (uint32_t i = 0; i < array_size(server.lives); i++) {
			if (server.lives[i].pid != pid)
				continue;
			server.lives[i].pid = 0;
			notify(FORK_SERVER_DIED, i, pid, status);
		}
	}
}

/* Without pidfds the fork server ends with the thread that forked it. */
static int watch_program(int program)
{
	server.program = os_pidfd_open(program);
	if (server.program < 0)
		os_end_with(program);
	else if (os_epoll_add(server.watch, server.program, TAG_PROGRAM) != 0)
		return -1;
	return os_is_parent(program) ? 0 : -1;
}

static int set_up(int socket, int program)
{
	server.socket = socket;
	server.pid = os_pid();
	server.ended = os_watch_children(&server.signals);
	server.watch = os_epoll_create();
	if (server.ended < 0 || server.watch < 0 ||
	    os_epoll_add(server.watch, socket, TAG_ORDER) != 0 ||
	    os_epoll_add(server.watch, server.ended, TAG_ENDED) != 0)
		return -1;
	return watch_program(program);
}

void fork_server_run(int socket, int program)
{
	uint32_t tags[NR_TAGS];

	os_name_process("sley-forkserver");
	if (set_up(socket, program) != 0)
		os_exit(1);
	notify(FORK_SERVER_READY, 0, os_pid(), 0);
	for (;;) {
		int nr = os_epoll_wait(server.watch, tags, NR_TAGS, UINT64_MAX);

		for (int i = 0; i < nr; i++) {
			if (tags[i] == TAG_PROGRAM)
				end();
			else if (tags[i] == TAG_ENDED)
				reap();
			else
				obey();
		}
	}
}
