/* SPDX-License-Identifier: MIT */
/*
 * kept.c - see kept.h.
 */
#include "kept.h"

#include "kept_line.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <sley/blocking.h>
#include <sley/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "pools"
#define NEW_NAME "pools.new"
#define FILE_MAX (64 << 20)

/* ---- reading -------------------------------------------------------------------------- */

static bool is_ours(int fd)
{
	struct stat found;

	return fstat(fd, &found) == 0 &&
	       (found.st_uid == 0 || found.st_uid == geteuid()) &&
	       !(found.st_mode & 022);
}

/* The whole file, with a 0 behind; NULL, and *@err is 0: there is none. */
static char *read_file(int folder, int *err)
{
	int fd = openat(folder, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat found;
	char *text = NULL;
	ssize_t got;

	*err = fd < 0 && errno != ENOENT ? -errno : 0;
	if (fd < 0)
		return NULL;
	if (!is_ours(fd))
		*err = -EPERM;
	else if (fstat(fd, &found))
		*err = -errno;
	else if (!S_ISREG(found.st_mode) || found.st_size > FILE_MAX)
		*err = -EFBIG;
	else if (!(text = calloc(1, (size_t)found.st_size + 1)))
		*err = -ENOMEM;
	if (text) {
		got = read(fd, text, (size_t)found.st_size);
		if (got < 0)
			*err = -errno;
	}
	close(fd);
	return text;
}

static int add(struct kept *kept, const struct kept_pool *pool)
{
	struct kept_pool *pools =
		realloc(kept->pools, (kept->nr + 1) * sizeof(*pools));

	if (!pools)
		return -ENOMEM;
	kept->pools = pools;
	pools[kept->nr++] = *pool;
	return 0;
}

static int take_line(struct kept *kept, char *line, unsigned int number,
		     bool is_last)
{
	struct kept_pool pool;
	int err = kept_line_read(line, &pool);

	if (err == -ENOMEM)
		return err;
	if (err) {
		log_line("%s/" FILE_NAME ":%u: the record is %s and is left "
			 "out; if a pool is missing, make it again by 'sley "
			 "pool create --keep'",
			 kept->path, number, is_last ? "torn" : "damaged");
		return 0;
	}
	err = add(kept, &pool);
	if (err)
		kept_line_free(&pool);
	return err;
}

static int take_lines(struct kept *kept, char *text)
{
	unsigned int number = 0;
	int err = 0;

	for (char *line = text; *line && !err;) {
		char *end = strchr(line, '\n');
		char *next = end ? end + 1 : line + strlen(line);

		if (end)
			*end = '\0';
		else
			*line = '\0'; /* its end is missing: it is no record */
		err = take_line(kept, line, ++number, !*next);
		line = next;
	}
	return err;
}

static int open_folder(struct kept *kept)
{
	kept->folder = open(kept->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (kept->folder < 0)
		return -errno;
	return is_ours(kept->folder) ? 0 : -EPERM;
}

static void explain(const struct kept *kept, int err)
{
	if (err == -EPERM)
		log_line("'state_dir: %s' is not used: users other than root "
			 "and the user of the daemon own it, or may write to "
			 "it or to its file; use chown and chmod go-w",
			 kept->path);
	else
		log_line("'state_dir: %s' is not used: %s", kept->path,
			 sley_strerror(err));
}

int kept_open(struct kept *kept, const char *path)
{
	char *text = NULL;
	int err;

	*kept = (struct kept){ .folder = -1, .path = path };
	if (!path)
		return 0;
	err = open_folder(kept);
	if (!err)
		text = read_file(kept->folder, &err);
	if (!err && text)
		err = take_lines(kept, text);
	free(text);
	if (err) {
		explain(kept, err);
		kept_close(kept);
	}
	return err;
}

void kept_close(struct kept *kept)
{
	for (size_t i = 0; i < kept->nr; i++)
		kept_line_free(&kept->pools[i]);
	free(kept->pools);
	kept->pools = NULL;
	kept->nr = 0;
	if (kept->folder >= 0)
		close(kept->folder);
	kept->folder = -1;
}

void kept_replay(struct kept *kept, struct sley_router *router)
{
	for (size_t i = 0; i < kept->nr; i++) {
		const struct kept_pool *pool = &kept->pools[i];
		struct sley_pool *made;
		int err = sley_pool_open(router, &made, pool->name,
					 &pool->options);

		if (err)
			log_line("the pool '%s' of the module '%s' does not "
				 "come again: %s; 'sley pool create' makes it "
				 "when the reason is gone",
				 pool->name, pool->options.module,
				 sley_strerror(err));
		else
			sley_pool_close(made);
	}
}

/* ---- writing -------------------------------------------------------------------------- */

static int write_lines(const struct kept *kept, FILE *file)
{
	for (size_t i = 0; i < kept->nr; i++) {
		int err = kept_line_write(&kept->pools[i], file);

		if (err)
			return err;
	}
	return fflush(file) || fsync(fileno(file)) ? -errno : 0;
}

struct saving {
	const struct kept *kept;
	int err;
};

/* Runs where it may block. */
static void save_now(void *arg)
{
	struct saving *saving = arg;
	int folder = saving->kept->folder;
	int fd = openat(folder, NEW_NAME,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int err = file ? 0 : -errno;

	if (!file && fd >= 0)
		close(fd);
	if (file) {
		err = write_lines(saving->kept, file);
		if (fclose(file) && !err)
			err = -errno;
	}
	if (!err && renameat(folder, NEW_NAME, folder, FILE_NAME))
		err = -errno;
	if (err)
		(void)unlinkat(folder, NEW_NAME, 0);
	else if (fsync(folder))
		err = -errno;
	saving->err = err;
}

/* With the lock, after a change to the pool @name, which has the @effect. */
static int save(const struct kept *kept, const char *name, const char *effect)
{
	struct saving saving = { .kept = kept };
	int err = sley_blocking_call(save_now, &saving) ?: saving.err;

	if (!err)
		return 0;
	log_line("%s/" FILE_NAME " is not written: %s; the pool '%s' %s",
		 kept->path, sley_strerror(err), name, effect);
	return err == -ENOSPC || err == -EDQUOT || err == -EROFS ? err : -EIO;
}

/* With the lock.  The pool @name is none of them any more. */
static bool drop(struct kept *kept, const char *name)
{
	for (size_t i = 0; i < kept->nr; i++) {
		if (strcmp(kept->pools[i].name, name) != 0)
			continue;
		kept_line_free(&kept->pools[i]);
		kept->nr--;
		memmove(&kept->pools[i], &kept->pools[i + 1],
			(kept->nr - i) * sizeof(*kept->pools));
		return true;
	}
	return false;
}

int kept_keep(void *keeper, const char *name,
	      const struct sley_pool_options *options)
{
	struct kept *kept = keeper;
	struct kept_pool pool;
	bool was_kept;
	int err;

	if (kept->folder < 0)
		return -EOPNOTSUPP;
	err = kept_line_copy(&pool, name, options);
	if (err)
		return err;
	sley_mutex_lock(&kept->lock);
	was_kept = drop(kept, name);
	err = add(kept, &pool);
	if (err)
		kept_line_free(&pool);
	else
		err = save(kept, name,
			   "is there, and does not come again after a restart");
	/* What was said is true also after the next change. */
	if (err && !was_kept)
		(void)drop(kept, name);
	sley_mutex_unlock(&kept->lock);
	return err;
}

int kept_forget(void *keeper, const char *name)
{
	struct kept *kept = keeper;
	int err = 0;

	sley_mutex_lock(&kept->lock);
	if (drop(kept, name))
		err = save(kept, name,
			   "is destroyed, and comes again after a restart, "
			   "unless the file is written before");
	sley_mutex_unlock(&kept->lock);
	return err;
}
