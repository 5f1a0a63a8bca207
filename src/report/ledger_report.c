/* The section of the ledger: what was loosened, changed or dropped since a REJECT, whether this run stands in the
 * ledger, and how often the sealed set was looked at. It stands beside the verdict, in quiet reports too. */
#include <inttypes.h>
#include <string.h>

#include "report/page.h"
#include "report/sections.h"

static void put_looks(struct page *page, const struct ledger_result *ledger) {
  if (ledger->n_looks == 0) {
    return;
  }
  const struct ledger_look *first = &ledger->looks[0];
  bool now = false; /* this run is the look: its verdict is not on record yet */
  for (int32_t i = 0; i < page->result->n_files && ledger->n_looks == 1; i++) {
    now |= strcmp(page->result->files[i].role, "sealed") == 0;
  }
  const char *unknown = now ? "this one" : "not finished";
  text_format(page->out, "  sealed set: %d look%s, the first on %.10s: %s\n", (int)ledger->n_looks,
              ledger->n_looks == 1 ? "" : "s", first->date, first->verdict != NULL ? first->verdict : unknown);
}

void ledger_report_text(struct page *page) {
  const struct ledger_result *ledger = &page->result->ledger;
  if (!ledger->asked || ledger->broken) {
    return; /* a broken one is among the reasons */
  }
  if (ledger->n_changes > 0) {
    text_add(page->out, "  since a REJECT:\n");
  }
  for (int32_t i = 0; i < ledger->n_changes; i++) {
    page_wrapped(page, "    ", ledger->changes[i].sentence, 6);
  }
  put_looks(page, ledger);
  if (page->options->verbose) {
    text_format(page->out, "  ledger: %" PRId64 " run%s, %" PRId64 " of them REJECT, %" PRId64 " not finished%s\n",
                ledger->runs, ledger->runs == 1 ? "" : "s", ledger->rejects, ledger->unfinished,
                ledger->kept && ledger->runs == 1 ? "; it begins with this one" : "");
  }
}

static void put_change(struct json *json, const struct ledger_change *change) {
  json_open(json, NULL, '{', true);
  json_text(json, "of", change->root);
  json_text(json, "part", change->part);
  json_text(json, "what", change->what);
  json_text(json, "from", change->from);
  json_text(json, "to", change->to);
  json_text(json, "now", change->now);
  json_text(json, "mark", change_mark_name(change->mark));
  json_bool(json, "in_force", change->in_force);
  json_text(json, "since", change->since);
  json_text(json, "rejected_rung", change->rung);
  json_text(json, "reason", change->reason);
  json_text(json, "sentence", change->sentence);
  json_close(json, '}');
}

void ledger_report_json(struct json *json, const struct gate_result *result) {
  const struct ledger_result *ledger = &result->ledger;
  if (!ledger->asked) {
    json_none(json, "ledger");
    return;
  }
  json_open(json, "ledger", '{', false);
  json_bool(json, "kept", ledger->kept);
  json_bool(json, "broken", ledger->broken);
  json_text(json, "why_not", ledger->why);
  json_open(json, "since_a_reject", '[', false);
  for (int32_t i = 0; i < ledger->n_changes; i++) {
    put_change(json, &ledger->changes[i]);
  }
  json_close(json, ']');
  json_open(json, "looks", '[', false);
  for (int32_t i = 0; i < ledger->n_looks; i++) {
    json_open(json, NULL, '{', true);
    json_text(json, "date", ledger->looks[i].date);
    json_text(json, "digest", ledger->looks[i].digest);
    json_text(json, "verdict", ledger->looks[i].verdict);
    json_text(json, "reason", ledger->looks[i].reason);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}
