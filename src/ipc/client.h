/* SPDX-License-Identifier: MIT */
/*
 * client.h - a client: the shell around ipc/link.h, which makes the system calls.
 *
 *   client.c         opening and closing; requests that have ended are completed
 *   client_connection.h  the socket: connect, greet, hear of the end, connect again
 *   client_wait.h    how threads and tasks wait for answers
 *   client_source.h  the workers of a runtime look for answers
 *   client_pool.h    pools, and the requests to them
 *   segment_cache.h  memory for large payloads
 *
 * Locks.  `lock` is a spin lock for the link and for the lists; payloads of a slot are
 * copied under it, and nothing larger.  `driving` is held by the thread that uses the
 * socket, and is only ever tried: a thread that fails to get it has a driver.  A driver takes the
 * lock for moments.
 *
 * Requests end outside of the lock: client_collect() takes what has ended out of the
 * link, gives the lock back, copies large answers and sets the futures.  A request that
 * is in no slot any more, and not complete, is in the hands of a thread that completes it
 * soon.
 *
 * A submitter rings the bell of the daemon after it has given the lock back.  It counts
 * itself in `nr_ringing` first, and the driver closes the bell when none is left: else the
 * number of the descriptor could be another file by then.
 *
 * Edges:
 *
 *  CL1  a ringer, or a call of the client, leaves -> the driver, or the closer, finds none :
 *       the descriptors, the memory of the client are not used any more
 *  CL2  the first welcome sets is_live -> has(), arm() of the source : where the ring is
 *  CW1  see shm/count_word.h
 */
#ifndef SLEY_IPC_CLIENT_H
#define SLEY_IPC_CLIENT_H

#include "base/list.h"
#include "ipc/link.h"
#include "ipc/segment_cache.h"
#include "lf/spin.h"
#include "os/local_socket.h"
#include "route/pool.h"
#include "route/request.h"

#include <sley/client.h>
#include <sley/sync.h>

/* A thread that waits looks so often whether the daemon still lives. */
#define CLIENT_LOOK_NS 50000000ull

/* After the end of a daemon, until the first attempt to connect. */
#define CLIENT_PAUSE_NS 1000000ull

/* For .flags of a request, beside enum request_flags: the library's own. */
#define REQUEST_OPENS_POOL (1u << 16)  /* after a reconnect                  */
#define REQUEST_FOR_SEGMENT (1u << 17) /* of a request that moves            */

/* A pool of a client.  Its first member is what the user has. */
struct client_pool {
	struct sley_pool pool;
	struct sley_client *client;
	struct list link; /* (lock) of the client                          */
	uint32_t place;   /* in the link                                   */
	bool closed;      /* (lock) by the user; a request may be left     */
	bool opening;     /* (lock) the daemon is asked                    */
	bool shut;        /* (lock) after a reconnect: to be opened again  */
	struct sley_request open; /* for that                                 */
	struct wire_opened opened;
	uint32_t wish_size;
	struct wire_open wish; /* params follow                               */
};

struct sley_client {
	/* Constant. */
	struct mem *mem;
	struct sley *rt;
	unsigned int generation; /* of forks                                  */
	uint32_t depth, slot_size;
	uint64_t spin_ns;
	uint64_t connect_ns;
	struct sley_config voice; /* .report                                  */
	char name[WIRE_NAME];
	char path[2][OS_LOCAL_PATH_MAX + 1]; /* [1]: if [0] is not there       */

	cache_aligned struct spinlock lock;
	struct link link;              /* (lock)                            */
	struct segment_cache segments; /* (lock)                            */
	struct list pools;             /* (lock)                            */
	uint32_t nr_pools;             /* (lock) that the user has          */
	uint32_t nr_room_waiters;      /* (lock)                            */
	bool moving;     /* (lock) a large request gets another segment      */
	bool closing;    /* (lock) nobody connects again                     */
	bool answered;   /* (lock) the daemon has answered client->ask       */
	int server_bell; /* (lock) to ring                                   */
	int bell;        /* (lock) that the daemon rings                     */
	int refused; /* (lock) why the last attempt failed                    */
	char refusal[WIRE_TEXT]; /* (lock) the daemon's words                 */
	uint64_t session; /* (lock)                                           */
	uint64_t daemon_generation; /* (lock)                            */

	cache_aligned uint32_t duty; /* client_wait.c                         */
	uint32_t nr_ringing;
	uint32_t nr_inside; /* calls that the closer waits for                */
	uint32_t seen;      /* link_seen(), for client_source.c               */
	uint32_t epoch;     /* changes with the state; threads sleep on it    */
	uint32_t is_live;   /* a hint, as is urgent                           */
	uint32_t urgent;    /* something for the driver                       */
	uint32_t driving;
	struct sley_event handover; /* auto: the next leader                   */
	struct sley_event room; /* auto: slots are free                    */

	/* Of the driver. */
	int socket, ring_fd;
	const struct wire_page *page; /* (lock)                               */
	struct request_ring ring;
	uint64_t look_ns;  /* the next look at the socket                     */
	uint64_t try_ns;   /* the next attempt to connect                     */
	uint64_t pause_ns; /* between two attempts                            */
	uint64_t greeted_ns;
	uint32_t which; /* path                                            */
	int daemon_pid; /* that listens; 0: the kernel does not tell       */

	/* Of client_source.c. */
	struct sley_source *source;
	int epoll;
	uint64_t looked_ns; /* the kernel was asked                        */
	uint32_t reconnecting;
	uint32_t orphaned; /* there was no memory for that                     */

	/* Of the request that moves. */
	uint32_t moving_slot;
	uint32_t asked_epoch;
	struct sley_request ask;
	struct wire_number asked;
	struct wire_number wanted;
	struct client_pool daemon; /* pool 0                                  */
};

static inline bool client_is_lost(const struct sley_client *client)
{
	return client->generation != os_fork_generation();
}

static inline void client_lock(struct sley_client *client)
{
	spin_lock(&client->lock);
}

/* Publishes what was put, gives the lock back, and tells the daemon. */
void client_unlock(struct sley_client *client);

/*
 * Completes what has ended.  True: there was something.  Takes the lock.
 */
bool client_collect(struct sley_client *client);

/* The state has changed: all threads that wait look again. */
void client_changed(struct sley_client *client);

/* A call begins, which the closer waits for. */
static inline void client_enter(struct sley_client *client)
{
	/* relaxed: the closer comes after the call by the rules of the header. */
	(void)add_relaxed(&client->nr_inside, 1);
}

static inline void client_leave(struct sley_client *client)
{
	(void)sub_release(&client->nr_inside, 1); /* CL1 */
}

printf_like(2, 3) void client_report(const struct sley_client *client,
				     const char *format, ...);

#endif
