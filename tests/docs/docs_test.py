#!/usr/bin/env python3
"""Runs the commands of the documentation: every fenced block whose info string is `sh run`, in a folder of its own with the program in PATH, and those
marked `sh run cluster` in a terminal beside a demo that has ended its play and waits, as a reader would have it.

usage: docs_test.py PROGRAM [CONTROL_PLANE_FOLDER]    exit status 1 if a block fails; the last line says how many ran
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```sh (run(?: cluster)?)\n(.*?)^```", re.M | re.S)
DEMO_PATIENCE_SECONDS = 180
BLOCK_PATIENCE_SECONDS = 120
# kwok's stages run pods for what `ashlar.dev/duration` says, also in forms that Go does not know.
DURATIONS = """
for pod in seconds=3600 days=2d; do cat <<EOF | kubectl apply -f -
apiVersion: v1
kind: Pod
metadata: {name: "runs-${pod%=*}", annotations: {ashlar.dev/duration: "${pod#*=}"}}
spec: {schedulerName: ashlar, containers: [{name: main, image: none}]}
EOF
done
kubectl wait pod/runs-seconds pod/runs-days --for=jsonpath={.status.phase}=Running --timeout=20s
sleep 2
test "$(kubectl get pod runs-seconds runs-days -o jsonpath='{.items[*].status.phase}')" = "Running Running"
"""
NEVER_FITS = 5  # exit status of `ashlar why` about a job that cannot run


def blocks():
    """(where, kind, commands) of every marked block."""
    for path in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]):
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}", match[1], match[2]


class Demo:
    """`ashlar demo --short`, with what it prints."""

    def __init__(self, program, environment):
        self.lines = []
        self.process = subprocess.Popen([program, "demo", "--short"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.strip())

    def wait_until_it_waits(self):
        deadline = time.monotonic() + DEMO_PATIENCE_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if any(line.startswith("Ctrl-C ends it") for line in self.lines):
                return
            time.sleep(0.1)
        self.process.kill()
        raise SystemExit("the demo did not come to its end:\n" + "\n".join(self.lines[-20:]))

    def proposals(self):
        """The variables and the three commands that it prints at its end."""
        start = next(i for i, line in enumerate(self.lines) if line.startswith("export KUBECONFIG="))
        variables = dict(word.split("=", 1) for word in self.lines[start].split()[1:])
        return variables, [line for line in self.lines[start + 1:start + 4] if line]

    def names_that_why_knows(self, proposed):
        """Do its news call the job that can never run as it proposes to ask for it?"""
        asked = next(line for line in proposed if " why " in line).rsplit(" ", 1)[-1]
        return any(f"~ {asked} (" in line for line in self.lines)

    def end(self, kubeconfig):
        """As Ctrl-C does; says what is wrong afterwards."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        if pathlib.Path(kubeconfig).exists():
            return f"the demo left {kubeconfig} behind"
        if self.process.returncode != 0:
            return f"the demo ended with status {self.process.returncode}:\n" + "\n".join(self.lines[-5:])
        return ""


def run(where, commands, environment):
    with tempfile.TemporaryDirectory(prefix="ashlar-docs-") as folder:
        for name in ("examples", "tests", "deploy", "build"):
            if (ROOT / name).exists():
                os.symlink(ROOT / name, pathlib.Path(folder) / name)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=BLOCK_PATIENCE_SECONDS, check=False)
    print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {where}", flush=True)
    if done.returncode != 0:
        print(f"{commands}\n-- status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.returncode == 0


def run_beside_demo(program, environment, marked):
    demo = Demo(str(program), environment)
    demo.wait_until_it_waits()
    variables, commands = demo.proposals()
    environment = dict(environment, **variables)
    results = [demo.names_that_why_knows(commands)]
    print(f"{'ok    ' if results[0] else 'FAILED'} the demo's news name a job as it is to be asked for")
    for command in commands:
        about_the_impossible = f" || test $? = {NEVER_FITS}" if " why " in command else ""
        results.append(run("what the demo proposes: " + command.rsplit("/bin/", 1)[-1], command + about_the_impossible, environment))
    results += [run(where, commands, environment) for where, commands in [*marked, ("deploy/kwok-stages.yaml", DURATIONS)]]
    trouble = demo.end(variables["KUBECONFIG"])
    print(trouble or "ok     the demo's end")
    return [*results, not trouble]


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    assets = sys.argv[2] if len(sys.argv) > 2 else ""
    environment = dict(os.environ, PATH=f"{program.parent}:{assets}:{os.environ['PATH']}", NO_COLOR="1")
    environment.pop("KUBECONFIG", None)
    if assets:
        environment["ASHLAR_ASSETS"] = assets
    everything = list(blocks())
    results = [run(where, commands, environment) for where, kind, commands in everything if kind == "run"]
    marked = [(where, commands) for where, kind, commands in everything if kind == "run cluster"]
    if assets:
        results += run_beside_demo(program, environment, marked)
    else:
        print(f"skipped {len(marked)} blocks that need a control plane")
    print(f"{sum(results)} of {len(results)} blocks ran as the documentation says")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
