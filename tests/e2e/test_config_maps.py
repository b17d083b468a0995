"""ConfigMaps, Secrets and ServiceAccounts of standalone mode: kept as on a cluster, and not shown to those who may not see them."""
import base64, json, unittest
from daemon import *

CORE = "/api/v1/namespaces/default"


class ConfigMaps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def ask(self, method, path, body=None):
        return self.daemon.request(method, f"{CORE}/{path}", body)

    def patch(self, path, body):
        return self.daemon.request("PATCH", f"{CORE}/{path}", body, "application/merge-patch+json")

    def refused(self, answer, field, reason):
        status, body = answer
        self.assertEqual(status, 422, body)
        self.assertIn((field, reason), [(c["field"], c["reason"]) for c in body["details"]["causes"]])
        return body["message"]

    def test_kubectl_creates_them(self):
        file = self.daemon.home / "bytes"
        file.write_bytes(b"\0\xff")
        self.daemon.kubectl("create", "configmap", "made", "--from-literal=a=b", f"--from-file=bytes={file}")
        made = self.ask("GET", "configmaps/made")[1]
        self.assertEqual((made["data"], made["binaryData"]), ({"a": "b"}, {"bytes": "AP8="}))
        self.assertNotIn("generation", made["metadata"])
        self.daemon.kubectl("create", "secret", "generic", "made", "--from-literal=p=q")
        self.assertEqual(self.ask("GET", "secrets/made")[1]["data"], {"p": "cQ=="})
        self.daemon.kubectl("create", "serviceaccount", "made")
        out = self.daemon.kubectl("get", "cm,secret,sa").stdout
        self.assertRegex(out, r"configmap/made +2 ")
        self.assertRegex(out, r"secret/made +Opaque +1 ")
        self.assertRegex(out, r"serviceaccount/made +")
        self.assertIn("q", self.daemon.kubectl("get", "secret", "made", "-o", "go-template={{.data.p | base64decode}}").stdout)

    def test_texts_of_a_secret_become_data(self):
        status, made = self.ask("POST", "secrets", {"metadata": {"name": "texts"}, "data": {"a": "eA==", "b": "eA=="},
                                                    "stringData": {"b": "é", "c": ""}})
        self.assertEqual(status, 201, made)
        self.assertEqual(made["data"], {"a": "eA==", "b": base64.b64encode("é".encode()).decode(), "c": ""})
        self.assertNotIn("stringData", made)
        self.assertEqual(self.patch("secrets/texts", {"stringData": {"a": "y"}})[1]["data"]["a"], "eQ==")
        self.refused(self.ask("POST", "secrets", {"metadata": {"name": "odd"}, "stringData": {"a": 5}}), "stringData[a]", "FieldValueTypeInvalid")
        self.refused(self.ask("POST", "secrets", {"metadata": {"name": "odd"}, "data": [], "stringData": {"a": "b"}}), "data",
                     "FieldValueTypeInvalid")

    def test_promise_not_to_change_is_kept(self):
        for kind, change in (("configmaps", {"data": {"a": "c"}}), ("configmaps", {"binaryData": {"z": "AA=="}}),
                             ("configmaps", {"immutable": None}), ("secrets", {"data": {"a": "eA=="}}),
                             ("secrets", {"stringData": {"a": "other"}}), ("secrets", {"immutable": False})):
            self.ask("POST", kind, {"metadata": {"name": "fixed"}, "immutable": True, "data": {"a": "YQ=="}})
            before = self.ask("GET", f"{kind}/fixed")[1]
            member = "data" if "stringData" in change else next(iter(change))
            self.refused(self.patch(f"{kind}/fixed", change), member, "FieldValueForbidden")
            self.assertEqual(self.ask("GET", f"{kind}/fixed")[1], before)
            self.assertEqual(self.patch(f"{kind}/fixed", {"metadata": {"labels": {"a": "b"}}})[0], 200)
        self.refused(self.patch("secrets/fixed", {"type": "other"}), "type", "FieldValueInvalid")

    def test_what_makes_no_sense_is_refused(self):
        def config(**members):
            return self.ask("POST", "configmaps", {"metadata": {"name": "bad"}, **members})

        def secret(**members):
            return self.ask("POST", "secrets", {"metadata": {"name": "bad"}, **members})
        for key in ("a/b", "", "..", "..a"):
            self.refused(config(data={key: "b"}), f"data[{key}]", "FieldValueInvalid")
        self.assertIn("253 characters", config(data={"x" * 254: "b"})[1]["message"])
        self.refused(config(data={"a": "b"}, binaryData={"a": "AA=="}), "data[a]", "FieldValueInvalid")
        self.assertNotIn("hidden", self.refused(secret(data={"a": "hidden?"}), "data[a]", "FieldValueInvalid"))
        self.refused(config(data={"a": "x" * 1048577}), "data", "FieldValueTooLong")
        for kind, field in (("tls", "data[tls.crt]"), ("tls", "data[tls.key]"), ("ssh-auth", "data[ssh-privatekey]"),
                            ("basic-auth", "data[password]"), ("dockerconfigjson", "data[.dockerconfigjson]")):
            self.refused(secret(type=f"kubernetes.io/{kind}", data={"other": "AA=="}), field, "FieldValueRequired")
        self.assertEqual(secret(type="kubernetes.io/basic-auth", data={"username": "AA=="})[0], 201)
        self.assertEqual(self.ask("DELETE", "secrets/bad")[0], 200)

    def test_no_dump_shows_them(self):
        self.ask("POST", "secrets", {"metadata": {"name": "quiet"}, "stringData": {"a": "never-to-be-seen"}})
        encoded = base64.b64encode(b"never-to-be-seen").decode()
        self.daemon.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "applied"},
                                                                  "stringData": {"a": "never-to-be-seen"}}))
        status, dump = self.daemon.request("GET", "/apis/visibility.kueue.x-k8s.io/v1beta2/dump")
        self.assertEqual(status, 200, dump)
        dump = json.dumps(dump)
        self.assertIn('"quiet"', dump)
        self.assertNotIn(encoded, dump)
        self.assertNotIn("never-to-be-seen", dump)
        self.assertNotIn("never-to-be-seen", self.daemon.log_text())

    def test_they_go_with_their_namespace_and_stay_over_a_restart(self):
        d = Daemon().start()
        self.addCleanup(d.close)
        d.kubectl("create", "namespace", "short")
        d.kubectl("create", "secret", "generic", "s", "-n", "short", "--from-literal=a=b")
        d.kubectl("create", "configmap", "kept", "--from-literal=a=b")
        d.kubectl("delete", "namespace", "short", "--timeout=20s")
        d.stop()
        d.start()
        self.assertEqual(d.request("GET", "/api/v1/secrets")[1]["items"], [])
        self.assertEqual(d.request("GET", f"{CORE}/configmaps/kept")[1]["data"], {"a": "b"})


if __name__ == "__main__":
    unittest.main()
