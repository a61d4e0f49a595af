REASON_SWITCH = re.compile(r"\bcase\s+ReasonCode::k\w+")


def check_reason_switches(tree):
    """What a reason means stands once: a switch over reason codes is in model/ or text/ only."""
    for name, code in tree.code.items():
        if tree.folder(name) in ("model", "text"):
            continue
        match = REASON_SWITCH.search(code)
        if match:
            yield name, code.count("\n", 0, match.start()) + 1, "a switch over reason codes outside model/ and text/"


