"""Whole commands as a user runs them: processor time, wall time and peak memory, the median of several runs.

    python3 bench/program_bench.py BUILD/assay [ACT.onnx IMAGE.npy PROP.npy]

Each command runs once unmeasured first; then --runs times (5). Peak memory is the kernel's figure for the process, touched
pages of mapped files included. ACT is what an exporter makes of the 66.5 M parameter policy; without it its rows are left out.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def measure(command, prepare=None):
    """(processor seconds, wall seconds, peak bytes) of one run."""
    if prepare is not None:
        prepare()
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit("failed: " + " ".join(command))
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss * 1024


def row(name, command, runs, limit, file_size=None, prepare=None):
    measure(command, prepare)
    figures = [statistics.median(column) for column in zip(*(measure(command, prepare) for _ in range(runs)))]
    memory = "%.0f MB" % (figures[2] / 1e6) + (" (%.2f x file)" % (figures[2] / file_size) if file_size else "")
    print("| %s | %.3f s | %.3f s | %s | %s |" % (name, figures[0], figures[1], memory, limit), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assay")
    parser.add_argument("act", nargs="*", help="ACT.onnx IMAGE.npy PROP.npy")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core, for the children too
    print("| command, on one core | processor | wall | peak memory | asked for |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        report, out = os.path.join(folder, "report"), os.path.join(folder, "run")
        pick = os.path.join(HERE, "..", "examples", "block_pick")
        row("verify examples/block_pick", [options.assay, "verify", pick, "--report", report], options.runs, "under 2 s")
        if len(options.act) == 3:
            model, image, prop = options.act
            size = os.path.getsize(model)
            row("check ACT (%.0f MB: open, check, infer)" % (size / 1e6), [options.assay, "check", model], options.runs,
                "opens in 0.5 s", size)
            row("run ACT, one case (digests, plan, pack, run)",
                [options.assay, "run", model, "--input", "image=" + image, "--input", "prop=" + prop, "-o", out],
                options.runs, "under 3 s, 2.2 x file", size, lambda: shutil.rmtree(out, ignore_errors=True))


if __name__ == "__main__":
    main()
