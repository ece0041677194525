//! Sampling: only windows of a run are modelled in detail.

/// Which part of a program's accesses is counted, in windows at places that a seed chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// One of so many accesses.
    pub one_in: u32,
    /// Decides where in its stretch of the program each window lies.
    pub seed: u64,
}

/// How much of a run is counted, as the user gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRequest {
    /// How much.
    pub size: SampleSize,
    /// Decides where the windows of a program lie, if it is given.
    pub seed: Option<u64>,
}

/// How much of a run is counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SampleSize {
    /// One of so many parts.
    OneIn(u32),
    /// As much as it takes until half of each 95 % interval is at most this share of its number.
    Error(f64),
}

/// A part that cannot be counted, or an error that cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text}: give a share of the run, from 1/2 to 1/10000, such as 1/50, or an error, from error=0.1% to error=50%, \
     such as error=2%; with ,seed=N the windows of a program lie elsewhere"
)]
pub struct SamplingError {
    /// What was given.
    pub text: String,
}

/// Errors that can be requested, in per cent.
const ERRORS: std::ops::RangeInclusive<f64> = 0.1..=50.0;

/// As many of a program's first accesses are counted for an error as for this share of it.
const FIRST: u32 = 50;

impl SampleRequest {
    /// Reads `1/N` or `error=P%`, each with `,seed=S` or without.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &str) -> Result<Self, SamplingError> {
        let refused = || SamplingError { text: text.to_owned() };
        let (size, seed) = match text.split_once(",seed=") {
            Some((size, seed)) => (size, Some(seed.parse().map_err(|_| refused())?)),
            None => (text, None),
        };
        let size = match size.strip_prefix("error=") {
            Some(error) => {
                let per_cent = error.strip_suffix('%').and_then(|number| number.parse().ok());
                SampleSize::Error(per_cent.filter(|number| ERRORS.contains(number)).ok_or_else(refused)? / 100.0)
            }
            None => {
                let one_in = size.strip_prefix("1/").and_then(|number| number.parse().ok());
                SampleSize::OneIn(one_in.filter(|one_in| (2..=10_000).contains(one_in)).ok_or_else(refused)?)
            }
        };
        Ok(Self { size, seed })
    }

    /// How the windows of a program lie at first.
    pub fn of_program(self) -> Sampling {
        let one_in = match self.size {
            SampleSize::OneIn(one_in) => one_in,
            SampleSize::Error(_) => FIRST,
        };
        Sampling { one_in, seed: self.seed.unwrap_or(1) }
    }

    /// The error that is requested, as a share.
    pub const fn error(self) -> Option<f64> {
        match self.size {
            SampleSize::OneIn(_) => None,
            SampleSize::Error(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SampleRequest, SampleSize, Sampling};

    #[test]
    fn shares_errors_and_seeds() {
        let of = |size, seed| Ok(SampleRequest { size, seed });
        assert_eq!(SampleRequest::parse("1/50"), of(SampleSize::OneIn(50), None));
        assert_eq!(SampleRequest::parse("1/2,seed=77"), of(SampleSize::OneIn(2), Some(77)));
        assert_eq!(SampleRequest::parse("error=2%"), of(SampleSize::Error(0.02), None));
        assert_eq!(SampleRequest::parse("error=0.5%,seed=3"), of(SampleSize::Error(0.005), Some(3)));
        let error = |text| SampleRequest::parse(text).map(SampleRequest::error);
        assert_eq!([error("1/50"), error("error=2%")], [Ok(None), Ok(Some(0.02))]);
        let refused = [
            "",
            "50",
            "1/1",
            "1/10001",
            "2/50",
            "0/5",
            "1/50,seed=",
            "1/50,sed=1",
            "1/-2",
            "error=0",
            "error=2",
            "error=0%",
            "error=200%",
            "error=NaN%",
            "error=-1%",
            "error=2%,1/50",
        ];
        for text in refused {
            let refusal = SampleRequest::parse(text).unwrap_err().to_string();
            assert!(refusal.starts_with(&format!("{text}: give a share")), "{refusal}");
        }
    }

    #[test]
    fn a_program_has_the_share_and_the_seed_that_are_given() {
        let of = |text| SampleRequest::parse(text).unwrap().of_program();
        assert_eq!(of("1/50,seed=4"), Sampling { one_in: 50, seed: 4 });
        assert_eq!(of("error=5%"), Sampling { one_in: 50, seed: 1 });
    }
}
