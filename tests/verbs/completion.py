"""Completion as the shells do it: the script of bash is sourced and asked in a function call, that of fish by its own `complete`, and all three at a prompt.
What a shell that is not installed would do is only read from its script."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

PATIENCE_SECONDS = 30

ASK = """source <("$1" completion bash) || exit 9
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
_ashlar && printf '%s\\n' "${COMPREPLY[@]}" """

VERBS = "why queue nodes scheduler load sim replay case demo completion version"
# (the words of the line, the last one being completed; what is offered)
OFFERED = [
    (["ashlar", ""], f"{VERBS}"),
    (["ashlar", "s"], "scheduler sim"),
    (["ashlar", "--v"], "--version"),
    (["ashlar", "sim", ""], "packing queue run"),
    (["ashlar", "sim", "run", "-"], "-h --help --policy --per-job -o --output --report"),
    (["ashlar", "why", ""], "-h --help -n --namespace --server -o --output"),
    (["ashlar", "why", "a/b", ""], "-h --help -n --namespace --server -o --output"),
    (["ashlar", "why", "a/b", "-o", ""], "table json"),
    (["ashlar", "why", "a/b", "--output", "=", "j"], "json"),
    (["ashlar", "why", "a/b", "--output", "="], "table json"),
    (["ashlar", "why", "-n", "queue", "--s"], "--server"),  # the value of an option is no verb
    (["ashlar", "why", "--server", ""], ""),
    (["ashlar", "completion", ""], "bash zsh fish"),
    (["ashlar", "completion", "f"], "fish"),
    (["ashlar", "completion", "fish", ""], "-h --help"),
    (["ashlar", "sim", "run", "sce"], "scenario.yaml"),
    (["ashlar", "sim", "run", "scenario.yaml", "--policy", "sjf"], "sjf sjf-skip"),
    (["ashlar", "sim", "run", "--policy", "one"], "one.yaml"),
    (["ashlar", "case", "member.case", "hu"], "huge.case"),
    (["ashlar", "replay", "with sp"], "with space"),
    (["ashlar", "demo", "--color", ""], "auto always never"),
]


ASK_FISH = "ashlar completion fish | source; complete -C $argv[1]"
# (the line before the cursor; what fish offers, in any order)
OFFERED_BY_FISH = [
    ("ashlar ", VERBS),
    ("ashlar s", "scheduler sim"),
    ("ashlar sim ", "packing queue run"),
    ("ashlar sim run --pol", "--policy"),
    ("ashlar why a/b -o ", "table json"),
    ("ashlar why a/b --output=j", "--output=json"),
    ("ashlar why -n queue --s", "--server"),
    ("ashlar completion ", "bash zsh fish"),
    ("ashlar sim run sce", "scenario.yaml"),
    ("ashlar sim run scenario.yaml --policy sjf", "sjf sjf-skip"),
    ("ashlar demo --color ", "auto always never"),
]

# (how the shell is started, the first line that it gets)
PROMPTS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source <(ashlar completion bash)"),
    "zsh": (["zsh", "-f", "-i"], "unsetopt prompt_cr prompt_sp; autoload -U compinit; compinit -D -u; source <(ashlar completion zsh)"),
    "fish": (["fish", "--no-config", "-i"], "ashlar completion fish | source"),
}
# (what is typed before the tab, the line that it becomes)
TYPED = [("ashlar sim ru", "ashlar sim run "), ("ashlar nodes --output=j", "ashlar nodes --output=json"), ("ashlar sim run scen", "ashlar sim run scenario.yaml"),
         ("ashlar completion ba", "ashlar completion bash")]


def offered_by_fish(program, folder, line):
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb"}
    done = subprocess.run(["fish", "--no-config", "-c", ASK_FISH, line], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                          check=False)
    return [found.split("\t")[0] for found in done.stdout.split("\n") if found] if done.returncode == 0 and not done.stderr else [done.stdout + done.stderr]


def offered(program, folder, words):
    done = subprocess.run(["bash", "--norc", "-c", ASK, "bash", str(program), *words], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                          check=False)
    return [line for line in done.stdout.split("\n") if line] if done.returncode == 0 and not done.stderr else [done.stdout + done.stderr]


def report(good, what, otherwise=""):
    print(f"{'ok    ' if good else 'FAILED'} completion: {what}" + ("" if good else f"\n       {otherwise}"))
    return good


def commands(program, path=()):
    """Every command with the long and short options that its --help lists."""
    text = subprocess.run([program, *path, "--help"], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True).stdout
    options, verbs, is_verbs = [], [], False
    for line in text.splitlines():
        if re.match(r"\S.*:$", line):
            is_verbs = line not in ("Options:", "Positionals:")
        elif match := re.match(r"  (-\S+)", line):
            options += match[1].split(",")
        elif is_verbs and (match := re.match(r"  ([a-z-]+)", line)):
            verbs.append(match[1])
    yield path, options, verbs
    for verb in verbs:
        yield from commands(program, (*path, verb))


def all_is_offered(program, folder):
    """Whether each shell knows every verb and option that --help lists."""
    scripts = {shell: subprocess.run([program, "completion", shell], capture_output=True, text=True, check=True).stdout for shell in ("zsh", "fish")}
    results = []
    for path, options, verbs in commands(program):
        words = ["ashlar", *path]
        lacking = set(options) - set(offered(program, folder, [*words, "-"]))
        if verbs:
            lacking |= set(verbs) ^ set(offered(program, folder, [*words, ""]))
        zsh = re.search(r"^_" + "_".join(words) + r"\(\) \{\n(.*?)^\}", scripts["zsh"], re.M | re.S)
        lacking |= {f"zsh: {name}" for name in options if not zsh or not re.search(r"(?<![\w-])" + name + r"[=+\[,}]", zsh[1])}
        lacking |= {f"zsh: {verb}" for verb in verbs if not zsh or f"{verb}) _{'_'.join(words)}_{verb} ;;" not in zsh[1]}
        lines = [line for line in scripts["fish"].splitlines() if f"""'test (__ashlar_path) = "{' '.join(words)}"'""" in line]
        forms = {name: f" -l {name[2:]} " if name.startswith("--") else f" -s {name[1:]} " for name in options}
        lacking |= {f"fish: {name}" for name, form in forms.items() if not any(form in line for line in lines)}
        lacking |= {f"fish: {verb}" for verb in verbs if not any(f" -a {verb} " in line for line in lines)}
        results.append(report(not lacking, f"{' '.join(words)}: all of its --help", f"not offered, or not listed: {', '.join(sorted(lacking))}"))
    return results


def help_fits(program):
    """Whether every --help fits a terminal of 80 columns, and calls verbs so, as messages do."""
    results = []
    for path, _, _ in commands(program):
        text = subprocess.run([program, *path, "--help"], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True).stdout
        wrong = [line for line in text.splitlines() if len(line) > 80 or "subcommand" in line.lower()]
        results.append(report(not wrong, f"{' '.join(['ashlar', *path])}: --help fits 80 columns", "\n       ".join(wrong)))
    return results


def scripts_are_whole(program):
    """By the shells that are there; the others at least close what they open."""
    results = []
    for shell in ("bash", "zsh", "fish"):
        script = subprocess.run([program, "completion", shell], capture_output=True, text=True, check=True).stdout
        if shutil.which(shell):
            done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
            results.append(report(done.returncode == 0 and not done.stderr, f"{shell} parses its script", done.stderr))
            continue
        print(f"skipped completion: {shell} is not installed, its script is only read")
        quotes = re.sub(r"\\'", "", script).count("'")
        results.append(report(quotes % 2 == 0 and script.count("{\n") == len(re.findall(r"^\}$", script, re.M)), f"{shell}: quotes and braces are closed", script))
    return results


def at_a_prompt(program, folder, shell, typed, expected):
    """Whether the shell at a prompt, with the script sourced, turns what is typed before the tab into the line expected."""
    command, first = PROMPTS[shell]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(PATH=f"{program.parent}:{os.environ['PATH']}", PS1="> ", TERM="dumb", INPUTRC="/dev/null", HOME=str(folder))
        os.execvp(command[0], command)
    text = ""

    def await_text(end):
        nonlocal text
        deadline = time.monotonic() + PATIENCE_SECONDS
        while end not in text and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                text += os.read(terminal, 4096).decode(errors="replace")
        return end in text

    os.write(terminal, f"{first}; echo rea''dy\n".encode())
    good = await_text("ready\r\n")
    text = ""
    os.write(terminal, typed.encode() + b"\t")
    good = await_text(expected) and good
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    return report(good, f"{shell} at a prompt: {typed!r} and a tab give {expected!r}", repr(text))


def check_completion(program, folder):
    (folder / "with space").mkdir()
    results = scripts_are_whole(program)
    for words, expected in OFFERED:
        found = offered(program, folder, words)
        results.append(report(found == (["with space"] if expected == "with space" else expected.split()), f"{words} gives {expected!r}", str(found)))
    results += all_is_offered(program, folder) + help_fits(program)
    if shutil.which("fish"):
        for line, expected in OFFERED_BY_FISH:
            found = offered_by_fish(program, folder, line)
            results.append(report(sorted(found) == sorted(expected.split()), f"fish: {line!r} gives {expected!r}", str(found)))
    for shell in PROMPTS:
        if shutil.which(shell):
            results += [at_a_prompt(program, folder, shell, *line) for line in TYPED]
    results.append(at_a_prompt(program, folder, "bash", "ashlar replay with", "ashlar replay with\\ space/"))
    return results
