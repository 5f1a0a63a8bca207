/* Makes corpora and files for tests. Every failure fails the test.
 *
 *   char *folder = temp_folder();
 *   struct corpus_builder *builder = build_corpus(folder, CORPUS_GOLDEN);
 *   build_f32(builder, "inputs/x", "1,3", (const float[]){1, 2, 3});
 *   build_f32(builder, "outputs/y", "1", (const float[]){6});
 *   build_case(builder, &(struct corpus_case){.id = "one"});
 *   build_done(builder);
 *   ...
 *   temp_free(folder);
 *
 * A shape is "2,3", or "" for a scalar. */
#ifndef TESTS_CORPUS_BUILDER_H
#define TESTS_CORPUS_BUILDER_H

#include "corpus/corpus_write.h"

/* A fresh empty folder; ended, with all it holds, by temp_free. */
char *temp_folder(void);
void temp_free(char *folder);
/* "folder/name"; lives as long as the program. */
const char *temp_path(const char *folder, const char *name);
void temp_write(const char *folder, const char *name, const char *text);
void temp_write_bytes(const char *folder, const char *name, const void *bytes, size_t size);

struct corpus_builder;
struct corpus_builder *build_corpus(const char *folder, enum corpus_role role);
/* An array of the next case. */
void build_array(struct corpus_builder *builder, const char *array, assay_dtype dtype, const char *shape,
                 const void *values);
void build_f32(struct corpus_builder *builder, const char *array, const char *shape, const float *values);
void build_f64(struct corpus_builder *builder, const char *array, const char *shape, const double *values);
void build_i64(struct corpus_builder *builder, const char *array, const char *shape, const int64_t *values);
void build_u8(struct corpus_builder *builder, const char *array, const char *shape, const uint8_t *values);
/* The case that the arrays since the last one make; origin numbers of 0 are taken as not given. */
void build_case(struct corpus_builder *builder, const struct corpus_case *entry);
void build_done(struct corpus_builder *builder); /* commits and frees */

/* A tensor with a copy of the values, ended with tensor_free. */
assay_tensor test_tensor(assay_dtype dtype, const char *shape, const void *values);

#endif
