// The filters that select the postings of the figures of Coverage. It divides postings by more than a filter can say
// (whether a machine type has GPUs, what a rule spread), so each is only tried (components/verified_why.tsx).
import { filterText } from "../../util/filter";

const nobody = (dimension: string) => filterText({ dimension, negate: false, values: [""] });
const somebody = (dimension: string) => filterText({ dimension, negate: true, values: [""] });
const GPU = "component=gpu";
const WHOLE = "component=whole";
const IDLE = "kind=unallocated,stranded,unavailable,held_idle,overhead";

// Filters to try, by what the figure is called.
export const SPEND = [[GPU], ["component=gpu,whole", "kind!=shared"]];
export const reachedFilters = (dimension: string) => [[GPU, somebody(dimension), "kind!=overhead"], [GPU, somebody(dimension), "kind=used,held_idle"]];
export const spreadFilters = (dimension: string) => [[GPU, somebody(dimension), IDLE], [GPU, somebody(dimension), "kind=unallocated"]];
export const gapFilters = (dimension: string) => [[GPU, nobody(dimension)], ["component=gpu,whole", "kind!=shared", nobody(dimension)]];

export function stopFilters(reason: string, dimension: string): string[][] {
  const none = nobody(dimension);
  switch (reason) {
    case "nobody held the GPU": return [[GPU, "kind=unallocated", none]];
    case "held, and charged to nobody": return [[GPU, "kind=held_idle", none], [GPU, "kind=used,held_idle", none]];
    case "stranded beside a MIG layout": return [[GPU, "kind=stranded", none]];
    case "in an outage": return [[GPU, "kind=unavailable", none]];
    case "system workloads": return [[GPU, "kind=overhead"], [GPU, "kind=overhead", none]];
    case "commitment that nothing used": return [[WHOLE, "kind=unallocated", none], [WHOLE, "kind=unallocated"]];
    case "line joins no node": return [[WHOLE, "kind=shared", "category=Usage", none], [WHOLE, "kind=shared", none]];
    case "holder lacks the label": return [[GPU, "kind=used,held_idle", none], [GPU, "kind=used", none]];
    default: return [];
  }
}

export function partFilters(part: string): string[][] {
  if (part === "GPU spend") return SPEND;
  if (part.startsWith("CPU and memory")) return [["component=cpu,memory"]];
  if (part.startsWith("unused commitments")) return [[WHOLE, "kind=unallocated"]];
  if (part.startsWith("other")) return [[WHOLE, "kind=shared"], [WHOLE]];
  return [];
}
