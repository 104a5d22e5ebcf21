// Sets, changes and removes the budgets that are not part of the configuration.
import { useState } from "preact/hooks";
import { type ApiError, put, remove } from "../../api/client";
import { useQuery } from "../../api/hooks";
import type { components } from "../../api/schema";
import type { List } from "../../api/types";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Button } from "../../components/controls";
import { Confirm, Dialog } from "../../components/dialog";
import { FormError, SelectField, TextField } from "../../components/form";
import { Empty, Loaded } from "../../components/states";
import { Table, type Column } from "../../components/table";

type Definition = components["schemas"]["BudgetDefinition"];
type Budget = components["schemas"]["Budget"];
type Period = NonNullable<Budget["period"]>;

const PERIODS = ["day", "week", "month", "quarter", "year", "project"].map((value) => ({ value, title: value }));

const filtersOf = (budget: Budget): string[] =>
  typeof budget.filter === "string" ? [budget.filter] : (budget.filter ?? []);
const nameOf = (one: Definition) => one.budget.name ?? "";

const today = () => new Date().toISOString().slice(0, 10);

// The amount that counts today, and the day from which it does; without a day it always has.
function amountNow({ amount, amounts = [] }: Budget): { amount: string; from: string } {
  const dated = amounts.filter(({ from }) => from <= today()).at(-1) ?? (amount === undefined ? amounts[0] : undefined);
  return dated ?? { amount: amount ?? "", from: "" };
}
const later = ({ amounts = [] }: Budget) => amounts.filter(({ from }) => from > today());

// What the form shows of a budget.
interface Fields {
  filter: string;
  amount: string;
  since: string; // from which day the amount counts; empty: it always has
  owner: string;
  period: Period;
  first: string; // of a project
  last: string;
}

// What the form does not show stays as it was, and so do the amounts of other days.
function bodyOf(known: Budget | undefined, { filter, amount, since, owner, period, first, last }: Fields) {
  const { name: _, cost, amount: always, amounts = [], from, to: __, ...rest } = known ?? {};
  // The amount that the form showed moves to an earlier day with those between; a later day is a new one.
  const shown = known ? amountNow(known).from : "";
  const others = amounts.filter((one) => one.from !== since && (one.from < since || one.from > shown || since > shown));
  const dated = since ? [...others, { from: since, amount }].sort((a, b) => a.from.localeCompare(b.from)) : others;
  return {
    ...rest,
    ...(cost && cost !== "gpu_hours" ? { cost } : {}),
    ...(since ? { amount: always } : { amount }),
    amounts: dated,
    ...(period === "project" ? { from: first, to: last } : known?.roll_over ? { from } : {}),
    filter: filter.split(";").map((one) => one.trim()).filter(Boolean),
    owner,
    period,
  };
}

function Form({ known, scope, onSet }: { known?: Budget | undefined; scope: string; onSet: () => void }) {
  const [name, setName] = useState(known?.name ?? "");
  const [filter, setFilter] = useState(known ? filtersOf(known).join("; ") : scope);
  const [amount, setAmount] = useState(known ? amountNow(known).amount : "");
  const [since, setSince] = useState(known ? amountNow(known).from : "");
  const [owner, setOwner] = useState(known?.owner ?? "");
  const [period, setPeriod] = useState<Period>(known?.period ?? "month");
  const [first, setFirst] = useState(known?.period === "project" ? (known.from ?? "") : "");
  const [last, setLast] = useState(known?.to ?? "");
  const [error, setError] = useState<ApiError>();
  const submit = async (event: Event) => {
    event.preventDefault();
    setError(undefined);
    const body = bodyOf(known, { filter, amount: amount.trim(), since, owner: owner.trim(), period, first, last });
    try {
      await put(`/budgets/${encodeURIComponent(name.trim())}`, body);
      toast(`Budget ${name.trim()} is set.`);
      onSet();
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void submit(event)}>
      <TextField label="Name" value={name} onValue={setName} required maxLength={200} disabled={known !== undefined} />
      <TextField label="Scope" value={filter} onValue={setFilter} placeholder="team=nlp; cluster=a" hint="Filters, separated by semicolons; none is everything." />
      <TextField label="Amount" value={amount} onValue={setAmount} placeholder="5000 USD" required hint="Or in GPU-hours: 2000 gpu_hours." />
      <TextField label="Counts from" type="date" value={since} onValue={setSince} hint="The day from which the amount counts; earlier periods keep theirs. Empty: it always has." />
      <SelectField label="Period" value={period} onValue={(value) => setPeriod(value as Period)} options={PERIODS} />
      {period === "project" && (
        <>
          <TextField label="First day" type="date" value={first} onValue={setFirst} required />
          <TextField label="Last day" type="date" value={last} onValue={setLast} required />
        </>
      )}
      <TextField label="Owner" value={owner} onValue={setOwner} maxLength={200} hint="Who is responsible and is notified." />
      <FormError error={error} />
      <Button tone="primary" type="submit" disabled={!name.trim() || !amount.trim()}>
        Set budget
      </Button>
    </form>
  );
}

