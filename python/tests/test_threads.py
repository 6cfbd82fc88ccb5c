"""Models in several threads and processes."""

import concurrent.futures
import multiprocessing
import pickle
import threading
import time

import numpy as np
import acausal as ac


def test_pickle_gives_the_same_bits(ball):
    again = pickle.loads(pickle.dumps(ball))
    assert np.array_equal(again.simulate(stop=1)["h"], ball.simulate(stop=1)["h"])
    assert again.parameters["e"].value == 0.5
    assert again.recompile({"e": 0.25}).parameters["e"].value == 0.25


def test_machine_code_is_made_once_in_a_process(ball):
    one, two = (pickle.loads(pickle.dumps(ball)) for _ in range(2))
    assert one._core is two._core


def final(model, k):
    return float(model.simulate(stop=1, set={"k": k})["x"][-1])


def test_a_pool_of_processes(decay):
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        found = list(pool.map(final, [decay] * 4, [1.0, 2.0, 3.0, 4.0]))
    assert np.allclose(found, np.exp([-1, -2, -3, -4]), atol=1e-5)


def test_simulations_in_many_threads(ball):
    expected = {e: ball.simulate(stop=1, set={"e": e})["h"].copy() for e in (0.5, 0.625, 0.75)}

    def check(e):
        for _ in range(20):
            assert np.array_equal(ball.simulate(stop=1, set={"e": e})["h"], expected[e])

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(check, [0.5, 0.625, 0.75] * 2))


def test_python_runs_while_a_simulation_does(endless):
    ticks = []
    done = threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    counter = threading.Thread(target=count)
    counter.start()
    began = time.monotonic()
    endless.simulate(stop=100, interval=10)
    passed = time.monotonic() - began
    done.set()
    counter.join()
    assert len(ticks) > passed / 0.05, f"{len(ticks)} ticks in {passed} s"


def test_python_runs_while_the_compiler_does():
    ticks = []
    done = threading.Event()

    def count():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    states = range(2000)
    declared = "".join(f"Real x{k}(start = 1, fixed = true);" for k in states)
    ac.loads(f"model M {declared} equation {''.join(f'der(x{k}) = -{k + 1}*x{k}^{k % 7 + 2};' for k in states)} end M;")
    done.set()
    counter.join()
    assert len(ticks) > 5
