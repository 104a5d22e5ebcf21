#include "reporting/coverage/label_compliance.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/check.h"

namespace pennyweight {
namespace {

void add_to(LabelSums& sums, Money effective, GpuTime gpu_time) {
  sums.effective += effective;
  sums.gpu_time += gpu_time;
}

// The namespace, account or partition of a workload: whom to ask about it.
std::string group_name(const Holding& holding) {
  for (const char* key : {"namespace", "account"}) {
    const auto value = holding.labels.find(key);
    if (value && !value->empty()) return std::string(key) + " " + std::string(*value);
  }
  const std::string& workload = holding.workload.text();
  const std::size_t slash = workload.find('/');
  if (slash != std::string::npos) return "namespace " + workload.substr(0, slash);
  const auto partition = holding.labels.find("partition");
  if (partition && !partition->empty()) return "partition " + std::string(*partition);
  return "workloads without a group";
}

std::string label_user(const Labels& labels) {
  for (const char* key : {"user", "user-id", "owner"}) {
    const auto value = labels.find(key);
    if (value && !value->empty()) return std::string(*value);
  }
  return {};
}

Date period_start(Date day, TimeBucket bucket) {
  using std::chrono::days;
  switch (bucket) {
    case TimeBucket::kNone:
    case TimeBucket::kDay:
      return day;
    case TimeBucket::kWeek:
      return day - (std::chrono::weekday(day) - std::chrono::Monday);
    case TimeBucket::kMonth: {
      const std::chrono::year_month_day date(day);
      return Date(date.year() / date.month() / 1);
    }
  }
  CHECK(false, "every bucket has a first day");
}

// The evaluation of a holding, which all of its postings share.
struct HoldingEvaluation {
  std::vector<LabelEvaluation> labels;  // by requirement
  std::string group;
  std::string user;
};

struct OffenderSums {
  LabelSums sums;
  std::string example;
  Instant example_at;
  std::string value;
  // Counts each workload once: scans are ordered by charge, so a workload recurs.
  std::map<std::string, bool> workloads = {};
};
using OffenderKey = std::tuple<std::size_t, LabelStatus, std::string, std::string, std::string>;

struct CurrencySums {
  std::vector<KeyCompliance> keys;
  std::map<std::pair<std::size_t, Date>, KeyCompliance> periods;
  std::map<OffenderKey, OffenderSums> offenders;
  // By cluster and workload: the worst status of each requirement; empty where none of its days was
  // evaluated.
  std::map<std::pair<std::string, std::string>, std::vector<std::optional<LabelStatus>>> worst;
  Money held, unowned, transferred;
};

bool is_held_time(const Posting& posting) {
  const bool is_device =
      posting.component == Component::kGpu || posting.component == Component::kWhole;
  return is_device &&
         (posting.kind == PostingKind::kUsed || posting.kind == PostingKind::kHeldIdle);
}

}  // namespace

LabelSums KeyCompliance::evaluated() const {
  LabelSums all = by_status[0];
  for (std::size_t i = 1; i < by_status.size(); ++i) {
    add_to(all, by_status[i].effective, by_status[i].gpu_time);
    all.workloads += by_status[i].workloads;
  }
  return all;
}

class LabelCompliance::Accumulator {
 public:
  Accumulator(LabelPolicy policy, std::map<std::string, std::string> fallbacks, TimeBucket bucket)
      : policy_(std::move(policy)), fallbacks_(std::move(fallbacks)), bucket_(bucket) {}

  void begin_run(const Scope& scope, std::vector<WorkloadDimensions> dimensions, FindHolding find) {
    cluster_ = scope.cluster.text();
    find_ = std::move(find);
    evaluations_.clear();
    dimensions_.clear();
    for (WorkloadDimensions& workload : dimensions) {
      dimensions_.emplace(workload.workload.text(), std::move(workload.dimensions));
    }
  }

  void add(const Holding& holding) {
    evaluations_.insert_or_assign(holding.id, evaluate_holding(holding));
  }

  void add(const Posting& posting) {
    const Money effective = posting.costs.effective;
    CurrencySums& sums = sums_of(effective.currency());
    if (posting.workload.empty()) {
      sums.unowned += effective;
      return;
    }
    // Moved to an owner by a rule or a correction: "(team=nlp)" holds nothing.
    if (!posting.holding && posting.workload.text().starts_with('(')) {
      sums.transferred += effective;
      return;
    }
    sums.held += effective;
    const HoldingEvaluation& evaluation = find_evaluation(posting);
    auto& worst = sums.worst[{cluster_, posting.workload.text()}];
    worst.resize(policy_.required.size());
    for (std::size_t i = 0; i < policy_.required.size(); ++i) {
      add_key(sums, i, posting, evaluation, worst[i]);
    }
  }

