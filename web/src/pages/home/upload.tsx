// A file from this computer: what it is and what it would change is shown first, and imported after a click. Then
// its months are divided among those who held the GPUs.
import { useRef, useState } from "preact/hooks";
import { ApiError, post, upload } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { List, UploadReport } from "../../api/types";
import { Card } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { FormError, TextField } from "../../components/form";
import { Money } from "../../components/money";
import { Note } from "../../components/states";
import { plural, words } from "../../util/text";
import type { Period } from "../bills/types";

const LARGE_BYTES = 8 * 2 ** 20;

type State = "reading" | "seen" | "importing" | "done" | "refused";

interface Item {
  file: File;
  cluster: string; // what was read is what is imported, whatever is typed meanwhile
  state: State;
  report?: UploadReport;
  error?: ApiError;
}

const FACTS: Record<string, [string, string]> = {
  charges: ["bill line", "bill lines"], holdings: ["record of who held GPUs", "records of who held GPUs"], nodes: ["node", "nodes"], gpus: ["GPU", "GPUs"],
  usages: ["usage sample", "usage samples"], outages: ["outage", "outages"], corrections: ["correction", "corrections"], outcomes: ["outcome", "outcomes"],
};
const count = (n: number, [one, many]: [string, string]) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

const sizeOf = (bytes: number) => (bytes < 1000 ? plural(bytes, "byte") : bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

// In the file = taken + set aside + passed over, in rows and in money.
export function Equation({ of }: { of: NonNullable<UploadReport["equation"]> }) {
  const passed = of.passed_over.reduce((sum, one) => sum + one.rows.rows, 0);
  const money = (rows: UploadEquationPart) => rows.costs.map((one) => <span key={one.currency}> <Money amount={one.billed} currency={one.currency} /></span>);
  return (
    <ul class="upload-equation" aria-label="The equation of the import">
      <li><span>{plural(of.in_files.rows, "row")} in the file</span><strong>{money(of.in_files)}</strong></li>
      <li><span>= {of.taken.rows.toLocaleString("en")} taken</span><strong>{money(of.taken)}</strong></li>
      <li><span>+ {of.aside.rows.toLocaleString("en")} set aside</span><strong>{money(of.aside)}</strong></li>
      <li><span>+ {passed.toLocaleString("en")} passed over</span><strong>{of.passed_over.map((one) => <span key={one.reason} title={one.reason}>{money(one.rows)}</span>)}</strong></li>
      {!of.whole && <li class="muted">The cost of some rows can't be read, so the equation is open.</li>}
    </ul>
  );
}
type UploadEquationPart = NonNullable<UploadReport["equation"]>["taken"];

function Seen({ report }: { report: UploadReport }) {
  return (
    <>
      <p><strong>{words(report.description)}</strong></p>
      {report.known && <p class="muted">Imported before, line for line.</p>}
      {report.facts.length > 0 && (
        <ul class="upload-facts">
          {report.facts.map((one) => (
            <li key={one.name}>
              {one.created.toLocaleString("en")} new {(FACTS[one.name] ?? [one.name, one.name])[one.created === 1 ? 0 : 1]}
              {one.existing > 0 && <span class="muted">, {one.existing.toLocaleString("en")} already there</span>}
              {one.conflicts > 0 && <span class="bad-text">, {one.conflicts.toLocaleString("en")} in conflict and set aside</span>}
            </li>
          ))}
        </ul>
      )}
      {report.preview && report.holdings > 0 && <p>{count(report.holdings, FACTS.holdings!)}{Number(report.gpu_hours) > 0 && <>, {Number(report.gpu_hours).toLocaleString("en", { maximumFractionDigits: 1 })} GPU-hours held</>}</p>}
      {report.equation && <Equation of={report.equation} />}
      {[...report.remarks, ...(report.preview ? report.effect : [])].map((text) => <p key={text} class="muted small">{text}</p>)}
      {report.rejected > 0 && (
        <details>
          <summary>{plural(report.rejected, "row")} set aside</summary>
          <ul class="upload-facts small">{report.first_rejected.map((row) => <li key={`${row.line}${row.reason}`}>Line {row.line}{row.column && `, ${row.column}`}: {row.reason}</li>)}</ul>
        </details>
      )}
    </>
  );
}

// Divides the open months anew; a month whose facts have not changed keeps its run.
function Divide({ onDone }: { onDone: () => void }) {
  const periods = useQuery<List<Period>>("/periods", { limit: 100 });
  const [busy, setBusy] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const [done, setDone] = useState(0);
  const open = (periods.data?.data ?? []).filter((one) => one.state === "open").map((one) => one.month);
  const run = async () => {
    setError(undefined);
    setDone(0);
    try {
      for (const month of [...open].sort()) {
        setBusy(month);
        await post("/allocations", { month });
        setDone((n) => n + 1);
      }
      onDone();
    } catch (caught) {
      setError(caught as ApiError);
    } finally {
      setBusy(undefined);
    }
  };
  if (open.length === 0) return null;
  return (
    <div class="upload-divide">
      <Button tone="primary" icon="policies" busy={busy !== undefined} onClick={() => void run()}>Divide {plural(open.length, "open month")}</Button>
      <span class="muted small">{busy ? `Dividing ${busy} …` : done > 0 && !error ? `${plural(done, "month")} divided: the pages have the costs.` : "Every bill line is divided among those who held its GPUs. Closed months stay as they are."}</span>
      <FormError error={error} />
    </div>
  );
}

// A server cuts off what is larger than it takes, and the browser then knows of no answer; nor does it where the
// server is down.
function tooLarge(error: ApiError, { size }: File): ApiError {
  const mebibytes = `${(size / 2 ** 20).toFixed(0)} MiB`;
  const most = "serve.limits.body says how much it takes, 32 MiB by default. Import it with pennyweight import on the server, or compress it with gzip.";
  if (error.status === 413) return new ApiError(413, { title: "Too large", status: 413, detail: `The server took less than the ${mebibytes} of this file: ${most}` });
  if (error.status !== 0 || size <= LARGE_BYTES) return error;
  return new ApiError(0, { ...error.problem, detail: `The server can't be reached, or it cut off this file of ${mebibytes}: ${most}` });
}

const TITLES: Record<State, string> = { reading: "reading …", seen: "not imported yet", importing: "importing …", done: "imported", refused: "refused" };
const TONES = { reading: "neutral", seen: "warn", importing: "neutral", done: "good", refused: "bad" } as const;

export function Upload({ onImported }: { onImported: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [items, setItems] = useState<Item[]>([]);
  const [cluster, setCluster] = useState("");
  const [isOver, setOver] = useState(false);
  const [round, setRound] = useState(0);
  const put = (file: File, change: Partial<Item>) => setItems((all) => all.map((one) => (one.file === file ? { ...one, ...change } : one)));
  // `confirm` stands for what the person has seen; the server refuses if it would do something else by now.
  const send = async ({ file, cluster }: Item, preview: boolean, confirm = "") => {
    put(file, { state: preview ? "reading" : "importing", error: undefined, cluster });
    const changed = new Date(file.lastModified).toISOString().replace(/\.\d+Z$/, "Z");
    try {
      const report = await upload<UploadReport>("/imports", file, { name: file.name, cluster, changed, preview, confirm: confirm || null });
      put(file, { state: preview ? "seen" : "done", report });
      if (!preview) {
        setRound((n) => n + 1);
        onImported();
      }
    } catch (caught) {
      put(file, { state: "refused", error: tooLarge(caught as ApiError, file) });
    }
  };
  const take = (files: FileList | null) => {
    const fresh = [...(files ?? [])].map((file): Item => ({ file, cluster: cluster.trim(), state: "reading" }));
    setItems((all) => [...fresh, ...all]);
    // One after the other: the ledger takes one import at a time.
    void fresh.reduce((before, item) => before.then(() => send(item, true)), Promise.resolve());
    if (input.current) input.current.value = "";
  };
  return (
    <Card title="From this computer" note="a bill, an inventory, a list of jobs or pods">
      <div class={isOver ? "drop drop-over" : "drop"}
        onDragOver={(event) => (event.preventDefault(), setOver(true))}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => (event.preventDefault(), setOver(false), take(event.dataTransfer?.files ?? null))}>
        <input ref={input} class="sr-only" type="file" multiple aria-label="Files to import" tabIndex={-1} onChange={(event) => take(event.currentTarget.files)} />
        <Button tone="primary" icon="plus" onClick={() => input.current?.click()}>Choose files</Button>
        <span class="muted small">or drop them here. What a file is, is found by its content; nothing is imported before you have seen it.</span>
        <TextField label="Cluster" placeholder="as the file says" value={cluster} onValue={setCluster} hint="Of jobs, pods and nodes whose file does not name one." />
      </div>
      {items.length > 0 && (
        <ul class="uploads">
          {items.map((item) => {
            const { file, state, report, error } = item;
            const asks = report?.needs_confirm ?? [];
            return (
              <li key={`${file.name}${file.lastModified}${file.size}`} class="upload" aria-label={file.name}>
                <header><strong class="cut">{file.name}</strong><span class="muted small">{sizeOf(file.size)}{item.cluster && `, cluster ${item.cluster}`}</span><Badge tone={TONES[state]}>{TITLES[state]}</Badge></header>
                {report && state !== "reading" && <Seen report={report} />}
                {state === "seen" && report && report.doubles.length > 0 && <Note tone="warn">{report.doubles.join(" ")} It would be refused.</Note>}
                {state === "seen" && asks.length > 0 && <Note tone="warn">{asks.join(" ")}</Note>}
                <FormError error={error} />
                {state === "seen" && <Button tone="primary" icon="check" onClick={() => void send(item, false, report?.confirm_key)}>{asks.length > 0 ? "Import all the same" : "Import"}</Button>}
                {state === "refused" && <Button icon="right" onClick={() => void send({ ...item, cluster: cluster.trim() }, true)}>Read it again</Button>}
              </li>
            );
          })}
        </ul>
      )}
      {items.some((one) => one.state === "done") && <Divide key={round} onDone={onImported} />}
      <p class="muted small upload-more">Larger files, folders and buckets: <code>pennyweight import</code> and <code>pull</code> on the server.</p>
    </Card>
  );
}
