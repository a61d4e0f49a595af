#: ./dev ci
#:
#: All of `./dev test`, then the edge under the thread sanitizer, every parser under libFuzzer, tidy with clang-tidy, and the format check.
#: ASHLAR_FUZZ_SECONDS is the time per parser (default 60).

fuzz_seconds=${ASHLAR_FUZZ_SECONDS:-60}

# The seeds of a fuzz target as one folder; what libFuzzer finds is kept beside them for the next run.
collect_seeds() {
  local name=$1 corpus=$2 place file
  mkdir -p "$corpus"
  { echo "tests/fuzz/seeds/$name"; awk -v name="$name" '$1 == name { print $2 }' tests/fuzz/seeds.txt; } | while read -r place; do
    [ ! -e "$place" ] || find "$place" -type f
  done | while read -r file; do cp "$file" "$corpus/$(sha1sum <"$file" | cut -c1-40)"; done
}

fuzz_one() {
  local name=$1 corpus=build/fuzz/corpus/$1 found=build/fuzz/found/$1-
  mkdir -p build/fuzz/found
  collect_seeds "$name" "$corpus"
  "build/fuzz/bin/fuzz_$name" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=4096 -artifact_prefix="$found" "$corpus"
}

run_ci() {
  trap close_early EXIT
  test_everything
  section "thread sanitizer on the edge"
  build_tests_that_exist tsan "${edge_folders[@]}"
  # Without published traces: replays take ten times as long here, and small inputs reach the same code.
  ASHLAR_SANITIZED=1 ASHLAR_TRACES=$root/build/no-traces run_gtests tsan "${edge_folders[@]}"
  section "every parser under libFuzzer"
  build_targets fuzz fuzz_programs
  local source
  for source in tests/fuzz/*.cpp; do run_step "fuzz $(basename "$source" .cpp)" fuzz_one "$(basename "$source" .cpp)"; done
  section "clang-tidy and format"
  run_step "tidy with clang-tidy" ./dev tidy
  run_step "format" ./dev fmt --check
  close_tally
}
