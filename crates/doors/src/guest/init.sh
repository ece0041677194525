#!/bin/sh
# Process 1 of the guest. ttyS0 carries the kernel's log, ttyS1 and ttyS2 the command's output and errors, ttyS3 what the host must
# know: "ready" when the command is about to start, "exit N" at its end. The machine is off when everything has been sent.
export PATH=/usr/sbin:/usr/bin HOME=/root TERM=dumb LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
ln -s /proc/self/fd /dev/fd
for name in stdin:0 stdout:1 stderr:2; do ln -s "/proc/self/fd/${name#*:}" "/dev/${name%:*}"; done
mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm
for port in 1 2 3; do stty -F /dev/ttyS$port raw -echo; done
exec 3<>/dev/ttyS3
sh /run/pericore/setup >/dev/kmsg 2>&1 || echo "pericore: the guest's set-up failed" >/dev/kmsg
echo ready >&3
cd /root
sh /run/pericore/command </dev/null >/dev/ttyS1 2>/dev/ttyS2 3>&-
echo "exit $?" >&3
# Closing waits until the last byte has left.
exec 3>&-
poweroff -f
