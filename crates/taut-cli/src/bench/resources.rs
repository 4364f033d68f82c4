//! What the process has used so far.

/// Processor time and memory of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// Time on processors, of all threads, in the program and in the system for it \[s\].
    pub cpu_seconds: Option<f64>,
    /// Most memory that it held at once \[bytes\].
    pub peak_memory: Option<u64>,
}

/// What has been used so far; nothing where the system has no way to tell.
#[cfg(unix)]
pub fn used() -> Used {
    use nix::sys::{
        resource::{UsageWho, getrusage},
        time::TimeVal,
    };
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Used::default() };
    let seconds = |time: TimeVal| time.tv_sec() as f64 + 1e-6 * time.tv_usec() as f64;
    // Apple counts bytes, everybody else kilobytes.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Used {
        cpu_seconds: Some(seconds(usage.user_time()) + seconds(usage.system_time())),
        peak_memory: u64::try_from(usage.max_rss()).ok().map(|rss| rss * unit),
    }
}

/// What has been used so far; nothing where the system has no way to tell.
#[cfg(not(unix))]
pub fn used() -> Used {
    Used::default()
}
