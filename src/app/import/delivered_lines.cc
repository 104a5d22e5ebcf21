#include "app/import/delivered_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/import/resource_naming.h"
#include "core/ascii.h"
#include "ledger/account_in_scope.h"
#include "ledger/delivery.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

// In LineGroup::by_length.
std::size_t length_class(std::uint64_t ms) {
  constexpr std::uint64_t kHourMs = 3'600'000, kDayMs = 24 * kHourMs;
  return ms <= kHourMs ? 0 : ms <= kDayMs ? 1 : 2;
}

void add_size(Int128& size, const CellSum& sum) {
  size = static_cast<Int128>(static_cast<UInt128>(size) + static_cast<UInt128>(sum.size()));
}

void add_days(DaySums& sum, const DaySums& more) {
  for (const auto& [day, cell] : more) sum[day].add(cell);
}

void add_lines(LinesOfLength& sum, const LinesOfLength& more) {
  add_days(sum.days, more.days);
  sum.resource_days.add(more.resource_days);
  sum.resources.add(more.resources);
  sum.services.add(more.services);
  for (std::size_t i = 0; i < kResourceNamings; ++i) sum.named[i] += more.named[i];
}

void add_subject(Fingerprint& print, const Charge& charge, const std::string& resource) {
  print.add(resource);
  if (is_unique_everywhere(resource)) return;
  print.add(plain_account(charge.sub_account_id.empty() ? charge.billing_account_id
                                                        : charge.sub_account_id));
  if (resource.empty()) {
    print.add(plain_account(charge.billing_account_id)).add(charge.service_name);
  }
}

}  // namespace

bool are_of_two_clouds(const LineGroupKey& a, const LineGroupKey& b) {
  return !a.cloud.empty() && !b.cloud.empty() && a.cloud != b.cloud;
}

std::string plain_account(std::string_view account) {
  return ascii::lower_case(account.substr(account.find_last_of('/') + 1));
}

std::string whole_scope(const Charge& charge) {
  std::string scope = delivery_scope(charge);
  const std::string_view part = other_column_text(charge, kDeliveryPartColumn);
  if (!part.starts_with(kPartPrefix)) return scope;
  const std::string label = fmt::format(" part {}", part);
  const std::size_t at = scope.find(label);
  return at == std::string::npos ? scope : scope.erase(at, label.size());
}

void DeliveredLines::add(const Charge& charge) {
  const std::string part(other_column_text(charge, kDeliveryPartColumn));
  LineGroup& group = group_of(charge, part);
  ++group.lines;
  if (!add_costs(group.costs, charge.costs)) group.overflowed = true;
  const bool identified = has_line_identity(charge);
  group.has_line_identity |= identified;
  if (charge.import_number > 0) ++group.imports[charge.import_number];
  if (identified || last_scope_.empty()) {
    last_scope_ = delivery_scope(charge);
    scopes_.insert(hash_of(last_scope_).low);
    whole_scopes_.insert(hash_of(whole_scope(charge)).low);
  }
  const CellSum sum = {.lines = 1,
                       .named = charge.resource_id.empty() ? 0u : 1u,
                       .billed = charge.costs.billed.ticks(),
                       .effective = charge.costs.effective.ticks()};
  const auto day = std::chrono::floor<std::chrono::days>(charge.charge_period.begin());
  group.days[day].add(sum);
  LinesOfLength& of_length = group.by_length[length_class(charge.charge_period.length_ms())];
  of_length.days[day].add(sum);
  group.by_resource[charge.resource_id.empty() ? 0 : 1][day].add(sum);
  contents_.add(content_hash(charge).low, sum);
  if (identified && has_line_number(charge)) numbers_.add(hash_of(last_scope_).low, sum);
  if (!is_own_export_) is_own_export_ = !other_column_text(charge, "x_PostingKind").empty();
  if (sum.is_zero()) return;

  static thread_local Fingerprint print, account_print;
  print.clear();
  const std::string resource = plain_resource(charge.resource_id);
  const auto naming = static_cast<std::size_t>(naming_of(resource));
  add_size(group.named[naming], sum);
  add_size(of_length.named[naming], sum);
  if (!charge.service_name.empty()) {
    of_length.services.add(hash_of(charge.service_name).low, sum);
  }
  add_subject(print, charge, resource);
  const std::size_t subject = print.size();
  if (!charge.resource_id.empty()) {
    of_length.resources.add(print.hash().low, sum);
    print.add(charge.costs.currency().text()).add(std::int64_t{day.time_since_epoch().count()});
    const std::uint64_t resource_day = print.hash().low;
    resource_days_.add(resource_day, sum);
    of_length.resource_days.add(resource_day, sum);
    print.cut(subject);
  }
  if (!resource.empty() && !is_unique_everywhere(resource)) {
    account_print.clear();
    account_print.add(resource)
        .add(plain_account(charge.billing_account_id))
        .add(charge.costs.currency().text())
        .add(std::int64_t{day.time_since_epoch().count()});
    account_resources_.add(account_print.hash().low, sum);
  }
  // Without the currency: an amount in another one, digit for digit, is the same amount
  // mislabelled.
  print.add(unix_ms(charge.charge_period.begin()))
      .add(charge.sku_id)
      .add(to_text(charge.costs.billed.amount()))
      .add(to_text(charge.costs.effective.amount()));
  lines_.add(print.hash().low, sum);
}

