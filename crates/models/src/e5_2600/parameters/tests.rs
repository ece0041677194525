use crate::e5_2600::Parameters;

#[test]
fn the_preset_is_sound() {
    let parameters = Parameters::e5_2680();
    assert_eq!(parameters.check(), Ok(()));
    assert_eq!(parameters.memory(), 64 << 30);
    // Vendor's guide for that server generation: 51.2 GB/s peak a socket.
    assert_eq!(parameters.dclk_mhz * 2 * 8 * u64::from(parameters.channels), 51_200);
}

/// The LLC's tags tell 128 GiB apart, less the last line of each of 2,048 sets: its tag is that of an empty way.
#[test]
fn the_largest_memory_lacks_what_tags_cannot_name() {
    let memory = |sockets, gib: u64| Parameters { sockets, channel_bytes: gib << 30, ..Parameters::e5_2680() }.memory();
    assert_eq!(memory(2, 16), (64 << 30) - 64 * 2048, "four channels of 16 GiB, twice");
    assert_eq!(memory(1, 16), 64 << 30);
    assert_eq!(memory(2, 8), 32 << 30);
}

#[test]
fn absurd_values_are_named() {
    let parameters = Parameters { tor_entries: 21, ..Parameters::e5_2680() };
    let message = parameters.check().unwrap_err().to_string();
    assert_eq!(message, "parameter tor_entries is 21: it must lie between 1 and 20");
}
