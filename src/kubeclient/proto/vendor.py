#!/usr/bin/env python3
"""Writes the protobuf messages of Kubernetes that Ashlar reads, from upstream's own generated.proto files.

  python3 src/kubeclient/proto/vendor.py        modules as tests/controlplane/kubernetes/go.mod pins them (asks `go`)
  python3 src/kubeclient/proto/vendor.py --check the same, but only says whether the files here are what it would write

Whole messages that no root reaches are left out, fields never; comments go, the licence stays. A map is written as what
it is on the wire, repeated pairs: same bytes, in the order of the message, without a hash table. Beside the messages it
writes wire_schema.inc: for each message its field numbers and the messages that they hold, for the walk over raw bytes.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PINS = HERE.parents[2] / "tests" / "controlplane" / "kubernetes"
MODULES = {"k8s.io/api": "k8s.io/api", "k8s.io/apimachinery": "k8s.io/apimachinery"}
APPS = "k8s.io/api/apps/v1"
CORE = "k8s.io/api/core/v1"
STORAGE = "k8s.io/api/storage/v1"
META = "k8s.io/apimachinery/pkg/apis/meta/v1"
RUNTIME = "k8s.io/apimachinery/pkg/runtime"

# What is read or written. Everything that they reach comes with them.
ROOTS = {
    APPS: ["ReplicaSet", "ReplicaSetList", "StatefulSet", "StatefulSetList"],
    CORE: ["Pod", "PodList", "Node", "NodeList", "Binding", "PersistentVolumeClaim", "PersistentVolumeClaimList",
           "PersistentVolume", "PersistentVolumeList", "Service", "ServiceList", "ReplicationController",
           "ReplicationControllerList"],
    STORAGE: ["StorageClass", "StorageClassList", "CSINode", "CSINodeList", "CSIDriver", "CSIDriverList",
              "CSIStorageCapacity", "CSIStorageCapacityList", "VolumeAttachment", "VolumeAttachmentList"],
    META: ["Status", "WatchEvent"],
    RUNTIME: ["Unknown"],
}

LICENCE = """// Copyright The Kubernetes Authors.
// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Written by vendor.py from {module} {version}, {path}/generated.proto: whole messages are left out, fields never.
"""

PAIRS = {"string": ".ashlar.kube.pb.StringPair", ".k8s.io.apimachinery.pkg.api.resource.Quantity": ".ashlar.kube.pb.QuantityPair"}

SCALARS = {"double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
           "sfixed64", "bool", "string", "bytes"}
FIELD = re.compile(r"^(?:(optional|repeated)\s+)?(map<\s*\w+\s*,\s*[\w.]+\s*>|[\w.]+)\s+(\w+)\s*=\s*(\d+)\s*(?:\[.*\])?$")


class Problem(Exception):
    pass


def without_comments(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


class Package:
    """One generated.proto: its package, its imports and its messages as (type, name, number, label) rows."""

    def __init__(self, path, text):
        self.path = path
        text = without_comments(text)
        self.name = re.search(r"^\s*package\s+([\w.]+)\s*;", text, re.M).group(1)
        self.messages = {}
        for match in re.finditer(r"message\s+(\w+)\s*\{(.*?)\}", text, re.S):
            self.messages[match.group(1)] = self.fields_of(match.group(1), match.group(2))
        rest = re.sub(r"message\s+\w+\s*\{.*?\}", "", text, flags=re.S)
        rest = re.sub(r"^\s*(syntax|package|import|option)\b[^;]*;", "", rest, flags=re.M).strip()
        if rest:
            raise Problem(f"{path}: not understood: {rest[:80]}")

    def fields_of(self, message, body):
        fields = []
        for statement in filter(None, (part.strip() for part in body.split(";"))):
            if statement.startswith("reserved"):
                fields.append((None, None, statement, None))
                continue
            match = FIELD.match(" ".join(statement.split()))
            if not match:
                raise Problem(f"{self.path}: field of {message} not understood: {statement}")
            label, kind, name, number = match.groups()
            fields.append((label, kind, name, int(number)))
        return fields

    def held_by(self, message):
        """The types that the fields of a message hold, as written."""
        for label, kind, _, _ in self.messages[message]:
            if kind is None:
                continue
            kind = map_value(kind) or kind
            if kind not in SCALARS:
                yield kind


class Upstream:
    def __init__(self, folders):
        self.folders = folders  # module -> (folder, version)
        self.packages = {}      # path -> Package

    def package(self, path):
        if path not in self.packages:
            module = next(m for m in self.folders if path.startswith(m + "/"))
            file = pathlib.Path(self.folders[module][0]) / path[len(module) + 1:] / "generated.proto"
            if not file.exists():
                raise Problem(f"{file} is missing")
            self.packages[path] = Package(path, file.read_text(encoding="utf-8"))
        return self.packages[path]

    def origin(self, path):
        module = next(m for m in self.folders if path.startswith(m + "/"))
        return module, self.folders[module][1]

    def resolve(self, path, kind):
        """(package path, message) of a type named in a package."""
        if not kind.startswith("."):
            return path, kind
        package, message = kind[1:].rsplit(".", 1)
        return "k8s.io/" + package[len("k8s.io."):].replace(".", "/"), message

    def reachable(self, roots):
        seen, todo = set(), [(path, name) for path, names in roots.items() for name in names]
        while todo:
            path, name = todo.pop()
            if (path, name) in seen:
                continue
            if name not in self.package(path).messages:
                raise Problem(f"{path} has no message {name}")
            seen.add((path, name))
            todo += [self.resolve(path, kind) for kind in self.package(path).held_by(name)]
        return seen


def map_value(kind):
    """The type of a map's values; none if the type is no map."""
    match = re.match(r"^map<\s*string\s*,\s*([\w.]+)\s*>$", kind)
    return match.group(1) if match else None


