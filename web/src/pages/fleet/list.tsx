// The same fleet as a table with a row for each GPU: for screen readers, and for sorting.
import { Meter } from "../../components/controls";
import { Money, Percent } from "../../components/money";
import { Table, type Column } from "../../components/table";
import { percent } from "../../util/money";
import { StateBadge } from "./details";
import { isWanted, ownersOf, STATES, type ClusterTiles, type Tile, type Wanted } from "./model";

const COLUMNS: Column<Tile>[] = [
  { key: "gpu", title: "GPU", wide: true, value: (tile) => `${tile.node.cluster} ${tile.node.node} ${tile.gpu.index}`,
    cell: (tile) => <>{tile.node.node} <span class="muted">· {tile.gpu.index}</span></> },
  { key: "cluster", title: "Cluster", value: (tile) => tile.node.cluster, cell: (tile) => tile.node.cluster, hideOnPhone: true },
  { key: "model", title: "Model", value: (tile) => tile.gpu.model,
    cell: (tile) => <>{tile.gpu.model}{tile.gpu.mig.length > 0 && <span class="muted"> · {tile.gpu.mig.join(" + ")}</span>}</> },
  { key: "state", title: "State", value: (tile) => STATES.indexOf(tile.state), cell: (tile) => <StateBadge state={tile.state} /> },
  { key: "owner", title: "Held by", value: (tile) => ownersOf(tile.gpu) || null,
    cell: (tile) => ownersOf(tile.gpu) || <span class="nothing">–</span> },
  { key: "busy", title: "Busy", numeric: true, value: (tile) => tile.busy,
    cell: (tile) => {
      const text = tile.gpu.busy === null ? null : percent(tile.gpu.busy, "1");
      return <span class="share">{text && <Meter percent={Number(text)} />}<Percent value={text} /></span>;
    } },
  { key: "cost", title: "Cost per hour", numeric: true, unit: (tile) => tile.node.currency ?? "", value: (tile) => tile.gpu.cost_per_hour,
    cell: (tile) => <Money amount={tile.gpu.cost_per_hour} currency={tile.node.currency} /> },
];

export function FleetList({ clusters, wanted, onChoose }: {
  clusters: ClusterTiles[];
  wanted: Wanted;
  onChoose: (tile: Tile) => void;
}) {
  const tiles = clusters.flatMap(({ nodes }) => nodes.flatMap((node) => node.tiles)).filter((tile) => isWanted(tile, wanted));
  return (
    <Table
      caption="GPUs of the fleet"
      columns={COLUMNS}
      rows={tiles}
      rowKey={(tile) => `${tile.node.cluster}/${tile.node.node}/${tile.gpu.index}`}
      sort={{ key: "gpu", down: false }}
      onRow={onChoose}
      dense
    />
  );
}
