#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""A container runtime for tests: run, rm and serve, as docker has them. Containers are children of the server, so they outlive
whoever has asked for them; each is the command that is given, on this machine, with no more environment than --env says.
Commands are written to DIR/calls, one JSON list a line; FAKE_RUNTIME is DIR. An image says how it behaves: its last part is
"missing" (no such image: 125), "entry" (its entrypoint writes its arguments), or anything else."""
import json, os, pathlib, signal, socket, subprocess, sys, threading

DIR = pathlib.Path(os.environ["FAKE_RUNTIME"])
SOCKET = DIR / "socket"


def parse(words):
    """Options and the rest, by the rules of docker: options end at the first word that is none, or at --."""
    options, i = [], 0
    while i < len(words) and words[i].startswith("-"):
        i += 1
        if words[i - 1] == "--":
            break
        options.append(words[i - 1])
    return options, words[i:]


def value(options, name, default=None):
    return next((o.split("=", 1)[1] for o in options if o.startswith(name + "=")), default)


class Server:
    def __init__(self):
        self.containers, self.lock = {}, threading.Lock()

    def run(self, connection, words, fds):
        options, rest = parse(words)
        image, arguments, name = rest[0], rest[1:], value(options, "--name")
        entry = value(options, "--entrypoint")
        if entry and entry.startswith("["):
            entry = json.loads(entry)[0]
        if image.endswith("missing") or name in self.containers:
            os.write(fds[1], f"fake: {'no such image' if image.endswith('missing') else 'the name is in use'}\n".encode())
            return 125
        command = ([entry] if entry else ["echo", "entrypoint"] if image.endswith("entry") else []) + arguments
        env = {"PATH": os.environ["PATH"], **dict(o.split("=", 2)[1:] for o in options if o.startswith("--env="))}
        try:
            with self.lock:
                process = subprocess.Popen(command, env=env, cwd=value(options, "--workdir", "/"), stdin=subprocess.DEVNULL,
                                           stdout=fds[0], stderr=fds[1], start_new_session=True)
                self.containers[name] = process
        except OSError as error:
            os.write(fds[1], f"fake: {error}\n".encode())
            return 127
        threading.Thread(target=self.signals, args=(connection, process), daemon=True).start()
        code = process.wait()
        self.remove(name)
        return code if code >= 0 else 128 - code

    def signals(self, connection, process):
        try:
            while connection.recv(1):  # what the client has got
                process.send_signal(signal.SIGTERM)
        except OSError:
            pass  # closed after the end

    def remove(self, name):
        with self.lock:
            process = self.containers.pop(name, None)
        if process is None:
            return 1
        try:
            os.killpg(process.pid, signal.SIGKILL)  # as the end of its namespace
        except ProcessLookupError:
            pass
        return 0

    def handle(self, connection):
        with connection:
            message, fds, _, _ = socket.recv_fds(connection, 1 << 20, 2)
            words = json.loads(message)
            with self.lock, open(DIR / "calls", "a") as calls:
                calls.write(json.dumps(words) + "\n")
            code = self.run(connection, words[1:], fds) if words[0] == "run" else self.remove(parse(words[1:])[1][0])
            for fd in fds:
                os.close(fd)
            try:
                connection.sendall(f"{code}\n".encode())
            except OSError:
                pass  # its client was killed

    def serve(self):
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.bind(str(SOCKET))
        listening.listen(64)
        print("up", flush=True)
        while True:
            threading.Thread(target=self.handle, args=(listening.accept()[0],), daemon=True).start()


def ask(words):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(str(SOCKET))
    socket.send_fds(connection, [json.dumps(words).encode()], [1, 2])
    signal.signal(signal.SIGTERM, lambda *_: connection.send(b"t"))
    return int(connection.recv(64) or b"125")


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        Server().serve()
    sys.exit(ask(sys.argv[1:]))
