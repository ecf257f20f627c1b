/* SPDX-License-Identifier: MIT */
/*
 * sley/message.h - what processes send each other.
 *
 *	sley_send(pid, TAG_ADD, &n, sizeof(n));
 *
 * A message goes to a process, by its pid, and waits in its mailbox until the
 * process takes it.  Any thread can send.  What it says is a tag, and some
 * bytes: a few words travel in the message itself, more are copied, and what is
 * large is moved (sley_send_owned()) or shared (sley_send_blob()).
 *
 * What one sender sends to one process arrives in that order.  Messages of
 * different senders mix.  What the runtime itself has to say (SLEY_CANCEL,
 * SLEY_EXIT, SLEY_DOWN, SLEY_DONE) comes ahead of all that.
 *
 * Who receives a message has it until it asks for the next one: an actor until
 * its next sley_receive(), a step until it returns.  sley_msg_keep() makes it the
 * receiver's own, who then frees it, or sends it on.
 *
 * A process that is gone is not an error of the program: sends to it return
 * -ESRCH, and what was to be sent is freed.
 *
 * A tag means something only together with the kind of the message: that of a
 * SLEY_DOWN can be any number.  So a process that monitors, traps or yields looks
 * at the kind first.
 */
#ifndef SLEY_MESSAGE_H
#define SLEY_MESSAGE_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

/*
 * A process: its node, its place in the table of processes, and which of the
 * processes that ever had that place it is.  No pid is given out twice.
 */
typedef uint64_t sley_pid;

#define SLEY_NO_PID ((sley_pid)0)

enum sley_msg_kind {
	SLEY_MESSAGE, /* somebody sent it                                    */
	SLEY_DONE,    /* a command this process yielded is complete          */
	SLEY_CANCEL,  /* the process is asked to end (if it traps that)      */
	SLEY_EXIT,    /* a linked process has failed (if it traps that)      */
	SLEY_DOWN,    /* a process that it monitors has ended                */
};

#define SLEY_MSG_INLINE 16 /* bytes that travel in the message itself */

/*
 * Data that was copied, or is in a blob, is aligned as that of malloc(); without
 * any it is NULL.  The sender of a request (sley_call()) is not who called, but the
 * call: it is good for replies only.
 */
struct sley_msg {
	struct sley_msg *next; /* private: in a mailbox                    */
	const void *data;      /* private until it is received             */
	sley_pid from;   /* who sent it, has ended, or completed it; or 0  */
	uint64_t tag;    /* the sender's, or of the command; of DOWN: the
			    monitor's number                               */
	uint32_t size;   /* of data, in bytes                              */
	int32_t error;   /* why: of DONE, CANCEL, EXIT and DOWN            */
	uint8_t kind;    /* enum sley_msg_kind                             */
	uint8_t storage; /* private: where data is                         */
	uint16_t flags;  /* private                                        */
	uint32_t reserved;
	uint64_t space[SLEY_MSG_INLINE / 8]; /* private                    */
};

/*
 * How what was sent by sley_send_owned() is freed.  It may wait, but for one case:
 * where a post (sley/post.h) makes a full mailbox drop it there is no task.  A send
 * that would wait for room there is refused: -EAGAIN.
 */
typedef void sley_free_fn(void *data);