  std::vector<CurrencyCompliance> finish() const {
    std::vector<CurrencyCompliance> all;
    for (const auto& [currency, sums] : sums_) all.push_back(to_result(currency, sums));
    return all;
  }

 private:
  CurrencySums& sums_of(Currency currency) {
    const auto found = sums_.find(currency);
    if (found != sums_.end()) return found->second;
    const Money none = Money::zero(currency);
    CurrencySums sums{.keys = {},
                      .periods = {},
                      .offenders = {},
                      .worst = {},
                      .held = none,
                      .unowned = none,
                      .transferred = none};
    for (const LabelRequirement& requirement : policy_.required) {
      sums.keys.emplace_back(requirement.key, currency);
    }
    return sums_.emplace(currency, std::move(sums)).first->second;
  }

  HoldingEvaluation evaluate_holding(const Holding& holding) const {
    HoldingEvaluation evaluation{
        .labels = {}, .group = group_name(holding), .user = label_user(holding.labels)};
    const auto dimensions = dimensions_.find(holding.workload.text());
    for (const LabelRequirement& requirement : policy_.required) {
      std::optional<std::string_view> value;
      if (dimensions != dimensions_.end() && !requirement.dimension.empty()) {
        value = dimensions->second.find(requirement.dimension);
        const auto fallback = fallbacks_.find(requirement.dimension);
        if (value && fallback != fallbacks_.end() && *value == fallback->second) value.reset();
      }
      evaluation.labels.push_back(evaluate_label(requirement, holding.labels, value));
    }
    return evaluation;
  }

  const HoldingEvaluation& find_evaluation(const Posting& posting) {
    // Without a holding, the workload is evaluated as one without labels.
    const FactId id = posting.holding.value_or(FactId{});
    const auto known = evaluations_.find(id);
    if (posting.holding && known != evaluations_.end()) return known->second;
    std::optional<Holding> found = posting.holding ? find_(id) : std::nullopt;
    if (found) return evaluations_.insert_or_assign(id, evaluate_holding(*found)).first->second;
    const Holding unknown(ClusterId(cluster_), posting.workload, posting.interval, InPool{{}, 0});
    unlabelled_ = evaluate_holding(unknown);
    return unlabelled_;
  }

  void add_key(CurrencySums& sums, std::size_t index, const Posting& posting,
               const HoldingEvaluation& evaluation, std::optional<LabelStatus>& worst) {
    const LabelRequirement& requirement = policy_.required[index];
    const Money effective = posting.costs.effective;
    const GpuTime gpu_time = is_held_time(posting) ? posting.gpu_time : GpuTime();
    const LabelEvaluation& label = evaluation.labels[index];
    const auto status = static_cast<std::size_t>(label.status);
    const bool is_in_force =
        !requirement.in_force_from || posting.day >= *requirement.in_force_from;
    const auto add = [&](KeyCompliance& key) {
      add_to(is_in_force ? key.by_status[status] : key.before, effective, gpu_time);
    };
    add(sums.keys[index]);
    if (bucket_ != TimeBucket::kNone) {
      add(sums.periods
              .try_emplace({index, period_start(posting.day, bucket_)}, requirement.key,
                           effective.currency())
              .first->second);
    }
    if (!is_in_force) return;
    worst = std::max(worst.value_or(label.status), label.status);
    if (!is_met(label.status)) {
      add_to(find_offender(sums, index, posting, evaluation).sums, effective, gpu_time);
    }
  }

  OffenderSums& find_offender(CurrencySums& sums, std::size_t index, const Posting& posting,
                              const HoldingEvaluation& evaluation) {
    const LabelEvaluation& label = evaluation.labels[index];
    OffenderKey key{index, label.status, cluster_, evaluation.group, evaluation.user};
    if (sums.offenders.size() >= kOffendersMax && !sums.offenders.contains(key)) {
      key = {index, label.status, "", kOtherOffenders, ""};
    }
    const Instant at = posting.interval.begin();
    const std::string& workload = posting.workload.text();
    OffenderSums& found =
        sums.offenders
            .try_emplace(std::move(key),
                         OffenderSums{.sums = {Money::zero(posting.costs.currency()), {}, 0},
                                      .example = workload,
                                      .example_at = at,
                                      .value = label.value})
            .first->second;
    if (std::tie(at, workload) < std::tie(found.example_at, found.example)) {
      found.example = workload;
      found.example_at = at;
      found.value = label.value;
    }
    found.workloads.try_emplace(workload, true);
    return found;
  }

