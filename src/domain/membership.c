/* SPDX-License-Identifier: MIT */
/*
 * membership.c - see membership.h.
 */
#include "domain/membership.h"

#include "base/bits.h"
#include "core/life/drain.h"
#include "core/task/countdown.h"
#include "core/trace/report.h"
#include "domain/doorbell.h"
#include "domain/lowering.h"
#include "domain/member.h"
#include "domain/talk.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "os/map.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"
#include "os/thread.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/task.h>
#include <stdio.h>
#include <string.h>

#define STARTS_MAX 3u /* hosts that the attendant starts in a row             */
#define LOOK_NS 250000000u /* between two looks at the beat of the host       */
#define MISSED_MAX 4u      /* looks at the same beat in a row                 */
#define PAUSE_MIN_NS 1000000u
#define PAUSE_MAX_NS 100000000u
/* A host of nobody: members start the next one by one, in the order of their seats. */
#define TURN_NS 5000000u
/* After a start in vain. */
#define START_AGAIN_NS 10000000000ull

struct membership {
	struct sley *rt;
	struct spinlock lock;
	/* Under the lock: */
	uint32_t state; /* enum sley_domain_state                            */
	bool leaves;    /* a call waits for the attendant                    */
	uint32_t nr_joined;
	struct member_figures before; /* of all memberships that have ended  */
	uint64_t generation; /* IN: of this membership                        */
	/* Constant while a membership lasts: */
	struct domain_place place;
	int cancel; /* readable: the attendant shall end                     */
	pthread_t attendant;
	/* Countdowns: 1 until the first attempt has an end; until the attendant has. */
	struct sley_waitq asking;
	struct sley_waitq attending;
	int result; /* of the first attempt                                  */
	/* The attendant's own: */
	int socket;
	bool is_lasting; /* a daemon hosts                                   */
	uint64_t start_again_ns;
	uint32_t host_beat; /* as it was when the attendant looked last       */
	uint32_t nr_missed;
	struct domain_member member;
	struct doorbell bell; /* the attendant hears; any thread rings       */
};

/* ---- state --------------------------------------------------------------------------- */

static void set_state(struct membership *membership,
		      enum sley_domain_state state)
{
	spin_lock(&membership->lock);
	membership->state = state;
	if (state == SLEY_DOMAIN_IN) {
		membership->nr_joined++;
		/* relaxed: stored before its writer looks at the state. */
		member_set_strict(
			&membership->member,
			load_relaxed(&membership->rt->config.strict) != 0);
	}
	spin_unlock(&membership->lock);
}

static struct membership *find(const struct sley *rt)
{
	return runtime_part(rt, RUNTIME_DOMAIN);
}

/* ---- asking to be a member ------------------------------------------------------------- */

static int make_page(struct member_page **page)
{
	void *memory;
	int fd =
		os_shared_page_create("sley member", DOMAIN_PAGE_SIZE, &memory);

	if (fd < 0)
		return fd == -EINVAL ? -EOPNOTSUPP : fd;
	*page = memory;
	return fd;
}

static int say_hello(struct membership *membership, int page_fd)
{
	struct domain_packet packet;

	domain_packet_hello(&packet, program_invocation_short_name,
			    membership->rt->nr_workers);
	return talk_send(membership->socket, &packet, page_fd);
}

static int begin_member(struct membership *membership,
			const struct domain_packet *welcome, int fd,
			struct member_page *page)
{
	const void *host;
	int err = talk_map(fd, &host);

	if (err)
		return err;
	err = member_begin(&membership->member, membership->rt, page, host,
			   welcome->index, welcome->generation);
	if (err) {
		os_unmap((void *)(uintptr_t)host, DOMAIN_PAGE_SIZE);
		return err;
	}
	membership->is_lasting = welcome->flags & DOMAIN_LASTING;
	membership->generation = welcome->generation;
	return 0;
}

/* Why the host has ended it, or has not let it in. */
static void report_refusal(struct membership *membership,
			   const struct domain_packet *packet)
{
	report(membership->rt,
	       "the host of the domain '%s' sent this program away: %s (%s)",
	       membership->place.name, packet->text,
	       sley_strerror(packet->code));
}

/* 0: @page is the member's. */
static int await_welcome(struct membership *membership,
			 struct member_page *page)
{
	struct domain_packet packet;
	int fds[DOMAIN_PACKET_FDS];
	int err = talk_receive(membership->socket, &packet, fds,
			       membership->cancel, os_now() + TALK_NS);