/*
 * sley_send - send @size bytes of @data to the process @to.
 *
 * They are copied.  @data may be NULL if @size is 0.
 *
 * Context:  any thread
 * Blocks:   the fiber, in a task, while a mailbox with a limit that says
 *           SLEY_BLOCK is full; else never
 * Owner:    @data is borrowed for the call.
 * Order:    everything before the call happens before the message is received.
 * Errors:   -ESRCH      there is no such process (any more)
 *           -ENOMEM     nothing was sent
 *           -EMSGSIZE   more than 4 GiB
 *           -EAGAIN     its mailbox is full, and refuses; or says SLEY_BLOCK, and
 *                       the caller is no task (sley_send_until() waits then), or
 *                       is @to
 *           -ECANCELED  the sender was cancelled while the mailbox was full
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_send(sley_pid to, uint64_t tag, const void *data, size_t size);

/*
 * sley_send_owned - send memory itself: from now on it is the message's.
 *
 * @free is called with @data once, by the thread that is done with the message;
 * also if the message cannot be sent.  NULL: free() of the C library.
 *
 * Context:  any thread
 * Blocks:   as sley_send()
 * Owner:    @data belongs to the message, in any case.
 * Order:    as sley_send()
 * Errors:   as sley_send()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_send_owned(sley_pid to, uint64_t tag, void *data, size_t size,
		sley_free_fn *free);

/*
 * sley_send_until - sley_send() that waits for room no longer than @deadline_ns.
 *
 * Only a mailbox with a limit and SLEY_BLOCK makes a difference.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_send()
 * Order:    as sley_send()
 * Errors:   as sley_send()
 *           -ETIMEDOUT  there was no room in time
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_send_until(sley_pid to, uint64_t tag, const void *data, size_t size,
		uint64_t deadline_ns);

/* One of several messages that are sent as one. */
struct sley_letter {
	uint64_t tag;
	const void *data; /* may be NULL if .size is 0 */
	size_t size;
};

/*
 * sley_send_many - send @nr messages to the process @to in one go: all, or none.
 *
 * They arrive in their order, next to each other: no message of another sender is
 * in between.  The receiver is woken once.  They are copied, as by sley_send().
 *
 * In a mailbox with a limit all of them have to fit; one that drops its oldest
 * messages drops as many as it takes.  It never waits: a mailbox that says
 * SLEY_BLOCK refuses what does not fit.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @letter, and what it points at, is borrowed for the call.
 * Order:    as sley_send()
 * Errors:   -ESRCH     there is no such process (any more)
 *           -ENOMEM    nothing was sent
 *           -EMSGSIZE  one is more than 4 GiB, or they are more than the mailbox
 *                      takes at all, or than INT32_MAX
 *           -EAGAIN    its mailbox has no room for all of them
 *           -EINVAL    @to is a call (sley_call()), which takes one reply
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_send_many(sley_pid to, const struct sley_letter *letter, size_t nr);

/* ---- shared bytes ----------------------------------------------------------- */

/*
 * Bytes that several messages share, freed with the last of them.  Who has it
 * may read it, and write until it is sent first.
 */
struct sley_blob;

/*
 * sley_blob_create - memory of @size bytes, not initialised.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller has one reference.
 * Errors:   NULL: no memory
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK struct sley_blob *
sley_blob_create(size_t size);

/*
 * sley_blob_data - where the bytes of a blob are.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void *
sley_blob_data(struct sley_blob *blob);

/*
 * sley_blob_put - give up the caller's reference.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_blob_put(struct sley_blob *blob);

/*
 * sley_send_blob - send a blob, which others may be sent, too.
 *
 * Context:  any thread
 * Blocks:   as sley_send()
 * Owner:    the message has a reference of its own; the caller keeps its own.
 * Order:    as sley_send()
 * Errors:   as sley_send()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_send_blob(sley_pid to, uint64_t tag, struct sley_blob *blob);

/* ---- one that was received --------------------------------------------------- */

/*
 * sley_msg_keep - the message is the caller's own from now on.
 *
 * Context:  the process that received @msg
 * Blocks:   never
 * Owner:    the caller calls sley_msg_free() or sley_msg_forward() later.
 * Errors:   none
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS void
sley_msg_keep(struct sley_msg *msg);

/*
 * sley_msg_free - be done with a message that was kept, or with a reply.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; NULL is nothing to free, a message that was not kept is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_msg_free(struct sley_msg *msg);

/*
 * sley_msg_forward - send a message that was kept on to @to, as it is.
 *
 * It keeps its sender: a reply goes to who sent it first.
 *
 * Context:  any thread
 * Blocks:   as sley_send()
 * Owner:    @msg is not the caller's any more, in any case.
 * Order:    as sley_send()
 * Errors:   as sley_send()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_msg_forward(sley_pid to, struct sley_msg *msg);

SLEY_END_DECLS
#endif
