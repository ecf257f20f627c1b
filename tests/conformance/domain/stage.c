/* SPDX-License-Identifier: MIT */
/*
 * stage.c - see stage.h.
 */
#include "conformance/domain/stage.h"

#include "domain/talk.h"
#include "os/local_socket.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[96];

/* ---- the place -------------------------------------------------------------------------- */

const char *stage_open(void)
{
	snprintf(folder, sizeof(folder), "/tmp/sley-domain-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	/* For actors of other users. */
	CHECK_EQ(chmod(folder, 0755), 0);
	snprintf(path, sizeof(path), "%s/s", folder);
	CHECK_EQ(setenv("SLEY_SLEYD", "/nonexistent/sleyd", 1), 0);
	return path;
}

void stage_close(void)
{
	char lock[112];

	snprintf(lock, sizeof(lock), "%s.lock", path);
	unlink(lock);
	unlink(path);
	CHECK_EQ(rmdir(folder), 0);
}

/* ---- a host in this process ------------------------------------------------------------- */

static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_line[512], copied_line[512];

void stage_report(void *self, const char *line)
{
	(void)self;
	pthread_mutex_lock(&line_lock);
	snprintf(last_line, sizeof(last_line), "%s", line);
	pthread_mutex_unlock(&line_lock);
}

const char *stage_line(void)
{
	pthread_mutex_lock(&line_lock);
	memcpy(copied_line, last_line, sizeof(last_line));
	pthread_mutex_unlock(&line_lock);
	return copied_line;
}

struct sley_domain_host *
host_start_with(struct sley_domain_host_options options)
{
	struct sley_domain_host *host = NULL;

	options.size = sizeof(options);
	options.name = path;
	options.report = stage_report;
	CHECK_EQ(sley_domain_host_create(&host, &options), 0);
	return host;
}

struct sley_domain_host *host_start(void)
{
	return host_start_with((struct sley_domain_host_options){ .size = 0 });
}

int nr_members(void)
{
	return sley_domain_list(path, NULL, 0, NULL);
}

struct sley_domain_member member_at(uint32_t i)
{
	static struct sley_domain_member members[SLEY_DOMAIN_MEMBERS_MAX];
	int nr = sley_domain_list(path, members, SLEY_DOMAIN_MEMBERS_MAX, NULL);

	CHECK_GT(nr, (int)i);
	return members[i];
}

struct sley_domain_info info_of(struct sley *rt)
{
	struct sley_domain_info info = { .size = sizeof(info) };

	CHECK_EQ(sley_domain_info(rt, &info), 0);
	return info;
}

/* ---- actors ---------------------------------------------------------------------------- */

static struct sley *actor_rt;
static int (*actor_lesson)(struct sley *rt, char what);
static int actor_workers = 2;

void actors_learn(int (*lesson)(struct sley *rt, char what))
{
	actor_lesson = lesson;
}

void actors_have_workers(int workers)
{
	actor_workers = workers;
}

static void hear_line(void *self, const char *line)
{
	stage_report(self, line);
	if (getenv("STAGE_SAYS"))
		fprintf(stderr, "%d: %s\n", getpid(), line);
}

static int actor_join(void)
{
	if (!actor_rt) {
		int err = sley_create(&actor_rt,
				      SLEY_CONFIG(.workers = actor_workers,
						  .report = hear_line));

		if (err)
			return err;
	}
	return sley_domain_join(actor_rt, path);
}

static void count(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

static int actor_work(void)
{
	atomic_int nr;

	atomic_init(&nr, 0);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(sley_schedule_on(actor_rt, count, &nr, NULL), 0);
	EVENTUALLY(atomic_load(&nr) == 1000);
	return 0;
}

static int act(char what)
{
	static struct sley_domain_host *host;

	switch (what) {
	case ACTOR_HOST:
		return sley_domain_host_create(
			&host, SLEY_DOMAIN_HOST_OPTIONS(.name = path,
							.report = hear_line));
	case ACTOR_JOIN:
		return actor_join();
	case ACTOR_LEAVE:
		return sley_domain_leave(actor_rt);
	case ACTOR_STATE:
		return (int)info_of(actor_rt).state;
	case ACTOR_WORK:
		return actor_work();
	case ACTOR_NOBODY:
		return setgid(65534) || setuid(65534) ? -errno : 0;
	case ACTOR_END:
		/* As a program that ends without a word. */
		if (!actor_rt)
			_exit(0);
		CHECK_EQ(sley_destroy(actor_rt), 0);
		_exit(0);
	default:
		return actor_lesson(actor_rt, what);
	}
}

static _Noreturn void be_actor(int commands, int answers)
{
	char what;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(commands, &what, 1) == 1) {
		int answer = act(what);

		CHECK_EQ(write(answers, &answer, sizeof(answer)),
			 sizeof(answer));
	}
	(void)act(ACTOR_END);
	_exit(0);
}

void actor_start(struct actor *actor)
{
	int to[2], from[2];

	CHECK_EQ(pipe2(to, O_CLOEXEC), 0);
	CHECK_EQ(pipe2(from, O_CLOEXEC), 0);
	actor->pid = fork();
	CHECK_GE(actor->pid, 0);
	if (!actor->pid) {
		close(to[1]);
		close(from[0]);
		be_actor(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	actor->to = to[1];
	actor->from = from[0];
}

int actor_do(struct actor *actor, char what)
{
	int answer;

	CHECK_EQ(write(actor->to, &what, 1), 1);
	CHECK_EQ(read(actor->from, &answer, sizeof(answer)), sizeof(answer));
	return answer;
}

static int close_actor(struct actor *actor)
{
	int status;

	close(actor->to);
	CHECK_EQ(waitpid(actor->pid, &status, 0), actor->pid);
	close(actor->from);
	return status;
}

void actor_kill(struct actor *actor)
{
	actor_signal(actor, SIGKILL);
	(void)close_actor(actor);
}

void actor_end(struct actor *actor)
{
	const char end = ACTOR_END;

	/* Other actors hold the pipe open, too: its end does not tell. */
	CHECK_EQ(write(actor->to, &end, 1), 1);
	CHECK_EQ(close_actor(actor), 0);
}

void actor_signal(const struct actor *actor, int signal)
{
	CHECK_EQ(kill(actor->pid, signal), 0);
	/* Then no thread of it runs. */
	if (signal == SIGSTOP)
		CHECK_EQ(waitpid(actor->pid, NULL, WUNTRACED), actor->pid);
}

/* ---- guests ---------------------------------------------------------------------------- */

int guest_connect(void)
{
	int socket = os_local_connect(path);

	CHECK_GE(socket, 0);
	return socket;
}

void guest_send(int socket, const void *bytes, size_t size, int fd)
{
	CHECK_EQ(os_seqpacket_send(socket, bytes, size, &fd, fd >= 0), 0);
}

uint32_t guest_hear_line(int socket, struct domain_packet *packet, int *line)
{
	int fds[DOMAIN_PACKET_FDS];
	int err =
		talk_receive(socket, packet, fds, -1, test_now_ns() + TALK_NS);

	*line = fds[1];
	if (err == -ECONNREFUSED)
		return 0;
	CHECK_EQ(err, 0);
	os_close(fds[0]);
	return packet->kind;
}

uint32_t guest_hear(int socket, struct domain_packet *packet)
{
	int line;
	uint32_t kind = guest_hear_line(socket, packet, &line);

	os_close(line);
	return kind;
}

int page_make(struct member_page **page)
{
	void *memory;
	int fd = os_shared_page_create("test", DOMAIN_PAGE_SIZE, &memory);

	CHECK_GE(fd, 0);
	*page = memory;
	(*page)->magic = DOMAIN_MEMBER_MAGIC;
	(*page)->version = DOMAIN_PAGE_VERSION;
	return fd;
}

void guest_join(struct member_guest *guest)
{
	int fd = page_make(&guest->page);
	struct domain_packet packet;

	guest->socket = guest_connect();
	domain_packet_hello(&packet, "guest", 1);
	guest_send(guest->socket, &packet, sizeof(packet), fd);
	os_close(fd);
	CHECK_EQ(guest_hear(guest->socket, &packet), DOMAIN_WELCOME);
}

void guest_leave(struct member_guest *guest)
{
	os_seqpacket_hang_up(guest->socket);
	CHECK_EQ(munmap(guest->page, DOMAIN_PAGE_SIZE), 0);
}
