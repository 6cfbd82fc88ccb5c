/* Heat conduction in a square plate of N by N cells with edges at zero and a source of one: the five-point formula.
 * usage: plate N rtol tend repeats */
#include "driver.h"

static idx N;

static void residual(Problem *p, double t, const double *restrict y, const double *restrict yp, double *restrict r) {
  double c = (double)N * N;
  for (idx i = 0; i < N; i++) {
    const double *row = y + i * N, *up = i > 0 ? row - N : NULL, *down = i < N - 1 ? row + N : NULL;
    double self = (i == 0) + (i == N - 1);
    for (idx j = 0; j < N; j++) {
      double s = self * row[j];
      double sum = -4 * row[j] - s;
      sum += up ? up[j] : 0;
      sum += down ? down[j] : 0;
      sum += j > 0 ? row[j - 1] : -row[j];
      sum += j < N - 1 ? row[j + 1] : -row[j];
      r[i * N + j] = yp[i * N + j] - c * sum - 1;
    }
  }
}

static void partials(Problem *p, double t, double cj, const double *y, const double *yp, Matrix *m) {
  double c = (double)N * N;
  for (idx i = 0; i < N; i++)
    for (idx j = 0; j < N; j++) {
      idx k = i * N + j;
      double edges = (i == 0) + (i == N - 1) + (j == 0) + (j == N - 1);
      put(m, k, k, cj + c * (4 + edges));
      if (i > 0) put(m, k, k - N, -c);
      if (i < N - 1) put(m, k, k + N, -c);
      if (j > 0) put(m, k, k - 1, -c);
      if (j < N - 1) put(m, k, k + 1, -c);
    }
}

int main(int argc, char **argv) {
  Problem p = {.name = "plate", .residual = residual, .partials = partials};
  N = argc > 1 ? atol(argv[1]) : 200;
  p.rtol = argc > 2 ? atof(argv[2]) : 1e-6;
  p.tend = argc > 3 ? atof(argv[3]) : 0.1;
  allocate(&p, N * N);
  for (idx k = 0; k < p.n; k++) {
    p.yp[k] = 1;
    p.id[k] = 1;
    p.atol[k] = 1e-2 * p.rtol;
  }
  p.probe = N / 2 * N + N / 2;
  return run(&p, argc > 4 ? atoi(argv[4]) : 3);
}
