"""A proxy on loopback that the daemon takes for its API server, and that makes the network bad: answers with errors,
loses answers of requests that were carried out, is slow, cuts watches. Plain HTTP in, TLS out."""
import asyncio, json, random, re, threading


class Fault:
    """What happens to requests that match, `times` times or with a chance, until it is taken back."""

    def __init__(self, kind, method=".", path=".", times=None, chance=1.0, status=503, delay=0.0, headers=None, body=None):
        self.kind, self.method, self.path = kind, re.compile(method), re.compile(path)
        self.times, self.chance, self.status, self.delay = times, chance, status, delay
        self.headers, self.body = headers or {}, body
        self.hits = 0

    def takes(self, method, path, dice):
        if not self.method.match(method) or not self.path.search(path):
            return False
        if self.times is not None and self.hits >= self.times or dice.random() >= self.chance:
            return False
        self.hits += 1
        return True


class FaultProxy:
    def __init__(self, plane, seed=1):
        self.plane, self.dice = plane, random.Random(seed)
        self.faults, self.watches, self.streams, self.requests = [], set(), set(), 0
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        self.thread = threading.Thread(target=self.serve, args=(started,), daemon=True)
        self.thread.start()
        started.wait(10)

    # --- for tests, from their thread ----------------------------------------------------------------------------
    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def answer(self, status, **match):
        """Does not pass the request on."""
        return self.add(Fault("answer", status=status, **match))

    def lie(self, body, **match):
        """Does not pass the request on, and answers it with this text as if all were well."""
        return self.add(Fault("answer", status=200, body=body, **match))

    def lose(self, **match):
        """Passes the request on, then closes the connection without an answer."""
        return self.add(Fault("lose", **match))

    def slow(self, seconds, **match):
        return self.add(Fault("slow", delay=seconds, **match))

    def add(self, fault):
        self.faults.append(fault)
        return fault

    def heal(self):
        self.faults.clear()

    def cut_watches(self):
        """Closes the connections of all watches; how many there were."""
        writers = list(self.watches)
        for writer in writers:
            self.loop.call_soon_threadsafe(writer.transport.abort)
        return len(writers)

    def close(self):
        asyncio.run_coroutine_threadsafe(self.end_clients(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)

    # --- in the thread of the loop ---------------------------------------------------------------------------------
    def serve(self, started):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.client, "127.0.0.1", 0, limit=1 << 20))
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self.loop.run_forever()

    async def end_clients(self):
        for writer in list(self.streams):
            writer.transport.abort()
        tasks = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
        if tasks:
            await asyncio.wait(tasks, timeout=5)

    async def client(self, reader, writer):
        upstream = None
        self.streams.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                body = await read_body(reader, head)
                upstream = await self.exchange(head, body, writer, upstream)
        except (asyncio.IncompleteReadError, OSError, asyncio.LimitOverrunError):
            pass
        finally:
            self.watches.discard(writer)
            for w in (writer, upstream and upstream[1]):
                if w:
                    self.streams.discard(w)
                    w.close()

    async def exchange(self, head, body, writer, upstream):
        method, path = head.split(b" ", 2)[:2]
        method, path = method.decode(), path.decode()
        self.requests += 1
        fault = next((f for f in list(self.faults) if f.takes(method, path, self.dice)), None)
        if fault and fault.kind == "slow":
            await asyncio.sleep(fault.delay)
        if fault and fault.kind == "answer":
            writer.write(refusal(fault))
            await writer.drain()
            return upstream
        if "watch=" in path:
            self.watches.add(writer)
        for fresh in (upstream is None, True):
            if fresh:
                upstream = await asyncio.open_connection("127.0.0.1", self.plane.port, ssl=self.plane.context,
                                                         limit=1 << 20)
                self.streams.add(upstream[1])
            try:
                upstream[1].write(head + body)
                await upstream[1].drain()
                answer = await upstream[0].readuntil(b"\r\n\r\n")
                break
            except (asyncio.IncompleteReadError, ConnectionError):
                if fresh or method != "GET":
                    raise
        if fault and fault.kind == "lose":
            await read_body(upstream[0], answer)
            raise ConnectionResetError("lost on purpose")
        writer.write(answer)
        async for piece in pieces(upstream[0], answer):
            writer.write(piece)
            await writer.drain()
        self.watches.discard(writer)
        return upstream


def header(head, name):
    match = re.search(rb"\r\n" + name + rb":\s*([^\r]*)", head, re.I)
    return match.group(1).decode() if match else None


async def pieces(reader, head):
    """The body behind a head as it comes, with its framing."""
    if "chunked" in (header(head, b"transfer-encoding") or ""):
        while True:
            line = await reader.readuntil(b"\r\n")
            size = int(line, 16)
            yield line + await reader.readexactly(size + 2)
            if size == 0:
                return
    length = int(header(head, b"content-length") or 0)
    if length:
        yield await reader.readexactly(length)


async def read_body(reader, head):
    return b"".join([piece async for piece in pieces(reader, head)])


def refusal(fault):
    reasons = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable",
               504: "Timeout"}
    body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": fault.status,
                       "reason": reasons.get(fault.status, ""), "message": "made by the test"}).encode()
    body = body if fault.body is None else fault.body.encode()
    lines = [f"HTTP/1.1 {fault.status} Fault", "Content-Type: application/json", f"Content-Length: {len(body)}",
             *(f"{k}: {v}" for k, v in fault.headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
