//! CPU time and memory used by the process so far.

/// CPU time and memory of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// User and system CPU time of all threads \[s\].
    pub cpu_seconds: Option<f64>,
    /// Peak memory \[bytes\].
    pub peak_memory: Option<u64>,
}

/// Usage so far; `None` where the system does not report it.
#[cfg(unix)]
pub fn used() -> Used {
    use nix::sys::{
        resource::{UsageWho, getrusage},
        time::TimeVal,
    };
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Used::default() };
    let seconds = |time: TimeVal| time.tv_sec() as f64 + 1e-6 * time.tv_usec() as f64;
    // Apple reports bytes, other systems kilobytes.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Used {
        cpu_seconds: Some(seconds(usage.user_time()) + seconds(usage.system_time())),
        peak_memory: u64::try_from(usage.max_rss()).ok().map(|rss| rss * unit),
    }
}

/// Usage so far; `None` where the system does not report it.
#[cfg(not(unix))]
pub fn used() -> Used {
    Used::default()
}
