// The month's cost by kind: one bar, and the kinds below it.
import type { SummaryMonth } from "../../api/types";
import { href } from "../../app/router";
import { Card } from "../../components/card";
import { Money, Percent } from "../../components/money";
import { Why } from "../../components/why";
import { compare, isZero, percent, toHeight } from "../../util/money";

const PARTS = [
  ["used", "used", "Used"],
  ["held_idle", "idle", "Idle"],
  ["unallocated", "unallocated", "Unallocated"],
  ["stranded", "stranded", "Stranded"],
  ["overhead", "overhead", "Overhead"],
  ["unavailable", "unavailable", "Unavailable"],
  ["shared", "shared", "Shared: support, network, tax and the like"],
] as const;

export function Breakdown({ now }: { now: SummaryMonth }) {
  const parts = PARTS.filter(([name]) => !isZero(now[name]));
  const positive = parts.filter(([name]) => compare(now[name], "0") > 0);
  return (
    <Card title="Cost breakdown">
      <div class="parts" aria-hidden="true">
        {positive.map(([name, mark]) => (
          <span key={name} class={`mark-${mark}`} style={{ flexGrow: toHeight(percent(now[name], now.total, 4)) }} />
        ))}
      </div>
      <ul class="part-list">
        {parts.map(([name, mark, title]) => (
          <li key={name}>
            <a href={href("/explore", { month: now.month, filter: `kind=${name}` })}>
              <span class={`mark mark-${mark}`} aria-hidden="true" />
              {title}
            </a>
            <span class="figure-why"><Money amount={now[name]} currency={now.currency} digits={0} /><Why of={{ by: ["kind"], values: [name], month: now.month }} label={title} /></span>
            <Percent value={percent(now[name], now.total, 4)} />
          </li>
        ))}
      </ul>
      {now.observed_share !== null && (
        <p class="small muted part-note">
          {isZero(now.observed_share) ? (
            "There is no telemetry for the GPU time held; all of it counts as used."
          ) : (
            <>
              Telemetry covers <Percent value={now.observed_share} /> of the GPU time held; the rest counts as used.
            </>
          )}
        </p>
      )}
    </Card>
  );
}
