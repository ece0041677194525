//! The first line, read without trust.

use std::collections::{BTreeMap, HashSet};

use super::RecordError;
use super::header::{About, Counted, Header, Place, Source};
use super::spot::Spot;
use crate::selection::Asked;

/// What the first line says, if all that it refers to is there.
pub(super) fn header_of(spot: &Spot<'_>) -> Result<Header, RecordError> {
    let text = |name: &str| Ok::<String, RecordError>(spot.field(name)?.text()?.to_owned());
    let given = |name: &'static str| spot.optional(name);
    let optional = |name: &'static str| given(name)?.map(|found| found.text().map(str::to_owned)).transpose();
    let list = spot.field("event-files")?;
    let event_files = list.items()?.map(|file| file.text().map(str::to_owned)).collect::<Result<_, _>>()?;
    let about = About {
        pericore: text("pericore")?,
        title: text("title")?,
        emulated: optional("emulated")?,
        started: optional("started")?,
        host: optional("host")?,
        event_files,
        truth: spot.field("truth")?.flag()?,
    };
    if about.emulated.is_some() && !about.title.starts_with("EMULATED") {
        return Err(spot.field("title")?.refuse("it does not begin with EMULATED, as that of a software machine"));
    }
    let list = spot.field("selection")?;
    let asked = list.items()?.map(|item| asked_of(&item)).collect::<Result<_, _>>()?;
    let list = spot.field("events")?;
    let events = list.items()?.map(|item| event_of(&item)).collect::<Result<Vec<_>, _>>()?;
    for item in list.items()? {
        if let Some(companion) = item.optional("companion")?
            && companion.whole_number::<usize>()? >= events.len()
        {
            return Err(companion.refuse("there is no such event"));
        }
    }
    let list = spot.field("instances")?;
    let mut seen = HashSet::new();
    let mut instances = Vec::new();
    for item in list.items()? {
        let place = Place {
            socket: item.field("socket")?.whole_number()?,
            unit: item.field("unit")?.text()?.to_owned(),
            number: item.field("number")?.whole_number()?,
        };
        if !seen.insert(place.clone()) {
            return Err(item.refuse("it is there twice"));
        }
        instances.push(place);
    }
    let list = spot.field("counts")?;
    let mut seen = HashSet::new();
    let mut counts: Vec<(usize, usize)> = Vec::new();
    for item in list.items()? {
        let [event, instance] = item.pair()?;
        let pair = (event.whole_number()?, instance.whole_number()?);
        let counted: &Counted = events.get(pair.0).ok_or_else(|| event.refuse("there is no such event"))?;
        let place: &Place = instances.get(pair.1).ok_or_else(|| instance.refuse("there is no such instance"))?;
        if counted.unit != place.unit || counted.instance.is_some_and(|only| only != place.number) {
            return Err(item.refuse("the event is not one of this instance"));
        }
        if !seen.insert(pair) {
            return Err(item.refuse("it is there twice"));
        }
        counts.push(pair);
    }
    let threads_per_core = given("threads-per-core")?.map(|number| number.whole_number()).transpose()?;
    Ok(Header { about, family: text("family")?, asked, events, instances, counts, threads_per_core })
}

fn asked_of(spot: &Spot<'_>) -> Result<Asked, RecordError> {
    match (spot.optional("events")?, spot.optional("metrics")?) {
        (Some(events), None) => Ok(Asked::Events(events.text()?.to_owned())),
        (None, Some(metrics)) => Ok(Asked::Metrics(metrics.text()?.to_owned())),
        _ => Err(spot.refuse("it has neither \"events\" nor \"metrics\", or both")),
    }
}

fn event_of(spot: &Spot<'_>) -> Result<Counted, RecordError> {
    let source = match (spot.optional("control")?, spot.optional("fixed")?, spot.optional("free-running")?) {
        (Some(control), None, None) => {
            let mut filters = BTreeMap::new();
            if let Some(object) = spot.optional("filters")? {
                for (name, value) in object.fields()? {
                    filters.insert(name.to_owned(), value.hex()?);
                }
            }
            let companion = spot.optional("companion")?.map(|index| index.whole_number()).transpose()?;
            Source::Programmed { control: control.hex()?, filters, companion }
        }
        (None, Some(register), None) => Source::Fixed { register: register.text()?.to_owned() },
        (None, None, Some(register)) => {
            Source::FreeRunning { register: register.text()?.to_owned(), member: spot.field("member")?.whole_number()? }
        }
        _ => return Err(spot.refuse("it has none of \"control\", \"fixed\" and \"free-running\", or several")),
    };
    Ok(Counted {
        label: spot.field("label")?.text()?.to_owned(),
        unit: spot.field("unit")?.text()?.to_owned(),
        instance: spot.optional("instance")?.map(|number| number.whole_number()).transpose()?,
        source,
    })
}
