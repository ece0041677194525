#!/usr/bin/env bash
# image.sh FOLDER: the image of a folder counts on a software machine, with no capability but CAP_PERFMON and a root that it cannot write.
# Where this system lets no container run, that is said, and the image is looked at alone.
set -euo pipefail
image=$(realpath "$1")/pericore-image.tar
if [ ! -f "$image" ] || ! command -v podman >/dev/null; then
    echo "SKIPPED: the image, since podman is missing: apt-get install --no-install-recommends podman crun"
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "image: $1" >&2; exit 1; }

# The mount namespace has cgroups of version 2 alone: crun refuses the mixed ones of some sandboxes, and nothing here is limited.
cat >"$work/script" <<'END'
set -euo pipefail
mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || true
podman() { command podman --root "$WORK/store" --runroot "$WORK/run" --storage-driver vfs "$@"; }
podman load --quiet --input "$IMAGE" >"$WORK/loaded"
name=$(sed -n 's/^Loaded image: *//p' "$WORK/loaded")
podman image inspect "$name" >"$WORK/inspected"
# Limits that a sandbox has set cannot be raised.
limits=(--ulimit nofile=1024:1024 --ulimit nproc=1024:1024)
run() {
    podman run --rm --runtime crun --cgroups disabled --network none "${limits[@]}" --cap-drop all --cap-add perfmon \
        --security-opt no-new-privileges --read-only --read-only-tmpfs=false "$name" "$@"
}
run --version
run stat --machine e5-2600 --workload stream:requests=2000 -e imc/CAS_COUNT.RD/ -j 2>"$WORK/counts"
END
if ! WORK=$work IMAGE=$image unshare -m --propagation private bash "$work/script" >"$work/said" 2>"$work/errors"; then
    if grep -q 'crun:.*\(not permitted\|not supported\)' "$work/errors"; then
        echo "SKIPPED: running the image, which this system does not allow: $(tail -1 "$work/errors")"
        exit
    fi
    fail "$(cat "$work/errors" "$work/counts" 2>/dev/null)"
fi
cat "$work/said"
grep -q '"counter-value" *: *"[1-9]' "$work/counts" || fail "it counts nothing: $(cat "$work/counts")"
echo "image: fine"
