// Why an amount is what it is: its largest postings, and for the first of them the arithmetic from
// the bill line down, step by step.
import { useQuery } from "../../api/hooks";
import type { Explanation as Answer, Section } from "../../api/types";
import { ApiTable } from "../../components/api_table";
import { Badge } from "../../components/controls";
import { Empty, Loaded, Note, Skeleton } from "../../components/states";
import type { QueryParameters } from "../../api/client";

// "1. The bill line" → its facts, opened by a click; the last one, which has the result, at once.
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
            <Empty icon="info" title="There is no posting behind it" />
          ) : (
            <div class="framed">
              <ApiTable table={postings} dense hide={["charge"]} />
            </div>
          )}
          {explanation.length > 0 && (
            <div>
              <h3 class="steps-title">
                How the first of them comes about{" "}
                {exact ? <Badge tone="good" title="Worked out again just now: the same to the last digit">exact</Badge> : <Badge tone="bad">not what is stored</Badge>}
              </h3>
              <Steps sections={explanation} />
            </div>
          )}
        </div>
      )}
    </Loaded>
  );
}
