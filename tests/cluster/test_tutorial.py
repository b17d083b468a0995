"""docs/tutorial-cluster.md on a real control plane: each command is typed, each output compared; the rules are in
tests/e2e/tutorial.py. With --write the page gets what is printed now.

What of a cluster is missing here is stood in for: pods are kwok's, so a daemon runs beside the Deployment, as its service
account, once its rollout is asked for; and the API server reaches it by a Service that is a name, localhost. The image is
neither built nor pushed (tests/container does build its files)."""
import shutil, sys

from controlplane import free_port
from work_scene import *
import tutorial

LOCAL = "visibility-of-the-tutorial"
SERVICES = "/api/v1/namespaces/kueue-system/services"


class Administrator(tutorial.Reader):
    """With a kubeconfig of the cluster that the page may change."""

    def server(self):
        config = self.home / "kubeconfig"
        shutil.copy(plane().run / "admin.kubeconfig", config)
        self.daemon = None
        return {"KUBECONFIG": str(config)}

    def close(self):
        try:
            super().close()
        finally:
            plane().kubectl("delete", "--ignore-not-found", "-k", ROOT / "deploy/kubernetes/visibility")
            plane().request("DELETE", f"{SERVICES}/{LOCAL}")
            if self.daemon:
                self.daemon.stop()

    def type(self, command):
        if "rollout status" in command:
            self.port = free_port()
            self.daemon = ClusterDaemon(plane(), options=["--visibility-listen", f"127.0.0.1:{self.port}"]).start()
        printed = super().type(command)
        if command == "kubectl apply -k deploy/kubernetes/visibility":
            self.lead_to_the_daemon()
        return printed

    def lead_to_the_daemon(self):
        name = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": LOCAL, "namespace": "kueue-system"},
                "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"name": "https", "port": self.port}]}}
        assert plane().request("POST", SERVICES, name)[0] == 201
        for version in ("v1beta2", "v1beta1"):
            service = {"spec": {"service": {"name": LOCAL, "namespace": "kueue-system", "port": self.port}}}
            answer = plane().request("PATCH", f"/apis/apiregistration.k8s.io/v1/apiservices/{version}.visibility.kueue.x-k8s.io",
                                     service, "application/merge-patch+json")
            assert answer[0] == 200, answer


class Tutorial(unittest.TestCase):
    maxDiff = None

    def test_each_command_shows_what_the_page_says(self):
        page = (ROOT / "docs/tutorial-cluster.md").read_text()
        different, _ = tutorial.follow(page, reader=Administrator)
        self.assertEqual(different, [], "tests/cluster/test_tutorial.py --write docs/tutorial-cluster.md shows the difference")


if __name__ == "__main__":
    tutorial.main(sys.argv[2:], Administrator)
