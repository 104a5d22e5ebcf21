#include "ingest/bills/oci/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/ascii.h"

namespace pennyweight::oci {
namespace {

struct KnownColumn {
  std::string_view name;  // in small letters
  Column column;
  bool needed;
};
constexpr KnownColumn kKnownColumns[] = {
    {"lineitem/tenantid", Column::kTenantId, true},
    {"lineitem/intervalusagestart", Column::kUsageStart, true},
    {"lineitem/intervalusageend", Column::kUsageEnd, true},
    {"product/service", Column::kService, true},
    {"product/region", Column::kRegion, false},
    {"product/availabilitydomain", Column::kAvailabilityDomain, false},
    {"product/resourceid", Column::kResourceId, false},
    {"usage/billedquantity", Column::kBilledQuantity, false},
    {"cost/subscriptionid", Column::kSubscriptionId, false},
    {"cost/productsku", Column::kProductSku, false},
    {"product/description", Column::kDescription, false},
    {"cost/unitprice", Column::kUnitPrice, false},
    {"cost/mycost", Column::kMyCost, true},
    {"cost/currencycode", Column::kCurrency, true},
    {"cost/billingunitreadable", Column::kBillingUnit, false},
    {"cost/skuunitdescription", Column::kSkuUnit, false},
    {"cost/overageflag", Column::kOverageFlag, false},
    {"lineitem/iscorrection", Column::kIsCorrection, false},
};
static_assert(std::size(kKnownColumns) == kColumns);

// What becomes no column of FOCUS, by the names that Oracle's FOCUS report has for it ("oci_…"),
// with the prefix that FOCUS wants.
constexpr std::pair<std::string_view, std::string_view> kKept[] = {
    {"lineitem/referenceno", "x_ReferenceNumber"},
    {"lineitem/backreferenceno", "x_BackReferenceNumber"},
    {"product/compartmentid", "x_CompartmentId"},
    {"product/compartmentname", "x_CompartmentName"},
    {"usage/billedquantityoverage", "x_BilledQuantityOverage"},
    {"cost/unitpriceoverage", "x_UnitPriceOverage"},
    {"cost/mycostoverage", "x_CostOverage"},
    {"cost/attributedcost", "x_AttributedCost"},
    {"usage/attributedusage", "x_AttributedUsage"},
    {"cost/overageflag", "x_OverageFlag"},
    {"cost/billingunitreadable", "x_BillingUnitReadable"},
};

constexpr std::string_view kTagPrefix = "tags/";

const KnownColumn* find_known_column(std::string_view name) {
  const auto* known = std::ranges::find(kKnownColumns, name, &KnownColumn::name);
  return known == std::end(kKnownColumns) ? nullptr : known;
}

// A column that nobody has heard of keeps its own name.
std::string kept_name(const std::string& name, std::string_view small) {
  for (const auto& [of, kept] : kKept) {
    if (of == small) return std::string(kept);
  }
  return name;
}

std::vector<std::string_view> missing_of(std::span<const std::string> names) {
  std::vector<std::string> there;
  for (const std::string& name : names) there.push_back(ascii::lower_case(name));
  std::vector<std::string_view> missing;
  for (const KnownColumn& known : kKnownColumns) {
    if (known.needed && std::ranges::find(there, known.name) == there.end()) {
      missing.push_back(known.name);
    }
  }
  return missing;
}

}  // namespace

Result<Columns> Columns::of(const csv::Header& header) {
  if (const auto missing = missing_of(header.names()); !missing.empty()) {
    return fail(ErrorCode::kBadFile,
                fmt::format("a cost report of OCI has columns that this file lacks: {}; a usage "
                            "report has no cost, take the cost report",
                            fmt::join(missing, ", ")));
  }
  Columns columns;
  std::map<std::string, std::string> seen;  // small letters → the name of the file
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string& name = header.names()[i];
    const std::string small = ascii::lower_case(name);
    if (small.starts_with(kTagPrefix) && small.size() > kTagPrefix.size()) {
      columns.tags.push_back({name.substr(kTagPrefix.size()), i});
      continue;
    }
    const auto [there, is_new] = seen.emplace(small, name);
    if (!is_new) {
      return fail(ErrorCode::kBadFile, fmt::format("columns {} and {} are one and the same; remove "
                                                   "one",
                                                   there->second, name));
    }
    const KnownColumn* known = find_known_column(small);
    if (known != nullptr) columns.positions[static_cast<std::size_t>(known->column)] = i;
    const bool is_kept_besides = known != nullptr && (known->column == Column::kOverageFlag ||
                                                      known->column == Column::kBillingUnit);
    if (known == nullptr || is_kept_besides) columns.kept.push_back({kept_name(name, small), i});
  }
  std::ranges::sort(columns.kept, {}, &NamedColumn::name);
  return columns;
}

bool has_needed_columns(std::span<const std::string> names) { return missing_of(names).empty(); }

}  // namespace pennyweight::oci
