#include "questions/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "questions/selection.h"

namespace pennyweight {
namespace {

// Places beyond so many are told as one.
constexpr std::size_t kPlacesMax = 10'000;
constexpr std::size_t kLabelsShown = 6;
constexpr const char* kOtherPlaces = "(other places)";

using HasGpus = std::function<bool(std::string_view)>;

std::vector<SummaryFilter> of_month(const std::string& month) {
  if (month.empty()) return {};
  return {{"month", {month}, false}};
}

// The month, and what may be seen.
std::vector<SummaryFilter> asked_of(const CoverageQuestion& question) {
  std::vector<SummaryFilter> filters = of_month(question.month);
  filters.insert(filters.end(), question.scope.begin(), question.scope.end());
  return filters;
}

// What holders posted for GPUs without a value of the dimension.
std::vector<SummaryFilter> unlabelled(const CoverageQuestion& question,
                                      const CoveredDimension& dimension) {
  std::vector<SummaryFilter> filters = asked_of(question);
  filters.push_back({"component", {"gpu"}, false});
  filters.push_back({"workload", {""}, true});
  filters.push_back({"kind", {"used", "held_idle"}, false});
  std::vector<std::string> values = {""};
  if (!dimension.fallback.empty()) values.push_back(dimension.fallback);
  filters.push_back({dimension.name, std::move(values), false});
  return filters;
}

struct Unposted {
  std::map<Currency, Money> gpu, other;
  std::map<Currency, Money> lines;  // of the whole ledger

  static void add(std::map<Currency, Money>& sums, Money amount) {
    sums.try_emplace(amount.currency(), Money::zero(amount.currency())).first->second += amount;
  }
  static std::vector<Money> values(const std::map<Currency, Money>& sums) {
    std::vector<Money> all;
    for (const auto& [currency, amount] : sums) all.push_back(amount);
    return all;
  }
};

Result<Unposted> unposted_lines(Store& store, const std::string& month, const HasGpus& has_gpus) {
  Unposted found;
  const auto totals = store.reconcile(month, true, [&](const LineCheck& line) {
    if (line.postings > 0) return true;
    Unposted::add(is_gpu_line(line.charge, has_gpus) ? found.gpu : found.other,
                  line.charge.costs.effective);
    return true;
  });
  if (!totals) return std::unexpected(totals.error());
  for (const ReconcileTotals& total : *totals) {
    Unposted::add(found.lines, total.billed_lines.effective);
  }
  return found;
}

// Unlabelled money, by where its workloads are at home.
class Places {
 public:
  void add(const ClusterId& cluster, const SummaryRow& row, const Labels* labels) {
    const std::string in = cluster.empty() ? "(no cluster)" : cluster.text();
    std::string where = in + ": " + home_of(row.keys[1], labels);
    const Money amount = row.costs.effective;
    if (places_.size() >= kPlacesMax && !places_.contains({amount.currency(), where})) {
      where = kOtherPlaces;
    }
    Place& place =
        places_
            .try_emplace(
                {amount.currency(), where},
                Place{.effective = Money::zero(amount.currency()), .postings = 0, .labels = {}})
            .first->second;
    place.effective += amount;
    place.postings += row.postings;
    if (labels == nullptr) return;
    for (const auto& [key, value] : labels->entries()) {
      if (!value.empty() && place.labels.size() < 64) place.labels.insert(key);
    }
  }

  std::vector<GapPlace> largest(const std::string& dimension, std::uint64_t top) const {
    std::vector<GapPlace> all;
    for (const auto& [key, place] : places_) {
      all.push_back({.dimension = dimension,
                     .reason = GapReason::kNoLabel,
                     .place = key.second,
                     .remark = labels_of(place.labels),
                     .effective = place.effective,
                     .things = place.postings});
    }
    return first_of(std::move(all), top);
  }

