//! Finding units, registers, fields and events by name.

use crate::{
    Event, Family, Field, FieldAccess, Identity, NamedValue, OnePer, Operand, Register, Role, Signal, Subevent, Unit,
};

impl<'c> Family<'c> {
    /// A unit by name, in any case.
    pub fn unit(&self, name: &str) -> Option<&'c Unit<'c>> {
        self.units.iter().copied().find(|unit| unit.name.eq_ignore_ascii_case(name))
    }

    /// Index of a unit among [`Family::units`].
    pub fn unit_index(&self, name: &str) -> Option<usize> {
        self.units.iter().position(|unit| unit.name.eq_ignore_ascii_case(name))
    }

    /// The register that holds something of the socket, and its unit.
    pub fn identity(&self, identity: Identity) -> Option<(&'c Unit<'c>, &'c Register<'c>)> {
        let of_unit = |unit: &&'c Unit| Some((*unit, unit.identity(identity)?));
        self.units.iter().find_map(of_unit)
    }

    /// The unit with an instance for each LLC slice, or for each link.
    pub fn unit_per(&self, one_per: OnePer) -> Option<&'c Unit<'c>> {
        self.units.iter().copied().find(|unit| unit.one_per == Some(one_per))
    }

    /// A value of a set of named values, in any case.
    pub fn named_value(&self, set: &str, name: &str) -> Option<u64> {
        let set = self.value_sets.iter().find(|s| s.name == set)?;
        set.values.iter().find(|value| value.name.eq_ignore_ascii_case(name)).map(|value| value.value)
    }
}

impl<'c> Unit<'c> {
    /// An event by name, in any case.
    pub fn event(&self, name: &str) -> Option<&'c Event<'c>> {
        self.events.iter().find(|event| event.name.eq_ignore_ascii_case(name))
    }

    /// The registers of a role, in catalogue order.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &'c Register<'c>> {
        self.registers.iter().filter(move |register| register.role == role)
    }

    /// The register of a role, where the unit has one.
    pub fn register(&self, role: Role) -> Option<&'c Register<'c>> {
        self.with_role(role).next()
    }

    /// The umask that selects an event or one of its subevents; none where there is no such field, or nothing in it.
    pub fn umask(&self, event: &Event<'_>, subevent: Option<&Subevent<'_>>) -> Option<u64> {
        match subevent {
            Some(subevent) => subevent.umask.map(u64::from),
            None => {
                let umask = self.register(Role::Control)?.field("umask")?.bits.get(event.config);
                Some(umask).filter(|&umask| umask != 0)
            }
        }
    }

    /// The register that holds something of the socket.
    pub fn identity(&self, identity: Identity) -> Option<&'c Register<'c>> {
        self.registers.iter().find(|register| register.identity == Some(identity))
    }

    /// A register by name.
    pub fn register_named(&self, name: &str) -> Option<&'c Register<'c>> {
        self.registers.iter().find(|register| register.name.eq_ignore_ascii_case(name))
    }

    /// In how many places of a socket a register is: in fewer than there are instances where neighbours share it.
    pub fn places(&self, register: &Register<'c>) -> u16 {
        let placement = self.placements.get(usize::from(register.placement));
        placement.map_or(0, |placement| u16::try_from(placement.instances.len()).unwrap_or(u16::MAX))
    }

    /// A field of one of the unit's filter registers, with the register.
    pub fn filter_field(&self, name: &str) -> Option<(&'c Register<'c>, &'c Field<'c>)> {
        self.with_role(Role::Filter).find_map(|register| Some((register, register.field(name)?)))
    }

    /// The signal behind an event, where it has one.
    pub fn signal_of(&self, event: &Event<'c>) -> Option<&'c Signal<'c>> {
        event.signal.map(|index| &self.signals[usize::from(index)])
    }
}

impl Event<'_> {
    /// True if what happens is compared with the number in a field.
    pub fn is_compared_with(&self, field: &str) -> bool {
        let mut terms = self.decode.iter().flat_map(|row| row.terms);
        terms.any(|term| [term.operand, term.mask].contains(&Operand::Field(field)))
    }
}

impl<'c> Register<'c> {
    /// The lowest field that is not reserved: the value of an identity register.
    pub fn lowest_field(&self) -> Option<&'c Field<'c>> {
        // Fields stand from the highest bit down.
        self.fields.iter().rfind(|field| field.access != FieldAccess::Reserved)
    }

    /// The fields with the buses of stacks, by the stack's number; none but in a register of [`Identity::StackBuses`].
    pub fn stack_buses(&self) -> impl Iterator<Item = &'c Field<'c>> {
        let holds_them = self.identity == Some(Identity::StackBuses);
        (0..u8::MAX).filter(move |_| holds_them).map_while(|stack| self.field(&format!("bus{stack}")))
    }

    /// A field by name; not for reserved fields.
    pub fn field(&self, name: &str) -> Option<&'c Field<'c>> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Name of an array member, `ctl2`, or the plain name of a single register.
    pub fn member_name(&self, index: u8) -> String {
        if self.count == 1 { self.name.to_owned() } else { format!("{}{index}", self.name) }
    }

    /// Name under which a fixed or free-running counter is counted: `DCLK_FIXED`, `FRCTR_BW_IN_P3`. One without such a name goes by
    /// its own.
    pub fn member_event(&self, index: u8) -> String {
        match self.event {
            Some(event) if self.count == 1 => event.to_owned(),
            Some(event) => format!("{event}{index}"),
            None => self.member_name(index),
        }
    }

    /// The member of an array that is counted under this name, or that has it as its own; in any case.
    pub fn member_counted_as(&self, name: &str) -> Option<u8> {
        let is_it = |&member: &u8| {
            name.eq_ignore_ascii_case(&self.member_event(member))
                || name.eq_ignore_ascii_case(&self.member_name(member))
        };
        (0..self.count).find(is_it)
    }

    /// Offset of an array member from the instance's location.
    pub fn member_offset(&self, index: u8) -> u32 {
        self.offset + u32::from(self.stride) * u32::from(index)
    }
}

impl<'c> Field<'c> {
    /// True if it says something: it is neither reserved nor ignored.
    pub const fn is_meaningful(&self) -> bool {
        !matches!(self.access, FieldAccess::Reserved | FieldAccess::Ignored)
    }

    /// A named value, in any case.
    pub fn named(&self, name: &str) -> Option<&'c NamedValue<'c>> {
        self.values.iter().find(|value| value.name.eq_ignore_ascii_case(name))
    }
}

impl<'c> Event<'c> {
    /// A subevent by name, in any case.
    pub fn subevent(&self, name: &str) -> Option<&'c Subevent<'c>> {
        self.subevents.iter().find(|subevent| subevent.name.eq_ignore_ascii_case(name))
    }
}
