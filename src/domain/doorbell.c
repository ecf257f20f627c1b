/* SPDX-License-Identifier: MIT */
/*
 * doorbell.c - see doorbell.h.
 */
#include "domain/doorbell.h"

#include "core/task/slot.h"
#include "os/eventfd.h"
#include "os/secret.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <errno.h>

#define PACKET_MAGIC 0x6c6c6562u /* "bell" */

struct packet {
	uint32_t magic;
	uint32_t zero;
	struct doorbell_waker waker;
};

_Static_assert(sizeof(struct packet) == 24, "the same everywhere");

/* ---- tokens ---------------------------------------------------------------------- */

/* More rounds than a table needs: strangers see the hash. */
static uint64_t token_of(uint64_t id)
{
	const struct sip_key secret = os_secret();
	const uint64_t words[] = { id, PACKET_MAGIC };

	return sip_hash_with(&secret, words, sizeof(words), 2, 4);
}

struct doorbell_waker doorbell_share(uint64_t id)
{
	return (struct doorbell_waker){ .id = id, .token = token_of(id) };
}

/* ---- lines ------------------------------------------------------------------------ */

static void count(uint64_t *counter)
{
	/* relaxed: statistics. */
	(void)add_relaxed(counter, 1);
}

void doorbell_init(struct doorbell *bell)
{
	*bell = (struct doorbell){ .epoll = -1 };
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		bell->line[i].fd = -1;
}

int doorbell_open(struct doorbell *bell)
{
	bell->epoll = os_epoll_create();
	return bell->epoll < 0 ? bell->epoll : 0;
}

int doorbell_fd(const struct doorbell *bell)
{
	return bell->epoll;
}

/* Under the lock. */
static void close_line(struct doorbell *bell, struct doorbell_line *line)
{
	if (line->fd < 0)
		return;
	os_epoll_remove(bell->epoll, line->fd);
	os_close(line->fd);
	line->fd = -1;
}

static int open_line(struct doorbell *bell, uint32_t index, uint64_t generation,
		     int fd)
{
	struct doorbell_line *line = &bell->line[index];
	int err = 0;

	if (line->generation)
		return -EEXIST;
	if (fd >= 0)
		err = os_epoll_add(bell->epoll, fd, index);
	line->fd = err ? -1 : fd;
	line->generation = generation;
	line->nr_forged = 0;
	return err;
}

int doorbell_add(struct doorbell *bell, uint32_t index, uint64_t generation,
		 int fd)
{
	int err;

	if (index >= DOMAIN_MEMBERS_MAX || !generation)
		return -EINVAL;
	spin_lock(&bell->line[index].lock);
	err = open_line(bell, index, generation, fd);
	spin_unlock(&bell->line[index].lock);
	return err;
}

/* ---- hearing ----------------------------------------------------------------------- */

static void cut_line(struct doorbell *bell, struct doorbell_line *line)
{
	count(&bell->counts.cut);
	close_line(bell, line);
}

/* Under the lock.  True: a packet whose token is right. */
static bool take_packet(struct doorbell *bell, struct doorbell_line *line,
			struct packet *out, bool *more)
{
	int got =
		os_seqpacket_recv(line->fd, out, sizeof(*out), NULL, 0, false);

	*more = got == 1;
	if (got == -EAGAIN)
		return false;
	if (!got) { /* the member has ended */
		close_line(bell, line);
		return false;
	}
	if (got < 0 || out->magic != PACKET_MAGIC || out->zero) {
		count(&bell->counts.garbage);
		cut_line(bell, line);
		return false;
	}
	if (token_of(out->waker.id) == out->waker.token)
		return true;
	count(&bell->counts.forged);
	if (++line->nr_forged >= DOORBELL_FORGED_MAX)
		cut_line(bell, line);
	return false;
}

static int wake(struct doorbell *bell, uint64_t id)
{
	struct slot *slot = slot_lock_waker(id);

	if (slot)
		(void)slot_wake(slot);
	/* Behind the wake: a reader that sees the count finds the task ready. */
	count(slot ? &bell->counts.woken : &bell->counts.stale);
	return slot ? 0 : -ESRCH;
}

/*
 * The wakes come after the lock: a task that is woken may ring here.  True: there may be
 * more on the line.
 */
