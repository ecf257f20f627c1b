/* SPDX-License-Identifier: MIT */
/*
 * file.c - <sley/file_module.h>: files beneath one folder, by requests.
 *
 * A method copies the head of its IN part first, and checks the copy.  A file is opened
 * with O_NONBLOCK, so that a FIFO holds no request; then its kind is looked at, and the
 * flag goes again from a regular file: with it, a ring of io_uring would not wait for the
 * disk.
 *
 * Rejected: to look at the kind before the open (the name may be another file by then);
 * descriptors as the numbers of files (a number that the kernel gives out again would
 * name the next file); a table for the whole pool (its lock would be shared by all
 * containers).
 */
#include "base/hash.h"
#include "base/options.h"
#include "core/sched/worker.h"
#include "modules/file_table.h"
#include "modules/params.h"
#include "os/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sley/file_module.h>
#include <sley/io.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define OPEN_DEFAULT 1024u
#define MODE_DEFAULT 0600u
#define MODE_MAX 0777u

/* The state of a container. */
struct files {
	struct file_table table;
	int root;
	uint32_t flags; /* of the params */
};

/* ---- what requests say -------------------------------------------------------------- */

/* The first @size bytes of IN; false: it is shorter. */
static bool take_head(const struct sley_request *request, void *head,
		      size_t size)
{
	size_t given;
	const void *in = sley_request_in(request, &given);

	if (given < size)
		return false;
	memcpy(head, in, size);
	return true;
}

/* The whole of IN. */
static bool take_in(const struct sley_request *request, void *copy, size_t size)
{
	size_t given;

	(void)sley_request_in(request, &given);
	return given == size && take_head(request, copy, size);
}

static bool has_room(struct sley_request *request, size_t size)
{
	size_t room;

	(void)sley_request_out(request, &room);
	return room >= size;
}

static bool take_path(const struct sley_request *request,
		      struct sley_file_open *in)
{
	return take_in(request, in, sizeof(*in)) && !in->reserved &&
	       *in->path && memchr(in->path, '\0', sizeof(in->path));
}

/* ---- opening ------------------------------------------------------------------------ */

/* For open(2); -EINVAL: they do not go together. */
static int open_flags(uint32_t flags)
{
	static const struct {
		uint32_t flag, with;
		int means;
	} others[] = {
		{ SLEY_FILE_CREATE, SLEY_FILE_TO_WRITE, O_CREAT },
		{ SLEY_FILE_EXCLUSIVE, SLEY_FILE_CREATE, O_EXCL },
		{ SLEY_FILE_TRUNCATE, SLEY_FILE_TO_WRITE, O_TRUNC },
		{ SLEY_FILE_APPEND, SLEY_FILE_TO_WRITE, O_APPEND },
	};
	static const int access[] = { -EINVAL, O_RDONLY, O_WRONLY, O_RDWR };
	int result = access[flags & 3];

	if (result < 0 || flags > 2 * SLEY_FILE_APPEND - 1)
		return -EINVAL;
	for (size_t i = 0; i < array_size(others); i++) {
		if (!(flags & others[i].flag))
			continue;
		if (!(flags & others[i].with))
			return -EINVAL;
		result |= others[i].means;
	}
	return result | O_NOCTTY | O_NONBLOCK;
}

/* May a file of this kind be open?  It does not wait from here on. */
static int admit(const struct files *files, int fd, const struct statx *about)
{
	if (S_ISREG(about->stx_mode))
		return os_fd_set_blocking(fd);
	if (S_ISDIR(about->stx_mode))
		return -EISDIR;
	return files->flags & SLEY_FILE_DEVICES ? 0 : -EPERM;
}

/* A descriptor, or an error; *@size is that of the file. */
static int open_file(const struct files *files, const struct sley_file_open *in,
		     uint64_t *size)
{
	struct statx about = { 0 };
	int flags = open_flags(in->flags);
	int fd, err;

	if (flags < 0 || in->mode > MODE_MAX)
		return -EINVAL;
	if (in->flags & SLEY_FILE_TO_WRITE &&
	    !(files->flags & SLEY_FILE_WRITABLE))
		return -EROFS;
	fd = sley_io_open_beneath(files->root, in->path, flags,
				  in->mode ? in->mode : MODE_DEFAULT);
	if (fd < 0)
		return fd;
	err = sley_io_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE,
			    &about);
	if (!err)
		err = admit(files, fd, &about);
	if (err)
		(void)!sley_io_close(fd);
	*size = about.stx_size;
	return err ? err : fd;
}

