/* Files: reading only plain ones, and replacing so that the old file or the new one is
 * there, whole, whatever happens in between. */
#include "core/file.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/memory.h"
#include "failing_memory.h"
#include "scratch_folder.h"

static const char *folder;

static void assert_content(const char *path, const char *expected) {
  char *bytes;
  size_t size;
  ASSERT_OK(file_read(path, 1 << 20, &bytes, &size));
  assert_int_equal(size, strlen(expected));
  assert_string_equal(bytes, expected);
  memory_free(bytes);
}

/* No file but those named is in the folder: nothing was left beside them. */
static void assert_only(size_t count) {
  struct arena arena = {0};
  char **names;
  size_t found;
  ASSERT_OK(folder_list(folder, &arena, &names, &found));
  for (size_t i = 0; found != count && i < found; i++) {
    print_error("in the folder: %s\n", names[i]);
  }
  assert_int_equal(found, count);
  arena_free(&arena);
}

static void reading_refuses_what_is_no_plain_file(void **state) {
  (void)state;
  char *bytes;
  size_t size;
  struct file_map map;
  const char *fifo = in_folder(folder, "fifo");
  assert_int_equal(mkfifo(fifo, 0600), 0);
  alarm(5); /* a reader that waits for the FIFO dies here */
  ASSERT_FAILS(file_read(fifo, 100, &bytes, &size), ASSAY_FILE_UNREADABLE, "FIFO");
  ASSERT_FAILS(file_map_open(fifo, &map), ASSAY_FILE_UNREADABLE, "FIFO");
  ASSERT_FAILS(file_read("/dev/zero", 100, &bytes, &size), ASSAY_FILE_UNREADABLE, "device");
  ASSERT_FAILS(file_read(folder, 100, &bytes, &size), ASSAY_FILE_UNREADABLE, "a folder");
  ASSERT_FAILS(file_read(in_folder(folder, "none"), 100, &bytes, &size), ASSAY_FILE_MISSING, "does not exist");
  ASSERT_FAILS(file_map_open(in_folder(folder, "fifo/none"), &map), ASSAY_FILE_MISSING, "does not exist");
  alarm(0);
  assert_null(bytes);
  unlink(fifo);
}

static void reading_keeps_its_limit(void **state) {
  (void)state;
  const char *path = in_folder(folder, "limit");
  char *bytes;
  size_t size;
  write_file(path, "12345", 5);
  ASSERT_OK(file_read(path, 5, &bytes, &size));
  assert_int_equal(size, 5);
  assert_int_equal(bytes[5], 0);
  memory_free(bytes);
  ASSERT_FAILS(file_read(path, 4, &bytes, &size), ASSAY_LIMIT_EXCEEDED, "4 bytes");
  assert_null(bytes);
  unlink(path);
}

static void an_empty_file_reads_and_maps(void **state) {
  (void)state;
  const char *path = in_folder(folder, "empty");
  char *bytes;
  size_t size;
  struct file_map map;
  write_file(path, "", 0);
  ASSERT_OK(file_read(path, 0, &bytes, &size));
  assert_int_equal(size, 0);
  memory_free(bytes);
  ASSERT_OK(file_map_open(path, &map));
  assert_null(map.data);
  file_map_close(&map);
  unlink(path);
}

static void replacing_keeps_mode_and_follows_a_link(void **state) {
  (void)state;
  char path[1024], link[1024];
  snprintf(path, sizeof path, "%s/kept", folder);
  snprintf(link, sizeof link, "%s/link", folder);
  write_file(path, "old", 3);
  assert_int_equal(chmod(path, 0640), 0);
  assert_int_equal(symlink("kept", link), 0);
  ASSERT_OK(file_replace(link, "new", 3));
  assert_content(path, "new");
  struct stat info;
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640);
  assert_only(2);
  unlink(link);
  unlink(path);
}

static void replacing_refuses_devices_and_folders(void **state) {
  (void)state;
  ASSERT_FAILS(file_replace("/dev/null", "x", 1), ASSAY_FILE_UNWRITABLE, "plain file");
  ASSERT_FAILS(file_replace(folder, "x", 1), ASSAY_FILE_UNWRITABLE, "plain file");
  ASSERT_FAILS(file_replace(in_folder(folder, "none/x"), "x", 1), ASSAY_FILE_UNWRITABLE, "cannot be written");
  struct stat info;
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
}

/* A limit on the size of files stands for a full disk: write(2) fails half way. */
static void a_full_disk_leaves_the_old_file(void **state) {
  (void)state;
  const char *path = in_folder(folder, "full");
  write_file(path, "old", 3);
  char *much = calloc(1, 1 << 20);
  assert_non_null(much);
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = (struct rlimit){.rlim_cur = 4096, .rlim_max = before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  assay_status status = file_replace(path, much, 1 << 20);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  free(much);
  ASSERT_FAILS(status, ASSAY_FILE_UNWRITABLE, "unchanged");
  assert_content(path, "old");
  assert_only(1);
  unlink(path);
}

static void abandoning_leaves_nothing(void **state) {
  (void)state;
  struct file_writer *writer;
  ASSERT_OK(file_writer_open(in_folder(folder, "never"), &writer));
  ASSERT_OK(file_writer_write(writer, "half", 4));
  file_writer_abandon(writer);
  file_writer_abandon(NULL);
  assert_only(0);
}

enum { WHOLE = 1 << 16 };

/* Replaces the file for ever, by all 'a' and all 'b'. */
static void replace_for_ever(const char *path) {
  static char bytes[WHOLE];
  for (int turn = 0;; turn++) {
    memset(bytes, turn % 2 == 0 ? 'a' : 'b', sizeof bytes);
    assay_status status = file_replace(path, bytes, sizeof bytes);
    if (!assay_status_ok(status)) {
      _exit(1);
    }
  }
}

static void a_kill_in_the_middle_leaves_a_whole_file(void **state) {
  (void)state;
  const char *path = in_folder(folder, "killed");
  static char start[WHOLE];
  memset(start, 'a', sizeof start);
  ASSERT_OK(file_replace(path, start, sizeof start));
  for (int round = 0; round < 15; round++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      replace_for_ever(path);
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000 + 700000 * round}, NULL);
    kill(child, SIGKILL);
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    char *bytes;
    size_t size;
    ASSERT_OK(file_read(path, WHOLE, &bytes, &size));
    assert_int_equal(size, WHOLE);
    for (size_t i = 1; i < size; i++) {
      assert_int_equal(bytes[i], bytes[0]);
    }
    memory_free(bytes);
  }
  folder = scratch_folder("test_file");
}

static assay_status read_and_replace(void *path) {
  char *bytes;
  size_t size;
  TRY(file_read(path, 100, &bytes, &size));
  assay_status status = file_replace(path, bytes, size);
  memory_free(bytes);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  char path[1024];
  snprintf(path, sizeof path, "%s/memory", folder);
  write_file(path, "content", 7);
  fail_every_allocation(read_and_replace, path);
  assert_content(path, "content");
  assert_only(1);
  unlink(path);
}

int main(void) {
  folder = scratch_folder("test_file");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading_refuses_what_is_no_plain_file),
      cmocka_unit_test(reading_keeps_its_limit),
      cmocka_unit_test(an_empty_file_reads_and_maps),
      cmocka_unit_test(replacing_keeps_mode_and_follows_a_link),
      cmocka_unit_test(replacing_refuses_devices_and_folders),
      cmocka_unit_test(a_full_disk_leaves_the_old_file),
      cmocka_unit_test(abandoning_leaves_nothing),
      cmocka_unit_test(a_kill_in_the_middle_leaves_a_whole_file),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
