/* SPDX-License-Identifier: MIT */
/*
 * sley/message.h - messages between processes.
 *
 *	sley_send(pid, TAG_ADD, &n, sizeof(n));
 *
 * A message is sent to the pid of a process, and waits in its mailbox until the
 * process takes it.  Any thread can send.  A message has a tag and some bytes of
 * data.  A few words travel in the message itself, and more bytes are copied.
 * Large data can be moved (sley_send_owned()) or shared (sley_send_blob()).
 *
 * Messages from one sender to one process arrive in the order in which they were
 * sent.  Messages of different senders mix.  Messages of the runtime itself
 * (SLEY_CANCEL, SLEY_EXIT, SLEY_DOWN, SLEY_DONE) come ahead of all others.
 *
 * The receiver has a message until it asks for the next one: an actor until its
 * next sley_receive(), a step until it returns.  sley_msg_keep() makes the
 * receiver the owner of the message; the owner then frees or forwards the
 * message.
 *
 * A process that has ended is not an error of the program: sends to it return
 * -ESRCH, and the message is freed.
 *
 * A tag has a meaning only together with the kind of the message: the tag of a
 * SLEY_DOWN can be any number.  So a process that monitors, traps or yields
 * looks at the kind first.
 */
#ifndef SLEY_MESSAGE_H
#define SLEY_MESSAGE_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

/*
 * The id of a process: its node, its slot in the table of processes, and the
 * generation of the slot.  No pid is given out twice.
 */
typedef uint64_t sley_pid;

#define SLEY_NO_PID ((sley_pid)0)

enum sley_msg_kind {
	SLEY_MESSAGE, /* from sley_send() or a similar call                  */
	SLEY_DONE,    /* a command of this process is complete               */
	SLEY_CANCEL,  /* the process is asked to end (if it traps)           */
	SLEY_EXIT,    /* a linked process has failed (if it traps)           */
	SLEY_DOWN,    /* a monitored process has ended                       */
};

#define SLEY_MSG_INLINE 16 /* bytes that travel in the message itself */

/*
 * Data that was copied, or is in a blob, is aligned as by malloc().  Without
 * data the pointer is NULL.  The sender of a request (sley_call()) is the call,
 * not the caller: its pid is good for replies only.
 */
struct sley_msg {
	struct sley_msg *next; /* private: in a mailbox                    */
	const void *data;      /* private until received                   */
	sley_pid from;   /* the process that sent, ended or completed; or 0 */
	uint64_t tag;    /* from the sender or the command; of DOWN: the
			    number of the monitor */
	uint32_t size;   /* of data, in bytes                              */
	int32_t error;   /* the reason, of DONE, CANCEL, EXIT and DOWN     */
	uint8_t kind;    /* enum sley_msg_kind                             */
	uint8_t storage; /* private: where data is                         */
	uint16_t flags;  /* private                                        */
	uint32_t reserved;
	uint64_t space[SLEY_MSG_INLINE / 8]; /* private                    */
};

/*
 * Frees the data of sley_send_owned().  The function may wait, with one
 * exception: where a post (sley/post.h) makes a full mailbox drop the message,
 * there is no task.  There a send that would have to wait for room is refused
 * with -EAGAIN.
 */
typedef void sley_free_fn(void *data);

