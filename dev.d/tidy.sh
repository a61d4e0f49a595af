#: ./dev tidy [--structure]
#:
#: Structure first (tests/tidy/tidy.py): layers, sizes of files and functions, no clock, randomness, thread or unordered iteration
#: in the core, a README in every folder, a test and a row in the docs for every policy, floating-point flags.
#: Then clang-tidy over the sources of src/ (checks in .clang-tidy); --structure skips it.

run_tidy() {
  ensure_packages
  python3 tests/tidy/tidy_test.py
  python3 tests/tidy/tidy.py
  if [ "${1:-}" = --structure ]; then return; fi
  refresh_targets dev
  if has_target dev ashlar_kubeclient; then build_targets dev ashlar_kubeclient >/dev/null; fi   # its generated headers
  say "clang-tidy"
  # What it cannot parse, it has not looked at: "error:" at the beginning of a line.
  find src -name '*.cpp' -print0 | sort -z | xargs -0 -P "$(nproc)" -n 1 clang-tidy --quiet -p build/dev 2>&1 |
    { ! grep -E '(: |^)(warning|error): '; } || die "clang-tidy found the above"
}
