/* A perceptual digest of images, "dhash-256": near for images that look alike, whatever their size, scale, type or
 * layout. */
#ifndef CORPUS_IMAGE_PRINT_H
#define CORPUS_IMAGE_PRINT_H

#include <stdbool.h>

#include "tensor/tensor.h"

enum { IMAGE_PRINT_BITS = 256, IMAGE_PRINT_WORDS = IMAGE_PRINT_BITS / 64 };
#define IMAGE_PRINT_NAME "dhash-256"
struct image_print {
  uint64_t words[IMAGE_PRINT_WORDS];
};

/* How many images a tensor holds: of 1, 3 or 4 channels, before or after height and width of at least 16, behind
 * leading axes; 0 where it is no image. */
int64_t image_count(const assay_tensor *tensor);
/* The print of image `index`. The grey image (mean of the channels) is averaged over areas to 16 rows of 17 columns and
 * spread over 0 to 255; bit r * 16 + c says that column c + 1 of row r is brighter than column c. False where the image
 * says too little for a print: fewer than 32 of the 256 neighbours differ. */
bool image_print_make(const assay_tensor *tensor, int64_t index, struct image_print *out);
int image_print_distance(const struct image_print *a, const struct image_print *b); /* bits that differ */

#endif
