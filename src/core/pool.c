/* The pool of threads. Ranges depend on counts alone; a loop costs one atomic
 * store to start and one counter to end, and a sleep only after a short spin.
 * Must never let which thread computed something show in a result. */
#include "core/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "core/fpenv.h"
#include "core/memory.h"

enum { SPINS = 4000, CACHE_LINE = 64 };

struct worker {
  struct pool *pool;
  pthread_t thread;
  int index;
};

struct pool {
  int threads;
  int started; /* threads that were created; all but worker 0 when complete */
  int spins;   /* none when there are more threads than processors */
  struct worker *workers;

  /* The loop in hand; written before `round` is advanced, read after. */
  pool_work *work;
  void *argument;
  int64_t count, grain, units;
  int active; /* workers that take part in it */

  _Alignas(CACHE_LINE) _Atomic uint32_t round; /* advanced to start a loop */
  _Alignas(CACHE_LINE) _Atomic int pending;    /* workers that have not finished it */
  _Alignas(CACHE_LINE) _Atomic int sleepers;   /* workers asleep, or about to be */
  _Atomic bool caller_sleeps;
  bool stop; /* guarded by `lock` and `round` */
  pthread_mutex_t lock;
  pthread_cond_t wake, finished;
};

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Worker w's share: units are dealt evenly, the first ones one more. */
static void run_share(const struct pool *pool, int w) {
  int64_t each = pool->units / pool->active, more = pool->units % pool->active;
  int64_t first = w * each + (w < more ? w : more);
  int64_t last = first + each + (w < more ? 1 : 0);
  int64_t begin = first * pool->grain;
  int64_t end = last == pool->units ? pool->count : last * pool->grain;
  if (begin < end) {
    pool->work(pool->argument, begin, end, w);
  }
}

/* Waits until the round differs from `seen`; answers the new round. */
static uint32_t await_round(struct pool *pool, uint32_t seen) {
  for (int i = 0; i < pool->spins; i++) {
    uint32_t now = atomic_load_explicit(&pool->round, memory_order_acquire);
    if (now != seen) {
      return now;
    }
    relax();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_fetch_add(&pool->sleepers, 1);
  uint32_t now;
  while ((now = atomic_load(&pool->round)) == seen) {
    pthread_cond_wait(&pool->wake, &pool->lock);
  }
  atomic_fetch_sub(&pool->sleepers, 1);
  pthread_mutex_unlock(&pool->lock);
  return now;
}

static void *worker_main(void *argument) {
  struct worker *worker = argument;
  struct pool *pool = worker->pool;
  struct fpenv saved = fpenv_enter();
  uint32_t round = 0;
  for (;;) {
    round = await_round(pool, round);
    if (pool->stop) {
      break;
    }
    if (worker->index < pool->active) {
      run_share(pool, worker->index);
    }
    /* Every worker answers, so that the next loop cannot start under one that
     * has not yet looked at this one. */
    if (atomic_fetch_sub(&pool->pending, 1) == 1 && atomic_load(&pool->caller_sleeps)) {
      pthread_mutex_lock(&pool->lock);
      pthread_cond_signal(&pool->finished);
      pthread_mutex_unlock(&pool->lock);
    }
  }
  fpenv_leave(saved);
  return NULL;
}

static void start_round(struct pool *pool) {
  atomic_fetch_add(&pool->round, 1);
  if (atomic_load(&pool->sleepers) > 0) {
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
  }
}

static void await_workers(struct pool *pool) {
  for (int i = 0; i < pool->spins; i++) {
    if (atomic_load_explicit(&pool->pending, memory_order_acquire) == 0) {
      return;
    }
    relax();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->caller_sleeps, true);
  while (atomic_load(&pool->pending) != 0) {
    pthread_cond_wait(&pool->finished, &pool->lock);
  }
  atomic_store(&pool->caller_sleeps, false);
  pthread_mutex_unlock(&pool->lock);
}

void pool_for(struct pool *pool, int64_t count, int64_t grain, pool_work *work, void *argument) {
  if (count <= 0) {
    return;
  }
  grain = grain < 1 ? 1 : grain;
  if (pool == NULL || pool->threads == 1 || count <= grain) {
    work(argument, 0, count, 0);
    return;
  }
  pool->work = work;
  pool->argument = argument;
  pool->count = count;
  pool->grain = grain;
  pool->units = count / grain + (count % grain != 0);
  pool->active = pool->units < pool->threads ? (int)pool->units : pool->threads;
  atomic_store(&pool->pending, pool->threads - 1);
  start_round(pool);
  run_share(pool, 0);
  await_workers(pool);
}

int pool_threads(const struct pool *pool) { return pool == NULL ? 1 : pool->threads; }

void pool_free(struct pool *pool) {
  if (pool == NULL) {
    return;
  }
  if (pool->started > 0) {
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_mutex_unlock(&pool->lock);
    start_round(pool);
  }
  for (int i = 1; i <= pool->started; i++) {
    pthread_join(pool->workers[i].thread, NULL);
  }
  pthread_cond_destroy(&pool->finished);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
  memory_free(pool->workers);
  memory_free(pool);
}

/* Threads block every signal, so that the program's own thread gets them. */
static int start_threads(struct pool *pool) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  for (int i = 1; i < pool->threads && error == 0; i++) {
    pool->workers[i] = (struct worker){.pool = pool, .index = i};
    error = pthread_create(&pool->workers[i].thread, NULL, worker_main, &pool->workers[i]);
    pool->started += error == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

assay_status pool_new(int threads, struct pool **out) {
  *out = NULL;
  if (threads < 1 || threads > 1024) {
    return status_make(ASSAY_USAGE, NULL, "%d threads were asked for; give a whole number from 1 to 1024", threads);
  }
  struct pool *pool = memory_alloc_aligned(sizeof *pool);
  if (pool == NULL) {
    return status_no_memory(sizeof *pool);
  }
  pool->workers = memory_alloc((size_t)threads, sizeof *pool->workers);
  if (pool->workers == NULL) {
    memory_free(pool);
    return status_no_memory((size_t)threads * sizeof *pool->workers);
  }
  pool->threads = threads;
  pool->spins = sysconf(_SC_NPROCESSORS_ONLN) >= threads ? SPINS : 0;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->finished, NULL);
  int error = start_threads(pool);
  if (error != 0) {
    int started = pool->started;
    pool_free(pool);
    return status_make(ASSAY_OUT_OF_MEMORY, NULL, "only %d of %d threads could be started: %s; ask for fewer",
                       started + 1, threads, strerror(error));
  }
  *out = pool;
  return status_ok();
}
