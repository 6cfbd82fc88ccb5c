/* What the programs of this directory share: a sparsity pattern that is made once from triplets, and a run of IDA with KLU.
 * A problem gives its residual, and a function that adds its partial derivatives dF/dy + cj dF/dy' by put(row, column,
 * value) in an order that never changes. */
#include "common.h"

typedef struct {
  idx n, nnz, filled, capacity;
  idx *rows, *cols;      /* triplets, while the pattern is recorded */
  idx *position;         /* where each of them goes */
  idx *ptr, *ind;        /* compressed columns */
  double *values;        /* NULL while the pattern is recorded */
} Matrix;

static inline void put(Matrix *m, idx row, idx col, double value) {
  if (m->values) {
    m->values[m->position[m->filled++]] += value;
    return;
  }
  if (m->filled == m->capacity) {
    m->capacity = m->capacity ? 2 * m->capacity : 1024;
    m->rows = realloc(m->rows, m->capacity * sizeof(idx));
    m->cols = realloc(m->cols, m->capacity * sizeof(idx));
  }
  m->rows[m->filled] = row;
  m->cols[m->filled++] = col;
}

static Matrix *sorted;
static int by_column(const void *a, const void *b) {
  idx i = *(const idx *)a, j = *(const idx *)b;
  if (sorted->cols[i] != sorted->cols[j]) return sorted->cols[i] < sorted->cols[j] ? -1 : 1;
  return sorted->rows[i] < sorted->rows[j] ? -1 : sorted->rows[i] > sorted->rows[j];
}

static void make_pattern(Matrix *m) {
  idx count = m->filled, *order = malloc(count * sizeof(idx)), k = -1;
  for (idx i = 0; i < count; i++) order[i] = i;
  sorted = m;
  qsort(order, count, sizeof(idx), by_column);
  m->position = malloc(count * sizeof(idx));
  m->ptr = calloc(m->n + 1, sizeof(idx));
  m->ind = malloc(count * sizeof(idx));
  for (idx s = 0; s < count; s++) {
    idx t = order[s];
    if (s == 0 || by_column(&order[s - 1], &order[s]) != 0) {
      m->ind[++k] = m->rows[t];
      m->ptr[m->cols[t] + 1]++;
    }
    m->position[t] = k;
  }
  for (idx c = 0; c < m->n; c++) m->ptr[c + 1] += m->ptr[c];
  m->nnz = k + 1;
  free(order);
}

typedef struct Problem {
  const char *name;
  idx n, probe;
  double tend, rtol;
  double *y, *yp, *id, *atol;
  void (*residual)(struct Problem *, double t, const double *restrict y, const double *restrict yp, double *restrict r);
  void (*partials)(struct Problem *, double t, double cj, const double *y, const double *yp, Matrix *m);
  Matrix m;
  int suppress;   /* algebraic unknowns stay out of the error test */
  int iterations; /* of the corrector at most; 0: as IDA has it */
} Problem;

static void allocate(Problem *p, idx n) {
  p->n = n;
  p->y = calloc(n, sizeof(double));
  p->yp = calloc(n, sizeof(double));
  p->id = calloc(n, sizeof(double));
  p->atol = calloc(n, sizeof(double));
}

static int call_residual(double t, N_Vector Y, N_Vector YP, N_Vector R, void *ud) {
  Problem *p = ud;
  p->residual(p, t, N_VGetArrayPointer(Y), N_VGetArrayPointer(YP), N_VGetArrayPointer(R));
  return 0;
}

static int call_partials(double t, double cj, N_Vector Y, N_Vector YP, N_Vector R, SUNMatrix J, void *ud, N_Vector a,
                         N_Vector b, N_Vector c) {
  Problem *p = ud;
  /* IDA has cleared the pattern as well. */
  memcpy(SUNSparseMatrix_IndexPointers(J), p->m.ptr, (p->n + 1) * sizeof(idx));
  memcpy(SUNSparseMatrix_IndexValues(J), p->m.ind, p->m.nnz * sizeof(idx));
  p->m.values = SUNSparseMatrix_Data(J);
  p->m.filled = 0;
  p->partials(p, t, cj, N_VGetArrayPointer(Y), N_VGetArrayPointer(YP), &p->m);
  return 0;
}

static int run(Problem *p, int repeats) {
  int worst = 0;
  p->m.n = p->n;
  p->partials(p, 0, 1, p->y, p->yp, &p->m);
  make_pattern(&p->m);
  for (int k = 0; k < repeats; k++) {
    SUNContext ctx;
    CTX_CREATE(&ctx);
    double t0 = now(), t;
    N_Vector y = N_VNew_Serial(p->n, ctx), yp = N_VNew_Serial(p->n, ctx), id = N_VNew_Serial(p->n, ctx),
             atol = N_VNew_Serial(p->n, ctx);
    memcpy(N_VGetArrayPointer(y), p->y, p->n * sizeof(double));
    memcpy(N_VGetArrayPointer(yp), p->yp, p->n * sizeof(double));
    memcpy(N_VGetArrayPointer(id), p->id, p->n * sizeof(double));
    memcpy(N_VGetArrayPointer(atol), p->atol, p->n * sizeof(double));
    void *mem = IDACreate(ctx);
    IDAInit(mem, call_residual, 0, y, yp);
    IDASVtolerances(mem, p->rtol, atol);
    IDASetUserData(mem, p);
    IDASetId(mem, id);
    IDASetMaxNumSteps(mem, 1000000);
    if (p->iterations) IDASetMaxNonlinIters(mem, p->iterations);
    if (p->suppress) IDASetSuppressAlg(mem, 1);
    if (getenv("IDA_MAXORD")) IDASetMaxOrd(mem, atoi(getenv("IDA_MAXORD")));
    SUNMatrix J = SUNSparseMatrix(p->n, p->n, p->m.nnz, CSC_MAT, ctx);
    SUNLinearSolver LS = SUNLinSol_KLU(y, J, ctx);
    IDASetLinearSolver(mem, LS, J);
    IDASetJacFn(mem, call_partials);
    int flag = IDASolve(mem, p->tend, &t, y, yp, IDA_NORMAL);
    double seconds = now() - t0;
    if (flag < 0) {
      fprintf(stderr, "%s: IDASolve gave %d at t = %g\n", p->name, flag, t);
      worst = 1;
    }
    stats(p->name, mem, p->n, p->m.nnz, seconds, N_VGetArrayPointer(y), p->probe);
    IDAFree(&mem);
    SUNLinSolFree(LS);
    SUNMatDestroy(J);
    N_VDestroy(y);
    N_VDestroy(yp);
    N_VDestroy(id);
    N_VDestroy(atol);
    SUNContext_Free(&ctx);
  }
  return worst;
}
