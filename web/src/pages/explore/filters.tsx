// Filters as chips, and a dialog to choose values, the most expensive first.
import { useState } from "preact/hooks";
import { usePaused, useQuery } from "../../api/hooks";
import type { Dimension, DimensionValue, List } from "../../api/types";
import { setQuery } from "../../app/router";
import { Button, Chip, Segments } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { CheckField, SelectField, TextField } from "../../components/form";
import { Money } from "../../components/money";
import { Loaded } from "../../components/states";
import { shownKey } from "../../util/text";
import { filterText, type Filter, type Question } from "./state";

const VALUES_MOST = 100;

function Values({ dimension, question, chosen, onChosen }: {
  dimension: string;
  question: Question;
  chosen: string[];
  onChosen: (values: string[]) => void;
}) {
  const [text, setText] = useState("");
  const prefix = usePaused(text);
  const { from, to, month } = question;
  const period = from || to ? { from, to } : { month };
  const values = useQuery<List<DimensionValue>>(`/dimensions/${encodeURIComponent(dimension)}/values`, {
    ...period,
    prefix,
    limit: VALUES_MOST,
  });
  // A value with costs in several currencies is one choice.
  const byValue = (data: DimensionValue[]) => {
    const all = new Map<string, DimensionValue[]>();
    for (const one of data) all.set(one.value, [...(all.get(one.value) ?? []), one]);
    return [...all.entries()];
  };
  const toggle = (value: string, on: boolean) => onChosen(on ? [...chosen, value] : chosen.filter((one) => one !== value));
  return (
    <>
      <TextField label="Values" hint="Type to search; the most expensive come first." value={text} onValue={setText} type="search" placeholder="All" />
      <Loaded query={values}>
        {({ data }) => (
          <ul class="value-list">
            {byValue(data).map(([value, costs]) => (
              <li key={value}>
                <CheckField label={shownKey(value) || "(empty)"} checked={chosen.includes(value)} onChecked={(on) => toggle(value, on)} />
                <span>
                  {costs.map((one, i) => (
                    <span key={one.currency}>{i > 0 && " + "}<Money amount={one.effective_cost} currency={one.currency} digits={0} /></span>
                  ))}
                </span>
              </li>
            ))}
            {data.length === 0 && <li class="muted">No matching value.</li>}
          </ul>
        )}
      </Loaded>
    </>
  );
}

function Chooser({ question, dimensions, editing, onClose }: {
  question: Question;
  dimensions: Dimension[];
  editing: number | "new";
  onClose: () => void;
}) {
  const before = editing === "new" ? undefined : question.filters[editing];
  const [dimension, setDimension] = useState(before?.dimension ?? dimensions[0]?.name ?? "team");
  const [negate, setNegate] = useState(before?.negate ?? false);
  const [chosen, setChosen] = useState<string[]>(before?.values ?? []);
  const apply = () => {
    const filter: Filter = { dimension, negate, values: chosen };
    const all = editing === "new" ? [...question.filters, filter] : question.filters.map((one, i) => (i === editing ? filter : one));
    setQuery({ filter: all.map(filterText) });
    onClose();
  };
  return (
    <Dialog title={before ? "Change filter" : "Add filter"} open onClose={onClose}>
      <div class="dialog-body form">
        <div class="form-row">
          <SelectField
            label="Dimension"
            value={dimension}
            onValue={(name) => (setDimension(name), setChosen([]))}
            options={dimensions.filter((one) => one.name !== "currency").map((one) => ({ value: one.name, title: one.name }))}
          />
          <div class="field">
            <span class="control-label">Rows whose value</span>
            <Segments label="Rows whose value" chosen={negate ? "not" : "is"} onChoose={(key) => setNegate(key === "not")}
              options={[{ key: "is", title: "is one of" }, { key: "not", title: "is none of" }]} />
          </div>
        </div>
        <Values dimension={dimension} question={question} chosen={chosen} onChosen={setChosen} />
      </div>
      <footer class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button tone="primary" onClick={apply} disabled={chosen.length === 0}>
          {chosen.length > 1 ? `Apply ${chosen.length} values` : "Apply"}
        </Button>
      </footer>
    </Dialog>
  );
}

export function Filters({ question, dimensions }: { question: Question; dimensions: Dimension[] }) {
  const [editing, setEditing] = useState<number | "new" | null>(null);
  const { filters } = question;
  const drop = (index: number) => setQuery({ filter: filters.filter((_, i) => i !== index).map(filterText) });
  return (
    <>
      <div class="control control-filters">
        <span class="control-label">Filter</span>
        {filters.map((filter, i) => (
          <Chip key={filterText(filter)} onRemove={() => drop(i)} removeLabel={`Remove the filter ${filterText(filter)}`}>
            <button type="button" class="chip-button" onClick={() => setEditing(i)} title={filterText(filter)}>
              <span class="muted">{filter.dimension}</span> {filter.negate ? "is not" : "is"}{" "}
              <strong>{filter.values.map((one) => shownKey(one) || "(empty)").join(" or ")}</strong>
            </button>
          </Chip>
        ))}
        {question.malformed.map((text) => (
          <Chip key={text} onRemove={() => setQuery({ filter: filters.map(filterText) })} removeLabel={`Remove the filter ${text}`}>
            <span title="This is not a filter; write it as team=nlp">{text}</span>
          </Chip>
        ))}
        <Button small tone="quiet" icon="plus" onClick={() => setEditing("new")}>
          Filter
        </Button>
        {filters.length > 1 && (
          <Button small tone="quiet" onClick={() => setQuery({ filter: null })}>
            Remove all
          </Button>
        )}
      </div>
      {editing !== null && <Chooser question={question} dimensions={dimensions} editing={editing} onClose={() => setEditing(null)} />}
    </>
  );
}
