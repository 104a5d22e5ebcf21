// One GPU: who holds it, how busy it is, its MIG layout, and its cost per hour.
import { Facts } from "../../components/card";
import { Badge, Meter } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { Money, Percent } from "../../components/money";
import { href } from "../../app/router";
import type { FleetGpu } from "../../api/types";
import { percent } from "../../util/money";
import { sliceOf, STATE_HINTS, STATE_TITLES, type State, type Tile } from "./model";

export const STATE_TONES = { busy: "good", idle: "warn", unseen: "accent", free: "neutral", unknown: "neutral", down: "bad" } as const;
const SEVENTHS = 7;

export function StateBadge({ state }: { state: State }) {
  return (
    <Badge tone={STATE_TONES[state]} title={STATE_HINTS[state]}>
      {STATE_TITLES[state]}
    </Badge>
  );
}

function Busy({ part, label }: { part: string | null; label: string }) {
  if (part === null) return <span class="muted">not observed</span>;
  const text = percent(part, "1") ?? "0";
  return (
    <span class="row">
      <Meter percent={Number(text)} label={`${label} ${text}%`} />
      <Percent value={text} />
    </span>
  );
}

function MigLayout({ profiles }: { profiles: string[] }) {
  const used = profiles.reduce((sum, profile) => sum + sliceOf(profile), 0);
  return (
    <div class="mig" role="img" aria-label={`MIG layout: ${profiles.join(", ")}`}>
      {profiles.map((profile, i) => (
        <span key={i} class="mig-part" style={{ flexGrow: sliceOf(profile) }}>
          {profile}
        </span>
      ))}
      {used < SEVENTHS && <span class="mig-part mig-rest" style={{ flexGrow: SEVENTHS - used }} />}
    </div>
  );
}

// "1" is the whole GPU, "0.5" half of it; a MIG profile stays as it is.
function shareOf(share: string): string {
  if (share === "1") return "whole GPU";
  return /^0?\.\d+$/.test(share) ? `${percent(share, "1", 0)}% of it` : share;
}

// Whether it is certainly this GPU and not another one of the node.
function isPlaced(holder: FleetGpu["holders"][number] & { placed?: boolean }): boolean {
  return holder.placed !== false;
}

export function GpuDialog({ tile, onClose }: { tile: Tile | undefined; onClose: () => void }) {
  if (!tile) return null;
  const { gpu, node } = tile;
  return (
    <Dialog title={`${node.node} · GPU ${gpu.index}`} open onClose={onClose}>
      <div class="dialog-body">
        <Facts
          facts={[
            ["State", <span class="row"><StateBadge state={tile.state} /> <span class="muted small">{STATE_HINTS[tile.state]}</span></span>],
            ["Cost per hour", <Money amount={gpu.cost_per_hour} currency={node.currency} digits={4} />],
            ["Busy", <Busy part={gpu.busy} label="Busy" />],
            ["Memory used", <Busy part={gpu.memory} label="Memory used" />],
            ["Model", gpu.model || "–"],
            ...(gpu.mig.length > 0 ? [["MIG", <MigLayout profiles={gpu.mig} />] as [string, preact.ComponentChild]] : []),
            ["Held by", gpu.holders.length === 0 ? <span class="muted">nobody</span> : (
              <ul class="holders">
                {gpu.holders.map((holder) => (
                  <li key={holder.workload}>
                    <a href={href("/workload", { cluster: node.cluster, workload: holder.workload })}>{holder.workload}</a>
                    <span class="muted small">
                      {[holder.owner, shareOf(holder.share), isPlaced(holder) ? "" : "GPU of this node unknown"].filter(Boolean).join(" · ")}
                    </span>
                  </li>
                ))}
              </ul>
            )],
            ["Node", [node.node, node.instance_type, node.region].filter(Boolean).join(" · ")],
            ["Node cost per hour", <Money amount={node.price_per_hour} currency={node.currency} digits={4} />],
            ["Cluster", node.cluster],
            ["UUID", <code>{gpu.uuid || "–"}</code>],
          ]}
        />
      </div>
    </Dialog>
  );
}
