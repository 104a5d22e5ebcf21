#include "app/import/period_cells.h"

#include <chrono>

#include "app/import/delivered_lines.h"
#include "app/import/resource_naming.h"
#include "core/hash.h"
#include "core/instant.h"

namespace pennyweight {
namespace {

// A day that is an hour longer, where clocks go back.
constexpr std::uint64_t kDayMaxMs = 25 * 3'600'000;

PeriodCells::Month month_at(Instant at) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(at));
  return 12 * int{day.year()} + static_cast<int>(unsigned{day.month()}) - 1;
}

Int128 wrapped(Int128 a, Int128 b) {
  return static_cast<Int128>(static_cast<UInt128>(a) + static_cast<UInt128>(b));
}

}  // namespace

void PeriodCells::add(const Charge& charge) {
  const std::uint32_t account = number_of(charge);
  static thread_local Fingerprint print;
  print.clear();
  print.add(accounts_[account].first)
      .add(charge.costs.currency().text())
      .add(plain_resource(charge.resource_id))
      .add(plain_account(charge.sub_account_id))
      .add(charge.resource_id.empty() ? charge.service_name : std::string())
      .add(unix_ms(charge.charge_period.begin()))
      .add(charge.sku_id);
  const std::uint64_t hash = print.hash().low;
  if (!keeps(hash)) return;
  const bool is_usage = charge.charge_category == ChargeCategory::kUsage &&
                        charge.charge_frequency != ChargeFrequency::kRecurring &&
                        !charge.resource_id.empty() &&
                        charge.charge_period.length_ms() <= kDayMaxMs;
  const auto day = std::chrono::floor<std::chrono::days>(charge.charge_period.begin());
  const auto [found, is_new] =
      cells_.try_emplace(Key{hash, month_at(charge.billing_period.begin())},
                         Cell{.account = account,
                              .day = static_cast<std::int32_t>(day.time_since_epoch().count()),
                              .begins = month_at(charge.charge_period.begin()),
                              .ends = 0,
                              .is_usage = false,
                              .billed = 0,
                              .effective = 0});
  Cell& cell = found->second;
  cell.ends =
      std::max(cell.ends, month_at(charge.charge_period.end() - std::chrono::milliseconds(1)));
  cell.is_usage |= is_usage;
  cell.billed = wrapped(cell.billed, charge.costs.billed.ticks());
  cell.effective = wrapped(cell.effective, charge.costs.effective.ticks());
  if (cells_.size() <= cells_max_) return;
  mask_ = mask_ * 2 + 1;
  std::erase_if(cells_, [&](const auto& entry) { return !keeps(entry.first.charge); });
}

std::uint32_t PeriodCells::number_of(const Charge& charge) {
  if (!accounts_.empty() && last_account_ == charge.billing_account_id &&
      last_issuer_ == charge.invoice_issuer_name && last_currency_ == charge.costs.currency()) {
    return last_number_;
  }
  last_account_ = charge.billing_account_id;
  last_issuer_ = charge.invoice_issuer_name;
  last_currency_ = charge.costs.currency();
  const Account account(
      last_account_.empty() ? "issuer " + last_issuer_ : "account " + last_account_,
      last_currency_);
  const auto [found, is_new] =
      numbers_.try_emplace(account, static_cast<std::uint32_t>(accounts_.size()));
  if (is_new) accounts_.push_back(account);
  last_number_ = found->second;
  return last_number_;
}

}  // namespace pennyweight
