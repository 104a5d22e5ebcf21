// Explains an amount: its largest postings, and for the first one the arithmetic from the charge down, step
// by step.
import { useQuery } from "../../api/hooks";
import type { Explanation as Answer, Section } from "../../api/types";
import { ApiTable } from "../../components/api_table";
import { Badge } from "../../components/controls";
import { Empty, Loaded, Note, Skeleton } from "../../components/states";
import type { QueryParameters } from "../../api/client";

// Each step opens by a click; the last one, which has the result, is open from the start.
export function Steps({ sections }: { sections: Section[] }) {
  return (
    <ol class="steps">
      {sections.map((section, i) => (
        <li key={section.title}>
          <details open={i === 0 || i === sections.length - 1}>
            <summary>{section.title.replace(/^\d+\.\s*/, "")}</summary>
            <dl class="facts">
              {section.facts.map((fact, f) => (
                <div key={f}>
                  <dt>{fact.name}</dt>
                  <dd class="num">{fact.value}</dd>
                </div>
              ))}
            </dl>
          </details>
        </li>
      ))}
    </ol>
  );
}

export function Explanation({ parameters }: { parameters: QueryParameters }) {
  const answer = useQuery<Answer>("/explain", { top: 5, ...parameters });
  return (
    <Loaded query={answer} skeleton={<Skeleton lines={6} />}>
      {({ postings, explanation, exact, warnings }) => (
        <div class="stack">
          {warnings.map((warning) => (
            <Note key={warning} tone="warn">{warning}</Note>
          ))}
          {postings.rows.length === 0 ? (
            <Empty icon="info" title="No postings" />
          ) : (
            <div class="framed">
              <ApiTable table={postings} dense hide={["charge"]} />
            </div>
          )}
          {explanation.length > 0 && (
            <div>
              <h3 class="steps-title">
                How the first one comes about{" "}
                {exact ? <Badge tone="good" title="Recomputed just now: equal to the last digit">exact</Badge> : <Badge tone="bad">differs from the stored amount</Badge>}
              </h3>
              <Steps sections={explanation} />
            </div>
          )}
        </div>
      )}
    </Loaded>
  );
}
