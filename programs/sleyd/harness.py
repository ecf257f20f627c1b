# SPDX-License-Identifier: MIT
"""harness - daemons, commands and clients in a folder of their own, for the tests here.

Nothing sleeps: a daemon says when it serves, and the end of a process is waited for.
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

LONG = 60  # seconds that nothing here takes, also on a busy machine
NOBODY = 65534

GIVEN = argparse.Namespace()  # the programs, see main()


class Notify:
    """What a service manager hears."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        os.chmod(self.path, 0o777)
        self.socket.settimeout(0.1)

    def next(self, process):
        """The next message; None: the process has ended."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            ended = process.poll() is not None
            try:
                return self.socket.recv(4096).decode()
            except TimeoutError:
                if ended:
                    return None
        return None

    def wait_for(self, word, process):
        while message := self.next(process):
            if word in message:
                return message
        return None

    def close(self):
        self.socket.close()
        os.unlink(self.path)


class Test(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="sleyd-")
        self.addCleanup(self.place.cleanup)
        self.folder = self.place.name
        os.chmod(self.folder, 0o755)
        self.run_folder = os.path.join(self.folder, "run")
        self.socket = os.path.join(self.run_folder, "sleyd.sock")
        self.log = os.path.join(self.folder, "log")
        self.modules = os.path.join(self.folder, "modules")
        self.command = GIVEN.sley
        os.mkdir(self.modules)
        self.config = self.write("sleyd.yaml", "")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o644)
        return path

    def configure(self, daemon="", compose="", runtime="", grace=5000,
                  workers=2):
        """@daemon, @compose and @runtime are lines, as in the file."""
        self.write("sleyd.yaml", f"""
runtime:
  num_threads: {workers}
  directories: {self.modules}
{runtime}
daemon:
  grace_ms: {grace}
  {"seccomp: off" if GIVEN.sanitized and "seccomp" not in daemon else ""}
{daemon}
{"compose:" if compose else ""}
{compose}
""")

    def install(self, module):
        new = os.path.join(self.modules, "new")
        shutil.copy(module, new)
        os.rename(new, os.path.join(self.modules, "test.so"))

    # ---- daemons ---------------------------------------------------------------

    def launch(self, *options, path=None, program=None, env=None, **how):
        """A daemon, and what a service manager hears of it."""
        notify = Notify(tempfile.mkdtemp(dir=self.folder))
        self.addCleanup(notify.socket.close)
        environment = dict(os.environ, NOTIFY_SOCKET=notify.path,
                           **(env or {}))
        for name in ("SLEY_CONFIG", "SLEY_SOCKET", "INVOCATION_ID"):
            environment.pop(name, None)
        with open(self.log, "ab") as log:
            process = subprocess.Popen(
                [program or GIVEN.sleyd, "--config", self.config, "--socket",
                 path or self.socket, *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment, **how)
        self.addCleanup(self.end, process)
        return process, notify

    def start(self, *options, **how):
        process, notify = self.launch(*options, **how)
        ready = notify.wait_for("READY=1", process)
        self.assertIsNotNone(ready, self.lines())
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()

    def stop(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        self.assertEqual(process.wait(LONG), 0, self.lines())

    def lines(self):
        try:
            with open(self.log, encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def wait_for_line(self, pattern):
        """Until the log of the daemons has such a line."""
        end = time.monotonic() + LONG
        while not re.search(pattern, self.lines()):
            self.assertLess(time.monotonic(), end, self.lines())

    def hang_up(self, process, said):
        """Until the daemon has read its users again, and said so."""
        os.truncate(self.log, 0)
        process.send_signal(signal.SIGHUP)
        self.wait_for_line("hang-up: .* new versions of modules")
        self.assertRegex(self.lines(), said)

    # ---- commands --------------------------------------------------------------

    def popen(self, *words, uid=None, **how):
        command = [self.command, *words]
        if uid is not None:
            command = ["setpriv", f"--reuid={uid}", f"--regid={uid}",
                       "--clear-groups", *command]
        # "sley daemon start" finds the daemon beside itself, or by the path.
        environment = dict(os.environ, SLEY_SOCKET=self.socket,
                           PATH=os.path.dirname(GIVEN.sleyd) + ":" +
                           os.environ["PATH"])
        environment.pop("SLEY_CONFIG", None)
        environment.pop("INVOCATION_ID", None)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment, **how)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(self.end, process)
        return process

    def sley(self, *words, status=0, **how):
        """stdout of a command, or stderr if it is to fail; None: either."""
        process = self.popen(*words, **how)
        out, err = process.communicate(timeout=LONG)
        if status is not None:
            self.assertEqual(process.returncode, status,
                             f"{words}: {out}{err}{self.lines()}")
        return out + err if status else out

    def sley_start(self, *words):
        """A daemon that the command line has started: its number."""
        out = self.sley("daemon", "start", "--config", self.config, *words)
        pid = int(re.search(r"process (\d+)", out)[1])
        self.addCleanup(self.kill, pid)
        return pid

    @staticmethod
    def kill(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def json(self, *words, **how):
        return json.loads(self.sley(*words, "--json", **how))

    def pools(self):
        return [pool["name"] for pool in self.json("pool", "list")]

    def assert_nothing_is_left(self):
        left = os.listdir(self.run_folder) if os.path.exists(
            self.run_folder) else []
        self.assertEqual(left, [])

    # ---- clients ---------------------------------------------------------------

    def work(self, *words, program=None):
        """A client that works until it is finished; @program may be a command."""
        if not isinstance(program, list):
            program = [program or GIVEN.client]
        process = subprocess.Popen(
            [*program, *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, SLEY_SOCKET=self.socket))
        for pipe in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(pipe.close)
        self.addCleanup(self.end, process)
        self.assertEqual(process.stdout.readline(), "working\n")
        return process

    def outputs(self, process):
        """What a client has said in the end: its lines, and its errors."""
        out, err = process.communicate(timeout=LONG)  # closes its input
        self.assertEqual(process.returncode, 0, err + self.lines())
        return out.splitlines(), err

    def output(self, process):
        """The lines of a client, which ends."""
        return self.outputs(process)[0]

    def finish(self, process):
        """The number of requests of a client, which ends."""
        return int(self.output(process)[-1])

    def wait_for_work(self, processes):
        """Until the daemon has taken requests of all clients."""
        working = []
        while len(working) < len(processes):
            for process in processes:
                if process.poll() is not None:
                    self.finish(process)  # says why it has ended
            working = [c for c in self.json("client", "list")
                       if c["name"] != "sley" and c["requests"] > 1000]


def main(about):
    """Runs the tests of the caller, with the programs of the command line."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--sley", required=True)
    parser.add_argument("--sleyd", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--member", required=True)
    parser.add_argument("--modules", nargs=2, required=True)
    parser.add_argument("--unit", required=True)
    # For programs that are compiled as users compile theirs.
    parser.add_argument("--root", help="of the sources")
    parser.add_argument("--library")
    # NAME=PROGRAM, of other versions.
    parser.add_argument("--others", nargs="*", default=[])
    # To look for leaks, a sanitizer makes system calls that the filter refuses.
    parser.add_argument("--sanitized", action="store_true")
    _, rest = parser.parse_known_args(namespace=GIVEN)
    GIVEN.others = dict(other.split("=", 1) for other in GIVEN.others)
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])
