#!/bin/bash
# Moves the tree by the scripts beside this one, one commit for each room and each table of words, then what was done by hand.
# Usage: docs/decisions/0010/move.sh, in a clean tree. Some minutes; what moved since it was written may want a hand in the patches.
set -euo pipefail
scripts=$(mktemp -d)
cp -r docs/decisions/0010/. "$scripts"
formatted() { git diff --cached --name-only --diff-filter=d | grep -E '\.(h|cpp)$' | xargs -r clang-format -i; git add -A; }
for room in state policy engine text sim store kubeclient live envtest demo http; do
  PYTHONPATH=$scripts python3 "$scripts/move.py" $room
  git add -A && formatted
  git commit -qm "$(PYTHONPATH=$scripts python3 -c "import move; print(move.R['$room'][0])")"
done
git apply --3way --index "$scripts"/build-and-tidy.patch
git commit -qm "The build and tidy follow the rooms"
PYTHONPATH=$scripts python3 -c 'import words
for s in words.STEPS: print(s[0] + "\t" + s[1])' | while IFS=$'\t' read -r step title; do
  PYTHONPATH=$scripts python3 "$scripts/words.py" "$step"
  git add -A
  git diff --cached --quiet || git commit -qm "$title"
done
git apply --3way --index "$scripts/rest.patch"
git rm -rq docs/decisions/0010/{move.sh,move.py,words.py,build-and-tidy.patch,rest.patch}
git commit -qm "The rest of the move: names that met, READMEs, tests, known mutants; its scripts go with it"