	if (err == -EPROTONOSUPPORT)
		report(membership->rt, "the domain '%s': %s",
		       membership->place.name, packet.text);
	if (err)
		return err;
	if (packet.kind == DOMAIN_WELCOME)
		return begin_member(membership, &packet, fds[0], page);
	talk_close(fds);
	if (packet.kind != DOMAIN_REFUSED)
		return -EPROTO;
	report_refusal(membership, &packet);
	return packet.code;
}

static int greet(struct membership *membership)
{
	struct member_page *page;
	int err, fd = make_page(&page);

	if (fd < 0)
		return fd;
	member_page_begin(page);
	err = say_hello(membership, fd);
	os_close(fd);
	if (!err)
		err = await_welcome(membership, page);
	if (err)
		os_unmap(page, DOMAIN_PAGE_SIZE);
	return err;
}

/* -ECONNREFUSED: nobody hosts the domain. */
static int ask(struct membership *membership)
{
	int err, socket = talk_connect(&membership->place, membership->cancel,
				       os_now() + TALK_NS);

	if (socket < 0)
		return socket;
	membership->socket = socket;
	err = greet(membership);
	if (err)
		os_seqpacket_hang_up(socket);
	return err;
}

/* The same, and starts a host if there is none. */
static int ask_or_host(struct membership *membership)
{
	int err = ask(membership);

	for (uint32_t i = 0; i < STARTS_MAX && err == -ECONNREFUSED; i++) {
		err = domain_place_host(&membership->place, membership->cancel);
		if (!err)
			err = ask(membership);
	}
	return err == -ECONNREFUSED ? -ENOENT : err;
}

/* ---- being a member ------------------------------------------------------------------ */

/* Takes *@line over, if it is used.  Without a line the peer is there all the same. */
static void add_line(struct membership *membership,
		     const struct domain_person *person, int *line)
{
	int err = doorbell_add(&membership->bell, person->index,
			       person->generation, *line);

	if (!err)
		*line = -1;
	else
		report(membership->rt,
		       "the domain '%s': this program and pid %d cannot wake "
		       "tasks of each other: %s",
		       membership->place.name, person->pid, sley_strerror(err));
}

/* Descriptors that stay in @fds are the caller's. */
static int obey(struct membership *membership,
		const struct domain_packet *packet, int *fds)
{
	struct domain_member *member = &membership->member;
	struct domain_person person;
	int err;

	switch (packet->kind) {
	case DOMAIN_PEER:
		domain_packet_read(packet, &person);
		err = member_add_peer(member, person.index, person.generation,
				      fds[0]);
		if (!err)
			add_line(membership, &person, &fds[1]);
		return err;
	case DOMAIN_GONE:
		doorbell_remove(&membership->bell, packet->index,
				packet->generation);
		member_remove_peer(member, packet->index, packet->generation);
		return 0;
	case DOMAIN_REFUSED:
		report_refusal(membership, packet);
		return packet->code;
	default:
		return -EPROTO;
	}
}

/* Alone, a member needs no host: it may be stopped, and need not be looked at. */
static uint64_t next_look(const struct membership *membership)
{
	return domain_peers(&membership->member.view) ? os_now() + LOOK_NS
						      : UINT64_MAX;
}

/* A host that is stopped, or hangs, gives cores to nobody: as bad as a dead one. */
static int look_at_host(struct membership *membership)
{
	uint32_t beat = host_beats(membership->member.view.host);
	bool beats = beat != membership->host_beat ||
		     !domain_peers(&membership->member.view);

	membership->host_beat = beat;
	membership->nr_missed = beats ? 0 : membership->nr_missed + 1;
	return membership->nr_missed < MISSED_MAX ? 0 : -ETIMEDOUT;
}

/* As talk_receive(), and hears the bell meanwhile, which may ring all the time. */
static int await_packet(struct membership *membership,
			struct domain_packet *packet, int *fds)
{
	uint64_t deadline_ns = next_look(membership);

	for (;;) {
		int err = talk_receive_now(membership->socket, packet, fds);
		unsigned int ready;

		if (err != -EAGAIN)
			return err;
		ready = os_poll_three(membership->socket, membership->cancel,
				      doorbell_fd(&membership->bell),
				      deadline_ns);
		if (ready & OS_POLL_SECOND)
			return -ECANCELED;
		if (ready & OS_POLL_THIRD)
			(void)doorbell_hear(&membership->bell);
		if (!(ready & OS_POLL_FIRST) && os_now() >= deadline_ns)
			return -ETIMEDOUT;
	}
}

