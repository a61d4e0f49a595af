"""The third part of tidy: classes, names and phrases. Each check takes the tree that tidy.py has read and yields (file, line, what is wrong)."""
import re
from collections import defaultdict


TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")


def class_paths(tree):
    """The full names of all classes, each namespace and outer class included: ashlar::kube::Api::Session."""
    found = set()
    for declared in tree.declared.values():
        for item in declared:
            if item.kind == "type" and not item.text.startswith(("using", "enum")):
                found.add("::".join((*item.scope, TEMPLATE_ARGUMENTS.sub("", item.name))))
    return found


def check_one_source(tree):
    """The members of one class that are defined outside it are defined in one source."""
    classes = class_paths(tree)
    sources = defaultdict(dict)
    for name, declared in tree.declared.items():
        if not name.endswith(".cpp"):
            continue
        for item in declared:
            outer, _, member = TEMPLATE_ARGUMENTS.sub("", item.name).rpartition("::")
            path = "::".join((*item.scope, outer))
            if item.kind == "function" and member and path in classes and "" not in item.scope:  # a class without a name outside is in one file anyway
                sources[path].setdefault(name, item.line)
    for path, found in sorted(sources.items()):
        first, *others = sorted(found)
        for name in others:
            yield name, found[name], f"members of {path.rpartition('::')[2]} are defined in {first} as well: split the class, not the file"


CHECKS = (
    ("one class, one source", check_one_source),
)
