/* SPDX-License-Identifier: MIT */
/*
 * client_refused.c - daemons that refuse a client: of another version, or without room.
 *
 * The daemon that refuses is a thread, which answers each HELLO with one packet.
 */
#include "conformance/ipc/keeper.h"

#include "ipc/packet.h"
#include "os/local_socket.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"
#include "os/socket.h"

#include <poll.h>
#include <stdio.h>

/* ---- the daemon ------------------------------------------------------------------------ */

struct refuser {
	struct os_local_listener listener;
	struct wire_packet answer;
	atomic_bool stop;
	atomic_uint nr_refused;
	pthread_t thread;
};

/* The client reads the answer, and hangs up. */
static void refuse(struct refuser *refuser, int socket)
{
	struct pollfd readable = { .fd = socket, .events = POLLIN };
	struct wire_packet packet;
	int fd = -1;

	CHECK_EQ(poll(&readable, 1, 10000), 1);
	CHECK_EQ(os_seqpacket_recv(socket, &packet, sizeof(packet), &fd, 1,
				   false),
		 1);
	CHECK_EQ(packet.kind, WIRE_HELLO);
	os_close(fd);
	atomic_fetch_add(&refuser->nr_refused, 1);
	CHECK_EQ(os_seqpacket_send(socket, &refuser->answer,
				   sizeof(refuser->answer), NULL, 0),
		 0);
	CHECK_EQ(poll(&readable, 1, 10000), 1);
	os_close(socket);
}

static void *refuse_all(void *arg)
{
	struct refuser *refuser = arg;
	struct pollfd readable = { .fd = refuser->listener.fd,
				   .events = POLLIN };

	while (!atomic_load(&refuser->stop)) {
		if (poll(&readable, 1, 1) == 1)
			refuse(refuser,
			       os_accept(refuser->listener.fd, NULL, NULL));
	}
	return NULL;
}

/* .answer is set. */
static void refuser_begin(struct refuser *refuser, const char *path)
{
	CHECK_EQ(os_local_listen(&refuser->listener, path, 0600), 0);
	refuser->thread = test_thread(refuse_all, refuser);
}

static void refuser_end(struct refuser *refuser)
{
	atomic_store(&refuser->stop, true);
	pthread_join(refuser->thread, NULL);
	os_local_unlisten(&refuser->listener);
}

/* ---- lines ----------------------------------------------------------------------------- */

struct lines {
	atomic_uint nr_refused; /* that tell of a refusal */
	char last[512];
};

static void hear(void *self, const char *line)
{
	struct lines *lines = self;

	if (!strstr(line, "refuses"))
		return;
	snprintf(lines->last, sizeof(lines->last), "%s", line);
	atomic_fetch_add(&lines->nr_refused, 1);
}

/* ---- opening --------------------------------------------------------------------------- */

/* Of a packet of another major version only the versions are believed. */
static struct wire_packet other_version(void)
{
	struct wire_packet packet;

	packet_refused(&packet, -EACCES, "words of another version");
	packet.major = 9;
	packet.minor = 4;
	return packet;
}

TEST(a_client_is_refused_by_another_version)
{
	struct refuser refuser = { .answer = other_version() };
	char folder[] = "/tmp/sley-refused-XXXXXX", path[64];
	struct sley_client *client = NULL;
	struct lines lines = { .last = "" };

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	refuser_begin(&refuser, path);
	CHECK_EQ(sley_client_open(&client,
				  SLEY_CLIENT_OPTIONS(.socket = path,
						      .report = hear,
						      .report_self = &lines)),
		 -EPROTONOSUPPORT);
	CHECK(strstr(lines.last, "the client speaks version 1.0, the daemon "
				 "9.4: update the older of the two"));
	CHECK_EQ(atomic_load(&refuser.nr_refused), 1);
	refuser_end(&refuser);
	CHECK_EQ(rmdir(folder), 0);
}

/* ---- requests that wait ---------------------------------------------------------------- */

/* The socket of the client is a link, to the daemon of the keeper or to the refuser. */
struct crossing {
	struct keeper *keeper;
	struct refuser refuser;
	struct lines lines;
	char link[96];
	struct sley_client *client;
	struct sley_pool *pool;
};

