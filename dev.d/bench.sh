#: ./dev bench [NAME [ARGUMENTS]]
#:
#: Builds and runs bench/NAME (program bench_NAME, or bench/NAME/run.py); without a name, lists them. Each prints the machine, its
#: measurements and their limits; the exit status is not 0 if a limit is exceeded. Keep the machine otherwise idle.
#:
#:   ./dev bench mutants [N] [--seed S] [--since COMMIT] [--file PATH]  how many of N one-line faults the unit tests catch (bench/mutants/README.md)
#:   ./dev bench mutants --known                        the faults that once survived; all must be caught
#:   ./dev bench against COMMIT [--bench sim]           this tree and an earlier one, alternating: what became slower
#:   ./dev bench headers [FOLDER...]                    compile cost of each public header and of the headers behind a policy
#:   ./dev bench compile                                time until the demo shows its first job on a cold machine, to build from nothing, and after one policy was touched
#:   ./dev bench compile --only-first-picture           only the first of these
#:   ./dev bench easy [--jobs N] [--draw N]             whether EASY backfill holds jobs without need, and its mean queue beside skip's
#:   ./dev bench queueing [--short]                     how long jobs of Philly's trace wait with estimates as wrong as they are, and what was to be reached
#:   ./dev bench fairness [--weeks N]                     whether queues that all have waiting work get what their weights say
#:   ./dev bench simulations [N] [--seed S]             N small simulations, all drawn, with failures: no circle, no limit broken, the same twice
#:   ./dev bench oracle [N] [--seed S] [--alone]        N pods: the nodes that kube-scheduler's filters allow, beside Ashlar's (bench/oracle/README.md)
#:   ./dev bench oracle N --preferences [--seed S]       N pods: the nodes that kube-scheduler prefers, beside Ashlar's points
#:   ./dev bench oracle --volumes N [--seed S]           N pods with claims: where they end with kube-scheduler and with Ashlar, beside the real controller
#:                                                      of volumes
#:   ./dev bench cluster --perf [--case NAME] [--nodes N --pods N]  cases in the language of upstream's scheduler benchmarks (bench/cluster/perf/README.md)
#:   ./dev bench e2e [--focus RE]                       upstream's end-to-end specs of scheduling on nodes of kwok (bench/e2e/README.md)
#:   ./dev bench cliffs --report                        cost by kinds, waiting, held, selectors, levels, queues and more; fails at steps that are not known
#:   ./dev bench cliffs [DIMENSION]                     cost of one event as one dimension grows: kinds, queues, held pods

bench_names() { find bench -maxdepth 1 -mindepth 1 \( -name '*.cpp' -o -type d \) -printf '%f\n' 2>/dev/null | sed 's/\.cpp$//' | sort; }
say_machine() {
  say "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(awk '/MemTotal/ {printf "%.0f GiB", $2/1048576}' /proc/meminfo), $(git rev-parse --short HEAD 2>/dev/null || echo unversioned)"
}

run_bench() {
  local name=${1:-}
  if [ -z "$name" ]; then bench_names; return; fi
  shift
  ensure_packages
  if [ -e "bench/$name/run.py" ]; then
    say_machine
    python3 "bench/$name/run.py" "$@"
    return
  fi
  refresh_targets release
  has_target release "bench_$name" || die "no benchmark '$name'; there are: $(bench_names | tr '\n' ' ')"
  if [[ $name =~ cluster|bind|sim ]]; then build_targets release ashlar; fi
  if [[ $name =~ cluster|bind|oracle ]]; then
    local programs=(etcd kube-apiserver kube-scheduler)
    # the controller that binds volumes, and what grants Ashlar its rights
    if [[ $name == oracle && " $* " == *" --volumes"* ]]; then programs+=(kube-controller-manager kubectl); fi
    ensure_setup "${programs[@]}"
    "$controlplane" "${programs[@]}" >/dev/null
  fi
  build_targets release "bench_$name"
  ASHLAR_ASSETS=$("$controlplane" --where)
  export ASHLAR_ASSETS
  say_machine
  "$bin/bench_$name" "$@"
}