  CurrencyCompliance to_result(Currency currency, const CurrencySums& sums) const {
    CurrencyCompliance all{.currency = currency,
                           .keys = sums.keys,
                           .periods = {},
                           .offenders = {},
                           .held = sums.held,
                           .unowned = sums.unowned,
                           .transferred = sums.transferred};
    for (const auto& [workload, worst] : sums.worst) {
      for (std::size_t i = 0; i < worst.size(); ++i) {
        if (worst[i]) ++all.keys[i].by_status[static_cast<std::size_t>(*worst[i])].workloads;
      }
    }
    for (const auto& [key, period] : sums.periods) all.periods.push_back({key.second, period});
    for (const auto& [key, offender] : sums.offenders) {
      const auto& [index, status, cluster, group, user] = key;
      LabelOffender result{.key = policy_.required[index].key,
                           .status = status,
                           .cluster = cluster,
                           .group = group,
                           .user = user,
                           .sums = offender.sums,
                           .example = offender.example,
                           .example_at = offender.example_at,
                           .value = offender.value};
      result.sums.workloads = offender.workloads.size();
      all.offenders.push_back(std::move(result));
    }
    // Keys are in the order of the requirements already; sort each key's offenders by cost.
    auto first = all.offenders.begin();
    while (first != all.offenders.end()) {
      const auto last = std::find_if(first, all.offenders.end(),
                                     [&](const LabelOffender& o) { return o.key != first->key; });
      std::stable_sort(first, last, [](const LabelOffender& a, const LabelOffender& b) {
        return a.sums.effective.ticks() > b.sums.effective.ticks();
      });
      first = last;
    }
    for (const KeyCompliance& key : all.keys) {
      CHECK(key.evaluated().effective + key.before.effective == all.held,
            "every posting of a holder has one status for every key");
    }
    return all;
  }

  const LabelPolicy policy_;
  const std::map<std::string, std::string> fallbacks_;
  const TimeBucket bucket_;
  std::map<Currency, CurrencySums> sums_;

  // Of the current run.
  std::string cluster_;
  FindHolding find_;
  std::unordered_map<std::string, Labels> dimensions_;                     // never iterated
  std::unordered_map<FactId, HoldingEvaluation, FactIdHash> evaluations_;  // never iterated
  HoldingEvaluation unlabelled_;
};

LabelCompliance::LabelCompliance(LabelPolicy policy, std::map<std::string, std::string> fallbacks,
                                 TimeBucket bucket)
    : accumulator_(std::make_unique<Accumulator>(std::move(policy), std::move(fallbacks), bucket)) {
}
LabelCompliance::~LabelCompliance() = default;
void LabelCompliance::begin_run(const Scope& scope, std::vector<WorkloadDimensions> dimensions,
                                FindHolding find) {
  accumulator_->begin_run(scope, std::move(dimensions), std::move(find));
}
void LabelCompliance::add(const Holding& holding) { accumulator_->add(holding); }
void LabelCompliance::add(const Posting& posting) { accumulator_->add(posting); }
std::vector<CurrencyCompliance> LabelCompliance::finish() const { return accumulator_->finish(); }

bool meets_percent(const KeyCompliance& key, Decimal percent) {
  CHECK(percent.ticks() >= 0 && percent <= Decimal::from_units(100), "a percentage of a part");
  const LabelSums all = key.evaluated();
  // part / whole >= percent / 100, multiplied out: 10^18 ticks are one percent.
  const auto reaches = [&](UInt128 part, UInt128 whole) {
    const auto wanted = static_cast<UInt128>(percent.ticks());
    const UInt128 hundred = UInt128{Decimal::kTicksPerUnit} * 100;
    const QuotientAndRemainder need = multiply_divide(whole, wanted, hundred);
    return part > need.quotient || (part == need.quotient && need.remainder == 0);
  };
  const Int128 met = key.met().ticks();
  if (all.effective.ticks() > 0) {
    return reaches(met < 0 ? 0 : static_cast<UInt128>(met),
                   static_cast<UInt128>(all.effective.ticks()));
  }
  const GpuTime time =
      key.of(LabelStatus::kStated).gpu_time + key.of(LabelStatus::kDerived).gpu_time;
  return reaches(time.count(), all.gpu_time.count());
}

}  // namespace pennyweight
