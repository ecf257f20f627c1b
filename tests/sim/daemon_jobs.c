/* SPDX-License-Identifier: MIT */
/*
 * daemon_jobs.c - requests of a simulated daemon: methods are simulated, and the ledger is
 * told of each run.
 */
#include "sides.h"

#include "ledger.h"

#include <errno.h>
#include <stdlib.h>

/* ---- answers ----------------------------------------------------------------------------- */

void daemon_tell(const struct served *served, int bits)
{
	uint32_t *word = served->session.server.completions.word;

	if (bits > 0 && entry_ring_tell(word, bits) && served->connection)
		process_signal(served->connection->ends[SIDE_CLIENT]);
}

void daemon_publish(struct served *served)
{
	int bits;

	if (served->cut || !served->session.slots ||
	    served->session.state == SESSION_WELCOMED)
		return;
	bits = session_publish(&served->session);
	for (uint32_t i = 0; i < served->nr_answers; i++)
		ledger_published(served->answers[i]);
	served->nr_answers = 0;
	daemon_tell(served, bits);
}

/* @size bytes are at their place. */
static void answer(struct served *served, uint32_t slot, int32_t code,
		   uint32_t size)
{
	if (!served->cut)
		(void)session_answer(&served->session, slot, code, size);
}

static void answer_number(struct served *served,
			  const struct session_call *call, uint64_t number)
{
	struct wire_number out = { .number = number };

	if (call->out_room < sizeof(out)) {
		answer(served, call->slot, -EMSGSIZE, 0);
		return;
	}
	memcpy(session_answer_place(&served->session, call->slot), &out,
	       sizeof(out));
	answer(served, call->slot, 0, sizeof(out));
}

/* ---- requests for the daemon ------------------------------------------------------------- */

static void open_pool(struct daemon *daemon, struct served *served,
		      const struct session_call *call, const void *in)
{
	const struct wire_open *wish = in;
	struct wire_opened opened = { .nr_containers = 1 };
	bool lacks = daemon->lacks_pool && wish->pool[1] == '0';
	int number = -ENOENT;

	if (call->in_size < sizeof(*wish) || call->out_room < sizeof(opened)) {
		answer(served, call->slot, -EMSGSIZE, 0);
		return;
	}
	if (!lacks || world.quiet)
		number = session_add_pool(&served->session, daemon, UINT64_MAX);
	if (number < 0) {
		answer(served, call->slot, number, 0);
		return;
	}
	opened.pool = (uint32_t)number;
	trace("opens a pool for client %u: %d", served->client_id, number);
	memcpy(session_answer_place(&served->session, call->slot), &opened,
	       sizeof(opened));
	answer(served, call->slot, 0, sizeof(opened));
}

static void make_segment(struct served *served, const struct session_call *call,
			 uint64_t size)
{
	struct wire_packet packet;
	struct shared *memory;
	int number = session_reserve_segment(&served->session, size);

	if (number > 0 && size > SEGMENT_SIZE)
		number = -EDQUOT;
	if (number < 0) {
		answer(served, call->slot, number, 0);
		return;
	}
	memory = shared_create((uint32_t)size);
	packet_segment(&packet, (uint32_t)number, size);
	if (!connection_send(served->connection, SIDE_DAEMON, &packet, memory,
			     1)) {
		shared_unmap(memory);
		answer(served, call->slot, -EAGAIN, 0);
		return;
	}
	session_set_segment(&served->session, (uint32_t)number, memory->bytes,
			    size);
	served->segments[number] = memory;
	answer_number(served, call, (uint64_t)number);
}

static void cancel(struct daemon *daemon, struct served *served, uint64_t id)
{
	uint32_t slot = session_find(&served->session, id);

	for (uint32_t i = 0; slot != SESSION_NO_SLOT && i < JOBS_MAX; i++) {
		if (daemon->jobs[i].served == served &&
		    daemon->jobs[i].slot == slot)
			daemon->jobs[i].cancelled = true;
	}
}

static void control(struct daemon *daemon, struct served *served,
		    const struct session_call *call, const void *in)
{
	uint64_t number = 0;
	void *pool;

	if (call->head.method == WIRE_CONTROL_OPEN) {
		open_pool(daemon, served, call, in);
		return;
	}
	if (call->in_size >= sizeof(number))
		memcpy(&number, in, sizeof(number));
	switch (call->head.method) {
	case WIRE_CONTROL_SEGMENT:
		make_segment(served, call, number);
		return;
	case WIRE_CONTROL_CANCEL:
		cancel(daemon, served, number);
		answer(served, call->slot, 0, 0);
		return;
	case WIRE_CONTROL_CLOSE:
		trace("closes pool %llu of client %u",
		      (unsigned long long)number, served->client_id);
		answer(served, call->slot,
		       session_close_pool(&served->session, number, &pool), 0);
		return;
	default:
		answer(served, call->slot, -ENOSYS, 0);
	}
}