def proto_text(upstream, path, names):
    package = upstream.package(path)
    module, version = upstream.origin(path)
    lines = [LICENCE.format(module=module, version=version, path=path).rstrip("\n"), 'syntax = "proto2";', "",
             f"package {package.name};", ""]
    imports = {f"{other}/generated.proto" for name in names for kind in package.held_by(name)
               for other, _ in [upstream.resolve(path, kind)] if other != path}
    if any(kind and map_value(kind) for name in names for _, kind, _, _ in package.messages[name]):
        imports.add("pairs.proto")
    lines += [f'import "{file}";' for file in sorted(imports)]
    if imports:
        lines.append("")
    lines.append("option optimize_for = LITE_RUNTIME;")
    for name in package.messages:
        if name not in names:
            continue
        lines += ["", f"message {name} {{"]
        for label, kind, field, number in package.messages[name]:
            if kind is None:
                lines.append(f"  {field};")
            elif map_value(kind):
                lines.append(f"  repeated {PAIRS[map_value(kind)]} {field} = {number};")
            else:
                lines.append(f"  {label} {kind} {field} = {number};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def schema_text(upstream, reached):
    """Rows of messages: name, then {number, message held or none, field}, in the order of their numbers."""
    rows = sorted(reached, key=lambda row: (row[1], row[0]))
    if len({name for _, name in rows}) < len(rows):
        raise Problem("two packages have a message of the same name: the walk over raw bytes needs the package too")
    index = {row: i for i, row in enumerate(rows)}
    entry = {"string": len(rows), ".k8s.io.apimachinery.pkg.api.resource.Quantity": len(rows) + 1}
    quantity = index[("k8s.io/apimachinery/pkg/api/resource", "Quantity")]
    fields, messages = [], []

    def add(name, of):
        begin = len(fields)
        fields.extend(f'    {{{number}, {held}, "{field}"}},' for number, held, field in sorted(of))
        messages.append(f'    {{"{name}", {begin}, {len(fields)}}},')

    def held_index(path, kind):
        if map_value(kind):
            return entry[map_value(kind)]
        return "kHoldsNone" if kind in SCALARS else index[upstream.resolve(path, kind)]

    for path, name in rows:
        add(name, [(number, held_index(path, kind), field)
                   for _, kind, field, number in upstream.package(path).messages[name] if kind])
    add("StringPair", [(1, "kHoldsNone", "key"), (2, "kHoldsNone", "value")])
    add("QuantityPair", [(1, "kHoldsNone", "key"), (2, quantity, "value")])
    return "\n".join(["// Written by vendor.py: the fields of each vendored message. Not to be edited.", "",
                      "inline constexpr WireField kWireFields[] = {", *fields, "};", "",
                      "inline constexpr WireMessage kWireMessages[] = {", *messages, "};"]) + "\n"


def check_depth(upstream, path, name, above):
    """Refuses messages that hold themselves: walks over raw bytes have no limit of depth."""
    if (path, name) in above:
        raise Problem(f"{name} holds itself: the walk over raw bytes needs a limit")
    for kind in upstream.package(path).held_by(name):
        check_depth(upstream, *upstream.resolve(path, kind), above | {(path, name)})


def pinned_folders():
    folders = {}
    for module in MODULES:
        out = subprocess.run(["go", "list", "-m", "-json", module], cwd=PINS, check=True, capture_output=True, text=True)
        said = json.loads(out.stdout)
        folder = said.get("Dir") or said.get("Replace", {}).get("Dir")
        if not folder:
            raise Problem(f"{module} is not in the module cache: run `go mod download {module}` in {PINS}")
        folders[module] = (folder, said.get("Replace", said)["Version"])
    return folders


def wanted_files(folders):
    upstream = Upstream(folders)
    reached = upstream.reachable(ROOTS)
    for path, names in ROOTS.items():
        for name in names:
            check_depth(upstream, path, name, frozenset())
    files = {}
    for path in sorted({path for path, _ in reached}):
        names = {name for other, name in reached if other == path}
        files[f"{path}/generated.proto"] = proto_text(upstream, path, names)
    files["wire_schema.inc"] = schema_text(upstream, reached)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    files = wanted_files(pinned_folders())
    stale = [name for name, text in files.items()
             if not (HERE / name).exists() or (HERE / name).read_text(encoding="utf-8") != text]
    present = {str(p.relative_to(HERE)) for p in HERE.glob("k8s.io/**/generated.proto")}
    gone = sorted(present - set(files))
    if args.check:
        for name in stale + gone:
            print(f"{HERE / name} is not what vendor.py writes")
        return 1 if stale or gone else 0
    for name in gone:
        (HERE / name).unlink()
    for name, text in files.items():
        (HERE / name).parent.mkdir(parents=True, exist_ok=True)
        (HERE / name).write_text(text, encoding="utf-8")
    print(f"{len(files)} files, {len(stale)} new")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Problem, subprocess.CalledProcessError, OSError) as problem:
        sys.exit(f"vendor.py: {problem}")
