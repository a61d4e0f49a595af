#: ./dev fmt [--check]
#:
#: Formats all C++ sources by .clang-format and updates the line numbers in links of the documentation; --check only lists the files that differ.

run_fmt() {
  ensure_packages
  local mode=-i
  if [ "${1:-}" = --check ]; then mode="--dry-run -Werror"; fi
  # shellcheck disable=SC2086
  find src tests bench \( -name '*.h' -o -name '*.cpp' \) -print0 2>/dev/null | xargs -0 -P "$(nproc)" -n 8 clang-format $mode
  if [ "${1:-}" != --check ]; then python3 tests/tidy/anchors.py --fix; fi
}
