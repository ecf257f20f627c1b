/* SPDX-License-Identifier: MIT */
/*
 * domain_only.h - "sleyd --domain-only NAME": the host of a domain, and nothing else.
 *
 * The first member of a domain starts the program.  The host ends with the last member, so
 * there is no configuration, no pool and no socket for clients.
 *
 * The host runs in the background: the process that was started ends as soon as a host
 * listens, with status 0, also if another process is that host.  The host has a session of
 * its own, so that no terminal and no job of a shell ends the host; the parent is process 1.
 */
#ifndef SLEYD_DOMAIN_ONLY_H
#define SLEYD_DOMAIN_ONLY_H

#include <stdbool.h>

/* @foreground: this process is the host.  The exit status. */
int domain_only(const char *name, bool foreground);

#endif
