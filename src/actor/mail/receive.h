/* SPDX-License-Identifier: MIT */
/*
 * receive.h - what mail.c calls in receive.c: the deadline of a receive has passed.
 */
#ifndef SLEY_ACTOR_MAIL_RECEIVE_H
#define SLEY_ACTOR_MAIL_RECEIVE_H

#include <sley/message.h>

/* A MAIL_TIMEOUT has come out of the inbox. */
void receive_timed_out(struct sley_msg *msg);

#endif
