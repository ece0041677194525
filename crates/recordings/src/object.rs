//! Objects of a store that speaks S3's protocol. What is written is kept in memory until the object is complete, and
//! then put as a whole: nobody ever reads half a recording.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, Error, GetOptions, ObjectStore as _, ObjectStoreExt as _, PutMode, PutPayload, RetryConfig,
    UpdateVersion,
};
use tokio::runtime::{Builder, Runtime};

/// Where keys are, of which the store wants one.
const KEYS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
];

/// A request that fails on the way is made again so often, in so long a time at most.
const RETRIES: (usize, Duration) = (4, Duration::from_secs(30));

/// A store, and a place in it.
#[derive(Debug)]
struct Place {
    runtime: Runtime,
    store: AmazonS3,
    bucket: String,
    key: Key,
}

/// An object that is written.
#[derive(Debug)]
pub struct RecordObject {
    path: PathBuf,
    place: Place,
    bytes: Vec<u8>,
    /// The object that had the name before.
    before: Option<UpdateVersion>,
    is_there: bool,
}

impl RecordObject {
    /// Looks whether the store can be reached, takes the key and has the bucket.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn open(path: &Path) -> io::Result<Self> {
        let place = Place::of(path)?;
        let before = place.version()?;
        Ok(Self { path: path.to_owned(), place, bytes: Vec::new(), before, is_there: false })
    }

    /// Puts all that was written in its place. An object that was there when this one was opened becomes KEY.old.
    ///
    /// # Errors
    /// The store does not take it, or another object has taken the place since.
    pub fn put(&mut self) -> io::Result<()> {
        let Place { runtime, store, key, .. } = &self.place;
        let put = async {
            let mode = match &self.before {
                Some(version) => {
                    if !self.is_there {
                        store.copy(key, &Key::from(format!("{key}.old"))).await?;
                    }
                    PutMode::Update(version.clone())
                }
                None => PutMode::Create,
            };
            store.put_opts(key, PutPayload::from(self.bytes.clone()), mode.into()).await
        };
        let version = runtime.block_on(put).map_err(|error| self.place.refusal(&error))?;
        self.before = Some(version.into());
        self.is_there = true;
        Ok(())
    }

    /// True once it was put.
    pub const fn is_there(&self) -> bool {
        self.is_there
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves out what is behind so many bytes.
    pub fn cut(&mut self, bytes: u64) {
        self.bytes.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
}

impl Write for RecordObject {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of an object.
///
/// # Errors
/// What is wrong, in words.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let place = Place::of(path)?;
    let get = async { place.store.get(&place.key).await?.bytes().await };
    Ok(place.runtime.block_on(get).map_err(|error| place.refusal(&error))?.into())
}

impl Place {
    /// Where a name of an object leads to; keys and the store's address are in the environment, as for other programs.
    fn of(path: &Path) -> io::Result<Self> {
        let name = path.to_str().and_then(|name| name.strip_prefix("s3://")).unwrap_or_default();
        let named = name.split_once('/').filter(|(bucket, key)| !bucket.is_empty() && !key.is_empty());
        let (bucket, key) = named.ok_or_else(|| io::Error::other("give s3://BUCKET/NAME"))?;
        let key = Key::parse(key).map_err(|error| io::Error::other(format!("no store takes that name: {error}")))?;
        // Without one, the machine's cloud would be asked, at an address that is nobody's elsewhere.
        if KEYS.iter().all(|name| std::env::var_os(name).is_none()) {
            return Err(io::Error::other(
                "there is no key for the store; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            ));
        }
        let (max_retries, retry_timeout) = RETRIES;
        let retries = RetryConfig { backoff: BackoffConfig::default(), max_retries, retry_timeout };
        let builder = AmazonS3Builder::from_env().with_retry(retries);
        let store = builder.with_bucket_name(bucket).build();
        let store = store.map_err(|error| io::Error::other(format!("the store cannot be used: {error}")))?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, store, bucket: bucket.to_owned(), key })
    }

    /// Which object is there now, if the key may know.
    fn version(&self) -> io::Result<Option<UpdateVersion>> {
        let look = GetOptions { range: Some((0..1).into()), ..GetOptions::default() };
        match self.runtime.block_on(self.store.get_opts(&self.key, look)) {
            Ok(found) => Ok(Some(UpdateVersion { e_tag: found.meta.e_tag, version: found.meta.version })),
            Err(error) => match code(&error.to_string()) {
                Some("NoSuchKey" | "AccessDenied") => Ok(None),
                _ => Err(self.refusal(&error)),
            },
        }
    }

    /// What the store says, and what to do.
    fn refusal(&self, error: &Error) -> io::Error {
        let text = error.to_string();
        let (bucket, key) = (&self.bucket, &self.key);
        // An address that is http and may not be is refused while the request is built.
        let was_not_sent = ["error sending request", "builder error"].iter().any(|sign| text.contains(sign));
        let words = match code(&text) {
            Some("NoSuchBucket") => format!("the store has no bucket {bucket}; create it, or check the name"),
            Some("NoSuchKey") => format!("there is no {key} in bucket {bucket}; check the name"),
            Some(code @ ("InvalidAccessKeyId" | "SignatureDoesNotMatch" | "InvalidClientTokenId" | "ExpiredToken")) => {
                format!("the store refuses the key ({code}); check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
            }
            Some("AccessDenied") => format!("this key may not do that in bucket {bucket} (AccessDenied)"),
            _ => match error {
                Error::AlreadyExists { .. } | Error::Precondition { .. } => {
                    "another object has taken its place since this recording began; record to another name".to_owned()
                }
                Error::Generic { .. } if was_not_sent => format!(
                    "the store cannot be reached; check AWS_ENDPOINT_URL, and set AWS_ALLOW_HTTP=true if it is http: \
                     {}",
                    root(error)
                ),
                _ => text,
            },
        };
        io::Error::other(words)
    }
}

/// The code of an error of the store, in its answer: `<Code>NoSuchBucket</Code>`.
fn code(text: &str) -> Option<&str> {
    text.split_once("<Code>")?.1.split_once("</Code>").map(|(code, _)| code)
}

/// What is behind all that others said of it.
fn root(error: &Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
