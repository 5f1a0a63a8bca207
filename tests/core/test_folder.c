/* Folders: a new one in place of an old one, whole; nobody else's files are removed. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "failing_memory.h"
#include "scratch_folder.h"

static const char *folder;

static void stage_and_commit(const char *path, const char *content) {
  struct arena arena = {0};
  char *staging;
  ASSERT_OK(folder_stage(path, "run.yaml", &arena, &staging));
  ASSERT_OK(file_replace(in_folder(staging, "run.yaml"), content, strlen(content)));
  ASSERT_OK(folder_commit(staging, path));
  assert_false(file_exists(staging));
  arena_free(&arena);
}

static void a_folder_is_replaced_whole(void **state) {
  (void)state;
  const char *path = in_folder(folder, "deep/er/run");
  uint64_t size;
  stage_and_commit(path, "first");
  write_file(in_folder(path, "extra"), "x", 1);
  stage_and_commit(path, "second!");
  ASSERT_OK(file_size(in_folder(path, "run.yaml"), &size));
  assert_int_equal(size, 7);
  assert_false(file_exists(in_folder(path, "extra")));
}

static void an_ending_slash_and_a_link_mean_the_folder(void **state) {
  (void)state;
  stage_and_commit(in_folder(folder, "slash/"), "first");
  stage_and_commit(in_folder(folder, "slash/"), "second");
  assert_int_equal(symlink("slash", in_folder(folder, "linked")), 0);
  stage_and_commit(in_folder(folder, "linked"), "third");
  struct stat info;
  assert_int_equal(lstat(in_folder(folder, "linked"), &info), 0);
  assert_true(S_ISLNK(info.st_mode));
}

static void a_folder_of_other_files_is_not_replaced(void **state) {
  (void)state;
  struct arena arena = {0};
  char *staging;
  char home[1024];
  snprintf(home, sizeof home, "%s/home", folder);
  ASSERT_OK(folder_make(home));
  stage_and_commit(home, "an empty folder may be used");
  ASSERT_OK(folder_remove(home));
  ASSERT_OK(folder_make(home));
  write_file(in_folder(home, "thesis.tex"), "x", 1);
  ASSERT_FAILS(folder_stage(home, "run.yaml", &arena, &staging), ASSAY_FILE_UNWRITABLE, "other files");
  assert_null(staging);
  ASSERT_FAILS(folder_stage(in_folder(home, "thesis.tex"), "run.yaml", &arena, &staging), ASSAY_FILE_UNWRITABLE,
               "a file stands");
  assert_true(file_exists(in_folder(home, "thesis.tex")));
  arena_free(&arena);
}

static void abandoning_leaves_the_old_one(void **state) {
  (void)state;
  struct arena arena = {0};
  char *staging, path[1024];
  snprintf(path, sizeof path, "%s/abandoned", folder);
  stage_and_commit(path, "old");
  ASSERT_OK(folder_stage(path, "run.yaml", &arena, &staging));
  write_file(in_folder(staging, "half"), "x", 1);
  folder_abandon(staging);
  folder_abandon(NULL);
  assert_false(file_exists(staging));
  assert_true(file_exists(in_folder(path, "run.yaml")));
  arena_free(&arena);
}

static void removing_follows_no_link(void **state) {
  (void)state;
  char outside[1024];
  snprintf(outside, sizeof outside, "%s/outside", folder);
  ASSERT_OK(folder_make(outside));
  write_file(in_folder(outside, "precious"), "x", 1);
  ASSERT_OK(folder_make(in_folder(folder, "doomed/inner")));
  assert_int_equal(symlink(outside, in_folder(folder, "doomed/inner/link")), 0);
  ASSERT_OK(folder_remove(in_folder(folder, "doomed")));
  assert_false(file_exists(in_folder(folder, "doomed")));
  assert_true(file_exists(in_folder(outside, "precious")));
  ASSERT_OK(folder_remove(in_folder(folder, "was never there")));
}

static void listing_is_sorted_by_bytes(void **state) {
  (void)state;
  struct arena arena = {0};
  char **names;
  size_t count;
  char path[1024];
  snprintf(path, sizeof path, "%s/list", folder);
  ASSERT_OK(folder_make(path));
  ASSERT_OK(folder_list(path, &arena, &names, &count));
  assert_int_equal(count, 0);
  const char *const written[] = {"b", "B", "a.10", "a.9", ".hidden", "\xc3\xa9"};
  for (size_t i = 0; i < 6; i++) {
    write_file(in_folder(path, written[i]), "", 0);
  }
  ASSERT_OK(folder_list(path, &arena, &names, &count));
  const char *const sorted[] = {".hidden", "B", "a.10", "a.9", "b", "\xc3\xa9"};
  assert_int_equal(count, 6);
  for (size_t i = 0; i < 6; i++) {
    assert_string_equal(names[i], sorted[i]);
  }
  ASSERT_FAILS(folder_list(in_folder(folder, "none"), &arena, &names, &count), ASSAY_FILE_MISSING, "folder");
  arena_free(&arena);
}

static void making_refuses_a_file_in_the_way(void **state) {
  (void)state;
  write_file(in_folder(folder, "file"), "x", 1);
  ASSERT_FAILS(folder_make(in_folder(folder, "file/below")), ASSAY_FILE_UNWRITABLE, "cannot be made");
  ASSERT_FAILS(folder_make(in_folder(folder, "file")), ASSAY_FILE_UNWRITABLE, "cannot be made");
}

/* Commits folders for ever; each holds two files of the same content. */
static void commit_for_ever(const char *path) {
  for (unsigned turn = 0;; turn++) {
    struct arena arena = {0};
    char *staging, content[16];
    snprintf(content, sizeof content, "%010u", turn);
    assay_status status = folder_stage(path, "run.yaml", &arena, &staging);
    if (assay_status_ok(status)) {
      status = file_replace(in_folder(staging, "run.yaml"), content, 10);
    }
    if (assay_status_ok(status)) {
      status = file_replace(in_folder(staging, "twin"), content, 10);
    }
    if (assay_status_ok(status)) {
      status = folder_commit(staging, path);
    }
    if (!assay_status_ok(status)) {
      _exit(1);
    }
    arena_free(&arena);
  }
}

