//! The class tree and the libraries it is loaded from (MLS 3.6 §5, §13).
