#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test - sleyd and the commands that talk to it, from outside.

Each test has a folder and daemons of its own.  Nothing sleeps: a daemon says when it
serves, and the end of a process is waited for.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from harness import GIVEN, LONG, NOBODY, Test, main


class Commands(Test):
    def test_pools_are_made_listed_and_destroyed(self):
        self.configure()
        self.start()
        self.assertEqual(self.pools(), ["admin", "daemon"])
        out = self.sley("pool", "create", "users", "kv", "--containers", "3",
                        "--param", "max_bytes=1000000")
        self.assertIn("The pool 'users' is there", out)
        out = self.sley("pool", "list")
        self.assertRegex(out, r"name +module +version +phase")
        self.assertRegex(out, r"drained +down +inside")
        self.assertRegex(out, r"users +kv .* live +3")
        pool = self.json("pool", "list")[2]
        self.assertEqual((pool["name"], pool["containers"]), ("users", 3))
        self.assertIn("another module or another number",
                      self.sley("pool", "create", "users", "kv",
                                "--containers", "4", status=1))
        self.assertIn("no such module",
                      self.sley("pool", "create", "x", "nothing", status=1))
        self.assertIn("wants NAME=VALUE",
                      self.sley("pool", "create", "x", "kv", "--param", "a",
                                status=2))
        self.assertIn("state_dir",
                      self.sley("pool", "create", "x", "kv", "--keep",
                                status=1))
        self.sley("pool", "flush", "users", "--timeout", "30000")
        self.sley("pool", "drain", "users", "1")
        self.assertEqual(self.json("pool", "list")[2]["drained"], 1)
        self.sley("pool", "open", "users", "1")
        self.sley("pool", "destroy", "users")
        self.assertEqual(self.pools(), ["admin", "daemon"])
        self.assertIn("would wait for itself",
                      self.sley("pool", "destroy", "admin", status=1))

    def test_a_failure_says_which_part_of_the_command_is_wrong(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t }\n"
                               "  - { mod_name: kv, pool_name: kv }")
        self.start()
        for word in ("destroy", "flush", "drain", "open", "upgrade"):
            for more in ((), ("0",)):
                if more and word in ("destroy", "flush"):
                    continue
                self.assertIn("the daemon has no pool 'none'; 'sley pool "
                              "list' shows all",
                              self.sley("pool", word, "none", *more,
                                        status=1))
        for word in ("drain", "open", "upgrade"):
            self.assertIn("it has 1 container, number 0",
                          self.sley("pool", word, "t", "3", status=1))
        self.assertIn("it is not drained",
                      self.sley("pool", "open", "t", status=1))
        self.sley("pool", "drain", "t")
        self.assertIn("it is drained already",
                      self.sley("pool", "drain", "t", status=1))
        self.sley("pool", "open", "t")
        self.assertIn("there is no newer version",
                      self.sley("pool", "upgrade", "t", status=1))
        self.assertIn("there is no version 9 of its module; 'sley module "
                      "list' shows",
                      self.sley("pool", "upgrade", "t", "--version", "9",
                                status=1))
        self.assertIn("wants a number from 1 to 65536",
                      self.sley("pool", "create", "x", "kv", "--containers",
                                "0", status=2))
        for params in (("kv", "--param", "colour=red"), ("file",)):
            self.assertIn("look at --param",
                          self.sley("pool", "create", "x", *params, status=1))
        self.assertIn("the name of a pool",
                      self.sley("pool", "create", "", "kv", status=2))
        self.assertIn("the pool 'kv' has no key 'none'",
                      self.sley("submit", "kv", "get", "none", status=1))
        self.assertIn("the pool 'kv' has no key 'none'",
                      self.sley("submit", "kv", "delete", "none", status=1))
        self.assertIn("the pool has no method 77",
                      self.sley("submit", "t", "77", status=1))
        self.assertIn("the method refuses what it read: look at --data",
                      self.sley("submit", "t", "wait", status=1))
        for option in ("max-restarts", "limit"):
            self.assertIn(f"--{option} is for pools with --isolated",
                          self.sley("pool", "create", "x", "kv",
                                    f"--{option}", "3", status=2))
        self.assertIn("the pool has no such container",
                      self.sley("submit", "t", "echo", "--query",
                                "direct_id:3", status=1))
        self.assertIn("--room BYTES",
                      self.sley("submit", "t", "echo", "--data", "long",
                                "--room", "1", status=1))
        self.assertIn("the daemon has no pool 'none'",
                      self.sley("stats", "--pool", "none", status=1))
        self.assertIn("wants a number from 1 to",
                      self.sley("client", "eject", "abc", status=2))

    def test_a_name_may_have_any_bytes_and_none_reaches_the_terminal(self):
        self.configure()
        self.start()
        names = ("a\nb", "tab\tbell\a", "\x1b[31mred", "caf\u00e9",
                 'quote"\\u0041', os.fsdecode(b"bad\xff\xc3"))
        for name in names:
            out = self.sley("pool", "create", name, "kv")
            self.assertEqual(re.sub(r"[ -~]", "", out), "\n")
        shown = [os.fsencode(name).decode(errors="replace") for name in names]
        self.assertEqual(self.pools()[2:], shown)
        for words in (("pool", "list"), ("stats", "pool_stats")):
            out = self.sley(*words)
            self.assertEqual(out.count("\n"), 3 + len(names))
            self.assertEqual(re.sub(r"[ -~\n]", "", out), "")
            self.assertIn("a?b ", out)
        for name in names:
            err = self.sley("pool", "open", name, status=1)
            self.assertEqual(re.sub(r"[ -~]", "", err), "\n")
            self.sley("pool", "destroy", name)
            err = self.sley("pool", "destroy", name, status=1)
            self.assertEqual(re.sub(r"[ -~]", "", err), "\n")
        self.assertEqual(len(self.pools()), 2)

    def test_no_request_ends_the_pools_of_the_daemon(self):
        self.configure()
        process = self.start()
        for words in (("destroy", "daemon"), ("drain", "daemon"),
                      ("upgrade", "daemon")):
            self.assertIn("the daemon itself needs this pool",
                          self.sley("pool", *words, status=1))
        # Also not by another pool that can do what the pool "admin" can do.
        self.sley("pool", "create", "second", "admin")
        target = os.path.join(self.folder, "target")
        with open(target, "wb") as file:
            file.write(b"admin".ljust(64, b"\0") + bytes(24))
        for method in ("destroy", "drain"):
            self.sley("submit", "second", method, "--data-file", target,
                      status=1)
        self.assertEqual(self.pools(), ["admin", "daemon", "second"])
        self.assertEqual(self.json("daemon", "status")["state"], "serving")
        self.assertIn("has ended", self.sley("daemon", "stop"))
        self.assertEqual(process.wait(LONG), 0)

    def test_a_store_takes_words(self):
        self.configure(compose="  - { mod_name: kv, pool_name: kv, "
                               "containers: 4 }")
        self.start()
        for i in range(8):
            self.sley("submit", "kv", "set", f"key{i}", f"value {i}")
        self.assertEqual(self.sley("submit", "kv", "get", "key3"),
                         "value 3\n")
        self.assertEqual(self.sley("submit", "kv", "get", "key3", "--raw"),
                         "value 3")
        self.assertEqual(self.json("submit", "kv", "get", "key3"),
                         {"code": 0, "size": 7, "text": "value 3"})
        self.sley("submit", "kv", "delete", "key3")
        self.sley("submit", "kv", "get", "key3", status=1)
        keys = {row["key"] for row in self.json("submit", "kv", "scan")}
        self.assertEqual(keys, {f"key{i}" for i in range(8) if i != 3})
        self.assertEqual(self.json("submit", "kv", "stats")[0]["keys"], 7)
        self.sley("submit", "kv", "set", "a", "--data", "--dashes")
        self.assertEqual(self.sley("submit", "kv", "get", "a"), "--dashes\n")
        large = self.write("large", "x" * 300000)
        self.sley("submit", "kv", "set", "b", "--data-file", large)
        self.assertEqual(len(self.sley("submit", "kv", "get", "b")), 300001)
        self.sley("submit", "kv", "set", "c", "d", "--forget")
        self.sley("pool", "flush", "kv")
        self.assertEqual(self.sley("submit", "kv", "get", "c"), "d\n")

    def test_a_request_is_sent_by_the_name_of_its_method(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t }")
        self.start()
        self.assertEqual(self.sley("submit", "t", "echo", "--data", "hello"),
                         "hello\n")
        self.assertEqual(self.sley("submit", "t", "0", "--data", "hello"),
                         "hello\n")
        bytes_file = self.write("bytes", "\x01\x02")
        self.assertEqual(self.sley("submit", "t", "echo", "--data-file",
                                   bytes_file), "0102\n")
        self.assertIn("its methods are 'echo', 'wait'",
                      self.sley("submit", "t", "ecko", status=1))
        self.assertIn("no pool 'none'",
                      self.sley("submit", "none", "echo", status=1))
        self.assertIn("took too long",
                      self.sley("submit", "t", "wait", "--data", "60000",
                                "--timeout", "20", status=1))
        self.assertEqual(self.sley("submit", "t", "echo", "--query",
                                   "broadcast", "--priority", "-3", "--data",
                                   "x"), "x\n")
        self.assertIn("is no query",
                      self.sley("submit", "t", "echo", "--query", "all",
                                status=2))
        self.assertIn("from -32 to 31",
                      self.sley("submit", "t", "echo", "--priority", "99",
                                status=2))

    def test_modules_are_refreshed_and_pools_upgraded(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t, "
                               "containers: 3 }")
        process = self.start()
        modules = {row["name"]: row["version"]
                   for row in self.json("module", "list")}
        self.assertEqual(modules["test"], 1)
        self.assertIn("kv", modules)
        self.assertEqual(self.json("module", "refresh"), {"new": 0})
        self.install(GIVEN.modules[1])
        self.assertIn("1 new version; 'sley pool upgrade",
                      self.sley("module", "refresh"))
        self.assertEqual(self.sley("submit", "t", "version"), "1\n")
        self.sley("pool", "upgrade", "t")
        self.assertEqual(self.sley("submit", "t", "version"), "2\n")
        stats = self.json("stats", "container_stats", "--pool", "t")
        self.assertEqual([(c["version"], c["phase"])
                          for c in stats["containers"]], [(2, "open")] * 3)
        self.assertEqual(
            {p["name"]: p["version"] for p in self.json("pool", "list")}["t"],
            2)
        self.assertIn("keeps its version",
                      self.sley("pool", "upgrade", "t", "0", status=1))
        self.assertEqual(self.sley("submit", "t", "version"), "2\n")
        self.stop(process)

    def test_a_hang_up_refreshes_modules_and_opens_the_log_again(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t }")
        path = os.path.join(self.folder, "sleyd.log")
        process, notify = self.launch("--log", path)
        self.assertIsNotNone(notify.wait_for("READY=1", process))
        os.rename(path, path + ".old")
        self.install(GIVEN.modules[1])
        process.send_signal(signal.SIGHUP)
        self.assertIsNotNone(notify.wait_for("READY=1", process))
        self.sley("pool", "upgrade", "t")
        self.assertEqual(self.sley("submit", "t", "version"), "2\n")
        self.stop(process)
        with open(path, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:"
                             r"\d\dZ sleyd: hang-up: 1 new versions")

    def test_figures_are_tables_or_json(self):
        self.configure(compose="  - { mod_name: kv, pool_name: kv }")
        self.start()
        self.assertRegex(self.sley("stats"), r"policy +default")
        self.assertEqual(self.json("stats")["workers"], 2)
        self.assertRegex(self.sley("stats", "worker_stats"),
                         r"worker +queued +load")
        self.assertEqual(len(self.json("stats", "worker_stats")["workers"]), 2)
        self.assertRegex(self.sley("stats", "pool_stats"),
                         r"drained +down +inside(?s:.*)kv +kv")
        self.assertIn("get", self.json("stats", "methods", "--pool",
                                       "kv")["methods"])
        self.assertRegex(self.sley("stats", "methods", "--pool", "kv"),
                         r"(?s)number +name\n.* 0 +get\n.* 1 +set\n")
        self.assertIn("queries are", self.sley("stats", "none", status=1))
        self.assertIn("queries are", self.sley("stats", "none", "--pool",
                                               "kv", status=1))
        for query in ("methods", "container_stats"):
            self.assertIn(f"'{query}' needs --pool POOL",
                          self.sley("stats", query, status=1))
        self.assertIn("has no such container: it has 1, from 0 to 0",
                      self.sley("stats", "container_stats:99", "--pool", "kv",
                                status=1))

    def test_clients_are_listed_and_ejected(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t }")
        self.start()
        busy = self.popen("submit", "t", "wait", "--data", "60000")
        while True:  # the client connects, then submits
            clients = self.json("client", "list")
            others = [c for c in clients if c["pid"] == busy.pid
                      and c["in_flight"]]
            if others:
                break
        self.assertEqual(others[0]["uid"], os.geteuid())
        self.assertEqual(others[0]["name"], "sley")
        self.assertIn("no session 999999",
                      self.sley("client", "eject", "999999", status=1))
        self.sley("client", "eject", str(others[0]["session"]), "--reason",
                  "for the test")
        self.assertNotEqual(busy.wait(LONG), 0)
        self.assertEqual(self.json("daemon", "status")["ejected"], 1)
        self.assertIn("for the test", self.lines())

    def test_the_reason_of_an_ejection_is_one_line_and_is_told(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t }")
        self.start()
        busy = [self.popen("submit", "t", "wait", "--data", "3600000")
                for _ in range(4)]
        while len(ejected := [c for c in self.json("client", "list")
                              if c["in_flight"] and c["pid"] in
                              [b.pid for b in busy]]) < len(busy):
            pass
        reason = "too\nmany \x1b[31mrequests"
        for client in ejected:
            self.sley("client", "eject", str(client["session"]), "--reason",
                      reason)
        for process in busy:
            _, err = process.communicate(timeout=LONG)
            self.assertIn("too?many ?[31mrequests", err)
            self.assertEqual(err.count("\n"), 1, err)
        # All of them, however fast they follow each other.
        lines = [line for line in self.lines().splitlines()
                 if "ejected" in line]
        self.assertEqual(len(lines), len(busy), self.lines())
        for line in lines:
            self.assertIn(": too?many ?[31mrequests; its requests are "
                          "cancelled", line)

    def test_wrong_words_are_answered_with_the_nearest(self):
        for words, said in (
                (("daemon", "strat"), "did you mean 'start'"),
                (("pool", "lits"), "did you mean 'list'"),
                (("pool", "list", "--jsn"), "did you mean '--json'"),
                (("pool", "create", "a"), "usage: sley pool create POOL"),
                (("pool", "flush", "a", "--timeout"), "wants a value"),
                (("pool", "flush", "a", "--timeout", "x"), "from 0 to"),
                (("submit", "a"), "usage: sley submit"),
                (("client",), "usage: sley client"),
                (("pool",), "usage: sley pool list|create|destroy|flush|"
                            "drain|open|upgrade|compose"),
                (("daemon",), "usage: sley daemon start|stop|status|restart"),
                (("module", "list", "x"), "usage: sley module list\n"),
                (("stats", "a", "b"), "unexpected 'b'"),
                (("module", "list", "--json=1"), "has no value")):
            self.assertIn(said, self.sley(*words, status=2))

    def test_without_a_daemon_each_command_says_how_to_start_one(self):
        for words in (("pool", "list"), ("module", "list"), ("stats",),
                      ("submit", "a", "b"), ("client", "list")):
            self.assertIn("sley daemon start", self.sley(*words, status=3))
        said = f"No daemon at {self.socket}: start one with `sley daemon start`"
        self.assertIn(said, self.sley("daemon", "status", status=3))
        self.assertIn(said, self.sley("daemon", "stop"))


