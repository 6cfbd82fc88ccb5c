/* N bridge rectifiers with phases spread over a period, their outputs coupled in a row. Unknowns of a cell: the two
 * potentials of the source (algebraic) and that of the output.
 * With four iterations, as IDA has it, the corrector fails where a diode begins to conduct.
 * usage: bridges N rtol tend repeats */
#include "driver.h"

static idx N;
static const double G = 1e-6, Is = 1e-9, Vt = 0.05, V = 10, R = 1, C = 1e-3, load = 100, Rc = 10, omega = 314.1592653589793;

static inline double diode(double v) { return Is * (exp(v / Vt) - 1) + G * v; }
static inline double slope(double v) { return Is / Vt * exp(v / Vt) + G; }

static void residual(Problem *p, double t, const double *restrict y, const double *restrict yp, double *restrict r) {
  for (idx k = 0; k < N; k++) {
    double a = y[3 * k], b = y[3 * k + 1], o = y[3 * k + 2];
    double u = V * sin(omega * t + 2 * 3.141592653589793 * (k + 1) / N);
    double i = (u - (a - b)) / R;
    double d1 = diode(a - o), d2 = diode(b - o), d3 = diode(-a), d4 = diode(-b);
    r[3 * k] = i - d1 + d3;
    r[3 * k + 1] = -i - d2 + d4;
    double out = C * yp[3 * k + 2] + o / load - d1 - d2;
    if (k > 0) out += (o - y[3 * k - 1]) / Rc;
    if (k < N - 1) out += (o - y[3 * k + 5]) / Rc;
    r[3 * k + 2] = out;
  }
}

static void partials(Problem *p, double t, double cj, const double *y, const double *yp, Matrix *m) {
  for (idx k = 0; k < N; k++) {
    idx i = 3 * k;
    double a = y[i], b = y[i + 1], o = y[i + 2];
    double g1 = slope(a - o), g2 = slope(b - o), g3 = slope(-a), g4 = slope(-b);
    put(m, i, i, -1 / R - g1 - g3);
    put(m, i, i + 1, 1 / R);
    put(m, i, i + 2, g1);
    put(m, i + 1, i, 1 / R);
    put(m, i + 1, i + 1, -1 / R - g2 - g4);
    put(m, i + 1, i + 2, g2);
    put(m, i + 2, i, -g1);
    put(m, i + 2, i + 1, -g2);
    put(m, i + 2, i + 2, C * cj + 1 / load + g1 + g2 + ((k > 0) + (k < N - 1)) / Rc);
    if (k > 0) put(m, i + 2, i - 1, -1 / Rc);
    if (k < N - 1) put(m, i + 2, i + 5, -1 / Rc);
  }
}

/* The potentials of the source at the start, by Newton's method with short steps. */
static void start(Problem *p) {
  for (idx k = 0; k < N; k++) {
    double u = V * sin(2 * 3.141592653589793 * (k + 1) / N), a = 0, b = 0;
    for (int step = 0; step < 2000; step++) {
      double i = (u - (a - b)) / R, f = i - diode(a) + diode(-a), g = -i - diode(b) + diode(-b);
      double p11 = -1 / R - slope(a) - slope(-a), p12 = 1 / R, p22 = -1 / R - slope(b) - slope(-b);
      double det = p11 * p22 - p12 * p12, da = (f * p22 - g * p12) / det, db = (p11 * g - p12 * f) / det;
      double size = fmax(fabs(da), fabs(db)), scale = size > Vt ? Vt / size : 1;
      a -= scale * da;
      b -= scale * db;
      if (size < 1e-14) break;
    }
    p->y[3 * k] = a;
    p->y[3 * k + 1] = b;
    p->yp[3 * k + 2] = (diode(a) + diode(b)) / C;
  }
}

int main(int argc, char **argv) {
  Problem p = {.name = "bridges", .residual = residual, .partials = partials, .suppress = 1, .iterations = 10};
  N = argc > 1 ? atol(argv[1]) : 1000;
  p.rtol = argc > 2 ? atof(argv[2]) : 1e-6;
  p.tend = argc > 3 ? atof(argv[3]) : 0.04;
  allocate(&p, 3 * N);
  for (idx k = 0; k < p.n; k++) {
    p.id[k] = k % 3 == 2;
    p.atol[k] = 0.1 * p.rtol;
  }
  start(&p);
  p.probe = 3 * (N / 2) + 2;
  return run(&p, argc > 4 ? atoi(argv[4]) : 3);
}
