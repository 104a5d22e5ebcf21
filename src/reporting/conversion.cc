#include "reporting/conversion.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <tuple>
#include <utility>

#include "core/billing_period.h"
#include "core/check.h"
#include "core/try.h"
#include "reporting/minor_unit.h"

namespace pennyweight {
namespace {

constexpr std::string_view kMonth = "month";

using Bucket = std::optional<std::chrono::sys_days>;

Result<Date> last_day_of_month(const std::string& month) {
  const auto period = TRY(BillingPeriod::parse(month, TimeZone::utc()));
  return std::chrono::floor<std::chrono::days>(period.to_interval().end()) - std::chrono::days(1);
}

Result<Costs> convert_costs(const Costs& costs, const FoundRate& rate) {
  Costs out = Costs::zero(rate.to);
  const std::pair<const Money&, Money&> amounts[] = {{costs.billed, out.billed},
                                                     {costs.effective, out.effective},
                                                     {costs.list, out.list},
                                                     {costs.contracted, out.contracted}};
  for (const auto& [from, to] : amounts) {
    const auto converted = TRY(convert_at(from, rate));
    to = converted.amount;
  }
  return out;
}

// Finds each rate once and sums the amounts it is applied to.
class Converter {
 public:
  Converter(const ExchangeRates& rates, const ConversionRequest& request)
      : rates_(rates), request_(request) {}

  Result<Costs> convert(const Costs& costs, const std::string& month) {
    if (costs.currency() == request_.to) return costs;
    const auto on = TRY(request_.on ? Result<Date>(*request_.on) : last_day_of_month(month));
    const auto used = TRY(use(costs.currency(), on));
    auto converted = convert_costs(costs, used->rate);
    if (!converted) return std::unexpected(converted.error());
    used->before += costs;
    used->after += *converted;
    return converted;
  }

  std::vector<UsedRate> take() {
    std::vector<UsedRate> all;
    for (auto& [key, used] : used_) all.push_back(std::move(used));
    return all;
  }

 private:
  Result<UsedRate*> use(Currency from, Date on) {
    const auto at = used_.find({on, from});
    if (at != used_.end()) return &at->second;
    auto found = TRY(rates_.rate_on(from, request_.to, on, request_.search));
    UsedRate used{on, std::move(found), Costs::zero(from), Costs::zero(request_.to)};
    return &used_.emplace(std::pair(on, from), std::move(used)).first->second;
  }

  const ExchangeRates& rates_;
  const ConversionRequest& request_;
  std::map<std::pair<Date, Currency>, UsedRate> used_;
};

void add(SummaryRow& sum, const SummaryRow& row) {
  sum.costs += row.costs;
  sum.gpu_time += row.gpu_time;
  sum.idle_time += row.idle_time;
  sum.memory_time += row.memory_time;
  sum.observed_time += row.observed_time;
  sum.postings += row.postings;
}

}  // namespace

std::vector<std::string> converted_group_by(std::vector<std::string> group_by) {
  group_by.insert(group_by.begin(), std::string(kMonth));
  return group_by;
}

Result<ConvertedRows> convert_rows(std::span<const SummaryRow> rows, const ExchangeRates& rates,
                                   const ConversionRequest& request) {
  Converter converter(rates, request);
  std::map<std::pair<Bucket, std::vector<std::string>>, SummaryRow> by_key;
  for (const SummaryRow& row : rows) {
    CHECK(!row.keys.empty(), "grouped by converted_group_by()");
    auto costs = TRY(converter.convert(row.costs, row.keys.front()));
    SummaryRow converted = row;
    converted.costs = costs;
    converted.keys.erase(converted.keys.begin());
    const auto key = std::pair(converted.bucket, converted.keys);
    const auto [at, is_new] = by_key.try_emplace(key, converted);
    if (!is_new) add(at->second, converted);
  }
  ConvertedRows out;
  for (auto& [key, row] : by_key) out.rows.push_back(std::move(row));
  out.rates = converter.take();
  return out;
}

Costs sum_costs(std::span<const SummaryRow> rows, Currency currency) {
  Costs sum = Costs::zero(currency);
  for (const SummaryRow& row : rows) sum += row.costs;
  return sum;
}

std::vector<std::string> rate_footnotes(std::span<const UsedRate> rates) {
  std::vector<std::string> notes;
  for (const UsedRate& used : rates) {
    notes.push_back(fmt::format("{} {} at {}: {}", used.rate.from.text(),
                                format_minor(used.before.effective), to_text(used.on),
                                to_text(used.rate)));
  }
  return notes;
}

}  // namespace pennyweight
