//! The block with most keys, and the layouts and values that it uses.

pub const BOX: &str = r#"title = "Box"
description = "A toy box."
source = "1"
intel_unit = "CBO"
intel_prefix = "UNC_C_"
perf_pmu = "cbox"
perf_event = [{ name = "clockticks", means = "CLOCKTICKS" }]
clock = "uclk"
counters = 2
counter_width = 48
discovery_type = 7
one_per = "slice"
caveats = ["Fused-off boxes count, too."]
include = [
  { block = "stop-v1", select = { ch_mask = 3 }, without = ["RING_IDLE"] },
]
"#;

pub const BOX_REGISTERS: &str = r#"[[register]]
name = "unit_ctl"
guide_name = "BOX_CTL"
role = "unit_control"
offset = 0
width = 32
reset = 0x10000
source = "1.0"
description = "Freezes the box."
fields = [
  { name = "rsv",    bits = "31:17", access = "RV" },
  { name = "frz_en", bits = "16",    access = "WO", description = "Lets frz act." },
  { name = "ig",     bits = "15:0",  access = "RV", description = "Not looked at." },
]

[[register]]
name = "ctl"
guide_name = "BOX_CTL_n"
role = "control"
offset = 0x4
count = 2
stride = 1
width = 64
source = "1.1"
description = "Selects."
caveats = ["Reads as written."]
fields = [
  { name = "ev_sel",   bits = "7:0",   access = "RW", description = "Event." },
  { name = "umask",    bits = "15:8",  access = "RW", description = "Subevents." },
  { name = "edge_det", bits = "18",    access = "RW", description = "Edges." },
  { name = "tid_en",   bits = "19",    access = "RW", description = "Uses tid." },
  { name = "rsv",      bits = "17:16", access = "RV" },
  { name = "rsv",      bits = "22:20", access = "RV" },
  { name = "invert",   bits = "23",    access = "RW", description = "Inverts it." },
  { name = "thresh",   bits = "31:24", access = "RW", description = "Threshold." },
  { name = "ch_mask",  bits = "35:32", access = "RW", description = "Channels." },
  { name = "rsv",      bits = "63:36", access = "RV" },
]

[[register]]
name = "ctr"
guide_name = "BOX_CTR_n"
role = "counter"
offset = 0x8
count = 2
stride = 1
width = 64
source = "1.1"
description = "Counts."
layout = "counts-v1/count48"

[[register]]
name = "filter"
guide_name = "BOX_FILTER"
role = "filter"
offset = 0xc
width = 16
source = "1.2"
description = "Narrows what is counted."
fields = [
  { name = "opc", bits = "15:4", access = "RW", description = "Opcode.", values = "opcodes" },
  { name = "tid", bits = "3:0",  access = "RW", description = "Thread." },
]

[[register]]
name = "flow"
guide_name = "BOX_FLOW"
role = "free_running"
offset = 0x10
count = 4
stride = 2
width = 64
source = "1.3"
description = "Units of flow."
layout = "counts-v1/count48"
event = "FLOW"

[[register]]
name = "reds"
guide_name = "BOX_REDS"
role = "free_running"
offset = 0x18
width = 64
source = "1.3"
description = "Red ones of all."
layout = "counts-v1/count48"
event = "REDS"
signal = "toy"
measure = "occupancy"
when = "colour = 2 & !broken"

[[register]]
name = "clock"
guide_name = "BOX_CLOCK"
role = "free_running"
offset = 0x1a
width = 64
source = "1.3"
description = "Ticks of uclk."
layout = "counts-v1/count48"
event = "TICKS"
measure = "clock"

[[register]]
name = "spare"
guide_name = "BOX_SPARE"
role = "identity"
offset = 0x1b
width = 8
source = "1.4"
description = "For later use."
fields = [{ name = "rsv", bits = "7:0", access = "RV" }]

[[field_set]]
name = "matcher"
source = "1.5"
fields = [{ name = "class", bits = "11:8", access = "RW", description = "Class of packets.", values = "opcodes" }]
"#;

