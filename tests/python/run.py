"""Runs one module of this folder and prints a line a test, as TAP does, so that every test counts and every one that was
skipped is named. Exit code 77 when NumPy is not there: CTest then names the whole as skipped."""
import importlib
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: this Python has no NumPy")
    sys.exit(77)


class TapResult(unittest.TextTestResult):
    """Says "ok 3 name" or "not ok 3 name" after each test; the details of failures stay unittest's."""

    def _say(self, test, ok, skip=None):
        self.said = getattr(self, "said", 0) + 1
        print("%s %d %s%s" % ("ok" if ok else "not ok", self.said, test.id(), " # skip (%s)" % skip if skip else ""),
              flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        if not any(getattr(failed, "test_case", failed) is test for failed, _ in self.failures + self.errors):
            self._say(test, True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._say(test, False)

    def addError(self, test, error):
        super().addError(test, error)
        self._say(test, False)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._say(subtest, False)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._say(test, True, reason)


module = importlib.import_module(sys.argv[1])
runner = unittest.TextTestRunner(verbosity=0, resultclass=TapResult)
result = runner.run(unittest.defaultTestLoader.loadTestsFromModule(module))
sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
