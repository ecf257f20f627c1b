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

struct package {
	struct sley_msg *newest, *oldest;
};

static void unpack(struct package *package)
{
	struct sley_msg *msg;

	while ((msg = package->newest)) {
		package->newest = msg->next;
		mail_free(msg);
	}
}

/* All messages or, after an error, no message. */
static int pack(struct package *package, sley_pid to,
		const struct sley_letter *letter, size_t nr)
{
	sley_pid self = sley_self();
	struct sley_msg *msg;

	package->newest = NULL;
	for (size_t i = 0; i < nr; i++) {
		int err = mail_create_copy(&msg, SLEY_MESSAGE, letter[i].tag,
					   letter[i].data, letter[i].size);

		if (err) {
			unpack(package);
			return err;
		}
		if (i == 0)
			package->oldest = msg;
		msg->from = self;
		msg->data = (const void *)(uintptr_t)to;
		msg->next = package->newest;
		package->newest = msg;
	}
	return 0;
}

static int send_bound(struct process *process, sley_pid to,
		      const struct package *package, uint32_t nr)
{
	(void)inbox_chain(mail_node(package->newest), NULL);
	return bound_send_bundle(process, to,
				 &(struct bundle){ package->oldest,
						   package->newest, nr });
}

int sley_send_many(sley_pid to, const struct sley_letter *letter, size_t nr)
{
	struct process *process = process_find(to);
	struct package package;
	int err;

	if (!process)
		return -ESRCH;
	if (to & PID_PORT)
		return -EINVAL;
	if (nr > INT32_MAX)
		return -EMSGSIZE;
	err = pack(&package, to, letter, nr);
	if (err || !nr)
		return err;
	/* relaxed: as in send.c. */
	if (load_relaxed(&process->bound))
		return send_bound(process, to, &package, (uint32_t)nr);
	err = mail_put_chain(process, mail_node(package.newest),
			     mail_node(package.oldest));
	if (err) {
		package.oldest->next = NULL; /* may lead into the inbox    */
		unpack(&package);
	}
	return err;
}
