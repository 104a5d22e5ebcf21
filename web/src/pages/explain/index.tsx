// Explanation: why an amount is what it is. Its address says which: a row or all of a report, a bill line, or
// the cost that a spread rule has moved.
import { useQuery } from "../../api/hooks";
import type { Explanation as Answer } from "../../api/types";
import { useMonth } from "../../app/month";
import { useRoute } from "../../app/router";
import { toast } from "../../app/toasts";
import { PageHead } from "../../components/card";
import { Button } from "../../components/controls";
import { Empty, ErrorNote, Loaded, Note, Skeleton } from "../../components/states";
import { parseFilter, splitKey } from "../../util/filter";
import { dayShort, monthName, shownKey, shownWorkload, words } from "../../util/text";
import { isNarrowed, readExplained, readNarrowed } from "./address";
import { asText } from "./as_text";
import { Equation } from "./equation";
import { Parts } from "./parts";
import { PAGE, Postings } from "./postings";
import { HowItComesAbout } from "./steps";

function titleOf(query: URLSearchParams, answer: Answer | undefined): string {
  if (query.has("charge")) {
    const facts = answer?.explanation[0]?.facts ?? [];
    return facts.find((fact) => fact.name === "description")?.value ?? "A bill line";
  }
  if (query.has("bucket")) return "Cost that was spread";
  const key = query.get("key");
  if (key === null) return "Total cost";
  const by = (query.get("by") ?? "").split(",");
  return splitKey(key, by.length).map((value, i) => (by[i] === "workload" ? shownWorkload(value) : shownKey(value)) || "(empty)").join(", ");
}

function leadOf(query: URLSearchParams, month: string): string {
  if (query.has("charge")) return `Bill line ${query.get("charge")}.`;
  if (query.has("bucket")) return "The idle, unallocated or shared cost of one day that a spread rule moved to owners.";
  const [from, to] = [query.get("from"), query.get("to")];
  const day = (text: string) => `${dayShort(text)} ${text.slice(0, 4)}`;
  const when = from && to ? `${day(from)} to ${day(to)}` : from ? `from ${day(from)}` : to ? `up to ${day(to)}` : monthName(month);
  const filters = query.getAll("filter").map(parseFilter).filter((one) => one !== null)
    .map((one) => `${one.dimension} ${one.negate ? "is not" : "is"} ${one.values.map((value) => shownKey(value) || "(empty)").join(" or ")}`);
  return `${[`${words(query.get("cost") ?? "effective")} cost`, when, ...filters].join(", ")}.`;
}

export default function ExplanationPage() {
  const { query } = useRoute();
  const { month } = useMonth();
  const isPart = isNarrowed(query);
  // The figure as a whole; and of its postings all, or those that the reader has narrowed it to.
  const whole = readExplained(query, month);
  const answer = useQuery<Answer>("/explain", isPart ? { top: 1, ...whole, posting: null, offset: null } : { top: PAGE, ...whole });
  const part = useQuery<Answer>(isPart ? "/explain" : null, { top: PAGE, ...readNarrowed(query, month) });
  const listed = isPart ? part : answer;
  const canNarrow = !query.has("bucket");
  const title = titleOf(query, answer.data);
  const copy = async (data: Answer) => {
    await navigator.clipboard.writeText(asText(title, data, listed.data ?? data, location.href));
    toast("Explanation copied");
  };
  return (
    <>
      <PageHead title={`Why ${title}`} lead={leadOf(query, month)}>
        {answer.data && (
          <Button icon="copy" onClick={() => void copy(answer.data as Answer).catch((error: Error) => toast(error.message, "bad"))}>
            Copy as text
          </Button>
        )}
      </PageHead>
      {answer.error?.status === 404 ? (
        <Empty icon="info" title="Nothing to explain">{answer.error.message}</Empty>
      ) : answer.error ? (
        <ErrorNote error={answer.error} retry={answer.reload} />
      ) : (
        <Loaded query={answer} skeleton={<Skeleton lines={8} />}>
          {(data) => (
            <div class="stack">
              <Equation answer={data} canNarrow={canNarrow} />
              {data.warnings.map((warning) => (
                <Note key={warning} tone="warn">{warning}</Note>
              ))}
              <Parts answer={data} canNarrow={canNarrow} />
              <Loaded query={listed} skeleton={<Skeleton lines={8} />}>
                {(some) => (
                  <div class="stack">
                    <Postings answer={some} />
                    <HowItComesAbout answer={some} isCharge={query.has("charge")} />
                  </div>
                )}
              </Loaded>
            </div>
          )}
        </Loaded>
      )}
    </>
  );
}