/* ---- methods ----------------------------------------------------------------------------- */

static void check_in(const struct served *served,
		     const struct session_call *call, const unsigned char *in)
{
	uint32_t serial = (uint32_t)call->head.group;
	const struct ledger_entry *entry = ledger_at(serial);

	HOLDS(entry->client == served->client_id,
	      "request %u is of another client", serial);
	HOLDS(call->in_size == entry->in_size, "request %u has another size",
	      serial);
	for (uint32_t i = 0; i < call->in_size; i++)
		HOLDS(in[i] == pattern(serial, i),
		      "request %u: byte %u is wrong", serial, i);
}

static struct job *free_job(struct daemon *daemon)
{
	for (uint32_t i = 0; i < JOBS_MAX; i++) {
		if (!daemon->jobs[i].served)
			return &daemon->jobs[i];
	}
	fail("too many requests are in flight");
}

static void begin_job(struct daemon *daemon, struct served *served,
		      const struct session_call *call)
{
	struct job *job = free_job(daemon);

	*job = (struct job){
		.served = served,
		.slot = call->slot,
		.serial = (uint32_t)call->head.group,
		.out_room = call->out_room,
		.deadline_ns = call->head.deadline_ns,
		.start_ns = world.now_ns + (one_in(2) ? 0 : draw(100 * US)),
		.forgotten = call->head.flags & WIRE_FORGOTTEN,
		.cancelled = served->gone &&
			     !(call->head.flags & WIRE_FORGOTTEN),
		.code = one_in(20) ? -EIO : 0,
	};
	job->finish_ns = job->start_ns + (one_in(2) ? 0 : draw(200 * US));
	served->nr_jobs++;
}

void daemon_serve(struct daemon *daemon, struct served *served, uint32_t slot)
{
	unsigned char *in = daemon->in;
	struct session_call call;
	int err = session_check(&served->session, slot, &call);

	if (!err && call.in_size) {
		HOLDS(call.in_size <= sizeof(daemon->in),
		      "a request is too large");
		memcpy(in, call.in, call.in_size);
	}
	if (!err && call.pool && !served->hostile)
		check_in(served, &call, in);
	if (!err && call.pool) {
		begin_job(daemon, served, &call);
		return;
	}
	if (err) {
		HOLDS(served->hostile || err == -EBADF,
		      "request %u has a wrong head: %d",
		      (uint32_t)call.head.group, err);
		if (!served->hostile && call.head.pool)
			fail("request %u is for no pool",
			     (uint32_t)call.head.group);
		answer(served, slot, err, 0);
	} else if (!served->gone) {
		control(daemon, served, &call, in);
	}
	daemon_give(daemon, served, 1);
}

static void write_out(const struct job *job, uint32_t size)
{
	unsigned char out[IN_MAX];

	for (uint32_t i = 0; i < size; i++)
		out[i] = pattern(~job->serial, i);
	if (size)
		memcpy(session_answer_place(&job->served->session, job->slot),
		       out, size);
}

static void finish_job(struct daemon *daemon, struct job *job)
{
	struct served *served = job->served;
	uint32_t size = job->code || job->forgotten ? 0 : job->out_room;
	struct job copy = *job;

	if (size > IN_MAX)
		size = IN_MAX;
	if (!served->cut) {
		write_out(job, size);
		if (!served->hostile) {
			ledger_answered(job->serial, job->code);
			served->answers[served->nr_answers++] = job->serial;
		}
	}
	job->served = NULL;
	served->nr_jobs--;
	answer(served, copy.slot, copy.code, size);
	if (!served->cut && served->nr_answers == JOBS_MAX)
		daemon_publish(served);
	daemon_give(daemon, served, 1);
}

/* False: it is not its time. */
static bool step_job(struct daemon *daemon, struct job *job)
{
	uint64_t now = world.now_ns;

	if (!job->started) {
		if (job->cancelled)
			job->code = -ECANCELED;
		else if (job->deadline_ns && now >= job->deadline_ns)
			job->code = -ETIMEDOUT;
		else if (now < job->start_ns)
			return false;
		else
			job->started = true;
		if (job->started && !job->served->hostile)
			ledger_run(job->serial, daemon->generation);
	}
	if (job->started && now < job->finish_ns)
		return false;
	finish_job(daemon, job);
	return true;
}

/* True: a request has ended.  *@next_ns: when there is more to do. */
bool daemon_work(struct daemon *daemon, uint64_t *next_ns)
{
	bool done = false;

	for (uint32_t i = 0; i < JOBS_MAX; i++) {
		struct job *job = &daemon->jobs[i];
		uint64_t at;

		if (!job->served)
			continue;
		if (step_job(daemon, job)) {
			done = true;
			continue;
		}
		at = job->started ? job->finish_ns : job->start_ns;
		*next_ns = at < *next_ns ? at : *next_ns;
	}
	return done;
}
