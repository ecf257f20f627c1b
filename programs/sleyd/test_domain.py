#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_domain - sleyd as the host of a domain, and the command that lists its members.

Members are processes that say which state they are in.

$DOMAIN_HOSTS is how many hosts are killed under load, one after the other; "make prove"
has 20.
"""
import json
import mmap
import os
import re
import resource
import signal
import struct
import subprocess
import time

from harness import GIVEN, LONG, NOBODY, Test, main


def environment_of_host():
    """A host filters its system calls: the leak sanitizer cannot trace it at its end."""
    options = os.environ.get("ASAN_OPTIONS", "")
    return dict(os.environ, ASAN_OPTIONS=options + ":detect_leaks=0")


class Member:
    def __init__(self, domain, *words, **environment):
        environment = environment_of_host() | {
            "SLEY_DOMAIN": domain, "SLEY_SLEYD": GIVEN.sleyd} | environment
        self.process = subprocess.Popen(
            [GIVEN.member, *words], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment)

    def state(self):
        """The next state, when it has begun."""
        return self.process.stdout.readline().strip()

    def end(self):
        errors = self.process.communicate(timeout=LONG)[1]
        assert self.process.returncode == 0, errors
        return errors


class Turns:
    """How tasks of members and daemons get on: the file of test_turns.h."""

    def __init__(self, path, nr):
        self.path = path
        with open(path, "wb") as file:
            file.write(bytes(16 * nr))
        with open(path, "r+b") as file:
            self.words = mmap.mmap(file.fileno(), 0)

    def where(self, place):
        return f"{place}:{self.path}"

    def taken(self, place):
        return struct.unpack_from("Q", self.words, 16 * place)[0]

    def stop(self, place):
        struct.pack_into("Q", self.words, 16 * place + 8, 1)


class Domains(Test):
    def setUp(self):
        super().setUp()
        self.domain = os.path.join(self.folder, "domain")

    def hosts(self):
        """The processes that host this domain alone."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if b"--domain-only" in words and self.domain.encode() in words:
                found.append(int(pid))
        return found

    def wait_until(self, condition):
        end = time.monotonic() + LONG
        while not condition():
            self.assertLess(time.monotonic(), end)
            os.sched_yield()

    def members(self, status=0):
        done = subprocess.run([GIVEN.sley, "domain", "--json", self.domain],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout) if status == 0 else done.stderr


