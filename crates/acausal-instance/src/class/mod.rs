//! The class tree and the libraries it is loaded from (MLS 3.6 §5.6.1.1, §13).
//!
//! In: files given by the user and a search path of libraries. Out: classes by name ([`Libraries`]), each with its syntax tree and,
//! on demand, its element table. A file is read and parsed when a class in it is first needed, so that a small model on a
//! large library costs a few files.
//!
//! | file | idea |
//! |---|---|
//! | `libraries` | the search path, classes by name |
//! | `load` | files given by the user |
//! | `store` | reading one file, checking it against its place |
//! | `directory` | a package as a directory, `package.order` |
//! | `version` | versioned folders and `uses` annotations |
//! | `tree` | the arena of classes |
//! | `table`, `tabulate` | the elements of a class, prepared once for all its instances |
//! | `restrict` | what each specialised class may contain and extend |
//! | `modifier` | modifications with dotted names resolved to nesting |
//! | `predefined` | built-in types, attributes, functions |
//! | `suggest` | "did you mean" |
//!
//! Nothing here knows of inheritance or instances: that is [`crate::instance`].

mod directory;
mod libraries;
mod load;
pub(crate) mod modifier;
pub(crate) mod predefined;
pub(crate) mod restrict;
mod store;
pub(crate) mod suggest;
pub(crate) mod table;
mod tabulate;
#[cfg(test)]
mod tests;
mod tree;
mod version;

pub use libraries::Libraries;
pub use predefined::CONNECTION_OPERATORS;
pub use tree::{Class, ClassId};
