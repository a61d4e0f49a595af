#: ./dev ci
#:
#: Everything of `./dev test`, then the edge under the thread sanitizer, tidy with clang-tidy, and the format check.

run_ci() {
  trap close_early EXIT
  test_everything
  say "thread sanitizer on the edge"
  build_tests_that_exist tsan "${edge_folders[@]}"
  local folder
  # Without published traces: replays take ten times as long here, and small inputs reach the same code.
  for folder in "${edge_folders[@]}"; do ASHLAR_SANITIZED=1 ASHLAR_TRACES=$root/build/no-traces run_gtest tsan "${folder}_test"; done
  run_step "tidy with clang-tidy" ./dev tidy
  run_step "format" ./dev fmt --check
  close_tally
}
