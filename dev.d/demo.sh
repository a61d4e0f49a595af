#: ./dev demo [OPTIONS OF ashlar demo]
#:
#: Builds what is missing (etcd, kube-apiserver, kwok and the program first; kube-scheduler, for the comparison, while the
#: script already runs) and runs `ashlar demo`. Runs until Ctrl-C, then removes everything it started.
#:
#:   --no-wait    exit at the end of the script
#:   --short      run a few seconds of it, for tests

# Builds the rest of the control plane beside the running demo, in a process group of its own, so that it can be ended whole.
start_background_build() {
  [ -n "$("$controlplane" --missing "$@")" ] || return 0
  setsid nice -n "${background_niceness:-5}" "$controlplane" "$@" >"$root/build/controlplane.log" 2>&1 &
  background_build=$!
  export ASHLAR_BUILDING=$background_build   # the demo waits for this process before it compares
}
stop_background_build() { [ -z "${background_build:-}" ] || kill -- "-$background_build" 2>/dev/null || true; }

# Everything the demo needs before its first gang can be placed.
prepare_demo() {
  ensure_setup etcd kube-apiserver kwok kube-scheduler kubectl
  "$controlplane" etcd kube-apiserver kwok >/dev/null
  build_targets release ashlar
  ASHLAR_ASSETS=$("$controlplane" --where)
  export ASHLAR_ASSETS
}

run_demo() {
  prepare_demo
  trap stop_background_build EXIT
  trap ':' INT   # Ctrl-C ends the demo, which cleans up; this script waits for it
  start_background_build kube-scheduler kubectl
  local status=0
  "$bin/ashlar" demo "$@" || status=$?
  return "$status"
}
