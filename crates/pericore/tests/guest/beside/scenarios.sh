# Beside perf, which joins before, during and after a session, and when one was killed. Each step waits for the one
# before it, never for a time: hosts are slow. Set before: events of ours, what perf is to count, how a note is left,
# and how the registers are shown.
cd /tmp

there() { until [ -e "$1" ]; do sleep 0.05; done; }
# Waits until a file has so many lines more than now.
more() {
    local goal=$(($(cat "$1" 2>/dev/null | wc -l) + $2))
    until [ "$(cat "$1" 2>/dev/null | wc -l)" -ge "$goal" ]; do sleep 0.1; done
}
# perf counts from here on, as NAME.
perf_begins() {
    local name=$1; shift
    perf stat -a -x, -o "$name.perf" "$@" -- sh -c "touch $name.on; until [ -e $name.off ]; do sleep 0.05; done" &
    eval "perf_$name=$!"
    there "$name.on"
}
perf_ends() { touch "$1.off"; eval "wait \$perf_$1"; }
ours_begins() {
    pericore stat --through registers -j -I 200 -o "$1.json" -e "$ours" -- \
        sh -c "until [ -e $1.end ]; do sleep 0.05; done" 2>"$1.err" &
    eval "ours_$1=$!"
}
ours_ends() { touch "$1.end"; eval "wait \$ours_$1" || echo "status $?" >>"$1.err"; }
show() { echo "@@ $1"; shift; cat "$@"; }

# Every 4 ms, as usual, is too often for a guest whose accesses stop it.
for pmu in /sys/bus/event_source/devices/uncore*; do echo 200 >$pmu/perf_event_mux_interval_ms; done

note 1
perf_begins early -e "$one"
ours_begins beside; more beside.json 6; ours_ends beside
echo '@@ held beside'; registers
perf_ends early
note 2
# A check of all that counts depend on comes every 20 samples, of two lines each: what it has confirmed stays.
ours_begins joined; more joined.json 44
perf_begins once -e "$one"; more joined.json 4; perf_ends once
more joined.json 4
note 3
# Intervals alone would leave out what comes after the last whole one.
perf_begins often -I 300 --summary -e "$many"; more joined.json 4
note 4
ours_ends joined
echo '@@ held joined'; registers
sleep 1; perf_ends often
note 5
ours_begins killed; more killed.json 2
perf_begins late -e "$one"
kill -9 $ours_killed; wait $ours_killed
echo '@@ restore'; pericore restore; echo "status $?"
note 6
echo '@@ held killed'; registers
sleep 0.3
perf_ends late
note 7
echo '@@ held at last'; registers
echo '@@ journals'; ls "$HOME/.local/state/pericore" 2>/dev/null | grep journal
for name in early once often late; do show "perf $name" $name.perf; done
for name in beside joined; do show "ours $name" $name.json; show "words $name" $name.err; done
