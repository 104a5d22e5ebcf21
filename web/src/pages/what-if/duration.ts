// Times as the API's tables have them, "1 h 02 min 05 s": to seconds, and seconds in short words.

const UNITS: Record<string, number> = { h: 3600, min: 60, s: 1 };

export function secondsOf(text: string): number {
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d+) (h|min|s)\b/g)) seconds += Number(count) * (UNITS[unit ?? ""] ?? 0);
  return seconds;
}

export function waitInWords(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
