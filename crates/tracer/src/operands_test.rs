//! Expectations by hand, from the descriptions of the instructions in the SDM, volume 2.

use crate::operands::{Operands, operands};

const RAX: u16 = 1;
const RCX: u16 = 1 << 1;
const RDX: u16 = 1 << 2;
const RBX: u16 = 1 << 3;
const RSI: u16 = 1 << 6;
const RDI: u16 = 1 << 7;
const R9: u16 = 1 << 9;
const R12: u16 = 1 << 12;
const R13: u16 = 1 << 13;
const R15: u16 = 1 << 15;

/// Address, sources and targets of an instruction that accesses memory.
fn accesses(bytes: &[u8], address: u16, sources: u16, targets: u16) {
    assert_eq!(operands(bytes), Operands { address, sources, targets, in_memory: true }, "{bytes:02x?}");
}

/// Sources and targets of one that does not.
fn computes(bytes: &[u8], sources: u16, targets: u16) {
    assert_eq!(operands(bytes), Operands { address: 0, sources, targets, in_memory: false }, "{bytes:02x?}");
}

#[test]
fn loads() {
    // mov rax, [rbx]; mov eax, [rbx + rcx*8 + 16]; mov r9, [r12]; mov r15, [r13 + 0]; mov rdi, [rip + 4].
    accesses(&[0x48, 0x8B, 0x03], RBX, 0, RAX);
    accesses(&[0x8B, 0x44, 0xCB, 0x10], RBX | RCX, 0, RAX);
    accesses(&[0x4D, 0x8B, 0x0C, 0x24], R12, 0, R9);
    accesses(&[0x4D, 0x8B, 0x7D, 0x00], R13, 0, R15);
    accesses(&[0x48, 0x8B, 0x3D, 4, 0, 0, 0], 0, 0, RDI);
    // mov rax, [rcx*8 + 16]; mov rax, [rsp + 8]; mov rax, [rsp + r12].
    accesses(&[0x48, 0x8B, 0x04, 0xCD, 16, 0, 0, 0], RCX, 0, RAX);
    accesses(&[0x48, 0x8B, 0x44, 0x24, 8], 0, 0, RAX);
    accesses(&[0x4A, 0x8B, 0x04, 0x24], R12, 0, RAX);
    // movzx eax, byte [rdx]; movsxd rcx, dword [rdx]; add rax, [rbx]; cmp rax, [rbx]; movzx of a part keeps nothing.
    accesses(&[0x0F, 0xB6, 0x02], RDX, 0, RAX);
    accesses(&[0x48, 0x63, 0x0A], RDX, 0, RCX);
    accesses(&[0x48, 0x03, 0x03], RBX, RAX, RAX);
    accesses(&[0x48, 0x3B, 0x03], RBX, RAX, 0);
    // mov al, [rbx]: the rest of rax stays. movss xmm0, [rbx]: no general register.
    accesses(&[0x8A, 0x03], RBX, RAX, RAX);
    accesses(&[0xF3, 0x0F, 0x10, 0x03], RBX, 0, 0);
    // pop rdi; andn rax, rcx, [rbx]; pextrq of VEX is none of them.
    accesses(&[0x5F], 0, 0, RDI);
    accesses(&[0xC4, 0xE2, 0xF0, 0xF2, 0x03], RBX, RCX, RAX);
}

#[test]
fn stores() {
    // mov [rdi], rax; mov [rdi + rcx], r9d; mov qword [rdi], 1; push rbx; xchg [rdi], rax.
    accesses(&[0x48, 0x89, 0x07], RDI, RAX, 0);
    accesses(&[0x44, 0x89, 0x0C, 0x0F], RDI | RCX, R9, 0);
    accesses(&[0x48, 0xC7, 0x07, 1, 0, 0, 0], RDI, 0, 0);
    accesses(&[0x53], 0, RBX, 0);
    accesses(&[0x48, 0x87, 0x07], RDI, RAX, RAX);
    // movsq: no register gets what it loads. lock cmpxchg [rdi], rcx: compares with rax, and may load it.
    accesses(&[0x48, 0xA5], RSI | RDI, 0, 0);
    accesses(&[0xF0, 0x48, 0x0F, 0xB1, 0x0F], RDI, RAX | RCX, RAX);
}

#[test]
fn what_accesses_no_memory() {
    // mov rax, rbx; mov rdi, 5; lea rax, [rbx + rcx*4]; add rax, rcx; imul rdx, rcx, 24.
    computes(&[0x48, 0x89, 0xD8], RBX, RAX);
    computes(&[0x48, 0xC7, 0xC7, 5, 0, 0, 0], 0, RDI);
    computes(&[0x48, 0x8D, 0x04, 0x8B], RBX | RCX, RAX);
    computes(&[0x48, 0x01, 0xC8], RAX | RCX, RAX);
    computes(&[0x48, 0x6B, 0xD1, 24], RCX, RDX);
    // mov eax, 7; xor eax, eax; xor eax, ecx; sub r9, r9: two of them are made of nothing.
    computes(&[0xB8, 7, 0, 0, 0], 0, RAX);
    computes(&[0x31, 0xC0], 0, RAX);
    computes(&[0x31, 0xC8], RAX | RCX, RAX);
    computes(&[0x4D, 0x29, 0xC9], 0, R9);
    // xor r9, rcx has the same three bits twice and is of two registers; xchg rbx, rax; bswap r15; popcnt rax, rdx.
    computes(&[0x49, 0x31, 0xC9], R9 | RCX, R9);
    computes(&[0x48, 0x93], RAX | RBX, RAX | RBX);
    computes(&[0x49, 0x0F, 0xCF], R15, R15);
    computes(&[0xF3, 0x48, 0x0F, 0xB8, 0xC2], RDX, RAX);
    // cmove rax, rbx may leave rax as it is; test rax, rax and jumps have no result; mul rcx; cqo; shlx rax, rbx, rcx.
    computes(&[0x48, 0x0F, 0x44, 0xC3], RAX | RBX, RAX);
    computes(&[0x48, 0x85, 0xC0], RAX, 0);
    computes(&[0x75, 0x10], 0, 0);
    computes(&[0x48, 0xF7, 0xE1], RAX | RCX, RAX | RDX);
    computes(&[0x48, 0x99], RAX, RDX);
    computes(&[0xC4, 0xE2, 0xF1, 0xF7, 0xC3], RBX | RCX, RAX);
    // movq rax, xmm0; nop; ret and call move the stack pointer only.
    computes(&[0x66, 0x48, 0x0F, 0x7E, 0xC0], 0, RAX);
    computes(&[0x90], RAX, RAX);
}

/// Second bytes of registers: ah is none of rsp's.
#[test]
fn second_bytes_are_left_out() {
    // mov ah, cl; mov spl, cl with REX; mov dh, [rbx].
    computes(&[0x88, 0xCC], RCX, 0);
    computes(&[0x40, 0x88, 0xCE], RSI | RCX, RSI);
    accesses(&[0x8A, 0x33], RBX, 0, 0);
}

#[test]
fn what_is_cut_off_or_unknown_has_none() {
    let none = Operands::default();
    for bytes in [&[][..], &[0x48], &[0x66], &[0x0F], &[0xC4, 0xE2], &[0xC5], &[0x62, 0xF1, 0xFD, 0x48, 0xEF, 0xC0]] {
        assert_eq!(operands(bytes), none, "{bytes:02x?}");
    }
    // Behind a ModRM that needs SIB, none.
    assert_eq!(operands(&[0x48, 0x8B, 0x04]).targets, RAX);
}
