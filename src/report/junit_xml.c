/* JUnit's XML: see report.h. A rung that is not required never shows as a failure, since the gate does not
 * fail by it; what it found stands in the text of a skipped test. */
#include <string.h>

#include "report/json_writer.h"
#include "report/report.h"

/* What XML 1.0 cannot hold becomes the replacement character. */
static void add_escaped(struct text *out, const char *value) {
  const char *end = value + strlen(value);
  while (value < end) {
    int length = utf8_length(value, end);
    unsigned char first = (unsigned char)*value;
    bool noncharacter = length == 3 && memcmp(value, "\xEF\xBF\xBE", 2) == 0 && (unsigned char)value[2] >= 0xBE;
    if (length == 0 || noncharacter || first < 0x20 || first == 0x7F) {
      text_add(out, first == '\n' || first == '\t' ? " " : "\xEF\xBF\xBD");
    } else if (first == '<') {
      text_add(out, "&lt;");
    } else if (first == '>') {
      text_add(out, "&gt;");
    } else if (first == '&') {
      text_add(out, "&amp;");
    } else if (first == '"') {
      text_add(out, "&quot;");
    } else {
      text_add_bytes(out, value, (size_t)length);
    }
    value += length == 0 ? 1 : length;
  }
}

static void add_attribute(struct text *out, const char *name, const char *value) {
  text_format(out, " %s=\"", name);
  add_escaped(out, value);
  text_add_char(out, '"');
}

/* One suite while its cases are gathered. */
struct suite {
  struct text cases;
  int tests, failures, errors, skipped;
  const char *policy, *name;
  bool required;
};

/* Begins a test case; its name is "a/b" or "a". */
static void case_open(struct suite *suite, const char *kind, const char *a, const char *b) {
  text_add(&suite->cases, "    <testcase classname=\"");
  add_escaped(&suite->cases, suite->policy);
  text_add_char(&suite->cases, '.');
  add_escaped(&suite->cases, suite->name);
  text_add(&suite->cases, "\" name=\"");
  text_format(&suite->cases, "%s ", kind);
  add_escaped(&suite->cases, a);
  if (b != NULL && strcmp(a, b) != 0) {
    text_add_char(&suite->cases, '/');
    add_escaped(&suite->cases, b);
  }
  text_add(&suite->cases, "\">\n");
  suite->tests++;
}

static void case_close(struct suite *suite) { text_add(&suite->cases, "    </testcase>\n"); }

static void case_fault(struct suite *suite, enum verdict verdict, const char *code, const char *sentence) {
  const char *element = !suite->required ? "skipped" : verdict == VERDICT_REJECT ? "failure" : "error";
  text_format(&suite->cases, "      <%s", element);
  if (suite->required) {
    add_attribute(&suite->cases, "type", code);
  }
  text_add(&suite->cases, " message=\"");
  add_escaped(&suite->cases, suite->required ? "" : "not required: ");
  add_escaped(&suite->cases, code);
  text_add(&suite->cases, ": ");
  add_escaped(&suite->cases, sentence);
  text_add(&suite->cases, "\"/>\n");
  suite->skipped += !suite->required;
  suite->failures += suite->required && verdict == VERDICT_REJECT;
  suite->errors += suite->required && verdict != VERDICT_REJECT;
}

static bool same(const char *a, const char *b) { return a == NULL ? b == NULL : b != NULL && strcmp(a, b) == 0; }

static enum verdict kind_verdict(assay_code code) {
  return assay_code_kind_of(code) == ASSAY_KIND_REJECT ? VERDICT_REJECT : VERDICT_BLOCKED;
}

/* The first reason that belongs to this component, or to its decision. */
static const struct gate_reason *find_reason(const struct gate_reasons *reasons, const char *output,
                                             const char *component, bool decision) {
  for (int32_t i = 0; i < reasons->count; i++) {
    const struct gate_reason *reason = &reasons->items[i];
    if (same(reason->output, output) && same(reason->component, component) &&
        (reason->code == ASSAY_DECISION_FLIP) == decision) {
      return reason;
    }
  }
  return NULL;
}

static void put_component(struct suite *suite, const struct rung_result *rung,
                          const struct component_result *component) {
  const struct gate_reason *reason = find_reason(&rung->reasons, component->output, component->name, false);
  if (!component->decides) {
    return;
  }
  case_open(suite, "component", component->output, component->name);
  if (reason != NULL) {
    case_fault(suite, kind_verdict(reason->code), assay_code_name(reason->code), reason->sentence);
  }
  case_close(suite);
}

static void put_decision(struct suite *suite, const struct rung_result *rung, const struct decision_result *decision) {
  const struct gate_reason *reason = find_reason(&rung->reasons, decision->output, decision->component, true);
  case_open(suite, "decision", decision->output, decision->component);
  if (reason != NULL) {
    case_fault(suite, kind_verdict(reason->code), assay_code_name(reason->code), reason->sentence);
  }
  case_close(suite);
}

