/* SPDX-License-Identifier: MIT */
/*
 * file.c - <sley/config_file.h>: reading a file, and asking what it says.
 */
#include "config/file.h"

#include "base/options.h"
#include "mem/alloc.h"
#include "os/env.h"
#include "os/whole_file.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

#define ALL_FLAGS (SLEY_CONFIG_FILE_OPTIONAL | SLEY_CONFIG_FILE_NO_ENVIRONMENT)

/* What a file, a text or nothing at all says. */
struct source {
	const char *name;
	const char *text;
	size_t size;
};

/* ---- the parts of the file --------------------------------------------------------- */

static int read_section(struct sley_config_file *file, const struct node *node)
{
	const char *name = node->key->text;

	if (node_is_empty(node))
		return 0;
	if (!strcmp(name, "runtime"))
		return keys_read(&file->reader, &keys_runtime, node,
				 &file->settings, file->runtime);
	if (!strcmp(name, "networking"))
		return keys_read(&file->reader, &keys_networking, node, NULL,
				 file->networking);
	if (!strcmp(name, "daemon"))
		return keys_read(&file->reader, &keys_daemon, node,
				 &file->daemon, file->daemon_found);
	return pools_read(file, node);
}

/* @lines has an entry for each section that is known. */
static int read_entry(struct sley_config_file *file, const struct node *node,
		      uint32_t *lines)
{
	const struct key *section = key_find(&keys_top, node->key->text);
	uint32_t *line;

	if (!section) {
		key_unknown(&file->reader, &keys_top, node->key);
		return 0;
	}
	line = &lines[section - keys_top.keys];
	if (*line) {
		(void)reader_mistake(&file->reader, node->key->at,
				     "'%s' is there twice: line %u has it, too",
				     section->name, *line);
		return 0;
	}
	*line = node->key->at.line;
	return read_section(file, node);
}

static int read_tree(struct sley_config_file *file, const struct node *root)
{
	uint32_t lines[NR_TOP_KEYS] = { 0 };
	int err = 0;

	if (root->kind != NODE_MAP) {
		(void)reader_mistake(&file->reader, root->at,
				     "the file wants the keys 'runtime:' and "
				     "'compose:'; 'sley config --sample' "
				     "prints a file");
		return 0;
	}
	for (const struct node *node = root->first; node && !err;
	     node = node->next)
		err = read_entry(file, node, lines);
	return err;
}

static int read_source(struct sley_config_file *file,
		       const struct source *source, bool environment)
{
	struct node *root = NULL;
	int err = 0;

	if (source->size > SLEY_CONFIG_FILE_MAX) {
		(void)reader_mistake(&file->reader, (struct place){ .line = 0 },
				     "the file is longer than %d bytes",
				     SLEY_CONFIG_FILE_MAX);
		return -EFBIG;
	}
	if (source->size)
		err = tree_parse(&file->reader, source->text, source->size,
				 &root);
	if (!err && root)
		err = read_tree(file, root);
	if (!err && environment)
		err = environment_read(file);
	if (!err)
		err = values_list(file);
	return err ?: (file->reader.nr_mistakes ? -EINVAL : 0);
}

