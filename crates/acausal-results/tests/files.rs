//! Result files: what is written is read back, in every format, and nothing half-written looks complete.

use std::fs;
use std::path::{Path, PathBuf};

use acausal_results::{
    MemoryWriter, ResultError, ResultSet, ResultWriter, RunInfo, Signal, SignalKind, create, read,
    read_signals,
};

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("acausal-results-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut all: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        all.sort();
        all
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn signals() -> Vec<Signal> {
    vec![
        Signal::column("body.x", 3)
            .with_unit("m")
            .with_description("Position of the centre"),
        Signal::alias("spring.s[1,2]", 3, true).with_unit("m"),
        Signal::constant("body.m", 2.5)
            .with_unit("kg")
            .with_description("Mass"),
        Signal::column("count", 0).with_kind(SignalKind::Integer),
        Signal::column("contact.closed", 1)
            .with_kind(SignalKind::Boolean)
            .with_description("In contact"),
        Signal::constant("mode", 3.0).with_kind(SignalKind::Enumeration),
        Signal::constant("n", 4.0).with_kind(SignalKind::Integer),
    ]
}

/// Twenty rows with an event (a repeated time) in the middle; column 2 is used by nobody.
fn write_rows(writer: &mut dyn ResultWriter) {
    writer
        .begin(&signals(), &RunInfo::new("Demo.Bouncing"))
        .unwrap();
    for i in 0..20 {
        let t = f64::from(if i < 10 { i } else { i - 1 }) / 3.0;
        let event = f64::from(i >= 10);
        writer
            .row(
                t,
                &[f64::from(i), event, f64::NAN, (t * 1.1).sin() + event, 7.0],
            )
            .unwrap();
    }
}

fn expected() -> ResultSet {
    let mut writer = MemoryWriter::new();
    write_rows(&mut writer);
    writer.into_result().unwrap()
}

fn assert_same(found: &ResultSet, expected: &ResultSet) {
    assert_eq!(found.time(), expected.time());
    assert_eq!(found.signals().len(), expected.signals().len());
    for (f, e) in found.signals().iter().zip(expected.signals()) {
        assert_eq!(f.name, e.name);
        let bits = |r: &ResultSet, s| {
            r.values_of(s)
                .iter()
                .map(|v| v.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(found, f), bits(expected, e), "{}", f.name);
    }
}

#[test]
fn every_format_round_trips() {
    let dir = Directory::new("round-trip");
    for name in ["r.csv", "r.mat", "r.parquet"] {
        let path = dir.file(name);
        let mut writer = create(&path).unwrap();
        write_rows(writer.as_mut());
        assert!(
            !path.exists(),
            "{name} must not exist before it is complete"
        );
        assert_eq!(writer.finish().unwrap(), path);
        let found = read(&path).unwrap();
        assert_same(&found, &expected());
        if name != "r.csv" {
            for (f, e) in found.signals().iter().zip(expected().signals()) {
                assert_eq!(
                    (&f.unit, &f.description, f.kind),
                    (&e.unit, &e.description, e.kind),
                    "{name} {}",
                    f.name
                );
            }
        }
        let some = read_signals(&path, &["spring.s[1, 2]", "n", "absent"]).unwrap();
        assert_eq!(some.signals().len(), 2);
        assert_eq!(
            some.values("spring.s[1,2]"),
            expected().values("spring.s[1,2]")
        );
    }
    assert_eq!(
        read(&dir.file("r.parquet")).unwrap().info().model,
        "Demo.Bouncing"
    );
}

#[test]
fn csv_text_is_what_a_person_expects() {
    let dir = Directory::new("csv-text");
    let mut writer = create(&dir.file("r.csv")).unwrap();
    write_rows(writer.as_mut());
    let text = fs::read_to_string(writer.finish().unwrap()).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("time,body.x,\"spring.s[1,2]\",body.m,count,contact.closed,mode,n")
    );
    assert_eq!(lines.next(), Some("0.0,0.0,0.0,2.5,0,0,3,4"));
    assert_eq!(lines.count(), 19);
}

#[test]
fn compressed_csv_is_read() {
    use std::io::Write;
    let dir = Directory::new("gz");
    let path = dir.file("r.csv.gz");
    let mut gz = flate2::write::GzEncoder::new(
        fs::File::create(&path).unwrap(),
        flate2::Compression::fast(),
    );
    gz.write_all(b"time,x\n0,1\n1,2\n").unwrap();
    gz.finish().unwrap();
    assert_eq!(
        read(&path).unwrap().values("x").unwrap().as_ref(),
        [1.0, 2.0]
    );
}

/// The bytes of a MAT file, taken apart without the crate's reader.
#[test]
fn mat_bytes() {
    let dir = Directory::new("mat-bytes");
    let mut writer = create(&dir.file("r.mat")).unwrap();
    write_rows(writer.as_mut());
    let bytes = fs::read(writer.finish().unwrap()).unwrap();
    let int = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let float = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let mut at = 0;
    let mut found = Vec::new();
    while at < bytes.len() {
        let (kind, rows, columns) = (int(at), int(at + 4), int(at + 8));
        let name_length = int(at + 16) as usize;
        let name = std::str::from_utf8(&bytes[at + 20..at + 19 + name_length]).unwrap();
        let data = at + 20 + name_length;
        let width = match kind {
            0 => 8,
            20 => 4,
            51 => 1,
            other => panic!("matrix type {other}"),
        };
        found.push((name.to_string(), kind, rows, columns, data));
        at = data + rows as usize * columns as usize * width;
    }
    assert_eq!(at, bytes.len());
    let shape: Vec<_> = found
        .iter()
        .map(|(n, k, r, c, _)| (n.as_str(), *k, *r, *c))
        .collect();
    assert_eq!(
        shape,
        [
            ("Aclass", 51, 4, 11),
            ("name", 51, 14, 8),
            ("description", 51, 29, 8),
            ("dataInfo", 20, 4, 8),
            ("data_1", 0, 4, 2),  // time, body.m, mode, n
            ("data_2", 0, 4, 20), // time and the three used columns
        ]
    );
    let data = |i: usize| found[i].4;
    assert_eq!(
        &bytes[data(1)..data(1) + 28],
        b"time          body.x        "
    );
    assert_eq!(
        &bytes[data(2) + 29..data(2) + 58],
        b"Position of the centre [m]   "
    );
    let info: Vec<i32> = (0..32).map(|k| int(data(3) + 4 * k)).collect();
    assert_eq!(info[..12], [0, 1, 0, -1, 2, 4, 0, -1, 2, -4, 0, -1]);
    assert_eq!(info[12..16], [1, 2, 0, -1]);
    assert_eq!((float(data(4)), float(data(4) + 32)), (0.0, 6.0)); // start and stop time
    assert_eq!(float(data(5) + 8 * 4), 1.0 / 3.0); // time of the second row
}

/// Dymola's `binNormal` layout in single precision, built by hand.
#[test]
fn mat_normal_layout_is_read() {
    let dir = Directory::new("mat-normal");
    let mut bytes = Vec::new();
    let mut matrix = |name: &str, kind: i32, rows: i32, columns: i32, data: Vec<u8>| {
        for field in [kind, rows, columns, 0, name.len() as i32 + 1] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(name.bytes());
        bytes.push(0);
        bytes.extend(data);
    };
    let text = |lines: &[&str], width: usize| -> Vec<u8> {
        let line = |l: &str, i: usize| l.as_bytes().get(i).copied().unwrap_or(b' ');
        (0..width)
            .flat_map(|i| lines.iter().map(move |l| line(l, i)).collect::<Vec<_>>())
            .collect()
    };
    let floats = |v: &[f32]| -> Vec<u8> { v.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let ints = |v: &[i32]| -> Vec<u8> { v.iter().flat_map(|x| x.to_le_bytes()).collect() };
    matrix(
        "Aclass",
        51,
        4,
        11,
        text(&["Atrajectory", "1.1", "", "binNormal"], 11),
    );
    matrix("name", 51, 3, 4, text(&["Time", "a.p", "-a"], 4));
    matrix(
        "description",
        51,
        3,
        12,
        text(&["Time in [s]", "gain [K|degC]", ""], 12),
    );
    matrix(
        "dataInfo",
        20,
        3,
        4,
        ints(&[0, 1, 2, 1, 2, -2, 0, 0, 0, -1, -1, -1]),
    );
    matrix("data_1", 10, 2, 2, floats(&[0.0, 2.0, 7.5, 7.5]));
    matrix(
        "data_2",
        10,
        3,
        2,
        floats(&[0.0, 1.0, 2.0, 10.0, 11.0, 12.0]),
    );
    let path = dir.file("n.mat");
    fs::write(&path, &bytes).unwrap();
    let r = read(&path).unwrap();
    assert_eq!(r.time(), [0.0, 1.0, 2.0]);
    assert_eq!(r.values("-a").unwrap().as_ref(), [-10.0, -11.0, -12.0]);
    assert_eq!(r.values("a.p").unwrap().as_ref(), [7.5; 3]);
    for cut in [1, 19, 21, 60, 200, bytes.len() - 1] {
        fs::write(&path, &bytes[..cut]).unwrap();
        assert!(
            matches!(read(&path), Err(ResultError::Malformed { .. })),
            "cut at {cut}"
        );
    }
    // The same table as numbers of single precision, with something else for the row of the last signal.
    let name = bytes.windows(8).position(|w| w == b"dataInfo").unwrap();
    bytes[name - 20..name - 16].copy_from_slice(&10i32.to_le_bytes());
    for (row, sound) in [
        (-2.0, true),
        (-1e30, false),
        (f32::NAN, false),
        (1.5, false),
    ] {
        let info = [0.0, 1.0, 2.0, 1.0, 2.0, row];
        let start = name + "dataInfo".len() + 1;
        bytes[start..start + 24].copy_from_slice(&floats(&info));
        fs::write(&path, &bytes).unwrap();
        let found = read(&path);
        assert_eq!(found.is_ok(), sound, "row {row}: {found:?}");
    }
}

#[test]
fn parquet_spills_and_groups() {
    let dir = Directory::new("parquet-groups");
    let path = dir.file("g.parquet");
    let writer = acausal_results::parquet::ParquetWriter::create(&path).unwrap();
    let mut writer = Box::new(writer.with_limits(10, 7));
    write_rows(writer.as_mut());
    writer.finish().unwrap();
    assert_eq!(dir.names(), ["g.parquet"]);
    assert_same(&read(&path).unwrap(), &expected());
}

#[test]
fn damaged_parquet_is_an_error() {
    let dir = Directory::new("parquet-damaged");
    let path = dir.file("d.parquet");
    let mut writer = create(&path).unwrap();
    write_rows(writer.as_mut());
    writer.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(
        (&bytes[..4], &bytes[bytes.len() - 4..]),
        (&b"PAR1"[..], &b"PAR1"[..])
    );
    for cut in [0, 3, 11, 100] {
        fs::write(&path, &bytes[..cut]).unwrap();
        assert!(read(&path).is_err());
    }
    // Any single damaged byte gives an error or other values, never a panic.
    for i in (0..bytes.len()).step_by(5) {
        let mut damaged = bytes.clone();
        damaged[i] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        let _ = read(&path);
    }
}

#[test]
fn interrupted_runs_are_marked() {
    let dir = Directory::new("interrupted");
    for name in ["r.csv", "r.mat", "r.parquet"] {
        let mut writer = create(&dir.file(name)).unwrap();
        write_rows(writer.as_mut());
        let path = writer.finish_incomplete().unwrap();
        assert_eq!(path, dir.file(&name.replace("r.", "r.partial.")));
        assert_same(&read(&path).unwrap(), &expected());

        let mut dropped = create(&dir.file(name)).unwrap();
        write_rows(dropped.as_mut());
    }
    assert_eq!(
        dir.names(),
        ["r.partial.csv", "r.partial.mat", "r.partial.parquet"]
    );
}

#[test]
fn calls_out_of_order_are_errors() {
    let dir = Directory::new("order");
    for name in ["r.csv", "r.mat", "r.parquet"] {
        let mut writer = create(&dir.file(name)).unwrap();
        assert!(matches!(
            writer.row(0.0, &[]),
            Err(ResultError::OutOfOrder { .. })
        ));
        assert!(matches!(
            writer.finish(),
            Err(ResultError::OutOfOrder { .. })
        ));
        let mut writer = create(&dir.file(name)).unwrap();
        writer.begin(&signals(), &RunInfo::default()).unwrap();
        assert!(matches!(
            writer.begin(&signals(), &RunInfo::default()),
            Err(ResultError::OutOfOrder { .. })
        ));
        assert!(matches!(
            writer.row(0.0, &[1.0]),
            Err(ResultError::ShortRow {
                needed: 4,
                found: 1
            })
        ));
    }
    assert!(dir.names().is_empty());
}

#[test]
fn empty_results_are_valid_files() {
    let dir = Directory::new("empty");
    for name in ["e.csv", "e.mat", "e.parquet"] {
        let mut writer = create(&dir.file(name)).unwrap();
        writer
            .begin(&[Signal::column("x", 0)], &RunInfo::default())
            .unwrap();
        writer.finish().unwrap();
        let r = read(&dir.file(name)).unwrap();
        assert_eq!((r.time().len(), r.signals().len()), (0, 1), "{name}");
    }
}

#[test]
fn targets_that_cannot_be_are_refused_at_once() {
    assert!(matches!(
        create(Path::new("x.xls")),
        Err(ResultError::UnknownExtension { .. })
    ));
    assert!(matches!(
        create(Path::new("/no/such/directory/x.mat")),
        Err(ResultError::Create { .. })
    ));
    assert!(matches!(
        read(Path::new("/no/such/file.csv")),
        Err(ResultError::Read { .. })
    ));
    assert!(matches!(
        read(Path::new("/no/such/file.mat.gz")),
        Err(ResultError::UnknownExtension { .. })
    ));
}
