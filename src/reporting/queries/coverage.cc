#include "reporting/queries/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/try.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

// Groups of workloads beyond this many are merged into one.
constexpr std::size_t kGroupsMax = 10'000;
constexpr std::size_t kLabelsShown = 6;
constexpr const char* kOtherGroups = "(others)";

using HasGpus = std::function<bool(std::string_view)>;

std::vector<SummaryFilter> month_filters(const std::string& month) {
  if (month.empty()) return {};
  return {{"month", {month}, false}};
}

// The filters of the month and the scope.
std::vector<SummaryFilter> base_filters(const CoverageQuery& params) {
  std::vector<SummaryFilter> filters = month_filters(params.month);
  filters.insert(filters.end(), params.scope.begin(), params.scope.end());
  return filters;
}

// Selects GPU postings of workloads without a value of the dimension.
std::vector<SummaryFilter> unlabelled_filters(const CoverageQuery& params,
                                              const CoveredDimension& dimension) {
  std::vector<SummaryFilter> filters = base_filters(params);
  filters.push_back({"component", {"gpu"}, false});
  filters.push_back({"workload", {""}, true});
  filters.push_back({"kind", {"used", "held_idle"}, false});
  std::vector<std::string> values = {""};
  if (!dimension.fallback.empty()) values.push_back(dimension.fallback);
  filters.push_back({dimension.name, std::move(values), false});
  return filters;
}

// Charges without a posting.
struct UnpostedCosts {
  std::map<Currency, Money> gpu, other;
  std::map<Currency, Money> lines;  // all charges of the ledger

  static void add(std::map<Currency, Money>& sums, Money amount) {
    sums.try_emplace(amount.currency(), Money::zero(amount.currency())).first->second += amount;
  }
  static std::vector<Money> values(const std::map<Currency, Money>& sums) {
    std::vector<Money> all;
    for (const auto& [currency, amount] : sums) all.push_back(amount);
    return all;
  }
};

Result<UnpostedCosts> unposted_lines(Store& store, const std::string& month,
                                     const HasGpus& has_gpus) {
  UnpostedCosts found;
  const auto totals = TRY(store.reconcile(month, true, [&](const LineCheck& line) {
    if (line.postings > 0) return true;
    UnpostedCosts::add(is_gpu_charge(line.charge, has_gpus) ? found.gpu : found.other,
                       line.charge.costs.effective);
    return true;
  }));
  for (const ReconcileTotals& total : totals) {
    UnpostedCosts::add(found.lines, total.billed_lines.effective);
  }
  return found;
}

// Cost of unlabelled workloads, by their namespace, account or partition.
class UnlabelledGroups {
 public:
  void add(const ClusterId& cluster, const SummaryRow& row, const Labels* labels) {
    const std::string in = cluster.empty() ? "(no cluster)" : cluster.text();
    std::string name = in + ": " + group_name(row.keys[1], labels);
    const Money amount = row.costs.effective;
    if (groups_.size() >= kGroupsMax && !groups_.contains({amount.currency(), name})) {
      name = kOtherGroups;
    }
    Group& group =
        groups_
            .try_emplace(
                {amount.currency(), name},
                Group{.effective = Money::zero(amount.currency()), .postings = 0, .labels = {}})
            .first->second;
    group.effective += amount;
    group.postings += row.postings;
    if (labels == nullptr) return;
    for (const auto& [key, value] : labels->entries()) {
      if (!value.empty() && group.labels.size() < 64) group.labels.insert(key);
    }
  }

  std::vector<CoverageGap> largest(const std::string& dimension, std::uint64_t top) const {
    std::vector<CoverageGap> all;
    for (const auto& [key, group] : groups_) {
      all.push_back({.dimension = dimension,
                     .reason = GapReason::kNoLabel,
                     .subject = key.second,
                     .remark = label_list(group.labels),
                     .effective = group.effective,
                     .postings = group.postings});
    }
    return take_largest(std::move(all), top);
  }

  // The `top` largest of each currency, largest first.
  static std::vector<CoverageGap> take_largest(std::vector<CoverageGap> all, std::uint64_t top) {
    std::ranges::stable_sort(all, [](const CoverageGap& a, const CoverageGap& b) {
      if (a.effective.currency() != b.effective.currency()) {
        return a.effective.currency() < b.effective.currency();
      }
      return a.effective.ticks() > b.effective.ticks();
    });
    std::map<Currency, std::uint64_t> shown;
    std::erase_if(all,
                  [&](const CoverageGap& gap) { return ++shown[gap.effective.currency()] > top; });
    return all;
  }

 private:
  struct Group {
    Money effective;
    std::uint64_t postings = 0;
    std::set<std::string> labels;
  };

