//! The conversation with the stub.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::packet::{self, Decoder, PacketError};
use super::reply::{self, Register, Registers, Stop};

/// The conversation with the stub failed.
#[derive(Debug, thiserror::Error)]
pub enum GdbError {
    /// The connection.
    #[error("the gdb connection to QEMU broke ({0}); QEMU's own messages tell why")]
    Io(#[from] io::Error),
    /// QEMU closed the connection.
    #[error("QEMU closed its gdb connection; its own messages tell why")]
    Closed,
    /// Not the protocol.
    #[error("QEMU's gdb stub sent {0}; QEMU 7.2 is known to work")]
    Packet(#[from] PacketError),
    /// A reply that does not fit the question.
    #[error("QEMU's gdb stub answered {question} with {answer:?}; QEMU 7.2 is known to work")]
    Unexpected {
        /// What was asked.
        question: &'static str,
        /// The answer.
        answer: String,
    },
    /// No answer.
    #[error("QEMU's gdb stub did not answer {question} within {patience:?}: QEMU hangs")]
    Silent {
        /// What was asked.
        question: &'static str,
        /// How long it was waited for.
        patience: Duration,
    },
}

/// A gdb stub at the other end of a socket.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    decoder: Decoder,
    /// Packets to send with the next flush: several at once save round trips.
    outgoing: Vec<u8>,
    /// Questions sent whose answer has not been taken.
    owed: Vec<&'static str>,
    /// How long to wait for an answer.
    patience: Duration,
}

impl Client {
    /// Greets the stub of a halted machine. It answers a question at once, unless the host is very busy: whoever waits for longer
    /// than `patience` gets an error.
    ///
    /// # Errors
    /// [`GdbError`] if it does not answer.
    pub fn connect(stream: UnixStream, patience: Duration) -> Result<Self, GdbError> {
        let mut client = Self { stream, decoder: Decoder::default(), outgoing: Vec::new(), owed: Vec::new(), patience };
        client.ask(b"qSupported:multiprocess-", "qSupported")?;
        // Without this question the stub refuses to write single registers.
        client.ask(b"qXfer:features:read:target.xml:0,ffb", "qXfer")?;
        Ok(client)
    }

    /// Sets a breakpoint at a kernel address of the halted machine.
    ///
    /// # Errors
    /// [`GdbError`] if the stub refuses.
    pub fn insert_breakpoint(&mut self, address: u64) -> Result<(), GdbError> {
        self.expect_ok(format!("Z0,{address:x},1").as_bytes(), "Z0")
    }

    /// Reads the general registers of the vCPU that stopped, and eight bytes of physical memory, in one round trip.
    ///
    /// # Errors
    /// [`GdbError`] if the answers are none.
    pub fn registers_and_physical(&mut self, address: u64) -> Result<(Registers, u64), GdbError> {
        self.post(b"Qqemu.PhyMemMode:1", "Qqemu.PhyMemMode");
        self.outgoing.extend(packet::encode(format!("m{address:x},8").as_bytes()));
        self.outgoing.extend(packet::encode(b"Qqemu.PhyMemMode:0"));
        self.outgoing.extend(packet::encode(b"g"));
        self.flush()?;
        self.settle()?;
        let deadline = Instant::now() + self.patience;
        let memory = self.payload("m", deadline)?;
        let memory = reply::hex(&memory).filter(|bytes| bytes.len() == 8).ok_or_else(|| unexpected("m", &memory))?;
        self.owed.push("Qqemu.PhyMemMode");
        self.settle()?;
        let list = self.payload("g", deadline)?;
        let registers = Registers::parse(&list).ok_or_else(|| unexpected("g", &list))?;
        Ok((registers, reply::little_endian(&memory)))
    }

