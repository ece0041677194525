//! A network of the test's own: hosts as network namespaces, each on a bridge by an address. All of it is gone when the
//! test is, however that ends. Needs root or user namespaces, and Debian's packages iproute2 and util-linux.

use std::process::{Command, Stdio};

use super::Running;
use crate::ours::command;

/// Makes so many hosts, and stays until nobody holds its standard input any more.
const SCRIPT: &str = r#"
mount -t tmpfs none /run
mkdir /run/netns
ip link set lo up
ip link add hub type bridge
ip address add 10.30.0.1/24 dev hub
ip link set hub up
host=0
while [ $host -lt $1 ]; do
    ip netns add h$host
    ip link add v$host type veth peer name eth0 netns h$host
    ip link set v$host master hub up
    ip -n h$host address add 10.30.0.$((host + 10))/24 dev eth0
    ip -n h$host link set lo up
    ip -n h$host link set eth0 up
    host=$((host + 1))
done
echo the network is up >&2
exec cat
"#;

pub struct Network {
    holder: Running,
    is_root: bool,
}

impl Network {
    /// A network of so many hosts.
    pub fn of(hosts: usize) -> Self {
        // SAFETY: no memory is involved, and it cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        let mut unshare = Command::new("unshare");
        unshare.args(["--net", "--mount", "--propagation", "private"]);
        if !is_root {
            unshare.args(["--user", "--map-root-user"]);
        }
        unshare.args(["sh", "-ec", SCRIPT, "sh", &hosts.to_string()]).stdin(Stdio::piped());
        Self { holder: Running::start(&mut unshare, "the network is up").0, is_root }
    }

    /// A host's address.
    pub fn address(host: usize) -> String {
        format!("10.30.0.{}", host + 10)
    }

    /// A program that runs on a host, or else beside all of them.
    pub fn command(&self, host: Option<usize>, program: &str) -> Command {
        let mut command = command("nsenter");
        command.args(["--target", &self.holder.0.id().to_string(), "--net", "--mount"]);
        if !self.is_root {
            command.args(["--user", "--preserve-credentials"]);
        }
        if let Some(host) = host {
            command.args(["nsenter", &format!("--net=/run/netns/h{host}")]);
        }
        command.arg(program);
        command
    }
}