static int run_open(void *self, struct sley_request *request)
{
	struct files *files = self;
	struct sley_file_opened opened;
	struct sley_file_open in;
	struct open_file *file;
	int fd;

	if (!take_path(request, &in))
		return -EINVAL;
	if (!has_room(request, sizeof(opened)))
		return -EMSGSIZE;
	file = file_table_take(&files->table);
	if (!file)
		return -EMFILE;
	fd = open_file(files, &in, &opened.size);
	if (fd < 0) {
		file_table_give_back(&files->table, file);
		return fd;
	}
	opened.file = file_table_fill(&files->table, file, fd);
	return sley_request_answer(request, &opened, sizeof(opened));
}

static int run_close(void *self, struct sley_request *request)
{
	struct files *files = self;
	struct sley_file_number in;
	int fd;

	if (!take_in(request, &in, sizeof(in)))
		return -EINVAL;
	fd = file_table_remove(&files->table, in.file);
	return fd < 0 ? fd : sley_io_close(fd);
}

/* ---- bytes -------------------------------------------------------------------------- */

static bool is_offset(const struct sley_file_at *at)
{
	return at->offset <= INT64_MAX && !at->reserved;
}

static int run_read(void *self, struct sley_request *request)
{
	struct files *files = self;
	struct open_file *file;
	struct sley_file_at at;
	size_t room;
	void *out = sley_request_out(request, &room);
	ssize_t n;

	if (!take_in(request, &at, sizeof(at)) || !is_offset(&at))
		return -EINVAL;
	if (at.size > room)
		return -EMSGSIZE;
	file = file_table_enter(&files->table, at.file);
	if (!file)
		return -EBADF;
	n = sley_io_pread(file->fd, out, at.size, (off_t)at.offset);
	file_table_leave(&files->table, file,
			 (struct file_moved){ .reads = 1,
					      .read_bytes = n > 0 ? (uint64_t)n
								  : 0 });
	return n < 0 ? (int)n : sley_request_answer(request, out, (size_t)n);
}

static int run_write(void *self, struct sley_request *request)
{
	struct files *files = self;
	struct open_file *file;
	struct sley_file_at at;
	uint64_t written;
	size_t size;
	const char *in = sley_request_in(request, &size);
	ssize_t n;

	if (!take_head(request, &at, sizeof(at)) || !is_offset(&at) ||
	    at.size != size - sizeof(at))
		return -EINVAL;
	if (!has_room(request, sizeof(written)))
		return -EMSGSIZE;
	file = file_table_enter(&files->table, at.file);
	if (!file)
		return -EBADF;
	n = sley_io_pwrite(file->fd, in + sizeof(at), at.size,
			   (off_t)at.offset);
	written = n > 0 ? (uint64_t)n : 0;
	file_table_leave(&files->table, file,
			 (struct file_moved){ .writes = 1,
					      .written_bytes = written });
	return n < 0 ? (int)n
		     : sley_request_answer(request, &written, sizeof(written));
}

static uint64_t read_size(void *self, const struct sley_request *request)
{
	struct sley_file_at at;

	(void)self;
	return take_head(request, &at, sizeof(at)) ? at.size : 0;
}

static uint64_t write_size(void *self, const struct sley_request *request)
{
	size_t size;

	(void)self;
	(void)sley_request_in(request, &size);
	return size > sizeof(struct sley_file_at)
		       ? size - sizeof(struct sley_file_at)
		       : 0;
}

/* ---- the file as a whole ------------------------------------------------------------ */