class Life(Test):
    def test_c50_a_stop_leaves_nothing_and_a_second_says_so(self):
        pid_file = os.path.join(self.folder, "pid")
        self.configure(f"  pid_file: {pid_file}")
        pid = self.sley_start()
        with open(pid_file, encoding="utf-8") as file:
            self.assertEqual(int(file.read()), pid)
        status = self.json("daemon", "status")
        self.assertEqual((status["pid"], status["socket"], status["state"]),
                         (pid, self.socket, "serving"))
        self.assertIn("has ended", self.sley("daemon", "stop"))
        self.assertIn("No daemon at", self.sley("daemon", "stop"))
        self.assertFalse(os.path.exists(self.run_folder))
        self.assertFalse(os.path.exists(pid_file))
        self.assertIn("No daemon at",
                      self.sley("daemon", "status", status=3))

    def test_c50_a_daemon_that_is_killed_is_replaced(self):
        pid_file = os.path.join(self.folder, "pid")
        self.configure(f"  pid_file: {pid_file}")
        process = self.start()
        process.kill()
        process.wait()
        self.assertTrue(os.path.exists(self.socket))
        self.assertTrue(os.path.exists(pid_file))
        self.assertIn("No daemon at",
                      self.sley("daemon", "status", status=3))
        process = self.start()
        self.assertEqual(self.pools(), ["admin", "daemon"])
        self.stop(process, signal.SIGINT)
        self.assert_nothing_is_left()
        self.assertFalse(os.path.exists(pid_file))

    def test_c50_a_stop_answers_what_has_begun(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t }")
        process = self.start()
        busy = self.popen("submit", "t", "wait", "--data", "700")
        self.wait_until_inside("t")
        process.send_signal(signal.SIGTERM)
        out, err = busy.communicate(timeout=LONG)
        self.assertEqual((busy.returncode, out), (0, "waited\n"), err)
        self.assertEqual(process.wait(LONG), 0)
        self.assert_nothing_is_left()

    def test_c50_a_second_signal_cancels_what_has_begun(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t }",
                       grace=3600000)
        process, notify = self.launch()
        self.assertIsNotNone(notify.wait_for("READY=1", process))
        busy = self.popen("submit", "t", "wait", "--data", "3600000")
        self.wait_until_inside("t")
        process.send_signal(signal.SIGTERM)
        self.assertIsNotNone(notify.wait_for("STOPPING=1", process))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(LONG), 0, self.lines())
        self.assertNotEqual(busy.wait(LONG), 0)
        self.assert_nothing_is_left()

    def test_c50_a_daemon_that_is_stopping_is_found(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t }",
                       grace=3600000)
        pid = self.sley_start()
        busy = self.popen("submit", "t", "wait", "--data", "3600000")
        self.wait_until_inside("t")
        first = self.popen("daemon", "stop")
        self.wait_until_stopping(pid)
        self.assertIn(f"process {pid}, is stopping",
                      self.sley("daemon", "status", status=3))
        # The next one may come.
        next_one = self.popen("daemon", "start", "--config", self.config)
        out, err = next_one.communicate(timeout=LONG)
        self.addCleanup(self.kill, int(re.search(r"process (\d+)", out)[1]))
        self.assertIn(f"the last daemon, process {pid}, is still stopping",
                      err)
        self.assertIn("has ended", self.sley("daemon", "stop"))
        second = self.popen("daemon", "stop", "--now")
        out, err = second.communicate(timeout=LONG)
        self.assertIn(f"process {pid}, is stopping already", err)
        self.assertIn("has ended", out)
        self.assertEqual(second.returncode, 0)
        self.assertEqual(first.wait(LONG), 0)
        self.assertNotEqual(busy.wait(LONG), 0)
        self.assertIn("No daemon at", self.sley("daemon", "stop"))

    def wait_until_stopping(self, pid):
        said = f'{{"state":"stopping","pid":{pid}}}\n'
        while self.sley("daemon", "status", "--json", status=None) != said:
            pass

    def test_c50_the_grace_period_ends(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t }")
        for words in (("--grace", "50"), ("--now",)):
            process = self.start()
            busy = self.popen("submit", "t", "wait", "--data", "3600000")
            self.wait_until_inside("t")
            os.truncate(self.log, 0)
            self.sley("daemon", "stop", *words)
            self.assertEqual(process.wait(LONG), 0)
            self.assertIn("under way were cancelled, as asked (--now)"
                          if "--now" in words else "longer than 50 ms were "
                          "cancelled", self.lines())
            self.assertNotEqual(busy.wait(LONG), 0)
            self.assert_nothing_is_left()

    def wait_until_inside(self, pool):
        while self.json("stats", "pool_stats", "--pool", pool)["inside"] < 1:
            pass

    def test_c52_pools_that_are_kept_come_again(self):
        state = os.path.join(self.folder, "state")
        self.configure(f"  state_dir: {state}",
                       compose="  - { mod_name: kv, pool_name: first }")
        process = self.start()
        self.sley("pool", "create", "a", "kv", "--keep", "--containers", "3",
                  "--param", "max_bytes=1000000")
        self.sley("pool", "create", "b", "kv", "--keep")
        self.sley("pool", "create", "c", "kv")
        more = self.write("more.yaml", """
compose:
  - { mod_name: kv, pool_name: d, restart: true }
  - { mod_name: kv, pool_name: e }
""")
        self.assertIn("2 pools", self.sley("pool", "compose", more))
        self.assertEqual(self.pools(), ["admin", "daemon", "first", "a", "b",
                                        "c", "d", "e"])
        self.sley("pool", "destroy", "b")
        process.kill()
        process.wait()
        process = self.start()
        self.assertEqual(self.pools(),
                         ["admin", "daemon", "first", "a", "d"])
        self.assertEqual(self.json("pool", "list")[3]["containers"], 3)
        self.stop(process)
        self.assertEqual(os.listdir(state), ["pools"])

    def test_c52_a_torn_record_is_left_out_and_reported(self):
        state = os.path.join(self.folder, "state")
        self.configure(f"  state_dir: {state}")
        process = self.start()
        for name in ("a", "b", "c"):
            self.sley("pool", "create", name, "kv", "--keep")
        self.stop(process)
        path = os.path.join(state, "pools")
        with open(path, "rb") as file:
            lines = file.read().splitlines(keepends=True)
        self.assertEqual(len(lines), 3)
        for torn, left in ((lines[:2] + [lines[2][:-1]], ["a", "b"]),
                           (lines[:2] + [lines[2][:9]], ["a", "b"]),
                           # Another number of containers.
                           ([lines[0], lines[1].replace(b" 0 0 0 0 ",
                                                        b" 7 0 0 0 "),
                             lines[2]], ["a", "c"])):
            with open(path, "wb") as file:
                file.write(b"".join(torn))
            os.truncate(self.log, 0)
            process = self.start()
            self.assertEqual(self.pools(), ["admin", "daemon", *left])
            number = 2 if left[1] == "c" else 3
            self.assertIn(f"{path}:{number}: the record is", self.lines())
            self.stop(process)

    def test_c52_a_file_that_is_not_written_is_no_success(self):
        state = os.path.join(self.folder, "state")
        self.configure(f"  state_dir: {state}")
        process = self.start()
        self.sley("pool", "create", "old", "kv", "--keep")
        # Stands in the way of the new file, also for root.
        os.mkdir(os.path.join(state, "pools.new"))
        for words, said, logged in (
                (("create", "new", "kv", "--keep"),
                 "the pool 'new' is there, and does not come again after a "
                 "restart, since the file of kept pools is not written",
                 "the pool 'new' is there, and does not come again"),
                (("destroy", "old"),
                 "the pool 'old' is destroyed, and comes again after a "
                 "restart, since the file of kept pools is not written",
                 "the pool 'old' is destroyed, and comes again")):
            self.assertIn(said, self.sley("pool", *words, status=1))
            self.assertIn(logged, self.lines())
        self.assertEqual(self.pools(), ["admin", "daemon", "new"])
        self.stop(process)
        process = self.start()
        self.assertEqual(self.pools(), ["admin", "daemon", "old"])
        self.stop(process)

    def test_c52_a_state_that_others_may_write_is_refused(self):
        state = os.path.join(self.folder, "state")
        os.mkdir(state)
        os.chmod(state, 0o777)
        self.configure(f"  state_dir: {state}")
        process, _ = self.launch()
        self.assertEqual(process.wait(LONG), 1)
        self.assertIn("chmod go-w", self.lines())

    def test_a_restart_keeps_configuration_and_log(self):
        log = os.path.join(self.folder, "own.log")
        self.configure()
        self.sley_start("--log", log)
        before = self.json("daemon", "status")
        self.assertEqual((before["config"], before["log"]),
                         (self.config, log))
        self.assertEqual(self.json("stats")["workers"], 2)
        self.sley("daemon", "restart")
        after = self.json("daemon", "status")
        self.addCleanup(self.kill, after["pid"])
        self.assertNotEqual(before["pid"], after["pid"])
        self.assertEqual((after["config"], after["log"]), (self.config, log))
        self.sley("daemon", "stop")
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read().count("serving at"), 2)

    def test_an_empty_variable_is_none(self):
        folder = os.path.join(self.folder, "xdg")
        os.makedirs(os.path.join(folder, "sley"), mode=0o700)
        self.configure()
        self.start(path=os.path.join(folder, "sley", "sleyd.sock"))
        done = subprocess.run(
            [GIVEN.sley, "pool", "list"], capture_output=True, text=True,
            timeout=LONG, check=False,
            env=dict(os.environ, SLEY_SOCKET="", XDG_RUNTIME_DIR=folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--socket wants a path",
                      self.sley("pool", "list", "--socket", "", status=2))

    def test_several_daemons_have_a_socket_each(self):
        self.configure()
        first = self.start()
        other = os.path.join(self.folder, "other.sock")
        second = self.start(path=other)
        self.sley("pool", "create", "a", "kv")
        self.sley("pool", "create", "b", "kv", "--socket", other)
        self.assertEqual(self.pools(), ["admin", "daemon", "a"])
        third, _ = self.launch(path=other)
        self.assertEqual(third.wait(LONG), 1)
        self.assertIn(f"no server at {other}: process {second.pid} serves "
                      "there; stop it, or choose another path (--socket",
                      self.lines())
        self.assertNotIn("cannot serve", self.lines())
        self.stop(first)
        self.assertIn("b", self.sley("pool", "list", "--socket", other))
        self.stop(second)
        self.assertFalse(os.path.exists(other))

    def test_a_daemon_without_its_socket_is_named(self):
        self.configure()
        process = self.start()
        os.unlink(self.socket)
        said = (f"process {process.pid} holds {self.socket}.lock, though "
                f"{self.socket} is gone: end it by `kill {process.pid}`")
        self.assertIn(said, self.sley("daemon", "status", status=3))
        self.assertIn(said, self.sley("daemon", "stop", status=1))
        self.assertIn(f'{{"state":"lost","pid":{process.pid}}}',
                      self.sley("daemon", "status", "--json", status=3))
        self.assertIn(f"process {process.pid} serves there",
                      self.sley("daemon", "start", "--config", self.config,
                                status=1))
        process.kill()
        process.wait()
        self.assertIn("No daemon at", self.sley("daemon", "status", status=3))
        self.assertIn("No daemon at", self.sley("daemon", "stop"))

    def test_a_restart_without_a_daemon_says_so(self):
        self.configure()
        out = self.sley("daemon", "restart", "--config", self.config)
        self.addCleanup(self.kill, int(re.search(r"process (\d+)", out)[1]))
        self.assertIn("No daemon ran.\nThe daemon is serving", out)
        self.sley("daemon", "stop")

    def test_a_start_says_how_the_daemon_is_found(self):
        self.configure()
        elsewhere = os.path.join(self.folder, "other", "s")
        for socket_path, hint in ((self.socket, False), (elsewhere, True)):
            out = self.sley("daemon", "start", "--config", self.config,
                            "--socket", socket_path)
            self.addCleanup(self.kill,
                            int(re.search(r"process (\d+)", out)[1]))
            self.assertEqual("by --socket or $SLEY_SOCKET" in out, hint)
            self.sley("daemon", "stop", "--socket", socket_path)

    def test_a_start_that_fails_says_why(self):
        self.write("sleyd.yaml", "daemon:\n  mode: 9\n")
        err = self.sley("daemon", "start", "--config", self.config, status=1)
        self.assertIn(f"{self.config}:2:9: 'mode' wants rights", err)
        self.configure(compose="  - { mod_name: none, pool_name: p }")
        err = self.sley("daemon", "start", "--config", self.config, status=1)
        self.assertIn("there is no module 'none'", err)
        self.configure(runtime="  local_sched: none_such")
        err = self.sley("daemon", "start", "--config", self.config, status=1)
        self.assertIn("none_such", err)
        self.configure()
        err = self.sley("daemon", "start", "--config", self.config, "--log",
                        "/none/log", status=1)
        self.assertIn("'/none/log' is not opened", err)
        self.assertIn("the lines above say why", err)
        self.assertFalse(os.path.exists(self.run_folder))


class Held(Test):
    """Methods hold all workers: the operator is heard all the same."""

    def hold(self, grace, *options, runtime=""):
        """A daemon whose only worker a method never gives back."""
        self.pid_file = os.path.join(self.folder, "pid")
        self.install(GIVEN.modules[0])
        self.configure(f"  pid_file: {self.pid_file}",
                       compose="  - { mod_name: test, pool_name: t }",
                       grace=grace, workers=1, runtime=runtime)
        process = self.start(*options, env={"SLEYD_LAST_S": "1"})
        running = os.path.join(self.folder, "running")
        self.popen("submit", "t", "spin", "--data", running)
        while not os.path.exists(running):
            self.assertIsNone(process.poll(), self.lines())
        return process

    def assert_gives_up(self, process):
        self.assertEqual(process.wait(LONG), 1, self.lines())
        self.assertIn("requests do not end, though they were cancelled",
                      self.lines())
        self.assertFalse(os.path.exists(self.pid_file))

    def test_a_signal_is_heard(self):
        process = self.hold(grace=10, runtime="  watchdog_ms: 20")
        self.wait_for_line("has held worker 0 for .* no worker is free for "
                           "work from outside, such as requests of clients")
        process.send_signal(signal.SIGTERM)
        self.assert_gives_up(process)

    def test_a_second_signal_does_not_wait_for_the_grace_period(self):
        process = self.hold(grace=3600000)
        process.send_signal(signal.SIGTERM)
        self.wait_for_line("Terminated: requests under way are answered")
        process.send_signal(signal.SIGTERM)
        self.wait_for_line("Terminated: requests under way are cancelled")
        self.assert_gives_up(process)

    def test_a_daemon_that_is_silent_is_named_and_stopped(self):
        """Here also by SIGSTOP; the commands wait for their five seconds together."""
        self.configure()
        other = os.path.join(self.folder, "other")
        stopped = self.start(path=other)
        stopped.send_signal(signal.SIGSTOP)
        held = self.hold(10)
        commands = [(self.popen("daemon", word, "--socket", path), word, pid)
                    for word, path, pid in (("stop", other, stopped.pid),
                                            ("status", self.socket, held.pid))]
        for command, word, pid in commands:
            out, err = command.communicate(timeout=LONG)
            self.assertIn(f"(process {pid}) does not answer within 5 s", err)
            self.assertIn(f"`kill -CONT {pid}` or `kill -TERM {pid}`", err)
            self.assertEqual(command.returncode, int(word == "status"), err)
            if word == "stop":
                self.assertIn("has ended", out)
        self.assertEqual(stopped.wait(LONG), 0)

    def test_the_log_is_opened_again(self):
        path = os.path.join(self.folder, "sleyd.log")
        process = self.hold(10, "--log", path)
        os.rename(path, path + ".old")
        process.send_signal(signal.SIGHUP)
        end = time.monotonic() + LONG
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), end)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(LONG), 1)
        with open(path, encoding="utf-8") as file:
            for line in file:
                self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\S+Z sleyd: ")


