// Compares two texts line by line by their longest common subsequence, which is fast enough for texts that
// people write by hand.

export interface Pair {
  a: string | null;
  b: string | null;
  same: boolean;
}

const LINES_MAX = 3000; // longer texts are only shown side by side

function lengths(a: string[], b: string[]): Uint16Array[] {
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      const row = table[i] as Uint16Array;
      const below = table[i + 1] as Uint16Array;
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}

export function sideBySide(left: string, right: string): Pair[] {
  const a = left.replace(/\n$/, "").split("\n");
  const b = right.replace(/\n$/, "").split("\n");
  const pairs: Pair[] = [];
  if (a.length > LINES_MAX || b.length > LINES_MAX) {
    for (let i = 0; i < Math.max(a.length, b.length); ++i) {
      pairs.push({ a: a[i] ?? null, b: b[i] ?? null, same: a[i] === b[i] });
    }
    return pairs;
  }
  const table = lengths(a, b);
  let i = 0;
  let j = 0;
  const gone: string[] = [];
  const added: string[] = [];
  const flush = () => {
    for (let k = 0; k < Math.max(gone.length, added.length); ++k) {
      pairs.push({ a: gone[k] ?? null, b: added[k] ?? null, same: false });
    }
    gone.length = added.length = 0;
  };
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      flush();
      pairs.push({ a: a[i] ?? "", b: b[j] ?? "", same: true });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && (table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0))) {
      gone.push(a[i++] ?? "");
    } else {
      added.push(b[j++] ?? "");
    }
  }
  flush();
  return pairs;
}
