#include "insight/queries/advice_verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "core/card_share.h"
#include "core/int128.h"
#include "core/try.h"
#include "insight/advice/activity_profile.h"
#include "insight/advice/commitments.h"
#include "insight/advice/proposal.h"
#include "insight/queries/daily_costs.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using DayCount = std::chrono::days;

constexpr std::uint64_t kHoursPerDay = 24;
constexpr int kDaysOfWeek = 7;
constexpr std::size_t kComparedRunsMin = 3;
constexpr int kMoneyDigits = 2;

struct Days {
  Date first;
  Date last;  // inclusive
};

// What a stretch of days cost, and how much was done in it.
struct Measured {
  Money cost = Money::zero(kUsd);
  UInt128 gpu_time = 0;  // held
  UInt128 used_time = 0;
  std::size_t runs = 0;
};

std::string shown_money(const Money& money) {
  return fmt::format("{} {}", format_rounded(money.amount(), kMoneyDigits, Thousands::kSeparated),
                     money.currency().text());
}

std::string shown_days(const Days& stretch) {
  return fmt::format("{} to {}", to_text(stretch.first), to_text(stretch.last));
}

std::string gpu_hours(UInt128 time) {
  const auto tenths = static_cast<std::uint64_t>(time * 10 / kGpuHour.count());
  return fmt::format("{}.{} GPU-hours", tenths / 10, tenths % 10);
}

class Verification {
 public:
  Verification(Store& store, const AdviceStep& done, const Policy& policy, Date today)
      : store_(store), done_(done), policy_(policy), today_(today) {}

  Result<AdviceVerification> run() {
    TRY(choose_days());
    const std::string_view work = done_.work;
    const bool is_user = work.starts_with(kUserPrefix);
    const bool is_work = work.starts_with(kWorkPrefix);
    const auto kind = advising::parse_advice_kind(done_.kind);
    if (kind == advising::AdviceKind::kUnusedCommitment) return TRY(verify_unused());
    if (kind == advising::AdviceKind::kMigLayout || kind == advising::AdviceKind::kShare)
      return TRY(verify_layout());
    if (is_user || is_work) {
      // A replica's run is as long as the demand wants it, so runs are no measure of a service.
      const bool continues =
          is_work && kind != advising::AdviceKind::kIdle && kind != advising::AdviceKind::kZombie;
      return TRY(verify_owned(is_work, is_work && kind != advising::AdviceKind::kAutoscaling,
                              kind == advising::AdviceKind::kRightSize, continues));
    }
    return TRY(verify_fleet());
  }

 private:
  static constexpr std::string_view kUserPrefix = "user ";
  static constexpr std::string_view kWorkPrefix = "work ";
  static constexpr std::string_view kTypePrefix = "type ";

