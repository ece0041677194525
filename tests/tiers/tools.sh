# Sourced by the tiers: installs what the tests need and is missing, on Debian. The compiler's own needs come first; all else is installed while
# it compiles, and `wait_for_tools` is the step before the first that uses it.

as_root=""
[ "$(id -u)" -eq 0 ] || as_root=sudo
cached=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/pericore

# Debian packages, by the command that needs them.
needed=()
need() { command -v "$1" >/dev/null || needed+=("$2"); }
install_needed() {
    [ ${#needed[@]} -gt 0 ] || return 0
    say "installing ${needed[*]}"
    $as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends "${needed[@]}"
    needed=()
}

need cc gcc
need c++ g++
need pkg-config pkgconf
need python3 python3
install_needed

install_programs() {
    need qemu-x86_64 qemu-user
    need qemu-system-x86_64 qemu-system-x86
    need rdmsr msr-tools
    need setpci pciutils
    need likwid-perfctr likwid
    need pcm-memory pcm
    need curl curl
    need perf linux-perf
    need strace strace
    need tmux tmux
    need zsh zsh
    need fish fish
    need chromium chromium
    need ip iproute2
    need node nodejs
    need npm npm
    python3 -c 'import ensurepip' 2>/dev/null || needed+=(python3-venv)
    # Debian's package is for Debian's interpreter, whatever else is called python3.
    /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null || needed+=(python3-prometheus-client)
    install_needed
    # Installed, this package would start a server of its own: its programs are enough.
    if ! command -v prometheus >/dev/null; then
        say "fetching prometheus"
        mkdir -p "$cached/prometheus"
        (
            cd "$cached/prometheus"
            apt-get download -qq prometheus || { $as_root apt-get update -qq && apt-get download -qq prometheus; }
            dpkg-deb -x prometheus_*.deb .
            rm prometheus_*.deb
        )
    fi
    # Programs that read what we write, and mdBook, from PyPI, with the versions of the list.
    if ! cmp -s tests/tiers/python.txt "$cached/python/installed.txt"; then
        say "installing $(tr '\n' ' ' <tests/tiers/python.txt)"
        rm -rf "$cached/python"
        python3 -m venv "$cached/python"
        "$cached/python/bin/pip" install -q --disable-pip-version-check -r tests/tiers/python.txt
        cp tests/tiers/python.txt "$cached/python/installed.txt"
    fi
    tests/python/run --install
    # What drives the browser, and Grafana's schema with the compiler that checks against it, with the versions of the lock files: those that run
    # on the Node.js 18 of Debian 12.
    for driven in browser dashboard; do
        driver=$cached/$driven
        if ! cmp -s "tests/$driven/package-lock.json" "$driver/installed.json"; then
            say "installing what tests/$driven needs"
            mkdir -p "$driver"
            cp "tests/$driven/package.json" "tests/$driven/package-lock.json" "$driver/"
            npm ci --silent --no-audit --no-fund --prefix "$driver"
            cp "tests/$driven/package-lock.json" "$driver/installed.json"
        fi
    done
}

command -v prometheus >/dev/null || PATH=$PATH:$cached/prometheus/usr/bin
installed=$(mktemp)
(
    # The table of steps is the tier's.
    trap - EXIT
    set -e
    install_programs
) >"$installed" 2>&1 &
installing=$!

wait_for_tools() {
    local status=0
    wait "$installing" || status=$?
    cat "$installed"
    rm "$installed"
    return $status
}
