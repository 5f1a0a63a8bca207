"""Runs one module of this folder: exit code 77 when NumPy is not there, so that CTest names the test as skipped."""
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
module = importlib.import_module(sys.argv[1])
result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromModule(module))
sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