/* Reasons that belong to no component: each its own test case. */
static void put_loose(struct suite *suite, const struct gate_reasons *reasons) {
  for (int32_t i = 0; i < reasons->count; i++) {
    const struct gate_reason *reason = &reasons->items[i];
    if (reason->component != NULL || (reason->output != NULL && reason->code == ASSAY_DECISION_FLIP) ||
        assay_code_kind_of(reason->code) == ASSAY_KIND_NOTE) {
      continue;
    }
    case_open(suite, "gate", assay_code_name(reason->code), reason->output != NULL ? reason->output : reason->case_id);
    case_fault(suite, kind_verdict(reason->code), assay_code_name(reason->code), reason->sentence);
    case_close(suite);
  }
}

static void suite_close(struct suite *suite, struct text *out) {
  text_add(out, "  <testsuite");
  add_attribute(out, "name", suite->name);
  text_format(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n", suite->tests, suite->failures,
              suite->errors, suite->skipped);
  text_add(out, text_string(&suite->cases));
  text_add(out, "  </testsuite>\n");
  out->failed |= suite->cases.failed;
  text_free(&suite->cases);
}

static void put_rung(struct text *out, const char *policy, const struct rung_result *rung) {
  struct suite suite = {.policy = policy, .name = rung->name, .required = rung->required};
  put_loose(&suite, &rung->reasons);
  for (int32_t c = 0; c < rung->n_components; c++) {
    put_component(&suite, rung, &rung->components[c]);
  }
  for (int32_t d = 0; d < rung->n_decisions; d++) {
    put_decision(&suite, rung, &rung->decisions[d]);
  }
  suite_close(&suite, out);
}

/* What the ledger remembers stands in every report; it fails nothing by itself. */
static void put_ledger(struct suite *suite, const struct gate_result *result) {
  const struct ledger_result *ledger = &result->ledger;
  if (!ledger->asked) {
    return;
  }
  case_open(suite, "ledger", ledger->kept ? "kept" : "not kept", NULL);
  text_add(&suite->cases, "      <system-out>");
  add_escaped(&suite->cases, ledger->why != NULL ? ledger->why : "");
  for (int32_t i = 0; i < ledger->n_changes; i++) {
    text_add(&suite->cases, i > 0 || ledger->why != NULL ? "\n" : "");
    add_escaped(&suite->cases, ledger->changes[i].sentence);
  }
  if (ledger->n_looks > 0) {
    text_format(&suite->cases, "\nlooks at the sealed set: %d", (int)ledger->n_looks);
  }
  text_add(&suite->cases, "</system-out>\n");
  case_close(suite);
}

/* The gate as a whole: its own reasons, whatever they are about. */
static void put_gate(struct text *out, const char *policy, const struct gate_result *result) {
  struct suite suite = {.policy = policy, .name = "gate", .required = true};
  case_open(&suite, "gate", "verdict", NULL);
  case_close(&suite);
  put_ledger(&suite, result);
  for (int32_t i = 0; i < result->reasons.count; i++) {
    const struct gate_reason *reason = &result->reasons.items[i];
    if (reason->code != ASSAY_INVALID_ACCEPTED && assay_code_kind_of(reason->code) != ASSAY_KIND_NOTE) {
      case_open(&suite, "gate", assay_code_name(reason->code),
                reason->component != NULL ? reason->component : reason->case_id);
      case_fault(&suite, kind_verdict(reason->code), assay_code_name(reason->code), reason->sentence);
      case_close(&suite);
    }
  }
  suite_close(&suite, out);
}

static void put_invalid(struct text *out, const char *policy, const struct gate_result *result) {
  struct suite suite = {.policy = policy, .name = "invalid cases", .required = true};
  for (int32_t i = 0; i < result->n_invalid; i++) {
    const struct invalid_case_result *invalid = &result->invalid[i];
    case_open(&suite, "invalid", invalid->case_id, NULL);
    if (invalid->verdict != VERDICT_PASS) {
      case_fault(&suite, invalid->verdict, assay_code_name(ASSAY_INVALID_ACCEPTED), invalid->sentence);
    }
    case_close(&suite);
  }
  suite_close(&suite, out);
}

assay_status report_junit(const struct gate_result *result, struct text *out) {
  const char *policy = result->policy != NULL ? result->policy : "policy";
  text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
  add_attribute(out, "name", policy);
  text_add(out, ">\n");
  put_gate(out, policy, result);
  for (int32_t r = 0; r < result->n_rungs; r++) {
    put_rung(out, policy, &result->rungs[r]);
  }
  put_invalid(out, policy, result);
  text_add(out, "</testsuites>\n");
  return text_status(out);
}