static int run_sync(void *self, struct sley_request *request)
{
	struct files *files = self;
	struct sley_file_number in;
	struct open_file *file;
	int err;

	if (!take_in(request, &in, sizeof(in)))
		return -EINVAL;
	file = file_table_enter(&files->table, in.file);
	if (!file)
		return -EBADF;
	err = sley_io_fsync(file->fd);
	file_table_leave(&files->table, file, (struct file_moved){ 0 });
	return err;
}

static int stat_file(struct files *files, uint64_t number, struct statx *about)
{
	struct open_file *file = file_table_enter(&files->table, number);
	int err;

	if (!file)
		return -EBADF;
	err = sley_io_statx(file->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS,
			    about);
	file_table_leave(&files->table, file, (struct file_moved){ 0 });
	return err;
}

static int run_stat(void *self, struct sley_request *request)
{
	struct sley_file_number in;
	struct sley_file_stat out;
	struct statx about;
	int err;

	if (!take_in(request, &in, sizeof(in)))
		return -EINVAL;
	if (!has_room(request, sizeof(out)))
		return -EMSGSIZE;
	err = stat_file(self, in.file, &about);
	if (err)
		return err;
	out = (struct sley_file_stat){
		.size = about.stx_size,
		.allocated = about.stx_blocks * 512,
		.changed_ns = about.stx_mtime.tv_sec * (int64_t)SLEY_SEC +
			      about.stx_mtime.tv_nsec,
		.mode = about.stx_mode,
		.links = about.stx_nlink,
	};
	return sley_request_answer(request, &out, sizeof(out));
}

/* The last name of @path in the folder before it, which is beneath the root. */
static int unlink_beneath(int root, char *path)
{
	char *slash = strrchr(path, '/');
	int folder, err;

	if (!slash)
		return sley_io_unlinkat(root, path, 0);
	*slash = '\0';
	/* "/name": the kernel refuses an absolute path. */
	folder = sley_io_open_beneath(root, *path ? path : "/",
				      O_PATH | O_DIRECTORY, 0);
	if (folder < 0)
		return folder;
	err = sley_io_unlinkat(folder, slash + 1, 0);
	(void)!sley_io_close(folder);
	return err;
}

static int run_unlink(void *self, struct sley_request *request)
{
	struct files *files = self;
	struct sley_file_open in;

	if (!take_path(request, &in) || in.flags || in.mode)
		return -EINVAL;
	if (!(files->flags & SLEY_FILE_WRITABLE))
		return -EROFS;
	return unlink_beneath(files->root, in.path);
}

/* ---- containers --------------------------------------------------------------------- */

/* The params as a text, from a configuration file. */
static int take_text(const struct sley_container_info *info,
		     struct sley_file_params *params)
{
	static const char *const names[] = { "root", "writable", "devices",
					     "max_open", NULL };
	size_t size = 0;
	const char *root =
		sley_param_find(info->params, info->params_size, "root", &size);
	int err = sley_params_check(info->params, info->params_size, names);

	if (!err && size > SLEY_FILE_ROOT_MAX)
		err = -ENAMETOOLONG;
	if (err)
		return err;
	*params = (struct sley_file_params){ .size = sizeof(*params) };
	if (root)
		memcpy(params->root, root, size);
	if (strlen(params->root) != size) /* a 0 in between */
		return -EINVAL;
	err = params_flag(info, "writable", SLEY_FILE_WRITABLE, &params->flags);
	if (!err)
		err = params_flag(info, "devices", SLEY_FILE_DEVICES,
				  &params->flags);
	if (!err)
		err = params_number(info, "max_open", SLEY_FILE_OPEN_MAX,
				    &params->max_open);
	return err;
}

static int take_params(const struct sley_container_info *info,
		       struct sley_file_params *params)
{
	int err = -EINVAL;

	if (params_are_text(info))
		err = take_text(info, params);
	else if (params_are_struct(info))
		err = options_take(params, info->params);
	if (err)
		return err;
	if (!*params->root || !memchr(params->root, '\0', sizeof(params->root)))
		return -EINVAL;
	return params->flags & ~(SLEY_FILE_WRITABLE | SLEY_FILE_DEVICES) ||
			       params->reserved_flags ||
			       params->max_open > SLEY_FILE_OPEN_MAX
		       ? -EINVAL
		       : 0;
}

