"""Inputs over time, stepping, linear models."""

import numpy as np
import pytest

import acausal as ac

INTEGRATOR = """
model I
  input Real u;
  Real x(start = 0, fixed = true);
  output Real y = x + 10*u;
equation
  der(x) = u;
end I;
"""


@pytest.fixture(scope="module")
def integrator():
    return ac.loads(INTEGRATOR)


def test_lines_between_points(integrator):
    # The integral of a triangle that a long step would go over.
    pulse = ([0, 50, 50.5, 51, 100], [0, 0, 1, 0, 0])
    r = integrator.simulate(stop=100, interval=100, inputs={"u": pulse}, tolerance=1e-8)
    assert r["x"][-1] == pytest.approx(0.5, rel=1e-5)


def test_jumps_are_events(integrator):
    r = integrator.simulate(stop=2, inputs={"u": ([0, 1, 1, 2], [1, 1, 3, 3])}, tolerance=1e-8)
    assert r["x"][-1] == pytest.approx(4, rel=1e-7)
    assert [e.time for e in r.events] == [1.0]
    at = np.flatnonzero(r.time == 1.0)
    assert r["u"][at[0]] == 1 and r["u"][at[-1]] == 3
    assert r["y"][at[-1]] - r["y"][at[0]] == pytest.approx(20)


def test_held_values(integrator):
    r = integrator.simulate(stop=3, inputs={"u": ac.hold([0, 1, 2], [1, 5, -2])}, tolerance=1e-8)
    assert r["x"][-1] == pytest.approx(1 + 5 - 2, rel=1e-7)
    assert integrator.simulate(stop=1, inputs={"u": 2})["x"][-1] == pytest.approx(2)


def test_functions_of_time(integrator):
    r = integrator.simulate(stop=3, inputs={"u": lambda t: np.cos(t)}, tolerance=1e-6)
    assert np.allclose(r["x"], np.sin(r.time), atol=1e-5)


def test_tables(integrator):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": [0.0, 2.0]}, index=[0.0, 1.0])
    for given in (frame, {"u": frame["u"]}, frame.rename_axis("time").reset_index()):
        assert integrator.simulate(stop=1, inputs=given)["x"][-1] == pytest.approx(1, rel=1e-5)


def test_discrete_inputs_make_events():
    m = ac.loads("""
    model M
      input Boolean on; input Integer n;
      Real x(start = 0, fixed = true); discrete Real count(start = 0, fixed = true);
    equation
      der(x) = if on then n else 0;
      when on then count = pre(count) + 1; end when;
    end M;
    """)
    inputs = {"on": ([0, 1, 2, 3], [False, True, False, True]), "n": ac.hold([0, 1.5], [2, 4])}
    r = m.simulate(stop=4, inputs=inputs)
    assert r["x"][-1] == pytest.approx(0.5 * 2 + 0.5 * 4 + 4, rel=1e-6)
    assert r["count"][-1] == 2
    with pytest.raises(ac.SettingError, match="is discrete"):
        m.simulate(inputs={"n": ([0, 1], [0, 1])})


def test_relations_of_inputs_are_events(integrator):
    m = ac.loads("model M input Real u; Real x(start = 0, fixed = true); equation der(x) = if u > 0.25 then 1 else 0; end M;")
    r = m.simulate(stop=1, inputs={"u": ([0, 1], [0, 1])}, tolerance=1e-8)
    assert r["x"][-1] == pytest.approx(0.75, abs=1e-7)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"v": 1}, "no input `v`"),
        ({"x": 1}, "no input `x`"),
        ({"u": ([0, 1], [1])}, "as many values"),
        ({"u": ([1, 0], [1, 2])}, "do not ascend"),
        ({"u": ([0, 1], [1, float("nan")])}, "not finite"),
        ({"u": ([0, 0, 0], [1, 2, 3])}, "three rows"),
    ],
)
def test_wrong_inputs(integrator, inputs, message):
    with pytest.raises(ac.SettingError, match=message):
        integrator.simulate(inputs=inputs)


def test_what_an_equation_gives_is_no_input():
    m = ac.loads("model M input Real u = 3; Real x(start = 0, fixed = true); equation der(x) = u; end M;")
    with pytest.raises(ac.SettingError, match="no input `u`"):
        m.simulate(inputs={"u": 1})


def test_sweeps_with_inputs(integrator):
    s = integrator.sweep({"x.start": [0, 1]}, stop=1, interval=1, inputs={"u": lambda t: 2 * t})
    assert s["x"][:, -1] == pytest.approx([1, 2], rel=1e-5)


