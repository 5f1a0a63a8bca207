"""assay-capture installs with pip, without a network, and what was installed works from outside the source."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bindings", "python")
WANTED = ("pip", "setuptools")


@unittest.skipUnless(all(importlib.util.find_spec(name) for name in WANTED), "this Python lacks pip or setuptools")
class InstallTest(unittest.TestCase):
    def test_pip_installs_a_working_package(self):
        with tempfile.TemporaryDirectory() as folder:
            copy, site = os.path.join(folder, "copy"), os.path.join(folder, "site")
            subprocess.run(["cp", "-r", SOURCE, copy], check=True)  # building must not write into the source
            done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                                   "--no-build-isolation", "--target", site, copy], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            program = ("import numpy as np, assay_capture\n"
                       "with assay_capture.Corpus('golden', policy='p') as c:\n"
                       "    c.add('a', inputs={'x': np.zeros(1)}, outputs={'y': np.ones(1)})\n"
                       "print(assay_capture.__file__, assay_capture.__version__)")
            ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder,
                                 env=dict(os.environ, PYTHONPATH=site))
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn(os.path.realpath(site), os.path.realpath(ran.stdout.split()[0]))
            self.assertEqual(sorted(os.listdir(os.path.join(folder, "golden"))), ["a.npz", "corpus.yaml"])


if __name__ == "__main__":
    unittest.main()
