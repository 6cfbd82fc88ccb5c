//! Pictures of trajectories.
