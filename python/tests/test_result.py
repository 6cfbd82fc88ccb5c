"""Results as arrays, tables and pictures."""

import numpy as np
import pytest

import acausal as ac


@pytest.fixture(scope="module")
def result(ball):
    return ball.simulate(stop=1)


def test_arrays_share_memory_and_cannot_be_changed(result):
    h = result["h"]
    assert h.dtype == np.float64
    assert np.shares_memory(h, result["h"])
    with pytest.raises(ValueError, match="read-only"):
        h[0] = 1


def test_arrays_outlive_the_result(ball):
    h = ball.simulate(stop=1)["h"]
    assert h[0] == 1.0 and np.isfinite(h).all()


def test_names(result):
    assert result.names == ["e", "h", "v", "bounces"]
    assert list(result) == result.names and len(result) == 4
    assert "h" in result and "hh" not in result
    assert result.info("bounces").type == "Integer"
    with pytest.raises(KeyError, match="no signal 'bounce'; similar: bounces"):
        result["bounce"]


def test_elements_of_arrays():
    m = ac.loads("model M record P Real w[3]; end P; P p[2]; equation for i in 1:2, j in 1:3 loop p[i].w[j] = 10*i + j + time; end for; end M;")
    r = m.simulate(stop=1, interval=1)
    assert r["p.w"].shape == (2, 2, 3)
    assert r["p.w"][0].tolist() == [[11, 12, 13], [21, 22, 23]]
    assert r["p[2].w[3]"].tolist() == [23, 24]


def test_values_between_rows(result):
    assert result.at(0.0, "h") == 1.0
    assert result.at(result.events[0].time, "v") > 0
    with pytest.raises(ValueError, match="lies outside"):
        result.at(2, "h")


def test_pandas(result):
    pd = pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == result.names and frame.index.name == "time"
    assert np.array_equal(frame["h"].to_numpy(), result["h"])
    assert (frame["e"] == 0.5).all()


def test_polars_without_pyarrow(result):
    pytest.importorskip("polars")
    frame = result.to_polars()
    assert frame.columns == ["time", *result.names]
    assert np.array_equal(frame["h"].to_numpy(), result["h"])
    assert frame["e"].to_list() == [0.5] * len(result.time)
    del result
    assert frame["time"][0] == 0


def test_xarray(result):
    pytest.importorskip("xarray")
    data = result.to_xarray()
    assert data["h"].dims == ("time",) and data["e"].dims == ()
    assert float(data["e"]) == 0.5
    assert data["time"].attrs == {"units": "s"}


def test_the_arrow_stream_can_be_dropped_unread(result):
    for _ in range(100):
        result.__arrow_c_stream__()


def test_files(result, tmp_path):
    result.save(tmp_path / "r.csv")
    header, first = (tmp_path / "r.csv").read_text().splitlines()[:2]
    assert header.split(",") == ["time", "e", "h", "v", "bounces"]
    assert first.startswith("0")
    with pytest.raises(OSError):
        result.save(tmp_path / "r.docx")


def test_pictures(result):
    assert result.svg("h").startswith("<svg")
    assert "<svg" in result._repr_html_() and "Ball" in result._repr_html_()
    with pytest.raises(KeyError):
        result.svg("nothing")


def test_plot(result):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = result.plot("h", "v")
    assert [line.get_label() for line in ax.lines] == ["h", "v"]
