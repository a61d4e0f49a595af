#!/usr/bin/env python3
"""`./dev demo` while its control plane is being built: dev.d/demo.sh with the real program, and a script in place of tests/controlplane/build.sh.

    tests/demo/demo_test.py build/release/bin/ashlar
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build/release/bin/ashlar"
PATIENCE_SECONDS = 60
IS_SIMULATED = "same engine, simulated; Kubernetes is being built: 0 of about 2 min"
REAL_BEGINS = "Kubernetes is built: now the same jobs on a real control plane"

# The build: $FOLDER/plan names what it does; the "binaries" that it leaves end at once.
FAKE_BUILD = """#!/usr/bin/env bash
set -eu
binaries() { for b in "$@"; do [ -x "$FOLDER/bin/$b" ] || echo "$b"; done; }
case $1 in
  --where) echo "$FOLDER/bin"; exit ;;
  --missing) shift; binaries "$@"; exit ;;
  --seconds) echo 100; exit ;;
  --fetch) echo "fetched" >>"$FOLDER/calls"; exit ;;
esac
echo "build $*" >>"$FOLDER/calls"
echo $$ >"$FOLDER/builder"
sleep 300 & echo $! >"$FOLDER/compiler"
nice >"$FOLDER/niceness"
sleep "$(sed -n 's/^seconds //p' "$FOLDER/plan")"
if grep -q fails "$FOLDER/plan"; then echo "kwok.go:1: no such package" >&2; kill %1; exit 1; fi
for b in etcd kube-apiserver kwok; do
  printf '#!/bin/sh\\necho "not a real %s"; exit 3\\n' "$b" >"$FOLDER/bin/.$b"; chmod +x "$FOLDER/bin/.$b"; mv "$FOLDER/bin/.$b" "$FOLDER/bin/$b"
done
kill %1
"""

# What ./dev does before it calls run_demo, without installing or compiling.
HARNESS = """set -euo pipefail
root=$FOLDER bin=$FOLDER controlplane=$FOLDER/build.sh
ensure_packages() { :; }
build_targets() { echo "built $*"; }
source "$DEMO_SH"
run_demo "$@"
"""


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class DemoWithoutControlPlane(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)
        for name in ("bin", "build", "home"):
            (self.folder / name).mkdir()
        (self.folder / "ashlar").symlink_to(PROGRAM)
        (self.folder / "build.sh").write_text(FAKE_BUILD)
        (self.folder / "build.sh").chmod(0o755)
        (self.folder / "harness.sh").write_text(HARNESS)

    def start(self, plan, *options):
        (self.folder / "plan").write_text(plan)
        environment = {k: v for k, v in os.environ.items() if k not in ("KUBEBUILDER_ASSETS", "XDG_CACHE_HOME")}
        environment.update(FOLDER=str(self.folder), DEMO_SH=str(ROOT / "dev.d/demo.sh"), HOME=str(self.folder / "home"))
        self.output = open(self.folder / "output", "w+")
        self.addCleanup(self.output.close)
        # Python ignores nothing, but a shell's background job ignores SIGINT: the group gets it as from a terminal.
        return subprocess.Popen(["bash", str(self.folder / "harness.sh"), *options], env=environment, stdout=self.output, stderr=subprocess.STDOUT,
                                start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))

    def finish(self, process):
        try:
            status = process.wait(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail("it does not end:\n" + self.printed())
        return status, self.printed()

    def printed(self):
        return (self.folder / "output").read_text()

    def await_words(self, words):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while words not in self.printed():
            self.assertLess(time.monotonic(), deadline, self.printed())
            time.sleep(0.05)

    def assert_no_children(self):
        for name in ("builder", "compiler"):
            pid = int((self.folder / name).read_text())
            deadline = time.monotonic() + 5
            while is_alive(pid) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertFalse(is_alive(pid), f"the {name} lives on")

    def test_the_program_is_built_first_and_plays_until_the_control_plane_is_there(self):
        status, printed = self.finish(self.start("seconds 5", "--no-wait", "--short"))
        order = [printed.find(words) for words in ("built release ashlar", IS_SIMULATED, "+ demo/fill-0 (vision)  8 x 6 GPUs in rack", "~ demo/foundation (language)  waits: the best rack",
                                                   REAL_BEGINS, "starting etcd and kube-apiserver")]
        self.assertNotIn(-1, order, printed)
        self.assertEqual(order, sorted(order), printed)
        self.assertEqual(status, 1, "the etcd of this test ends at once")
        self.assertIn("not a real etcd", printed)
        calls = (self.folder / "calls").read_text().splitlines()
        self.assertEqual(calls, ["fetched", "build etcd kube-apiserver kwok kube-scheduler kubectl"])
        self.assertGreaterEqual(int((self.folder / "niceness").read_text()), min(os.nice(0) + 10, 19))
        self.assert_no_children()

    def test_with_everything_built_nothing_of_that_appears(self):
        for name in ("etcd", "kube-apiserver", "kwok", "kube-scheduler", "kubectl"):
            (self.folder / "bin" / name).write_text("#!/bin/sh\nexit 3\n")
            (self.folder / "bin" / name).chmod(0o755)
        _, printed = self.finish(self.start("seconds 0", "--no-wait", "--short"))
        self.assertNotIn("simulated", printed)
        self.assertNotIn(REAL_BEGINS, printed)
        self.assertIn("starting etcd and kube-apiserver", printed)
        self.assertFalse((self.folder / "calls").exists())

    def test_a_build_that_fails_is_an_error_that_names_its_log(self):
        status, printed = self.finish(self.start("seconds 1\nfails", "--no-wait", "--short"))
        self.assertEqual(status, 1, printed)
        self.assertIn(IS_SIMULATED, printed)
        self.assertIn(f"ashlar demo: the build of the control plane has ended without etcd; the whole log is {self.folder}/build/controlplane.log", printed)
        self.assertIn("kwok.go:1: no such package", printed)

    def test_an_interrupt_ends_the_program_and_the_build(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                process = self.start("seconds 300", "--short")
                self.await_words("+ demo/fill-0 (vision)")
                os.killpg(process.pid, number)
                _, printed = self.finish(process)
                self.assertNotIn(REAL_BEGINS, printed)
                self.assertNotIn("starting etcd", printed)
                self.assert_no_children()

    def test_on_a_terminal_the_picture_ends_with_the_cursor_shown(self):
        import pty
        (self.folder / "plan").write_text("seconds 2")
        environment = {k: v for k, v in os.environ.items() if k not in ("KUBEBUILDER_ASSETS", "XDG_CACHE_HOME", "NO_COLOR")}
        environment.update(FOLDER=str(self.folder), DEMO_SH=str(ROOT / "dev.d/demo.sh"), HOME=str(self.folder / "home"), TERM="xterm-256color")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe("bash", ["bash", str(self.folder / "harness.sh"), "--no-wait", "--short"], environment)
        shown = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        os.waitpid(pid, 0)
        shown = shown.decode()
        self.assertIn(IS_SIMULATED, shown)
        self.assertLess(shown.find("\x1b[?25l"), shown.find("\x1b[?25h"))
        self.assertLess(shown.find("\x1b[?25h"), shown.find(REAL_BEGINS))


if __name__ == "__main__":
    unittest.main(verbosity=2)
