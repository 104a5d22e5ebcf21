#include "ingest/bills/row_money.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ascii.h"
#include "ingest/bills/number.h"
#include "ledger/bill_statement.h"
#include "ledger/store_rules.h"

namespace pennyweight::bill {
namespace {

constexpr int kFaultsReplacedMax = 8;

// "lineItem/UnblendedCost" and "line_item_unblended_cost" → "lineitemunblendedcost".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
    if (c >= 'A' && c <= 'Z') plain += ascii::to_lower(c);
  }
  return plain;
}

// The cost columns of the providers' bills, and the currencies beside them.
constexpr std::array<std::string_view, 8> kCostNames = {"billedcost",
                                                        "costinbillingcurrency",
                                                        "lineitemnetunblendedcost",
                                                        "lineitemunblendedcost",
                                                        "splitlineitemsplitcost",
                                                        "pretaxcost",
                                                        "costmycost",
                                                        "cost"};
constexpr std::array<std::string_view, 6> kCurrencyNames = {
    "billingcurrency",  "billingcurrencycode", "lineitemcurrencycode",
    "costcurrencycode", "currencycode",        "currency"};

template <std::size_t N>
std::string_view first_text(const csv::Header& header, const TextRow& row,
                            const std::array<std::string_view, N>& names) {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (plain_name(header.names()[i]) != name) continue;
      const std::string_view text = ascii::trim(row.fields[i], " \t");
      if (!text.empty()) return text;
    }
  }
  return {};
}

}  // namespace

bool decides_amounts(std::string_view column) {
  constexpr std::array<std::string_view, 10> kWords = {
      "cost",     "amount",   "unitprice", "rate",       "credit",
      "quantity", "currency", "itemtype",  "chargetype", "pricingmodel"};
  const std::string plain = plain_name(column);
  return std::ranges::any_of(kWords, [&](std::string_view word) { return plain.contains(word); });
}

bool decides_identity(std::string_view column) {
  constexpr std::array<std::string_view, 11> kWords = {
      "accountid",     "subscriptionid", "tenantid",     "compartmentid",
      "projectid",     "exporttime",     "referenceno",  "referencenumber",
      "billingperiod", "invoicemonth",   "invoiceissuer"};
  const std::string plain = plain_name(column);
  return std::ranges::any_of(kWords, [&](std::string_view word) { return plain.contains(word); });
}

void RowMoney::remember_good_row(const TextRow& row) {
  if (!good_fields_.empty()) return;
  good_fields_.assign(row.fields.begin(), row.fields.end());
  good_quoted_.assign(row.quoted.begin(), row.quoted.end());
}

std::optional<std::size_t> RowMoney::position_of(std::string_view column) const {
  if (const auto exact = header_.find(column)) return exact;
  const std::string plain = plain_name(column);
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (plain_name(header_.names()[i]) == plain) return i;
  }
  return std::nullopt;
}

MeasuredRow RowMoney::measure(const TextRow& row, const RowFault& fault) {
  if (good_fields_.empty() || row.fields.size() != header_.size()) return {};
  if (reader_ == nullptr) {
    auto opened = open_reader_(header_);
    if (!opened) return {};
    reader_ = std::move(*opened);
  }
  std::vector<std::string_view> fields(row.fields.begin(), row.fields.end());
  std::vector<std::uint8_t> quoted(row.quoted.begin(), row.quoted.end());
  RowFault found = fault;
  std::vector<std::size_t> replaced;
  for (int round = 0; round < kFaultsReplacedMax; ++round) {
    if (found.column.empty() || decides_amounts(found.column)) return {};
    const auto at = position_of(found.column);
    if (!at || std::ranges::find(replaced, *at) != replaced.end()) return {};
    replaced.push_back(*at);
    fields[*at] = good_fields_[*at];
    quoted[*at] = good_quoted_[*at];
    charges_.truncate(0);
    RowOutcome outcome = reader_->read({fields, quoted}, charges_);
    if (outcome.fault) {
      found = std::move(*outcome.fault);
      continue;
    }
    if (outcome.skipped || charges_.size() == 0) return {};
    MeasuredRow measured;
    for (const Charge& charge : charges_.all()) {
      if (!measured.costs) {
        measured.costs = charge.costs;
      } else if (!add_costs(*measured.costs, charge.costs)) {
        return {};
      }
    }
    const bool dates_are_its_own = std::ranges::none_of(replaced, [&](std::size_t i) {
      const std::string name = plain_name(header_.names()[i]);
      return name.contains("period") || name.contains("date") || name.contains("month") ||
             name.contains("time");
    });
    if (dates_are_its_own) measured.month = month_of(charges_.all()[0].billing_period.begin());
    return measured;
  }
  return {};
}

std::optional<Costs> RowMoney::own_cost(const TextRow& row) const {
  const auto currency = Currency::parse(first_text(header_, row, kCurrencyNames));
  if (!currency) return std::nullopt;
  const std::string_view text = first_text(header_, row, kCostNames);
  if (text.empty()) return Costs::zero(*currency);
  const auto amount = parse_printed_number(text);
  if (!amount) return std::nullopt;
  const Money money = Money::from_decimal(amount->value, *currency);
  return Costs{money, money, money, money};
}

}  // namespace pennyweight::bill
