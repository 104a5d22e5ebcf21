// Scenarios as the address and the API have them: a name, and changes as one line, "nodes=-20;spot=2%". Pure
// functions; the server alone judges whether a change makes sense.

export interface Scenario {
  name: string;
  line: string;
}

export const SCENARIOS_MAX = 3;
const SEPARATOR = "|"; // in the address, between name and line

export function toAddress(scenario: Scenario): string {
  return `${scenario.name.replaceAll(SEPARATOR, " ")}${SEPARATOR}${scenario.line}`;
}

export function fromAddress(text: string): Scenario {
  const cut = text.indexOf(SEPARATOR);
  return cut < 0 ? { name: "", line: text } : { name: text.slice(0, cut), line: text.slice(cut + 1) };
}

export function parts(line: string): string[] {
  return line.split(";").map((part) => part.trim()).filter((part) => part !== "");
}

// Changes that may stand in a scenario several times; of the others the last one counts.
const MANY = new Set(["nodes", "price", "demand", "slice", "weight", "quota", "off-peak", "outage", "new-team", "repeat", "mig-nodes", "autoscale", "slo", "power", "commitment-end", "list-price", "replace-model", "bound", "commitment-buy"]);

const keyOf = (part: string) => part.split("=", 1)[0] ?? "";

export function withPart(line: string, part: string): string {
  const key = keyOf(part);
  return [...parts(line).filter((one) => one !== part && (MANY.has(key) || keyOf(one) !== key)), part].join(";");
}

export function withoutPart(line: string, part: string): string {
  return parts(line).filter((one) => one !== part).join(";");
}

function split(text: string): [string, string] {
  const cut = text.lastIndexOf("=");
  return cut < 0 ? ["", text] : [text.slice(0, cut), text.slice(cut + 1)];
}

function nodes(value: string): string {
  const [count = "", which] = value.split(":", 2);
  const number = count.replace(/^[+-]/, "");
  const rest = which ? ` (${which.replaceAll("=", " ").replaceAll(",", ", ")})` : "";
  return `${number} ${number === "1" ? "node" : "nodes"} ${count.startsWith("-") ? "fewer" : "more"}${rest}`;
}

function migNodes(value: string): string {
  const [count = "", layout = ""] = split(value.replace(/:(model|pool)=.*$/, ""));
  const which = /:((?:model|pool)=.*)$/.exec(value)?.[1];
  const rest = which ? ` (${which.replaceAll("=", " ").replaceAll(",", ", ")})` : "";
  const [profile = "", hours] = layout.split("/", 2);
  return `${count} ${count === "1" ? "node" : "nodes"} of ${profile}${hours ? `, ${hours} UTC` : ""}${rest}`;
}

function bought(value: string): string {
  const [count = "", price = "", term, which] = /^([^@]*)@([^/:]*)(?:\/([^:]*))?(?::(.*))?$/.exec(value)?.slice(1) ?? [value];
  const what = price.endsWith("%") ? `${count} an hour at ${price} of the price` : `${count} at ${price}${/^\d/.test(price) ? " an hour" : ""}`;
  return `${what}${term ? ` for ${term}` : ""}${which ? ` (${which.replaceAll("=", " ").replaceAll(",", ", ")})` : ""}`;
}

