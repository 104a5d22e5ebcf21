#!/usr/bin/env python3
"""vmagent scrapes the fleet and writes to `pennyweight serve`, as VictoriaMetrics users have it.

    test_vmagent.py PENNYWEIGHT SQL_TOOL
"""
import sys
import time

import checks
import fleet_exporter
import fleet_truth
import harness
import remote_write
from harness import expect, metric_sum, say

SCRAPE_S = 12


def main():
    pennyweight, sql_tool = sys.argv[1:3]
    harness.need("vmagent", pennyweight)
    folder = harness.folder("vmagent")
    server = harness.Pennyweight(pennyweight, folder, sql_tool).start()
    recorder = remote_write.Recorder(server.port)
    exporters = fleet_exporter.Exporters(fleet_exporter.fleet_now(("plain", "mig", "shared")))
    agent = harness.Vmagent(folder, exporters.targets, recorder.url).start()
    exporters.wait_scraped()
    time.sleep(SCRAPE_S)
    scraped = metric_sum(agent.own(), "vm_promscrape_scraped_samples_sum")
    # It sends what it has when it is asked to end, and the marks of the series' ends.
    expect(agent.stop() == 0, "vmagent ended well")
    acknowledged, count = recorder.samples()
    taken = server.samples_taken()
    say(f"{exporters.scrapes} scrapes; vmagent scraped {scraped:,.0f} samples; {count:,} were "
        f"acknowledged, {taken:,} taken; other answers: {recorder.refused}")
    expect(count == taken, f"acknowledged {count}, taken {taken}")
    # What it could not send while it ended it keeps on its disk.
    expect(count >= 0.8 * scraped > 500, f"{scraped} samples were scraped, and {count} came")
    server.settle()
    expect(server.stop() == 0, "pennyweight ended well")
    checks.whole_ledger(server, acknowledged)
    exporters.close()


if __name__ == "__main__":
    harness.guarded(main, "real/vmagent")
