// Getting started: what the ledger has already, what it still needs, and what to do for each; the list turns
// green by itself as data comes.
import { useMemo } from "preact/hooks";
import { useEvent } from "../../api/events";
import { usePages, useQuery } from "../../api/hooks";
import type { LiveNow } from "../../api/types";
import { useMonth } from "../../app/month";
import { useSession } from "../../app/session";
import { Card } from "../../components/card";
import { Money } from "../../components/money";
import { plural } from "../../util/text";
import type { Import, Run } from "../bills/types";
import { Checklist, type Check } from "./checklist";
import { Upload } from "./upload";

// The equation of the last bill that was imported: in the files = taken + set aside + passed over.
function LastBill({ of }: { of: Import }) {
  const { equation } = of;
  if (!equation) return null;
  const passed = equation.passed_over.reduce((sum, one) => sum + one.rows.rows, 0);
  return (
    <>
      {of.name}: {plural(equation.in_files.rows, "row")} in the file = {equation.taken.rows.toLocaleString("en")} taken + {equation.aside.rows.toLocaleString("en")} set aside + {passed.toLocaleString("en")} passed over
      {equation.taken.costs.map((one) => <span key={one.currency}>; <Money amount={one.effective} currency={one.currency} /> effective cost taken</span>)}
    </>
  );
}

export function Start() {
  const { may } = useSession();
  const { known } = useMonth();
  const imports = usePages<Import>("/imports", { limit: 100 });
  const runs = usePages<Run>(may("read_rules") ? "/runs" : null, { limit: 1 });
  const live = useQuery<LiveNow>(may("read_live") ? "/live/now" : null);
  useEvent("rollup", useMemo(() => () => (imports.reload(), runs.reload(), live.reload()), []));
  const asking = imports.loading && imports.rows.length === 0;
  const sum = (of: (one: Import) => number) => imports.rows.reduce((count, one) => count + of(one), 0);
  const bills = imports.rows.filter((one) => one.charges > 0);
  const [holdings, nodes] = [sum((one) => one.holdings), sum((one) => one.nodes)];
  const clusters = live.data?.clusters ?? [];
  const watched = clusters.filter((one) => one.watched).map((one) => one.cluster);
  const seen = clusters.filter((one) => one.gpus_busy !== null).map((one) => one.cluster);
  const state = (isDone: boolean): Check["state"] => (isDone ? "done" : asking ? "asking" : "open");
  const bill = [...bills].sort((a, b) => b.number - a.number)[0];
  const checks: Check[] = [
    { title: "A bill", state: state(bills.length > 0), href: "/bills?tab=imports", command: "pennyweight import bill.csv",
      said: bill ? <LastBill of={bill} /> : "AWS, Azure, Google Cloud, Oracle, or anything in FOCUS. Your own machines are priced from a rate card." },
    { title: "The machines", state: state(nodes > 0), href: "/fleet", command: "pennyweight import --cluster prod nodes.csv",
      said: nodes > 0 ? `${plural(nodes, "node")} imported` : "An inventory, kubectl's or Slurm's list of nodes, or a watched cluster." },
    { title: "What ran", state: state(holdings > 0), href: "/workload", command: "pennyweight import --cluster prod sacct.txt",
      said: holdings > 0 ? `${plural(holdings, "holding")}: who held which GPUs, and when` : "Slurm's accounting, Kubernetes' pods, or a job list." },
    { title: "An allocation", state: state(known.length > 0 || runs.rows.length > 0), href: "/", command: "pennyweight allocate",
      said: known.length > 0 ? `${plural(known.length, "month")} allocated, the newest ${known[0]}` : "Divides every bill line among those who held its GPUs." },
    { title: "What runs now, from Kubernetes or Slurm", state: watched.length > 0 ? "done" : live.loading && !live.data ? "asking" : "open", href: "/live", command: "kubernetes:\n  - {cluster: prod}\nslurm:\n  - {cluster: lab}",
      said: watched.length > 0 ? `${watched.join(", ")} watched` : "Name the cluster in pennyweight.yaml; serve asks it by itself. The guides for Kubernetes and Slurm say what it may read." },
    { title: "How busy GPUs are, from Prometheus", state: seen.length > 0 ? "done" : live.loading && !live.data ? "asking" : "open", href: "/live", command: "remote_write:\n  - url: http://HOST:8080/api/v1/write",
      said: seen.length > 0 ? `${seen.join(", ")} report use` : "In prometheus.yml; or let serve scrape the exporters. Without it, held GPUs count as used." },
  ];
  const reload = () => (imports.reload(), runs.reload(), live.reload());
  return (
    <div class="stack">
      {may("import_files") && <Upload onImported={reload} />}
      <Card title="From nothing to every cent" note={`${checks.filter((check) => check.state === "done").length} of ${checks.length} done`}>
        <Checklist checks={checks} />
      </Card>
    </div>
  );
}
