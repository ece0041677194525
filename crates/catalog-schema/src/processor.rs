//! What a family's processors are besides their uncore: how CPUID describes one of them.

use serde::{Deserialize, Serialize};

use crate::{CoreMsr, embedded};

/// One part of a family, as CPUID describes it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ProcessorPart<'c> {
    /// Display family and model.
    pub model: CpuModel,
    /// Stepping, 0 to 15.
    pub stepping: u8,
    /// Brand string, at most 47 characters.
    pub brand: &'c str,
    /// Nominal frequency, in MHz.
    pub nominal_mhz: u32,
    /// Document that the values are from.
    pub source: &'c str,
    /// Leaves that are the same on every logical CPU; the others describe topology, caches and brand.
    #[serde(deserialize_with = "embedded::list")]
    pub leaves: &'c [CpuidLeaf],
    /// Caches, in the order of leaf 4.
    #[serde(deserialize_with = "embedded::list")]
    pub caches: &'c [CacheGeometry],
    /// MSRs outside the PMON, by address.
    #[serde(deserialize_with = "embedded::list")]
    pub core_msrs: &'c [CoreMsr<'c>],
}

/// A CPUID family and model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuModel {
    /// Display family.
    pub family: u16,
    /// Display model.
    pub model: u16,
}

/// What CPUID returns for a leaf and subleaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuidLeaf {
    /// EAX before the instruction.
    pub leaf: u32,
    /// ECX before the instruction; none for leaves that do not look at it.
    pub subleaf: Option<u32>,
    /// EAX, EBX, ECX, EDX after it.
    pub registers: [u32; 4],
}

/// A cache of 64-byte lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheGeometry {
    /// Level, from 1.
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Ways of a set.
    pub ways: u32,
    /// Sets; of a shared cache, those of all its slices.
    pub sets: u32,
    /// True if all cores of a socket share it.
    pub shared: bool,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Data.
    Data,
    /// Instructions.
    Instruction,
    /// Both.
    Unified,
}

impl<'c> ProcessorPart<'c> {
    /// CPUID leaf 1 EAX: stepping, model and family (SDM volume 2, CPUID, "Version Information").
    pub fn signature(&self) -> u32 {
        let CpuModel { family, model } = self.model;
        let (family, model) = (u32::from(family), u32::from(model));
        // The base family has four bits; what is above 15 stands in the extended family.
        let (base, extended) = (family.min(0xf), family.saturating_sub(0xf));
        extended << 20 | (model >> 4) << 16 | base << 8 | (model & 0xf) << 4 | u32::from(self.stepping)
    }

    /// The MSR of that address outside the PMON, if the part has it.
    pub fn core_msr(&self, address: u32) -> Option<&'c CoreMsr<'c>> {
        let index = self.core_msrs.binary_search_by_key(&address, |row| row.address).ok()?;
        Some(&self.core_msrs[index])
    }

    /// The constant row of a leaf, if it has one.
    pub fn leaf(&self, leaf: u32, subleaf: u32) -> Option<&'c CpuidLeaf> {
        self.leaves.iter().find(|row| row.leaf == leaf && row.subleaf.is_none_or(|own| own == subleaf))
    }
}
