// How one posting comes about, from the bill line down to the arithmetic, with the ways on: to its bill line,
// to the bucket that a spread rule moved, to all that shares the line.
import type { Explanation, Section } from "../../api/types";
import { href } from "../../app/router";
import { Card } from "../../components/card";
import { Badge, LinkButton } from "../../components/controls";

// Each step opens by a click; the first, and the last, which has the result, are open from the start.
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

export function HowItComesAbout({ answer, isCharge }: { answer: Explanation; isCharge: boolean }) {
  const { explanation, exact, posting, bucket } = answer;
  if (explanation.length === 0) return null;
  const charge = answer.lines.find((line) => line.number === posting)?.charge;
  return (
    <Card title={`How posting ${(posting ?? 0) + 1} comes about`}
      actions={exact
        ? <Badge tone="good" title="Recomputed just now: equal to the last digit">exact</Badge>
        : <Badge tone="bad">differs from the stored amount</Badge>}>
      <Steps sections={explanation} />
      <p class="ways-on">
        {bucket && <LinkButton small href={href("/explain", { bucket })}>The cost that was spread, to its bill lines</LinkButton>}
        {charge && !bucket && !isCharge && <LinkButton small href={href("/explain", { charge })}>All postings of the bill line</LinkButton>}
      </p>
    </Card>
  );
}