class Alone(Domains):
    def test_the_first_member_starts_a_host_that_ends_with_the_last(self):
        first, second = Member(self.domain), Member(self.domain)
        self.assertEqual(first.state(), "in")
        self.assertEqual(second.state(), "in")
        self.assertEqual(len(self.hosts()), 1)
        self.assertEqual({member["pid"] for member in self.members()},
                         {first.process.pid, second.process.pid})
        first.end()
        self.assertEqual(len(self.members()), 1)
        second.end()
        self.wait_until(lambda: not self.hosts())
        self.assertFalse(os.path.exists(self.domain))
        self.assertFalse(os.path.exists(self.domain + ".lock"))

    def test_of_many_first_members_one_starts_the_host(self):
        members = [Member(self.domain) for _ in range(8)]
        for member in members:
            self.assertEqual(member.state(), "in")
        self.wait_until(lambda: len(self.hosts()) == 1)
        self.assertEqual(len(self.members()), 8)
        for member in members:
            member.end()
        self.wait_until(lambda: not self.hosts())

    def test_a_host_that_is_killed_is_replaced_by_its_members(self):
        members = [Member(self.domain) for _ in range(3)]
        for member in members:
            self.assertEqual(member.state(), "in")
        last, = self.hosts()
        os.kill(last, signal.SIGKILL)
        for member in members:
            self.assertEqual(member.state(), "alone")
            self.assertEqual(member.state(), "in")
        self.wait_until(lambda: len(self.hosts()) == 1)
        self.assertNotIn(last, self.hosts())
        for member in members:
            self.assertIn("looks for the next", member.end())
        self.wait_until(lambda: not self.hosts())

    def test_members_of_different_programs_wake_each_other(self):
        """By lines that the host makes, whose system calls are filtered."""
        receiver = Member(self.domain, "sleep")
        lines = [receiver.state(), receiver.state()]
        self.assertIn("in", lines)
        lines.remove("in")
        numbers = lines[0].split()
        ringer = subprocess.run([GIVEN.member, *numbers], check=False,
                                capture_output=True, text=True,
                                env=dict(os.environ, SLEY_DOMAIN=self.domain))
        self.assertEqual(ringer.stdout, "success\n", ringer.stderr)
        self.assertEqual(receiver.state(), "woken: success")
        # The task has ended, its member has not; then its member has.
        receiver.end()
        other = Member(self.domain)
        self.assertEqual(other.state(), "in")
        ringer = subprocess.run([GIVEN.member, *numbers], check=False,
                                capture_output=True, text=True,
                                env=dict(os.environ, SLEY_DOMAIN=self.domain))
        self.assertEqual(ringer.stdout, "No such process\n", ringer.stderr)
        other.end()
        self.wait_until(lambda: not self.hosts())

    def test_a_host_hides_from_the_program_that_has_started_it(self):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        member = Member(self.domain)
        self.assertEqual(member.state(), "in")
        host, = self.hosts()
        with open(f"/proc/{host}/stat", encoding="utf-8") as file:
            words = file.read().rsplit(")", 1)[1].split()
        self.assertNotEqual(int(words[1]), member.process.pid)
        self.assertEqual(int(words[3]), host, "its session")
        self.assertEqual(os.readlink(f"/proc/{host}/cwd"), "/")
        for fd in range(3):
            self.assertEqual(os.readlink(f"/proc/{host}/fd/{fd}"),
                             "/dev/null")
        with open(f"/proc/{host}/status", encoding="utf-8") as file:
            status = file.read()
        self.assertIn("NoNewPrivs:\t1", status)
        self.assertIn("Seccomp:\t2", status)
        with open(f"/proc/{host}/limits", encoding="utf-8") as file:
            soft, hard = re.search(r"open files +(\w+) +(\w+)",
                                   file.read()).groups()
        self.assertEqual(soft, hard)
        member.end()

    def test_without_a_sleyd_the_program_goes_on(self):
        member = Member(self.domain, SLEY_SLEYD="/nonexistent")
        self.assertEqual(member.state(), "out")
        self.assertIn("goes on without", member.end())
        self.assertIn("nobody hosts", self.members(status=3))

    def test_a_host_that_cannot_be_says_why(self):
        path = os.path.join(self.folder, "none", "deep", "domain")
        done = subprocess.run([GIVEN.sleyd, "--domain-only", path],
                              capture_output=True, text=True, check=False,
                              env=environment_of_host())
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be hosted", done.stderr)
        member = Member(path)
        self.assertEqual(member.state(), "out")
        self.assertIn("goes on without", member.end())

    def test_a_host_in_the_foreground_ends_by_a_signal(self):
        host = subprocess.Popen([GIVEN.sleyd, "--foreground", "--domain-only",
                                 self.domain], env=environment_of_host())
        self.wait_until(lambda: os.path.exists(self.domain))
        again = subprocess.run([GIVEN.sleyd, "--domain-only", self.domain],
                               check=False, env=environment_of_host())
        self.assertEqual(again.returncode, 0, "there is a host")
        host.terminate()
        self.assertEqual(host.wait(LONG), 0)
        self.assertFalse(os.path.exists(self.domain))


