#!/bin/sh
# Makes what a guest boots from, out of Debian's own packages: prepare.sh DIRECTORY
# Leaves in DIRECTORY: vmlinux, initramfs.cpio, packages (name and version of each), SHA256SUMS. Needs apt-get with sources of
# Debian 12, and dpkg-deb; no root. DIRECTORY must not exist; it appears complete or not at all, and nothing else is left behind.
set -eu
export LC_ALL=C

out=${1:?usage: prepare.sh DIRECTORY}
# The last unpacks the kernel here, and is not in the guest.
tools="linux-perf msr-tools pciutils likwid pcm busybox-static xz-utils"
programs="/usr/bin/perf /usr/bin/lspci /usr/bin/setpci /usr/sbin/rdmsr /usr/sbin/wrmsr /usr/bin/lua5.3 /usr/bin/likwid-topology
  /usr/bin/likwid-perfctr /usr/bin/likwid-pin /usr/sbin/likwid-accessD /usr/sbin/pcm /usr/sbin/pcm-memory /usr/sbin/pcm-msr /usr/sbin/pcm-pcicfg
  /usr/sbin/pcm-raw /usr/sbin/pcm-iio /usr/sbin/pcm-power"
modules="arch/x86/events/intel/intel-uncore.ko arch/x86/kernel/msr.ko arch/x86/kernel/cpuid.ko"
data="/usr/share/likwid /usr/share/lua /usr/share/pcm /usr/share/misc/pci.ids"

fail() { echo "prepare.sh: $*" >&2; exit 1; }
for command in apt-get dpkg-deb sha256sum; do
    command -v "$command" >/dev/null || fail "needs $command: run on Debian 12 or in a container of it, or copy a prepared directory here"
done

work=$out.partial.$$
trap 'rm -rf "$work"' EXIT
# Whoever asks for an end gets one now: what takes long runs in the background, and is waited for.
trap 'trap "" HUP INT TERM; kill -TERM 0; exit 143' HUP INT TERM
mkdir -p "$work/debs" "$work/root" "$work/tree" "$work/out" "$work/lists" "$work/cache/archives"

# Package lists of our own: this machine's may be missing, as in a fresh container, or older than the mirror.
apt() {
    "$@" -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o Acquire::Languages=none -o Acquire::Retries=3 \
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
}
apt apt-get -qq update &
wait $! || fail "cannot read the package lists: check the network, apt's sources, and the space for ${work%/*}"

# An empty package status makes apt name every package that the tools need, whatever this machine has installed.
closure=$(apt apt-get -qq -s -o Dir::State::Status=/dev/null install --no-install-recommends $tools | awk '$1 == "Inst" { print $2 }')
[ -n "$closure" ] || fail "apt-get knows not all of these packages: $tools; check the network, and that Debian 12 (bookworm) is in apt's sources"
kernel=$(apt apt-cache depends linux-image-amd64 | awk '$1 == "Depends:" && $2 ~ /^linux-image-6\.1\./ { print $2; exit }')
[ -n "$kernel" ] || fail "apt-get offers no kernel 6.1: add Debian 12 (bookworm) to its sources"

(cd "$work/debs" && apt apt-get -qq download $closure "$kernel") &
wait $! || fail "download failed: check the network, and the space for ${work%/*}"
for deb in "$work"/debs/*.deb; do
    dpkg-deb -W --showformat='${Package} ${Version}\n' "$deb" >>"$work/out/packages"
    # By way of tar: links such as lib -> usr/lib must not be replaced by directories.
    dpkg-deb --fsys-tarfile "$deb" | tar -x -f - -C "$work/root" --keep-directory-symlink
    rm "$deb"
done

root=$work/root tree=$work/tree
mkdir -p "$tree/usr/bin" "$tree/usr/sbin" "$tree/usr/lib/x86_64-linux-gnu" "$tree/usr/lib64" "$tree/lib/modules" \
    "$tree/proc" "$tree/sys" "$tree/dev" "$tree/tmp" "$tree/run" "$tree/root" "$tree/etc" "$tree/var/tmp"
rmdir "$tree/lib/modules" "$tree/lib"
for name in bin sbin lib lib64; do ln -s "usr/$name" "$tree/$name"; done
mkdir -p "$tree/usr/lib/modules"

# The loader from the packages lists what each program loads from the packages.
loader=$(find "$root" -name 'ld-linux-x86-64.so.2' | head -n 1)
libraries=$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu
take_libraries() {
    "$loader" --library-path "$libraries" --list "$1" | awk '$2 == "=>" { print $3 }' | while read -r library; do
        cp -nL "$library" "$tree/usr/lib/x86_64-linux-gnu/"
    done
}
cp -L "$loader" "$tree/usr/lib64/"
for program in $programs; do
    cp "$root$program" "$tree$program"
    # Scripts load nothing.
    if [ "$(head -c 4 "$root$program")" = "$(printf '\177ELF')" ]; then take_libraries "$root$program"; fi
done
for library in liblikwid.so.5.2 liblikwidpin.so.5.2; do
    file=$root/usr/lib/x86_64-linux-gnu/$library
    cp "$file" "$tree/usr/lib/x86_64-linux-gnu/"
    ln -sf "$library" "$tree/usr/lib/x86_64-linux-gnu/${library%.*}"
    ln -sf "$library" "$tree/usr/lib/x86_64-linux-gnu/${library%%.*}.so"
    take_libraries "$file"
done
for path in $data; do
    [ -e "$root$path" ] || continue
    mkdir -p "$tree${path%/*}"
    cp -a "$root$path" "$tree${path%/*}/"
done
for module in $modules; do
    cp "$root"/lib/modules/*/kernel/"$module" "$tree/usr/lib/modules/"
done

busybox=$root/bin/busybox
cp "$busybox" "$tree/usr/bin/busybox"
"$busybox" --list | while read -r applet; do
    [ -e "$tree/usr/bin/$applet" ] || [ -e "$tree/usr/sbin/$applet" ] || ln -s busybox "$tree/usr/bin/$applet"
done

# The kernel is unpacked here, once: an emulated CPU took five seconds for it at each boot. Offsets in the image are those of Linux's boot protocol
# (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length).
set -- "$root"/boot/vmlinuz-*
number() { od -An -j "$2" -N "$3" "-tu$3" "$1" | tr -d ' '; }
start=$((($(number "$1" 0x1f1 1) + 1) * 512 + $(number "$1" 0x248 4))) length=$(number "$1" 0x24c 4)
# The last four bytes of the payload are its size unpacked, and not xz's.
tail -c "+$((start + 1))" "$1" | head -c "$((length - 4))" |
    "$loader" --library-path "$libraries" "$root/usr/bin/xz" -dc >"$work/out/vmlinux" || fail "cannot unpack the kernel of $kernel"
(cd "$tree" && find . | sort | "$busybox" cpio -o -H newc --quiet -R 0:0) >"$work/out/initramfs.cpio"
(cd "$work/out" && sha256sum vmlinux initramfs.cpio packages >SHA256SUMS)
mv -T "$work/out" "$out"