static void point_to(const struct crossing *crossing, const char *path)
{
	char next[128];

	snprintf(next, sizeof(next), "%s.next", crossing->link);
	CHECK_EQ(symlink(path, next), 0);
	CHECK_EQ(rename(next, crossing->link), 0);
}

static void crossing_begin(struct crossing *crossing, struct keeper *keeper,
			   const struct wire_packet *answer,
			   uint64_t patience_ns)
{
	struct sley_client_options options = quiet_options(keeper);
	char path[96];

	*crossing = (struct crossing){ .keeper = keeper,
				       .refuser = { .answer = *answer } };
	snprintf(crossing->link, sizeof(crossing->link), "%s/link",
		 keeper->folder);
	snprintf(path, sizeof(path), "%s/refuser", keeper->folder);
	refuser_begin(&crossing->refuser, path);
	point_to(crossing, keeper->path);
	options.socket = crossing->link;
	options.reconnect_ns = patience_ns;
	options.report = hear;
	options.report_self = &crossing->lines;
	crossing->client = client_with(&options);
	crossing->pool = work_pool(crossing->client);
}

/* The daemon dies with a request that it has not begun; the next one is the refuser. */
static void cross(struct crossing *crossing, struct sley_request *request,
		  const struct sley_request_spec *spec)
{
	keeper_freeze(crossing->keeper);
	CHECK_EQ(sley_submit(crossing->pool, request, spec), 0);
	point_to(crossing, crossing->refuser.listener.path);
	keeper_kill(crossing->keeper);
}

static void cross_back(struct crossing *crossing)
{
	keeper_start(crossing->keeper);
	point_to(crossing, crossing->keeper->path);
}

static void crossing_end(struct crossing *crossing)
{
	client_close(crossing->client, crossing->pool);
	refuser_end(&crossing->refuser);
	CHECK_EQ(unlink(crossing->link), 0);
}

/* The next daemon refuses with @answer, for as long as the client has patience. */
static void be_refused(struct keeper *keeper, const struct wire_packet *answer,
		       const char *said)
{
	uint64_t patience_ns = 60 * SLEY_MSEC, begin_ns;
	struct sley_request request;
	struct crossing crossing;
	uint32_t item = 1;
	struct sley_request_spec spec = work_on(WORK_COUNT, &item);

	crossing_begin(&crossing, keeper, answer, patience_ns);
	begin_ns = test_now_ns();
	cross(&crossing, &request, &spec);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), -EHOSTDOWN);
	CHECK_GE(test_now_ns() - begin_ns, patience_ns);
	CHECK_GE(atomic_load(&crossing.refuser.nr_refused), 1);
	CHECK_EQ(atomic_load(&crossing.lines.nr_refused), 1);
	CHECK(strstr(crossing.lines.last, said));
	cross_back(&crossing);
	EVENTUALLY(sley_pool_call(crossing.pool, &spec, NULL) == 0);
	CHECK_EQ(keeper_ended(keeper, item), 1);
	crossing_end(&crossing);
}

CLIENT_TEST(c41_a_daemon_of_another_version_is_none)
{
	struct wire_packet answer = other_version();

	be_refused(keeper, &answer, "the daemon 9.4");
}

CLIENT_TEST(c41_a_daemon_that_refuses_is_none)
{
	struct wire_packet answer;

	packet_refused(&answer, -EMFILE, "there are no resources");
	be_refused(keeper, &answer, "there are no resources");
}

/* Another daemon comes in time: the request goes there, once. */
CLIENT_TEST(c41_requests_survive_a_daemon_that_refuses)
{
	struct wire_packet answer = other_version();
	struct sley_request request;
	struct crossing crossing;
	uint32_t item = 1;
	struct sley_request_spec spec = work_on(WORK_COUNT, &item);

	crossing_begin(&crossing, keeper, &answer, 0);
	cross(&crossing, &request, &spec);
	while (atomic_load(&crossing.refuser.nr_refused) < 3)
		CHECK_EQ(sley_request_wait_until(&request,
						 sley_after(SLEY_MSEC)),
			 -ETIMEDOUT);
	cross_back(&crossing);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 0);
	CHECK_EQ(keeper_ended(keeper, item), 1);
	crossing_end(&crossing);
}
