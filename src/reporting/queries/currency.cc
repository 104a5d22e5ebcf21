#include "reporting/queries/currency.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/try.h"

namespace pennyweight {

CurrencyConversion::CurrencyConversion(Currency to, RatesSource rates, RateSearch search)
    : to_(to), source_(std::move(rates)), search_(search) {}

Result<const ExchangeRates*> CurrencyConversion::rates_for(const Currency& foreign) {
  if (!rates_) {
    auto loaded = TRY(source_(foreign));
    rates_ = std::move(loaded);
  }
  return &*rates_;
}

void CurrencyConversion::remember(std::span<const UsedRate> used) {
  for (const UsedRate& one : used) {
    used_.try_emplace({one.on, one.rate.from}, to_text(one.rate));
  }
}

Result<std::vector<SummaryRow>> CurrencyConversion::convert(std::span<const SummaryRow> rows) {
  const auto foreign = std::ranges::find_if(
      rows, [&](const SummaryRow& row) { return row.costs.currency() != to_; });
  static const ExchangeRates kNone;
  const ExchangeRates* rates = &kNone;
  if (foreign != rows.end()) {
    const auto loaded = TRY(rates_for(foreign->costs.currency()));
    rates = loaded;
  }
  auto converted =
      TRY(convert_rows(rows, *rates, {.to = to_, .on = std::nullopt, .search = search_}));
  remember(converted.rates);
  return std::move(converted.rows);
}

Result<Money> CurrencyConversion::convert(const Money& amount, const std::string& month) {
  SummaryRow row{.bucket = std::nullopt,
                 .keys = {month},
                 .costs = Costs::zero(amount.currency()),
                 .gpu_time = {},
                 .idle_time = {},
                 .memory_time = {},
                 .observed_time = {},
                 .postings = 0};
  row.costs.effective = amount;
  const auto rows = TRY(convert(std::span(&row, 1)));
  return rows.front().costs.effective;
}

std::vector<std::string> CurrencyConversion::used(std::optional<Date> since) const {
  std::vector<std::string> all;
  for (const auto& [key, text] : used_) {
    if (!since || key.first >= *since) all.push_back(text);
  }
  return all;
}

std::vector<std::string> CurrencyConversion::newest() const {
  std::map<Currency, std::string> by_currency;
  for (const auto& [key, text] : used_) by_currency.insert_or_assign(key.second, text);
  std::vector<std::string> all;
  for (auto& [currency, text] : by_currency) all.push_back(std::move(text));
  return all;
}

SummarySource convert_source(SummarySource summarise, CurrencyConversion& conversion) {
  return [summarise = std::move(summarise),
          &conversion](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
    auto rows = TRY(summarise(query));
    const bool is_converted = std::ranges::all_of(
        rows, [&](const SummaryRow& row) { return row.costs.currency() == conversion.to(); });
    if (is_converted) return rows;
    SummaryQuery by_month = query;
    by_month.group_by = converted_group_by(query.group_by);
    const auto booked = TRY(summarise(by_month));
    return conversion.convert(booked);
  };
}

std::vector<std::string> rate_currencies(const ExchangeRates& rates) {
  std::set<std::string> codes;
  for (const ExchangeRate& rate : rates.rates()) {
    codes.emplace(rate.from.text());
    codes.emplace(rate.to.text());
  }
  return {codes.begin(), codes.end()};
}

}  // namespace pennyweight
