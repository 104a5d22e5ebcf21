// The controls of a query: dimensions, time, step, which cost, kind of chart.
import { useState } from "preact/hooks";
import type { Dimension } from "../../api/types";
import { useMonth } from "../../app/month";
import { setQuery } from "../../app/router";
import { IconButton, Segments } from "../../components/controls";
import { Select } from "../../components/form";
import { addMonths, daysIn, monthName, words } from "../../util/text";
import { CHARTS, COSTS, DIMENSIONS_MOST, STEPS, type Question } from "./state";

function GroupBy({ question, dimensions }: { question: Question; dimensions: Dimension[] }) {
  const { by } = question;
  const names = dimensions.map((one) => one.name).filter((name) => name !== "currency");
  const left = names.filter((name) => !by.includes(name));
  const set = (next: string[]) => setQuery({ by: next.join(",") });
  const option = (name: string) => ({ value: name, title: name });
  return (
    <div class="control">
      <span class="control-label">By</span>
      {by.map((name, i) => (
        <span class="by" key={name}>
          <Select label={`Dimension ${i + 1}`} value={name} onValue={(next) => set(by.map((one) => (one === name ? next : one)))}
            options={[option(name), ...left.map(option)]} />
          {by.length > 1 && <IconButton icon="close" label={`Do not group by ${name}`} onClick={() => set(by.filter((one) => one !== name))} />}
        </span>
      ))}
      {by.length < DIMENSIONS_MOST && left[0] && (
        <IconButton icon="plus" label="Group by another dimension" onClick={() => set([...by, left[0] ?? ""])} />
      )}
    </div>
  );
}

// A number of past months, or any two days.
function Period({ question }: { question: Question }) {
  const { known } = useMonth();
  const { from, to, month } = question;
  const [open, setOpen] = useState(false);
  const isRange = from !== null || to !== null;
  const back = (count: number) => ({ from: `${addMonths(month, 1 - count)}-01`, to: `${month}-${daysIn(month)}` });
  const ranges = [3, 6, 12].map((count) => ({ value: String(count), title: `${count} months`, ...back(count) }));
  const chosen = ranges.find((one) => one.from === from && one.to === to)?.value ?? (isRange || open ? "days" : "month");
  const choose = (value: string) => {
    setOpen(value === "days");
    const range = ranges.find((one) => one.value === value);
    if (range) setQuery({ from: range.from, to: range.to, step: range.value === "3" ? "week" : "month" });
    else if (value === "month") setQuery({ from: null, to: null, step: null });
    else setQuery({ from: from ?? `${month}-01`, to: to ?? `${month}-${daysIn(month)}` });
  };
  return (
    <div class="control">
      <span class="control-label">Time</span>
      <Select
        label="Time"
        value={chosen}
        onValue={choose}
        options={[{ value: "month", title: monthName(month) }, ...ranges, { value: "days", title: "Days …" }]}
      />
      {isRange && (
        <>
          <input class="input input-date" type="date" aria-label="First day" value={from ?? ""} max={to ?? undefined}
            onChange={(event) => setQuery({ from: event.currentTarget.value || null })} />
          <input class="input input-date" type="date" aria-label="Last day" value={to ?? ""} min={from ?? undefined}
            onChange={(event) => setQuery({ to: event.currentTarget.value || null })} />
          <IconButton icon="close" label={`Back to ${monthName(known[0] ?? month)}`} onClick={() => choose("month")} />
        </>
      )}
    </div>
  );
}

// Less common: the state at an earlier time.
function More({ question }: { question: Question }) {
  const { asOf } = question;
  const [open, setOpen] = useState(asOf !== null);
  if (!open) return <IconButton icon="more" label="More: as of" onClick={() => setOpen(true)} />;
  return (
    <div class="control">
      <span class="control-label">As of</span>
      <input class="input input-date" type="date" aria-label="As known at the end of this day" value={asOf?.slice(0, 10) ?? ""}
        onChange={(event) => setQuery({ as_of: event.currentTarget.value && `${event.currentTarget.value}T23:59:59Z` })} />
    </div>
  );
}

const STEP_TITLES = { none: "Total", day: "Day", week: "Week", month: "Month" } as const;

export function Controls({ question, dimensions }: { question: Question; dimensions: Dimension[] }) {
  return (
    <div class="control-row">
      <GroupBy question={question} dimensions={dimensions} />
      <Period question={question} />
      <div class="control">
        <span class="control-label">Step</span>
        <Segments label="Step" chosen={question.step} onChoose={(step) => setQuery({ step })}
          options={STEPS.map((key) => ({ key, title: STEP_TITLES[key] }))} />
      </div>
      <div class="control">
        <span class="control-label">Cost</span>
        <Select label="Cost" value={question.cost} onValue={(cost) => setQuery({ cost: cost === "effective" ? null : cost })}
          options={COSTS.map((value) => ({ value, title: words(value) }))} />
      </div>
      {question.step !== "none" && (
        <div class="control">
          <span class="control-label">Chart</span>
          <Segments label="Chart" chosen={question.chart} onChoose={(chart) => setQuery({ chart: chart === "bars" ? null : chart })}
            options={CHARTS.map((key) => ({ key, title: words(key) }))} />
        </div>
      )}
      <More question={question} />
    </div>
  );
}
