"""When a case's inputs were measured, what monitors said beside it, and what the guard must answer: lines of corpus.yaml."""
import numbers

import numpy as np

READINGS = ("clear", "tripped")
GUARD_ANSWERS = ("accept", "MONITOR_MISSING", "MONITOR_STALE", "MONITOR_TRIPPED", "ACTION_STALE", "ACTION_SHAPE",
                 "ACTION_NONFINITE", "ACTION_LIMIT", "ACTION_RATE")


class MomentError(ValueError):
    """A time, a reading or an answer that a case may not state."""


def _is_list(value):
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _ms(value, what):
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, np.number)) or not np.isfinite(value):
        raise MomentError("%s is %r; it must be a finite number of milliseconds" % (what, value))
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(int(value))


def _each(value, what, steps, one):
    """The text of one value, or of a list with one value a step."""
    if not _is_list(value):
        return one(value, what)
    if steps is None:
        raise MomentError("%s is a list, but the case is no sequence" % what)
    if len(value) != steps:
        raise MomentError("%s has %d values, but the case has %d steps" % (what, len(value), steps))
    return "[" + ", ".join(one(item, what) for item in value) + "]"


def _reading(value, what):
    """("clear", 5), {"answer": "clear", "age_ms": 5}, or "missing"."""
    if isinstance(value, str) and value == "missing":
        return value
    if isinstance(value, dict) and set(value) == {"answer", "age_ms"}:
        value = (value["answer"], value["age_ms"])
    if not isinstance(value, tuple) or len(value) != 2 or value[0] not in READINGS:
        raise MomentError("%s is %r; a reading is (\"clear\", age in ms), (\"tripped\", age in ms) or \"missing\""
                          % (what, value))
    return "{answer: %s, age_ms: %s}" % (value[0], _ms(value[1], "the age of " + what))


def _monitor(value, what, steps):
    # A tuple is one reading; only a list has one a step.
    return _reading(value, what) if isinstance(value, tuple) else _each(value, what, steps, _reading)


def _answer(value, what):
    if value not in GUARD_ANSWERS:
        raise MomentError("%s is %r; it must be one of %s" % (what, value, ", ".join(GUARD_ANSWERS)))
    return value


def _guard(value, steps):
    if not isinstance(value, dict):
        return _each(value, "guard", steps, _answer)
    if steps is None or not value:
        raise MomentError("guard names steps, but the case %s" % ("is no sequence" if steps is None else "names none"))
    for step in value:
        if isinstance(step, bool) or not isinstance(step, (int, np.integer)) or not 0 <= step < steps:
            raise MomentError("guard names the step %r, but the case has %d steps" % (step, steps))
    return "{" + ", ".join("%d: %s" % (step, _answer(value[step], "guard")) for step in sorted(value)) + "}"


def moment_lines(scalar, steps, ages_ms, times_ms, now_ms, result_age_ms, monitors, guard):
    """(key, text) of what is given. `steps`: of a sequence, else None; `scalar` writes a name as YAML."""
    lines = []
    if times_ms:
        if now_ms is None:
            raise MomentError("times_ms needs now_ms, the time of the step on the same clock")
        twice = sorted(set(times_ms) & set(ages_ms or {}))
        if twice:
            raise MomentError("'%s' has an age and a time; say it once" % twice[0])
        texts = ["%s: %s" % (scalar(name), _each(times_ms[name], "the time of '%s'" % name, steps, _ms))
                 for name in sorted(times_ms)]
        lines.append(("times_ms", "{" + ", ".join(texts) + "}"))
    if now_ms is not None:
        lines.append(("now_ms", _each(now_ms, "now_ms", steps, _ms)))
    if result_age_ms is not None:
        lines.append(("result_age_ms", _each(result_age_ms, "result_age_ms", steps, _ms)))
    if monitors is not None:
        texts = ["%s: %s" % (scalar(name), _monitor(monitors[name], "monitor '%s'" % name, steps))
                 for name in sorted(monitors)]
        lines.append(("monitors", "{" + ", ".join(texts) + "}"))
    if guard is not None:
        lines.append(("guard", _guard(guard, steps)))
    return lines
