"""What the verbs print with -o json, against docs/reference/json.md: every field has a row there and the type that it gives, and every row of these kinds
is a field that some command printed. The read API's own kinds are checked where its answers are made (tests/unit/live)."""
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60

PACKING = "sim packing --nodes nodes.csv --pods pods.csv --arrivals arrivals.csv"
# (command, kind, exit status)
PRINTED = [
    (f"{PACKING} --policy best-fit,random -o json", "PackingRunList", 0),
    ("sim queue --policy fifo --jobs jobs.csv --vcs vcs.csv -o json", "QueueRunList", 0),
    ("sim run random.yaml --policy fifo,sjf -o json", "QueueRunList", 0),
    ("case good.case other.case bad.case -o json", "CaseReport", 2),
    ("case again.case --update -o json", "CaseReport", 0),
    ("version -o json", "Version", 0),
]


def documented():
    """{kind: {field: types}}; those of every document under ""."""
    kinds, kind = {"": {}}, ""
    for line in (ROOT / "docs/reference/json.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            kind = line[3:]
            kinds[kind] = {}
        elif line.startswith("| `"):
            names, types = line.split(" | ")[:2]
            kinds[kind].update({name: types.split(" or ") for name in re.findall(r"`([^`]+)`", names)})
    return kinds


def fields_of(value, path=""):
    """(field, type) of everything in a document."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from fields_of(member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for element in value:
            yield from fields_of(element, path + "[]")
    else:
        names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
        yield path, names[type(value)]


def is_field(path, field):
    return re.fullmatch(re.escape(field).replace(r"\*", ".+"), path)


def check_kind(kind, documents, everything):
    rows = {**everything[""], **everything.get(kind, {})}
    seen, wrong = set(), set()
    for field, found in {pair for document in documents for pair in fields_of(document)}:
        names = [name for name in rows if is_field(field, name)]
        seen.update(names)
        if not any(found in rows[name] or (found == "integer" and "number" in rows[name]) for name in names):
            wrong.add(f"{field} ({found}) is not documented")
    wrong |= {f"{name} is documented, and nothing prints it" for name in rows if name not in seen}
    print(f"{'FAILED' if wrong else 'ok    '} json: {kind} is what docs/reference/json.md says")
    for what in sorted(wrong):
        print(f"       {what}")
    return not wrong


def check_json(program, folder, more=()):
    """`more`: documents that other tests made the program print."""
    source = "# A.\nnode n0  h100x8\njob a  1 gpu  at 0s\n---- at 0s\n"
    for name, text in {"good.case": source + "a  n0 gpu 0\n", "other.case": source + "a  n0 gpu 7\n", "again.case": source, "bad.case": "nonsense\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    everything, results, by_kind = documented(), [], {}
    for document in more:
        by_kind.setdefault(document["kind"], []).append(document)
    for command, kind, status in PRINTED:
        done = subprocess.run([program, *command.split()], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        try:
            document = json.loads(done.stdout)
        except ValueError:
            document = {}
        good = done.returncode == status and document.get("kind") == kind and document.get("apiVersion") == "ashlar.dev/v1alpha1"
        print(f"{'ok    ' if good else 'FAILED'} json: ashlar {command}")
        if not good:
            print(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
        results.append(good)
        by_kind.setdefault(document.get("kind", ""), []).append(document)
    results += [check_kind(kind, documents, everything) for kind, documents in sorted(by_kind.items())]
    return results
