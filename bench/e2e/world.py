"""The cluster of a run: nodes of kwok in two zones, kube-controller-manager and one scheduler, on the API server of $KUBECONFIG. All programs end with it."""
import json
import os
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSETS = Path(os.environ["ASHLAR_ASSETS"])
NODES = 4  # one spec polls ten pods a node in turn, a second each, and has 79 s
CAPACITY = {"cpu": "32", "memory": "128Gi", "ephemeral-storage": "400Gi", "hugepages-1Gi": "0", "hugepages-2Mi": "0", "pods": "110"}
RESERVED = {**CAPACITY, "cpu": "31500m", "memory": "126Gi", "ephemeral-storage": "360Gi"}
GATES = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
READY_SECONDS = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def node(index):
    """Two nodes a zone, one of them with eight GPUs."""
    name, has_gpus = f"node-{index}", index % 2 == 0
    gpus = {"nvidia.com/gpu": "8"} if has_gpus else {}
    labels = {
        "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/region": "region-1", "topology.kubernetes.io/zone": f"zone-{index // 2}",
    }
    if has_gpus:
        labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3"
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {
            "capacity": {**CAPACITY, **gpus}, "allocatable": {**RESERVED, **gpus},
            "addresses": [{"type": "InternalIP", "address": f"10.0.0.{index + 1}"}, {"type": "Hostname", "address": name}],
            "nodeInfo": {
                "architecture": "amd64", "operatingSystem": "linux", "bootID": "", "containerRuntimeVersion": "kwok", "kernelVersion": "",
                "kubeProxyVersion": "", "kubeletVersion": "v1.37.1", "machineID": "", "osImage": "", "systemUUID": "",
            },
        },
    }


def daemons(index):
    """What runs on each node of a real cluster; the suite waits a minute for each of these before some of its specs."""
    return [{
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-node-{index}", "namespace": "kube-system", "labels": {"daemon": name}},
        "spec": {
            "nodeName": f"node-{index}", "priorityClassName": "system-node-critical", "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "main", "image": name, "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}],
        },
    } for name in ("kube-proxy", "fluentd-elasticsearch", "node-problem-detector")]


class World:
    """Entered, it starts everything and waits until all nodes are ready. `logs` is the folder of the programs' output."""

    def __init__(self, scheduler, logs):
        self.scheduler, self.kubeconfig, self.plane, self.logs = scheduler, os.environ["KUBECONFIG"], Path(os.environ["ASHLAR_CLUSTER_LOGS"]), logs
        self.programs = {}

    def start_all(self):
        self.kubectl("apply", *(f"--filename={ROOT}/deploy/{file}.yaml" for file in ("namespace", "rbac", "cards-policy")))
        objects = [made for index in range(NODES) for made in (node(index), *daemons(index))]
        self.kubectl("create", "--filename=-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        self.start("kwok", ASSETS / "kwok", f"--config={ROOT}/bench/e2e/stages.yaml", "--manage-all-nodes", "--node-lease-duration-seconds=40",
                   f"--server-address=127.0.0.1:{free_port()}")
        self.start("kube-controller-manager", ASSETS / "kube-controller-manager", "--leader-elect=false", "--bind-address=127.0.0.1",
                   f"--secure-port={free_port()}", f"--cert-dir={self.plane}/controllers", f"--feature-gates={GATES}",
                   f"--service-account-private-key-file={self.plane}/service-account.key", f"--root-ca-file={self.plane}/certs/apiserver.crt")
        self.start_scheduler()
        self.await_nodes()

    def start_scheduler(self):
        scheduler = self.scheduler
        if scheduler == "kube-scheduler":
            self.start(scheduler, ASSETS / scheduler, "--leader-elect=false", "--bind-address=127.0.0.1", f"--secure-port={free_port()}",
                       f"--cert-dir={self.plane}/scheduler", f"--feature-gates={GATES}")
            return
        own = self.plane / "ashlar-kubeconfig"  # the rights that deploy/rbac.yaml grants, no others
        own.write_text(Path(self.kubeconfig).read_text(encoding="utf-8").replace("ashlar-test-token", "ashlar-scheduler-token"), encoding="utf-8")
        configuration = self.plane / "ashlar.yaml"
        configuration.write_text("apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\nschedulerNames: [default-scheduler]\n"
                                 "leaderElection: {namespace: ashlar}\n", encoding="utf-8")
        self.start(scheduler, ROOT / "build/release/bin/ashlar", "scheduler", f"--config={configuration}", f"--listen=127.0.0.1:{free_port()}",
                   kubeconfig=own)

    def start(self, name, binary, *flags, kubeconfig=None):
        with open(self.logs / f"{name}.log", "w", encoding="utf-8") as log:
            command = [binary, *flags, f"--kubeconfig={kubeconfig or self.kubeconfig}"]
            self.programs[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def kubectl(self, *words, text=None):
        command = [ASSETS / "kubectl", f"--kubeconfig={self.kubeconfig}", f"--cache-dir={self.plane}/kubectl", *words]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def await_nodes(self):
        """Ready, and without the taint that they are born with."""
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            nodes = json.loads(self.kubectl("get", "nodes", "--output=json"))["items"]
            if len(nodes) == NODES and not any(found["spec"].get("taints") for found in nodes):
                return
            self.require_programs()
            time.sleep(0.5)
        raise RuntimeError(f"the nodes are not ready within {READY_SECONDS} s; logs are in {self.logs}")

    def sweep(self):
        """Removes what a spec that was stopped may have left where the next one looks. (The suite's --clean-start would take our namespace too.)"""
        pods = json.loads(self.kubectl("get", "pods", "--all-namespaces", "--output=json"))["items"]
        for named in (pod["metadata"] for pod in pods if pod["metadata"].get("finalizers")):
            self.kubectl("patch", "pod", named["name"], f"--namespace={named['namespace']}", "--type=merge", '--patch={"metadata":{"finalizers":null}}')
        self.kubectl("delete", "pods", "--namespace=kube-system", "--selector=!daemon", "--timeout=60s")
        self.kubectl("delete", "namespaces", "--selector=e2e-framework", "--timeout=120s")

    def require_programs(self):
        for name, program in self.programs.items():
            if program.poll() is not None:
                raise RuntimeError(f"{name} has ended with status {program.returncode}; its log is {self.logs}/{name}.log")

    def __enter__(self):
        try:
            self.start_all()
        except BaseException:
            self.stop_all()
            raise
        return self

    def __exit__(self, *_):
        self.stop_all()

    def stop_all(self):
        for program in reversed(self.programs.values()):
            program.terminate()
        for program in self.programs.values():
            try:
                program.wait(timeout=20)
            except subprocess.TimeoutExpired:
                program.kill()
