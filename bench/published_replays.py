"""The published replays in whole: Muri on its three traces, and FGD's table on openb over its ten seeds.

usage: published_replays.py INSIGHT_REPLAY_TEST [SEEDS]

ctest runs the same with one seed (insight/replay). Takes a minute, prints our means beside the published ones, and fails
where they differ by more than is allowed or come in another order.
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
if len(sys.argv) not in (2, 3):
    sys.exit(__doc__.strip())
program = pathlib.Path(sys.argv[1]).resolve()
seeds = sys.argv[2] if len(sys.argv) > 2 else "10"
done = subprocess.run([program, "--gtest_filter=Traces/Muri.*:Fgd.*"], cwd=ROOT,
                      env=os.environ | {"PENNYWEIGHT_REPLAY_SEEDS": seeds}, check=False)
sys.exit(done.returncode)
