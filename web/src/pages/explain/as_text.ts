// An explanation as plain text, every digit, for a ticket or a mail.
import type { Explanation } from "../../api/types";
import { partName, perHour } from "./parts";

// `listed`: the explained posting is one of these.
export function asText(title: string, answer: Explanation, listed: Explanation, address: string): string {
  const lines = [`${title}: ${answer.total.map((one) => `${one.amount} ${one.currency}`).join(" + ")}`, ""];
  for (const part of answer.parts) {
    const rate = perHour(part);
    lines.push(`${partName(part)}: ${part.amount} ${part.currency}${rate ? ` (${part.gpu_hours} GPU-hours at ${rate} on average)` : ""}, ${part.postings} postings`);
  }
  for (const month of answer.months) {
    if (month.currency !== month.shown_currency) lines.push(`${month.month}: ${month.amount} ${month.currency} = ${month.shown} ${month.shown_currency}`);
  }
  lines.push(...answer.rates);
  for (const [i, section] of listed.explanation.entries()) {
    if (i === 0) lines.push("", `Posting ${(listed.posting ?? 0) + 1} of ${listed.postings_total}${listed.exact ? ", exact" : ""}`);
    lines.push("", section.title, ...section.facts.map((fact) => `  ${fact.name}: ${fact.value}`));
  }
  return [...lines, "", address].join("\n");
}
