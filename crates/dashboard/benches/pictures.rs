//! `cargo bench -p pericore-dashboard -- N`: takes N samples of the seeded machine of the tests, of two sockets, and
//! draws each on 200 by 60, as `top` does each second. `benches/top_instructions` counts what that costs.

#[path = "../tests/seeded/mod.rs"]
mod seeded;

use pericore_dashboard::frame;

fn main() {
    let wanted = std::env::args().filter_map(|word| word.parse::<u64>().ok()).next().unwrap_or(0);
    let mut state = seeded::measured();
    let mut signs = 0;
    for second in 0..wanted {
        seeded::take(&mut state, second);
        signs += frame::picture(&state, 200, 60).content.iter().filter(|cell| cell.symbol() != " ").count();
    }
    println!("{wanted} pictures, {signs} signs");
}
