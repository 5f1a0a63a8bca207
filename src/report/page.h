/* The page that a terminal shows, and what every section of it writes with. Whatever came from a file goes through
 * page_cut, page_words or page_wrapped, so that no control byte reaches the terminal. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "report/report.h"

enum {
  PAGE_WIDTH = 98, /* columns of a line */
  PAGE_LISTED = 5  /* cases listed of one kind, unless all are asked for (options->verbose) */
};

struct page {
  const struct gate_result *result;
  const struct terminal_options *options;
  struct text *out;
};

/* In colour where colour is asked for; filled with spaces to `width`. */
void page_verdict(struct page *page, enum verdict verdict, int width);
/* At most `width` characters, the last a "~" where something was cut; `pad`: filled with spaces to `width`. */
void page_cut(struct page *page, const char *words, int width, bool pad);
/* Words broken at spaces, on a line that is filled to `column`; further lines begin at `indent`. Ends the line. */
void page_words(struct page *page, int column, const char *words, int indent);
/* The same after `first`, which is printed as it is. */
void page_wrapped(struct page *page, const char *first, const char *words, int indent);
/* Five digits, right-aligned; a NaN as `absent`, or as NaN where that is NULL. */
void page_number(struct page *page, double value, int width, const char *absent);

#endif
