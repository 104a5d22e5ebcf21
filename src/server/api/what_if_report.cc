#include "server/api/what_if_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/pdf/invoice_pdf.h"
#include "reporting/pdf/table_pdf.h"

namespace pennyweight::api {

Result<std::string> what_if_report(const std::string& month, const std::string& cluster,
                                   const std::string& scenario, const WhatIfTables& tables,
                                   const std::string& font) {
  TableDocument document{
      .title = fmt::format("What if: {} of cluster {}", month, cluster),
      .lead = {scenario.empty()
                   ? std::string("The month as it is, replayed first come, first served, with "
                                 "backfill.")
                   : fmt::format("What is changed and asked: {}", scenario),
               "Every job of the month was placed anew by a simulated scheduler, and the changed "
               "month's bill was divided anew. How near the replay of what really "
               "ran comes to what was is told first."},
      .tables = {tables.calibration}};
  document.tables.insert(document.tables.end(), tables.costs.begin(), tables.costs.end());
  document.tables.insert(document.tables.end(), tables.tier_costs.begin(), tables.tier_costs.end());
  // Series for charts, and single jobs, are for files.
  constexpr std::string_view kLong[] = {"calibration", "moments", "waits", "gantt"};
  for (const auto& [name, table] : named_tables(tables)) {
    if (std::ranges::find(kLong, name) == std::end(kLong)) document.tables.push_back(*table);
  }
  return render_tables_pdf(document, font.empty() ? kPdfFont : font);
}

}  // namespace pennyweight::api