  // The first `top` of each currency, the most expensive first.
  static std::vector<GapPlace> first_of(std::vector<GapPlace> all, std::uint64_t top) {
    std::ranges::stable_sort(all, [](const GapPlace& a, const GapPlace& b) {
      if (a.effective.currency() != b.effective.currency()) {
        return a.effective.currency() < b.effective.currency();
      }
      return a.effective.ticks() > b.effective.ticks();
    });
    std::map<Currency, std::uint64_t> shown;
    std::erase_if(all,
                  [&](const GapPlace& place) { return ++shown[place.effective.currency()] > top; });
    return all;
  }

 private:
  struct Place {
    Money effective;
    std::uint64_t postings = 0;
    std::set<std::string> labels;
  };

  // What stands for the group that a workload is of, where it tells one.
  static std::string home_of(const std::string& workload, const Labels* labels) {
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

  static std::string labels_of(const std::set<std::string>& labels) {
    std::string text;
    std::size_t shown = 0;
    for (const std::string& label : labels) {
      if (shown++ == kLabelsShown) return text + ", …";
      text += (text.empty() ? "" : ", ") + label;
    }
    return text.empty() ? "none" : text;
  }

  std::map<std::pair<Currency, std::string>, Place> places_;
};

Result<void> add_day(Store& store, SummaryQuery query, std::chrono::sys_days day, Places& places) {
  query.bucket = TimeBucket::kNone;
  query.first_day = day;
  query.last_day = day;
  query.group_by = {"cluster", "workload"};
  const auto rows = store.summarise(query);
  if (!rows) return std::unexpected(rows.error());
  std::map<ClusterId, std::unordered_map<std::string, const SummaryRow*>> wanted;
  for (const SummaryRow& row : *rows) wanted[ClusterId(row.keys[0])][row.keys[1]] = &row;
  // A local day is within these hours of the day in UTC, wherever it is.
  const Interval around(Instant(day) - std::chrono::hours(14),
                        Instant(day) + std::chrono::hours(38));
  for (auto& [cluster, workloads] : wanted) {
    std::unordered_map<std::string, Labels> labels;  // only looked into
    const auto scanned = store.scan_holdings(cluster, around, [&](std::span<const Holding> batch) {
      for (const Holding& holding : batch) {
        if (workloads.contains(holding.workload.text())) {
          labels.try_emplace(holding.workload.text(), holding.labels);
        }
      }
      return true;
    });
    if (!scanned) return std::unexpected(scanned.error());
    // In the store's order, and not in that of a hash.
    for (const SummaryRow& row : *rows) {
      if (row.keys[0] != cluster.text()) continue;
      const auto found = labels.find(row.keys[1]);
      places.add(cluster, row, found == labels.end() ? nullptr : &found->second);
    }
  }
  return {};
}

Result<std::vector<GapPlace>> unlabelled_places(Store& store, const CoverageQuestion& question,
                                                const CoveredDimension& dimension) {
  SummaryQuery query;
  query.filters = unlabelled(question, dimension);
  query.bucket = TimeBucket::kDay;
  const auto days = store.summarise(query);
  if (!days) return std::unexpected(days.error());
  std::set<std::chrono::sys_days> each;
  for (const SummaryRow& row : *days) each.insert(*row.bucket);
  Places places;
  for (const std::chrono::sys_days day : each) {
    if (const auto added = add_day(store, query, day, places); !added) {
      return std::unexpected(added.error());
    }
  }
  return places.largest(dimension.name, question.top);
}

Result<std::vector<GapPlace>> unjoined_places(Store& store, const CoverageQuestion& question,
                                              const HasGpus& has_gpus) {
  SummaryQuery query;
  query.filters = of_month(question.month);
  query.filters.push_back({"component", {"whole"}, false});
  query.filters.push_back({"kind", {"shared"}, false});
  query.filters.push_back({"instance_type", {""}, true});
  query.filters.push_back({"category", {"Usage", "Adjustment", "Credit"}, false});
  query.group_by = {"resource", "instance_type", "service"};
  const auto rows = store.summarise(query);
  if (!rows) return std::unexpected(rows.error());
  std::vector<GapPlace> all;
  for (const SummaryRow& row : *rows) {
    if (!has_gpus(row.keys[1]) || row.costs.effective.is_zero()) continue;
    all.push_back(
        {.dimension = "",
         .reason = GapReason::kNoNode,
         .place = (row.keys[0].empty() ? "(no resource)" : row.keys[0]) + " (" + row.keys[1] + ")",
         .remark = row.keys[2],
         .effective = row.costs.effective,
         .things = row.postings});
  }
  return Places::first_of(std::move(all), question.top);
}

Result<void> check_totals(std::span<const Coverage> coverage,
                          const std::map<Currency, Money>& lines) {
  for (const Coverage& one : coverage) {
    const auto total = lines.find(one.spend.currency());
    const Money want = total == lines.end() ? Money::zero(one.spend.currency()) : total->second;
    if (one.ledger_total() == want) continue;
    return fail(ErrorCode::kConflict,
                "the postings do not add up to the bill lines; 'pennyweight reconcile' names them, "
                "and 'pennyweight allocate' posts what is missing");
  }
  return {};
}

}  // namespace

Result<std::vector<CoveredDimension>> covered_dimensions(const std::vector<std::string>& names,
                                                         const Policy& policy) {
  const auto known = parse_dimensions(names, policy);
  if (!known) return std::unexpected(known.error());
  std::vector<CoveredDimension> dimensions;
  for (const std::string& name : *known) {
    const auto rule = std::ranges::find(policy.dimensions, name, &DimensionRule::dimension);
    if (rule == policy.dimensions.end()) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("every line has its '{}'; coverage is of dimensions that labels give", name));
    }
    dimensions.push_back({name, rule->fallback});
  }
  return dimensions;
}

