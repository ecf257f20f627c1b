/* SPDX-License-Identifier: MIT */
/*
 * receive.h - actors: processes that are functions.
 */
#ifndef SLEY_ACTOR_MAIL_RECEIVE_H
#define SLEY_ACTOR_MAIL_RECEIVE_H

#include <sley/message.h>

/* A MAIL_TIMEOUT has come out of the inbox. */
void receive_timed_out(struct sley_msg *msg);

#endif