/* Until the host is gone, or speaks nonsense; or, -ECANCELED, the runtime leaves. */
static int attend(struct membership *membership)
{
	struct domain_packet packet;
	int fds[DOMAIN_PACKET_FDS], err = 0;

	membership->nr_missed = 0;
	while (!err) {
		err = await_packet(membership, &packet, fds);
		if (!err)
			err = obey(membership, &packet, fds);
		else if (err == -ETIMEDOUT)
			err = look_at_host(membership);
		talk_close(fds);
	}
	return err;
}

static void add_figures(struct member_figures *sum,
			const struct member_figures *more)
{
	sum->nr_given += more->nr_given;
	sum->nr_taken += more->nr_taken;
	sum->nr_overtook += more->nr_overtook;
	sum->nr_in_vain += more->nr_in_vain;
	sum->nr_asked += more->nr_asked;
	sum->nr_waits += more->nr_waits;
	sum->wait_ns += more->wait_ns;
	if (more->wait_max_ns > sum->wait_max_ns)
		sum->wait_max_ns = more->wait_max_ns;
}

/*
 * The gate is open before anything else: no worker waits for the rest.  Lines end with the
 * membership, of which their wakers have the generation.  Returns how many workers stay as
 * low as a host has made them that is gone.
 */
static uint32_t end_member(struct membership *membership,
			   enum sley_domain_state next)
{
	struct member_figures figures;
	uint32_t nr_low = 0;

	member_stop(&membership->member);
	/* A host that is there restores the workers itself. */
	if (next == SLEY_DOMAIN_ALONE)
		nr_low = member_raise(&membership->member);
	doorbell_remove_all(&membership->bell);
	spin_lock(&membership->lock);
	member_read_figures(&membership->member, &figures);
	add_figures(&membership->before, &figures);
	membership->state = next;
	spin_unlock(&membership->lock);
	os_seqpacket_hang_up(membership->socket);
	member_end(&membership->member);
	return nr_low;
}

static void report_end(struct membership *membership, int err, uint32_t nr_low)
{
	report(membership->rt,
	       "the host of the domain '%s' is gone (%s): the program goes on "
	       "alone, and looks for the next",
	       membership->place.name,
	       err == -ECONNREFUSED ? "it has ended"
	       : err == -ETIMEDOUT  ? "it hangs"
				    : sley_strerror(err));
	if (nr_low)
		report(membership->rt,
		       "the host of the domain '%s' has lowered %u workers: "
		       "they keep the nice value %d, since this program may "
		       "not restore it",
		       membership->place.name, nr_low, LOWERING_NICE);
}

/* ---- the next host -------------------------------------------------------------------- */

/* After @pause_ns; false: the runtime leaves. */
static bool pause_for(const struct membership *membership, uint64_t pause_ns)
{
	return !os_poll_two(membership->cancel, -1, os_now() + pause_ns);
}

/* Members of a host that nobody will start take turns: one of them does it. */
static int ask_again(struct membership *membership, uint64_t now)
{
	if (membership->is_lasting || now < membership->start_again_ns)
		return ask(membership);
	membership->start_again_ns = now + START_AGAIN_NS;
	return ask_or_host(membership);
}

/* False: the runtime leaves. */
static bool find_next_host(struct membership *membership)
{
	uint64_t pause_ns = PAUSE_MIN_NS;

	membership->start_again_ns =
		os_now() + TURN_NS * membership->member.view.self;
	while (pause_for(membership, pause_ns)) {
		if (ask_again(membership, os_now()) == 0)
			return true;
		pause_ns *= 2;
		if (pause_ns > PAUSE_MAX_NS)
			pause_ns = PAUSE_MAX_NS;
	}
	return false;
}

static void stay(struct membership *membership)
{
	for (;;) {
		int err = attend(membership);
		uint32_t nr_low;

		if (err == -ECANCELED)
			break;
		nr_low = end_member(membership, SLEY_DOMAIN_ALONE);
		report_end(membership, err, nr_low);
		if (!find_next_host(membership))
			return;
		set_state(membership, SLEY_DOMAIN_IN);
	}
	(void)end_member(membership, SLEY_DOMAIN_OUT);
}

static void *attendant(void *arg)
{
	struct membership *membership = arg;

	membership->result = ask_or_host(membership);
	set_state(membership,
		  membership->result ? SLEY_DOMAIN_JOINING : SLEY_DOMAIN_IN);
	(void)countdown_done(&membership->asking);
	if (!membership->result)
		stay(membership);
	(void)countdown_done(&membership->attending);
	return NULL;
}

/* ---- joining and leaving --------------------------------------------------------------- */