static bool hear_line(struct doorbell *bell, struct doorbell_line *line)
{
	uint64_t ids[DOORBELL_BATCH];
	uint32_t nr = 0;
	bool more = true;

	spin_lock(&line->lock);
	for (int i = 0; i < DOORBELL_BATCH && more && line->fd >= 0; i++) {
		struct packet packet;

		if (take_packet(bell, line, &packet, &more))
			ids[nr++] = packet.waker.id;
	}
	more = more && line->fd >= 0;
	spin_unlock(&line->lock);
	for (uint32_t i = 0; i < nr; i++)
		(void)wake(bell, ids[i]);
	return more;
}

bool doorbell_hear(struct doorbell *bell)
{
	uint32_t tags[DOMAIN_MEMBERS_MAX];
	int nr = os_epoll_wait(bell->epoll, tags, DOMAIN_MEMBERS_MAX, 0);
	bool more = false;

	for (int i = 0; i < nr; i++)
		more = hear_line(bell, &bell->line[tags[i]]) || more;
	return more;
}

/* ---- the end of lines --------------------------------------------------------------- */

/* Whatever the generation of the member, if @generation is 0. */
static bool shut_down(struct doorbell_line *line, uint64_t generation)
{
	bool is_it;

	spin_lock(&line->lock);
	is_it = line->generation &&
		(!generation || line->generation == generation);
	if (is_it && line->fd >= 0)
		os_seqpacket_end(line->fd);
	spin_unlock(&line->lock);
	return is_it;
}

static void end_line(struct doorbell *bell, struct doorbell_line *line,
		     uint64_t generation)
{
	if (!shut_down(line, generation))
		return;
	while (hear_line(bell, line))
		;
	spin_lock(&line->lock);
	close_line(bell, line);
	line->generation = 0;
	spin_unlock(&line->lock);
}

void doorbell_remove(struct doorbell *bell, uint32_t index, uint64_t generation)
{
	if (index < DOMAIN_MEMBERS_MAX && generation)
		end_line(bell, &bell->line[index], generation);
}

void doorbell_remove_all(struct doorbell *bell)
{
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		end_line(bell, &bell->line[i], 0);
}

void doorbell_close(struct doorbell *bell)
{
	doorbell_remove_all(bell);
	os_close(bell->epoll);
	bell->epoll = -1;
}

/* ---- ringing ------------------------------------------------------------------------ */

int doorbell_ring_own(struct doorbell *bell, const struct doorbell_waker *waker)
{
	count(&bell->counts.rung);
	if (token_of(waker->id) == waker->token)
		return wake(bell, waker->id);
	count(&bell->counts.forged);
	return -ESRCH;
}

static int send_on(struct doorbell_line *line, uint64_t generation,
		   const struct packet *packet)
{
	if (!generation || line->generation != generation)
		return -ESRCH;
	if (line->fd < 0)
		return -ENOLINK;
	switch (os_seqpacket_try_send(line->fd, packet, sizeof(*packet))) {
	case 0:
		return 0;
	case -EPIPE:
		return -ENOLINK;
	default: /* full, or no memory now */
		return -EAGAIN;
	}
}

int doorbell_ring(struct doorbell *bell, uint32_t index, uint64_t generation,
		  const struct doorbell_waker *waker)
{
	const struct packet packet = { .magic = PACKET_MAGIC, .waker = *waker };
	int err;

	if (index >= DOMAIN_MEMBERS_MAX)
		return -ESRCH;
	spin_lock(&bell->line[index].lock);
	err = send_on(&bell->line[index], generation, &packet);
	spin_unlock(&bell->line[index].lock);
	if (!err || err == -EAGAIN)
		count(err ? &bell->counts.full : &bell->counts.rung);
	return err;
}

void doorbell_get_counts(const struct doorbell *bell,
			 struct doorbell_counts *out)
{
	/* relaxed: statistics. */
	out->rung = load_relaxed(&bell->counts.rung);
	/* relaxed: as above. */
	out->full = load_relaxed(&bell->counts.full);
	/* relaxed: as above. */
	out->woken = load_relaxed(&bell->counts.woken);
	/* relaxed: as above. */
	out->stale = load_relaxed(&bell->counts.stale);
	/* relaxed: as above. */
	out->forged = load_relaxed(&bell->counts.forged);
	/* relaxed: as above. */
	out->garbage = load_relaxed(&bell->counts.garbage);
	/* relaxed: as above. */
	out->cut = load_relaxed(&bell->counts.cut);
}
