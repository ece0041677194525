//! Sampling: a program is run in detail in windows only, and by function in between.

/// Which part of a program's accesses is counted, in windows at places that a seed chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// One of so many accesses.
    pub one_in: u32,
    /// Decides where in its stretch of the program each window lies.
    pub seed: u64,
}

/// A share that cannot be counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text}: give a share of the accesses, from 1/2 to 1/10000, such as 1/50; with ,seed=N the windows lie elsewhere"
)]
pub struct SamplingError {
    /// What was given.
    pub text: String,
}

impl Sampling {
    /// Reads `1/N` or `1/N,seed=S`.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &str) -> Result<Self, SamplingError> {
        let refused = || SamplingError { text: text.to_owned() };
        let (share, seed) = text.split_once(",seed=").unwrap_or((text, "1"));
        let one_in = share.strip_prefix("1/").and_then(|number| number.parse().ok());
        let one_in = one_in.filter(|one_in| (2..=10_000).contains(one_in)).ok_or_else(refused)?;
        Ok(Self { one_in, seed: seed.parse().map_err(|_| refused())? })
    }
}

#[cfg(test)]
mod tests {
    use super::Sampling;

    #[test]
    fn shares_and_seeds() {
        assert_eq!(Sampling::parse("1/50"), Ok(Sampling { one_in: 50, seed: 1 }));
        assert_eq!(Sampling::parse("1/2,seed=77"), Ok(Sampling { one_in: 2, seed: 77 }));
        for text in ["", "50", "1/1", "1/10001", "2/50", "1/50,seed=", "1/50,sed=1", "1/-2"] {
            let refusal = Sampling::parse(text).unwrap_err().to_string();
            assert!(refusal.starts_with(&format!("{text}: give a share")), "{refusal}");
        }
    }
}
