/* SPDX-License-Identifier: MIT */
/*
 * domain_lower.c - a host that may restore a nice value lowers the workers of a member that
 * does not yield to more urgent work, and no other thread, and restores them: U14.
 *
 * The *spinner* has all cores of the domain, for tasks that yield only when told.  The *urgent*
 * member has a task that lasts: it runs without a core, and wants one.  Host and members
 * are actors.
 *
 * On a busy machine the spinner may be late, and count as stopped: then the host gives its core
 * to the urgent member, and nobody is lowered.  So press() begins again if need be.
 */
#include "conformance/domain/stage.h"

#include "domain/lowering.h"
#include "domain/talk.h"
#include "os/sched_attr.h"
#include "os/seqpacket.h"

#include <dirent.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define NR_WORKERS 2
#define NICE 3 /* of the spinner */
#define NOBODY 65534
#define NR_BEATS 50u
#define PATIENCE_NS 100000000ull /* then press() begins again; at first */
#define PATIENCE_MAX_NS 20000000000ull

enum {
	HOST = 'H',
	END_HOST = 'E',
	BE_NICE = 'N',
	SPIN = 'S',     /* tasks for all workers                           */
	YIELD = 'Y',    /* these yield all the time from now on            */
	PERSIST = 'P',  /* they do not                                     */
	HURRY = 'U',    /* an urgent task                                  */
	RELAX = 'V',    /* has an end                                      */
	FORGE = 'F',    /* names its parent in its page from now on        */
	SAYS_LOW = 'T', /* 1: the last line says that workers stay low     */
	SAYS_FOREIGN =
		'G', /* 1: that a member names foreign threads          */
};

/* ---- what actors do ----------------------------------------------------------------------- */

static atomic_bool hurries, yields;
static atomic_uint nr_spinning;

static void spin(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_spinning, 1);
	for (;;) {
		test_burn_ms(1);
		if (atomic_load(&yields))
			sley_yield();
	}
}

static void hurry(void *arg)
{
	(void)arg;
	while (atomic_load(&hurries))
		test_burn_ms(1);
}

/* None yields before all have begun: each is with a worker of its own. */
static int start_spinning(struct sley *rt)
{
	int err = 0;

	for (int i = 0; i < NR_WORKERS && !err; i++)
		err = sley_schedule_on(rt, spin, NULL, NULL);
	EVENTUALLY(err || atomic_load(&nr_spinning) == NR_WORKERS);
	return err;
}

/* The page of the member in this process. */
static struct member_page *find_own_page(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t from = 0, at;
	char line[256];

	CHECK(maps != NULL);
	while (!from && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "rw-s") && strstr(line, "sley member") &&
		    sscanf(line, "%" SCNxPTR, &at) == 1)
			from = at;
	}
	fclose(maps);
	CHECK(from);
	return (struct member_page *)from;
}

/* The monitor of the runtime takes it out again on each tick. */
static void *forge(void *arg)
{
	struct member_page *page = find_own_page();
	int32_t parent = getppid();

	(void)arg;
	for (;;) {
		member_tid_set(page, DOMAIN_TIDS - 1, parent);
		sched_yield();
	}
	return NULL;
}

static int act_as_member(struct sley *rt, char what)
{
	switch (what) {
	case SPIN:
		return start_spinning(rt);
	case YIELD:
	case PERSIST:
		atomic_store(&yields, what == YIELD);
		return 0;
	case HURRY:
		atomic_store(&hurries, true);
		return sley_schedule_on(rt, hurry, NULL,
					SLEY_OPTIONS(.priority = -10));
	case RELAX:
		atomic_store(&hurries, false);
		return 0;
	case FORGE:
		(void)test_thread(forge, NULL);
		return 0;
	default:
		CHECK_EQ(what, BE_NICE);
		return setpriority(PRIO_PROCESS, 0, NICE) ? -errno : 0;
	}
}

static bool let_in(void *self, const struct sley_domain_peer *peer)
{
	(void)self;
	(void)peer;
	return true;
}

