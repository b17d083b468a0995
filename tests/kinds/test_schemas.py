"""The objects of the plays are such as their projects take, and nothing in them is unknown to their schemas."""
from real_scene import *


class Schemas(RealScene):
    def test_objects_and_statuses_have_known_fields_only(self):
        for name in table.plays():
            with self.subTest(name):
                play = Play(self, name)
                play.put("a", query="?fieldValidation=Strict")
                for status in getattr(play, "status", {}):
                    with self.subTest(status):
                        self.status_is_kept(play, status)

    def status_is_kept(self, play, status):
        code, answer = self.plane.request("PATCH", play.path("a") + "/status?fieldValidation=Strict", [
            {"op": "add", "path": "/status", "value": play.status[status]}], "application/json-patch+json")
        self.assertEqual(code, 200, answer)
