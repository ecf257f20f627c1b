/* SPDX-License-Identifier: MIT */
/*
 * sley/config_file.h - a runtime, its policy and its pools, from a file in YAML.
 *
 * In a library of its own: link sley::config, or use pkg-config --libs sley-config.
 *
 *     runtime:
 *       num_threads: 4
 *       local_sched: default
 *     compose:
 *       - mod_name: store
 *         pool_name: keys
 *         containers: 8
 *
 *     err = sley_config_file_load(&file, "service.yaml", NULL);
 *     err = sley_config_file_start(file, &rt, &router);
 *     err = sley_router_add(router, &store_module);
 *     err = sley_config_file_compose(file, router);
 *     sley_config_file_free(file);
 *
 * docs/CONFIGURATION.md and sley(5) have all keys; "sley config --sample" prints a file
 * with every key, and "sley config --check" lists the mistakes of a file.
 *
 * Mistakes.  A file with a mistake is refused as a whole.  .report gets a line for each
 * mistake, with file, line, column, the reason and what to do:
 *
 *     service.yaml:2:3: there is no key 'num_thread' in 'runtime'; did you mean
 *     'num_threads'?
 *
 * It gets a line, too, for a key that is known but has no effect here.
 *
 * The environment.  $SLEY_CONFIG names the file if the program names none.  For each key
 * of "runtime" there is a variable, $SLEY_NUM_THREADS for num_threads, which wins over
 * the file; an empty variable counts as none.  A program that runs with more rights
 * than its caller ignores all of these.
 *
 * Trust.  The file says which code is loaded and which files are written.  So it is
 * refused if users other than root and the user of the program own it or may write to
 * it.
 */
#ifndef SLEY_CONFIG_FILE_H
#define SLEY_CONFIG_FILE_H

#include <sley/compiler.h>
#include <sley/pool.h>
#include <sley/query.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

struct sley_config_file;

/* The longest file, in bytes. */
#define SLEY_CONFIG_FILE_MAX 1048576

/* For .flags. */
enum {
	/* If there is no file @path, it counts as an empty file. */
	SLEY_CONFIG_FILE_OPTIONAL = 1,
	/* No variable of the environment is looked at. */
	SLEY_CONFIG_FILE_NO_ENVIRONMENT = 2,
};

/* Zero means the default in every field. */
struct sley_config_file_options {
	uint32_t size;  /* of this struct; SLEY_CONFIG_FILE_OPTIONS sets it */
	uint32_t flags; /* SLEY_CONFIG_FILE_*                               */
	/*
	 * Gets a line for each mistake, and becomes .report of the runtime;
	 * default: stderr.
	 */
	void (*report)(void *self, const char *line);
	void *report_self;
	uint64_t reserved[4];
};

#define SLEY_CONFIG_FILE_OPTIONS(...)                                          \
	SLEY_LITERAL(struct sley_config_file_options, __VA_ARGS__)

/* Where a value comes from. */
enum sley_config_origin {
	SLEY_CONFIG_DEFAULT,
	SLEY_CONFIG_FROM_FILE,
	SLEY_CONFIG_FROM_ENVIRONMENT,
};

/* A value of the file, as a text.  The library may add fields at the end. */
struct sley_config_value {
	const char *key;  /* "runtime.num_threads"                      */
	const char *text; /* "4"                                        */
	const char
		*variable; /* of the environment: "SLEY_NUM_THREADS"; or NULL */
	const char *note;  /* why the key has no effect; or NULL         */
	uint32_t origin;   /* one of enum sley_config_origin             */
	uint32_t line;     /* in the file; 0: not from there             */
	uint32_t column;
};

/* An entry of "compose".  The library may add fields at the end. */
struct sley_config_pool {
	const char *module; /* mod_name                                     */
	const char *name;   /* pool_name                                    */
	const char *id;     /* pool_id, or NULL; pools are found by name    */
	const char *params; /* "key=value" lines, for the module; or NULL   */
	size_t params_size;
	struct sley_query query; /* pool_query: always this machine         */
	uint32_t containers;     /* 0: the default                          */
	uint32_t line;           /* in the file                             */
	uint32_t column;
	bool restart; /* for the program: make the pool again later?       */
	/* As the fields of struct sley_pool_options. */
	bool isolated;
	uint32_t max_restarts;
	uint64_t limit_ms;
};

/* What a user of a daemon may do: bits of .may. */
enum sley_config_right {
	SLEY_CONFIG_MAY_SUBMIT = 1,  /* requests to pools                     */
	SLEY_CONFIG_MAY_CREATE = 2,  /* make and destroy pools                */
	SLEY_CONFIG_MAY_UPGRADE = 4, /* flush, drain and upgrade; new modules */
	SLEY_CONFIG_MAY_STOP = 8,    /* end the daemon, and clients of it     */
	SLEY_CONFIG_MAY_LOOK = 16,   /* figures, names and clients            */
	SLEY_CONFIG_MAY_JOIN = 32,   /* the domain that the daemon hosts      */
};

/* An entry of "users".  The library may add fields at the end. */
struct sley_config_user {
	const char *user;  /* a name or a number; or NULL                    */
	const char *group; /* the same, of a group; or NULL                  */
	bool everybody;    /* all users: neither of these                    */
	uint32_t may;      /* bits of enum sley_config_right                 */
	uint32_t line;     /* in the file                                    */
	uint32_t column;
	/* What members of this user may have: struct sley_domain_terms. */
	uint32_t domain_share;    /* 0: the entry does not say               */
	bool has_domain_priority; /* false: the same                         */
	int32_t domain_priority;  /* holds for requests, too                 */
};

