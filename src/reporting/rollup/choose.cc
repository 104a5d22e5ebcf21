#include "reporting/rollup/choose.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/try.h"
#include "reporting/rollup/fold_rows.h"
#include "reporting/rollup/workload_names.h"

namespace pennyweight::rollup {
namespace {

// A group and the amount by which it is put in order.
struct Candidate {
  Int128 amount;
  std::uint32_t group;
};
using Candidates = std::vector<Candidate>;

// What is surely among the first, and of which equal ones so many are.
struct TopCut {
  Numbers sure;
  Numbers equal;
  std::size_t of_equal = 0;
};

// The `count` largest; at least one.
TopCut cut_off(Candidates& candidates, std::size_t count) {
  TopCut cut;
  if (candidates.size() <= count) {
    for (const Candidate& candidate : candidates) cut.sure.push_back(candidate.group);
    return cut;
  }
  std::ranges::nth_element(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(count - 1),
                           std::ranges::greater(), &Candidate::amount);
  const Int128 last = candidates[count - 1].amount;
  for (const Candidate& candidate : candidates) {
    if (candidate.amount > last) cut.sure.push_back(candidate.group);
    if (candidate.amount == last) cut.equal.push_back(candidate.group);
  }
  cut.of_equal = count - cut.sure.size();
  if (cut.of_equal < cut.equal.size()) return cut;
  cut.sure.insert(cut.sure.end(), cut.equal.begin(), cut.equal.end());
  cut.equal.clear();
  cut.of_equal = 0;
  return cut;
}

Result<WorkloadNames> names_of(const Fold& fold, duckdb::Connection& connection,
                               std::span<const std::uint32_t> groups) {
  return WorkloadNames::load(connection, workloads_of(fold, groups));
}

// The owners of a bucket and currency.
struct OwnerGroup {
  Candidates owners;
  TopCut cut;
};
using OwnerGroupKey = std::pair<std::uint64_t, Number>;  // bucket, and the text of the currency

// REQUIRES: there are more owners than are chosen.
TopOwners::Remainder others_of(const Fold& fold, const OwnerGroup& part,
                               const std::vector<bool>& is_chosen) {
  Fold::Amounts sums{};
  std::uint64_t count = 0;
  for (const Candidate& owner : part.owners) {
    if (is_chosen[owner.group]) continue;
    const Fold::Amounts amounts = fold.amounts(owner.group);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += amounts[i];
    ++count;
  }
  return {sums_of(fold, part.owners.front().group, sums), count};
}

}  // namespace

SumSelection sums_for(const OwnersRequest& asked) {
  SumSelection wanted;
  for (const Cost cost : asked.costs) select_cost(wanted, cost);
  wanted.insert(wanted.end(), {kHeld, kIdle});
  return wanted;
}

Result<TopOwners> choose_owners(const Fold& fold, const OwnersRequest& asked,
                                duckdb::Connection& connection) {
  const QueryPlan& plan = fold.plan();
  std::map<OwnerGroupKey, OwnerGroup> parts;
  Numbers chosen;
  OwnerGroupKey last_key;
  OwnerGroup* last = nullptr;  // neighbours are mostly of one part
  for (std::uint32_t number = 0; number < fold.size(); ++number) {
    const Fold::Group group = fold.group(number);
    if (!plan.is_of_owner(group.facet)) {
      chosen.push_back(number);
      continue;
    }
    const OwnerGroupKey key(group.bucket, plan.facets.values[group.facet].back());
    if (last == nullptr || key != last_key) last = &parts[last_key = key];
    last->owners.push_back({asked.by_key ? 0 : fold.cost(number, asked.costs.front()), number});
  }
  Numbers equal;
  for (auto& [key, part] : parts) {
    part.cut = cut_off(part.owners, asked.count);
    chosen.insert(chosen.end(), part.cut.sure.begin(), part.cut.sure.end());
    equal.insert(equal.end(), part.cut.equal.begin(), part.cut.equal.end());
  }
  const RowOrder order(fold);
  if (!equal.empty()) {
    const auto names = TRY(names_of(fold, connection, equal));
    for (auto& [key, part] : parts) {
      order.sort(names, part.cut.equal);
      part.cut.equal.resize(part.cut.of_equal);
      chosen.insert(chosen.end(), part.cut.equal.begin(), part.cut.equal.end());
    }
  }
  const auto names = TRY(names_of(fold, connection, chosen));
  order.sort(names, chosen);
  TopOwners owners{rows_of(fold, names, chosen), {}};
  std::vector<bool> is_chosen(fold.size());
  for (const std::uint32_t number : chosen) is_chosen[number] = true;
  for (const auto& [key, part] : parts) {
    if (part.owners.size() > asked.count) {
      owners.others.push_back(others_of(fold, part, is_chosen));
    }
  }
  std::ranges::sort(owners.others,
                    [](const TopOwners::Remainder& a, const TopOwners::Remainder& b) {
                      if (a.sum.bucket != b.sum.bucket) return a.sum.bucket < b.sum.bucket;
                      return a.sum.costs.currency() < b.sum.costs.currency();
                    });
  return owners;
}

// ---- pages

namespace {

// The groups whose first key has the prefix.
Result<Numbers> beginning_with(const Fold& fold, const std::string& prefix,
                               duckdb::Connection& connection) {
  if (prefix.empty()) return all_of(fold);
  const QueryPlan& plan = fold.plan();
  const QueryPlan::Key& first = plan.keys.front();
  const bool by_id = first.origin == QueryPlan::Origin::kWorkload;
  std::vector<Number> begins;
  if (by_id) {
    auto found = TRY(workloads_beginning(connection, prefix));
    begins = std::move(found);
    std::ranges::sort(begins);
  }
  Numbers kept;
  for (std::uint32_t number = 0; number < fold.size(); ++number) {
    const Number value = value_of(plan, fold.group(number), first);
    if (by_id ? std::ranges::binary_search(begins, value)
              : plan.state.names.text(value).starts_with(prefix)) {
      kept.push_back(number);
    }
  }
  return kept;
}

// Which of them stands for a place; nothing: none does.
Result<std::optional<std::uint32_t>> group_at(const Fold& fold, const PageRequest::Cursor& place,
                                              std::span<const std::uint32_t> groups,
                                              duckdb::Connection& connection) {
  const QueryPlan& plan = fold.plan();
  if (place.keys.size() != plan.keys.size()) return std::nullopt;
  std::vector<Number> values;
  for (std::size_t i = 0; i < place.keys.size(); ++i) {
    if (plan.keys[i].origin == QueryPlan::Origin::kWorkload) {
      const auto ids = TRY(workloads_named(connection, {place.keys[i]}));
      if (ids.empty()) return std::nullopt;
      values.push_back(ids.front());
    } else {
      const auto text = plan.state.names.texts.find(std::string_view(place.keys[i]));
      if (!text) return std::nullopt;
      values.push_back(*text);
    }
  }
  for (const std::uint32_t number : groups) {
    const Fold::Group group = fold.group(number);
    bool is_it = true;
    for (std::size_t i = 0; i < values.size() && is_it; ++i) {
      is_it = value_of(plan, group, plan.keys[i]) == values[i];
    }
    if (is_it && currency_of(fold, group.facet) == place.currency) return number;
  }
  return std::nullopt;
}

Int128 amount_of(const Fold& fold, PageRequest::Order order, std::uint32_t group) {
  switch (order) {
    case PageRequest::Order::kEffective:
      return fold.cost(group, Cost::kEffective);
    case PageRequest::Order::kGpuTime:
      // Time is not negative, and has room to spare.
      return static_cast<Int128>(fold.amount(group, kHeld));
    case PageRequest::Order::kKey:
      return 0;
  }
  return 0;
}

// Takes out of `candidates` what is not after a group: before it all that is larger, and what is
// equal and has an earlier key. Gives those that are equal and later, in their order.
Result<Numbers> after(const Fold& fold, const RowOrder& in_order, PageRequest::Order order,
                      std::uint32_t group, Candidates& candidates, duckdb::Connection& connection) {
  const Int128 amount = amount_of(fold, order, group);
  Numbers equal;
  for (const Candidate& candidate : candidates) {
    if (candidate.amount == amount) equal.push_back(candidate.group);
  }
  std::erase_if(candidates, [&](const Candidate& one) { return one.amount >= amount; });
  if (equal.size() > 1) {
    const auto names = TRY(names_of(fold, connection, equal));
    in_order.sort(names, equal);
  }
  equal.erase(equal.begin(), std::ranges::find(equal, group) + 1);
  return equal;
}

}  // namespace

SumSelection sums_for(const PageRequest& asked) {
  switch (asked.order) {
    case PageRequest::Order::kEffective:
      return {0};
    case PageRequest::Order::kGpuTime:
      return {0, kHeld};
    case PageRequest::Order::kKey:
      return every_sum();
  }
  return every_sum();
}

Result<RowPage> choose_page(const Fold& fold, const PageRequest& asked,
                            duckdb::Connection& connection) {
  const auto groups = TRY(beginning_with(fold, asked.prefix, connection));
  RowPage page{.rows = {}, .all = groups.size()};
  if (asked.all_or_none && page.all > asked.count) {
    page.has_more = true;
    return page;
  }
  Candidates candidates;
  candidates.reserve(groups.size());
  for (const std::uint32_t number : groups) {
    candidates.push_back({amount_of(fold, asked.order, number), number});
  }
  const RowOrder order(fold);
  Numbers chosen;
  if (asked.after) {
    const auto group = group_at(fold, *asked.after, groups, connection);
    if (!group) return std::unexpected(group.error());
    if (!*group) {
      page.is_lost = true;
      return page;
    }
    auto equal = TRY(after(fold, order, asked.order, **group, candidates, connection));
    chosen = std::move(equal);
  }
  page.has_more = chosen.size() + candidates.size() > asked.count;
  chosen.resize(std::min<std::size_t>(chosen.size(), asked.count));
  if (chosen.size() < asked.count && !candidates.empty()) {
    TopCut cut = cut_off(candidates, asked.count - chosen.size());
    chosen.insert(chosen.end(), cut.sure.begin(), cut.sure.end());
    if (!cut.equal.empty()) {
      const auto names = TRY(names_of(fold, connection, cut.equal));
      order.sort(names, cut.equal);
      cut.equal.resize(cut.of_equal);
      chosen.insert(chosen.end(), cut.equal.begin(), cut.equal.end());
    }
  }
  const auto names = TRY(names_of(fold, connection, chosen));
  order.sort(names, chosen);
  std::ranges::stable_sort(chosen, std::ranges::greater(), [&](std::uint32_t group) {
    return amount_of(fold, asked.order, group);
  });
  page.rows = rows_of(fold, names, chosen);
  return page;
}

}  // namespace pennyweight::rollup
