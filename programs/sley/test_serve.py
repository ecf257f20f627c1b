#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_serve - "sley serve" as its clients see it: files, and nothing else."""
import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None


class Server:
    """A server of a folder, on a port that the system has chosen."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", folder, "--listen", "127.0.0.1:0", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", line)[1])

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), 10)
        connection.settimeout(10)
        return connection

    def ask(self, path, method="GET", fields=""):
        """Status, head and body.  The path is sent as it is."""
        with self.connect() as connection:
            connection.sendall(
                f"{method} {path} HTTP/1.1\r\nHost: a\r\n"
                f"Connection: close\r\n{fields}\r\n".encode("latin-1"))
            answer = b""
            while data := connection.recv(65536):
                answer += data
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode("latin-1"), body

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Serve(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = os.path.join(self.place.name, "www")
        write(self.place.name, "secret.txt", "secret")
        write(self.folder, "a.txt", "0123456789")
        write(self.folder, "page/index.html", "<p>page")
        write(self.folder, "sub/b & <c>.bin", "b")
        write(self.folder, "sub/inner/x", "x")
        write(self.folder, ".hidden", "hidden")
        write(self.folder, ".git/config", "hidden")
        os.symlink("../secret.txt", os.path.join(self.folder, "out"))
        os.symlink("/etc", os.path.join(self.folder, "etc"))
        os.symlink("a.txt", os.path.join(self.folder, "in"))
        os.mkfifo(os.path.join(self.folder, "pipe"))

    def serve(self, *options):
        server = Server(self.folder, *options)
        self.addCleanup(server.process.stderr.close)
        self.addCleanup(server.process.stdout.close)
        self.addCleanup(server.process.wait)
        self.addCleanup(server.process.kill)
        return server

    def check(self, server, path, status, body=None):
        got, head, content = server.ask(path)
        self.assertEqual(got, status, f"{path}: {head}")
        if body is not None:
            self.assertEqual(content, body, path)
        return head, content

    def test_files_are_served_with_their_types(self):
        server = self.serve()
        head, _ = self.check(server, "/a.txt", 200, b"0123456789")
        self.assertIn("Content-Type: text/plain; charset=utf-8", head)
        self.assertIn("X-Content-Type-Options: nosniff", head)
        head, _ = self.check(server, "/sub/b%20%26%20%3Cc%3E.bin", 200, b"b")
        self.assertIn("application/octet-stream", head)
        head, _ = self.check(server, "/page/", 200, b"<p>page")
        self.assertIn("text/html", head)
        self.check(server, "/in", 200, b"0123456789")
        self.check(server, "/none", 404)
        self.check(server, "/a.txt/", 404)
        self.check(server, "/a.txt/b", 404)

    def test_nothing_outside_of_the_folder_is_served(self):
        server = self.serve("--list", "--dot-files")
        for path in ("/out", "/etc/passwd", "/etc/", "/etc"):
            _, body = self.check(server, path, 404)
            self.assertNotIn(b"secret", body)
        for path in ("/../secret.txt", "/sub/../../secret.txt",
                     "/%2e%2e/secret.txt", "/..%2fsecret.txt",
                     "/%2e%2e%2fsecret.txt", "/a.txt%00.html",
                     "/sub/./b"):
            _, body = self.check(server, path, 400)
            self.assertNotEqual(body, b"secret")
        self.check(server, "//etc/passwd", 404)
        self.check(server, "///a.txt", 200, b"0123456789")
        self.check(server, "/" + "a" * 300, 404)
        self.check(server, "/pipe", 404)

    def test_dot_files_are_served_only_if_told(self):
        server = self.serve("--list")
        self.check(server, "/.hidden", 404)
        self.check(server, "/.git/config", 404)
        self.check(server, "/%2ehidden", 404)
        _, body = self.check(server, "/", 200)
        self.assertNotIn(b"hidden", body)
        server = self.serve("--list", "--dot-files")
        self.check(server, "/.hidden", 200, b"hidden")
        self.check(server, "/.git/config", 200, b"hidden")
        _, body = self.check(server, "/", 200)
        self.assertIn(b".hidden", body)

    def test_folders_are_listed_only_if_told(self):
        server = self.serve()
        self.check(server, "/", 404)
        self.check(server, "/sub/", 404)
        server = self.serve("--list")
        _, body = self.check(server, "/sub/", 200)
        self.assertIn(b'<a href="./b%20%26%20%3Cc%3E.bin">'
                      b"b &#38; &#60;c&#62;.bin</a>", body)
        self.assertIn(b'<a href="./inner/">inner/</a>', body)
        self.assertNotIn(b"<c>", body)

    def test_a_folder_without_its_slash_is_elsewhere(self):
        server = self.serve()
        head, _ = self.check(server, "/page", 301)
        self.assertIn("\r\nLocation: /page/\r\n", head + "\r\n")
        self.check(server, "//page", 404)  # not a redirect to //page/

    def test_only_get_and_head(self):
        server = self.serve()
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            status, head, _ = server.ask("/a.txt", method)
            self.assertEqual(status, 405)
            self.assertIn("Allow: GET, HEAD", head)
        status, head, body = server.ask("/a.txt", "HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertIn("Content-Length: 10", head)

    def test_ranges(self):
        server = self.serve()
        status, head, body = server.ask("/a.txt", fields="Range: bytes=2-4\r\n")
        self.assertEqual((status, body), (206, b"234"))
        self.assertIn("Content-Range: bytes 2-4/10", head)

    def test_a_signal_lets_requests_under_way_finish(self):
        with open(os.path.join(self.folder, "large"), "wb") as file:
            file.truncate(64 << 20)
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.serve()
            with server.connect() as busy, server.connect() as idle:
                busy.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                size = len(busy.recv(1000))
                # One that was not accepted yet would be reset.
                idle.sendall(b"HEAD /a.txt HTTP/1.1\r\nHost: a\r\n\r\n")
                self.assertIn(b" 200 ", idle.recv(1000))
                server.process.send_signal(number)
                self.assertEqual(idle.recv(10), b"")
                while data := busy.recv(1 << 20):
                    size += len(data)
            self.assertGreater(size, 64 << 20)
            self.assertEqual(server.process.wait(timeout=30), 0)

    def test_errors_say_what_to_do(self):
        def run(*arguments):
            result = subprocess.run([PROGRAM, "serve", *arguments],
                                    capture_output=True, text=True,
                                    timeout=30, check=False)
            return result.returncode, result.stderr

        server = self.serve()
        code, err = run(self.folder, "--listen", f"127.0.0.1:{server.port}")
        self.assertEqual(code, 1)
        self.assertIn("--listen 127.0.0.1:0", err)
        code, err = run(os.path.join(self.folder, "none"))
        self.assertEqual(code, 1)
        self.assertIn("No such file or directory", err)
        code, err = run(os.path.join(self.folder, "a.txt"))
        self.assertEqual(code, 1)
        self.assertIn("Not a directory", err)
        for wrong in ([], ["--listen"], ["a", "b"], ["--what", "a"]):
            code, err = run(*wrong)
            self.assertEqual(code, 2, wrong)
            self.assertIn("usage: sley serve", err)

    def test_it_listens_at_this_machine_unless_told(self):
        process = subprocess.run([PROGRAM, "help", "serve"],
                                 capture_output=True, text=True, check=True)
        self.assertIn("http://127.0.0.1:8080/", process.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    arguments, rest = parser.parse_known_args()
    PROGRAM = arguments.program
    unittest.main(argv=[sys.argv[0], *rest])
