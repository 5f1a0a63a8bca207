"""Validates the verdicts that assay writes against docs/verdict.schema.json: verdict_schema.py ASSAY SOURCE BUILD."""
import json
import os
import subprocess
import sys
import xml.dom.minidom

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

assay, source, build = sys.argv[1:4]
with open(os.path.join(source, "docs", "verdict.schema.json"), encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
examples = os.path.join(source, "examples")
report = os.path.join(build, "verdict_schema_report")


def refuse_constant(word):
    raise ValueError("%s is no JSON" % word)


def validate(what, arguments, codes):
    run = subprocess.run([assay] + arguments + ["--report", report, "--json"], capture_output=True, text=True)
    assert run.returncode in codes, "%s: exit %d: %s" % (what, run.returncode, run.stderr)
    verdict = json.loads(run.stdout, parse_constant=refuse_constant)
    with open(os.path.join(report, "verdict.json"), encoding="utf-8") as file:
        assert file.read() == run.stdout, "%s: --json and verdict.json differ" % what
    xml.dom.minidom.parse(os.path.join(report, "junit.xml"))
    faults = sorted(validator.iter_errors(verdict), key=lambda fault: list(fault.path))
    for fault in faults:
        print("%s: %s: %s" % (what, "/".join(map(str, fault.absolute_path)), fault.message))
    assert not faults, what
    # What is not in the schema must be refused by it.
    assert not validator.is_valid(dict(verdict, more=1)) and not validator.is_valid(dict(verdict, verdict="FAIL"))
    print("%s: %s" % (what, verdict["verdict"]))


for name in sorted(os.listdir(examples)):
    if os.path.exists(os.path.join(examples, name, "gate.yaml")):
        validate(name, ["verify", os.path.join(examples, name)], (0, 1, 2, 3))
drift, fixed = (os.path.join(examples, name, "candidate") for name in ("worked_drift", "worked_drift_fixed"))
validate("a bare model", ["verify", os.path.join(examples, "worked_drift", "policy.onnx")], (3,))
validate("two runs", ["compare", drift, fixed], (1,))
validate("a run with itself", ["compare", drift, drift], (0,))
