// Filters as the API and the command line write them: "team=nlp,cv", "team!=nlp".

export interface Filter {
  dimension: string;
  negate: boolean;
  values: string[];
}

// "team!=nlp,cv"
export function parseFilter(text: string): Filter | null {
  const parts = /^([^=!]+)(!?)=(.*)$/s.exec(text);
  if (!parts) return null;
  const [, dimension = "", not, values = ""] = parts;
  return { dimension, negate: not === "!", values: splitValues(values) };
}

// As on the server: a backslash quotes a comma or another backslash.
function splitValues(text: string): string[] {
  const parts = text.match(/\\[,\\]|[^]/g) ?? [];
  return parts.reduce<string[]>((values, part) => {
    if (part === ",") return [...values, ""];
    return [...values.slice(0, -1), values.at(-1) + (part.length === 2 && part.startsWith("\\") ? part.slice(1) : part)];
  }, [""]);
}

export function joinValues(values: readonly string[]): string {
  return values.map((value) => value.replace(/\\(?=[,\\]|$)|,/g, "\\$&")).join(",");
}

// The values of a row's key, as keyOf() joined them.
export function splitKey(key: string, count: number): string[] {
  return count === 1 ? [key] : splitValues(key);
}

// A row's key for `/explain`.
export function keyOf(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? "") : joinValues(values);
}

export function filterText({ dimension, negate, values }: Filter): string {
  return `${dimension}${negate ? "!=" : "="}${joinValues(values)}`;
}

// The filter of one value: "team=nlp".
export function only(dimension: string, value: string): string {
  return filterText({ dimension, negate: false, values: [value] });
}
