/* SPDX-License-Identifier: MIT */
/*
 * template.h - a message that is sent several times: to many, or repeatedly.
 *
 * The pattern is a message that is never sent itself.  Bytes that do not fit into
 * the message are in a blob, which all copies share.
 */
#ifndef SLEY_ACTOR_MAIL_TEMPLATE_H
#define SLEY_ACTOR_MAIL_TEMPLATE_H

#include "actor/mail/mail.h"

/* From the caller, if the caller is a process.  0, -ENOMEM or -EMSGSIZE. */
must_check int template_create(struct sley_msg **pattern, uint64_t tag,
			       const void *data, size_t size);

/* NULL: no memory. */
must_check struct sley_msg *template_copy(const struct sley_msg *pattern);

/*
 * Send @msg, which is gone afterwards, without ever waiting: 0, or an error if
 * @msg does not arrive.  -ESRCH: there is no such process (any more).
 */
int template_send(sley_pid to, struct sley_msg *msg);

#endif
