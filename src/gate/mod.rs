//! The judgement.
