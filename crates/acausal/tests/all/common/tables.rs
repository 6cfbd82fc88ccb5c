//! A table file, read by the external objects of the Modelica tables and drawn on by a short simulation. For the target `table` of `fuzz/` and `tests/all/mutation.rs`.

use std::path::{Path, PathBuf};

use acausal::{Limits, Load, Model, Observe, ResultSink};

use super::whole::{finite, settings};

/// Time tables with all smoothnesses and those extrapolations that are defined everywhere.
const TIME: &str = r#"package T
  class Table
    extends ExternalObject;
    function constructor
      input String file; input Integer smoothness; input Integer extrapolation; output Table t;
      external "C" t = ModelicaStandardTables_CombiTimeTable_init3(file, "T", fill(0.0, 0, 2), 0, 2, 0.0, {2}, 1,
        smoothness, extrapolation, 0.0, 1, false, ",", 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTimeTable_close(t);
    end destructor;
  end Table;
  function at
    input Table t; input Real time_; input Real next; input Real before; output Real y;
    external "C" y = ModelicaStandardTables_CombiTimeTable_getValue(t, 1, time_, next, before);
  end at;
  function nextEvent
    input Table t; input Real time_; output Real next;
    external "C" next = ModelicaStandardTables_CombiTimeTable_nextTimeEvent(t, time_);
  end nextEvent;
  block Source
    parameter Integer smoothness = 1;
    parameter Integer extrapolation = 1;
    parameter Table t = Table("FILE", smoothness, extrapolation);
    discrete Real next(start = 0, fixed = true);
    Real y, x(start = 0, fixed = true);
  equation
    when {time >= pre(next), initial()} then
      next = nextEvent(t, time);
    end when;
    y = at(t, time, next, pre(next));
    der(x) = y;
  end Source;
  model M
    Source a[6](smoothness = 1:6, extrapolation = {1, 2, 3, 1, 2, 3});
  end M;
end T;"#;

/// Tables of one argument, likewise.
const ONE: &str = r#"package T
  class Table
    extends ExternalObject;
    function constructor
      input String file; input Integer smoothness; input Integer extrapolation; output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init3(file, "T", fill(0.0, 0, 2), 0, 2, {2}, smoothness,
        extrapolation, 1, ",", 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function at
    input Table t; input Real u; output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, 1, u);
  end at;
  block Source
    parameter Integer smoothness = 1;
    parameter Integer extrapolation = 1;
    parameter Table t = Table("FILE", smoothness, extrapolation);
    Real y, x(start = 0, fixed = true);
  equation
    y = at(t, 200*time);
    der(x) = y;
  end Source;
  model M
    Source a[6](smoothness = 1:6, extrapolation = {1, 2, 3, 1, 2, 3});
  end M;
end T;"#;

/// Tables of two arguments, likewise.
const TWO: &str = r#"package T
  class Table
    extends ExternalObject;
    function constructor
      input String file; input Integer smoothness; input Integer extrapolation; output Table t;
      external "C" t = ModelicaStandardTables_CombiTable2D_init3(file, "T", fill(0.0, 0, 2), 0, 2, smoothness,
        extrapolation, 1, ",", 0);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable2D_close(t);
    end destructor;
  end Table;
  function at
    input Table t; input Real u; input Real v; output Real y;
    external "C" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v);
  end at;
  block Source
    parameter Integer smoothness = 1;
    parameter Integer extrapolation = 1;
    parameter Table t = Table("FILE", smoothness, extrapolation);
    Real y, x(start = 0, fixed = true);
  equation
    y = at(t, 200*time, 2 - 300*time);
    der(x) = y;
  end Source;
  model M
    Source a[3](smoothness = 1:3, extrapolation = 1:3);
  end M;
end T;"#;

/// The formats of table files.
pub const ENDINGS: [&str; 3] = ["txt", "csv", "mat"];

/// One model for each kind of table and each format, which read files that are written later.
pub struct Tables {
    models: Vec<(PathBuf, Model)>,
}

impl Tables {
    /// Files are written to the folder.
    pub fn new(folder: &Path, limits: Limits) -> Result<Tables, String> {
        let mut models = Vec::new();
        for text in [TIME, ONE, TWO] {
            for ending in ENDINGS {
                let file = folder.join(format!("table-{}.{ending}", std::process::id()));
                let text = text.replace("FILE", &file.to_string_lossy());
                let load = Load {
                    class: Some("T.M".to_string()),
                    limits,
                    ..Load::default()
                };
                let model = Model::from_text("Table.mo", &text, &load);
                models.push((file, model.map_err(|f| f.to_string())?));
            }
        }
        Ok(Tables { models })
    }

    /// The first byte says which table and which format, three times the one and the other; gives whether the simulation came to its end.
    pub fn check(&self, input: &[u8]) -> Result<bool, String> {
        let Some((first, bytes)) = input.split_first() else {
            return Ok(false);
        };
        let (file, model) = &self.models[usize::from(*first) % self.models.len()];
        std::fs::write(file, bytes).map_err(|e| e.to_string())?;
        let mut sink = ResultSink::new(None, Observe::nothing(), Observe::everything());
        let done = acausal_runtime::simulate(model.compiled.clone(), &settings(), &mut sink);
        std::fs::remove_file(file).map_err(|e| e.to_string())?;
        if let Err(error) = &done {
            drop(model.failed(error).to_string());
        }
        finite(sink).map(|()| done.is_ok())
    }
}
