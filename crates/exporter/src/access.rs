//! Whose requests are answered.

use crate::hosts::Hosts;

/// Bytes of a token at most.
const MOST_BYTES: usize = 1024;

/// What a request has to bring.
#[derive(Debug, Clone)]
pub struct RequestPolicy {
    pub(crate) hosts: Hosts,
    pub(crate) token: Option<BearerToken>,
}

/// A secret that clients send with each request (RFC 6750).
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(Vec<u8>);

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It could be guessed.
    #[error("a token has at least 16 characters: openssl rand -hex 32 makes one")]
    Short,
    /// It does not fit into a request.
    #[error("a token has letters, digits and -._~+/= only, and {MOST_BYTES} of them at most")]
    Form,
}

impl RequestPolicy {
    /// Requests that name one of these hosts.
    pub const fn of(hosts: Hosts) -> Self {
        Self { hosts, token: None }
    }

    /// Only those with this token.
    #[must_use]
    pub fn with_token(self, token: Option<BearerToken>) -> Self {
        Self { token, ..self }
    }

    /// True if the values of a request's fields Authorization are what is wanted.
    pub(crate) fn admits<'a>(&self, mut fields: impl Iterator<Item = &'a [u8]>) -> bool {
        let Some(token) = &self.token else { return true };
        match (fields.next(), fields.next()) {
            (Some(field), None) => bearer(field).is_some_and(|given| token.is(given)),
            _ => false,
        }
    }
}

impl BearerToken {
    /// The token of a text, such as a file: without white space around it.
    ///
    /// # Errors
    /// It is too short to be secret, or cannot be sent.
    pub fn of(text: &str) -> Result<Self, TokenError> {
        let token = text.trim();
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if token.len() > MOST_BYTES || !token.bytes().all(is_known) {
            return Err(TokenError::Form);
        }
        if token.len() < 16 {
            return Err(TokenError::Short);
        }
        Ok(Self(token.as_bytes().to_vec()))
    }

    /// Compares all bytes, so that the time says nothing about how many are right.
    fn is(&self, given: &[u8]) -> bool {
        let differs = self.0.iter().zip(given).fold(0, |differs, (one, other)| differs | (one ^ other));
        std::hint::black_box(differs) == 0 && self.0.len() == given.len()
    }
}

/// It is a secret.
impl std::fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BearerToken")
    }
}

/// What stands behind `Bearer`, in any case of letters (RFC 9110, 11.1).
fn bearer(field: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = field.split_at_checked(6)?;
    let token = rest.strip_prefix(b" ")?.trim_ascii();
    scheme.eq_ignore_ascii_case(b"bearer").then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    #[test]
    fn only_the_token_itself_admits() {
        let access =
            RequestPolicy::of(Hosts::any()).with_token(Some(BearerToken::of(&format!(" {SECRET}\n")).unwrap()));
        let admits = |fields: &[&str]| access.admits(fields.iter().map(|field| field.as_bytes()));
        assert!(admits(&["Bearer 0123456789abcdef"]) && admits(&["bEARER  0123456789abcdef "]));
        for field in [
            "Bearer 0123456789abcdeg",
            "Bearer 1123456789abcdef",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdeff",
            "Bearer0123456789abcdef",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
            "Bearer ",
            "Bearer",
            "",
        ] {
            assert!(!admits(&[field]), "{field:?}");
        }
        assert!(!admits(&[]) && !admits(&["Bearer 0123456789abcdef"; 2]));
        assert!(RequestPolicy::of(Hosts::any()).admits(std::iter::empty()));
        assert_eq!(format!("{access:?}").matches(SECRET).count(), 0, "it is not printed");
    }

    #[test]
    fn what_is_no_secret_is_refused() {
        for (text, error) in [
            ("", TokenError::Short),
            ("0123456789abcde", TokenError::Short),
            ("0123456789 abcdef", TokenError::Form),
            ("0123456789abcdef\n0123456789abcdef", TokenError::Form),
            ("0123456789abcd\u{e9}", TokenError::Form),
            (&"x".repeat(1025), TokenError::Form),
        ] {
            assert_eq!(BearerToken::of(text), Err(error), "{text:?}");
        }
        assert!(BearerToken::of(&"x".repeat(1024)).is_ok());
    }
}
