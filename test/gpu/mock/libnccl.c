/* NCCL in C, as far as it is called, on the memory of the mock of libcuda, which is the host's.
   Ranks of one process do their work when the group ends; those of several processes meet in shared
   memory, and one that waits too long for another has the error of a remote process that ended. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS, UNHANDLED, SYSTEM, INTERNAL, INVALID_ARGUMENT, INVALID_USAGE, REMOTE };
enum { MOST_RANKS = 4, AREA = 4096, MOST_WORK = 64 };
enum Kind { ALL_REDUCE, ALL_GATHER, BROADCAST, REDUCE_SCATTER, SEND, RECEIVE };
typedef struct { char bytes[128]; } Identity;
typedef struct { atomic_int joined; atomic_int arrived[MOST_RANKS]; char area[MOST_RANKS][AREA]; } Meeting;
typedef struct { int rank, size, error, meetings; Meeting *meeting; void *group; } Communicator;
typedef struct { enum Kind kind; Communicator *of; const void *from; void *to; size_t count; int type, reduction, peer; void *stream; } Work;

static int live, depth, works, fails_in, fail_code;
static char fails[32];
static Work queue[MOST_WORK];

/* What the test reads and sets: communicators that live, and the n-th call of a name from now on that gives a code. */
int mock_communicators(void) { return live; }
void mock_fail(const char *name, int nth, int code) { snprintf(fails, sizeof fails, "%s", name); fails_in = nth; fail_code = code; }
static int failing(const char *name) { return strcmp(name, fails) == 0 && fails_in > 0 && --fails_in == 0 ? fail_code : SUCCESS; }
#define FAULT(name) do { int code_ = failing(name); if (code_) return code_; } while (0)

int ncclGetVersion(int *version) { FAULT("ncclGetVersion"); *version = 22707; return SUCCESS; }
int ncclGetUniqueId(Identity *identity) {
  FAULT("ncclGetUniqueId");
  snprintf(identity->bytes, sizeof identity->bytes, "/spillway-nccl-%d-%ld", getpid(), (long)random());
  return SUCCESS;
}
static Communicator *made(int rank, int size) {
  Communicator *of = calloc(1, sizeof *of);
  of->rank = rank; of->size = size; live++;
  return of;
}
int ncclCommInitAll(Communicator **all, int size, const int *devices) {
  FAULT("ncclCommInitAll");
  if (size < 1 || size > MOST_RANKS || !devices) return INVALID_ARGUMENT;
  for (int r = 0; r < size; r++) { all[r] = made(r, size); all[r]->group = all[0]; }
  return SUCCESS;
}

static int wait_for(atomic_int *counter, int least) {
  for (int k = 0; k < 2000; k++) {
    if (atomic_load(counter) >= least) return SUCCESS;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  return REMOTE;
}
int ncclCommInitRank(Communicator **of, int size, Identity identity, int rank) {
  FAULT("ncclCommInitRank");
  if (size < 1 || size > MOST_RANKS || rank < 0 || rank >= size || identity.bytes[0] != '/') return INVALID_ARGUMENT;
  int file = shm_open(identity.bytes, O_CREAT | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, sizeof(Meeting))) return SYSTEM;
  Meeting *meeting = mmap(NULL, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (meeting == MAP_FAILED) return SYSTEM;
  atomic_fetch_add(&meeting->joined, 1);
  if (wait_for(&meeting->joined, size)) return SYSTEM;
  shm_unlink(identity.bytes);
  *of = made(rank, size);
  (*of)->meeting = meeting;
  return SUCCESS;
}
static int ended(Communicator *of) { if (of->meeting) munmap(of->meeting, sizeof(Meeting)); free(of); live--; return SUCCESS; }
int ncclCommDestroy(Communicator *of) { int code = failing("ncclCommDestroy"); ended(of); return code; }
int ncclCommAbort(Communicator *of) { int code = failing("ncclCommAbort"); ended(of); return code; }
int ncclCommGetAsyncError(Communicator *of, int *error) { FAULT("ncclCommGetAsyncError"); *error = of->error; return SUCCESS; }

static size_t width(int type) { return type <= 1 ? 1 : type <= 3 ? 4 : type <= 5 ? 8 : type == 6 || type == 9 ? 2 : type == 7 ? 4 : 8; }
static int reduce(void *to, const void *from, size_t count, int type, int by) {
#define EACH(kind) for (size_t i = 0; i < count; i++) { kind a = ((kind *)to)[i], b = ((const kind *)from)[i]; \
    ((kind *)to)[i] = by == 0 ? a + b : by == 1 ? a * b : by == 2 ? (a > b ? a : b) : (a < b ? a : b); }
  switch (type) {
    case 2: EACH(int) break;
    case 7: EACH(float) break;
    case 8: EACH(double) break;
    default: return INVALID_ARGUMENT;
  }
  return SUCCESS;
}

