//! Resource limits of a child, as the kernel's rlimits.

/// Upper bounds for one child and what it starts; `None` leaves what this process has.
///
/// A bound above the hard limit of this process is lowered to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of a core dump in bytes. 0 by default: a dump holds whatever the program held.
    pub core_bytes: Option<u64>,
    /// Size of one file written, in bytes.
    pub file_bytes: Option<u64>,
    /// Address space of one process in bytes.
    pub memory_bytes: Option<u64>,
    /// Open files of one process.
    pub open_files: Option<u64>,
    /// Processes and threads of this *user*, not of the child alone; root is exempt.
    pub processes: Option<u64>,
    /// Processor seconds of one process.
    pub cpu_seconds: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            core_bytes: Some(0),
            file_bytes: None,
            memory_bytes: None,
            open_files: None,
            processes: None,
            cpu_seconds: None,
        }
    }
}

#[cfg(any(target_env = "gnu", target_env = "uclibc"))]
pub(super) type Resource = libc::__rlimit_resource_t;
#[cfg(not(any(target_env = "gnu", target_env = "uclibc")))]
pub(super) type Resource = libc::c_int;

impl Limits {
    /// The bounds that are given, in a shape that can be applied between fork and exec.
    pub(super) fn given(&self) -> Vec<(Resource, u64)> {
        [
            (libc::RLIMIT_CORE, self.core_bytes),
            (libc::RLIMIT_FSIZE, self.file_bytes),
            (libc::RLIMIT_AS, self.memory_bytes),
            (libc::RLIMIT_NOFILE, self.open_files),
            (libc::RLIMIT_NPROC, self.processes),
            (libc::RLIMIT_CPU, self.cpu_seconds),
        ]
        .into_iter()
        .filter_map(|(resource, bound)| bound.map(|bound| (resource, bound)))
        .collect()
    }
}
