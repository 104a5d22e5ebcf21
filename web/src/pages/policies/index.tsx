// Policies: the rules that months were allocated by, in words and as text; and two of them side by side.
import { usePages, useQuery } from "../../api/hooks";
import { href, setQuery, useRoute } from "../../app/router";
import { Card, PageHead } from "../../components/card";
import { Badge, Tabs } from "../../components/controls";
import { Empty, ErrorNote, Loaded, Skeleton } from "../../components/states";
import { instant, plural } from "../../util/text";
import { Compare } from "./compare";
import { nameOf, short, type Policy, type PolicyText } from "./types";

function Versions({ policies, chosen }: { policies: Policy[]; chosen: string }) {
  return (
    <Card title="Versions" flush>
      <ul class="versions">
        {policies.map((policy) => (
          <li key={policy.version}>
            <a href={href("/policies", { version: policy.version })} aria-current={policy.version === chosen ? "true" : undefined}>
              <span class="row">
                <strong>{nameOf(policy)}</strong>
                {policy.current && <Badge tone="good">current</Badge>}
              </span>
              <span class="muted small">
                {policy.first_used ? `${instant(policy.first_used)} – ${instant(policy.last_used)}` : "not used yet"}
                {" · "}{plural(policy.runs, "run")}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function One({ version }: { version: string }) {
  const answer = useQuery<PolicyText>(`/policies/${version}`);
  return (
    <Loaded query={answer}>
      {(policy) => (
        <div class="stack">
          <Card title="In words" note={<code title={policy.version}>{short(policy.version)}</code>}>
            <dl class="in-words">
              {policy.in_words.map((section) => (
                <div key={section.title}>
                  <dt>{section.title}</dt>
                  {section.sentences.map((sentence, i) => <dd key={i}>{sentence}</dd>)}
                </div>
              ))}
            </dl>
          </Card>
          <Card title="Text" note="as the runs used it">
            <pre class="policy-text" tabIndex={0} aria-label="The policy's text">{policy.text}</pre>
          </Card>
        </div>
      )}
    </Loaded>
  );
}

function Shown({ policies }: { policies: Policy[] }) {
  const { query } = useRoute();
  const current = policies.find((policy) => policy.current) ?? policies[0];
  const isCompare = query.get("tab") === "compare";
  const older = policies.find((policy) => policy !== current) ?? current;
  if (!current || !older) return null;
  const version = query.get("version") ?? current.version;
  return (
    <>
      <Tabs
        label="Policies"
        tabs={[{ key: "one", title: "Versions", count: policies.length }, { key: "compare", title: "Compare" }]}
        chosen={isCompare ? "compare" : "one"}
        onChoose={(key) => setQuery({ tab: key === "compare" ? key : null })}
      />
      {isCompare ? (
        <Compare policies={policies} a={query.get("a") ?? older.version} b={query.get("b") ?? current.version} />
      ) : (
        <div class="beside">
          <Versions policies={policies} chosen={version} />
          <One version={version} />
        </div>
      )}
    </>
  );
}

export default function PoliciesPage() {
  const policies = usePages<Policy>("/policies");
  return (
    <div class="stack">
      <PageHead title="Policies" lead="The rules that bills are allocated by. A run stores the rules that it used, so old numbers can be explained." />
      {policies.error ? <ErrorNote error={policies.error} retry={policies.reload} /> : policies.loading && policies.rows.length === 0 ? (
        <Card><Skeleton lines={8} /></Card>
      ) : policies.rows.length === 0 ? (
        <Card>
          <Empty icon="policies" title="No policy used yet" command="pennyweight policy explain">
            The first allocated month shows its rules here. Without a policy of your own the default applies: by request or
            by usage, whichever is larger.
          </Empty>
        </Card>
      ) : (
        <Shown policies={policies.rows} />
      )}
    </div>
  );
}
