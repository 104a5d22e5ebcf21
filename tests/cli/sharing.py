"""docs/methods/explained.md: every line that it quotes is what explain says of data/demo/sharing, and
explain's JSON tells the same."""
import json
import pathlib
import tempfile

from harness import ROOT, expect, expect_run, report

data = pathlib.Path(ROOT) / "data" / "demo" / "sharing"
page = (pathlib.Path(ROOT) / "docs" / "methods" / "explained.md").read_text(encoding="utf-8")
cwd = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-cli-"))
expect_run(["import", "--cluster", "lab", *map(str, sorted(data.glob("*.csv")))], cwd, 0)
expect_run(["allocate"], cwd, 0)
expect_run(["reconcile"], cwd, 0, ["0 off"])


def plain(text):
    return " ".join(text.split())


def explained(workload):
    options = ["explain", "--by", "workload", "--key", workload]
    out, _ = expect_run([*options, "--digits", "18"], cwd, 0, ["to the last digit"])
    as_json, _ = expect_run([*options, "--format", "json"], cwd)
    document = json.loads(as_json)
    expect(document["exact"], f"{workload}: not exact in JSON")
    for step in document["steps"]:
        for fact in step["facts"]:
            expect(plain(fact["value"]) in plain(out), f"{workload}: only JSON has {fact}")
    return plain(out)


sections = page.split("\n## ")[1:]
workloads = ["nlp/train-mig", "nlp/serve", "vision/notebook", "4711"]
expect(len(sections) == len(workloads), "a section for each workload")
quoted = 0
for section, workload in zip(sections, workloads):
    out = explained(workload)
    for block in section.split("```")[1::2]:
        for line in filter(None, map(plain, block.splitlines())):
            expect(line in out, f"{workload}: the page quotes what explain does not say: {line}")
            quoted += 1
expect(quoted > 20, f"only {quoted} lines are quoted")
report("cli/sharing")
