#include "ledger/work.h"

#include <algorithm>
#include <bit>

#include "core/check.h"
#include "core/date.h"

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr std::size_t kBits = 64;
const std::int64_t kDays = std::chrono::floor<days>(kInstantMax).time_since_epoch().count() + 1;

std::size_t index_of_day(sys_days day) {
  const std::int64_t count = day.time_since_epoch().count();
  return static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, kDays - 1));
}

std::string scope_name(const Scope& scope) {
  return (scope.cluster.empty() ? "(no cluster)" : scope.cluster.text()) + " " + scope.month;
}

}  // namespace

std::string_view to_text(InvalidationKind kind) {
  switch (kind) {
    case InvalidationKind::kCharges:
      return "lines";
    case InvalidationKind::kFleet:
      return "fleet";
    case InvalidationKind::kDay:
      return "day";
    case InvalidationKind::kCorrections:
      return "corrections";
  }
  CHECK(false, "every kind has its text");
}

std::optional<InvalidationKind> parse_invalidation_kind(std::string_view text) {
  for (const InvalidationKind kind : {InvalidationKind::kCharges, InvalidationKind::kFleet,
                                      InvalidationKind::kDay, InvalidationKind::kCorrections}) {
    if (text == to_text(kind)) return kind;
  }
  return std::nullopt;
}

Invalidation charge_invalidation(std::string_view month) {
  const auto day = parse_date(std::string(month) + "-01");
  CHECK(day, "a month is written as 2026-03");
  return {InvalidationKind::kCharges, ClusterId(""), *day};
}

void DaySet::add(sys_days first, sys_days last) {
  const std::size_t begin = index_of_day(first), end = index_of_day(std::max(first, last)) + 1;
  if (words_.size() * kBits < end) words_.resize((end + kBits - 1) / kBits);
  for (std::size_t at = begin; at < end;) {
    const std::size_t bit = at % kBits, count = std::min(kBits - bit, end - at);
    const std::uint64_t ones = count == kBits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    words_[at / kBits] |= ones << bit;
    at += count;
  }
}

std::vector<sys_days> DaySet::days() const {
  std::vector<sys_days> all;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(word));
      all.emplace_back(std::chrono::days(static_cast<std::int64_t>(i * kBits + bit)));
    }
  }
  return all;
}

void InvalidationCollector::add(Kind kind, const ClusterId& cluster) {
  days_[kind][cluster.text()].add(sys_days(), sys_days());
}

void InvalidationCollector::add(Kind kind, const ClusterId& cluster, const Interval& during) {
  days_[kind][cluster.text()].add(
      std::chrono::floor<days>(during.begin()),
      std::chrono::floor<days>(during.end() - std::chrono::milliseconds(1)));
}

// Only the day in which a span begins is invalidated. A span may end in the next day, but the time
// in which facts matter to that day's charges begins earlier.
void InvalidationCollector::add(const Usage& fact) {
  const auto day = std::chrono::floor<days>(fact.at);
  if (usage_day_ == day && usage_cluster_ == fact.cluster.text()) return;
  usage_day_ = day;
  usage_cluster_ = fact.cluster.text();
  days_[kUsages][usage_cluster_].add(day, day);
}

std::vector<Invalidation> InvalidationCollector::invalidations(const Created& created) const {
  const std::array<std::uint64_t, kKinds> counts = {created.holdings, created.nodes,
                                                    created.gpus,     created.usages,
                                                    created.outages,  created.corrections};
  std::set<Invalidation> all;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (counts[kind] == 0) continue;
    const InvalidationKind what = kind == kNodes || kind == kGpus ? InvalidationKind::kFleet
                                  : kind == kCorrections          ? InvalidationKind::kCorrections
                                                                  : InvalidationKind::kDay;
    for (const auto& [cluster, set] : days_[kind]) {
      for (const sys_days day : set.days()) all.insert({what, ClusterId(cluster), day});
    }
  }
  return {all.begin(), all.end()};
}

std::string claim_lost_message(const WorkClaim& mine, const WorkClaim& newest) {
  return "the claim " + std::to_string(mine.number) + " of " + scope_name(mine.scope) +
         " was taken over by " + newest.worker + " (claim " + std::to_string(newest.number) +
         "), so this run was not saved";
}

std::string run_superseded_message(const WorkClaim& mine, std::uint64_t current) {
  return "run " + std::to_string(current) + " of " + scope_name(mine.scope) +
         " was saved after the claim " + std::to_string(mine.number) +
         " was made, so this run was not saved; allocate it again";
}

}  // namespace pennyweight
