#include "labels/compliance.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/check.h"

namespace pennyweight {
namespace {

using VerdictNumber = std::uint32_t;

void add_to(LabelSums& sums, Money effective, GpuTime gpu_time) {
  sums.effective += effective;
  sums.gpu_time += gpu_time;
}

// Where a holder is at home: what a person would write to.
std::string group_of(const Holding& holding) {
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

std::string user_of(const Labels& labels) {
  for (const char* key : {"user", "user-id", "owner"}) {
    const auto value = labels.find(key);
    if (value && !value->empty()) return std::string(*value);
  }
  return {};
}

Date period_of(Date day, TimeBucket bucket) {
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

// What of a holding decides: the same for all of its postings.
struct Judged {
  std::vector<LabelVerdict> verdicts;  // by requirement
  std::string group;
  std::string user;
};

struct Offender {
  LabelSums sums;
  std::string example;
  Instant example_at;
  std::string value;
  // To count a workload once; scans come by charge, so a workload comes again and again.
  std::map<std::string, bool> workloads = {};
};
using OffenderKey = std::tuple<std::size_t, LabelStatus, std::string, std::string, std::string>;

struct Sums {
  std::vector<KeyCompliance> keys;
  std::map<std::pair<std::size_t, Date>, KeyCompliance> periods;
  std::map<OffenderKey, Offender> offenders;
  // By cluster and workload: the worst status of each requirement, and nothing where none of its
  // days was judged.
  std::map<std::pair<std::string, std::string>, std::vector<std::optional<LabelStatus>>> worst;
  Money held, nobodys, moved;
};

bool is_held_time(const Posting& posting) {
  const bool is_device =
      posting.component == Component::kGpu || posting.component == Component::kWhole;
  return is_device &&
         (posting.kind == PostingKind::kUsed || posting.kind == PostingKind::kHeldIdle);
}

}  // namespace

LabelSums KeyCompliance::judged() const {
  LabelSums all = by_status[0];
  for (std::size_t i = 1; i < by_status.size(); ++i) {
    add_to(all, by_status[i].effective, by_status[i].gpu_time);
    all.workloads += by_status[i].workloads;
  }
  return all;
}

class Compliance::Book {
 public:
  Book(LabelPolicy policy, std::map<std::string, std::string> fallbacks, TimeBucket bucket)
      : policy_(std::move(policy)), fallbacks_(std::move(fallbacks)), bucket_(bucket) {}

  void begin(const Scope& scope, std::vector<WorkloadDimensions> dimensions, FindHolding find) {
    cluster_ = scope.cluster.text();
    find_ = std::move(find);
    judged_.clear();
    dimensions_.clear();
    for (WorkloadDimensions& workload : dimensions) {
      dimensions_.emplace(workload.workload.text(), std::move(workload.dimensions));
    }
  }

  void add(const Holding& holding) { judged_.insert_or_assign(holding.id, judge_all(holding)); }

  void add(const Posting& posting) {
    const Money effective = posting.costs.effective;
    Sums& sums = sums_of(effective.currency());
    if (posting.workload.empty()) {
      sums.nobodys += effective;
      return;
    }
    // Somebody's by a rule or a correction: "(team=nlp)" holds nothing.
    if (!posting.holding && posting.workload.text().starts_with('(')) {
      sums.moved += effective;
      return;
    }
    sums.held += effective;
    const Judged& judged = judged_of(posting);
    auto& worst = sums.worst[{cluster_, posting.workload.text()}];
    worst.resize(policy_.required.size());
    for (std::size_t i = 0; i < policy_.required.size(); ++i) {
      add_key(sums, i, posting, judged, worst[i]);
    }
  }

  std::vector<CurrencyCompliance> finish() const {
    std::vector<CurrencyCompliance> all;
    for (const auto& [currency, sums] : sums_) all.push_back(finished(currency, sums));
    return all;
  }

 private:
  Sums& sums_of(Currency currency) {
    const auto found = sums_.find(currency);
    if (found != sums_.end()) return found->second;
    const Money none = Money::zero(currency);
    Sums sums{.keys = {},
              .periods = {},
              .offenders = {},
              .worst = {},
              .held = none,
              .nobodys = none,
              .moved = none};
    for (const LabelRequirement& requirement : policy_.required) {
      sums.keys.emplace_back(requirement.key, currency);
    }
    return sums_.emplace(currency, std::move(sums)).first->second;
  }

  Judged judge_all(const Holding& holding) const {
    Judged judged{.verdicts = {}, .group = group_of(holding), .user = user_of(holding.labels)};
    const auto dimensions = dimensions_.find(holding.workload.text());
    for (const LabelRequirement& requirement : policy_.required) {
      std::optional<std::string_view> value;
      if (dimensions != dimensions_.end() && !requirement.dimension.empty()) {
        value = dimensions->second.find(requirement.dimension);
        const auto fallback = fallbacks_.find(requirement.dimension);
        if (value && fallback != fallbacks_.end() && *value == fallback->second) value.reset();
      }
      judged.verdicts.push_back(judge(requirement, holding.labels, value));
    }
    return judged;
  }

  const Judged& judged_of(const Posting& posting) {
    // Without a holding the workload speaks for itself, without labels.
    const FactId id = posting.holding.value_or(FactId{});
    const auto known = judged_.find(id);
    if (posting.holding && known != judged_.end()) return known->second;
    std::optional<Holding> found = posting.holding ? find_(id) : std::nullopt;
    if (found) return judged_.insert_or_assign(id, judge_all(*found)).first->second;
    const Holding unknown(ClusterId(cluster_), posting.workload, posting.interval, InPool{{}, 0});
    unlabelled_ = judge_all(unknown);
    return unlabelled_;
  }

  void add_key(Sums& sums, std::size_t index, const Posting& posting, const Judged& judged,
               std::optional<LabelStatus>& worst) {
    const LabelRequirement& requirement = policy_.required[index];
    const Money effective = posting.costs.effective;
    const GpuTime gpu_time = is_held_time(posting) ? posting.gpu_time : GpuTime();
    const LabelVerdict& verdict = judged.verdicts[index];
    const auto status = static_cast<std::size_t>(verdict.status);
    const bool is_judged = !requirement.in_force_from || posting.day >= *requirement.in_force_from;
    const auto add = [&](KeyCompliance& key) {
      add_to(is_judged ? key.by_status[status] : key.before, effective, gpu_time);
    };
    add(sums.keys[index]);
    if (bucket_ != TimeBucket::kNone) {
      add(sums.periods
              .try_emplace({index, period_of(posting.day, bucket_)}, requirement.key,
                           effective.currency())
              .first->second);
    }
    if (!is_judged) return;
    worst = std::max(worst.value_or(verdict.status), verdict.status);
    if (!is_met(verdict.status)) {
      add_to(offender(sums, index, posting, judged).sums, effective, gpu_time);
    }
  }

  Offender& offender(Sums& sums, std::size_t index, const Posting& posting, const Judged& judged) {
    const LabelVerdict& verdict = judged.verdicts[index];
    OffenderKey key{index, verdict.status, cluster_, judged.group, judged.user};
    if (sums.offenders.size() >= kOffendersMax && !sums.offenders.contains(key)) {
      key = {index, verdict.status, "", kOtherOffenders, ""};
    }
    const Instant at = posting.interval.begin();
    const std::string& workload = posting.workload.text();
    Offender& found =
        sums.offenders
            .try_emplace(std::move(key),
                         Offender{.sums = {Money::zero(posting.costs.currency()), {}, 0},
                                  .example = workload,
                                  .example_at = at,
                                  .value = verdict.value})
            .first->second;
    if (std::tie(at, workload) < std::tie(found.example_at, found.example)) {
      found.example = workload;
      found.example_at = at;
      found.value = verdict.value;
    }
    found.workloads.try_emplace(workload, true);
    return found;
  }

  CurrencyCompliance finished(Currency currency, const Sums& sums) const {
    CurrencyCompliance all{.currency = currency,
                           .keys = sums.keys,
                           .periods = {},
                           .offenders = {},
                           .held = sums.held,
                           .nobodys = sums.nobodys,
                           .moved = sums.moved};
    for (const auto& [workload, worst] : sums.worst) {
      for (std::size_t i = 0; i < worst.size(); ++i) {
        if (worst[i]) ++all.keys[i].by_status[static_cast<std::size_t>(*worst[i])].workloads;
      }
    }
    for (const auto& [key, period] : sums.periods) all.periods.push_back({key.second, period});
    for (const auto& [key, offender] : sums.offenders) {
      const auto& [index, status, cluster, group, user] = key;
      LabelOffender told{.key = policy_.required[index].key,
                         .status = status,
                         .cluster = cluster,
                         .group = group,
                         .user = user,
                         .sums = offender.sums,
                         .example = offender.example,
                         .example_at = offender.example_at,
                         .value = offender.value};
      told.sums.workloads = offender.workloads.size();
      all.offenders.push_back(std::move(told));
    }
    // The keys are in the order of the requirements already.
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
      CHECK(key.judged().effective + key.before.effective == all.held,
            "every posting of a holder has one status for every key");
    }
    return all;
  }

  const LabelPolicy policy_;
  const std::map<std::string, std::string> fallbacks_;
  const TimeBucket bucket_;
  std::map<Currency, Sums> sums_;

  // Of the scope that is being added.
  std::string cluster_;
  FindHolding find_;
  std::unordered_map<std::string, Labels> dimensions_;     // only looked into
  std::unordered_map<FactId, Judged, FactIdHash> judged_;  // only looked into
  Judged unlabelled_;
};

Compliance::Compliance(LabelPolicy policy, std::map<std::string, std::string> fallbacks,
                       TimeBucket bucket)
    : book_(std::make_unique<Book>(std::move(policy), std::move(fallbacks), bucket)) {}
Compliance::~Compliance() = default;
void Compliance::begin(const Scope& scope, std::vector<WorkloadDimensions> dimensions,
                       FindHolding find) {
  book_->begin(scope, std::move(dimensions), std::move(find));
}
void Compliance::add(const Holding& holding) { book_->add(holding); }
void Compliance::add(const Posting& posting) { book_->add(posting); }
std::vector<CurrencyCompliance> Compliance::finish() const { return book_->finish(); }

bool meets_percent(const KeyCompliance& key, Decimal percent) {
  CHECK(percent.ticks() >= 0 && percent <= Decimal::from_units(100), "a percentage of a part");
  const LabelSums all = key.judged();
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