  // The workload's namespace, account or partition, if known.
  static std::string group_name(const std::string& workload, const Labels* labels) {
    if (workload.starts_with('(')) return "given by a rule " + workload;
    for (const char* key : {"namespace", "account", "partition"}) {
      if (labels == nullptr) break;
      const auto value = labels->find(key);
      if (value && !value->empty()) return std::string(key) + " " + std::string(*value);
    }
    const std::size_t slash = workload.find('/');
    if (slash != std::string::npos) return "namespace " + workload.substr(0, slash);
    return "workloads without an account";
  }

  static std::string label_list(const std::set<std::string>& labels) {
    std::string text;
    std::size_t shown = 0;
    for (const std::string& label : labels) {
      if (shown++ == kLabelsShown) return text + ", …";
      text += (text.empty() ? "" : ", ") + label;
    }
    return text.empty() ? "none" : text;
  }

  std::map<std::pair<Currency, std::string>, Group> groups_;
};

Result<void> add_day(Store& store, SummaryQuery query, std::chrono::sys_days day,
                     UnlabelledGroups& groups) {
  query.bucket = TimeBucket::kNone;
  query.first_day = day;
  query.last_day = day;
  query.group_by = {"cluster", "workload"};
  const auto rows = TRY(store.summarise(query));
  std::map<ClusterId, std::unordered_map<std::string, const SummaryRow*>> wanted;
  for (const SummaryRow& row : rows) wanted[ClusterId(row.keys[0])][row.keys[1]] = &row;
  // A local day is within these hours of the day in UTC, wherever it is.
  const Interval around(Instant(day) - std::chrono::hours(14),
                        Instant(day) + std::chrono::hours(38));
  for (auto& [cluster, workloads] : wanted) {
    std::unordered_map<std::string, Labels> labels;  // never iterated
    TRY(store.scan_holdings(cluster, around, [&](std::span<const Holding> batch) {
      for (const Holding& holding : batch) {
        if (workloads.contains(holding.workload.text())) {
          labels.try_emplace(holding.workload.text(), holding.labels);
        }
      }
      return true;
    }));
    // In the store's order: a hash map's would be random.
    for (const SummaryRow& row : rows) {
      if (row.keys[0] != cluster.text()) continue;
      const auto found = labels.find(row.keys[1]);
      groups.add(cluster, row, found == labels.end() ? nullptr : &found->second);
    }
  }
  return {};
}

Result<std::vector<CoverageGap>> unlabelled_gaps(Store& store, const CoverageQuery& params,
                                                 const CoveredDimension& dimension) {
  SummaryQuery query;
  query.filters = unlabelled_filters(params, dimension);
  query.bucket = TimeBucket::kDay;
  const auto days = TRY(store.summarise(query));
  std::set<std::chrono::sys_days> each;
  for (const SummaryRow& row : days) each.insert(*row.bucket);
  UnlabelledGroups groups;
  for (const std::chrono::sys_days day : each) {
    TRY(add_day(store, query, day, groups));
  }
  return groups.largest(dimension.name, params.top);
}

Result<std::vector<CoverageGap>> unjoined_gaps(Store& store, const CoverageQuery& params,
                                               const HasGpus& has_gpus) {
  SummaryQuery query;
  query.filters = month_filters(params.month);
  query.filters.push_back({"component", {"whole"}, false});
  query.filters.push_back({"kind", {"shared"}, false});
  query.filters.push_back({"instance_type", {""}, true});
  query.filters.push_back({"category", {"Usage", "Adjustment", "Credit"}, false});
  query.group_by = {"resource", "instance_type", "service"};
  const auto rows = TRY(store.summarise(query));
  std::vector<CoverageGap> all;
  for (const SummaryRow& row : rows) {
    if (!has_gpus(row.keys[1]) || row.costs.effective.is_zero()) continue;
    all.push_back({.dimension = "",
                   .reason = GapReason::kNoNode,
                   .subject = (row.keys[0].empty() ? "(no resource)" : row.keys[0]) + " (" +
                              row.keys[1] + ")",
                   .remark = row.keys[2],
                   .effective = row.costs.effective,
                   .postings = row.postings});
  }
  return UnlabelledGroups::take_largest(std::move(all), params.top);
}

Result<void> check_totals(std::span<const Coverage> coverage,
                          const std::map<Currency, Money>& lines) {
  for (const Coverage& one : coverage) {
    const auto total = lines.find(one.spend.currency());
    const Money want = total == lines.end() ? Money::zero(one.spend.currency()) : total->second;
    if (one.ledger_total() == want) continue;
    return fail(ErrorCode::kConflict,
                "the postings do not add up to the bill lines; 'pennyweight reconcile' lists the "
                "differences, and 'pennyweight allocate' posts what is missing");
  }
  return {};
}

}  // namespace

