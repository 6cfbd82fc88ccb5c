//! Connection sets as index ranges (MLS 3.6 §9).