/* What every rank gives is in `parts`, in their order. */
static int finish(const Work *work, const void *const parts[]) {
  size_t bytes = work->count * width(work->type);
  int size = work->of->size, code = SUCCESS;
  switch (work->kind) {
    case ALL_GATHER: for (int r = 0; r < size; r++) memcpy((char *)work->to + r * bytes, parts[r], bytes); break;
    case BROADCAST: memmove(work->to, parts[work->peer], bytes); break;
    case ALL_REDUCE: case REDUCE_SCATTER: {
      size_t at = work->kind == REDUCE_SCATTER ? bytes * (size_t)work->of->rank : 0;
      memcpy(work->to, (const char *)parts[0] + at, bytes);
      for (int r = 1; r < size; r++) code |= reduce(work->to, (const char *)parts[r] + at, work->count, work->type, work->reduction);
      break;
    }
    case RECEIVE: memcpy(work->to, parts[work->peer], bytes); break;
    case SEND: break;
  }
  return code;
}

static size_t given(const Work *work) { return work->count * width(work->type) * (work->kind == REDUCE_SCATTER ? (size_t)work->of->size : 1); }
static int across(const Work *work) {
  Communicator *of = work->of;
  const void *parts[MOST_RANKS];
  if (given(work) > AREA) return INVALID_ARGUMENT;
  for (int half = 0; half < 2; half++) {
    if (half == 0 && work->from) memcpy(of->meeting->area[of->rank], work->from, given(work));
    if (half == 1) {
      for (int r = 0; r < of->size; r++) parts[r] = of->meeting->area[r];
      int code = finish(work, parts);
      if (code) return code;
    }
    of->meetings++;
    atomic_store(&of->meeting->arrived[of->rank], of->meetings);
    for (int r = 0; r < of->size; r++) if (wait_for(&of->meeting->arrived[r], of->meetings)) of->error = REMOTE;
    if (of->error) return SUCCESS;
  }
  return SUCCESS;
}

/* The parts are copied before any result is written: a result may lie where a part does. */
static int within(void) {
  int code = SUCCESS;
  for (int w = 0; w < works; w++) {
    Work *work = &queue[w];
    if (work->of == NULL) continue;
    Work *all[MOST_RANKS] = {0};
    void *parts[MOST_RANKS] = {0};
    for (int v = w; v < works; v++) {
      Work *other = &queue[v];
      if (!other->of || other->of->group != work->of->group || all[other->of->rank]) continue;
      int pair = work->kind >= SEND;
      if (pair && !(v == w || (other->kind == (work->kind == SEND ? RECEIVE : SEND) && other->of->rank == work->peer && other->peer == work->of->rank))) continue;
      if (!pair && other->kind != work->kind) continue;
      all[other->of->rank] = other;
    }
    for (int r = 0; r < work->of->size; r++) {
      if (!all[r]) { if (work->kind < SEND || r == work->peer) code = INVALID_USAGE; continue; }
      parts[r] = malloc(given(all[r]) + 1);
      if (all[r]->from) memcpy(parts[r], all[r]->from, given(all[r]));
    }
    if (!code) for (int r = 0; r < work->of->size; r++) if (all[r]) code |= finish(all[r], (const void *const *)parts);
    int size = work->of->size;
    for (int r = 0; r < size; r++) { free(parts[r]); if (all[r]) all[r]->of = NULL; }
  }
  works = 0;
  return code;
}
int ncclGroupStart(void) { FAULT("ncclGroupStart"); depth++; return SUCCESS; }
int ncclGroupEnd(void) {
  int code = failing("ncclGroupEnd");
  if (depth > 0 && --depth == 0) { if (code) works = 0; else code = within(); }
  return code;
}
static int take(const char *name, Work work) {
  FAULT(name);
  if (!work.stream || !work.of || (!work.from && work.kind != RECEIVE)) return INVALID_ARGUMENT;
  if (work.of->meeting) return across(&work);
  if (works == MOST_WORK) return INTERNAL;
  queue[works++] = work;
  return depth > 0 ? SUCCESS : within();
}
int ncclAllReduce(const void *from, void *to, size_t count, int type, int by, Communicator *of, void *stream) {
  return take("ncclAllReduce", (Work){ALL_REDUCE, of, from, to, count, type, by, 0, stream});
}
int ncclAllGather(const void *from, void *to, size_t count, int type, Communicator *of, void *stream) {
  return take("ncclAllGather", (Work){ALL_GATHER, of, from, to, count, type, 0, 0, stream});
}
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, Communicator *of, void *stream) {
  return take("ncclBroadcast", (Work){BROADCAST, of, from, to, count, type, 0, root, stream});
}
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int by, Communicator *of, void *stream) {
  return take("ncclReduceScatter", (Work){REDUCE_SCATTER, of, from, to, count, type, by, 0, stream});
}
int ncclSend(const void *from, size_t count, int type, int peer, Communicator *of, void *stream) {
  return take("ncclSend", (Work){SEND, of, from, NULL, count, type, 0, peer, stream});
}
int ncclRecv(void *to, size_t count, int type, int peer, Communicator *of, void *stream) {
  return take("ncclRecv", (Work){RECEIVE, of, NULL, to, count, type, 0, peer, stream});
}
