// Search: pages, commands, saved views, and values of owner dimensions (teams, users).
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Dimension, DimensionValue, List, SavedView } from "../api/types";
import { Dialog } from "../components/dialog";
import { Icon, type IconName } from "../components/icons";
import type { Page } from "../pages/registry";
import { only } from "../util/filter";
import { brief } from "../util/money";
import { useMonth } from "./month";
import { href, navigate } from "./router";

export interface Command {
  title: string;
  group: string;
  icon: IconName;
  detail?: string;
  run: () => void;
}

const DIMENSIONS_SEARCHED = 4;
const FOUND_MAX = 6;
const PAUSE_MS = 150;

// Dimension values that begin with `text`, the most expensive first.
function useFound(text: string, month: string): Command[] {
  const [found, setFound] = useState<Command[]>([]);
  useEffect(() => {
    setFound([]);
    if (text.length < 2) return;
    const abort = new AbortController();
    const ask = async () => {
      const dimensions = (await get<List<Dimension>>("/dimensions", {}, abort.signal)).data
        .filter((one) => one.kind === "policy")
        .slice(0, DIMENSIONS_SEARCHED);
      const lists = await Promise.all(
        dimensions.map(async ({ name }) => {
          const path = `/dimensions/${encodeURIComponent(name)}/values`;
          const list = await get<List<DimensionValue>>(path, { prefix: text, month, limit: FOUND_MAX }, abort.signal);
          return list.data.map((one): Command => ({
            title: one.value,
            group: name,
            icon: "filter",
            detail: brief(one.effective_cost, one.currency),
            run: () => navigate(href("/explore", { filter: [only(name, one.value)], month })),
          }));
        }),
      );
      if (!abort.signal.aborted) setFound(lists.flat());
    };
    const timer = setTimeout(() => void ask().catch(() => setFound([])), PAUSE_MS);
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
            placeholder="A page, a team, a user, a saved view …"
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
