# Runs in the guest, as root: the containers one after the other, and perf of the guest as a judge. What each printed comes behind a line
# with @@ and its name.
mount -t cgroup2 none /sys/fs/cgroup
# Debian's kernels begin with a level of their own, 3, at which CAP_PERFMON is not enough.
echo 2 >/proc/sys/kernel/perf_event_paranoid
ifconfig lo 127.0.0.1 up
mkdir -p /bundle/rootfs
tar -x -f /usr/bin/rootfs.tar -C /bundle/rootfs
mkdir -p /bundle/rootfs/proc /bundle/rootfs/dev /bundle/rootfs/sys
# The guest's root is in memory, and cannot be exchanged for another: --no-pivot.
contain() {
    cp "/usr/bin/$1.json" /bundle/config.json
    (cd /bundle && LD_LIBRARY_PATH=/opt/host exec /opt/host/crun --cgroup-manager=disabled run --no-pivot "$1")
}
echo '@@ perf'
perf stat -a -x, -o /dev/stdout -e duration_time -e uncore_imc/event=0x4,umask=0x3/ -- sleep 1
for name in stat old bare; do
    echo "@@ $name"
    contain $name 2>&1
    echo "status $?"
done
echo '@@ serve'
contain serve >/tmp/served 2>&1 &
for attempt in $(seq 100); do
    wget -q -O /tmp/metrics http://127.0.0.1:9988/metrics 2>/dev/null && grep -q '^pericore_imc_cas_count' /tmp/metrics && break
    sleep 0.2
done
grep Cap /proc/$(pidof pericore | cut -d' ' -f1)/status
cat /tmp/metrics /tmp/served
