#!/usr/bin/env python3
"""Upstream's own end-to-end specs of scheduling, with Ashlar as the only scheduler.

    ./dev bench e2e [--focus RE]               exit status 1 if a spec fails or is skipped that excused.toml does not excuse, or an excused one passes
    ./dev bench e2e --list                     names of the specs
    ./dev bench e2e --scheduler kube-scheduler the same with upstream's, to tell what needs a kubelet from what is ours

Builds the suite and kube-controller-manager first (once, about eight minutes on two cores). The suite runs on a real API server with four nodes of kwok.
An excused spec gets --patience seconds to show that it passes after all; --skip-excused leaves them out. Logs and reports: build/e2e.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "tests/controlplane/build.sh"
BINARIES = ("etcd", "kube-apiserver", "kubectl", "kwok", "kube-controller-manager", "e2e.test")


def pattern(text):
    try:
        return re.compile(text)
    except re.error as wrong:
        raise argparse.ArgumentTypeError(f"not a regular expression: {wrong}") from wrong


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--focus", type=pattern, default="", metavar="RE", help="only specs whose name this regular expression finds")
    parser.add_argument("--list", action="store_true", help="print the names of the specs")
    parser.add_argument("--scheduler", choices=("ashlar", "kube-scheduler"), default="ashlar")
    parser.add_argument("--patience", type=int, default=60, metavar="SECONDS", help="time that an excused spec gets (default 60)")
    parser.add_argument("--skip-excused", action="store_true", help="do not run what the table excuses")
    return parser.parse_args()


def main():
    chosen = arguments()
    binaries = BINARIES + (("kube-scheduler",) if chosen.scheduler == "kube-scheduler" else ())
    subprocess.run([BUILD, "--fetch", *binaries], check=True)
    assets = subprocess.run([BUILD, *binaries], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    subprocess.run([ROOT / "dev", "build", "ashlar", "with_cluster"], check=True, stdout=subprocess.DEVNULL)
    suite = [sys.executable, str(ROOT / "bench/e2e/suite.py"), *sys.argv[1:]]
    command = suite if chosen.list else [str(ROOT / "build/release/bin/with_cluster"), *suite]
    return subprocess.run(command, env={**os.environ, "ASHLAR_ASSETS": assets}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
