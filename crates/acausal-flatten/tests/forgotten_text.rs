//! What is let go on the way changes nothing: [`flatten_last`] gives the model of [`flatten`], with the same names, descriptions,
//! attributes, equations and messages.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use acausal_flatten::{flatten, flatten_last, print_flat};
use acausal_instance::class::Libraries;

/// The flat model as text, or the messages.
fn text(file: &Path, last: bool) -> String {
    let mut libraries = Libraries::new();
    let classes = match libraries.load_file(file) {
        Ok(classes) => classes,
        Err(errors) => return format!("{errors:#?}"),
    };
    let Some(class) = classes.last() else {
        return String::new();
    };
    let flat = match last {
        true => flatten_last(&mut libraries, class, &[]),
        false => flatten(&mut libraries, class, &[]),
    };
    match flat {
        Ok((model, warnings)) => {
            let mut text = format!("{}{warnings:#?}", print_flat(&model).unwrap());
            for v in &model.vars {
                let name = v.name.plain();
                let _ = writeln!(text, "{name} \"{}\" {:?}", v.description, v.span);
            }
            text
        }
        Err(errors) => format!("{errors:#?}"),
    }
}

fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_some_and(|e| e == "mo") {
            found.push(path);
        }
    }
}

#[test]
fn models_are_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["examples", "benches/models"] {
        models(&root.join(folder), &mut found);
    }
    found.sort();
    assert!(found.len() > 50, "{found:?}");
    for file in found {
        let (kept, last) = (text(&file, false), text(&file, true));
        assert!(!kept.is_empty(), "{}", file.display());
        assert_eq!(kept, last, "{}", file.display());
    }
}

#[test]
fn descriptions_and_modifiers_outlive_their_text() {
    let source = "
      package P
        connector Pin Real v; flow Real i; end Pin;
        partial model Two \"two pins\" Pin p, n; Real u \"voltage\"; equation u = p.v - n.v; p.i + n.i = 0; end Two;
        model R extends Two; parameter Real R = 1 \"resistance\"; equation u = R*p.i; end R;
        model Box replaceable R part constrainedby Two; Pin p; equation connect(p, part.p); part.n.v = 0; end Box;
        model M
          R a(R = 2, u(start = 3)) \"first\", b(R(min = 0) = a.R);
          R unused(R = 5) if false;
          Box box(redeclare R part(R = 7));
          parameter Integer n = 2 annotation(Evaluate = true);
          Real x[n] = {time, 2*time} \"two values\";
        equation
          connect(a.n, b.p);
          connect(b.n, box.p);
          a.p.v = x[1];
        end M;
      end P;";
    let folder = std::env::temp_dir().join(format!("acausal-forgotten-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("P.mo");
    // The last class of the file is the model.
    std::fs::write(
        &file,
        format!("{source}\nmodel Top extends P.M; P.R own(R = 9) \"own\"; end Top;"),
    )
    .unwrap();
    let (kept, last) = (text(&file, false), text(&file, true));
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(kept, last);
    for expected in [
        "\"voltage\"",
        "\"resistance\"",
        "\"two values\"",
        "box.part.R",
        "own.R",
    ] {
        assert!(last.contains(expected), "{expected} is not in\n{last}");
    }
}
