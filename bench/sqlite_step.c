/* The yardstick of the page reader: SQLite's own C API stepping through a table in one thread.
 * Usage: sqlite_step FILE TABLE COLUMN...   prints rows, seconds and the sum of all values.
 * The library is loaded by name with prototypes of our own, so no headers are needed. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { OPEN_READONLY = 1, ROW = 100, DONE = 101 };
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef int (*open_fn)(const char *, sqlite3 **, int, const char *);
typedef int (*exec_fn)(sqlite3 *, const char *, void *, void *, char **);
typedef int (*prepare_fn)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
typedef int (*step_fn)(sqlite3_stmt *);
typedef int64_t (*int64_fn)(sqlite3_stmt *, int);

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) fprintf(stderr, "sqlite_step: no %s in libsqlite3\n", name);
  return found;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: sqlite_step FILE TABLE COLUMN...\n");
    return 2;
  }
  void *library = dlopen("libsqlite3.so.0", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "sqlite_step: %s\n", dlerror());
    return 3;
  }
  open_fn open_v2 = (open_fn)symbol(library, "sqlite3_open_v2");
  exec_fn exec = (exec_fn)symbol(library, "sqlite3_exec");
  prepare_fn prepare = (prepare_fn)symbol(library, "sqlite3_prepare_v2");
  step_fn step = (step_fn)symbol(library, "sqlite3_step");
  int64_fn column = (int64_fn)symbol(library, "sqlite3_column_int64");
  if (!open_v2 || !exec || !prepare || !step || !column) return 3;

  const int columns = argc - 3;
  char sql[4096] = "SELECT ";
  size_t used = strlen(sql);
  for (int i = 0; i < columns; ++i)
    used += (size_t)snprintf(sql + used, sizeof sql - used, "%s\"%s\"", i ? ", " : "", argv[3 + i]);
  snprintf(sql + used, sizeof sql - used, " FROM \"%s\"", argv[2]);

  const double begin = now();
  sqlite3 *database = NULL;
  sqlite3_stmt *statement = NULL;
  if (open_v2(argv[1], &database, OPEN_READONLY, NULL)) return 4;
  exec(database, "PRAGMA mmap_size = 8000000000", NULL, NULL, NULL);
  if (prepare(database, sql, -1, &statement, NULL)) return 4;
  uint64_t sum = 0, rows = 0;
  int state;
  while ((state = step(statement)) == ROW) {
    for (int i = 0; i < columns; ++i) sum += (uint64_t)column(statement, i);
    ++rows;
  }
  if (state != DONE) return 5;
  printf("%" PRIu64 " %.6f %" PRIu64 "\n", rows, now() - begin, sum);
  return 0;
}