Result<std::vector<CoveredDimension>> covered_dimensions(const std::vector<std::string>& names,
                                                         const Policy& policy) {
  const auto known = TRY(parse_dimensions(names, policy));
  std::vector<CoveredDimension> dimensions;
  for (const std::string& name : known) {
    const auto rule = std::ranges::find(policy.dimensions, name, &DimensionRule::dimension);
    if (rule == policy.dimensions.end()) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("every bill line has a '{}', so it has no coverage; name a dimension that "
                      "labels set, such as team",
                      name));
    }
    dimensions.push_back({name, rule->fallback});
  }
  return dimensions;
}

Result<void> check_has_charges(Store& store, const std::string& month) {
  const auto overview = TRY(store.overview());
  const std::vector<std::string>& months = overview.months;
  if (months.empty()) {
    return fail(ErrorCode::kNotFound, "there are no bill lines yet; import a bill first");
  }
  if (!month.empty() && std::ranges::find(months, month) == months.end()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there are no bill lines of {}; there are some in {} to {}", month,
                            months.front(), months.back()));
  }
  return {};
}

Result<CoverageResult> query_coverage(Store& store, const Catalog& catalog,
                                      const CoverageQuery& params) {
  const HasGpus has_gpus = [&](std::string_view name) {
    const InstanceType* type = name.empty() ? nullptr : catalog.find_instance_type(name);
    return type != nullptr && type->gpu_count > 0;
  };
  const bool is_whole = params.scope.empty();
  const auto unposted =
      TRY(is_whole ? unposted_lines(store, params.month, has_gpus) : UnpostedCosts());

  CoverageResult result;
  for (const CoveredDimension& dimension : params.dimensions) {
    SummaryQuery query;
    query.group_by = coverage_group_by(dimension);
    query.filters = base_filters(params);
    query.filters.push_back({"workload", {""}, true});
    const auto held = TRY(store.summarise(query));
    query.filters.back().negate = false;
    const auto bucket = TRY(store.summarise(query));
    const std::vector<Money> gpu = UnpostedCosts::values(unposted.gpu);
    const std::vector<Money> other = UnpostedCosts::values(unposted.other);
    const std::vector<Coverage> found = coverage({.dimension = dimension,
                                                  .held = held,
                                                  .bucket = bucket,
                                                  .unposted_gpu = gpu,
                                                  .unposted_other = other,
                                                  .has_gpus = has_gpus});
    if (is_whole) {
      TRY(check_totals(found, unposted.lines));
    }
    result.coverage.insert(result.coverage.end(), found.begin(), found.end());
    auto gaps = TRY(unlabelled_gaps(store, params, dimension));
    result.gaps.insert(result.gaps.end(), gaps.begin(), gaps.end());
  }
  if (!is_whole) return result;
  auto gaps = TRY(unjoined_gaps(store, params, has_gpus));
  result.gaps.insert(result.gaps.end(), gaps.begin(), gaps.end());
  return result;
}

Result<CoverageResult> convert_coverage(CoverageResult result, Currency to,
                                        const std::function<Result<Money>(const Money&)>& convert) {
  const Money zero = Money::zero(to);
  CoverageResult converted;
  for (const Coverage& one : result.coverage) {
    auto at = std::ranges::find(converted.coverage, one.dimension, &Coverage::dimension);
    if (at == converted.coverage.end()) {
      converted.coverage.push_back({.dimension = one.dimension,
                                    .spend = zero,
                                    .reached = zero,
                                    .by_spreading = zero,
                                    .gap = {},
                                    .host = zero,
                                    .unknown_commitment = zero,
                                    .other = zero});
      at = converted.coverage.end() - 1;
    }
    const std::pair<const Money&, Money&> amounts[] = {
        {one.reached, at->reached},
        {one.by_spreading, at->by_spreading},
        {one.host, at->host},
        {one.unknown_commitment, at->unknown_commitment},
        {one.other, at->other}};
    for (const auto& [from, sum] : amounts) {
      const auto amount = TRY(convert(from));
      sum += amount;
    }
    for (const GapAmount& gap : one.gap) {
      const auto amount = TRY(convert(gap.effective));
      const auto same = std::ranges::find(at->gap, gap.reason, &GapAmount::reason);
      if (same == at->gap.end()) {
        at->gap.push_back({gap.reason, amount});
      } else {
        same->effective += amount;
      }
    }
  }
  for (Coverage& one : converted.coverage) {
    std::erase_if(one.gap, [](const GapAmount& gap) { return gap.effective.is_zero(); });
    std::ranges::stable_sort(one.gap, std::ranges::greater(),
                             [](const GapAmount& gap) { return gap.effective.ticks(); });
    one.spend = one.reached + one.by_spreading + one.gap_total();
  }
  for (CoverageGap& gap : result.gaps) {
    const auto amount = TRY(convert(gap.effective));
    gap.effective = amount;
  }
  std::ranges::stable_sort(result.gaps, [](const CoverageGap& a, const CoverageGap& b) {
    return a.dimension == b.dimension && a.effective.ticks() > b.effective.ticks();
  });
  converted.gaps = std::move(result.gaps);
  return converted;
}

}  // namespace pennyweight
