#!/usr/bin/env bash
# guest.sh FOLDER: the image of a folder runs in a guest on a software Xeon, with the rights of the Kubernetes manifest: no capability but
# CAP_PERFMON, nothing of the host but sysfs, a root that it cannot write. It counts there through the kernel's drivers what perf counts.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(realpath "$1")
image=$folder/pericore-image.tar
python=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/pericore/python/bin/python
for needed in crun qemu-system-x86_64; do
    command -v "$needed" >/dev/null || { echo "SKIPPED: the image in a guest, since $needed is missing"; exit; }
done
[ -f "$image" ] || { echo "SKIPPED: the image in a guest, since there is no image"; exit; }
[ -f /usr/share/containers/seccomp.json ] || { echo "SKIPPED: the image in a guest, since podman's profile is missing"; exit; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" tests/deploy/guest/bundle.py "$image" "$work"
bring=(--bring "$(command -v crun)" --bring tests/deploy/guest/inside.sh)
for file in "$work"/*; do bring+=(--bring "$file"); done
"$folder/pericore" machine boot --machine e5-2600 --workload stream --timeout 1500 "${bring[@]}" -- sh /usr/bin/inside.sh >"$work/printed" 2>&1 ||
    { cat "$work/printed" >&2; exit 1; }
"$python" tests/deploy/guest/judge.py "$work/printed"
