/* SPDX-License-Identifier: MIT */
/*
 * send_many.c - several messages that are sent together.
 *
 * All messages are made first, linked as in an inbox, the newest first.  Then a
 * single swap puts them into the inbox (lf/inbox.h).  So the messages stay
 * together, and the receiver is woken once.  If there is no memory for all
 * messages, the receiver sees no message.
 *
 * Rejected: to wait for room in a mailbox that says SLEY_BLOCK (a sender that
 * gave up would have to let in the senders behind it, for whom there is room
 * already).
 */
#include "actor/mail/bounded.h"
#include "actor/mail/mail.h"
#include "actor/process/process.h"

#include <errno.h>

struct chain {
	struct sley_msg *newest, *oldest;
};

static void free_chain(struct chain *chain)
{
	struct sley_msg *msg;

	while ((msg = chain->newest)) {
		chain->newest = msg->next;
		mail_free(msg);
	}
}

/* All messages or, after an error, no message. */
static int create_chain(struct chain *chain, sley_pid to,
			const struct sley_msg_spec *spec, size_t nr)
{
	sley_pid self = sley_self();
	struct sley_msg *msg;

	chain->newest = NULL;
	for (size_t i = 0; i < nr; i++) {
		int err = mail_create_copy(&msg, SLEY_MESSAGE, spec[i].tag,
					   spec[i].data, spec[i].size);

		if (err) {
			free_chain(chain);
			return err;
		}
		if (i == 0)
			chain->oldest = msg;
		msg->from = self;
		msg->data = (const void *)(uintptr_t)to;
		msg->next = chain->newest;
		chain->newest = msg;
	}
	return 0;
}

static int send_bound(struct process *process, sley_pid to,
		      const struct chain *chain, uint32_t nr)
{
	(void)inbox_chain(mail_node(chain->newest), NULL);
	return bound_send_batch(process, to,
				&(struct batch){ chain->oldest, chain->newest,
						 nr });
}

int sley_send_many(sley_pid to, const struct sley_msg_spec *spec, size_t nr)
{
	struct process *process = process_find(to);
	struct chain chain;
	int err;

	if (!process)
		return -ESRCH;
	if (to & PID_PORT)
		return -EINVAL;
	if (nr > INT32_MAX)
		return -EMSGSIZE;
	err = create_chain(&chain, to, spec, nr);
	if (err || !nr)
		return err;
	/* relaxed: as in send.c. */
	if (load_relaxed(&process->bound))
		return send_bound(process, to, &chain, (uint32_t)nr);
	err = mail_put_chain(process, mail_node(chain.newest),
			     mail_node(chain.oldest));
	if (err) {
		chain.oldest->next = NULL; /* may lead into the inbox    */
		free_chain(&chain);
	}
	return err;
}