/* The attendant has been told to end, or does so by itself. */
static void end_attendant(struct membership *membership)
{
	(void)!countdown_wait(&membership->attending, UINT64_MAX,
			      WAIT_SHIELDED);
	os_thread_join(membership->attendant);
	os_close(membership->cancel);
	doorbell_close(&membership->bell);
	spin_lock(&membership->lock);
	membership->state = SLEY_DOMAIN_OUT;
	membership->leaves = false;
	spin_unlock(&membership->lock);
}

/* False: there is nothing to leave, or another call does. */
static bool begin_to_leave(struct membership *membership)
{
	bool leaves;

	spin_lock(&membership->lock);
	leaves = !membership->leaves &&
		 (membership->state == SLEY_DOMAIN_IN ||
		  membership->state == SLEY_DOMAIN_ALONE);
	if (leaves)
		membership->leaves = true;
	spin_unlock(&membership->lock);
	if (leaves)
		os_eventfd_signal(membership->cancel);
	return leaves;
}

int membership_leave(struct sley *rt)
{
	struct membership *membership = find(rt);

	if (!membership || !begin_to_leave(membership))
		return -ENOTCONN;
	end_attendant(membership);
	return 0;
}

/* By the destroyer: nobody else joins or leaves any more. */
static void leave_domain(struct sley *rt)
{
	struct membership *membership = find(rt);

	if (!membership)
		return;
	if (begin_to_leave(membership))
		end_attendant(membership);
	mem_free(&rt->mem, membership, sizeof(*membership));
}

static struct membership *find_or_make(struct sley *rt)
{
	struct membership *membership = find(rt);
	void *winner;

	if (membership)
		return membership;
	membership = mem_alloc(&rt->mem, sizeof(*membership));
	if (!membership)
		return NULL;
	membership->rt = rt;
	membership->socket = membership->cancel = -1;
	doorbell_init(&membership->bell);
	if (runtime_publish_part(rt, RUNTIME_DOMAIN, membership, &winner)) {
		/* The destroyer sees it: the caller is inside of the gate. */
		rt->leave_domain = leave_domain;
		return membership;
	}
	mem_free(&rt->mem, membership, sizeof(*membership));
	return winner;
}

static int begin_to_join(struct membership *membership)
{
	int err = 0;

	spin_lock(&membership->lock);
	if (membership->state != SLEY_DOMAIN_OUT || membership->leaves)
		err = -EALREADY;
	else
		membership->state = SLEY_DOMAIN_JOINING;
	spin_unlock(&membership->lock);
	return err;
}

static int open_descriptors(struct membership *membership)
{
	int err = doorbell_open(&membership->bell);

	if (err)
		return err;
	membership->cancel = os_eventfd_create();
	if (membership->cancel >= 0)
		return 0;
	doorbell_close(&membership->bell);
	return membership->cancel;
}

static int start_attendant(struct membership *membership, const char *name)
{
	int err = domain_place_find(&membership->place, name)
			  ?: open_descriptors(membership);

	if (err)
		return err;
	countdown_add(&membership->asking, 1);
	countdown_add(&membership->attending, 1);
	err = os_thread_start(&membership->attendant, "sley-member", attendant,
			      membership);
	if (!err)
		return 0;
	(void)countdown_done(&membership->asking);
	(void)countdown_done(&membership->attending);
	os_close(membership->cancel);
	doorbell_close(&membership->bell);
	return err;
}

static int join(struct membership *membership, const char *name)
{
	int err = begin_to_join(membership);

	if (err)
		return err;
	err = start_attendant(membership, name);
	if (err) {
		set_state(membership, SLEY_DOMAIN_OUT);
		return err;
	}
	(void)!countdown_wait(&membership->asking, UINT64_MAX, WAIT_SHIELDED);
	err = membership->result;
	if (err)
		end_attendant(membership);
	else
		membership->rt->config.domain = membership->place.name;
	return err;
}

int membership_join(struct sley *rt, const char *name)
{
	struct membership *membership;

	if (!rt->nr_workers)
		return -EOPNOTSUPP;
	if (!gate_enter(rt))
		return -ESHUTDOWN;
	membership = find_or_make(rt);
	gate_leave(rt);
	return membership ? join(membership, name) : -ENOMEM;
}

/* ---- waking ---------------------------------------------------------------------------- */

int membership_share(struct sley *rt, uint64_t id,
		     struct sley_domain_waker *out)
{
	struct membership *membership = find(rt);
	struct doorbell_waker waker = doorbell_share(id);
	int err = -ENOTCONN;

	if (!membership)
		return err;
	spin_lock(&membership->lock);
	if (membership->state == SLEY_DOMAIN_IN) {
		*out = (struct sley_domain_waker){
			.id = waker.id,
			.token = waker.token,
			.generation = membership->generation,
			.member = membership->member.view.self,
		};
		err = 0;
	}
	spin_unlock(&membership->lock);
	return err;
}

