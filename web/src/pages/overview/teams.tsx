// The owners with the largest spend, and those with the largest change.
import { useMemo } from "preact/hooks";
import { address } from "../../api/client";
import type { Row, Tables } from "../../api/types";
import { href } from "../../app/router";
import { Sparkline } from "../../charts/sparkline";
import { Card } from "../../components/card";
import { Change, Money, Percent } from "../../components/money";
import { Empty, Loaded } from "../../components/states";
import { Table, type Column } from "../../components/table";
import { Why } from "../../components/why";
import { only } from "../../util/filter";
import { add, compare, fromTicks, isZero, percent, subtract, ticks, toHeight } from "../../util/money";
import { pivot } from "../../util/pivot";
import { shownKey, words } from "../../util/text";
import type { Parts } from "./spend_chart";

interface Owner {
  key: string;
  cost: string;
  idle: string; // held but not used
  share: string | null;
  days: string[];
}

const MOVERS = 6;

function rowsOf(tables: Tables | undefined, currency: string): Row[] {
  return tables?.tables.find((one) => one.currency === currency)?.rows ?? [];
}

function useOwners({ days, kinds, currency, owner }: Parts): Owner[] {
  return useMemo(() => {
    const byKind = rowsOf(kinds.data, currency);
    const total = add(...byKind.map((row) => row["effective_cost"] as string));
    const lines = pivot(rowsOf(days.data, currency), { bucket: "day", by: [owner], cost: "effective_cost", most: 1000 }).series;
    const owners = new Map<string, Owner>();
    for (const row of byKind) {
      const key = String(row[owner] ?? "");
      const before = owners.get(key) ?? { key, cost: "0", idle: "0", share: null, days: [] };
      const cost = row["effective_cost"] as string;
      const isIdle = row["kind"] === "held_idle";
      owners.set(key, { ...before, cost: add(before.cost, cost), idle: isIdle ? add(before.idle, cost) : before.idle });
    }
    return [...owners.values()]
      .map((one) => ({
        ...one,
        share: percent(one.cost, total, 4),
        days: lines.find((line) => line.key === one.key)?.values.map((value) => value ?? "0") ?? [],
      }))
      .sort((a, b) => compare(b.cost, a.cost));
  }, [days.data, kinds.data, currency, owner]);
}

function link(parts: Parts, key: string): string | null {
  if (key === "(none)" || key === "") return null;
  return href("/explore", { filter: only(parts.owner, key), month: parts.month });
}

function Name({ parts, name }: { parts: Parts; name: string }) {
  const to = link(parts, name);
  const shown = <span class={name.startsWith("(") ? "cut aside" : "cut"}>{shownKey(name)}</span>;
  return to ? <a href={to} title={name}>{shown}</a> : shown;
}

export function Teams(parts: Parts) {
  const { owner, currency, month } = parts;
  const owners = useOwners(parts);
  const total = add(...owners.map((one) => one.cost));
  const idle = add(...owners.map((one) => one.idle));
  const columns: Column<Owner>[] = [
    { key: "name", title: words(owner), wide: true, value: (one) => one.key, cell: (one) => <Name parts={parts} name={one.key} />, total: "Total" },
    { key: "days", title: "Days", hideOnPhone: true, cell: (one) => <Sparkline values={one.days} /> },
    { key: "cost", title: `Spend ${currency}`, numeric: true, value: (one) => one.cost, cell: (one) => <Money amount={one.cost} unit={currency} />, total: <Money amount={total} unit={currency} /> },
    { key: "why", title: "", label: "Explanation", total: <Why of={{ by: [owner, "kind"], month }} label="the total" />,
      cell: (one) => (/^\(\d+ others/.test(one.key) ? null : <Why of={{ by: [owner], values: [one.key], month }} label={shownKey(one.key)} />) },
    { key: "share", title: "Share", numeric: true, value: (one) => one.share, cell: (one) => <Percent value={one.share} /> },
    { key: "idle", title: "Idle", numeric: true, value: (one) => one.idle, cell: (one) => (isZero(one.idle) ? <span class="nothing">–</span> : <Money amount={one.idle} unit={currency} />), total: isZero(idle) ? <span class="nothing">–</span> : <Money amount={idle} unit={currency} /> },
  ];
  return (
    <Card title="Largest spend" flush>
      <Loaded query={parts.kinds}>
        {() => (
          <Table caption={`Spend by ${owner}`} columns={columns} rows={owners} rowKey={(one) => one.key} shown={12} tall
            sort={{ key: "cost", down: true }} csv={address("/costs", { by: owner, month, format: "sheet" })} />
        )}
      </Loaded>
    </Card>
  );
}

interface Move {
  key: string;
  now: string;
  before: string;
  difference: string;
}

// Compares the same days of both months; the largest differences first, up or down.
function useMoves({ kinds, past, currency, owner }: Parts): Move[] {
  return useMemo(() => {
    const sums = new Map<string, { now: string; before: string }>();
    const put = (rows: Row[], side: "now" | "before") => {
      for (const row of rows) {
        const key = String(row[owner] ?? "");
        const one = sums.get(key) ?? { now: "0", before: "0" };
        sums.set(key, { ...one, [side]: add(one[side], row["effective_cost"] as string) });
      }
    };
    put(rowsOf(kinds.data, currency), "now");
    put(rowsOf(past.data, currency), "before");
    const size = (move: Move) => fromTicks(ticks(move.difference) < 0n ? -ticks(move.difference) : ticks(move.difference));
    return [...sums.entries()]
      .map(([key, one]) => ({ key, ...one, difference: subtract(one.now, one.before) }))
      .filter((move) => !isZero(move.difference))
      .sort((a, b) => compare(size(b), size(a)))
      .slice(0, MOVERS);
  }, [kinds.data, past.data, currency, owner]);
}

export function Movers(parts: Parts & { sameDays: string }) {
  const { sameDays } = parts;
  const moves = useMoves(parts);
  const most = Math.max(...moves.map((move) => Math.abs(toHeight(move.difference))), 0);
  return (
    <Card title="Top movers" note={`against ${parts.sameDays}`}>
      <Loaded query={parts.past}>
        {() =>
          rowsOf(parts.past.data, parts.currency).length === 0 ? (
            <Empty icon="overview" title="No earlier month">There are no costs in {sameDays} to compare with.</Empty>
          ) : moves.length === 0 ? (
            <Empty icon="overview" title="No changes" />
          ) : (
            <ul class="movers">
              {moves.map((move) => {
                const part = most > 0 ? (Math.abs(toHeight(move.difference)) / most) * 100 : 0;
                const isMore = compare(move.difference, "0") > 0;
                return (
                  <li key={move.key}>
                    <Name parts={parts} name={move.key} />
                    <span class={isMore ? "mover mover-more" : "mover mover-less"} aria-hidden="true">
                      <span style={{ width: `${part / 2}%` }} />
                    </span>
                    <span class="mover-sum">
                      {isMore && "+"}
                      <Money amount={move.difference} currency={parts.currency} digits={0} />
                    </span>
                    <Change now={move.now} before={move.before} currency={parts.currency} />
                  </li>
                );
              })}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
