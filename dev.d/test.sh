#: ./dev test [FOLDER...] [-- GTEST OPTIONS]
#:
#: With folders: builds and runs their tests (release): folders of tests/unit, `oracle` (comparison with naive implementations), `cluster`.
#: Without folders: the unit tests, cases and oracles in release, core and parsers under the address and undefined-behaviour sanitizers, tests against a real
#: API server, the program with bad input, the documentation's commands, the short demo, and the structure of the tree.
#: Published traces are read from $ASHLAR_TRACES (default ../shared/traces); without them their tests are reported as skipped.
#: The last line is `N passed, N failed`, with `, N skipped` if there are any. Logs are in build/logs.

unsanitized_folders=" web cli demo envtest "    # neither core nor parsers
edge_folders=(http store kubeclient live sim)   # those with threads
tally_passed=0 tally_failed=0 tally_skipped=0
tally_of_failures=()
sections=() section_name="" section_started=0

# section NAME: what follows belongs to it; how long each took stands before the closing line.
section() {
  end_section
  section_name=$1 section_started=$SECONDS
  say "$1"
}

end_section() {
  if [ -n "$section_name" ]; then sections+=("$(printf '%5d s  %s' $((SECONDS - section_started)) "$section_name")"); fi
  section_name=""
}

count() { tally_passed=$((tally_passed + $1)); tally_failed=$((tally_failed + $2)); tally_skipped=$((tally_skipped + $3)); }

# passed, failed and skipped cases of one gtest report
read_report() {
  python3 - "$1" <<'PY'
import json, sys
passed = failed = skipped = 0
for suite in json.load(open(sys.argv[1]))["testsuites"]:
    for case in suite["testsuite"]:
        if case.get("failures"): failed += 1
        elif case["status"] == "NOTRUN" or case.get("result") in ("SKIPPED", "SUPPRESSED"): skipped += 1
        else: passed += 1
print(passed, failed, skipped)
PY
}

# execute_gtest PRESET BINARY [OPTIONS]: runs it; leaves report, log, exit status and seconds in build/logs.
execute_gtest() {
  local preset=$1 binary=$2; shift 2
  local stem=build/logs/$preset-$binary status=0 started=$SECONDS
  mkdir -p build/logs
  rm -f "$stem".{json,status}
  timeout --kill-after=10 1200 "build/$preset/bin/$binary" --gtest_output="json:$stem.json" "$@" >"$stem.log" 2>&1 || status=$?
  echo "$status $((SECONDS - started))" >"$stem.status"
}

