/* The runtimes that this build has, declared from the table rung_kinds.inc. */
#ifndef RUNG_RUNG_KINDS_H
#define RUNG_RUNG_KINDS_H

#include "rung/rung.h"

#define RUNG_KIND(kind) extern const struct rung_kind kind;
#define RUNG_ABSENT(engine, missing)
#include "rung/rung_kinds.inc"
#undef RUNG_KIND
#undef RUNG_ABSENT

#endif