def test_steps_go_the_way_of_a_simulation(decay):
    sim = decay.start(tolerance=1e-8)
    assert (sim.time, sim["x"]) == (0.0, 1.0)
    for _ in range(10):
        sim.step(0.1)
    assert sim.time == pytest.approx(1)
    assert sim["x"] == pytest.approx(np.exp(-2), rel=1e-6)


def test_a_control_loop(integrator):
    sim = integrator.start()
    for _ in range(50):
        sim.set(u=-2 * (sim["x"] - 1))
        sim.step(0.1)
    # x[k+1] = x[k] - 0.2*(x[k] - 1)
    assert sim["x"] == pytest.approx(1 - 0.8**50, rel=1e-6)


def test_parameters_change_on_the_way(decay):
    sim = decay.start()
    sim.step(0.5)
    before = sim["x"]
    sim.set(k=0.0)
    sim.step(1)
    assert sim["x"] == pytest.approx(before, rel=1e-6)
    with pytest.raises(ac.SettingError, match="no parameter `kk`"):
        sim.set(kk=1)
    with pytest.raises(ac.SettingError, match="positive time"):
        sim.step(0)


def test_states_can_be_restored(ball):
    sim = ball.start()
    sim.step(0.4)
    state = sim.state()
    first = [sim.step(0.1) and sim["h"] for _ in range(3)]
    sim.restore(state)
    assert sim.time == pytest.approx(0.4)
    assert [sim.step(0.1) and sim["h"] for _ in range(3)] == first
    other = ball.start()
    other.restore(state)
    other.step(0.1)
    assert other["h"] == first[0]


def test_a_step_that_fails_has_not_happened():
    m = ac.loads("model F Real x(start = 1, fixed = true); equation der(x) = -1; assert(x > 0.5, \"small\"); end F;")
    sim = m.start()
    sim.step(0.25)
    with pytest.raises(ac.SimulationError, match="small"):
        sim.step(1)
    assert (sim.time, sim["x"]) == (0.25, pytest.approx(0.75))


def test_a_linear_model_of_a_pendulum():
    m = ac.loads("""
    model P
      parameter Real g = 9.81; parameter Real d = 0.5; parameter Real L = 2;
      input Real torque; output Real tip = L*sin(phi);
      Real phi(start = 0.3, fixed = true), w(start = 0, fixed = true), a;
    equation
      der(phi) = w; der(w) = a; L*a = -g*sin(phi) - d*w + torque;
    end P;
    """)
    lin = m.linearize()
    assert (lin.time, lin.inputs, lin.outputs) == (0, ["torque"], ["tip"])
    order = [lin.states.index("phi"), lin.states.index("w")]
    a = lin.A[np.ix_(order, order)]
    assert np.allclose(a, [[0, 1], [-9.81 / 2 * np.cos(0.3), -0.25]], rtol=1e-13)
    assert np.allclose(lin.B[order, 0], [0, 0.5], rtol=1e-9)
    assert np.allclose(lin.C[0, order], [2 * np.cos(0.3), 0], atol=1e-9)
    assert np.allclose(lin.D, 0, atol=1e-9)
    assert lin.y0[0] == pytest.approx(2 * np.sin(0.3))
    later = m.linearize(1.0)
    phi = m.simulate(stop=1)["phi"][-1]
    assert later.A[order[1], order[0]] == pytest.approx(-9.81 / 2 * np.cos(phi), rel=1e-6)


def test_a_linear_model_against_finite_differences():
    m = ac.loads("""
    model N
      input Real u; output Real y;
      Real x[3](each start = 0.5, each fixed = true), z;
    equation
      z + z^3 = x[1]*x[2] + u;
      der(x[1]) = -x[1] + z; der(x[2]) = x[3]*z; der(x[3]) = -sin(x[1]) + u^2;
      y = z*x[3] + u;
    end N;
    """)
    lin = m.linearize(given={"u": 0.25})
    assert lin.states == ["x[1]", "x[2]", "x[3]"] and lin.u0[0] == 0.25

    def slopes(x, u):
        given = {f"x[{k + 1}].start": v for k, v in enumerate(x)}
        r = m.simulate(stop=0, set=given, inputs={"u": u}, observe=["der(*)", "y"])
        return np.array([r[f"der(x[{k}])"][-1] for k in (1, 2, 3)] + [r["y"][-1]])

    h = 1e-6
    x = np.full(3, 0.5)
    found = np.vstack([np.hstack([lin.A, lin.B]), np.hstack([lin.C, lin.D])])
    expected = np.zeros((4, 4))
    for k in range(3):
        e = np.eye(3)[k] * h
        expected[:, k] = (slopes(x + e, 0.25) - slopes(x - e, 0.25)) / (2 * h)
    expected[:, 3] = (slopes(x, 0.25 + h) - slopes(x, 0.25 - h)) / (2 * h)
    assert np.allclose(found, expected, atol=1e-7)