Result<void> check_has_lines(Store& store, const std::string& month) {
  const auto overview = store.overview();
  if (!overview) return std::unexpected(overview.error());
  const std::vector<std::string>& months = overview->months;
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

Result<CoverageAnswer> cover(Store& store, const Catalog& catalog,
                             const CoverageQuestion& question) {
  const HasGpus has_gpus = [&](std::string_view name) {
    const InstanceType* type = name.empty() ? nullptr : catalog.find_instance_type(name);
    return type != nullptr && type->gpu_count > 0;
  };
  const bool is_whole = question.scope.empty();
  const auto unposted = is_whole ? unposted_lines(store, question.month, has_gpus) : Unposted();
  if (!unposted) return std::unexpected(unposted.error());

  CoverageAnswer answer;
  for (const CoveredDimension& dimension : question.dimensions) {
    SummaryQuery query;
    query.group_by = coverage_keys(dimension);
    query.filters = asked_of(question);
    query.filters.push_back({"workload", {""}, true});
    const auto held = store.summarise(query);
    if (!held) return std::unexpected(held.error());
    query.filters.back().negate = false;
    const auto bucket = store.summarise(query);
    if (!bucket) return std::unexpected(bucket.error());
    const std::vector<Money> gpu = Unposted::values(unposted->gpu);
    const std::vector<Money> other = Unposted::values(unposted->other);
    const std::vector<Coverage> found = coverage({.dimension = dimension,
                                                  .held = *held,
                                                  .bucket = *bucket,
                                                  .unposted_gpu = gpu,
                                                  .unposted_other = other,
                                                  .has_gpus = has_gpus});
    if (is_whole) {
      if (const auto checked = check_totals(found, unposted->lines); !checked) {
        return std::unexpected(checked.error());
      }
    }
    answer.coverage.insert(answer.coverage.end(), found.begin(), found.end());
    auto places = unlabelled_places(store, question, dimension);
    if (!places) return std::unexpected(places.error());
    answer.places.insert(answer.places.end(), places->begin(), places->end());
  }
  if (!is_whole) return answer;
  auto places = unjoined_places(store, question, has_gpus);
  if (!places) return std::unexpected(places.error());
  answer.places.insert(answer.places.end(), places->begin(), places->end());
  return answer;
}

}  // namespace pennyweight
