// Search: pages, commands, saved views, invoices, bill lines, and values of dimensions: teams, users, workloads,
// nodes.
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { get, type QueryParameters } from "../api/client";
import type { Found, IssuedInvoice, List, SavedView } from "../api/types";
import { Dialog } from "../components/dialog";
import { Icon, type IconName } from "../components/icons";
import type { Page } from "../pages/registry";
import { only } from "../util/filter";
import { brief } from "../util/money";
import { shownWorkload } from "../util/text";
import { useMonth } from "./month";
import { href, navigate } from "./router";
import { useSession } from "./session";

export interface Command {
  title: string;
  group: string;
  icon: IconName;
  detail?: string;
  run: () => void;
}

const FOUND_MAX = 5; // of a dimension
const PAUSE_MS = 150;

// Where a value is shown: workloads have a page, others are a filter.
function goTo(found: Found, month: string): string {
  if (found.dimension === "workload") return href("/workload", { workload: found.value, month });
  return href("/explore", { filter: [only(found.dimension, found.value)], month });
}

async function search(text: string, month: string, signal: AbortSignal): Promise<Command[]> {
  const ask = async (when: QueryParameters) => (await get<List<Found>>("/search", { text, limit: FOUND_MAX, ...when }, signal)).data;
  let found = await ask({ month });
  const isEarlier = found.length === 0;
  if (isEarlier) found = await ask({});
  // A value with costs in two currencies is one result.
  const seen = new Set<string>();
  return found.flatMap((one) => {
    const name = `${one.dimension}=${one.value}`;
    if (seen.has(name)) return [];
    seen.add(name);
    const run = () => navigate(isEarlier ? href("/explore", { filter: [only(one.dimension, one.value)], from: "2000-01-01", step: "month" }) : goTo(one, month));
    return [{ title: shownWorkload(one.value), group: isEarlier ? `${one.dimension}, other months` : one.dimension, icon: one.dimension === "workload" ? "workload" : "filter",
      detail: brief(one.effective_cost, one.currency), run } satisfies Command];
  });
}

async function invoices(text: string, signal: AbortSignal): Promise<Command[]> {
  const wanted = text.toLowerCase();
  const { data } = await get<List<IssuedInvoice>>("/invoices", { limit: 1000 }, signal);
  return data
    .filter((one) => one.number.toLowerCase().includes(wanted) || one.customer.toLowerCase().includes(wanted))
    .slice(0, FOUND_MAX)
    .map((one) => ({ title: one.number, group: `invoice of ${one.customer}`, icon: "invoices", detail: brief(one.total, one.currency),
      run: () => navigate(href("/invoices", { number: one.number })) }));
}

// What has `text` in it: values of dimensions, invoices, and a bill line by its id.
function useFound(text: string, month: string): Command[] {
  const [found, setFound] = useState<Command[]>([]);
  const { may } = useSession();
  useEffect(() => {
    setFound([]);
    if (text.length < 2) return;
    const abort = new AbortController();
    const charge: Command[] = /^[0-9a-f]{32}$/.test(text)
      ? [{ title: text, group: "bill line", icon: "bills", run: () => navigate(href("/explain", { charge: text })) }]
      : [];
    const ask = async () => {
      const none: Command[] = [];
      const lists = await Promise.all([
        may("read_costs") ? search(text, month, abort.signal) : none,
        may("read_invoices") ? invoices(text, abort.signal).catch(() => none) : none,
      ]);
      if (!abort.signal.aborted) setFound([...charge, ...lists.flat()]);
    };
    const timer = setTimeout(() => void ask().catch(() => setFound(charge)), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, month]);
  return found;
}

function useViews(open: boolean): Command[] {
  const [views, set] = useState<SavedView[]>([]);
  useEffect(() => {
    if (!open) return;
    void get<List<SavedView>>("/views").then((list) => set(list.data)).catch(() => set([]));
  }, [open]);
  return views.map((view) => ({
    title: view.name,
    group: "Saved views",
    icon: "star",
    run: () => navigate(view.query),
  }));
}

export function Palette({ open, onClose, pages, actions }: {
  open: boolean;
  onClose: () => void;
  pages: Page[];
  actions: Command[];
}) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { month } = useMonth();
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const found = useFound(open ? text.trim() : "", month);
  const views = useViews(open);
  useEffect(() => {
    if (open) setText("");
  }, [open]);
  useEffect(() => setAt(0), [text]);

  const commands = useMemo(() => {
    const goes = pages.map((page): Command => ({
      title: page.title,
      group: "Pages",
      icon: page.icon,
      detail: page.key ? `g ${page.key}` : "",
      run: () => navigate(href(page.path, { month })),
    }));
    const wanted = text.trim().toLowerCase();
    const fits = (one: Command) => one.title.toLowerCase().includes(wanted);
    return [...goes, ...views, ...actions].filter(fits).concat(found);
  }, [pages, views, actions, found, text, month]);

  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter") run(commands[at]);
    if (step === 0) return;
    event.preventDefault();
    const next = (at + step + commands.length) % Math.max(1, commands.length);
    setAt(next);
    list.current?.querySelectorAll("[role=option]")[next]?.scrollIntoView({ block: "nearest" });
  };

  return (
    <Dialog title="Search" open={open} onClose={onClose}>
      <div class="palette">
        <div class="palette-input">
          <Icon name="search" />
          <input
            autoFocus
            type="search"
            placeholder="A page, team, user, workload, node, bill line, invoice …"
            aria-label="Search"
            role="combobox"
            aria-expanded="true"
            aria-controls={`${id}-list`}
            aria-activedescendant={commands[at] ? `${id}-${at}` : undefined}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={onKey}
          />
        </div>
        <ul class="palette-list" id={`${id}-list`} role="listbox" aria-label="Results" ref={list}>
          {commands.map((command, i) => (
            <li
              key={`${command.group} ${command.title} ${i}`}
              id={`${id}-${i}`}
              role="option"
              aria-selected={i === at}
              onMouseMove={() => setAt(i)}
              onClick={() => run(command)}
            >
              <Icon name={command.icon} />
              <span class="cut">{command.title}</span>
              <small>{command.group}</small>
              <span class="palette-detail">{command.detail}</span>
            </li>
          ))}
          {commands.length === 0 && <li class="palette-none">No results.</li>}
        </ul>
      </div>
    </Dialog>
  );
}