    /// Reads memory at a virtual address.
    ///
    /// # Errors
    /// [`GdbError`] if the address is not mapped.
    pub fn read_memory(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>, GdbError> {
        let payload = self.ask(format!("m{address:x},{bytes:x}").as_bytes(), "m")?;
        reply::hex(&payload).filter(|read| read.len() == bytes).ok_or_else(|| unexpected("m", &payload))
    }

    /// Writes memory, together with the next question or [`resume`](Self::resume).
    pub fn write_memory(&mut self, address: u64, bytes: &[u8]) {
        self.post(format!("M{address:x},{:x}:{}", bytes.len(), reply::to_hex(bytes)).as_bytes(), "M");
    }

    /// Sets a register, together with the next question or [`resume`](Self::resume).
    pub fn set_register(&mut self, register: Register, value: u64) {
        self.post(format!("P{:x}={}", register as u8, reply::to_hex(&value.to_le_bytes())).as_bytes(), "P");
    }

    /// Lets the machine run. [`wait`](Self::wait) tells when it stops.
    ///
    /// # Errors
    /// [`GdbError`] if a posted write failed.
    pub fn resume(&mut self) -> Result<(), GdbError> {
        self.outgoing.extend(packet::encode(b"c"));
        self.flush()?;
        self.settle()
    }

    /// Executes one instruction, past a breakpoint if one stands there, and waits for its end.
    ///
    /// # Errors
    /// [`GdbError`] if the machine does not stop after it.
    pub fn step(&mut self) -> Result<Stop, GdbError> {
        self.outgoing.extend(packet::encode(b"s"));
        self.flush()?;
        self.settle()?;
        let payload = self.payload("s", Instant::now() + self.patience)?;
        Stop::parse(&payload).ok_or_else(|| unexpected("s", &payload))
    }

    /// Asks a running machine to stop; the stop comes through [`wait`](Self::wait), unless another one crosses it.
    ///
    /// # Errors
    /// [`GdbError`] if the connection broke.
    pub fn interrupt(&mut self) -> Result<(), GdbError> {
        Ok(self.stream.write_all(&[3])?)
    }

    /// The next stop of a running machine, or `None` at `deadline`.
    ///
    /// # Errors
    /// [`GdbError`] if the connection broke.
    pub fn wait(&mut self, deadline: Instant) -> Result<Option<Stop>, GdbError> {
        let Some(payload) = self.receive(deadline)? else { return Ok(None) };
        Stop::parse(&payload).map(Some).ok_or_else(|| unexpected("c", &payload))
    }

    fn post(&mut self, payload: &[u8], question: &'static str) {
        self.outgoing.extend(packet::encode(payload));
        self.owed.push(question);
    }

    fn expect_ok(&mut self, payload: &[u8], question: &'static str) -> Result<(), GdbError> {
        self.post(payload, question);
        self.flush()?;
        self.settle()
    }

    fn ask(&mut self, payload: &[u8], question: &'static str) -> Result<Vec<u8>, GdbError> {
        self.outgoing.extend(packet::encode(payload));
        self.flush()?;
        self.settle()?;
        self.payload(question, Instant::now() + self.patience)
    }

    /// Takes the `OK`s of posted packets.
    fn settle(&mut self) -> Result<(), GdbError> {
        for question in std::mem::take(&mut self.owed) {
            let answer = self.payload(question, Instant::now() + self.patience)?;
            if answer != b"OK" {
                return Err(unexpected(question, &answer));
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), GdbError> {
        // No acknowledgements: the stub takes the next packet for one.
        self.stream.write_all(&self.outgoing)?;
        self.outgoing.clear();
        Ok(())
    }

    fn payload(&mut self, question: &'static str, deadline: Instant) -> Result<Vec<u8>, GdbError> {
        self.receive(deadline)?.ok_or(GdbError::Silent { question, patience: self.patience })
    }

    fn receive(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, GdbError> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(payload) = self.decoder.next_payload()? {
                return Ok(Some(payload));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(GdbError::Closed),
                Ok(count) => self.decoder.push(&buffer[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn unexpected(question: &'static str, answer: &[u8]) -> GdbError {
    GdbError::Unexpected { question, answer: String::from_utf8_lossy(answer).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A stub that answers each packet with the next of `answers`.
    fn stub(answers: &'static [&'static [u8]]) -> (UnixStream, std::thread::JoinHandle<Vec<Vec<u8>>>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let thread = std::thread::spawn(move || {
            let (mut decoder, mut heard, mut buffer) = (Decoder::default(), Vec::new(), [0; 512]);
            while heard.len() < answers.len() {
                match decoder.next_payload().unwrap() {
                    Some(payload) => {
                        theirs.write_all(b"+").unwrap();
                        theirs.write_all(&packet::encode(answers[heard.len()])).unwrap();
                        heard.push(payload);
                    }
                    None => {
                        let count = theirs.read(&mut buffer).unwrap();
                        decoder.push(&buffer[..count]);
                    }
                }
            }
            heard
        });
        (ours, thread)
    }

    #[test]
    fn posted_writes_go_with_the_resume_and_are_checked() {
        let (stream, thread) = stub(&[b"PacketSize=1000", b"l<target/>", b"OK", b"OK", b"T05thread:01;"]);
        let mut client = Client::connect(stream, PATIENCE).unwrap();
        client.set_register(Register::Rax, 0x1234);
        client.write_memory(0xffff_8000_0000_0000, &[1, 2]);
        client.resume().unwrap();
        assert_eq!(client.wait(Instant::now() + PATIENCE).unwrap(), Some(Stop::Signal { signal: 5, cpu: 0 }));
        let heard = thread.join().unwrap();
        assert_eq!(heard[2..], [&b"P0=3412000000000000"[..], b"Mffff800000000000,2:0102", b"c"]);
    }

    /// Half of what was asked for is not what was asked for.
    #[test]
    fn memory_is_read_whole_or_not_at_all() {
        let (stream, thread) = stub(&[b"", b"l", b"0102a0", b"0102"]);
        let mut client = Client::connect(stream, PATIENCE).unwrap();
        assert_eq!(client.read_memory(0x1000, 3).unwrap(), [1, 2, 0xa0]);
        let short = client.read_memory(0x1000, 3).unwrap_err();
        assert!(short.to_string().contains("0102"), "{short}");
        assert_eq!(thread.join().unwrap()[2], b"m1000,3");
    }

    /// Physical memory is read between two switches of mode, with the registers behind it.
    #[test]
    fn registers_come_with_eight_bytes_of_physical_memory() {
        let list: String = (0..24u64).map(|value| reply::to_hex(&value.to_le_bytes())).collect();
        let replies: Vec<&'static [u8]> = vec![b"", b"l", b"OK", b"78563412000000a0", b"OK", list.leak().as_bytes()];
        let (stream, thread) = stub(replies.leak());
        let mut client = Client::connect(stream, PATIENCE).unwrap();
        let (registers, memory) = client.registers_and_physical(0xfed0_00f0).unwrap();
        assert_eq!((registers.rip(), registers.rsp(), memory), (16, 7, 0xa000_0000_1234_5678));
        let requests = [&b"Qqemu.PhyMemMode:1"[..], b"mfed000f0,8", b"Qqemu.PhyMemMode:0", b"g"];
        assert_eq!(thread.join().unwrap()[2..], requests);
    }

    /// Seven bytes of eight, a mode that is refused, and registers cut short.
    #[test]
    fn half_of_the_registers_is_an_error() {
        const BROKEN: [(&[&[u8]], &str); 4] = [
            (&[b"", b"l", b"OK", b"78563412000000", b"OK", b""], "m"),
            (&[b"", b"l", b"E01", b"78563412000000a0", b"OK", b""], "Qqemu.PhyMemMode"),
            (&[b"", b"l", b"OK", b"78563412000000a0", b"", b""], "Qqemu.PhyMemMode"),
            (&[b"", b"l", b"OK", b"78563412000000a0", b"OK", b"0000"], "g"),
        ];
        for (replies, question) in BROKEN {
            let (stream, thread) = stub(replies);
            let mut client = Client::connect(stream, PATIENCE).unwrap();
            let error = client.registers_and_physical(0x1000).unwrap_err();
            assert!(matches!(&error, GdbError::Unexpected { question: of, .. } if *of == question), "{error}");
            thread.join().unwrap();
        }
    }

    /// A client that was greeted, and the stub's end of its connection.
    fn greeted(patience: Duration) -> (Client, UnixStream) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&[packet::encode(b""), packet::encode(b"l")].concat()).unwrap();
        (Client::connect(ours, patience).unwrap(), theirs)
    }

    #[test]
    fn a_step_ends_where_it_stopped_and_an_interrupt_is_one_byte() {
        let (stream, thread) = stub(&[b"", b"l", b"T05thread:02;", b"OK", b"oops"]);
        let mut client = Client::connect(stream, PATIENCE).unwrap();
        assert_eq!(client.step().unwrap(), Stop::Signal { signal: 5, cpu: 1 });
        client.insert_breakpoint(0xffff_ffff_8100_0000).unwrap();
        let odd = client.step().unwrap_err();
        assert!(odd.to_string().contains("oops"), "{odd}");
        assert_eq!(thread.join().unwrap()[2..], [&b"s"[..], b"Z0,ffffffff81000000,1", b"s"]);
        let (mut client, mut theirs) = greeted(PATIENCE);
        client.interrupt().unwrap();
        drop(client);
        let mut sent = Vec::new();
        theirs.read_to_end(&mut sent).unwrap();
        // GDB's manual, E.9: an interrupt is the byte 3, without a packet.
        assert_eq!(sent.last(), Some(&3), "{sent:?}");
    }

    /// A stub that says nothing: a wait ends without a stop, and a question with an error that names it.
    #[test]
    fn a_silent_stub_is_not_waited_for_for_ever() {
        let patience = Duration::from_millis(20);
        let (mut client, _theirs) = greeted(patience);
        assert_eq!(client.wait(Instant::now() + patience).unwrap(), None);
        let silent = client.read_memory(0x1000, 1).unwrap_err();
        assert!(
            matches!(silent, GdbError::Silent { question: "m", patience: waited } if waited == patience),
            "{silent}"
        );
    }

    #[test]
    fn a_refusal_and_a_hang_up_are_errors() {
        let (stream, thread) = stub(&[b"", b"l", b"E22"]);
        let mut client = Client::connect(stream, PATIENCE).unwrap();
        let refused = client.insert_breakpoint(0x1000).unwrap_err();
        assert!(matches!(&refused, GdbError::Unexpected { question: "Z0", answer } if answer == "E22"), "{refused}");
        thread.join().unwrap();
        let gone = client.wait(Instant::now() + PATIENCE).unwrap_err();
        assert!(matches!(gone, GdbError::Closed | GdbError::Io(_)), "{gone}");
    }
}
