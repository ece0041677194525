use crate::flow::{Move, ValueFlow, translate};
use crate::layout::MOST_AFTER;
use crate::operands::operands;

/// mov rax, [rax]; mov rbx, rax; mov rcx, [rbx]; add rdx, rcx.
const BLOCK: [&[u8]; 4] = [&[0x48, 0x8B, 0x00], &[0x48, 0x89, 0xC3], &[0x48, 0x8B, 0x0B], &[0x48, 0x01, 0xCA]];

/// A thread, and what is left of its last block.
struct Running {
    flow: ValueFlow,
    left: &'static [Move],
}

/// It has done nothing.
const BEGUN: Running = Running { flow: ValueFlow::new(), left: &[] };

/// What goes out in a pass of a block, with its distance: a load of each address that is given, or a hit where none is.
fn pass(Running { flow, left }: &mut Running, instruction: u64, block: &[&[u8]], misses: &[Option<u64>]) -> Vec<u64> {
    let translated = translate(&block.iter().map(|bytes| operands(bytes)).collect::<Vec<_>>());
    let mut is_followed = flow.begin(instruction, std::mem::replace(left, translated.after));
    let accesses = translated.operations.iter().zip(block).filter(|(_, bytes)| operands(bytes).in_memory);
    let mut distances = Vec::new();
    for ((operation, _), miss) in accesses.zip(misses) {
        let at = instruction + operation.place;
        if is_followed {
            flow.reach(operation);
        }
        let distance = if is_followed { flow.distance(operation) } else { 0 };
        if let Some(address) = miss {
            distances.push(distance);
            flow.goes_out(*address, at);
            is_followed = true;
        }
        flow.complete(operation, miss.unwrap_or(0x7000), false, miss.is_some());
    }
    distances
}

#[test]
fn values_move_from_register_to_register_and_from_block_to_block() {
    let mut running = BEGUN;
    assert_eq!(pass(&mut running, 0, &BLOCK, &[Some(0x1000), Some(0x2000)]), [0, 1]);
    // rax waits for the first load of the pass before, two ago; rbx for the load just before.
    assert_eq!(pass(&mut running, 4, &BLOCK, &[Some(0x3000), Some(0x4000)]), [2, 1]);
    // mov rsi, [rdx]: what comes after a block's last access is known in the next. It waits for the second load of
    // each.
    assert_eq!(pass(&mut running, 8, &[&[0x48, 0x8B, 0x32]], &[Some(0x5000)]), [1]);
}

#[test]
fn what_hits_waits_for_what_its_address_waits_for() {
    let mut running = BEGUN;
    assert_eq!(pass(&mut running, 0, &BLOCK, &[Some(0x1000), None]), [0]);
    // rcx was in the cache, and its address came from the load. mov rsi, [rcx].
    assert_eq!(pass(&mut running, 4, &[&[0x48, 0x8B, 0x31]], &[Some(0x5000)]), [1]);
}

#[test]
fn what_has_gone_out_long_ago_is_not_waited_for() {
    let mut running = BEGUN;
    pass(&mut running, 0, &BLOCK, &[Some(0x1000), Some(0x2000)]);
    assert!(
        running.flow.begin(1026, &[]) && !running.flow.begin(1027, &[]),
        "1024 instructions after the second load, the block's third"
    );
    assert_eq!(pass(&mut running, 5000, &[&[0x48, 0x8B, 0x00]], &[Some(0x3000)]), [0]);
}

#[test]
fn a_distance_has_a_limit() {
    let mut running = BEGUN;
    // mov r9, [rax], whose register nothing uses; then mov rsi, [r9].
    pass(&mut running, 0, &[&[0x4C, 0x8B, 0x08]], &[Some(0x1000)]);
    for other in 1..MOST_AFTER {
        // mov rdi, [rbp].
        assert_eq!(pass(&mut running, other, &[&[0x48, 0x8B, 0x7D, 0]], &[Some(0x1000 + other * 64)]), [0]);
    }
    assert_eq!(pass(&mut running, 255, &[&[0x49, 0x8B, 0x31]], &[Some(0x90000)]), [255]);
    assert_eq!(pass(&mut running, 256, &[&[0x49, 0x8B, 0x31]], &[Some(0xA0000)]), [0]);
}

/// A value that goes through memory; and what was stored is there at once, although its line is under way.
#[test]
fn what_is_stored_is_known_when_it_is_loaded() {
    let mut running = BEGUN;
    let [store, load, use_it] = [&[0x48, 0x89, 0x07][..], &[0x48, 0x8B, 0x0F], &[0x48, 0x8B, 0x31]];
    let translated = translate(&[store, load, use_it].map(operands));
    let [store, load, use_it] = translated.operations else { panic!("three") };
    // mov rax, [rax] goes out; mov [rdi], rax goes out for its line; mov rcx, [rdi] hits; mov rsi, [rcx].
    pass(&mut running, 0, &[&[0x48, 0x8B, 0x00]], &[Some(0x1000)]);
    let flow = &mut running.flow;
    flow.goes_out(0x2000, 1);
    flow.complete(store, 0x2000, true, true);
    flow.complete(load, 0x2000, false, false);
    assert_eq!(flow.distance(use_it), 2, "the load, not the store's line");
    // The word beside it waits for the line.
    flow.complete(load, 0x2008, false, false);
    assert_eq!(flow.distance(use_it), 1);
    // The line has gone, and comes again: what was stored to it is not at hand any more.
    flow.goes_out(0x2000, 2);
    flow.complete(load, 0x2000, false, true);
    assert_eq!(flow.distance(use_it), 1);
    flow.goes_out(0x3000, 3);
    flow.complete(load, 0x2000, false, false);
    assert_eq!(flow.distance(use_it), 2);
}