static int take(struct sley_config_file **out, const struct source *source,
		const struct sley_config_file_options *options)
{
	struct sley_config_file *file =
		mem_alloc(&sley__program_mem, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->reader.report = options->report;
	file->reader.report_self = options->report_self;
	file->settings.config.size = sizeof(file->settings.config);
	file->settings.config.report = options->report;
	file->settings.config.report_self = options->report_self;
	file->settings.router.size = sizeof(file->settings.router);
	file->reader.name = pile_text(&file->reader.pile, source->name,
				      strlen(source->name));
	err = file->reader.name
		      ? read_source(file, source,
				    !(options->flags &
				      SLEY_CONFIG_FILE_NO_ENVIRONMENT))
		      : -ENOMEM;
	if (err)
		sley_config_file_free(file);
	else
		*out = file;
	return err;
}

static int take_options(struct sley_config_file_options *options,
			const struct sley_config_file_options *given)
{
	int err = options_take(options, given);

	return err ?: (options->flags & ~(uint32_t)ALL_FLAGS ? -EINVAL : 0);
}

/* ---- files ------------------------------------------------------------------------- */

static void explain(const struct sley_config_file_options *options,
		    const char *path, int err)
{
	const struct reader reader = {
		.report = options->report,
		.report_self = options->report_self,
		.name = path,
	};
	const struct place at = { .line = 0 };

	if (err == -EPERM)
		reader_note(&reader, at,
			    "the file is not read: users other than root and "
			    "you own it or may write to it; use chown and "
			    "chmod go-w");
	else if (err == -EINVAL)
		reader_note(&reader, at,
			    "the file is not read: it is no plain "
			    "file");
	else if (err == -EFBIG)
		reader_note(&reader, at, "the file is longer than %d bytes",
			    SLEY_CONFIG_FILE_MAX);
	else
		reader_note(&reader, at, "the file is not read: %s",
			    sley_strerror(err));
}

static int load(struct sley_config_file **file, const char *path,
		const struct sley_config_file_options *options)
{
	char *text = mem_alloc(&sley__program_mem, SLEY_CONFIG_FILE_MAX);
	struct source source = { .name = path, .text = text };
	int err;

	if (!text)
		return -ENOMEM;
	err = os_whole_file_read(path, text, SLEY_CONFIG_FILE_MAX,
				 &source.size);
	if (err == -ENOENT && options->flags & SLEY_CONFIG_FILE_OPTIONAL)
		err = 0;
	if (err)
		explain(options, path, err);
	else
		err = take(file, &source, options);
	mem_free(&sley__program_mem, text, SLEY_CONFIG_FILE_MAX);
	return err;
}

int sley_config_file_load(struct sley_config_file **file, const char *path,
			  const struct sley_config_file_options *given)
{
	const struct source nothing = { .name = "sley" };
	struct sley_config_file_options options;
	int err = take_options(&options, given);

	if (err)
		return err;
	if (path)
		return load(file, path, &options);
	if (!(options.flags & SLEY_CONFIG_FILE_NO_ENVIRONMENT))
		path = os_env("SLEY_CONFIG");
	if (!path || !*path)
		return take(file, &nothing, &options);
	/* The user has named it, so it must be there. */
	options.flags &= ~(uint32_t)SLEY_CONFIG_FILE_OPTIONAL;
	return load(file, path, &options);
}

int sley_config_file_parse(struct sley_config_file **file, const char *name,
			   const char *text, size_t size,
			   const struct sley_config_file_options *given)
{
	const struct source source = { name, text, size };
	struct sley_config_file_options options;
	int err = take_options(&options, given);

	return err ?: take(file, &source, &options);
}

void sley_config_file_free(struct sley_config_file *file)
{
	if (!file)
		return;
	pile_free(&file->reader.pile);
	mem_free(&sley__program_mem, file, sizeof(*file));
}

/* ---- what it says ------------------------------------------------------------------- */

const struct sley_config *
sley_config_file_runtime(const struct sley_config_file *file)
{
	return &file->settings.config;
}

const struct sley_router_options *
sley_config_file_router(const struct sley_config_file *file)
{
	return &file->settings.router;
}

const struct sley_config_daemon *
sley_config_file_daemon(const struct sley_config_file *file)
{
	return &file->daemon;
}

const struct sley_config_value *
sley_config_file_value(const struct sley_config_file *file, size_t i)
{
	return i < NR_VALUES ? &file->values[i] : NULL;
}

const struct sley_config_pool *
sley_config_file_pool(const struct sley_config_file *file, size_t i)
{
	return i < file->nr_pools ? &file->pools[i] : NULL;
}