class Load(Test):
    """Daemons come and go below clients that work."""

    def setUp(self):
        super().setUp()
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t, "
                               "containers: 2 }")

    def test_a_daemon_is_replaced_under_load_and_nothing_is_lost(self):
        self.sley_start()
        clients = [self.work(), self.work()]
        for _ in range(3):
            self.sley("daemon", "restart")
            self.addCleanup(self.kill, self.json("daemon", "status")["pid"])
            self.wait_for_work(clients)
        for client in clients:
            self.assertGreater(self.finish(client), 3000)
        self.sley("daemon", "stop")

    def test_a_daemon_is_killed_under_load_and_nothing_is_lost(self):
        process = self.start()
        clients = [self.work("idempotent"), self.work("idempotent")]
        for _ in range(3):
            process.kill()
            process.wait()
            process = self.start()
            self.wait_for_work(clients)
        for client in clients:
            self.assertGreater(self.finish(client), 3000)
        self.stop(process)


class Surroundings(Test):
    def test_a_manager_is_told_of_start_and_stop(self):
        self.configure()
        process, notify = self.launch()
        message = notify.wait_for("READY=1", process)
        self.assertIn(f"MAINPID={process.pid}", message)
        self.assertIn(f"STATUS=serving at {self.socket}", message)
        process.send_signal(signal.SIGTERM)
        self.assertIn("STOPPING=1", notify.wait_for("STOPPING", process))
        self.assertEqual(process.wait(LONG), 0)

    def test_a_manager_hands_the_socket_over(self):
        self.configure()
        path = os.path.join(self.folder, "activated.sock")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(path)
        listener.listen(16)
        self.addCleanup(listener.close)
        # The first client is there before the daemon is.
        first = self.popen("pool", "list", "--socket", path)
        self.serve_fd(listener, path)
        out, err = first.communicate(timeout=LONG)
        self.assertIn("admin", out, err)
        self.sley("pool", "list", "--socket", path)
        self.assertTrue(os.path.exists(path))

    def serve_fd(self, listener, path):
        command = ('export LISTEN_PID=$$ LISTEN_FDS=1; exec "$0" --config '
                   f'{self.config} --socket {path}')

        def hand_over():
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)

        with open(self.log, "ab") as log:
            process = subprocess.Popen(
                ["sh", "-c", command, GIVEN.sleyd], stderr=log, close_fds=False,
                preexec_fn=hand_over)
        self.addCleanup(self.end, process)
        return process

    def test_a_socket_of_another_type_is_refused(self):
        self.configure()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(os.path.join(self.folder, "stream.sock"))
        listener.listen(1)
        self.addCleanup(listener.close)
        process = self.serve_fd(listener, "/x")
        self.assertEqual(process.wait(LONG), 1)

    def test_mistakes_of_the_configuration_have_their_line(self):
        def check(text, said):
            path = self.write("wrong.yaml", text)
            for command in ((GIVEN.sleyd, "--config", path, "--check"),
                            (GIVEN.sleyd, "--config", path, "--socket",
                             self.socket)):
                done = subprocess.run(command, capture_output=True, text=True,
                                      timeout=LONG, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(said, done.stderr)

        check("daemon:\n  sokcet: /x\n", "wrong.yaml:2:3: there is no key")
        check("daemon:\n  users: [ { user: no-such-user, may: look } ]\n",
              "wrong.yaml:2:12: there is no user 'no-such-user'")
        check("daemon:\n  users: [ { group: no-such-group, may: look } ]\n",
              "wrong.yaml:2:12: there is no group 'no-such-group'")
        check("daemon:\n  user: no-such-user\n", "there is no such user")
        good = subprocess.run([GIVEN.sleyd, "--config", self.config, "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((good.returncode, good.stdout),
                         (0, "The configuration is good.\n"))

    def test_options_of_the_daemon(self):
        for option, status, said in (("--version", 0, "sleyd "),
                                     ("--help", 0, "--socket PATH"),
                                     ("--none", 2, "sleyd --help"),
                                     ("--socket=", 2, "wants a path"),
                                     ("word", 2, "unexpected 'word'")):
            done = subprocess.run([GIVEN.sleyd, option], capture_output=True,
                                  text=True, timeout=LONG, check=False)
            self.assertEqual(done.returncode, status)
            self.assertIn(said, done.stdout + done.stderr)

    def analyze(self, *words):
        analyze = shutil.which("systemd-analyze")
        if not analyze:
            self.skipTest("systemd-analyze is missing: apt-get install "
                          "systemd")
        return subprocess.run([analyze, "--no-pager", *words], text=True,
                              capture_output=True, timeout=LONG, check=False)

    def calls(self, words):
        """The system calls of names and of sets, as SystemCallFilter= has them."""
        found = set()
        for word in words:
            if not word.startswith("@"):
                found.add(word)
                continue
            out = self.analyze("syscall-filter", word).stdout.split("\n")
            self.assertEqual(out[0], word)
            found |= self.calls(line.strip() for line in out[1:]
                                if line.strip() and "#" not in line)
        return found

    @staticmethod
    def settings(name):
        with open(GIVEN.unit, encoding="utf-8") as file:
            return [line.split("=", 1)[1].strip() for line in file
                    if line.startswith(f"{name}=")]

    def test_the_unit_allows_slices_and_no_real_time(self):
        allowed = set()
        for line in self.settings("SystemCallFilter"):
            calls = self.calls(line.lstrip("~").split())
            allowed = allowed - calls if line[0] == "~" else allowed | calls
        self.assertEqual(allowed & self.calls(["@resources"]),
                         {"sched_setaffinity", "sched_setattr", "mbind",
                          "set_mempolicy"})
        self.assertIn("sched_getattr", allowed)
        # The filter does not see which class sched_setattr() asks for.
        for name, value in (("CapabilityBoundingSet", ""),
                            ("AmbientCapabilities", ""),
                            ("NoNewPrivileges", "yes"), ("LimitRTPRIO", "0"),
                            ("RestrictRealtime", "yes")):
            self.assertEqual(self.settings(name), [value], name)

    def test_the_unit_exposes_little(self):
        unit = os.path.join(self.folder, "sleyd.service")
        shutil.copy(GIVEN.unit, unit)
        done = self.analyze("security", "--offline=true", unit)
        found = re.search(r"Overall exposure level .*: ([0-9.]+)",
                          done.stdout)
        if not found and "offline" in done.stderr:
            self.skipTest("this systemd-analyze knows no --offline")
        self.assertIsNotNone(found, done.stdout + done.stderr)
        self.assertLessEqual(float(found[1]), 2.0, done.stdout)


class Priorities(Test):
    """Of requests; no daemon here has a domain."""

    def setUp(self):
        super().setUp()
        self.install(GIVEN.modules[0])

    def limit(self, more):
        """An entry for the user of the daemon itself, which @more limits."""
        self.configure(f"  users: [ {{ user: {os.geteuid()}, may: submit{more} "
                       "} ]", compose="  - { mod_name: test, pool_name: t }")

    def runs_at(self, priority):
        return self.sley("submit", "t", "priority", "--priority",
                         str(priority))

    def test_the_limit_of_a_user_holds_for_its_requests(self):
        self.limit(", domain_priority: 0")
        process = self.start()
        self.assertEqual(self.runs_at(-32), "0\n")
        self.assertEqual(self.runs_at(5), "5\n")
        self.stop(process)
        self.limit("")
        self.start()
        self.assertEqual(self.runs_at(-32), "-32\n")

    def test_a_hang_up_limits_clients_that_are_there(self):
        self.limit("")
        process = self.start()
        client = self.work("priority=-32")
        patience = threading.Timer(LONG, client.kill)
        patience.start()
        self.addCleanup(patience.cancel)
        for more, runs_at in (("", "-32"), (", domain_priority: 7", "7"),
                              (", domain_priority: -9", "-9")):
            self.limit(more)
            self.hang_up(process, "count from now on; 0 clients")
            self.assertEqual(client.stdout.readline(), runs_at + "\n")
        self.finish(client)
        self.stop(process)


@unittest.skipIf(os.geteuid() != 0, "needs root, to be another user")
class Users(Test):
    def setUp(self):
        super().setUp()
        # Programs of the build may lie where only root can read.
        self.program = os.path.join(self.folder, "sley")
        shutil.copy(GIVEN.sley, self.program)
        os.chmod(self.program, 0o755)

    def as_nobody(self, *words, status=0):
        done = subprocess.run(
            ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
             "--clear-groups", self.program, *words],
            capture_output=True, text=True, timeout=LONG, check=False,
            env=dict(os.environ, SLEY_SOCKET=self.socket))
        self.assertEqual(done.returncode, status,
                         f"{words}: {done.stdout}{done.stderr}{self.lines()}")
        return done.stdout + done.stderr

    def serve(self, users, mode="0666"):
        self.reconfigure(users, mode)
        return self.start()

    def reconfigure(self, users, mode="0666"):
        self.configure(f"  mode: {mode}\n{users}",
                       compose="  - { mod_name: kv, pool_name: kv }")

    def test_others_may_nothing_unless_told(self):
        process = self.serve("")
        # The daemon may refuse before the client has said hello, or after it.
        for _ in range(20):
            self.assertIn("this user may not connect",
                          self.as_nobody("stats", status=1))
        self.stop(process)
        process = self.serve("  users: [ { everybody: true, may: submit } ]",
                             "0600")
        self.as_nobody("stats", status=1)  # the rights of the file
        self.stop(process)

    def test_each_right_allows_its_own(self):
        attempts = {
            "submit": ("submit", "kv", "set", "a", "b"),
            "look": ("pool", "list"),
            "create": ("pool", "create", "p", "kv"),
            "upgrade": ("pool", "flush", "kv"),
            "stop": ("client", "eject", "999999"),
        }
        for right in attempts:
            user = (f"user: {NOBODY}", f"group: {NOBODY}", "everybody: true")
            process = self.serve(
                "  users: [ { "
                f"{user[len(right) % 3]}, may: [ {right} ] }} ]")
            for other, words in attempts.items():
                said = self.as_nobody(*words, status=int(
                    other != right or other == "stop"))
                if other != right:
                    self.assertIn("your user may not", said)
            self.assertIn("no session", self.sley("client", "eject", "9999",
                                                  status=1))
            if right == "stop":
                self.assertIn("has ended", self.as_nobody("daemon", "stop"))
            else:
                self.as_nobody("daemon", "stop", status=1)
                process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(LONG), 0)

    def test_a_limit_for_everybody_is_none_for_root(self):
        self.install(GIVEN.modules[0])
        self.configure("  mode: 0666\n  users: [ { everybody: true, may: "
                       "[ submit, look ], domain_priority: 3 } ]",
                       compose="  - { mod_name: test, pool_name: t }")
        self.start()
        request = ("submit", "t", "priority", "--priority", "-32")
        self.assertEqual(self.as_nobody(*request), "3\n")
        self.assertEqual(self.sley(*request), "-32\n")

    def test_a_hang_up_reads_the_users_again(self):
        may = "  users: [ { user: %s, may: [ %s ] } ]"
        process = self.serve(may % (NOBODY, "look"))
        self.as_nobody("submit", "kv", "4", status=1)
        self.reconfigure(may % (NOBODY, "submit, look"))
        self.as_nobody("submit", "kv", "4", status=1)
        self.hang_up(process, "count from now on; 0 clients")
        self.as_nobody("submit", "kv", "4")
        self.as_nobody("pool", "list")
        self.reconfigure(may % (NOBODY, "submit"))
        self.hang_up(process, "count from now on; 0 clients")
        self.assertIn("your user may not", self.as_nobody("pool", "list",
                                                          status=1))
        self.reconfigure("")
        self.hang_up(process, "count from now on; 0 clients")
        self.as_nobody("submit", "kv", "4", status=1)

    def test_a_hang_up_with_a_mistake_changes_nothing(self):
        may = "  users: [ { user: %s, may: [ submit ] } ]"
        process = self.serve(may % NOBODY)
        for wrong, said in ((may % "no-such-user", "there is no user"),
                            ("  sokcet: /x", "there is no key")):
            self.reconfigure(wrong)
            self.hang_up(process, f"{said}(.|\n)*the users are as before: "
                         f"'{self.config}' has the mistakes above")
            self.as_nobody("submit", "kv", "4")
        os.unlink(self.config)
        self.hang_up(process, "the users are as before: .* cannot be read")
        self.as_nobody("submit", "kv", "4")

    def test_a_hang_up_ejects_clients_that_have_lost_rights(self):
        client = os.path.join(self.folder, "client")
        shutil.copy(GIVEN.client, client)
        os.chmod(client, 0o755)
        self.install(GIVEN.modules[0])
        may = ("  users: [ { user: %s, may: submit }, "
               "{ user: 65533, may: submit } ]")
        pool = "  - { mod_name: test, pool_name: t }"
        self.configure("  mode: 0666\n" + may % NOBODY, compose=pool)
        process = self.start()
        as_user = ["setpriv", "--clear-groups", f"--regid={NOBODY}"]
        loser = self.work(program=[*as_user, f"--reuid={NOBODY}", client])
        other = self.work(program=[*as_user, "--reuid=65533", client])
        self.configure("  mode: 0666\n" + may % 65532, compose=pool)
        self.hang_up(process, "count from now on; 1 clients")
        self.assertNotEqual(loser.wait(LONG), 0)
        self.wait_for_line("ejected client .*its user has lost rights")
        self.assertGreater(self.finish(other), 0)

    def test_a_daemon_of_root_becomes_its_user(self):
        if GIVEN.sanitized:
            self.skipTest("a process that was root cannot look for leaks")
        shared = os.path.join(self.folder, "state")
        self.configure(f"  user: nobody\n  state_dir: {shared}")
        process = self.start()
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            status = dict(line.rstrip("\n").split(":\t", 1)
                          for line in file if ":\t" in line)
        self.assertEqual(status["Uid"].split(), [str(NOBODY)] * 4)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Seccomp"], "2")
        self.assertEqual(int(status["CapEff"], 16), 0)
        self.as_nobody("pool", "create", "p", "kv", "--keep")
        self.assertEqual(os.stat(os.path.join(shared, "pools")).st_uid, NOBODY)
        self.stop(process)

    def test_the_filter_may_be_off(self):
        self.configure("  seccomp: off")
        process = self.start()
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            self.assertIn("Seccomp:\t0", file.read())
        self.assertFalse(self.json("daemon", "status")["seccomp"])


