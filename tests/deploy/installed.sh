#!/usr/bin/env bash
# installed.sh FOLDER: installs the packages of a folder into a clean Debian 12, and has them do there what they are for.
set -euo pipefail
folder=$(realpath "$1")
here=$(dirname "$(realpath "$0")")/../..
if ! command -v mmdebstrap >/dev/null; then
    echo "SKIPPED: packages in a clean Debian, since mmdebstrap is missing: apt-get install mmdebstrap"
    exit
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mmdebstrap --quiet --variant=apt --include=libcap2-bin,gcc,libc6-dev,pkgconf bookworm "$root"
cp "$folder"/*.deb "$root/tmp/"
cp "$here"/crates/c/tests/c/{example,regions}.c "$root/tmp/"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
fail() { echo "installed: $1" >&2; exit 1; }

inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends /tmp/*.deb' >/dev/null
inside pericore --version
inside pericore stat --machine e5-2600 --workload stream:requests=2000 -e imc/CAS_COUNT.RD/ -j 2>"$root/tmp/counts" || fail "pericore stat fails"
grep -q '"counter-value" *: *"[1-9]' "$root/tmp/counts" || fail "pericore stat counts nothing: $(cat "$root/tmp/counts")"
# The copy for the group has one capability, and no one else may start it.
inside getcap /usr/libexec/pericore/pericore | grep -q 'cap_perfmon=ep' || fail "the group's copy has no CAP_PERFMON"
[ "$(inside stat -c '%U:%G %a' /usr/libexec/pericore/pericore)" = "root:pericore 750" ] || fail "owner or mode of the group's copy"
inside sh -c 'cd /tmp && gcc -Wall -Werror example.c -o example $(pkg-config --cflags --libs pericore) && ./example' || fail "a C program fails"
# Three regions, one of them of what is in neither of the others, within a fourth: what is read in all of them is what is read in that one.
inside sh -c 'cd /tmp && gcc -std=c11 -Wall -Werror regions.c -o regions $(pkg-config --cflags --libs pericore) -lm && ./regions' >"$root/tmp/figures" ||
    fail "regions of a C program fail"
awk '$2 == "imc/CAS_COUNT.RD/" { print; of[$1] = $3 } END { exit !(of["load"] > 0 && of["load"] + of["solve"] + of["rest"] == of["whole"]) }' \
    "$root/tmp/figures" || fail "the regions are not the whole: $(cat "$root/tmp/figures")"
inside apt-get purge -y -qq -o Dpkg::Use-Pty=0 pericore libpericore-dev libpericore0 >/dev/null
left=$(find "$root/usr" "$root/lib" -name '*pericore*' | head)
[ -z "$left" ] || fail "purge leaves $left"
echo "installed: fine"