static void a_kill_in_the_middle_leaves_a_whole_folder(void **state) {
  (void)state;
  char path[1024];
  snprintf(path, sizeof path, "%s/killed", folder);
  stage_and_commit(path, "0000000000");
  write_file(in_folder(path, "twin"), "0000000000", 10);
  for (int round = 0; round < 15; round++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      commit_for_ever(path);
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000 + 900000 * round}, NULL);
    kill(child, SIGKILL);
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    char *a, *b;
    size_t na, nb;
    ASSERT_OK(file_read(in_folder(path, "run.yaml"), 100, &a, &na));
    ASSERT_OK(file_read(in_folder(path, "twin"), 100, &b, &nb));
    assert_int_equal(na, 10);
    assert_string_equal(a, b);
    memory_free(a);
    memory_free(b);
  }
}

static assay_status stage_commit_list(void *path) {
  struct arena arena = {0};
  char *staging = NULL, **names;
  size_t count;
  assay_status status = folder_stage(path, "run.yaml", &arena, &staging);
  if (assay_status_ok(status)) {
    status = file_replace(in_folder(staging, "run.yaml"), "x", 1);
  }
  if (assay_status_ok(status)) {
    status = folder_commit(staging, path);
  }
  if (assay_status_ok(status)) {
    status = folder_list(path, &arena, &names, &count);
  } else {
    folder_abandon(staging);
  }
  arena_free(&arena);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  char path[1024];
  snprintf(path, sizeof path, "%s/memory", folder);
  fail_every_allocation(stage_commit_list, path);
}

int main(void) {
  folder = scratch_folder("test_folder");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_folder_is_replaced_whole),
      cmocka_unit_test(an_ending_slash_and_a_link_mean_the_folder),
      cmocka_unit_test(a_folder_of_other_files_is_not_replaced),
      cmocka_unit_test(abandoning_leaves_the_old_one),
      cmocka_unit_test(removing_follows_no_link),
      cmocka_unit_test(listing_is_sorted_by_bytes),
      cmocka_unit_test(making_refuses_a_file_in_the_way),
      cmocka_unit_test(a_kill_in_the_middle_leaves_a_whole_folder),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
