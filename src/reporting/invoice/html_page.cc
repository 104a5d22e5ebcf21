#include "reporting/invoice/html_page.h"

#include "reporting/table.h"

namespace pennyweight {
namespace {

// Page boxes with counters are CSS Paged Media 3; Chromium has them since version 131, other
// browsers print their own page numbers.
constexpr std::string_view kPageBoxes = R"(
@page {
  size: @SIZE@; margin: 14mm 16mm 16mm;
  @bottom-left {
    content: "@FOOT@";
    font: 8pt "Liberation Sans", Arial, sans-serif; color: #5b6470;
  }
  @bottom-right {
    content: "Page " counter(page) " of " counter(pages);
    font: 8pt "Liberation Sans", Arial, sans-serif; color: #5b6470;
  }
}
)";

constexpr std::string_view kStyle = R"(
:root { --ink: #1a2230; --soft: #5b6470; --line: #d5dae1; --wash: #f4f6f8; --accent: #24476f; }
* { box-sizing: border-box; }
html { background: #e9ecf0; }
body {
  margin: 0 auto; padding: 16mm; max-width: 210mm; background: #fff; color: var(--ink);
  font: 9.5pt/1.45 "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
p, address, h1, h2, dl, dd { margin: 0; font-style: normal; }
p, td, th, dd, address span { unicode-bidi: isolate; }
header { display: flex; justify-content: space-between; gap: 10mm; align-items: flex-start; }
header img { display: block; max-height: 16mm; max-width: 60mm; margin-bottom: 3mm; }
.issuer { color: var(--soft); font-size: 8.5pt; }
.issuer strong { color: var(--ink); font-size: 11pt; }
address span { display: block; }
h1 { font-size: 21pt; line-height: 1.1; font-weight: 600; color: var(--accent); text-align: right; }
.number { text-align: right; color: var(--soft); font-size: 10.5pt; margin-top: 1mm; }
.draft {
  display: inline-block; margin-top: 2mm; padding: .6mm 3mm; border: .4mm solid #a4341f;
  color: #a4341f; font-weight: 700; letter-spacing: .12em; border-radius: 1mm;
}
.mark {
  position: fixed; inset: 0; display: flex; align-items: center; justify-content: center;
  font-size: 120pt; font-weight: 700; letter-spacing: .1em; color: #a4341f; opacity: .07;
  transform: rotate(-32deg); pointer-events: none;
}
.facts { display: flex; gap: 10mm; margin: 7mm 0 5mm; }
.facts > * { flex: 1 1 0; }
h2 {
  font-size: 8pt; font-weight: 700; letter-spacing: .08em; text-transform: uppercase;
  color: var(--soft); margin-bottom: 1.2mm;
}
.facts strong { font-size: 10.5pt; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4mm 5mm; }
dt { color: var(--soft); }
.sum { background: var(--wash); border-left: 1mm solid var(--accent); padding: 3mm 4mm; }
.sum p { font-size: 17pt; font-weight: 600; line-height: 1.2; white-space: nowrap; }
.sum small { display: block; font-size: 8.5pt; color: var(--soft); }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; font-weight: 600; font-size: 10.5pt; padding-bottom: 1.5mm; }
th, td { padding: 1.2mm 2mm; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
.figure { white-space: nowrap; overflow-wrap: normal; }
.unit { text-align: left; color: var(--soft); white-space: nowrap; }
thead th {
  font-size: 8pt; color: var(--soft); font-weight: 600; border-bottom: .4mm solid var(--ink);
  vertical-align: bottom; white-space: nowrap;
}
thead .unit { color: var(--soft); }
.lines tbody td { border-bottom: .2mm solid var(--line); }
.lines tbody th[scope=rowgroup] {
  padding-top: 3mm; font-weight: 600; color: var(--accent); border-bottom: .2mm solid var(--line);
}
.lines .subtotal th, .lines .subtotal td { border-bottom: 0; font-weight: 600; }
.lines .subtotal th { text-align: right; font-weight: 400; color: var(--soft); }
.remark { display: block; font-size: 8pt; color: var(--soft); line-height: 1.35; }
.average::after { content: "*"; position: absolute; color: var(--soft); }
.sums {
  display: flex; flex-direction: row-reverse; gap: 8mm; align-items: flex-start; margin-top: 5mm;
}
.totals { flex: 1 1 46%; border-top: .4mm solid var(--ink); }
.totals th { font-weight: 400; }
.totals .total th, .totals .total td {
  font-size: 12.5pt; font-weight: 700; border-top: .2mm solid var(--line); padding-top: 2.2mm;
}
.proof { flex: 1 1 54%; background: var(--wash); font-size: 8pt; }
.proof caption { font-size: 8.5pt; }
.proof th, .proof td, .proof th:first-child, .proof td:last-child {
  padding: .7mm 2.5mm; font-weight: 400;
}
.proof .bill th, .proof .bill td { border-top: .2mm solid var(--soft); }
.proof tbody tr:first-child > * { padding-top: 2mm; }
.proof tbody tr:last-child > * { padding-bottom: 2mm; font-weight: 700; }
.note { margin-top: 4mm; }
.small { margin-top: 2mm; font-size: 7.5pt; color: var(--soft); }
@media screen and (max-width: 640px) {
  body { padding: 6mm; }
  header, .facts { flex-direction: column; gap: 5mm; }
  h1, .number { text-align: left; }
  .sums { flex-direction: column; }
}
@media print {
  html { background: none; }
  body {
    padding: 0; max-width: none;
    -webkit-print-color-adjust: exact; print-color-adjust: exact;
  }
  thead { display: table-header-group; }
  tr, .facts, .sums, .note { break-inside: avoid; }
  tbody th[scope=rowgroup] { break-after: avoid; }
  .subtotal, .sums { break-before: avoid; }
}
)";

void replace(std::string& text, std::string_view mark, std::string_view with) {
  const std::size_t at = text.find(mark);
  text.replace(at, mark.size(), with);
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string invoice_style(std::string_view size, std::string_view footer) {
  std::string boxes(kPageBoxes);
  replace(boxes, "@SIZE@", size);
  replace(boxes, "@FOOT@", footer);
  return boxes.substr(1) + std::string(kStyle.substr(1));
}

}  // namespace pennyweight