/*
 * sley_send - send @size bytes of @data to the process @to.
 *
 * The bytes are copied.  @data may be NULL if @size is 0.
 *
 * Context:  any thread
 * Blocks:   the fiber, in a task, while a mailbox with a limit and SLEY_BLOCK is
 *           full; else never
 * Owner:    @data is borrowed for the call.
 * Order:    everything before the call happens before the message is received.
 * Errors:   -ESRCH      there is no such process (any more)
 *           -ENOMEM     nothing was sent
 *           -EMSGSIZE   more than 4 GiB
 *           -EAGAIN     the mailbox is full, and has SLEY_REFUSE; or has
 *                       SLEY_BLOCK, and the caller is @to, or is no task (then
 *                       use sley_send_until(), which waits)
 *           -ECANCELED  the sender was cancelled while the mailbox was full
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_send(sley_pid to, uint64_t tag, const void *data, size_t size);

/*
 * sley_send_owned - send memory itself; the message becomes its owner.
 *
 * @free is called once with @data, by the thread that is done with the message;
 * also if the message cannot be sent.  NULL means free() of the C library.
 *
 * Context:  any thread
 * Blocks:   as sley_send()
 * Owner:    @data belongs to the message, even if the call fails.
 * Order:    as sley_send()
 * Errors:   as sley_send()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_send_owned(sley_pid to, uint64_t tag, void *data, size_t size,
		sley_free_fn *free);

/*
 * sley_send_until - sley_send() that waits for room until @deadline_ns at most.
 *
 * The call differs from sley_send() only for a mailbox with a limit and
 * SLEY_BLOCK.
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

/* A message to be sent, of sley_send_many(). */
struct sley_msg_spec {
	uint64_t tag;
	const void *data; /* may be NULL if .size is 0 */
	size_t size;      /* of data, in bytes         */
};

/*
 * sley_send_many - send @nr messages to the process @to at once: all, or none.
 *
 * The messages arrive in their order, without a message of another sender in
 * between.  The receiver is woken once.  The data is copied, as by sley_send().
 *
 * A mailbox with a limit must have room for all of the messages.  With
 * SLEY_DROP_OLDEST it drops as many old messages as necessary.  The call never
 * waits: a mailbox with SLEY_BLOCK refuses messages that do not fit.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the array @spec and the data are borrowed for the call.
 * Order:    as sley_send()
 * Errors:   -ESRCH     there is no such process (any more)
 *           -ENOMEM    nothing was sent
 *           -EMSGSIZE  a message is more than 4 GiB, or @nr is above the limit
 *                      of the mailbox or above INT32_MAX
 *           -EAGAIN    the mailbox has no room for all messages
 *           -EINVAL    @to is a call (sley_call()), which takes one reply
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_send_many(sley_pid to, const struct sley_msg_spec *spec, size_t nr);

/* ---- shared bytes ----------------------------------------------------------- */

/*
 * Bytes that several messages share, freed with the last reference.  A holder of
 * a reference may read the bytes, and may write them until the first send.
 */
struct sley_blob;

/*
 * sley_blob_create - allocate a blob of @size bytes, not initialised.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller has one reference.
 * Errors:   returns NULL if there is no memory
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK struct sley_blob *
sley_blob_create(size_t size);

/*
 * sley_blob_data - the address of the bytes of a blob.
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
 * sley_send_blob - send a blob, which can be sent to several processes.
 *
 * Context:  any thread
 * Blocks:   as sley_send()
 * Owner:    the message has its own reference; the caller keeps the other one.
 * Order:    as sley_send()
 * Errors:   as sley_send()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_send_blob(sley_pid to, uint64_t tag, struct sley_blob *blob);

/* ---- a received message ------------------------------------------------------ */

/*
 * sley_msg_keep - make the caller the owner of a received message.
 *
 * Context:  the process that received @msg
 * Blocks:   never
 * Owner:    the caller calls sley_msg_free() or sley_msg_forward() later.
 * Errors:   none
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS void
sley_msg_keep(struct sley_msg *msg);

/*
 * sley_msg_free - free a message that was kept, or a reply.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; does nothing with NULL; a message that was not kept is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_msg_free(struct sley_msg *msg);

/*
 * sley_msg_forward - send a kept message on to @to, unchanged.
 *
 * The message keeps its sender: a reply goes to the original sender.
 *
 * Context:  any thread
 * Blocks:   as sley_send()
 * Owner:    @msg no longer belongs to the caller, even if the call fails.
 * Order:    as sley_send()
 * Errors:   as sley_send()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_msg_forward(sley_pid to, struct sley_msg *msg);

SLEY_END_DECLS
#endif
