/* SPDX-License-Identifier: MIT */
/*
 * all_models.h - a small program that uses everything the library has.
 */
#ifndef SLEY_TESTS_FAULT_ALL_MODELS_H
#define SLEY_TESTS_FAULT_ALL_MODELS_H

#define ALL_MODELS_MAX 2

/*
 * Creates a runtime with @workers workers, uses tasks, fork-join, scopes, what tasks
 * meet at, wakers and keys, blocking calls, actors, names, topics, posts,
 * supervisors, commands, graphs and plans in it, and destroys it.  As many as
 * ALL_MODELS_MAX may run at a time, on a plain thread each and with an @id each.
 */
void use_all_models(int id, int workers);

/*
 * For a child of fork(), on its one thread: it has neither processes nor names,
 * topics or posts of its parent.
 */
void check_nothing_is_left(void);

#endif
