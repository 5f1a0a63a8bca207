/* The ledger of a policy folder: what was declared before every run (tolerances, limits, decisions, rungs, cases), what
 * came of it, and every look at the sealed set. Lines are added and never changed; each carries the digest of the one
 * before, so that an edited or cut line is noticed. docs/verdict.md is the format. */
#ifndef GATE_LEDGER_H
#define GATE_LEDGER_H

#include "contract/describe.h"
#include "core/hash.h"

enum ledger_use {
  LEDGER_UNUSED, /* neither read nor written */
  LEDGER_READ,   /* what it says is shown; nothing is added */
  LEDGER_KEEP
};

/* What was loosened, changed or dropped after a REJECT, and stays in every report. */
struct ledger_change {
  const char *root, *part, *what; /* part may be NULL; what NULL: the root or part was dropped */
  const char *from, *to,
      *now;              /* values with units; NULL: not said. `to` is the loosest there was since, `now` today's */
  enum change_mark mark; /* LOOSER, OTHER, REMOVED, ADDED (a gate file that was not there) */
  bool in_force;         /* today's is still looser or other than what was rejected */
  const char *since;     /* the date of the REJECT: "2026-12-01" */
  const char *rung;      /* that was rejected, where it was not required and the gate itself was not; else NULL */
  const char *reason;    /* that the gate file gives for a rung's looser tolerance; else NULL */
  const char *sentence;
};

/* A look at the sealed set. */
struct ledger_look {
  const char *date, *digest; /* of everything that was frozen */
  const char *verdict;       /* NULL: the look was not finished */
  const char *reason;        /* of a look after the first; NULL for that */
};

/* What the ledger says, for the report. */
struct ledger_result {
  bool asked;      /* false: nobody asked for a ledger, and nothing is said of it */
  bool kept;       /* this run stands in it */
  const char *why; /* not kept, or not readable: one sentence; else NULL */
  bool broken;
  int64_t runs, rejects, unfinished; /* runs: this one included; the others: of those before */
  const char *digest;                /* of its last line; NULL: it is empty */
  int32_t n_changes, n_looks;
  const struct ledger_change *changes; /* by the date of the REJECT */
  const struct ledger_look *looks;
};

/* --- lines ------------------------------------------------------------------------ */

enum ledger_kind { LEDGER_DECLARED, LEDGER_VERDICT, LEDGER_LOOK, LEDGER_LOOK_VERDICT, LEDGER_KIND_COUNT };

struct ledger_file {
  const char *role, *path, *digest;
};
struct ledger_rung {
  const char *name, *verdict;
  bool required;
};

/* What a declaration says anew, since the last one of the same file: set, and taken out. */
struct ledger_said {
  int32_t n_set, n_unset;
  const struct statement *set, *unset; /* unset: root, part and what alone */
};

struct ledger_line {
  int64_t number; /* from 1 */
  enum ledger_kind kind;
  const char *date;
  const char *self; /* digest of the line's bytes up to it, the digest of the line before included */
  /* declared */
  const char *version, *gate, *contract;
  struct ledger_said contract_says, gate_says;
  /* declared, look */
  int32_t n_files;
  const struct ledger_file *files;
  /* verdict, look verdict */
  int64_t of; /* the number of the declaration or look */
  const char *verdict;
  int64_t exit_code;
  int32_t n_rungs;
  const struct ledger_rung *rungs;
  /* look */
  const char *digest, *reason; /* reason NULL: the first */
};

struct ledger_lines {
  int32_t count, capacity;
  struct ledger_line *items;
  size_t size; /* bytes of whole lines; what follows was never finished */
};

enum { LEDGER_BYTES_MAX = 64 << 20 };

/* Reads and checks the chain. LEDGER_BROKEN where it does not hold or a line is not one. Bytes after the last line end
 * are left alone: a line that was never finished. */
ASSAY_MUST_CHECK assay_status ledger_parse(const char *text, size_t size, const char *path, struct arena *arena,
                                           struct ledger_lines *out);
/* The bytes of a line, with its line end; line->self is made. `before` is the last line's self; NULL for the first. */
ASSAY_MUST_CHECK assay_status ledger_write_line(struct ledger_line *line, const char *before, struct arena *arena,
                                                const char **bytes);

/* --- the store ---------------------------------------------------------------------- */

/* A ledger that is open, and locked until it is closed. */
struct ledger_store;
/* `folder` holds runs.jsonl and head. `write`: made when it is not there. Without it, a folder that is not there is an
 * empty ledger. LEDGER_BROKEN when it was tampered with; FILE_UNWRITABLE when it cannot be written. */
ASSAY_MUST_CHECK assay_status ledger_store_open(const char *folder, bool write, struct arena *arena,
                                                struct ledger_store **out);
const struct ledger_lines *ledger_store_lines(const struct ledger_store *store);
/* Gives the line its number and adds it, on disk before it returns. */
ASSAY_MUST_CHECK assay_status ledger_store_add(struct ledger_store *store, struct ledger_line *line);
void ledger_store_close(struct ledger_store *store); /* NULL is harmless */

/* --- history -------------------------------------------------------------------------- */

/* What is declared now. */
struct declaration {
  const char *gate, *contract; /* names of their files, as they read from the folder */
  struct statements contract_says, gate_says;
};

/* What a declaration says that the last one of the same files did not. */
ASSAY_MUST_CHECK assay_status ledger_difference(const struct ledger_lines *lines, const struct declaration *declaration,
                                                struct arena *arena, struct ledger_said *contract_says,
                                                struct ledger_said *gate_says);
/* Everything that was loosened, changed or dropped since a REJECT, up to the declaration, which need not stand among
 * the lines. */
ASSAY_MUST_CHECK assay_status ledger_history(const struct ledger_lines *lines, const struct declaration *declaration,
                                             struct arena *arena, struct ledger_result *out);

#endif
