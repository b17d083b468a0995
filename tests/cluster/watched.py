"""What a collection holds, by list and watch on a connection of its own: every state that it has been in is seen, in order."""
import contextlib, http.client, json, socket, threading


class Watched(threading.Thread):
    """`see(before, now)` is called with each change of an object, None where it is not there, by the thread that watches; what it raises
    ends the watch, and `check` raises it again."""

    def __init__(self, plane, path, see=lambda before, now: None):
        super().__init__(daemon=True)
        self.plane, self.path, self.see = plane, path, see
        self.objects, self.lock = {}, threading.Lock()  # by uid
        self.failure, self.stopped, self.version, self.events = None, False, None, 0
        self.connection = self.connect()
        self.list()
        self.start()

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.plane.port, timeout=600, context=self.plane.context)

    def ask(self, query):
        for fresh in (False, True):
            try:
                self.connection.request("GET", f"{self.path}{query}", headers={"Authorization": "Bearer admin-token"})
                return self.connection.getresponse()
            except (OSError, http.client.HTTPException):
                if fresh:
                    raise
                self.connection.close()
                self.connection = self.connect()

    def list(self):
        answer = json.loads(self.ask("").read())
        found = {o["metadata"]["uid"]: o for o in answer["items"]}
        for gone in set(self.objects) - set(found):
            self.put(gone, None)
        for uid, o in found.items():
            self.put(uid, o)
        self.version = answer["metadata"]["resourceVersion"]

    def put(self, uid, now):
        with self.lock:
            before = self.objects.pop(uid, None)
            if now:
                self.objects[uid] = now
        self.see(before, now)

    def run(self):
        try:
            while not self.stopped:
                self.watch()
        except Exception as e:  # of a connection that stop() has closed, too
            self.failure = None if self.stopped else e

    def watch(self):
        response = self.ask(f"?watch=1&allowWatchBookmarks=true&resourceVersion={self.version}")
        for line in iter(response.readline, b""):
            event = json.loads(line)
            o = event["object"]
            if event["type"] == "ERROR":
                assert o.get("code") == 410, o  # it has fallen behind
                self.connection.close()
                return self.list()
            self.version = o["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self.events += 1
                self.put(o["metadata"]["uid"], None if event["type"] == "DELETED" else o)

    def check(self):
        if self.failure:
            raise self.failure
        return self

    def items(self):
        self.check()
        with self.lock:
            return list(self.objects.values())

    def stop(self):
        self.stopped = True
        with contextlib.suppress(OSError, AttributeError):
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.join(10)
