// Two policies: the differences in words, then both texts side by side.
import { useMemo } from "preact/hooks";
import { useQuery } from "../../api/hooks";
import { setQuery } from "../../app/router";
import { Card } from "../../components/card";
import { Select } from "../../components/form";
import { Empty, ErrorNote, Loaded, Skeleton } from "../../components/states";
import { plural } from "../../util/text";
import { sideBySide } from "./lines";
import { nameOf, type Comparison, type Policy, type PolicyText } from "./types";

function Differences({ a, b }: { a: string; b: string }) {
  const answer = useQuery<Comparison>("/policies/compare", { a, b });
  return (
    <Card title="Differences" note={answer.data && plural(answer.data.differences.length, "rule")} flush>
      <Loaded query={answer}>
        {({ differences }) =>
          differences.length === 0 ? <p class="card-hint">Both allocate in the same way.</p> : (
            <div class="table-scroll" role="region" tabIndex={0} aria-label="Differences">
              <table class="table differences">
                <caption class="sr-only">Differences</caption>
                <thead>
                  <tr><th scope="col">Rule</th><th scope="col">Before</th><th scope="col">After</th></tr>
                </thead>
                <tbody>
                  {differences.map((one, i) => (
                    <tr key={i}>
                      <th scope="row">{one.where}</th>
                      <td class="wrap">{one.a ?? <span class="nothing">not set</span>}</td>
                      <td class="wrap">{one.b ?? <span class="nothing">not set</span>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}

function Texts({ a, b }: { a: string; b: string }) {
  const left = useQuery<PolicyText>(`/policies/${a}`);
  const right = useQuery<PolicyText>(`/policies/${b}`);
  const pairs = useMemo(
    () => (left.data && right.data ? sideBySide(left.data.text, right.data.text) : undefined),
    [left.data, right.data],
  );
  const error = left.error ?? right.error;
  if (error) return <ErrorNote error={error} />;
  if (!pairs) return <Card><Skeleton lines={8} /></Card>;
  return (
    <Card title="Side by side" flush>
      <div class="diff" role="region" tabIndex={0} aria-label="Both texts side by side">
        <table>
          <caption class="sr-only">Both texts, line by line</caption>
          <thead class="sr-only">
            <tr><th scope="col">Before</th><th scope="col">After</th></tr>
          </thead>
          <tbody>
            {pairs.map((pair, i) => (
              <tr key={i} class={pair.same ? undefined : "diff-row"}>
                <td class={pair.same || pair.a === null ? undefined : "diff-gone"}><code>{pair.a ?? ""}</code></td>
                <td class={pair.same || pair.b === null ? undefined : "diff-new"}><code>{pair.b ?? ""}</code></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

export function Compare({ policies, a, b }: { policies: Policy[]; a: string; b: string }) {
  const options = policies.map((policy) => ({ value: policy.version, title: `${nameOf(policy)}${policy.current ? " (current)" : ""}` }));
  if (policies.length < 2) {
    return (
      <Card>
        <Empty icon="policies" title="Only one policy so far">
          Once a month is allocated with another policy, the two can be compared here.
        </Empty>
      </Card>
    );
  }
  return (
    <div class="stack">
      <div class="compare-choice">
        <label>Before <Select label="Before" value={a} onValue={(next) => setQuery({ a: next })} options={options} /></label>
        <label>After <Select label="After" value={b} onValue={(next) => setQuery({ b: next })} options={options} /></label>
      </div>
      <Differences a={a} b={b} />
      <Texts a={a} b={b} />
    </div>
  );
}
