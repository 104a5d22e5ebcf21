#include "ingest/bills/focus/column.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"

namespace pennyweight::focus {
namespace {

using enum Version;

constexpr Column kColumns[] = {
    {"AllocatedMethodDetails", k1_3, k1_4, false},
    {"AllocatedMethodId", k1_3, k1_4, false},
    {"AllocatedResourceId", k1_3, k1_4, false},
    {"AllocatedResourceName", k1_3, k1_4, false},
    {"AllocatedTags", k1_3, k1_4, false},
    {"AvailabilityZone", k1_0, k1_4, false},
    {"BilledCost", k1_0, k1_4, true},
    {"BillingAccountId", k1_0, k1_4, true},
    {"BillingAccountName", k1_0, k1_4, true},
    {"BillingAccountType", k1_2, k1_4, false},
    {"BillingCurrency", k1_0, k1_4, true},
    {"BillingPeriodEnd", k1_0, k1_4, true},
    {"BillingPeriodStart", k1_0, k1_4, true},
    {"CapacityReservationId", k1_1, k1_4, false},
    {"CapacityReservationStatus", k1_1, k1_4, false},
    {"ChargeCategory", k1_0, k1_4, true},
    {"ChargeClass", k1_0, k1_4, true},
    {"ChargeDescription", k1_0, k1_4, true},
    {"ChargeFrequency", k1_0, k1_4, false},
    {"ChargePeriodEnd", k1_0, k1_4, true},
    {"ChargePeriodStart", k1_0, k1_4, true},
    {"CommitmentDiscountCategory", k1_0, k1_4, false},
    {"CommitmentDiscountId", k1_0, k1_4, false},
    {"CommitmentDiscountName", k1_0, k1_4, false},
    {"CommitmentDiscountQuantity", k1_1, k1_4, false},
    {"CommitmentDiscountStatus", k1_0, k1_4, false},
    {"CommitmentDiscountType", k1_0, k1_4, false},
    {"CommitmentDiscountUnit", k1_1, k1_4, false},
    {"CommitmentProgramEligibilityDetails", k1_4, k1_4, false},
    {"ConsumedQuantity", k1_0, k1_4, false},
    {"ConsumedUnit", k1_0, k1_4, false},
    {"ContractApplied", k1_3, k1_4, false},
    {"ContractedCost", k1_0, k1_4, true},
    {"ContractedUnitPrice", k1_0, k1_4, false},
    {"EffectiveCost", k1_0, k1_4, true},
    {"HostProviderName", k1_3, k1_4, true},
    {"InvoiceDetailId", k1_4, k1_4, false},
    {"InvoiceId", k1_2, k1_4, false},
    {"InvoiceIssuerName", k1_0, k1_4, true},
    {"ListCost", k1_0, k1_4, true},
    {"ListUnitPrice", k1_0, k1_4, false},
    {"PricingCategory", k1_0, k1_4, false},
    {"PricingCurrency", k1_2, k1_4, false},
    {"PricingCurrencyContractedUnitPrice", k1_2, k1_4, false},
    {"PricingCurrencyEffectiveCost", k1_2, k1_4, false},
    {"PricingCurrencyListUnitPrice", k1_2, k1_4, false},
    {"PricingQuantity", k1_0, k1_4, true},
    {"PricingUnit", k1_0, k1_4, true},
    {"ProviderName", k1_0, k1_3, true},
    {"PublisherName", k1_0, k1_3, true},
    {"RegionId", k1_0, k1_4, false},
    {"RegionName", k1_0, k1_4, false},
    {"ResourceId", k1_0, k1_4, false},
    {"ResourceName", k1_0, k1_4, false},
    {"ResourceType", k1_0, k1_4, false},
    {"ServiceCategory", k1_0, k1_4, true},
    {"ServiceName", k1_0, k1_4, true},
    {"ServiceProviderName", k1_3, k1_4, true},
    {"ServiceSubcategory", k1_1, k1_4, false},
    {"SkuId", k1_0, k1_4, false},
    {"SkuMeter", k1_1, k1_4, false},
    {"SkuPriceDetails", k1_1, k1_4, false},
    {"SkuPriceId", k1_0, k1_4, false},
    {"SubAccountId", k1_0, k1_4, false},
    {"SubAccountName", k1_0, k1_4, false},
    {"SubAccountType", k1_2, k1_4, false},
    {"Tags", k1_0, k1_4, false},
};

constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
    {"InvoiceIssuer", "InvoiceIssuerName"},   // 0.5
    {"Provider", "ServiceProviderName"},      // 0.5
    {"ProviderName", "ServiceProviderName"},  // before 1.3
    {"Publisher", "PublisherName"},           // 0.5
    {"Region", "RegionId"},                   // before 1.0
    {"UsageQuantity", "ConsumedQuantity"},    // before 1.0
    {"UsageUnit", "ConsumedUnit"},            // before 1.0
};

// How much of a JSON document is looked at for names, and how long a name can be.
constexpr std::size_t kBeginningBytes = 65'536;
constexpr std::size_t kNameBytesMax = 64;

// In lower case, without spaces and underscores.
std::string letters_only(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != ' ' && c != '_') letters += ascii::to_lower(c);
  }
  return letters;
}

}  // namespace

