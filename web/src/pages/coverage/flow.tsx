// The money as a bar from left to right: what reaches an owner, and where the rest stops.
import { useSession } from "../../app/session";
import { Icon } from "../../components/icons";
import { Money, Percent } from "../../components/money";
import { VerifiedWhy } from "../../components/verified_why";
import { money, percent, rounded, toHeight } from "../../util/money";
import type { Reach, Stop } from "./read";
import { SPEND, reachedFilters, spreadFilters, stopFilters } from "./filters";

const COLOURS: Record<string, string> = {
  "nobody held the GPU": "unallocated",
  "held, and charged to nobody": "idle",
  "stranded beside a MIG layout": "stranded",
  "in an outage": "unavailable",
  "system workloads": "overhead",
  "commitment that nothing used": "c9",
  "line joins no node": "c7",
  "line was never allocated": "c4",
  "holder lacks the label": "c2",
  "holder lacks the label (fallback)": "c2",
};
const colourOf = (reason: string) => COLOURS[reason] ?? "aside";

function Part({ colour, amount, whole, label }: { colour: string; amount: string; whole: string; label: string }) {
  const width = (toHeight(amount) / (toHeight(whole) || 1)) * 100;
  if (width <= 0) return null;
  return <span class={`flow-part mark-${colour}`} style={{ flexBasis: `${width}%` }} title={label} />;
}

export function Flow({ reach, stops, currency }: { reach: Reach; stops: Stop[]; currency: string }) {
  const tell = (name: string, amount: string) => `${name}: ${money(amount, currency)} (${percent(amount, reach.spend) ?? "0"}%)`;
  return (
    <div
      class="flow"
      role="img"
      aria-label={[
        tell(`reaches a ${reach.dimension}`, reach.reached),
        ...stops.map((stop) => tell(stop.reason, stop.amount)),
      ].join("; ")}
    >
      <Part colour="used" amount={reach.reached} whole={reach.spend} label={tell(`reaches a ${reach.dimension}`, reach.reached)} />
      <Part colour="shared" amount={reach.spread} whole={reach.spend} label={tell("by spreading", reach.spread)} />
      {stops.map((stop) => (
        <Part key={stop.reason} colour={colourOf(stop.reason)} amount={stop.amount} whole={reach.spend} label={tell(stop.reason, stop.amount)} />
      ))}
    </div>
  );
}

export function Headline({ reach, currency, month }: { reach: Reach; currency: string; month: string }) {
  const of = { currency, month };
  const share = reach.share ?? percent(reach.reached, reach.spend, 4);
  return (
    <p class="coverage-headline">
      <strong>{share === null ? "–" : `${rounded(share, 1)}%`}</strong>
      <span>
        of <Money amount={reach.spend} currency={currency} /><VerifiedWhy {...of} filters={SPEND} amount={reach.spend} label="GPU spend" /> GPU spend reaches a <em>{reach.dimension}</em>:{" "}
        <Money amount={reach.reached} currency={currency} /><VerifiedWhy {...of} filters={reachedFilters(reach.dimension)} amount={reach.reached} label={`what reaches a ${reach.dimension}`} /> by who held GPUs
        {toHeight(reach.spread) > 0 && <>, <Money amount={reach.spread} currency={currency} /><VerifiedWhy {...of} filters={spreadFilters(reach.dimension)} amount={reach.spread} label="what was spread" /> by spreading</>}.{" "}
        {toHeight(reach.gap) === 0 ? "Nothing is missing." : <><Money amount={reach.gap} currency={currency} /> is missing.</>}
      </span>
    </p>
  );
}

// Where money stops, the most expensive first, and what to do about it.
// Users with a scope can't change labels or rules, so the advice is not for them.
export function Stops({ stops, currency, dimension, month }: { stops: Stop[]; currency: string; dimension: string; month: string }) {
  const { user } = useSession();
  const isScoped = (user?.scope.length ?? 0) > 0;
  return (
    <ol class="stops">
      {stops.map((stop) => (
        <li key={stop.reason}>
          <span class={`mark mark-${colourOf(stop.reason)}`} aria-hidden="true" />
          <div>
            <h3>{stop.reason.charAt(0).toUpperCase() + stop.reason.slice(1)}</h3>
            {stop.advice && !isScoped && (
              <p class="stop-advice">
                <Icon name="right" size={12} />
                <span>{stop.advice.charAt(0).toUpperCase() + stop.advice.slice(1)}</span>
              </p>
            )}
          </div>
          <div class="stop-figures">
            <strong class="figure-why">
              <Money amount={stop.amount} currency={currency} />
              <VerifiedWhy filters={stopFilters(stop.reason, dimension)} amount={stop.amount} currency={currency} month={month} label={stop.reason} />
            </strong>
            <span class="muted small"><Percent value={stop.share} /> of GPU spend</span>
          </div>
        </li>
      ))}
    </ol>
  );
}
