#!/usr/bin/env bash
# wheel.sh FOLDER: the wheel of a folder passes its own tests in a clean Debian 12, with Debian's Python and beside the program of the
# folder's package. What the tests need is fetched here; the clean system has no network.
set -euo pipefail
folder=$(realpath "$1")
here=$(dirname "$(realpath "$0")")/../..
compgen -G "$folder/*.whl" >/dev/null || { echo "SKIPPED: the wheel in a clean Debian, since there is none: pip install maturin"; exit; }
command -v mmdebstrap >/dev/null || { echo "SKIPPED: the wheel in a clean Debian, since mmdebstrap is missing: apt-get install mmdebstrap"; exit; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mmdebstrap --quiet --variant=apt --include=python3-venv,libcap2-bin bookworm "$root"
mkdir "$root/tmp/wheels" "$root/tmp/tests"
cp "$folder"/*.whl "$root/tmp/wheels/"
cp "$folder"/pericore_*.deb "$root/tmp/"
cp "$here"/python/tests/*.py "$root/tmp/tests/"
cp "$here"/docs/python/*.ipynb "$here/tests/python/notebook.py" "$root/tmp/"
# What builds and checks wheels has no part in it.
grep -vE '^(maturin|mypy|twine|abi3audit|types-|pandas-stubs)' "$here/tests/python/requirements.txt" >"$root/tmp/requirements.txt"
python3 -m pip download -q --disable-pip-version-check --only-binary=:all: --python-version 3.11 --implementation cp \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 --platform manylinux_2_12_x86_64 \
    --platform manylinux2010_x86_64 --platform manylinux1_x86_64 --platform manylinux_2_5_x86_64 \
    -r "$root/tmp/requirements.txt" -d "$root/tmp/wheels"

cat >"$root/tmp/own-tests" <<'END'
set -e
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends /tmp/pericore_*.deb >/dev/null
python3 -m venv /tmp/venv
. /tmp/venv/bin/activate
pip install -q --no-index --find-links /tmp/wheels -r /tmp/requirements.txt pericore
cd /tmp
export PERICORE=/usr/bin/pericore PERICORE_LONG=1 RAY_USAGE_STATS_ENABLED=0
python --version
python -m pytest -q -rs -p no:cacheprovider tests
python notebook.py *.ipynb
END
# Its own processes, devices and memory that is shared, as any system has; no network but its own loopback.
script='mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" && ip link set lo up &&
    exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 sh /tmp/own-tests'
unshare --mount --pid --fork --kill-child --net --propagation private sh -c "$script" "$root"
echo "wheel: fine"