static int lesson(struct sley *rt, char what)
{
	static struct sley_domain_host *host;

	switch (what) {
	case HOST:
		host = host_start_with((struct sley_domain_host_options){
			.nr_cores = NR_WORKERS,
			.mode = 0666,
			.may_join = let_in });
		return 0;
	case END_HOST:
		sley_domain_host_destroy(host);
		return 0;
	case SAYS_LOW:
		return strstr(stage_line(), "keep the nice value 19") != NULL;
	case SAYS_FOREIGN:
		return strstr(stage_line(), "not its own") != NULL;
	default:
		return act_as_member(rt, what);
	}
}

/* ---- the scene ---------------------------------------------------------------------------- */

static struct actor host, spinner, urgent;
static const char *path; /* of the domain */

static void set_scene(bool host_is_nobody, bool spinner_is_nobody)
{
	char folder[96];

	if (geteuid() != 0 || !os_sched_may_restore_nice())
		test_skip("no privilege to restore a nice value");
	path = stage_open();
	snprintf(folder, sizeof(folder), "%s", path);
	if (host_is_nobody)
		CHECK_EQ(chown(dirname(folder), NOBODY, NOBODY), 0);
	actors_learn(lesson);
	actors_have_workers(NR_WORKERS);
	actor_start(&host);
	actor_start(&spinner);
	actor_start(&urgent);
	CHECK_EQ(actor_do(&spinner, BE_NICE), 0);
	if (host_is_nobody)
		CHECK_EQ(actor_do(&host, ACTOR_NOBODY), 0);
	if (spinner_is_nobody)
		CHECK_EQ(actor_do(&spinner, ACTOR_NOBODY), 0);
	CHECK_EQ(actor_do(&host, HOST), 0);
	CHECK_EQ(actor_do(&spinner, ACTOR_JOIN), 0);
	CHECK_EQ(actor_do(&spinner, SPIN), 0);
	CHECK_EQ(actor_do(&urgent, ACTOR_JOIN), 0);
}

/* How many threads of the spinner have @nice. */
static int nr_with(int nice)
{
	struct dirent *entry;
	struct os_sched now;
	char tasks[64];
	int nr = 0;
	DIR *folder;

	snprintf(tasks, sizeof(tasks), "/proc/%d/task", spinner.pid);
	folder = opendir(tasks);
	CHECK(folder != NULL);
	while ((entry = readdir(folder)) != NULL) {
		int tid = atoi(entry->d_name);

		if (tid && !os_sched_get(tid, &now))
			nr += now.nice == nice;
	}
	closedir(folder);
	return nr;
}

static bool is_lowered(void)
{
	return nr_with(LOWERING_NICE) == NR_WORKERS;
}

static bool is_restored(void)
{
	return nr_with(LOWERING_NICE) == 0;
}

/* A member whose host was late for a second has left and come again, in any seat. */
static bool has_all_cores(void)
{
	struct sley_domain_member member[2];
	int nr = sley_domain_list(path, member, 2, NULL);

	for (int i = 0; i < nr && i < 2; i++) {
		if (member[i].pid == spinner.pid)
			return member[i].nr_held == NR_WORKERS;
	}
	return false;
}

/* The spinner has a core that the urgent member wants. */
static void press_once(void)
{
	CHECK_EQ(actor_do(&urgent, RELAX), 0);
	CHECK_EQ(actor_do(&spinner, YIELD), 0);
	EVENTUALLY(has_all_cores());
	CHECK_EQ(actor_do(&spinner, PERSIST), 0);
	CHECK_EQ(actor_do(&urgent, HURRY), 0);
}

static void press(bool (*is_so)(void))
{
	for (uint64_t patience_ns = PATIENCE_NS;; patience_ns *= 2) {
		uint64_t until_ns = test_now_ns() + patience_ns;

		CHECK_LT(patience_ns, PATIENCE_MAX_NS);
		press_once();
		while (test_now_ns() < until_ns) {
			if (is_so())
				return;
			test_nap_ms(1);
		}
	}
}

static void end(struct actor *actor)
{
	if (actor->pid)
		actor_kill(actor);
	actor->pid = 0;
}

static bool is_alone(void)
{
	return actor_do(&spinner, ACTOR_STATE) == SLEY_DOMAIN_ALONE;
}

/* Stopped first, or it could restore the spinner in time. */
static void kill_host_that_lowers(void)
{
	for (;;) {
		press(is_lowered);
		actor_signal(&host, SIGSTOP);
		if (is_lowered())
			break;
		actor_signal(&host, SIGCONT);
	}
	end(&host);
}

