/* SPDX-License-Identifier: MIT */
/*
 * values.c - the variables of the environment, and the list of all values.
 */
#include "config/file.h"
#include "os/env.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 64

/* The variable of the key "num_threads" is SLEY_NUM_THREADS. */
static void variable_of(const struct key *key, char *name, size_t size)
{
	snprintf(name, size, "SLEY_%s", key->name);
	for (char *at = name; *at; at++) {
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
	}
}

static char *keep(struct sley_config_file *file, const char *text)
{
	return pile_text(&file->reader.pile, text, strlen(text));
}

static int read_variable(struct sley_config_file *file, const struct key *key,
			 struct found *found)
{
	struct node node = { .kind = NODE_TEXT };
	char name[NAME_SIZE];
	const char *text;

	variable_of(key, name, sizeof(name));
	text = os_env(name);
	if (!text || !*text)
		return 0;
	node.at.variable = keep(file, name);
	node.text = keep(file, text);
	if (!node.at.variable || !node.text)
		return -ENOMEM;
	node.size = strlen(text);
	return tree_check_text(&file->reader, node.at, node.text, node.size)
		       ?: key_read(&file->reader, key, &node, &file->settings,
				   found);
}

int environment_read(struct sley_config_file *file)
{
	for (size_t i = 0; i < keys_runtime.nr; i++) {
		if (read_variable(file, &keys_runtime.keys[i],
				  &file->runtime[i]) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

/* ---- the list ---------------------------------------------------------------------- */

static int list_one(struct sley_config_file *file, const char *section,
		    const struct key *key, const struct found *found,
		    struct sley_config_value *value)
{
	char name[NAME_SIZE];

	*value = (struct sley_config_value){
		.text = found->text ? found->text : key->standard,
		.note = key->note,
		.origin = found->at.variable ? SLEY_CONFIG_FROM_ENVIRONMENT
			  : found->at.line   ? SLEY_CONFIG_FROM_FILE
					     : SLEY_CONFIG_DEFAULT,
		.line = found->at.line,
		.column = found->at.column,
	};
	if (key->note && found_any(found))
		reader_note(&file->reader, found->at, "'%s' has no effect: %s",
			    key->name, key->note);
	snprintf(name, sizeof(name), "%s.%s", section, key->name);
	value->key = keep(file, name);
	return value->key ? 0 : -ENOMEM;
}

static int list_variable(struct sley_config_file *file, const struct key *key,
			 struct sley_config_value *value)
{
	char name[NAME_SIZE];

	variable_of(key, name, sizeof(name));
	value->variable = keep(file, name);
	return value->variable ? 0 : -ENOMEM;
}

int values_list(struct sley_config_file *file)
{
	struct sley_config_value *value = file->values;
	int err = 0;

	for (size_t i = 0; i < NR_RUNTIME_KEYS && !err; i++, value++) {
		const struct key *key = &keys_runtime.keys[i];

		err = list_one(file, "runtime", key, &file->runtime[i], value)
			      ?: list_variable(file, key, value);
	}
	for (size_t i = 0; i < NR_NETWORKING_KEYS && !err; i++, value++)
		err = list_one(file, "networking", &keys_networking.keys[i],
			       &file->networking[i], value);
	for (size_t i = 0; i < NR_DAEMON_KEYS && !err; i++, value++)
		err = list_one(file, "daemon", &keys_daemon.keys[i],
			       &file->daemon_found[i], value);
	return err;
}
