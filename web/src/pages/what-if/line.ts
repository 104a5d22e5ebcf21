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
const MANY = new Set(["nodes", "price", "demand", "slice", "weight"]);

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

// A change in words; what isn't known is shown as it is.
export function inWords(part: string): string {
  const key = keyOf(part);
  const value = part.slice(key.length + 1);
  const [name, rest] = split(value);
  switch (key) {
    case "nodes": return nodes(value);
    case "price": return `${name || "All nodes"} at ${rest} of the price`;
    case "demand": return `${name || "Everybody"} with ${rest} of the jobs`;
    case "spot": return `${name || "All nodes"} as spot, ${rest} taken back an hour`;
    case "checkpoint": return rest === "0" ? "No checkpoints" : `Checkpoints each ${rest} min`;
    case "replaced-after": return `Replaced after ${rest} min`;
    case "restart": return `${rest} s for a restart`;
    case "slice": return `${name || "Everybody"}: one-GPU jobs on ${rest.replace("@", ", taking ")}${rest.includes("@") ? " of their time" : ""}`;
    case "weight": return `${name} weighs ${rest}`;
    case "scheduler": return `Scheduler ${rest}`;
    case "blocked": return `While blocked: ${rest}`;
    case "placement": return `Placement ${rest}`;
    case "lengths": return rest === "limit" ? "The scheduler knows time limits only" : "The scheduler knows lengths";
    case "preempt": return "Preemption";
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
];
