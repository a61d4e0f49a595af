#: ./dev demo [OPTIONS OF ashlar demo]
#:
#: Builds the program, and then, while the program already shows its jobs on the simulator, what is missing of the control plane (etcd, kube-apiserver and
#: kwok, which the real demo needs; then kube-scheduler, for the comparison). Runs until Ctrl-C, then removes everything it started.
#:
#:   --no-wait    exit at the end of the script
#:   --short      run a few seconds of it, for tests

controlplane_log=$root/build/controlplane.log

# Fetches and builds what is missing of the control plane beside the running program, in a process group of its own, so that it can be ended whole.
start_background_build() {
  [ -n "$("$controlplane" --missing "$@")" ] || return 0
  setsid nice -n "${background_niceness:-10}" bash -c '"$0" --fetch "$@" && exec "$0" "$@"' "$controlplane" "$@" >"$controlplane_log" 2>&1 &
  background_build=$!
}
stop_background_build() { [ -z "${background_build:-}" ] || kill -- "-$background_build" 2>/dev/null || true; }

run_demo() {
  local status=0 needed="etcd kube-apiserver kwok" building=()
  ensure_packages
  build_targets release ashlar   # alone, so that something is to be seen soon
  ASHLAR_ASSETS=$("$controlplane" --where)
  export ASHLAR_ASSETS
  trap stop_background_build EXIT
  trap ':' INT   # Ctrl-C ends the demo, which cleans up; this script waits for it
  # shellcheck disable=SC2086
  local seconds=$("$controlplane" --seconds $needed)
  # shellcheck disable=SC2086
  start_background_build $needed kube-scheduler kubectl
  [ -z "${background_build:-}" ] || building=(--building "$background_build" --building-takes "$((seconds * 1000))" --building-log "$controlplane_log")
  "$bin/ashlar" demo "${building[@]}" "$@" || status=$?
  return "$status"
}
