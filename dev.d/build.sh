#: ./dev build [--preset release|dev|asan|tsan|fuzz] [TARGET...]
#:
#: Builds the program (target `ashlar`) or the named targets; `all` is everything, `tests` all unit tests.
#: Binaries are in build/PRESET/bin. The default preset is release.

# build_targets PRESET TARGET...: configures when needed; ninja decides the rest.
build_targets() {
  local preset=$1; shift
  local folder=$root/build/$preset
  if [ -e "$folder/CMakeCache.txt" ] && ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf "$folder"   # the checkout was moved or copied; CMake cannot follow
  fi
  if [ ! -e "$folder/build.ninja" ] || [ CMakePresets.json -nt "$folder/build.ninja" ]; then
    cmake --preset "$preset" >"$root/build/configure-$preset.log" 2>&1 || {
      tail -30 "$root/build/configure-$preset.log" >&2
      die "CMake could not configure preset $preset"
    }
  fi
  cmake --build "$folder" --parallel "$(nproc)" --target "$@"
}

# Configures when needed and lets CMake look for new folders and files.
refresh_targets() {
  build_targets "$1" help >"$root/build/refresh-$1.log" 2>&1 || { tail -30 "$root/build/refresh-$1.log" >&2; die "preset $1 is broken"; }
}

# Whether the configured preset knows a target: has_target release bench_sim
has_target() { ninja -C "$root/build/$1" -t query "$2" >/dev/null 2>&1; }

run_build() {
  local preset=release
  if [ "${1:-}" = --preset ]; then preset=${2:?which preset?}; shift 2; fi
  ensure_packages
  build_targets "$preset" "${@:-ashlar}"
}
