/* See image_print.h. Pure: values in, bits out. */
#include "corpus/image_print.h"

#include <math.h>

enum { ROWS = 16, COLUMNS = 17, SMALLEST = 16, DIFFERING = 32, LEVELS = 255 };

/* Where the pixels of a tensor lie. */
struct picture {
  int64_t height, width, channels;
  int64_t row, column, channel; /* steps between elements */
  int64_t images, size;         /* size: elements of one image */
};

static bool is_channels(int64_t dim) { return dim == 1 || dim == 3 || dim == 4; }

static bool find_picture(const assay_tensor *tensor, struct picture *out) {
  int32_t rank = tensor->rank;
  if (rank < 3) {
    return false;
  }
  const int64_t *last = tensor->dims + rank - 3;
  bool first = is_channels(last[0]) && last[1] >= SMALLEST && last[2] >= SMALLEST;
  bool behind = !first && is_channels(last[2]) && last[0] >= SMALLEST && last[1] >= SMALLEST;
  if (first) {
    *out = (struct picture){last[1], last[2], last[0], last[2], 1, last[1] * last[2], 0, last[0] * last[1] * last[2]};
  } else if (behind) {
    *out = (struct picture){last[0], last[1], last[2], last[1] * last[2], last[2], 1, 0, last[0] * last[1] * last[2]};
  }
  out->images = first || behind ? tensor_count(tensor) / out->size : 0;
  return out->images > 0;
}

int64_t image_count(const assay_tensor *tensor) {
  struct picture picture = {0};
  return find_picture(tensor, &picture) ? picture.images : 0;
}

static double grey_at(const assay_tensor *tensor, const struct picture *picture, int64_t at) {
  double sum = 0;
  for (int64_t c = 0; c < picture->channels; c++) {
    sum += tensor_get(tensor, at + c * picture->channel);
  }
  return sum / (double)picture->channels;
}

/* How much of pixel i lies in cell `cell` of `cells` over `size` pixels. */
static double share(int64_t i, int64_t size, int cell, int cells) {
  double from = (double)cell * (double)size / cells, to = (double)(cell + 1) * (double)size / cells;
  double low = fmax(from, (double)i), high = fmin(to, (double)i + 1);
  return high > low ? high - low : 0;
}

static void average(const assay_tensor *tensor, const struct picture *picture, int64_t begin,
                    double cells[ROWS][COLUMNS]) {
  for (int64_t y = 0; y < picture->height; y++) {
    int row = (int)(y * ROWS / picture->height);
    for (int64_t x = 0; x < picture->width; x++) {
      double grey = grey_at(tensor, picture, begin + y * picture->row + x * picture->column);
      int column = (int)(x * COLUMNS / picture->width);
      for (int r = row; r < ROWS && r <= row + 1; r++) {
        for (int c = column; c < COLUMNS && c <= column + 1; c++) {
          cells[r][c] += grey * share(y, picture->height, r, ROWS) * share(x, picture->width, c, COLUMNS);
        }
      }
    }
  }
}

bool image_print_make(const assay_tensor *tensor, int64_t index, struct image_print *out) {
  struct picture picture = {0};
  double cells[ROWS][COLUMNS] = {{0}}, low = INFINITY, high = -INFINITY;
  *out = (struct image_print){{0}};
  if (!find_picture(tensor, &picture) || index >= picture.images) {
    return false;
  }
  average(tensor, &picture, index * picture.size, cells);
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    double cell = cells[i / COLUMNS][i % COLUMNS];
    if (!isfinite(cell)) {
      return false;
    }
    low = fmin(low, cell);
    high = fmax(high, cell);
  }
  if (!(high > low)) {
    return false;
  }
  int differing = 0;
  for (int r = 0; r < ROWS; r++) {
    for (int c = 0; c + 1 < COLUMNS; c++) {
      double left = round((cells[r][c] - low) / (high - low) * LEVELS);
      double right = round((cells[r][c + 1] - low) / (high - low) * LEVELS);
      int bit = r * (COLUMNS - 1) + c;
      differing += left != right;
      out->words[bit / 64] |= (uint64_t)(right > left) << (bit % 64);
    }
  }
  return differing >= DIFFERING;
}

int image_print_distance(const struct image_print *a, const struct image_print *b) {
  int distance = 0;
  for (int i = 0; i < IMAGE_PRINT_WORDS; i++) {
    distance += __builtin_popcountll(a->words[i] ^ b->words[i]);
  }
  return distance;
}
