//! A catalogue of one family with three units.

use super::box_block::{BOX, BOX_DEVIATIONS, BOX_EVENTS, BOX_METRICS, BOX_REGISTERS, BOX_SIGNALS, COUNTS, OPCODES};

/// Paths and texts.
pub const FILES: [(&str, &str); 19] = [
    ("families/toy.toml", FAMILY),
    ("blocks/box-v1/block.toml", BOX),
    ("blocks/box-v1/registers.toml", BOX_REGISTERS),
    ("blocks/box-v1/signals.toml", BOX_SIGNALS),
    ("blocks/box-v1/events.toml", BOX_EVENTS),
    ("blocks/box-v1/metrics.toml", BOX_METRICS),
    ("blocks/box-v1/deviations.toml", BOX_DEVIATIONS),
    ("blocks/box-v1/values/opcodes.toml", OPCODES),
    ("blocks/stop-v1/events-stop.toml", STOP_EVENTS),
    ("blocks/stop-v1/values/agents.toml", AGENTS),
    ("blocks/counts-v1/registers.toml", COUNTS),
    ("blocks/card-v1/block.toml", CARD),
    ("blocks/card-v1/registers.toml", CARD_REGISTERS),
    ("blocks/room-v1/block.toml", ROOM),
    ("blocks/room-v1/registers.toml", ROOM_REGISTERS),
    ("core-msrs/core.toml", CORE),
    ("core-msrs/power.toml", POWER),
    ("views/common.toml", COMMON),
    ("undefined.toml", UNDEFINED),
];

/// What another family could have, too; `toy` is without one of the metrics.
const COMMON: &str = r#"[[view]]
name = "common"
title = "Of several families."
metrics = ["box/SHARE", "box/UNUSED"]

[[summary]]
label = "Unused"
metric = "box/UNUSED"

[[summary]]
label = "Common"
metric = "box/SHARE"
"#;

const FAMILY: &str = r#"family = "toy"
aliases = ["t", "ty"]
title = "Toy"
default_metrics = ["box/RATE", "box/SHARE"]
views = "common"
documents = [{ cite = "guide", title = "The toy guide" }, { cite = "sheet", title = "The data sheet" }]
cpus = [{ family = 6, model = 1 }, { family = 6, model = 0x2d }]
clocks = [{ name = "uclk", description = "The box's clock." }, { name = "dclk", description = "The card's clock." }]

[[view]]
name = "all"
title = "Both."
metrics = ["box/RATE", "box/SHARE"]

[[summary]]
label = "Rate"
metric = "box/RATE"
of = "box/RATE"

[[summary]]
label = "Share"
metric = "box/SHARE"

[processor]
model = { family = 6, model = 0x2d }
stepping = 7
brand = "Toy CPU"
nominal_mhz = 2700
source = "A dump"
leaves = [{ leaf = 1, ecx = 0x10, edx = 3 }, { leaf = 0xd, subleaf = 1, eax = 9, ebx = 8 }]
caches = [
  { level = 1, kind = "instruction", ways = 8, sets = 64 },
  { level = 2, kind = "unified", ways = 16, sets = 512, shared = true },
]
core_msrs = ["core", "power"]

[[stub]]
device = 16
function = 2
device_id = 0x3ca0
class = 0x88000
revision = 7
description = "For scans."
source = "Sheet 2"

[discovery]
device = 3
function = 1
device_id = 0x9a7
class = 0x118000
description = "Leads to the table."
source = "Driver"

[[unit]]
name = "card"
block = "card-v1"
without = ["extra"]

[[unit.placement]]
space = "pcicfg"
functions = [{ device = 16, function = 0 }, { device = 16, function = 1 }]
device_ids = [0x3cb4, 0x3cb5]
bus = 1

[[unit.placement]]
name = "match"
space = "pcicfg"
functions = [{ device = 8, function = 6 }]

[[unit]]
name = "box"
block = "box-v1"
isolated = [2]
without = ["TOYS.GONE", "DROPPED", "spare", "UNUSED"]

[[unit.placement]]
space = "msr"
base = 0xd00
count = 3
stride = 0x20

[[unit]]
name = "room"
block = "room-v1"

[[unit.placement]]
space = "mmio"
bars = [{ bar = "iMC", index = 0, offset = 0x22800 }, { bar = "iMC", index = 1, offset = 0x26800 }]
"#;

const STOP_EVENTS: &str = r#"[[event]]
name = "RING"
code = 0x02
counters = [0, 1]
source = "2.1"
description = "Messages that pass."
subevents = [{ name = "UP", umask = 0x03, description = "Upwards." }]

[[event]]
name = "RING_IDLE"
code = 0x03
counters = [0, 1]
source = "2.1"
description = "Nothing that passes."
"#;

const AGENTS: &str = r#"source = "Table 6"
values = [{ name = "CORE", value = 1, description = "A core." }]
"#;

const CORE: &str = r#"source = "SDM 1"
msrs = [
  { address = 0x20, name = "SE", scope = "cpu", kind = "kept", writable = 255, controls = "event_select", counter = 1 },
  { address = 0x21, name = "ENABLES", scope = "cpu", kind = "kept", writable = 7, reset = 2, controls = "global" },
  { address = 0x1f, name = "COUNT",   scope = "cpu", kind = "counter", enable = 1 },
  { address = 0x22, name = "FIXED",   scope = "cpu", kind = "kept", controls = "fixed" },
]
"#;

const POWER: &str = r#"source = "SDM 2"
msrs = [
  { address = 0x10, name = "STAMP",   scope = "cpu",     kind = "cycles" },
  { address = 0x11, name = "ENERGY",  scope = "package", kind = "energy", watts = 95 },
  { address = 0x12, name = "THREADS", scope = "package", kind = "core_thread_count" },
]
"#;

const CARD: &str = r#"title = "Card"
description = "A card with wires."
source = "3"
clock = "dclk"
counters = 0
counter_width = 0
"#;

const CARD_REGISTERS: &str = r#"[[register]]
name = "mask"
guide_name = "CARD_MASK"
role = "filter"
placement = "match"
offset = 0x228
width = 32
source = "3.1"
description = "Bits to look at."
fields = [{ name = "bits", bits = "31:0", access = "RW", description = "All of them." }]

[[register]]
name = "extra"
guide_name = "CARD_EXTRA"
role = "identity"
offset = 0x40
width = 32
source = "3.1"
description = "Of no use here."
fields = [{ name = "rsv", bits = "31:0", access = "RV" }]
"#;

const ROOM: &str = r#"title = "Room"
description = "Where memory is."
source = "4"
clock = "dclk"
counters = 0
counter_width = 0
"#;

const ROOM_REGISTERS: &str = r#"[[register]]
name = "lone"
guide_name = "ROOM_LONE"
role = "free_running"
offset = 0x2290
width = 64
source = "4.1"
description = "Lines that are read."
layout = "counts-v1/count48"
"#;

const UNDEFINED: &str = r#"[[choice]]
subject = "a read of a WO bit"
family = "toy"
unit = "box"
documents = "Nothing."
choice = "It reads 0."
why = "Drivers expect it."
others = "It reads 1."
"#;