class Killed(Domains):
    """Hosts that members have started, while all members have work."""

    def pids(self):
        done = subprocess.run([GIVEN.sley, "domain", "--json", self.domain],
                              capture_output=True, text=True, check=False)
        return ({row["pid"] for row in json.loads(done.stdout)}
                if done.returncode == 0 else set())

    def go_on(self, turns, nr):
        """Each member, without waiting for anything."""
        before = [turns.taken(i) for i in range(nr)]
        self.wait_until(lambda: all(turns.taken(i) > before[i] + 10
                                    for i in range(nr)))

    def kill_one(self, members, turns):
        """Seconds until all members went on, and had the next host."""
        last, = self.hosts()
        begin = time.monotonic()
        os.kill(last, signal.SIGKILL)
        self.go_on(turns, len(members))
        alone = time.monotonic() - begin
        self.wait_until(lambda: self.pids() == {member.process.pid
                                                for member in members})
        joined = time.monotonic() - begin
        self.wait_until(lambda: len(self.hosts()) == 1)
        self.assertNotIn(last, self.hosts())
        self.go_on(turns, len(members))
        return alone, joined

    def test_hosts_that_are_killed_under_load_hold_no_member_up(self):
        rounds = int(os.environ.get("DOMAIN_HOSTS", "2"))
        turns = Turns(os.path.join(self.folder, "turns"), 3)
        members = [Member(self.domain, "0", turns.where(i),
                          SLEY_DOMAIN_STRICT=str(i % 2)) for i in range(3)]
        for member in members:
            self.addCleanup(self.end, member.process)
            self.assertEqual(member.state(), "in")
        self.go_on(turns, 3)
        times = [self.kill_one(members, turns) for _ in range(rounds)]
        self.assertEqual({member.process.poll() for member in members},
                         {None})
        for i, member in enumerate(members):
            turns.stop(i)
            self.assertIn("looks for the next", member.end())
        self.wait_until(lambda: not self.hosts())
        if rounds >= 20:
            self.prove(times)

    @staticmethod
    def prove(times):
        """A line of docs/PROOF.md."""
        middle = [sorted(seconds)[len(times) // 2] * 1000
                  for seconds in zip(*times)]
        path = os.environ.get("SLEY_PROOF")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                print(json.dumps({
                    "kind": "reliability", "count": len(times),
                    "what": "hosts that members start killed",
                    "figures": {"alone p50 ms": middle[0],
                                "joined p50 ms": middle[1]}}), file=file)


class Daemon(Domains):
    def test_u09_a_daemon_hosts_a_domain_and_is_a_member(self):
        self.configure(daemon=f"  domain: {self.domain}\n"
                              "  domain_cores: 3")
        daemon = self.start()
        member = Member(self.domain)
        self.assertEqual(member.state(), "in")
        self.assertEqual({row["pid"] for row in self.members()},
                         {daemon.pid, member.process.pid})
        self.stop(daemon)
        self.assertEqual(member.state(), "alone")
        # No other host comes in place of a daemon.
        self.assertEqual(self.hosts(), [])
        daemon = self.start()
        self.assertEqual(member.state(), "in")
        member.end()
        self.stop(daemon)

    def check_order(self, urgent, other, turns, nr=200000):
        """On the one core, tasks of @urgent leave little to those of @other.

        A process that gets no CPU for some ticks counts as stopped, and the other has the
        core for a moment: on a busy machine for a fifth of the time.  Equals have as many
        turns as each other, in a stretch of time that is much longer than a quantum.
        """
        before = turns.taken(urgent), turns.taken(other)
        self.wait_until(lambda: turns.taken(urgent) - before[0] >= nr)
        self.assertLess(turns.taken(other) - before[1], nr * 0.6)
        # It was ready all the time.
        turns.stop(urgent)
        before = turns.taken(other)
        self.wait_until(lambda: turns.taken(other) > before + 100)
        turns.stop(other)

    def request_and_member(self, priority_of_request, priority_of_member):
        """A task of each, beside each other: the daemon, the member, the turns."""
        turns = Turns(os.path.join(self.folder, "turns"), 2)
        self.install(GIVEN.modules[0])
        self.configure(daemon=f"  domain: {self.domain}\n"
                              "  domain_cores: 1",
                       compose="  - { mod_name: test, pool_name: t }")
        daemon = self.start()
        request = self.popen("submit", "t", "turns", "--data", turns.where(0),
                             "--priority", str(priority_of_request))
        # A daemon without a core does not look for requests.
        self.wait_until(lambda: turns.taken(0))
        member = Member(self.domain, str(priority_of_member), turns.where(1))
        self.addCleanup(self.end, member.process)
        self.assertEqual(member.state(), "in")
        return daemon, request, member, turns

    def end_all(self, daemon, request, member):
        self.assertEqual(request.wait(LONG), 0)
        member.end()
        self.stop(daemon)

    def test_u09_tasks_of_a_member_go_before_less_urgent_requests(self):
        daemon, request, member, turns = self.request_and_member(0, -5)
        self.check_order(1, 0, turns)
        self.end_all(daemon, request, member)

    def test_u09_requests_go_before_less_urgent_tasks_of_a_member(self):
        daemon, request, member, turns = self.request_and_member(-5, 0)
        self.check_order(0, 1, turns)
        self.end_all(daemon, request, member)

    def test_a_domain_has_one_host(self):
        member = Member(self.domain)
        self.assertEqual(member.state(), "in")
        self.configure(daemon=f"  domain: {self.domain}")
        daemon = self.launch()[0]
        self.assertEqual(daemon.wait(LONG), 1)
        with open(self.log, encoding="utf-8") as log:
            self.assertIn("it has a host", log.read())
        member.end()

    def test_the_right_to_join_is_given_by_the_configuration(self):
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        for right, state in (("look", "out"), ("join", "in")):
            self.configure(daemon=f"  domain: {self.domain}\n"
                                  "  domain_mode: 0666\n"
                                  f"  users: [ {{ user: {NOBODY}, "
                                  f"may: {right} }} ]")
            daemon = self.start()
            stranger = subprocess.Popen(
                [GIVEN.member], stdin=subprocess.PIPE, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                user=NOBODY, env={"SLEY_DOMAIN": self.domain})
            self.assertEqual(stranger.stdout.readline().strip(), state)
            stranger.communicate(timeout=LONG)
            self.stop(daemon)


    def terms(self):
        """The daemon is a member like others, of the same user."""
        return {(str(row["limit"]), row["share"])
                for row in self.members()}

    def test_the_configuration_says_what_members_may_have(self):
        def users(terms):
            self.configure(daemon=f"  domain: {self.domain}\n"
                                  "  users:\n"
                                  f"    - user: {os.getuid()}\n"
                                  f"      may: join\n{terms}"
                                  "    - everybody: true\n"
                                  "      may: join\n"
                                  "      domain_priority: 9\n"
                                  "      domain_share: 9\n")

        users("      domain_priority: -5\n"
              "      domain_share: 300\n")
        daemon = self.start()
        member = Member(self.domain)
        self.assertEqual(member.state(), "in")
        self.assertEqual(self.terms(), {("-5", 300)})
        # Members that are there have what the file says now, and stay.
        users("      domain_share: 20\n")
        daemon.send_signal(signal.SIGHUP)
        self.wait_until(lambda: self.terms() == {("-", 20)})
        users("      domain_priority: 0\n")
        daemon.send_signal(signal.SIGHUP)
        self.wait_until(lambda: self.terms() == {("0", 100)})
        member.end()
        self.stop(daemon)

    def test_the_first_entry_that_names_a_user_decides(self):
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        self.configure(daemon=f"  domain: {self.domain}\n"
                              "  domain_mode: 0666\n"
                              "  users:\n"
                              f"    - user: {NOBODY}\n"
                              "      may: join\n"
                              "      domain_share: 50\n"
                              "    - everybody: true\n"
                              "      may: join\n"
                              "      domain_priority: 3\n"
                              "      domain_share: 70\n")
        daemon = self.start()
        stranger = subprocess.Popen(
            [GIVEN.member], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            user=NOBODY, env={"SLEY_DOMAIN": self.domain})
        self.assertEqual(stranger.stdout.readline().strip(), "in")
        terms = {row["uid"]: (str(row["limit"]), row["share"])
                 for row in self.members()}
        self.assertEqual(terms, {0: ("-", 100), NOBODY: ("3", 50)})
        stranger.communicate(timeout=LONG)
        self.stop(daemon)


class Command(Domains):
    def domain_command(self, *words, status=0):
        done = subprocess.run([GIVEN.sley, "domain", *words], check=False,
                              capture_output=True, text=True,
                              env=dict(os.environ, SLEY_DOMAIN=""))
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_members_are_a_table_or_json(self):
        member = Member(self.domain, SLEY_DOMAIN_STRICT="1")
        self.assertEqual(member.state(), "in")
        out = self.domain_command(self.domain)
        self.assertIn("1 of 64 members", out)
        self.assertRegex(out, r"pid +uid +program +mode +workers +cores")
        self.assertRegex(out, rf"{member.process.pid} +\d+ +\S+ +strict +2 ")
        self.assertNotIn("limit", out)
        row, = self.members()
        self.assertEqual((row["pid"], row["mode"], row["workers"]),
                         (member.process.pid, "strict", 2))
        self.assertEqual((row["limit"], row["share"]), ("-", 100))
        out = self.domain_command(self.domain, "--watch", "--rounds", "3",
                                  "--every", "1")
        self.assertEqual(out.count("1 of 64 members"), 3)
        member.end()

    def test_wrong_words_are_refused(self):
        self.assertIn("which domain", self.domain_command(status=2))
        self.assertIn("no good name",
                      self.domain_command("a/b", status=2))
        self.assertIn("unexpected", self.domain_command("a", "b", status=2))
        self.assertIn("need --watch",
                      self.domain_command("a", "--rounds", "3", status=2))
        self.assertIn("wants a number",
                      self.domain_command("a", "--watch", "--rounds", "0",
                                          status=2))


if __name__ == "__main__":
    main(__doc__)