  Result<void> choose_days() {
    const Date since = *done_.day;
    const auto summarise = [&](const SummaryQuery& query) { return store_.summarise(query); };
    const auto history = query_daily_costs(
        {.filters = cluster_filters(), .today = today_, .keys_max = 1}, policy_, summarise);
    if (!history) return std::unexpected(history.error());
    const int there = static_cast<int>((history->last_day() - since).count());
    const int weeks = std::min(there, kVerifiedDaysMax) / kDaysOfWeek;
    if (weeks < 1) {
      return fail(ErrorCode::kConflict,
                  fmt::format("too early: it is in effect since {}, and the ledger has whole days "
                              "up to {}; it takes {} after it: import and allocate further days",
                              to_text(since), to_text(history->last_day()), kVerifiedDaysMin));
    }
    const DayCount length(weeks * kDaysOfWeek);
    before_ = {since - length, since - DayCount(1)};
    after_ = {since + DayCount(1), since + length};
    if (before_.first < history->first_day) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the ledger begins with {}, and comparing takes the days from {}: "
                              "import the bill before it",
                              to_text(history->first_day), to_text(before_.first)));
    }
    for (const Days& stretch : {before_, after_}) {
      for (Date day = stretch.first; day <= stretch.last; day += DayCount(1)) {
        if (!history->missing[static_cast<std::size_t>((day - history->first_day).count())])
          continue;
        return fail(ErrorCode::kConflict, fmt::format("the ledger has no cost of {}: import its "
                                                      "bill and allocate it",
                                                      to_text(day)));
      }
    }
    return {};
  }

  // A commitment may be of no cluster; then the whole ledger is compared.
  std::vector<std::string> cluster_filters() const {
    if (done_.cluster.empty()) return {};
    return {"cluster=" + done_.cluster};
  }

  // `filters` beside the cluster. `owned`: without what workloads only had put on them by
  // spreading.
  Result<Measured> measure(const Days& stretch, const std::vector<SummaryFilter>& filters,
                           bool owned) {
    SummaryQuery query{.first_day = stretch.first,
                       .last_day = stretch.last,
                       .group_by = {"kind"},
                       .filters = filters};
    if (!done_.cluster.empty()) query.filters.push_back({"cluster", {done_.cluster}, false});
    if (owned) query.filters.push_back({"kind", {"used", "held_idle"}, false});
    const auto rows = TRY(store_.summarise(query));
    if (!currency_ && !rows.empty()) currency_ = rows.front().costs.currency();
    Measured sum{.cost = Money::zero(currency_.value_or(kUsd))};
    for (const SummaryRow& row : rows) {
      if (row.costs.currency() != *currency_) {
        return fail(ErrorCode::kBadValue,
                    fmt::format("the cluster is billed in {} and {}, which can't be compared",
                                currency_->text(), row.costs.currency().text()));
      }
      sum.cost += row.costs.effective;
      sum.gpu_time += static_cast<UInt128>(row.gpu_time.count());
      if (row.keys.front() == "used") sum.used_time += static_cast<UInt128>(row.gpu_time.count());
    }
    return sum;
  }

  // What the cost of before would be for the work of after.
  static Money for_work(const Money& before, UInt128 work_before, UInt128 work_after) {
    return advising::scaled(before, work_after, work_before);
  }

  Money a_month(const Money& of_days) const {
    const auto hours =
        static_cast<std::uint64_t>((after_.last - after_.first).count() + 1) * kHoursPerDay;
    return advising::scaled(of_days, advising::kHoursPerMonth, hours);
  }

  void find(std::string finding) { findings_.push_back(std::move(finding)); }

  void say_days() {
    find(fmt::format("{} was compared with {}", shown_days(before_), shown_days(after_)));
  }

  AdviceVerification result(const Money& of_days) {
    const Money realised = a_month(of_days);
    if (realised.is_negative()) {
      find("it costs more than before for the same work: look at what changed beside it");
    }
    return {.realised = realised, .last_day = after_.last, .findings = std::move(findings_)};
  }

  Result<AdviceVerification> verify_fleet() {
    std::vector<SummaryFilter> filters;
    std::string where = "cluster " + done_.cluster;
    const std::string_view work = done_.work;
    if (work.starts_with(kTypePrefix)) {
      filters = {{"instance_type", {std::string(work.substr(kTypePrefix.size()))}, false}};
      where += ", " + std::string(work.substr(kTypePrefix.size()));
    }
    Measured before = TRY(measure(before_, filters, false));
    if (before.gpu_time == 0 && !filters.empty()) {
      // The bill does not say which lines are of this type.
      filters.clear();
      where = "cluster " + done_.cluster;
      before = TRY(measure(before_, filters, false));
    }
    const Measured after = TRY(measure(after_, filters, false));
    TRY(needs_work(before.gpu_time, after.gpu_time, where));
    say_days();
    find(fmt::format("{}: {} for {} held before, {} for {} after", where, shown_money(before.cost),
                     gpu_hours(before.gpu_time), shown_money(after.cost),
                     gpu_hours(after.gpu_time)));
    const Money then = for_work(before.cost, before.gpu_time, after.gpu_time);
    find(
        fmt::format("at the cost per GPU-hour of before it would have cost {}", shown_money(then)));
    return result(then - after.cost);
  }

  // What the bill says of the days for the commitment, and that nothing used.
  Result<Money> unused_cost(const Days& stretch, Currency currency) {
    const Interval during(Instant(stretch.first), Instant(stretch.last + DayCount(1)));
    std::set<std::string> months;
    for (Date day = stretch.first; day <= stretch.last; day += DayCount(1)) {
      months.insert(to_text(day).substr(0, 7));
    }
    Money sum = Money::zero(currency);
    std::optional<Currency> other;
    for (const std::string& month : months) {
      TRY(store_.scan_charges(month, [&](std::span<const Charge> charges) {
        for (const Charge& charge : charges) {
          if (advising::unused_commitment_of(charge) != done_.subject) continue;
          const auto both = charge.charge_period.overlap(during);
          if (!both) continue;
          const Money& cost = charge.costs.effective;
          if (cost.currency() != currency) {
            other = cost.currency();
            continue;
          }
          sum += advising::scaled(cost, both->length_ms(), charge.charge_period.length_ms());
        }
        return true;
      }));
    }
    if (!other) return sum;
    return fail(ErrorCode::kBadValue,
                fmt::format("{} is billed in {} and {}, which can't be compared", done_.subject,
                            currency.text(), other->text()));
  }

  // What nothing used, before and after; and at most what the bill has less for the same GPU-hours:
  // a commitment that is used, while as much runs on demand as before, saved nothing.
  Result<AdviceVerification> verify_unused() {
    const Currency currency = done_.high.currency();
    const Money before = TRY(unused_cost(before_, currency));
    const Money after = TRY(unused_cost(after_, currency));
    if (before.is_zero()) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the bill has nothing of {} that was not used from {}", done_.subject,
                              shown_days(before_)));
    }
    const Measured all_before = TRY(measure(before_, {}, false));
    const Measured all_after = TRY(measure(after_, {}, false));
    TRY(needs_work(all_before.gpu_time, all_after.gpu_time, place()));
    say_days();
    find(fmt::format("{}: {} paid and not used before, {} after", done_.subject,
                     shown_money(before), shown_money(after)));
    return TRY(within_the_bill(before - after, all_before, all_before.gpu_time, all_after,
                               all_after.gpu_time, "held"));
  }

  std::string place() const {
    return done_.cluster.empty() ? std::string("the ledger") : "cluster " + done_.cluster;
  }

  // `own`, and not more than what the whole bill fell by for the same work.
  Result<AdviceVerification> within_the_bill(const Money& own, const Measured& before,
                                             UInt128 work_before, const Measured& after,
                                             UInt128 work_after, std::string_view done) {
    if (own.ticks() <= 0) return result(own);
    if (before.cost.currency() != own.currency() || after.cost.currency() != own.currency()) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{} is billed in {}, and the advice is in {}: they can't be compared",
                              place(), before.cost.currency().text(), own.currency().text()));
    }
    const Money then = for_work(before.cost, work_before, work_after);
    const Money all = then - after.cost;
    find(fmt::format("{}: {} for {} {} before, {} for {} after", place(), shown_money(before.cost),
                     gpu_hours(work_before), done, shown_money(after.cost), gpu_hours(work_after)));
    if (all.ticks() >= own.ticks()) return result(own);
    find(fmt::format("it is {} less in these days, and the bill fell by {}: the rest only moved",
                     shown_money(own), shown_money(all)));
    return result(all.is_negative() ? Money::zero(own.currency()) : all);
  }

  // Time that devices were held, a GPU and an instance of one alike: cut into instances, the same
  // work holds less of a GPU.
  Result<UInt128> device_time(const Days& stretch) {
    const Interval during(Instant(stretch.first), Instant(stretch.last + DayCount(1)));
    UInt128 sum = 0;
    TRY(store_.scan_holdings(ClusterId(done_.cluster), during,
                             [&](std::span<const Holding> holdings) {
                               for (const Holding& holding : holdings) {
                                 const auto both = holding.held.overlap(during);
                                 if (both)
                                   sum += UInt128{both->length_ms()} * device_count(holding);
                               }
                               return true;
                             }));
    return sum;
  }

  // The cluster's cost for the time that its work held devices, whatever their size.
  Result<AdviceVerification> verify_layout() {
    const Measured before = TRY(measure(before_, {}, false));
    const Measured after = TRY(measure(after_, {}, false));
    const UInt128 work_before = TRY(device_time(before_));
    const UInt128 work_after = TRY(device_time(after_));
    TRY(needs_work(work_before, work_after, place()));
    say_days();
    const auto hours = [](UInt128 ms) { return static_cast<std::uint64_t>(ms / 3'600'000); };
    find(fmt::format("{}: {} for {} hours of GPUs and instances held before, {} for {} after",
                     place(), shown_money(before.cost), hours(work_before), shown_money(after.cost),
                     hours(work_after)));
    const Money then = for_work(before.cost, work_before, work_after);
    find(fmt::format("at the cost of such an hour of before it would have cost {}",
                     shown_money(then)));
    return result(then - after.cost);
  }

  static Result<void> needs_work(UInt128 before, UInt128 after, const std::string& where) {
    if (before > 0 && after > 0) return {};
    return fail(ErrorCode::kConflict,
                fmt::format("nothing was held in {} {}, so there is no work to compare", where,
                            before == 0 ? "before" : "after"));
  }

  // The workloads that are runs of the work, in the stretch.
  Result<std::vector<std::string>> runs_of_work(const Days& stretch) {
    const std::string name = done_.work.substr(kWorkPrefix.size());
    std::set<std::string> found;
    const Interval during(Instant(stretch.first), Instant(stretch.last + DayCount(1)));
    TRY(store_.scan_holdings(ClusterId(done_.cluster), during,
                             [&](std::span<const Holding> holdings) {
                               for (const Holding& holding : holdings) {
                                 if (advising::work_of(holding) == name) {
                                   found.insert(holding.workload.text());
                                 }
                               }
                               return true;
                             }));
    return std::vector<std::string>(found.begin(), found.end());
  }

  Result<Measured> measure_owned(const Days& stretch, bool is_work) {
    if (!is_work) {
      return TRY(
          measure(stretch, {{"user", {done_.work.substr(kUserPrefix.size())}, false}}, true));
    }
    const auto runs = TRY(runs_of_work(stretch));
    if (runs.empty()) return Measured{};
    Measured sum = TRY(measure(stretch, {{"workload", runs, false}}, true));
    sum.runs = runs.size();
    return sum;
  }

  // What the cluster's days of before would cost with the work of after, still on the card of
  // before. The work that moved goes by its runs (`then`), since a slower card holds it longer; the
  // others by the time that they held GPUs; what nobody held, by both together.
  Result<Money> on_the_card_of_before(const Measured& before, const Measured& after,
                                      const Money& then, UInt128 runs_before, UInt128 runs_after) {
    const Measured all = TRY(measure(before_, {}, false));
    const Measured held_before = TRY(measure(before_, {}, true));
    const Measured held_after = TRY(measure(after_, {}, true));
    TRY(needs_work(held_before.gpu_time, held_after.gpu_time, place()));
    const UInt128 others_before = held_before.gpu_time - before.gpu_time;
    const UInt128 others_after = held_after.gpu_time - after.gpu_time;
    Money others = held_before.cost - before.cost;
    // Where they held no GPU before, what they cost after has nothing to be compared with.
    if (others_before > 0) others = for_work(others, others_before, others_after);
    if (others_before == 0 && others_after > 0) others = held_after.cost - after.cost;
    const UInt128 moved = before.gpu_time * runs_after / runs_before;
    return then + others +
           for_work(all.cost - held_before.cost, held_before.gpu_time, moved + others_after);
  }

  // What the owner pays less, and at most what the cluster's bill has less: idle time that only
  // moved to nobody saved nothing.
  // `continues`: the work was to run in another way, and not to end.
  Result<AdviceVerification> verify_owned(bool is_work, bool counts_runs, bool is_other_card,
                                          bool continues) {
    const Measured before = TRY(measure_owned(before_, is_work));
    const Measured after = TRY(measure_owned(after_, is_work));
    const Measured all_before = TRY(measure(before_, {}, false));
    const Measured all_after = TRY(measure(after_, {}, false));
    if (before.cost.is_zero()) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{} has no cost from {}, so there is nothing to compare", done_.work,
                              shown_days(before_)));
    }
    if (continues && after.runs == 0) {
      return fail(
          ErrorCode::kConflict,
          fmt::format("{} did not run from {}, so what it costs in the new way is not known: "
                      "it ended, or has another name now",
                      done_.work, shown_days(after_)));
    }
    say_days();
    const Currency currency = before.cost.currency();
    const Money cost_after = after.cost.is_zero() ? Money::zero(currency) : after.cost;
    Money then = before.cost;
    const bool has_runs = counts_runs && std::min(before.runs, after.runs) >= kComparedRunsMin;
    if (has_runs) {
      then = for_work(before.cost, before.runs, after.runs);
      find(fmt::format("{}: {} for {} runs before, {} for {} runs after", done_.work,
                       shown_money(before.cost), before.runs, shown_money(cost_after), after.runs));
    } else if (!counts_runs && before.used_time > 0) {
      then = for_work(before.cost, before.used_time, after.used_time);
      find(fmt::format("{}: {} for {} used before, {} for {} after", done_.work,
                       shown_money(before.cost), gpu_hours(before.used_time),
                       shown_money(cost_after), gpu_hours(after.used_time)));
    } else {
      find(fmt::format("{}: {} before, {} after; by day, since its work can't be counted",
                       done_.work, shown_money(before.cost), shown_money(cost_after)));
    }
    const Money own = then - cost_after;
    if (own.ticks() <= 0) return result(own);
    const UInt128 work_before = is_other_card ? all_before.gpu_time : all_before.used_time;
    const UInt128 work_after = is_other_card ? all_after.gpu_time : all_after.used_time;
    TRY(needs_work(work_before, work_after, place()));
    find(fmt::format("{}: {} for {} {} before, {} for {} after", place(),
                     shown_money(all_before.cost), gpu_hours(work_before),
                     is_other_card ? "held" : "used", shown_money(all_after.cost),
                     gpu_hours(work_after)));
    Money all_then = for_work(all_before.cost, work_before, work_after);
    if (is_other_card) {
      all_then = TRY(on_the_card_of_before(before, after, then, has_runs ? before.runs : 1,
                                           has_runs ? after.runs : 1));
      find(
          fmt::format("on the card of before, with the others' GPU-hours of after, it would have "
                      "cost {}",
                      shown_money(all_then)));
    }
    const Money all = all_then - all_after.cost;
    if (all.ticks() >= own.ticks()) return result(own);
    const Money off_bill = all.is_negative() ? Money::zero(currency) : all;
    find(
        fmt::format("its owner pays {} less in these days, and the bill of the cluster fell by {}: "
                    "the rest moved to others or to nobody",
                    shown_money(own), shown_money(off_bill)));
    return result(off_bill);
  }

  Store& store_;
  const AdviceStep& done_;
  const Policy& policy_;
  Date today_;
  Days before_{};
  Days after_{};
  std::optional<Currency> currency_;  // of all that is measured
  std::vector<std::string> findings_;
};

}  // namespace

Result<AdviceVerification> verify_advice(Store& store, const AdviceStep& done, const Policy& policy,
                                         Date today) {
  return Verification(store, done, policy, today).run();
}

}  // namespace pennyweight