/*
 * Why no line led there: @err, of doorbell_ring().  EINPROGRESS: the member is @membership
 * itself.
 */
static int explain_ring(struct membership *membership,
			const struct sley_domain_waker *to, int err)
{
	const struct domain_view *view = &membership->member.view;

	spin_lock(&membership->lock);
	if (membership->state != SLEY_DOMAIN_IN)
		err = -ENOTCONN;
	else if (to->member >= DOMAIN_MEMBERS_MAX || !to->generation ||
		 host_member(view->host, to->member) != to->generation)
		err = -ESRCH;
	else if (to->member == view->self)
		err = EINPROGRESS;
	else if (err == -ESRCH) /* the attendant has not been told of it yet */
		err = -EAGAIN;
	spin_unlock(&membership->lock);
	return err;
}

int membership_wake(struct sley *rt, const struct sley_domain_waker *to)
{
	const struct doorbell_waker waker = { .id = to->id,
					      .token = to->token };
	struct membership *membership = find(rt);
	int err;

	if (!membership)
		return -ENOTCONN;
	err = doorbell_ring(&membership->bell, to->member, to->generation,
			    &waker);
	if (!err || err == -EAGAIN)
		return err;
	err = explain_ring(membership, to, err);
	return err == EINPROGRESS ? doorbell_ring_own(&membership->bell, &waker)
				  : err;
}

/* ---- looking ------------------------------------------------------------------------- */

static void tell_wakes(struct membership *membership,
		       struct sley_domain_info *out)
{
	struct doorbell_counts counts;

	doorbell_get_counts(&membership->bell, &counts);
	out->rung = counts.rung;
	out->woken = counts.woken;
	out->stale = counts.stale;
	out->forged = counts.forged;
	out->lines_cut = counts.cut;
}

void membership_set_strict(struct sley *rt, bool strict)
{
	struct membership *membership = find(rt);

	/* relaxed: a choice, which holds from the next look on. */
	store_relaxed(&rt->config.strict, strict);
	if (!membership)
		return;
	spin_lock(&membership->lock);
	if (membership->state == SLEY_DOMAIN_IN)
		member_set_strict(&membership->member, strict);
	spin_unlock(&membership->lock);
}

static void tell_figures(const struct member_figures *figures,
			 struct sley_domain_info *out)
{
	out->given = figures->nr_given;
	out->taken = figures->nr_taken;
	out->entries = figures->nr_asked;
	out->in_vain = figures->nr_in_vain;
	out->overtakes = figures->nr_overtook;
	out->waits = figures->nr_waits;
	out->wait_ns = figures->wait_ns;
}

void membership_info(struct sley *rt, struct sley_domain_info *out)
{
	struct membership *membership = find(rt);
	struct member_figures sum, now;

	/* relaxed: as above. */
	out->strict = load_relaxed(&rt->config.strict) != 0;
	out->most_urgent = SLEY_PRIORITY_MIN;
	if (!membership)
		return;
	spin_lock(&membership->lock);
	sum = membership->before;
	out->state = membership->state;
	out->nr_joined = membership->nr_joined;
	if (membership->state == SLEY_DOMAIN_IN) {
		const struct domain_member *member = &membership->member;

		out->index = member->view.self;
		out->nr_cores = member->view.nr_cores;
		out->nr_members =
			1 + (uint32_t)popcount(domain_peers(&member->view));
		out->nr_held = member_nr_held(member);
		out->most_urgent = member_most_urgent(member);
		member_read_figures(member, &now);
		add_figures(&sum, &now);
	}
	if (membership->state != SLEY_DOMAIN_OUT)
		memcpy(out->domain, membership->place.name,
		       sizeof(out->domain));
	spin_unlock(&membership->lock);
	tell_figures(&sum, out);
	tell_wakes(membership, out);
}

const char *membership_explain(int err)
{
	switch (err) {
	case -ENOENT:
		return "nobody hosts it, and no sleyd was found that could: "
		       "install it, or set SLEY_SLEYD; users need "
		       "$XDG_RUNTIME_DIR, too";
	case -EPIPE:
		return "nobody hosts it, and the sleyd that was started "
		       "cannot; 'sleyd --foreground --domain-only NAME' says "
		       "why";
	case -EINVAL:
		return "it has no good name: up to 31 letters, digits, '-', "
		       "'_' and '.', or the path of a socket";
	case -EOPNOTSUPP:
		return "the runtime is single-threaded, or the kernel is "
		       "older than 5.1";
	default:
		return sley_strerror(err);
	}
}