function columnsOf(onChange: (one: Definition) => void, onRemove: (one: Definition) => void): Column<Definition>[] {
  return [
    { key: "name", title: "Budget", wide: true, value: nameOf, cell: (one) => <strong>{nameOf(one)}</strong> },
    { key: "scope", title: "Scope", value: (one) => filtersOf(one.budget).join("; "), cell: (one) => filtersOf(one.budget).join("; ") || "everything" },
    { key: "amount", title: "Amount", numeric: true, cell: ({ budget }) => <span class="num" title={later(budget).map(({ from, amount }) => `${amount} from ${from}`).join(", ") || undefined}>{amountNow(budget).amount}{later(budget).length > 0 && " +"}</span> },
    { key: "period", title: "Each", value: (one) => one.budget.period ?? "month", cell: (one) => one.budget.period ?? "month" },
    { key: "owner", title: "Owner", hideOnPhone: true, value: (one) => one.budget.owner ?? "", cell: (one) => one.budget.owner || <span class="nothing">–</span> },
    {
      key: "change", title: "", label: "Change",
      cell: (one) => (
        <span class="row">
          <Button small tone="quiet" onClick={() => onChange(one)} label={`Change ${nameOf(one)}`}>Change</Button>
          <Button small tone="quiet" onClick={() => onRemove(one)} label={`Remove ${nameOf(one)}`}>Remove</Button>
        </span>
      ),
    },
  ];
}

// The card of what people set, for those who may; `onChanged`: the budgets are to be read again.
export function SetBudgets({ onChanged }: { onChanged: () => void }) {
  const { user } = useSession();
  const definitions = useQuery<List<Definition>>("/budget-definitions", { limit: 1000 });
  const [changing, setChanging] = useState<Definition | "new">();
  const [removing, setRemoving] = useState<Definition>();
  const changed = () => {
    setChanging(undefined);
    definitions.reload();
    onChanged();
  };
  const scope = (user?.scope ?? []).map((one) => `${one.dimension}=${one.values.join(",")}`).join("; ");
  const take = () => {
    if (!removing) return;
    remove(`/budgets/${encodeURIComponent(nameOf(removing))}`)
      .then(() => (toast("The budget is removed."), changed()))
      .catch((error: Error) => toast(error.message, "bad"))
      .finally(() => setRemoving(undefined));
  };
  return (
    <Card title="Budgets that people set" note="besides those of the configuration" flush
      actions={<Button icon="plus" onClick={() => setChanging("new")}>New budget</Button>}>
      <Loaded query={definitions}>
        {({ data }) => (
          <Table caption="Budgets that people set" columns={columnsOf(setChanging, setRemoving)} rows={data.filter((one) => !one.is_configured)}
            rowKey={nameOf} empty={<Empty icon="coverage" title="Nobody has set one yet" />} />
        )}
      </Loaded>
      <Dialog title={changing && changing !== "new" ? `Budget ${nameOf(changing)}` : "New budget"} open={changing !== undefined} onClose={() => setChanging(undefined)}>
        <div class="dialog-body">
          {changing && <Form known={changing === "new" ? undefined : changing.budget} scope={scope} onSet={changed} />}
        </div>
      </Dialog>
      <Confirm title={`Remove ${removing ? nameOf(removing) : ""}?`} open={removing !== undefined} onClose={() => setRemoving(undefined)} onConfirm={take} confirm="Remove" danger>
        <p>Nobody is warned by it any more. What it was stays in its history.</p>
      </Confirm>
    </Card>
  );
}
