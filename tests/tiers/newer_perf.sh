# Sourced by the long tier: perf of Linux 6.12, from Debian 12's backports, unpacked beside the installed one. The system's own
# sources and packages stay as they are.
newer_perf=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/pericore/perf-6.12
if [ ! -x "$newer_perf/usr/bin/perf" ]; then
    say "fetching perf of Linux 6.12"
    mkdir -p "$newer_perf/lists/partial" "$newer_perf/cache/archives/partial"
    (
        cd "$newer_perf"
        keys=/usr/share/keyrings/debian-archive-keyring.gpg
        for suite in bookworm bookworm-backports; do
            echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main"
        done >sources.list
        own=(-qq -o "Dir::Etc::SourceList=$PWD/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$PWD/lists"
            -o "Dir::Cache=$PWD/cache" -o APT::Sandbox::User=root)
        apt-get "${own[@]}" update
        apt-get "${own[@]}" download linux-perf/bookworm-backports libtraceevent1/bookworm
        for package in *.deb; do dpkg-deb -x "$package" .; done
        rm -rf -- *.deb lists cache sources.list
    )
fi