LineGroup& DeliveredLines::group_of(const Charge& charge, const std::string& part) {
  if (last_group_ != nullptr && last_begin_ == charge.billing_period.begin() &&
      last_currency_ == charge.costs.currency() && last_account_ == charge.billing_account_id &&
      last_issuer_ == charge.invoice_issuer_name &&
      last_provider_ == charge.service_provider_name && last_sub_ == charge.sub_account_id &&
      last_part_ == part) {
    return *last_group_;
  }
  const Currency currency = charge.costs.currency();
  const auto [found, is_new] = groups_.try_emplace(
      LineGroupKey{account_scope(charge), account_in_scope(charge, charge.sub_account_id), part,
                   std::string(cloud_of(charge)), currency},
      LineGroup{.lines = 0,
                .costs = Costs::zero(currency),
                .overflowed = false,
                .has_line_identity = false,
                .days = {},
                .by_length = {},
                .by_resource = {},
                .named = {},
                .imports = {},
                .billing_account_id = charge.billing_account_id,
                .issuers = {}});
  found->second.issuers.insert(charge.invoice_issuer_name);
  last_begin_ = charge.billing_period.begin();
  last_currency_ = currency;
  last_account_ = charge.billing_account_id;
  last_issuer_ = charge.invoice_issuer_name;
  last_provider_ = charge.service_provider_name;
  last_sub_ = charge.sub_account_id;
  last_part_ = part;
  last_scope_.clear();
  last_group_ = &found->second;
  return *last_group_;
}

void DeliveredLines::merge_file(const DeliveredLines& file) {
  Repeated repeated;
  file.contents_.each_common(contents_, [&](const CellSum& mine, const CellSum& theirs) {
    if (mine.named == 0 || mine.is_zero() || mine.lines != theirs.lines) return;
    ++repeated.different;
    repeated.lines += mine.lines;
    repeated.size += mine.size();
  });
  const std::uint64_t sampled = std::max(file.contents_.sampled(), contents_.sampled());
  repeated.lines *= sampled;
  repeated.size *= static_cast<std::int64_t>(sampled);
  if (repeated.different > between_files_.different) between_files_ = repeated;
  merge(file);
}

void DeliveredLines::merge(const DeliveredLines& other) {
  last_group_ = nullptr;
  for (const auto& [key, group] : other.groups_) {
    const auto [found, is_new] = groups_.try_emplace(key, group);
    if (is_new) continue;
    LineGroup& sum = found->second;
    sum.lines += group.lines;
    sum.overflowed |= group.overflowed || !add_costs(sum.costs, group.costs);
    sum.has_line_identity |= group.has_line_identity;
    add_days(sum.days, group.days);
    for (std::size_t i = 0; i < group.by_length.size(); ++i) {
      add_lines(sum.by_length[i], group.by_length[i]);
    }
    for (std::size_t i = 0; i < group.by_resource.size(); ++i) {
      add_days(sum.by_resource[i], group.by_resource[i]);
    }
    for (std::size_t naming = 0; naming < kResourceNamings; ++naming) {
      sum.named[naming] += group.named[naming];
    }
    for (const auto& [number, lines] : group.imports) sum.imports[number] += lines;
    sum.issuers.insert(group.issuers.begin(), group.issuers.end());
  }
  scopes_.insert(other.scopes_.begin(), other.scopes_.end());
  whole_scopes_.insert(other.whole_scopes_.begin(), other.whole_scopes_.end());
  lines_.add(other.lines_);
  resource_days_.add(other.resource_days_);
  account_resources_.add(other.account_resources_);
  contents_.add(other.contents_);
  numbers_.add(other.numbers_);
  is_own_export_ |= other.is_own_export_;
}

std::set<std::string> DeliveredLines::months() const {
  std::set<std::string> months;
  for (const auto& [key, group] : groups_) months.insert(key.month());
  return months;
}

bool DeliveredLines::has_whole_scope(std::string_view scope) const {
  return whole_scopes_.contains(hash_of(scope).low);
}

bool DeliveredLines::has_scope(std::string_view scope) const {
  return scopes_.contains(hash_of(scope).low);
}

}  // namespace pennyweight