# account_gtest PRESET BINARY: one line for what execute_gtest has run; what failed is shown.
account_gtest() {
  local preset=$1 binary=$2 stem=build/logs/$1-$2
  local log=$stem.log report=$stem.json status=1 seconds=0 passed=0 failed=0 skipped=0
  [ ! -s "$stem.status" ] || read -r status seconds <"$stem.status"
  [ ! -s "$report" ] || read -r passed failed skipped < <(read_report "$report")
  # A crash, a time-out or a sanitizer's word at the end leaves a status that no case accounts for.
  if [ "$status" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
  if [ "$preset" != release ]; then skipped=0; fi   # the release run has named them
  count "$passed" "$failed" "$skipped"
  printf '%-8s %-18s %5d passed, %d failed, %d skipped (%d s)\n' "$preset" "$binary" "$passed" "$failed" "$skipped" "$seconds"
  if [ "$skipped" != 0 ]; then grep -A1 -E '^\[  SKIPPED \]' "$log" | sed -n 's/^\[  SKIPPED \] \(.*\) (.*ms)$/           skipped \1/p' | head -40; fi
  if [ "$failed" != 0 ]; then
    tally_of_failures+=("$preset $binary: exit status $status, $log")
    grep -E -A12 ': Failure|ERROR: |runtime error|\[  FAILED  \]|WARNING: ThreadSanitizer|Assertion' "$log" | head -80 || true
    tail -5 "$log"
  fi
}

# run_gtest PRESET BINARY [OPTIONS]. A binary that does not exist is no test.
run_gtest() {
  local preset=$1 binary=$2; shift 2
  [ -x "build/$preset/bin/$binary" ] || return 0
  execute_gtest "$preset" "$binary" "$@"
  account_gtest "$preset" "$binary"
}

# run_gtests PRESET FOLDER...: the test binaries of those folders, as many at once as there are cores, those of large folders first, so that none is left
# alone at the end.
run_gtests() {
  local preset=$1 folder binary running=() started=(); shift
  for folder in $(largest_first "$@"); do
    binary=${folder}_test
    [ -x "build/$preset/bin/$binary" ] || continue
    while [ "${#running[@]}" -ge "$(nproc)" ]; do forget_ended; done
    execute_gtest "$preset" "$binary" &
    running+=($!) started+=("$binary")
  done
  while [ "${#running[@]}" -gt 0 ]; do forget_ended; done
  for binary in "${started[@]}"; do account_gtest "$preset" "$binary"; done
}

# Waits until one of `running` has ended, and takes those that have off that list.
forget_ended() {
  local pid left=()
  wait -n "${running[@]}" || true
  for pid in "${running[@]}"; do if kill -0 "$pid" 2>/dev/null; then left+=("$pid"); fi; done
  running=("${left[@]}")
}

# Folders of tests by their size.
largest_first() {
  local folder
  for folder in "$@"; do
    printf '%s %s\n' "$({ find "tests/unit/$folder" "tests/$folder" -name '*.cpp' -exec cat {} + || true; } 2>/dev/null | wc -c)" "$folder"
  done | sort -k1,1nr -k2 | cut -d' ' -f2
}

# What the oracles counted, a line each.
show_counts() { grep -E '^[a-z -]+ oracle: ' "build/logs/release-$1.log" | sed 's/^/           /' || true; }

# run_step NAME COMMAND...: one test that is a command.
run_step() {
  local name=$1 log=build/logs/${1// /-}.log started=$SECONDS status=0; shift
  mkdir -p build/logs
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" = 0 ]; then count 1 0 0; else
    count 0 1 0
    tally_of_failures+=("$name: exit status $status, $log")
    tail -40 "$log"
  fi
  printf '%-27s %s (%d s)\n' "$name" "$([ "$status" = 0 ] && echo passed || echo FAILED)" $((SECONDS - started))
}

skip_step() { count 0 0 1; printf '%-27s skipped: %s\n' "$1" "$2"; }

# Unit tests are whatever folders of tests/unit hold sources.
unit_folders() { find tests/unit -mindepth 2 -maxdepth 2 -name '*.cpp' -printf '%h\n' 2>/dev/null | xargs -r -n1 basename | sort -u; }

# Programs of tests/cluster/NAME_test.cpp.
cluster_programs() { find tests/cluster -maxdepth 1 -name '*_test.cpp' -printf 'cluster_%f\n' 2>/dev/null | sed 's/\.cpp$//' | sort; }

# build_tests_that_exist PRESET FOLDER...: builds the test binaries of those folders that have one.
build_tests_that_exist() {
  local preset=$1 folder targets=(); shift
  refresh_targets "$preset"
  for folder in "$@"; do if has_target "$preset" "${folder}_test"; then targets+=("${folder}_test"); fi; done
  [ ${#targets[@]} = 0 ] || build_targets "$preset" "${targets[@]}"
}

# Whatever ends the run early (a build that fails, mostly) is a failure with a closing line like any other.
close_early() {
  stop_background_build
  count 0 1 0
  tally_of_failures+=("the run ended early; see above")
  close_tally || true
}

# The closing line; it is the last thing said.
close_tally() {
  trap - EXIT
  local failure
  end_section
  if [ ${#sections[@]} != 0 ]; then
    say "times"
    printf '%s\n' "${sections[@]}"
  fi
  for failure in "${tally_of_failures[@]}"; do printf 'FAILED  %s\n' "$failure"; done
  printf '%d passed, %d failed' "$tally_passed" "$tally_failed"
  if [ "$tally_skipped" != 0 ]; then printf ', %d skipped' "$tally_skipped"; fi
  printf '\n'
  [ "$tally_failed" = 0 ]
}

test_folders() {
  local folder folders=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do folders+=("$1"); shift; done
  if [ "${1:-}" = -- ]; then shift; fi
  for folder in "${folders[@]}"; do
    [ -d "tests/unit/$folder" ] || [ "$folder" = oracle ] || [ "$folder" = cluster ] ||
      die "no tests for '$folder'; there are: $(unit_folders | tr '\n' ' ')oracle cluster"
  done
  build_tests_that_exist release "${folders[@]}"
  for folder in "${folders[@]}"; do
    if [ "$folder" = cluster ]; then run_cluster_tests "$@"; else run_gtest release "${folder}_test" "$@"; fi
  done
}

run_cluster_tests() {
  local programs program
  mapfile -t programs < <(cluster_programs)
  ensure_setup etcd kube-apiserver kwok kube-scheduler kubectl
  "$controlplane" etcd kube-apiserver kwok kube-scheduler kubectl >/dev/null
  ASHLAR_ASSETS=$("$controlplane" --where)
  export ASHLAR_ASSETS
  build_targets release ashlar with_cluster "${programs[@]}"
  for program in "${programs[@]}"; do run_gtest release "$program" "$@"; done
  show_counts cluster_filters_test
}

# What the API server that KUBEBUILDER_ASSETS gives lacks for gangs, in its words (exit status 77 of with_cluster); nothing where it serves them, or is
# our own, which has to.
server_lacks() {
  [ -n "${KUBEBUILDER_ASSETS:-}" ] || return 0
  local words status=0
  words=$("$bin/with_cluster" true 2>&1) || status=$?
  [ "$status" != 77 ] || printf '%s\n' "${words#with_cluster: }"
}

# The documentation's commands and the short demo; without a server that serves gangs, the commands that need none.
test_documentation_and_demo() {
  local lack
  lack=$(server_lacks)
  if [ -n "$lack" ]; then
    run_step "documentation" python3 tests/docs/docs_test.py "$bin/ashlar"
    skip_step "documentation's cluster" "$lack"
    skip_step "demo" "$lack"
    return
  fi
  run_step "documentation" python3 tests/docs/docs_test.py "$bin/ashlar" "$ASHLAR_ASSETS"
  section "demo, short form"
  if "$bin/ashlar" --help | grep -qE '^  demo '; then
    run_step "demo" timeout --kill-after=20 600 ./dev demo --no-wait --short
  else
    skip_step "demo" "this build has no verb demo"
  fi
}

test_everything() {
  local folder folders sanitized=()
  mapfile -t folders < <(unit_folders)
  section "setup"
  ensure_setup
  background_niceness=19 start_background_build etcd kube-apiserver kwok kube-scheduler kubectl   # while tests leave a core idle
  section "structure of the tree"
  refresh_targets release
  run_step "tidy's own test" python3 tests/tidy/tidy_test.py
  run_step "tidy" python3 tests/tidy/tidy.py
  run_step "drawing of mutants" python3 bench/mutants/draw_test.py
  run_step "judging of cliffs" python3 bench/cliffs/report_test.py
  run_step "judging of e2e" python3 bench/e2e/judge_test.py
  section "release build"
  build_targets release ashlar tests
  section "release tests"
  run_gtests release "${folders[@]}" oracle
  show_counts oracle_test
  section "build with address and undefined-behaviour sanitizers, core and parsers"
  for folder in "${folders[@]}"; do [[ $unsanitized_folders == *" $folder "* ]] || sanitized+=("$folder"); done
  build_tests_that_exist asan "${sanitized[@]}"
  section "sanitized tests"
  # Without published traces, and with a tenth of the random histories: they take ten times as long here, and reach the same code.
  RC_PARAMS=max_success=50 ASHLAR_SANITIZED=1 ASHLAR_TRACES=$root/build/no-traces run_gtests asan "${sanitized[@]}"
  section "real API server"
  run_cluster_tests
  section "bad input, and the documentation's commands"
  run_step "verbs" python3 tests/verbs/verbs_test.py "$bin/ashlar"
  run_step "the demo while it is built" python3 tests/demo/demo_test.py "$bin/ashlar"
  run_step "recipe for a policy" python3 tests/recipe/recipe_test.py build/release
  test_documentation_and_demo
}

run_test() {
  trap close_early EXIT
  if [ $# -gt 0 ]; then ensure_packages; test_folders "$@"; else test_everything; fi
  close_tally
}