/* A folder beneath which the kernel can keep paths; or an error. */
static int open_root(const char *path)
{
	int root = sley_io_open(path, O_PATH | O_DIRECTORY, 0), probe;

	if (root < 0)
		return root;
	probe = sley_io_open_beneath(root, ".", O_PATH | O_DIRECTORY, 0);
	if (probe >= 0) {
		(void)!sley_io_close(probe);
		return root;
	}
	(void)!sley_io_close(root);
	return probe;
}

static int create(void **self, const struct sley_container_info *info)
{
	struct mem *mem = &info->rt->mem;
	struct sley_file_params params;
	struct files *files;
	int err = take_params(info, &params);

	if (err)
		return err;
	files = mem_alloc(mem, sizeof(*files));
	if (!files)
		return -ENOMEM;
	files->flags = params.flags;
	files->root = open_root(params.root);
	err = files->root;
	if (err >= 0)
		err = file_table_init(&files->table, info->rt, info->id,
				      params.max_open ? params.max_open
						      : OPEN_DEFAULT);
	if (!err) {
		*self = files;
		return 0;
	}
	if (files->root >= 0)
		(void)!sley_io_close(files->root);
	mem_free(mem, files, sizeof(*files));
	return err;
}

static void destroy(void *self)
{
	struct files *files = self;
	struct mem *mem = &files->table.rt->mem;

	file_table_fini(&files->table);
	(void)!sley_io_close(files->root);
	mem_free(mem, files, sizeof(*files));
}

/* A path leads to a container, and a number to the container that gave it out. */
static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	uint32_t method = sley_request_method(request);
	struct sley_file_number in;
	size_t size;
	const char *path = sley_request_in(request, &size);

	(void)self;
	if (method != SLEY_FILE_OPEN && method != SLEY_FILE_UNLINK)
		return take_head(request, &in, sizeof(in))
			       ? sley_query_id(file_number_container(in.file))
			       : sley_query_local();
	if (size != sizeof(struct sley_file_open))
		return sley_query_local();
	path += offsetof(struct sley_file_open, path);
	return sley_query_hash(
		hash_bytes(path, strnlen(path, SLEY_FILE_PATH_MAX)));
}

/* "files": how many are open, and what was moved. */
static int monitor(void *self, const char *query, char *text, size_t size)
{
	struct files *files = self;
	struct file_table *table = &files->table;
	struct file_moved moved;
	uint32_t nr_open;

	if (strcmp(query, "files") != 0)
		return -ENOENT;
	sley_mutex_lock(&table->lock);
	moved = table->moved;
	nr_open = table->nr_open;
	sley_mutex_unlock(&table->lock);
	return snprintf(text, size,
			"{\"open\":%" PRIu32 ",\"max_open\":%" PRIu32
			",\"reads\":%" PRIu64 ",\"read_bytes\":%" PRIu64
			",\"writes\":%" PRIu64 ",\"written_bytes\":%" PRIu64
			"}",
			nr_open, table->max, moved.reads, moved.read_bytes,
			moved.writes, moved.written_bytes);
}

static const struct sley_method methods[] = {
	[SLEY_FILE_OPEN] = { .name = "open", .run = run_open },
	[SLEY_FILE_READ] = { .name = "read",
			     .run = run_read,
			     .io_size = read_size },
	[SLEY_FILE_WRITE] = { .name = "write",
			      .run = run_write,
			      .io_size = write_size },
	[SLEY_FILE_STAT] = { .name = "stat", .run = run_stat },
	[SLEY_FILE_SYNC] = { .name = "sync", .run = run_sync },
	[SLEY_FILE_CLOSE] = { .name = "close", .run = run_close },
	[SLEY_FILE_UNLINK] = { .name = "unlink", .run = run_unlink },
};

const struct sley_module sley_file_module = {
	SLEY_MODULE_HEAD("file"), .version = 1,
	.methods = methods,       .nr_methods = array_size(methods),
	.create = create,         .destroy = destroy,
	.schedule = schedule,     .monitor = monitor,
};
