//! The program as its users meet it.

mod beside_tools;
mod command_line;
mod documents;
mod event_files;
mod every_machine;
mod guest;
mod hardened;
mod kernel_refusals;
mod limits;
mod live;
mod machine_curve;
mod machine_run;
mod odd_machines;
mod ours;
mod own_data;
mod platforms;
mod programs;
mod prometheus;
mod recipe;
mod recordings;
mod register_names;
mod registers_alone;
mod serve;
mod served;
mod this_machine;
mod top;
