/* N heavy bodies on rigid rods in space, hanging from a fixed point. The constraints hold for positions and velocities
 * (Gear, Gupta & Leimkuhler): r' = v - G' mu, m v' = f - G' lambda, g(r) = 0, G v = 0; index two.
 * Unknowns of a body: r (3), v (3), lambda, mu.
 * usage: chain N rtol tend repeats */
#include "driver.h"

static idx N;
static const double mass = 1, gravity = 9.81, damping = 0.5;
static double l;

#define R(k, j) y[8 * (k) + (j)]
#define W(k, j) y[8 * (k) + 3 + (j)]
#define LAMBDA(k) y[8 * (k) + 6]
#define MU(k) y[8 * (k) + 7]

static inline double rod(const double *y, idx k, int j) { return R(k, j) - (k > 0 ? R(k - 1, j) : 0); }
static inline double speed(const double *y, idx k, int j) { return W(k, j) - (k > 0 ? W(k - 1, j) : 0); }

static double force(double t, int j) {
  return j == 2 ? -mass * gravity : j == 1 ? mass * gravity * 0.1 * sin(5 * t) : 0;
}

static void residual(Problem *p, double t, const double *restrict y, const double *restrict yp, double *restrict r) {
  double f[3] = {force(t, 0), force(t, 1), force(t, 2)};
  for (idx k = 0; k < N; k++) {
    double g = -l * l, gv = 0;
    for (int j = 0; j < 3; j++) {
      double a = rod(y, k, j), next = k < N - 1 ? rod(y, k + 1, j) : 0;
      double lambda = -LAMBDA(k) * a, mu = -MU(k) * a;
      if (k < N - 1) {
        lambda += LAMBDA(k + 1) * next;
        mu += MU(k + 1) * next;
      }
      r[8 * k + j] = yp[8 * k + j] - W(k, j) - mu;
      r[8 * k + 3 + j] = mass * yp[8 * k + 3 + j] - lambda + damping * W(k, j) - f[j];
      g += a * a;
      gv += a * speed(y, k, j);
    }
    r[8 * k + 6] = g;
    r[8 * k + 7] = gv;
  }
}

static void partials(Problem *p, double t, double cj, const double *y, const double *yp, Matrix *m) {
  for (idx k = 0; k < N; k++) {
    idx b = 8 * k;
    int last = k == N - 1;
    for (int j = 0; j < 3; j++) {
      double a = rod(y, k, j), next = last ? 0 : rod(y, k + 1, j), s = speed(y, k, j);
      double mu1 = last ? 0 : MU(k + 1), la1 = last ? 0 : LAMBDA(k + 1);
      put(m, b + j, b + j, cj + MU(k) + mu1);
      put(m, b + j, b + 3 + j, -1);
      put(m, b + j, b + 7, a);
      put(m, b + 3 + j, b + 3 + j, mass * cj + damping);
      put(m, b + 3 + j, b + j, LAMBDA(k) + la1);
      put(m, b + 3 + j, b + 6, a);
      put(m, b + 6, b + j, 2 * a);
      put(m, b + 7, b + j, s);
      put(m, b + 7, b + 3 + j, a);
      if (k > 0) {
        put(m, b + j, b - 8 + j, -MU(k));
        put(m, b + 3 + j, b - 8 + j, -LAMBDA(k));
        put(m, b + 6, b - 8 + j, -2 * a);
        put(m, b + 7, b - 8 + j, -s);
        put(m, b + 7, b - 8 + 3 + j, -a);
      }
      if (!last) {
        put(m, b + j, b + 8 + j, -mu1);
        put(m, b + j, b + 8 + 7, -next);
        put(m, b + 3 + j, b + 8 + j, -la1);
        put(m, b + 3 + j, b + 8 + 6, -next);
      }
    }
  }
}

/* At rest in a straight line: the forces in the rods carry what hangs below along the line; the rest accelerates. */
static void start(Problem *p) {
  double dir[3] = {0.8, 0, -0.6};
  for (idx k = 0; k < N; k++) {
    for (int j = 0; j < 3; j++) {
      p->y[8 * k + j] = (k + 1) * l * dir[j];
      p->id[8 * k + j] = p->id[8 * k + 3 + j] = 1;
    }
    for (int j = 0; j < 8; j++) p->atol[8 * k + j] = 0.1 * p->rtol;
  }
  /* The forces in the rods, from a_k . (r''_k - r''_{k-1}) = 0 with m r''_k = lambda_{k+1} a_{k+1} - lambda_k a_k + f: a
   * tridiagonal system, since all rods are parallel. */
  double *diag = calloc(N, sizeof(double)), *rhs = calloc(N, sizeof(double));
  double f[3] = {force(0, 0), force(0, 1), force(0, 2)}, along = 0;
  for (int j = 0; j < 3; j++) along += f[j] * dir[j];
  for (idx k = 0; k < N; k++) {
    diag[k] = k == 0 ? -l : -2 * l;
    rhs[k] = k == 0 ? -along : 0;
  }
  /* rows: k = 0: l lambda_1 - l lambda_0 = -along; k > 0: l lambda_{k+1} - 2 l lambda_k + l lambda_{k-1} = 0 */
  for (idx k = 1; k < N; k++) {
    double factor = l / diag[k - 1];
    diag[k] -= factor * l;
    rhs[k] -= factor * rhs[k - 1];
  }
  double above = 0;
  for (idx k = N - 1; k >= 0; k--) {
    above = (rhs[k] - (k < N - 1 ? l * above : 0)) / diag[k];
    p->y[8 * k + 6] = above;
  }
  for (idx k = 0; k < N; k++)
    for (int j = 0; j < 3; j++) {
      double next = k < N - 1 ? p->y[8 * (k + 1) + 6] : 0;
      p->yp[8 * k + 3 + j] = ((next - p->y[8 * k + 6]) * l * dir[j] + f[j]) / mass;
    }
  free(diag);
  free(rhs);
}

int main(int argc, char **argv) {
  Problem p = {.name = "chain", .residual = residual, .partials = partials, .suppress = 1};
  N = argc > 1 ? atol(argv[1]) : 50;
  p.rtol = argc > 2 ? atof(argv[2]) : 1e-6;
  p.tend = argc > 3 ? atof(argv[3]) : 1;
  l = 1.0 / N;
  allocate(&p, 8 * N);
  start(&p);
  p.probe = 8 * (N - 1) + 2;
  return run(&p, argc > 4 ? atoi(argv[4]) : 3);
}
