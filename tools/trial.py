# SPDX-License-Identifier: MIT
"""trial - programs that may hang, fork or never end, and tools that try many of them.

run() starts a program under supervise.py, which leaves nothing of it behind: not when it
ends, not when the time is over, and not when the tool is interrupted or killed.

in_parallel() is the pool of threads of such a tool.  At the end of the tool by Ctrl-C or
SIGTERM it ends the trials, and waits for its threads, which remove their folders.
"""
import concurrent.futures
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

SUPERVISOR = [sys.executable, "-I", "-S",
              os.path.join(os.path.dirname(os.path.realpath(__file__)),
                           "supervise.py")]
# A supervisor takes longer than most searches of a model, which has no children: that it
# ends with this tool is all that it needs.
ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL")


class Outcome:
    def __init__(self, status, output):
        self.status, self.output = status, output  # None: it took too long


class Interrupted(Exception):
    """The tool is about to end: there are no more trials."""


class Running:
    """The trials of this process."""

    def __init__(self):
        self.lock = threading.Lock()
        self.processes = set()
        self.over = False

    def start(self, command, file, folder, environment, alone):
        # Under the lock: no trial begins behind end_all().
        with self.lock:
            if self.over:
                raise Interrupted()
            process = subprocess.Popen(
                [*(ENDS_WITH_US if alone else SUPERVISOR), *command],
                cwd=folder, stdout=file, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL if alone else subprocess.PIPE,
                env=surroundings(environment))
            self.processes.add(process)
            return process

    @staticmethod
    def stop(process):
        if process.stdin:
            process.stdin.close()
        else:
            process.kill()

    def end(self, process):
        with self.lock:
            self.processes.discard(process)
            self.stop(process)
        process.wait()

    def end_all(self):
        with self.lock:
            self.over = True
            for process in self.processes:
                self.stop(process)


RUNNING = Running()


def run(command, seconds, folder=None, environment=None, until=None,
        while_it_speaks=False, alone=False):
    """Run it in a session of its own until it ends, until the time is over, or
    until a line of its output matches until: that is status 1.  While it speaks
    the time begins anew with all that it writes.  A program that starts no other
    is alone: it has no supervisor."""
    with tempfile.TemporaryFile() as file:
        process = RUNNING.start(command, file, folder, environment, alone)
        try:
            status = watch(process, file, seconds, until, while_it_speaks)
        finally:
            RUNNING.end(process)
        return Outcome(status, text_of(file))


def watch(process, file, seconds, until, while_it_speaks):
    end, pause, size = time.monotonic() + seconds, 0.002, 0
    while time.monotonic() < end:
        try:
            return process.wait(pause)
        except subprocess.TimeoutExpired:
            pause = min(2 * pause, 0.1)
        if os.fstat(file.fileno()).st_size == size:
            continue
        size = os.fstat(file.fileno()).st_size
        if while_it_speaks:
            end = time.monotonic() + seconds
        if until and said(file, until):
            return 1
    return None


def surroundings(more):
    """What a mutant does is no proof of anything, and counts for nothing."""
    environment = dict(os.environ, **(more or {}))
    environment.pop("SLEY_PROOF", None)
    return environment


def text_of(file):
    """All that was written; the child's place in the file stays."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), size, 0).decode(errors="replace")


def said(file, pattern):
    return any(re.match(pattern, line) for line in text_of(file).split("\n"))


# ---- many of them ------------------------------------------------------------

@contextlib.contextmanager
def in_parallel(jobs):
    """A pool of threads whose trials end with it."""
    RUNNING.over = False
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    try:
        yield pool
    except BaseException:
        RUNNING.end_all()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    finally:
        pool.shutdown()
        signal.signal(signal.SIGTERM, before)
