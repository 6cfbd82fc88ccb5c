//! The driver: instance tree to flat model.