std::string_view version_name(Version version) {
  switch (version) {
    case k1_0:
      return "1.0";
    case k1_1:
      return "1.1";
    case k1_2:
      return "1.2";
    case k1_3:
      return "1.3";
    case k1_4:
      return "1.4";
  }
  return "";
}

std::span<const Column> columns() { return kColumns; }

const Column* find_column(std::string_view name) {
  const auto at = std::ranges::lower_bound(kColumns, name, {}, &Column::name);
  return at != std::end(kColumns) && at->name == name ? at : nullptr;
}

Version detect_version(std::span<const std::string> names) {
  Version newest = k1_0;
  bool has_removed = false;
  for (const std::string& name : names) {
    const Column* column = find_column(name);
    if (column == nullptr) continue;
    newest = std::max(newest, column->since);
    has_removed = has_removed || column->until < k1_4;
  }
  return newest == k1_3 && !has_removed ? k1_4 : newest;
}

std::string_view current_name(std::string_view old_name) {
  for (const auto& [from, to] : kRenamed) {
    if (from == old_name) return to;
  }
  return {};
}

std::string_view focus_spelling(std::string_view name) {
  if (name.starts_with("x_") || name.starts_with("X_")) return {};
  const std::string letters = letters_only(name);
  const auto is_same = [&](std::string_view known) {
    return std::ranges::equal(letters, known,
                              [](char a, char b) { return a == ascii::to_lower(b); });
  };
  for (const Column& column : kColumns) {
    if (is_same(column.name)) return column.name;
  }
  for (const auto& [from, to] : kRenamed) {
    if (is_same(from)) return from;
  }
  return {};
}

bool is_focus_header(std::span<const std::string> names) {
  return std::ranges::any_of(names, [](const std::string& name) {
    const std::string_view column = focus_spelling(name);
    return column == "BilledCost" || column == "ChargePeriodStart";
  });
}

bool has_focus_records(std::string_view beginning) {
  bool has_period = false;
  bool has_amount = false;
  beginning = beginning.substr(0, kBeginningBytes);
  // A name is a text before a colon; texts with escapes are none of FOCUS's names.
  for (std::size_t open = beginning.find('"'); open != std::string_view::npos;) {
    const std::size_t close = beginning.find('"', open + 1);
    if (close == std::string_view::npos) break;
    const std::string_view name = beginning.substr(open + 1, close - open - 1);
    const std::size_t next = beginning.find_first_not_of(" \t\r\n", close + 1);
    const bool is_name = next != std::string_view::npos && beginning[next] == ':';
    if (is_name && name.size() <= kNameBytesMax) {
      const std::string_view column = focus_spelling(name);
      has_period = has_period || column == "ChargePeriodStart";
      has_amount = has_amount || column.ends_with("Cost") || column == "BillingPeriodStart" ||
                   column == "ConsumedQuantity" || column == "PricingQuantity";
    }
    if (has_period && has_amount) return true;
    open = beginning.find('"', close + 1);
  }
  return false;
}

RespelledHeader respell_header(const csv::Header& header) {
  RespelledHeader result{.header = header, .changed = {}};
  std::vector<std::string_view> names(header.names().begin(), header.names().end());
  for (std::string_view& name : names) {
    const std::string_view column = focus_spelling(name);
    const bool is_taken = header.find(column) || std::ranges::count(names, column) > 0;
    if (column.empty() || column == name || is_taken) continue;
    result.changed.emplace_back(name);
    name = column;
  }
  if (result.changed.empty()) return result;
  auto changed = csv::Header::of(names);
  CHECK(changed.has_value(), "a name is only given if no column has it");
  result.header = std::move(*changed);
  return result;
}

}  // namespace pennyweight::focus