// A change in words; what isn't known is shown as it is.
export function inWords(part: string): string {
  const key = keyOf(part);
  const value = part.slice(key.length + 1);
  const [name, rest] = split(value);
  switch (key) {
    case "nodes": return nodes(value);
    case "price": return `${name || "All nodes"} at ${rest} of the price`;
    case "list-price": return `List price: ${value.replace(":", ",").replaceAll("=", " ").replaceAll(",", ", ")}`;
    case "replace-model": return `${name} replaced by ${rest}`;
    case "bound": return `${name ? `${name}: jobs` : "Other jobs"} ${rest.endsWith("%") ? `take ${rest} of their time there` : rest === "unknown" ? "are limited by what nobody says" : `are limited by ${rest}`}`;
    case "commitment-buy": return `Commitment bought: ${bought(value)}`;
    case "demand": return `${name || "Everybody"} with ${rest} of the jobs`;
    case "spot": return `${name || "All nodes"} as spot, ${rest} taken back an hour`;
    case "checkpoint": return rest === "0" ? "No checkpoints" : `Checkpoints each ${rest} min`;
    case "replaced-after": return `Replaced after ${rest} min`;
    case "restart": return `${rest} s for a restart`;
    case "quota": return `${name} has ${rest.replace("+", " GPUs of its own and borrows up to ")}${rest.includes("+") ? "" : " GPUs of its own"}`;
    case "off-peak": return `${name} starts jobs ${rest} UTC only`;
    case "guard": return `Nobody overtakes after ${rest} min`;
    case "outage": return `Outage: ${value.replace("@", " nodes from ").replace("/", " for ")}`;
    case "new-team": return `New team ${value.replace("=", ": as ").replace("@", ", ")}${value.includes("@") ? " of the jobs" : ""}`;
    case "repeat": return `${name}: ${rest.replace("x", " GPUs for ").replace("@", " each ")}`;
    case "autoscale": return `Autoscaled: at least ${value.replace(/^(\d+)-(\d+)/, "$1 and at most $2").replace("@", ", starting in ").replace("/", ", kept ").replace(/:(.*)$/, (_, which: string) => ` (${which.replaceAll("=", " ").replaceAll(",", ", ")})`)}`;
    case "spill-over": return `Jobs stay in their ${rest.replace("@", ", and leave after waiting ")}`;
    case "same-rack": return `Jobs on several nodes stay in a rack of ${rest} nodes`;
    case "slo": return name ? `${name} may wait ${rest} min` : `Limit of waiting, where a team has none of its own: ${rest} min`;
    case "power": return `${name} draws ${rest.replace("/", " W held, ")} W idle`;
    case "seeds": return `Range over ${rest} seeds`;
    case "demand-range": return `Range: ${rest} % less and more demand`;
    case "fewest-nodes": return `Search the fewest nodes: 95 % wait at most ${rest} min`;
    case "fewest-model": return `of ${rest} only`;
    case "cheapest-tiers": return `Search the cheapest tiers: 95 % wait at most ${rest} min`;
    case "tier-model": return `Tiers of ${rest} only`;
    case "committed": return `Committed at ${rest} of the price`;
    case "spot-tier": return `Spot at ${rest.replace("@", " of the price, ")} taken back an hour`;
    case "tier-kept": return `Empty nodes are paid for ${rest} min`;
    case "best-mig": return `Search the best MIG layout: 95 % wait at most ${rest} min`;
    case "mig-model": return `Cut ${rest}`;
    case "tries": return `At most ${rest} replays`;
    case "slice": return `${name || "Everybody"}: one-GPU jobs${rest.includes("/") ? ` of ${rest.split("/")[1]} UTC` : ""} on ${(rest.split("/")[0] ?? "").replace("@", ", taking ")}${rest.includes("@") ? " of their time" : ""}`;
    case "mig-nodes": return migNodes(value);
    case "weight": return `${name} weighs ${rest}`;
    case "scheduler": return `Scheduler ${rest}`;
    case "blocked": return `While blocked: ${rest}`;
    case "placement": return `Placement ${rest}`;
    case "lengths": return rest === "limit" ? "The scheduler knows time limits only" : "The scheduler knows lengths";
    case "preempt": return "Preemption";
    case "commitment-end": return `Commitment ${value.replace(/^([^@]*)$/, "ends at $1").replace("@", " ends at ").replace("=", ", exchanged at ")}`;
    case "fitted": return "Jobs drawn anew, like the month's";
    case "any-model": return "Any GPU model";
    case "seed": return `Seed ${rest}`;
    case "depth": return `Depth ${rest}`;
    default: return part;
  }
}

export function describe(line: string): string {
  const all = parts(line);
  return all.length === 0 ? "As it is, with backfill" : all.map(inWords).join(" · ");
}

export const EXAMPLES: Scenario[] = [
  { name: "20 nodes fewer", line: "nodes=-20" },
  { name: "All on spot", line: "spot=2%;price=35%;checkpoint=30" },
  { name: "Half as many jobs again", line: "demand=150%" },
  { name: "Fair share", line: "scheduler=fair-share" },
  { name: "Cheapest tiers", line: "cheapest-tiers=60;committed=60%;spot-tier=35%@2%;tries=30" },
];
