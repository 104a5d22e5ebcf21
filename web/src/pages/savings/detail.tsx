// One advice: its evidence, its risk, and what to apply.
import { useQuery } from "../../api/hooks";
import type { Tables } from "../../api/types";
import { href } from "../../app/router";
import { toast } from "../../app/toasts";
import { Card, Facts, Grid, PageHead } from "../../components/card";
import { Button, LinkButton } from "../../components/controls";
import { Loaded, Note, Skeleton } from "../../components/states";
import { Decide } from "./decide";
import { detailOf, kindName, type Detail as Parts } from "./read";

function Apply({ text }: { text: string }) {
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => toast("Copied"),
      () => toast("The browser does not let the page copy"),
    );
  return (
    <Card title="To apply" actions={<Button small tone="quiet" icon="copy" onClick={copy}>Copy</Button>}>
      <pre class="command" tabIndex={0} aria-label="The text to apply">{text}</pre>
    </Card>
  );
}

function Shown({ parts, month, reload }: { parts: Parts; month: string; reload: () => void }) {
  return (
    <div class="stack">
      <Grid>
        <Card title="Evidence">
          <ul class="savings-evidence">{parts.evidence.map((line) => <li key={line}>{line}</li>)}</ul>
          {parts.workload && !parts.workload.startsWith("(") && (
            <p>
              <LinkButton href={href("/workload", { cluster: parts.cluster, workload: parts.workload, month })} icon="workload">
                What it ran and cost
              </LinkButton>
            </p>
          )}
        </Card>
        <Card title="What it saves"><Facts facts={parts.facts} /></Card>
      </Grid>
      {parts.risk && <Note tone="warn"><strong>What could go wrong.</strong> {parts.risk}</Note>}
      {parts.apply && <Apply text={parts.apply} />}
      <Decide parts={parts} month={month} reload={reload} />
    </div>
  );
}

export function Detail({ id, month }: { id: string; month: string }) {
  const query = useQuery<Tables>("/advice", { month, id });
  const table = query.data?.tables[0];
  const parts = table && detailOf(table);
  return (
    <>
      <PageHead title={parts ? `Savings: ${kindName(parts.kind)}` : "Savings"} lead={parts?.change}>
        <LinkButton href={href("/savings", { month })} icon="left" tone="quiet">All savings</LinkButton>
      </PageHead>
      <Loaded query={query} skeleton={<Skeleton lines={8} />}>
        {({ tables: [one] }) => one && (
          <>
            <Shown parts={detailOf(one)} month={month} reload={query.reload} />
            {(one.notes ?? []).length > 0 && <ul class="table-notes">{(one.notes ?? []).map((note) => <li key={note}>{note}</li>)}</ul>}
          </>
        )}
      </Loaded>
    </>
  );
}
