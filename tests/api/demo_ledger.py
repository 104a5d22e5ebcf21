"""The ledger of script/demo, which must have run, with what a company adds to it: invoices of the first month, which is
closed, budgets, and a rule that takes an approval. For pictures of the pages."""
import pathlib
import shutil
import tempfile

import serving

DEMO = serving.ROOT / "build" / "demo"
MORE = """
serve: {trust_loopback: false, flush_every: 2s}
policy:
  version: 1
  name: usual
  spread: [{kind: shared, how: proportional}]
invoice: {prefix: NW, by: team, issuer: {name: Northwind Compute Ltd}}
budgets:
  - {name: philly, filter: cluster=philly, amount: 900000 USD, period: project, from: 2017-10-01, to: 2017-11-30, owner: fin}
  - {name: 7f04ca, filter: team=7f04ca, amount: 40000 USD, period: project, from: 2017-10-01, to: 2017-11-30, owner: ana}
guardrails:
  pricing: {gpu_models: {default: P100}}
  rules: [{name: big, effect: require_approval, when: {gpus_above: 4}}]
"""


def folder_of_demo():
    if not (DEMO / "pennyweight.duckdb").exists():
        raise RuntimeError(f"{DEMO} has no ledger: run script/demo first")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-demo-"))
    shutil.copytree(DEMO, folder, dirs_exist_ok=True)
    (folder / "pennyweight.yaml").write_text(config())
    serving.run(["allocate"], folder)
    serving.run(["close", "2017-10", "--by", "finance", "--reason", "October is final"], folder)
    serving.run(["invoice", "--month", "2017-10", "--issue"], folder)
    return folder


def config():
    return (DEMO / "pennyweight.yaml").read_text() + MORE


def server():
    """`pennyweight serve` on it."""
    serving.ledger_copy = folder_of_demo
    return serving.Server(config())