/* The page of the host, as a tool gets it. */
static const struct host_page *map_host_page(void)
{
	struct domain_packet packet;
	int fds[DOMAIN_PACKET_FDS], socket = guest_connect();
	const void *page;

	domain_packet_list(&packet);
	guest_send(socket, &packet, sizeof(packet), -1);
	CHECK_EQ(talk_receive(socket, &packet, fds, -1,
			      test_now_ns() + TALK_NS),
		 0);
	CHECK_EQ(packet.kind, DOMAIN_LISTED);
	CHECK_EQ(talk_map(fds[0], &page), 0);
	os_seqpacket_hang_up(socket);
	return page;
}

static const struct host_page *host_page;

/* The host wishes that the spinner, the one that has cores, gives one away. */
static bool is_wished(void)
{
	for (uint32_t core = 0; core < NR_WORKERS; core++) {
		if (wish_member(host_wish(host_page, core)) != DOMAIN_NOBODY)
			return true;
	}
	return false;
}

/* Many ticks go by with the wish, and nobody is lowered. */
static void check_never_lowered(void)
{
	host_page = map_host_page();
	for (uint32_t i = 0; i < NR_BEATS; i++) {
		uint32_t beat = host_beats(host_page);

		if (!is_wished())
			press(is_wished);
		CHECK_EVENTUALLY(host_beats(host_page) != beat);
		CHECK(is_restored());
	}
	CHECK_EQ(munmap((void *)(uintptr_t)host_page, DOMAIN_PAGE_SIZE), 0);
}

static void end_scene(void)
{
	end(&urgent);
	end(&spinner);
	end(&host);
	stage_close();
}

/* ---- what it shall be --------------------------------------------------------------------- */

static void lower_and_restore(bool spinner_is_nobody)
{
	int nr;

	set_scene(false, spinner_is_nobody);
	nr = nr_with(NICE);
	press(is_lowered);
	CHECK_EQ(nr_with(NICE), nr - NR_WORKERS);
	CHECK_EQ(actor_do(&urgent, RELAX), 0);
	CHECK_EVENTUALLY(is_restored());
	CHECK_EQ(nr_with(NICE), nr);
	end_scene();
}

TEST(u14_workers_that_do_not_yield_are_lowered_and_restored)
{
	lower_and_restore(false);
}

TEST(u14_workers_of_another_user_are_lowered_and_restored)
{
	lower_and_restore(true);
}

TEST(u14_a_member_is_restored_when_the_more_urgent_one_is_killed)
{
	set_scene(false, true);
	press(is_lowered);
	end(&urgent);
	CHECK_EVENTUALLY(is_restored());
	end_scene();
}

TEST(u14_a_host_that_ends_restores_first)
{
	set_scene(false, true);
	press(is_lowered);
	CHECK_EQ(actor_do(&host, END_HOST), 0);
	CHECK(is_restored());
	end_scene();
}

TEST(u14_a_member_restores_itself_when_the_host_is_killed)
{
	set_scene(false, false);
	kill_host_that_lowers();
	CHECK_EVENTUALLY(is_alone());
	CHECK(is_restored());
	end_scene();
}

TEST(u14_a_member_without_rights_says_that_it_stays_low)
{
	set_scene(false, true);
	kill_host_that_lowers();
	CHECK_EVENTUALLY(is_alone());
	CHECK(is_lowered());
	CHECK_EVENTUALLY(actor_do(&spinner, SAYS_LOW) == 1);
	end_scene();
}

TEST(u14_a_host_without_rights_lowers_nobody)
{
	set_scene(true, true);
	check_never_lowered();
	end_scene();
}

static int own_nice;

static bool has_noticed(void)
{
	struct os_sched now;

	CHECK_EQ(os_sched_get(getpid(), &now), 0);
	CHECK_EQ(now.nice, own_nice);
	return actor_do(&host, SAYS_FOREIGN) == 1;
}

TEST(u14_a_member_that_names_threads_of_others_is_never_lowered)
{
	struct os_sched now;

	CHECK_EQ(os_sched_get(getpid(), &now), 0);
	own_nice = now.nice;
	set_scene(false, false);
	CHECK_EQ(actor_do(&spinner, FORGE), 0);
	press(has_noticed);
	CHECK_EVENTUALLY(is_restored());
	check_never_lowered();
	CHECK(has_noticed());
	end_scene();
}
