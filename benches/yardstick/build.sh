#!/usr/bin/env bash
# Builds the hand-written C programs of this directory against SUNDIALS IDA 7.1.1 and KLU, in the way and with the
# objects of the baseline, whose directory holds build.sh, common.h and config/.
# usage: build.sh BASELINE OUTDIR      then: OUTDIR/plate 200 1e-6 0.1 1   |   OUTDIR/bridges 1000 1e-6 0.04 1   |   ...
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
base=$(cd "${1:?usage: build.sh BASELINE OUTDIR}" && pwd)
out=${2:?usage: build.sh BASELINE OUTDIR}
mkdir -p "$out"; out=$(cd "$out" && pwd)
[ -x "$out/tline" ] || bash "$base/build.sh" "$out"
# The headers stand beside the sources that cargo has fetched for the baseline.
probe=$(mktemp -d); trap 'rm -rf "$probe"' EXIT
mkdir "$probe/src"; : > "$probe/src/lib.rs"
printf '[package]\nname="probe"\nversion="0.0.0"\nedition="2021"\n[dependencies]\nsundials-sys="=0.6.2"\nklu_sys="=0.2.0"\n[workspace]\n' > "$probe/Cargo.toml"
meta=$(cargo metadata --manifest-path "$probe/Cargo.toml" --format-version 1 2>/dev/null)
where() { printf '%s' "$meta" | python3 -c "import json,sys,os; print(next(os.path.dirname(p['manifest_path']) for p in json.load(sys.stdin)['packages'] if p['name']=='$1'))"; }
S=$(dirname "$(find "$(where sundials-sys)" -path '*include/ida/ida.h' | head -1)")/../..
K=$(dirname "$(find "$(where klu_sys)" -path '*KLU/Include/klu.h' | head -1)")/../..
flags="-O3 -march=native -DNDEBUG -w -I$base -I$base/config -I$S/include -I$S/src -I$S/src/sundials
  -I$K/KLU/Include -I$K/AMD/Include -I$K/COLAMD/Include -I$K/BTF/Include -I$K/SuiteSparse_config"
for p in plate bridges chain; do gcc $flags -o "$out/$p" "$here/$p.c" "$out"/obj/*.o -lm; done
