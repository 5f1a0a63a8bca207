/* What every section of the table made for reading writes with: see page.h. Control bytes never get through. */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "report/json_writer.h"

static const char *color_of(enum verdict verdict) {
  return verdict == VERDICT_PASS ? "\033[32m" : verdict == VERDICT_REJECT ? "\033[31m" : "\033[33m";
}

void page_verdict(struct page *page, enum verdict verdict, int width) {
  const char *name = verdict_name(verdict);
  if (page->options->color) {
    text_format(page->out, "%s%s\033[0m", color_of(verdict), name);
  } else {
    text_add(page->out, name);
  }
  for (int i = (int)strlen(name); i < width; i++) {
    text_add_char(page->out, ' ');
  }
}

/* Characters, not bytes, as far as UTF-8 tells; control bytes never reach the terminal. */
void page_cut(struct page *page, const char *words, int width, bool pad) {
  const char *end = words + strlen(words);
  int columns = 0, all = 0;
  for (const char *at = words; at<end; at += utf8_length(at, end)> 0 ? utf8_length(at, end) : 1) {
    all++;
  }
  while (words < end && (columns < width - 1 || (columns < width && all <= width))) {
    size_t length;
    if (text_is_shown(words, (size_t)(end - words), &length)) {
      text_add_bytes(page->out, words, length);
    } else {
      text_add_char(page->out, '?');
    }
    words += length;
    columns++;
  }
  if (words < end) {
    text_add_char(page->out, '~');
    columns++;
  }
  for (; pad && columns < width; columns++) {
    text_add_char(page->out, ' ');
  }
}

/* Words broken at spaces, from a line that is filled to `column`; further lines are indented. */
void page_words(struct page *page, int column, const char *words, int indent) {
  for (; column < indent; column++) {
    text_add_char(page->out, ' ');
  }
  bool begins = true;
  while (*words != '\0') {
    int length = (int)strcspn(words, " ");
    if (!begins && column + 1 + length > PAGE_WIDTH) {
      text_add_char(page->out, '\n');
      for (column = 0; column < indent; column++) {
        text_add_char(page->out, ' ');
      }
      begins = true;
    }
    if (!begins) {
      text_add_char(page->out, ' ');
      column++;
    }
    size_t step;
    for (int i = 0; i < length; i += (int)step) {
      if (text_is_shown(words + i, (size_t)(length - i), &step)) {
        text_add_bytes(page->out, words + i, step);
      } else {
        text_add_char(page->out, '?');
      }
    }
    column += length;
    begins = false;
    words += length;
    words += strspn(words, " ");
  }
  text_add_char(page->out, '\n');
}

void page_wrapped(struct page *page, const char *first, const char *words, int indent) {
  text_add(page->out, first);
  page_words(page, (int)strlen(first), words, indent);
}

void page_number(struct page *page, double value, int width, const char *absent) {
  if (isnan(value) && absent != NULL) {
    text_format(page->out, "%*s", width, absent);
  } else if (isnan(value)) {
    text_format(page->out, "%*s", width, "NaN");
  } else if (isinf(value)) {
    text_format(page->out, "%*s", width, value > 0 ? "Inf" : "-Inf");
  } else {
    text_format(page->out, "%*.5g", width, value);
  }
}
