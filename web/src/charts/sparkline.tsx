// A line as small as a word, drawn as SVG. Hidden from screen readers, since the figures are beside it.
import { toHeight } from "../util/money";

const WIDTH = 96;
const HEIGHT = 24;

export function Sparkline({ values, colour = "c1" }: { values: (string | null)[]; colour?: string }) {
  const heights = values.map(toHeight);
  const most = Math.max(...heights, 0);
  if (heights.length < 2 || most <= 0) return <svg class="spark" width={WIDTH} height={HEIGHT} aria-hidden="true" />;
  const points = heights.map((height, i) => {
    const x = (i / (heights.length - 1)) * (WIDTH - 4) + 2;
    const y = HEIGHT - 3 - (Math.max(0, height) / most) * (HEIGHT - 6);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg class={`spark spark-${colour}`} width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path class="spark-area" d={`M2,${HEIGHT - 2} L${points.join(" L")} L${WIDTH - 2},${HEIGHT - 2} Z`} />
      <path class="spark-line" d={`M${points.join(" L")}`} />
    </svg>
  );
}
