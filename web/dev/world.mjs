// A made-up company for looking at pages: teams, users, nodes, days. The same every time.
export const CURRENCY = "USD";
export const MONTHS = ["2025-12", "2026-01", "2026-02", "2026-03"];
export const TODAY = "2026-03-19"; // the last day with costs
const TEAMS = ["nlp", "vision", "speech", "recsys", "robotics", "search", "ads-ranking", "platform"];
const USERS = ["ana", "bo", "chen", "dara", "emil", "fatima", "goran", "hana", "ivo", "june", "kofi", "lena"];
const MODELS = ["llama-70b-finetune", "whisper-large", "vit-g", "ranker-v9", "sim2real", "embeddings-v4"];

export function random(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

export function daysOf(month) {
  const [year, number] = month.split("-").map(Number);
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length: count }, (_, i) => `${month}-${String(i + 1).padStart(2, "0")}`).filter((day) => day <= TODAY);
}

// Amounts are integers of a millionth here, and decimal strings outside.
export function amount(micros) {
  const sign = micros < 0 ? "-" : "";
  const whole = Math.floor(Math.abs(micros) / 1e6);
  const rest = String(Math.abs(Math.round(micros)) % 1e6).padStart(6, "0").replace(/0+$/, "");
  return `${sign}${whole}${rest ? "." + rest : ""}`;
}

export function hours(milli) {
  return { hours: (milli / 1000).toFixed(4), exact: milli % 1000 === 0 ? String(milli / 1000) : `${milli}/1000` };
}

// One posting a day, workload and kind: { day, month, team, user, model, workload, cluster, kind, micros, milli }
export function makePostings({ teams = TEAMS.length } = {}) {
  const next = random(7);
  const names = Array.from({ length: teams }, (_, i) => TEAMS[i] ?? `group-${String(i).padStart(2, "0")}`);
  const postings = [];
  const workloads = names.flatMap((team, t) =>
    Array.from({ length: 3 }, (_, w) => ({
      team,
      user: USERS[(t * 3 + w) % USERS.length],
      model: MODELS[(t + w) % MODELS.length],
      workload: w === 0 ? `train-${team}-${100 + t}` : w === 1 ? `batch/eval-${team}-${w}` : `notebook-${USERS[(t * 2) % USERS.length]}`,
      cluster: t % 3 === 0 ? "lab" : "prod",
      size: 40e6 + next() * next() * 2_400e6,
      gone: next() < 0.12,
    })),
  );
  for (const month of MONTHS) {
    for (const day of daysOf(month)) {
      const weekend = [0, 6].includes(new Date(day).getUTCDay()) ? 0.55 : 1;
      const growth = 1 + MONTHS.indexOf(month) * 0.09;
      for (const one of workloads) {
        if (one.gone && next() < 0.5) continue;
        const micros = Math.round(one.size * weekend * growth * (0.75 + next() * 0.5));
        const idle = Math.round(micros * (0.06 + next() * 0.3));
        const milli = Math.round(micros / 2900);
        postings.push({ ...one, day, month, kind: "used", micros: micros - idle, milli, idleMilli: 0 });
        postings.push({ ...one, day, month, kind: "held_idle", micros: idle, milli: 0, idleMilli: 0 });
      }
      const free = Math.round((2_600e6 + next() * 1_800e6) * (2 - weekend));
      const nobody = { team: "", user: "", model: "", workload: "", cluster: "prod" };
      postings.push({ ...nobody, day, month, kind: "unallocated", micros: free, milli: 0, idleMilli: Math.round(free / 2900) });
      postings.push({ ...nobody, day, month, kind: "stranded", micros: Math.round(free * 0.08), milli: 0, idleMilli: 0 });
      postings.push({ ...nobody, day, month, kind: "overhead", micros: Math.round(free * 0.05), milli: 0, idleMilli: 0 });
    }
  }
  return postings;
}

const HELD = new Set(["used", "held_idle"]);

export function keyOf(posting, dimension) {
  if (dimension === "month" || dimension === "kind" || dimension === "cluster" || dimension === "day") return posting[dimension];
  const value = posting[dimension];
  if (value === undefined) return "(none)";
  return value || (HELD.has(posting.kind) ? "(none)" : `(${posting.kind})`);
}
