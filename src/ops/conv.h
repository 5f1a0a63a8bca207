/* What Conv, ConvTranspose and ConvInteger share: one group of filters over one image is one product of matrices
 * whose columns are output positions. */
#ifndef OPS_CONV_H
#define OPS_CONV_H

#include "ops/dot.h"
#include "ops/window.h"

/* The whole of a convolution. Images, groups and filters lie densely one after the other. */
struct conv {
  struct window window;
  int64_t images, groups;
  int64_t filters, channels; /* of a group */
  bool transposed;
  /* For each axis map[tap * out + position]; see struct conv_arguments. One block of conv_map_bytes. */
  const int32_t *map[WINDOW_AXES];
  const void *packed; /* weights of all groups; NULL when they are not constant */
  bool weights_finite;
  bool integer; /* a tap without an input is the same as a 0 */
};

/* Bytes of the maps of a window whose sizes are known. */
ASSAY_MUST_CHECK assay_status conv_map_bytes(const struct window *window, size_t *out);
/* Writes the maps into `memory`. */
void conv_map(struct conv *conv, void *memory);
/* A kernel of one tap with stride 1 and no padding does not care where a position lies: makes one axis of all. */
void conv_flatten(struct conv *conv);

/* Packs the weights of all groups, which lie dense as [group][filter][channel][tap], perhaps unaligned. */
ASSAY_MUST_CHECK assay_status conv_packed_bytes(const struct dot_kernels *kernels, const struct conv *conv,
                                                size_t *out);
void conv_pack(const struct dot_kernels *kernels, const struct conv *conv, const void *weights, void *packed);
/* Are all elements finite? Integers are. */
bool values_finite(assay_dtype dtype, const void *data, int64_t count);

/* Workspace of one run: scratch of all threads first, then what the plan does not hold already. */
struct conv_workspace {
  size_t maps, packed, bytes; /* where these begin, and the size of all */
};
ASSAY_MUST_CHECK assay_status conv_layout(const struct dot_kernels *kernels, const struct conv *conv, int threads,
                                          struct conv_workspace *out);

/* What infer functions of convolutions share: groups agree with channels and filters, and a bias with filters.
 * w is [filters, channels of a group, ...], or [channels, filters of a group, ...] when `transposed`. */
ASSAY_MUST_CHECK assay_status conv_check_groups(const struct node *node, const struct value_type *x,
                                                const struct value_type *w, bool transposed);
ASSAY_MUST_CHECK assay_status conv_check_bias(const struct infer *infer, int32_t input, struct dim filters);
/* The spatial dims of the weights; false while one is not known. */
bool conv_kernel_dims(const struct value_type *w, int64_t *kernel);
/* Output 0 of Conv and ConvInteger, whose weights are input `weights`. */
ASSAY_MUST_CHECK assay_status conv_infer_shape(struct infer *infer, int32_t weights, assay_dtype dtype);
/* Sizes of Conv and ConvInteger out of dims of x and w. */
ASSAY_MUST_CHECK assay_status conv_sizes(const struct node *node, const int64_t *x, const int64_t *w, int rank,
                                         struct conv *out);

/* What the plan knows of a convolution. */
struct conv_state {
  bool sized; /* all shapes are known: conv has sizes and maps */
  struct conv conv;
};
typedef assay_status conv_sizes_function(const struct node *node, const int64_t *x, const int64_t *w, int rank,
                                         struct conv *out);
/* Makes the state of a node whose inputs 0 and 1 are x and w; where their shapes are known, with sizes and maps in the
 * plan, and with the kernels of w's dtype. */
ASSAY_MUST_CHECK assay_status conv_prepare(struct op_prepare *prepare, conv_sizes_function *sizes,
                                           struct dot_kernels *kernels, struct conv_state **out);

/* y = the convolution of x; bias may be NULL. scratch: dot_scratch_bytes for each thread. */
void conv_run(const struct dot_kernels *kernels, struct pool *pool, const struct conv *conv, const void *x,
              const void *bias, void *y, void *scratch);

#endif