/*
 * "daemon", for sleyd(8).  0 and NULL mean: the file does not say.  The library may add
 * fields at the end.
 */
struct sley_config_daemon {
	const char *socket;
	const char *name;
	const char *user; /* which a daemon of root becomes                  */
	const char *state_dir;
	const char *pid_file;
	const struct sley_config_user *users;
	size_t nr_users;
	uint32_t mode; /* of the socket                                      */
	uint32_t max_clients;
	uint32_t max_clients_per_user;
	uint32_t max_requests_per_user;
	uint32_t max_depth;
	uint32_t max_slot_size;
	uint64_t max_segment_bytes;
	uint32_t grace_ms; /* that requests have at the end of the daemon    */
	uint32_t no_seccomp; /* 1: system calls are not filtered             */
	const char *domain;  /* which the daemon hosts (<sley/domain.h>)      */
	uint32_t domain_mode;   /* of its socket                              */
	uint32_t domain_cores;  /* how many it has                            */
	uint64_t domain_age_ms; /* a want of this age counts as more urgent  */
	uint32_t domain_share_by_user; /* 1: a user has one share            */
};

/*
 * sley_config_file_load - read a configuration file.
 *
 * Without @path, $SLEY_CONFIG names the file.  If that variable is not set, all
 * values are defaults, or from the environment.
 *
 * Context:  any thread
 * Blocks:   the thread, while the file is read
 * Owner:    the caller frees *@file with sley_config_file_free(); @path and @options
 *           are borrowed for the call; options->report_self until *@file is freed.
 * Errors:   -EINVAL   the file has mistakes, or is no plain file; or a variable of
 *                     the environment has no good value; or options->size is zero;
 *                     or a flag is unknown
 *           -ENOENT   there is no such file
 *           -EPERM    users other than root and the user of the program own the file
 *                     or may write to it
 *           -EFBIG    the file is longer than SLEY_CONFIG_FILE_MAX
 *           -E2BIG    a newer field of @options is set
 *           -ENOMEM
 *           errors of open(2) and read(2)
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD SLEY_MUST_CHECK int
sley_config_file_load(struct sley_config_file **file, const char *path,
		      const struct sley_config_file_options *options);

/*
 * sley_config_file_parse - take a text as a configuration file.
 *
 * @name stands for the name of the file in messages.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller frees *@file with sley_config_file_free(); @name, @text and
 *           @options are borrowed for the call.
 * Errors:   -EINVAL, -EFBIG, -E2BIG, -ENOMEM   as sley_config_file_load()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_config_file_parse(struct sley_config_file **file, const char *name,
		       const char *text, size_t size,
		       const struct sley_config_file_options *options);

/*
 * sley_config_file_free - forget a configuration file.
 *
 * What was started with it goes on.  Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_config_file_free(struct sley_config_file *file);

/*
 * sley_config_file_runtime - the configuration for sley_create().
 *
 * A program that adds hooks of its own copies the struct, sets them, and calls
 * sley_create() itself.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the struct and its texts live as long as @file.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS const struct sley_config *
sley_config_file_runtime(const struct sley_config_file *file);

/*
 * sley_config_file_router - the options for sley_router_create().
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the struct and its texts live as long as @file.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS const struct sley_router_options *
sley_config_file_router(const struct sley_config_file *file);

/*
 * sley_config_file_daemon - what the file says for a daemon.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the struct and its texts live as long as @file.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS const struct sley_config_daemon *
sley_config_file_daemon(const struct sley_config_file *file);

/*
 * sley_config_file_value - value number @i, for all keys of the file but "compose".
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the struct and its texts live as long as @file.
 * Errors:   none; NULL if there are not so many
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS const struct sley_config_value *
sley_config_file_value(const struct sley_config_file *file, size_t i);

/*
 * sley_config_file_pool - entry number @i of "compose".
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the struct and its texts live as long as @file.
 * Errors:   none; NULL if there are not so many
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS const struct sley_config_pool *
sley_config_file_pool(const struct sley_config_file *file, size_t i);

/*
 * sley_config_file_start - start a runtime and a router as the file says.
 *
 * If there is no such policy, or it fails, .report gets the line of the file that names
 * it, and nothing is left behind.
 *
 * Context:  any thread
 * Blocks:   the thread, until all workers have started and the policy is loaded
 * Owner:    the caller ends *@router with sley_router_destroy() and *@rt with
 *           sley_destroy(); @file is borrowed for the call.
 * Errors:   those of sley_create() and sley_router_create()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD SLEY_MUST_CHECK int
sley_config_file_start(const struct sley_config_file *file, struct sley **rt,
		       struct sley_router **router);

/*
 * sley_config_file_compose - open all pools of "compose", in their order.
 *
 * Modules that are no files must have been added before.  The call gives the references
 * to the pools back: sley_pool_open() with the name of a pool finds it.  At the first
 * pool that cannot be opened the call ends, and .report gets the line of its entry; the
 * pools before it stay.
 *
 * Context:  any thread
 * Blocks:   the fiber, while create() of a module runs; a plain thread sleeps
 * Owner:    @file is borrowed for the call.
 * Errors:   those of sley_pool_open()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_config_file_compose(const struct sley_config_file *file,
			 struct sley_router *router);

SLEY_END_DECLS
#endif