pub const COUNTS: &str = r#"[[layout]]
name = "count48"
fields = [
  { name = "rsv",         bits = "63:48", access = "RV" },
  { name = "event_count", bits = "47:0",  access = "RW-V", description = "The count." },
]
"#;

pub const BOX_SIGNALS: &str = r#"[[signal]]
name = "toy"
kind = "level"
description = "Toys in the box."
attributes = [{ name = "colour", width = 3 }, { name = "broken", width = 1 }, { name = "op_code", width = 12 }]
"#;

pub const BOX_EVENTS: &str = r#"[[event]]
name = "TOYS"
code = 0x35
counters = [1]
max_increment = 20
category = "QUEUE"
source = "1.2.1"
description = "What lies in the box."
caveats = ["Too many by one."]
filters = ["tid", { field = "opc", need = "required" }]
signal = "toy"
measure = "occupancy"
decode = [
  { bit = 0, any = "colour = 1" },
  { bit = 9, some = "colour != 1 & broken", group = 2 },
  { field = "tid_en", all = "op_code like filter.opc/0xfc0" },
  { field = "ch_mask", bit = 3, required = "colour in filter.opc" },
  { required = "colour >= 4" },
]
subevents = [
  { name = "ALL",  umask = "bxxx1x1xx", description = "Of each colour.", counters = [0, 1], caveats = ["Pink, too."] },
  { name = "RED", umask = 1, max_increment = 5, description = "Reddish.", filters = [{ field = "tid", default = 9 }] },
  { name = "SAME", umask = 0x01, description = "As red ones.", same_as = "TOYS.RED" },
  { name = "CHAN", umask = 0x02, ch_mask = 5, source = "T4", description = "By channel.", later = true },
  { name = "GONE", umask = 0x04, description = "Left out here." },
]

[[event]]
name = "CLOCKTICKS"
code = 0x00
counters = [0, 1]
source = "1.2.2"
description = "Cycles of the uclk."
measure = "clock"

[[event]]
name = "OWN"
code = 0x11
counters = [0, 1]
source = "1.2.3"
description = "Things with a signal that nobody names."
filters = ["tid"]
later = true
subevents = [
  { name = "A", umask = 0x10, ch_mask = 1, description = "First kind." },
  { name = "B", umask = 0x20, ch_mask = 2, description = "Second kind." },
]

[[event]]
name = "PACKETS"
code = 0x12
counters = [0, 1]
source = "1.2.4"
description = "What matches."
field_set = "matcher"
select = { class = 7 }
measure = "nonempty"

[[event]]
name = "NESTED"
code = 0x13
counters = [0, 0]
source = "1.2.5"
description = "Of counter 0's own."
measure = "counter0"

[[event]]
name = "DROPPED"
code = 0x14
counters = [0]
source = "1.2.6"
description = "Left out by the family."
"#;

pub const BOX_METRICS: &str = r#"[[metric]]
name = "RATE"
expression = "TOYS.RED / seconds"
printed = "TOYS.RED / s"
unit_of_measure = "/s"
quantity = "extensive"
side = "sent"
description = "Red toys in a second."
source = "1.6"
caveats = ["Rounded."]

[[metric]]
name = "SHARE"
expression = "TOYS.RED / CLOCKTICKS"
unit_of_measure = "%"
description = "Busy cycles of all."
source = "1.6"
limit = { above = 80, means = "the box is full", see = ["box/RATE"] }

[[metric]]
name = "UNUSED"
expression = "OWN.A"
unit_of_measure = "count"
quantity = "extensive"
description = "Left out by its family."
source = "1.6"
"#;

pub const BOX_DEVIATIONS: &str = r#"[[reason]]
evidence = "The table is wrong."
field = "counters"
guide = "0-3"
rows = [
  { event = "TOYS", intel = "1", ours = "1" },
  { event = "OWN", guide = "2", intel = "0-1", ours = "0-1" },
]

[[reason]]
evidence = "All of them."
field = "code"
guide = "a"
intel = "b"
ours = "c"
rows = ["PACKETS"]
"#;

pub const OPCODES: &str = r#"source = "Table 5"
values = [
  { name = "READ",  value = 0x180, description = "Reads." },
  { name = "WRITE", value = 0x1c8, description = "Writes." },
]
"#;
