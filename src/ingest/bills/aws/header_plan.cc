#include "ingest/bills/aws/header_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/json_text.h"
#include "core/try.h"
#include "ingest/bills/json_column.h"

namespace pennyweight::aws {
namespace {

constexpr Column kNeeded[] = {Column::kLineItemType,       Column::kUnblendedCost,
                              Column::kCurrencyCode,       Column::kPayerAccountId,
                              Column::kBillingPeriodStart, Column::kBillingPeriodEnd};

constexpr std::string_view kOnlyInSecond[] = {"resource_tags", "product", "cost_category",
                                              "discount", "bill_payer_account_name"};

std::string kind_of(const csv::Header& header) {
  for (const std::string_view name : kOnlyInSecond) {
    if (header.find(name)) return "AWS CUR 2.0";
  }
  return "AWS CUR";
}

bool is_amount_name(std::string_view kept) {
  return kept.ends_with("Cost") || kept.ends_with("Quantity") || kept.ends_with("UnitPrice");
}

Result<void> require_needed(const HeaderPlan& plan) {
  std::vector<std::string_view> missing;
  for (const Column column : kNeeded) {
    if (!plan.has(column)) missing.push_back(name_of(column));
  }
  if (!plan.has(Column::kUsageStart) && !plan.has(Column::kTimeInterval)) {
    missing.push_back(name_of(Column::kUsageStart));
  }
  if (missing.empty()) return {};
  return fail(ErrorCode::kBadFile,
              fmt::format("columns are missing: {} (legacy CSV reports write lineItem/… for "
                          "line_item_…); export the Cost and Usage Report with these columns",
                          fmt::join(missing, ", ")));
}

// Warns if costs are net and those of commitments are not.
void note_half_net(HeaderPlan& plan) {
  if (!plan.has(Column::kNetUnblendedCost)) return;
  constexpr std::pair<Column, Column> kPairs[] = {
      {Column::kReservationEffectiveCost, Column::kReservationNetEffectiveCost},
      {Column::kPlanEffectiveCost, Column::kPlanNetEffectiveCost}};
  for (const auto& [gross, net] : kPairs) {
    if (!plan.has(gross) || plan.has(net)) continue;
    plan.half_net.push_back(
        fmt::format("{} is there and {} is not: EffectiveCost of what commitments cover is before "
                    "discounts, BilledCost after them; export {} too",
                    name_of(Column::kNetUnblendedCost), name_of(net), name_of(net)));
  }
}

}  // namespace

Result<HeaderPlan> HeaderPlan::of(const csv::Header& header, bool keep_line_item_ids) {
  HeaderPlan plan;
  plan.kind = kind_of(header);
  plan.width = header.size();
  plan.names = header.names();
  std::set<std::string> kept_names;
  std::set<std::string> tag_keys;
  for (std::size_t at = 0; at < header.size(); ++at) {
    const std::string& name = header.names()[at];
    OtherColumn other{.at = at,
                      .column = std::nullopt,
                      .tag = std::nullopt,
                      .is_amount = false,
                      .name = name_kept(name),
                      .json_key = {}};
    // Of two columns with one meaning the first is read; the second is stored unchanged.
    const auto column = find_column(canonical_name(name));
    if (column && !plan.has(*column)) {
      plan.positions[static_cast<std::size_t>(*column)] = at;
      other.column = column;
    } else if (auto key = tag_key_of_column(name); key && tag_keys.insert(*key).second) {
      other.tag = plan.tags.size();
      plan.tags.push_back({at, std::move(*key)});
    }
    if (other.column == Column::kLineItemId && !keep_line_item_ids) continue;
    if (!kept_names.insert(other.name).second) {
      other.name = "x_" + name;
      for (int copy = 2; !kept_names.insert(other.name).second; ++copy) {
        other.name = fmt::format("x_{}_{}", name, copy);
      }
    }
    other.is_amount = is_amount_name(other.name);
    append_stored_json_string(other.json_key, other.name);
    other.json_key += ':';
    plan.others.push_back(std::move(other));
  }
  TRY(require_needed(plan));
  std::ranges::sort(plan.others, {}, &OtherColumn::name);
  note_half_net(plan);
  return plan;
}

}  // namespace pennyweight::aws