class Isolated(Test):
    def test_a_crash_in_an_isolated_pool_is_an_outcome(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t, "
                               "isolated: true }")
        process = self.start()
        self.assertEqual(self.sley("submit", "t", "echo", "--data", "x"),
                         "x\n")
        self.assertIn("subprocess", self.sley("submit", "t", "crash",
                                              status=1))
        self.assertEqual(self.sley("submit", "t", "echo", "--data", "x"),
                         "x\n")
        children = subprocess.run(["pgrep", "-P", str(process.pid)],
                                  capture_output=True, text=True, check=False)
        self.stop(process)
        for child in children.stdout.split():
            self.assertFalse(os.path.exists(f"/proc/{child}"))

    def test_a_request_to_an_isolated_pool_may_be_large(self):
        self.install(GIVEN.modules[0])
        self.configure(compose="  - { mod_name: test, pool_name: t, "
                               "isolated: true }")
        process = self.start()
        for size in (4096, 4097, 1 << 20, 16 << 20):
            data = ("".join(f"{i:07x}," for i in range(size // 8))
                    + "x" * (size % 8))
            path = self.write("large", data)
            for _ in range(2):
                answer = self.sley("submit", "t", "echo", "--data-file", path,
                                   "--room", str(size))
                # A difference of this length is no help.
                self.assertTrue(answer == data + "\n", str(size))
        self.assertIn("subprocess", self.sley("submit", "t", "crash",
                                              "--data-file", path, status=1))
        self.assertEqual(self.sley("submit", "t", "echo", "--data", "x"),
                         "x\n")
        self.stop(process)


if __name__ == "__main__":
    main(__doc__)
