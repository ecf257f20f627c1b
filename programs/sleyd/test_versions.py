#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_versions - daemons and clients of two builds, which speak different versions.

The programs are those of this build, and those that CMakeLists.txt makes: of a later
minor version, of another major version, and with another layout of the ring.
"""
import os
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
        self.assertGreater(self.finish(self.work(program=self.minor_client)),
                           0)

    def test_a_newer_daemon_replaces_an_older_one_under_load(self):
        process = self.start()
        clients = [self.work("record", program=program)
                   for program in (self.our_client, self.minor_client)]
        for program in (self.minor, self.ours, self.minor):
            self.stop(process)
            process = self.start(program=program)
            self.wait_for_work(clients)
        numbers = {client.pid: self.finish(client) for client in clients}
        self.stop(process)
        # Each request that was acknowledged has run, once.
        self.assertEqual(self.runs(), {pid << 32 | i: 1
                                       for pid, number in numbers.items()
                                       for i in range(number)})

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
            client = self.work("patience=300")
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
