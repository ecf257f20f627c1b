/* SPDX-License-Identifier: MIT */
/*
 * ingress.h - a source (core/sched/source.h) by which any worker takes requests from the
 * rings of clients.
 *
 * A server has several ingresses, each with a part of the clients: a source has one taker at
 * a time, and short requests run in the taker.  The rings are in a set (ipc/ring_set.h): the
 * active ones are looked at, the quiet ones signal a bell in the epoll of the ingress.
 *
 * Fairness.  A ring has its turn after all others with news have had theirs, and at most
 * SERVE_BATCH requests in a turn.
 *
 * has() looks at memory.  While all workers are busy, none listens to the epoll; so has()
 * and take() ask the kernel, too, at most once in INGRESS_LOOK_NS and only if there are
 * quiet rings.
 */
#ifndef SLEY_IPC_INGRESS_H
#define SLEY_IPC_INGRESS_H

#include "ipc/connection.h"
#include "ipc/serve_request.h"

#define INGRESS_LOOK_NS 50000u

/* Requests of one take(), about: then other work has its turn. */
#define INGRESS_BUDGET (2 * SERVE_BATCH)

struct sley_source;

struct ingress {
	struct sley_server *server;
	struct sley_source *source;
	int epoll; /* of bells */
	struct ring_set set;
	cache_aligned uint64_t looked_ns; /* the kernel was asked */
	uint32_t recheck;         /* rings that were held may go on     */
	struct serve_batch batch; /* of the taker */
};

/* 0, -ENOMEM, or the errors of epoll_create(2) and source_add(). */
must_check int ingress_open(struct ingress *ingress, struct sley_server *server,
			    uint32_t max);

/* No ring is left there. */
void ingress_close(struct ingress *ingress);

/* The client of @connection is ready.  The ingress has a reference, until it ends. */
must_check int ingress_add(struct ingress *ingress,
			   struct connection *connection);

/* A worker shall look at the ring: the session ends. */
void ingress_look(struct ingress *ingress, struct connection *connection);

/* A worker shall look at all rings that are held. */
void ingress_recheck(struct ingress *ingress);

#endif
