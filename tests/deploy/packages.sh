#!/usr/bin/env bash
# packages.sh PROGRAM LIBRARIES FOLDER: packages of a program and of the C library, made twice: the same bytes, and all files that they should
# have. With packages in FOLDER these are looked at instead, by lintian, too.
set -euo pipefail
program=$1 libraries=$2 folder=$3
fail() { echo "packages: $1" >&2; exit 1; }

if ! compgen -G "$folder/*.deb" >/dev/null; then
    export SOURCE_DATE_EPOCH=1700000000 PERICORE_DEB_COMPRESSION=-Znone
    mkdir -p "$folder/bin" "$folder/again"
    strip -o "$folder/bin/pericore" "$program"
    deploy/package/debs "$folder/bin/pericore" "$libraries" "$folder"
    # Another time, and another mask.
    sleep 1
    (umask 077 && deploy/package/debs "$folder/bin/pericore" "$libraries" "$folder/again")
    for package in "$folder"/*.deb; do
        cmp "$package" "$folder/again/$(basename "$package")" || fail "a second time other bytes come out"
    done
    echo "SKIPPED: lintian, which takes a minute of a core: tests/run deploy"
else
    lintian --allow-root --fail-on error,warning --profile debian "$folder"/*.deb || fail "lintian objects"
fi

deb=$(ls "$folder"/pericore_*.deb)
dpkg-deb --fsys-tarfile "$deb" | tar -t >"$folder/contents"
for path in ./usr/bin/pericore ./usr/libexec/pericore/pericore ./usr/share/man/man1/pericore-stat.1.gz ./lib/systemd/system/pericore.service \
    ./usr/lib/sysusers.d/pericore.conf ./usr/share/bash-completion/completions/pericore ./usr/share/zsh/vendor-completions/_pericore \
    ./usr/share/fish/vendor_completions.d/pericore.fish ./usr/share/pericore/grafana/pericore.json; do
    grep -qxF "$path" "$folder/contents" || fail "$(basename "$deb") has no $path"
done
echo "packages: fine"
