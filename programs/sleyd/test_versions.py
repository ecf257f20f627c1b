#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_versions - daemons and clients of two builds, which speak different versions.

The programs are those of this build, and those that CMakeLists.txt makes: of a later
minor version, of another major version, and with another layout of the ring.  The later
minor version has additions (tests/conformance/ipc/newer.h): flags of packets, which an
older side does not read, and a flag of requests, which an older daemon refuses.
"""
import os
import re
import shutil
import struct
import subprocess

from harness import GIVEN, LONG, Test, main

OURS = r"1\.\d+"
MAJOR = r"200\.3"
ADVICE = "update the older of the two"


def versions(client, daemon):
    return f"the client speaks version {client}, the daemon {daemon}: {ADVICE}"


class Versions(Test):
    def setUp(self):
        super().setUp()
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t, "
                               "containers: 2 }")
        self.record = os.path.join(self.folder, "record")
        os.environ["SLEYD_TEST_RECORD"] = self.record
        self.ours, self.our_client = GIVEN.sleyd, GIVEN.client
        self.minor = GIVEN.others["sleyd-minor"]
        self.minor_client = GIVEN.others["sleyd-client-minor"]
        self.major = GIVEN.others["sleyd-major"]
        self.major_client = GIVEN.others["sleyd-client-major"]
        self.layout = GIVEN.others["sleyd-layout"]

    def runs(self):
        """How often each request was run, by its name."""
        counts = {}
        with open(self.record, "rb") as file:
            for (name,) in struct.iter_unpack("<Q", file.read()):
                counts[name] = counts.get(name, 0) + 1
        return counts

    def heads(self, client):
        """
        The requests of a newer client, which ends, and how many heads it has sent with
        the new flag and without it.
        """
        out, err = self.outputs(client)
        said = re.search(r"heads: (\d+) newer, (\d+) older", err)
        self.assertIsNotNone(said, err)
        return int(out[-1]), int(said[1]), int(said[2])

    def refused(self, client):
        """What a client that is not let in says."""
        done = subprocess.run(
            [client], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=LONG, check=False,
            env=dict(os.environ, SLEY_SOCKET=self.socket))
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    # ---- one major version -------------------------------------------------------

    def test_an_older_client_is_served_by_a_newer_daemon(self):
        self.start(program=self.minor)
        self.assertGreater(self.finish(self.work(program=self.our_client)), 0)
        self.assertEqual(self.sley("submit", "t", "echo", "--data", "x"),
                         "x\n")

    def test_a_newer_client_is_served_by_an_older_daemon(self):
        self.start()
        requests, newer, older = self.heads(
            self.work(program=self.minor_client))
        self.assertGreater(requests, 0)
        self.assertEqual(newer, 0)
        self.assertGreater(older, requests)

    def test_two_newer_sides_use_what_is_new(self):
        self.start(program=self.minor)
        requests, newer, older = self.heads(
            self.work(program=self.minor_client))
        self.assertGreater(requests, 0)
        self.assertGreater(newer, requests)
        self.assertEqual(older, 0)

    def check_replacement(self, replace):
        """
        Two clients, of both versions, work while @replace(program) starts the next
        daemon.  The newer client does not send again what an older daemon would refuse.
        """
        ours = self.work("record", program=self.our_client)
        newer = self.work("record", program=self.minor_client)
        for program in (self.minor, self.ours, self.minor):
            replace(program)
            self.wait_for_work([ours, newer])
        numbers = {ours.pid: self.finish(ours)}
        numbers[newer.pid], *heads = self.heads(newer)
        self.assertGreater(min(heads), 0)
        self.sley("daemon", "stop")
        # Each request that was acknowledged has run, once.
        self.assertEqual(self.runs(), {pid << 32 | i: 1
                                       for pid, number in numbers.items()
                                       for i in range(number)})

    def test_a_newer_daemon_replaces_an_older_one_under_load(self):
        process = self.start()

        def replace(program):
            nonlocal process
            self.stop(process)
            process = self.start(program=program)

        self.check_replacement(replace)

    def test_a_restart_starts_the_daemon_that_is_installed_by_then(self):
        programs = os.path.join(self.folder, "programs")
        installed = os.path.join(programs, "sleyd")
        os.mkdir(programs)
        # The command finds the daemon beside itself.
        self.command = shutil.copy(GIVEN.sley, programs)
        os.symlink(self.ours, installed)
        self.sley_start()

        def replace(program):
            os.unlink(installed)
            os.symlink(program, installed)
            self.sley("daemon", "restart")
            pid = self.json("daemon", "status")["pid"]
            self.addCleanup(self.kill, pid)
            self.assertEqual(os.readlink(f"/proc/{pid}/exe"),
                             os.path.realpath(program))

        self.check_replacement(replace)

    def test_a_newer_daemon_replaces_an_older_one_that_was_killed(self):
        process = self.start()
        clients = [self.work("record", "unknown", program=program)
                   for program in (self.our_client, self.minor_client)]
        for program in (self.minor, self.ours, self.minor):
            process.kill()
            process.wait()
            process = self.start(program=program)
            self.wait_for_work(clients)
        names, unknown = set(), set()
        for client in clients:
            *lines, number = self.output(client)
            unknown |= {int(line.split()[1]) for line in lines}
            names |= {client.pid << 32 | i for i in range(int(number))}
        self.stop(process)
        runs = self.runs()
        # An unknown outcome is of a request that has run once, or not at all.
        self.assertEqual(set(runs.values()), {1})
        self.assertEqual(names - unknown, set(runs) - unknown)
        self.assertLessEqual(set(runs), names)

    # ---- another major version -----------------------------------------------------

    def test_a_client_of_another_major_version_is_refused(self):
        self.start()
        said = versions(MAJOR, OURS)
        self.assertRegex(self.refused(self.major_client), said)
        self.assertRegex(self.lines(), f"refused client .*{said}")

    def test_a_daemon_of_another_major_version_refuses(self):
        self.start(program=self.major)
        said = versions(OURS, MAJOR)
        self.assertRegex(self.refused(self.our_client), said)
        self.assertRegex(self.sley("pool", "list", status=1), said)
        self.assertRegex(self.lines(), f"refused client .*{said}")

    def test_requests_survive_a_daemon_that_refuses_them(self):
        """For the requests of a client it is no daemon: another one may come."""
        other = {
            self.major: versions(OURS, MAJOR),
            self.layout: "the ring that it brought has the layout 1, the "
                         "daemon knows 200: start the program again",
        }
        process = self.start()
        client = self.work("record")
        for program, said in other.items():
            self.stop(process)
            process = self.start(program=program)
            self.wait_for_line(f"refused client .*{said}")
            self.assertIsNone(client.poll())
            self.stop(process)
            process = self.start()
            self.wait_for_work([client])
        number = self.finish(client)
        self.assertEqual(self.runs(), {client.pid << 32 | i: 1
                                       for i in range(number)})

    def test_requests_end_if_only_daemons_come_that_refuse(self):
        for program, said in ((self.major, versions(OURS, MAJOR)),
                              (self.layout, "has the layout 1, the daemon "
                                            "knows 200")):
            process = self.start()
            client = self.work("patience=2000")
            self.stop(process)
            process = self.start(program=program)
            out, err = client.communicate(timeout=LONG)
            self.assertEqual(client.returncode, 1, out + err)
            self.assertRegex(err, said)
            self.assertRegex(err, r"request \d+: Host is down")
            self.stop(process)

    def test_a_client_of_another_layout_is_told(self):
        """The client finds it out: the daemon has made the ring."""
        self.start(program=self.layout)
        self.assertIn("its ring has the layout 200, this program knows 1: "
                      f"{ADVICE}", self.refused(self.our_client))


if __name__ == "__main__":
    main(__doc__)
