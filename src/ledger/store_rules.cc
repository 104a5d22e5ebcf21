#include "ledger/store_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/try.h"

namespace pennyweight {
namespace {

void add_wide(Fingerprint& print, UInt128 value) {
  print.add(static_cast<std::int64_t>(static_cast<std::uint64_t>(value >> 64)));
  print.add(static_cast<std::int64_t>(static_cast<std::uint64_t>(value)));
}

void add_hash(Fingerprint& print, const Hash128& hash) {
  print.add(static_cast<std::int64_t>(hash.high)).add(static_cast<std::int64_t>(hash.low));
}

auto ticks_of(const Costs& costs) {
  return std::tuple(costs.billed.ticks(), costs.effective.ticks(), costs.list.ticks(),
                    costs.contracted.ticks(), costs.currency());
}

auto sort_key(const Posting& p) {
  return std::tuple(p.charge, p.component, p.day, std::string_view(p.node.text()),
                    std::string_view(p.gpu.text()), std::string_view(p.workload.text()), p.kind,
                    p.interval, p.holding, p.weight, ticks_of(p.costs), p.gpu_time, p.memory_time,
                    p.observed_time);
}

UInt128 size_of(Money money) {
  const auto bits = static_cast<UInt128>(money.ticks());
  return money.is_negative() ? UInt128{0} - bits : bits;
}

}  // namespace

Hash128 content_hash(const Posting& posting) {
  Fingerprint print;
  add_hash(print, posting.charge.hash);
  print.add(static_cast<std::int64_t>(posting.kind))
      .add(static_cast<std::int64_t>(posting.component))
      .add(unix_ms(posting.interval.begin()))
      .add(unix_ms(posting.interval.end()))
      .add(std::int64_t{posting.day.time_since_epoch().count()})
      .add(posting.node.text())
      .add(posting.gpu.text())
      .add(posting.workload.text());
  if (posting.holding) {
    add_hash(print, posting.holding->hash);
  } else {
    print.add_absent();
  }
  add_wide(print, posting.weight);
  for (const Money& money : {posting.costs.billed, posting.costs.effective, posting.costs.list,
                             posting.costs.contracted}) {
    add_wide(print, static_cast<UInt128>(money.ticks()));
  }
  print.add(posting.costs.currency().text());
  add_wide(print, posting.gpu_time.count());
  add_wide(print, posting.memory_time.count());
  add_wide(print, posting.observed_time.count());
  return print.hash();
}

Hash128 content_hash(const WorkloadDimensions& workload) {
  Fingerprint print;
  print.add(workload.workload.text());
  for (const auto& [name, value] : workload.dimensions.entries()) print.add(name).add(value);
  return print.hash();
}

Hash128 content_hash(const RejectedRow& row) {
  return Fingerprint()
      .add(row.file)
      .add(static_cast<std::int64_t>(row.line))
      .add(row.column)
      .add(row.reason)
      .add(row.text)
      .hash();
}

void SetDigest::add(const Hash128& member) {
  ++count_;
  sum_ += UInt128{member.high} << 64 | member.low;  // modulo 2^128
}

void SetDigest::add(const SetDigest& other) {
  count_ += other.count_;
  sum_ += other.sum_;
}

void SetDigest::remove(const Hash128& member) {
  CHECK(count_ > 0, "what is removed was added");
  --count_;
  sum_ -= UInt128{member.high} << 64 | member.low;
}

Hash128 SetDigest::sum() const {
  return {static_cast<std::uint64_t>(sum_ >> 64), static_cast<std::uint64_t>(sum_)};
}

SetDigest SetDigest::of(std::uint64_t count, const Hash128& sum) {
  SetDigest set;
  set.count_ = count;
  set.sum_ = UInt128{sum.high} << 64 | sum.low;
  return set;
}

Hash128 SetDigest::digest() const {
  Fingerprint print;
  print.add(static_cast<std::int64_t>(count_));
  add_wide(print, sum_);
  return print.hash();
}

bool comes_before(const Posting& a, const Posting& b) { return sort_key(a) < sort_key(b); }

bool is_larger(const Posting& a, const Posting& b) {
  constexpr UInt128 kRounding = 1'000'000;
  const auto rounded = [](const Posting& posting) {
    return (size_of(posting.costs.effective) + kRounding / 2) / kRounding;
  };
  const UInt128 size_a = rounded(a), size_b = rounded(b);
  if (size_a != size_b) return size_a > size_b;
  const auto when_and_where = [](const Posting& p) { return std::tie(p.day, p.node, p.workload); };
  if (when_and_where(a) != when_and_where(b)) return when_and_where(a) < when_and_where(b);
  return comes_before(a, b);
}

bool same_rules(const Run& a, const Run& b) {
  return a.policy == b.policy && a.policy_version == b.policy_version &&
         a.catalog_version == b.catalog_version && a.time_zone == b.time_zone;
}

bool is_same_run(const RunRecord& a, const RunRecord& b) {
  return same_rules(a.run, b.run) && a.run.postings_digest == b.run.postings_digest &&
         a.run.postings == b.run.postings && a.dimensions_digest == b.dimensions_digest;
}

Result<void> add_dimensions(std::map<WorkloadId, Labels>& dimensions,
                            std::span<const WorkloadDimensions> workloads) {
  for (const WorkloadDimensions& entry : workloads) {
    const auto [kept, is_new] = dimensions.try_emplace(entry.workload, entry.dimensions);
    if (!is_new && kept->second != entry.dimensions) {
      return fail(ErrorCode::kConflict, "workload " + entry.workload.text() +
                                            " was given two sets of dimensions in one run");
    }
  }
  return {};
}

Hash128 dimensions_digest(const std::map<WorkloadId, Labels>& dimensions) {
  SetDigest digest;
  for (const auto& [workload, labels] : dimensions) {
    digest.add(content_hash(WorkloadDimensions{workload, labels}));
  }
  return digest.digest();
}

ImportRecord import_record(const ImportSource& source, const ImportOutcome& outcome,
                           std::string statement) {
  return {.number = outcome.number,
          .source = source,
          .charges = outcome.charges.created,
          .holdings = outcome.holdings.created,
          .nodes = outcome.nodes.created,
          .gpus = outcome.gpus.created,
          .usages = outcome.usages.created,
          .outages = outcome.outages.created,
          .corrections = outcome.corrections.created,
          .outcomes = outcome.outcomes.created,
          .rejected = outcome.rejected,
          .restated = outcome.restated,
          .statement = std::move(statement)};
}

std::vector<Invalidation> invalidations_by(const InvalidationCollector& collected,
                                           const ImportOutcome& outcome) {
  return collected.invalidations({.holdings = outcome.holdings.created,
                                  .nodes = outcome.nodes.created,
                                  .gpus = outcome.gpus.created,
                                  .usages = outcome.usages.created,
                                  .outages = outcome.outages.created,
                                  .corrections = outcome.corrections.created});
}

bool adds_every_line(DeliveryStyle style) {
  return style == DeliveryStyle::kDelta || style == DeliveryStyle::kLedger;
}

Result<ReconcileTotals*> find_totals(std::string_view currency,
                                     std::vector<ReconcileTotals>& totals) {
  const Currency code = TRY(Currency::parse(currency));
  auto found = std::ranges::lower_bound(
      totals, code, {}, [](const ReconcileTotals& t) { return t.billed_lines.currency(); });
  if (found == totals.end() || found->billed_lines.currency() != code) {
    const Costs zero = Costs::zero(code);
    found = totals.insert(found, ReconcileTotals{zero, zero, 0, 0, 0, 0, 0});
  }
  return &*found;
}

namespace {

// REQUIRES: `key` tells what a fact is about, and since when.
template <class Fact, class Key>
void keep_ended_facts(std::vector<Fact>& facts, Key key) {
  // A fact without an end counts as ending last.
  const auto end = [](const Fact& fact) { return fact.to.value_or(Instant::max()); };
  std::map<decltype(key(facts.front())), Instant> earliest;
  for (const Fact& fact : facts) {
    const auto [at, is_new] = earliest.try_emplace(key(fact), end(fact));
    if (!is_new) at->second = std::min(at->second, end(fact));
  }
  if (earliest.size() == facts.size()) return;
  std::erase_if(facts, [&](const Fact& fact) {
    const auto at = earliest.find(key(fact));
    if (at == earliest.end() || at->second != end(fact)) return true;
    earliest.erase(at);  // one of them is enough
    return false;
  });
}

}  // namespace

void keep_ended(std::vector<Node>& nodes) {
  keep_ended_facts(nodes, [](const Node& node) {
    return std::tuple(node.cluster.text(), node.name.text(), node.from);
  });
}

void keep_ended(std::vector<Gpu>& gpus) {
  keep_ended_facts(gpus, [](const Gpu& gpu) {
    return std::tuple(gpu.cluster.text(), gpu.uuid.text(), gpu.from);
  });
}

bool supersedes(const Holding& a, const Holding& b) {
  return std::tuple(a.ended, a.held.end(), b.id) > std::tuple(b.ended, b.held.end(), a.id);
}

std::string month_of(Instant at) {
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(at));
  return fmt::format("{:04}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()));
}

std::chrono::sys_days bucket_of(std::chrono::sys_days day, TimeBucket bucket) {
  switch (bucket) {
    case TimeBucket::kNone:
      break;
    case TimeBucket::kDay:
      return day;
    case TimeBucket::kWeek:
      return day - (std::chrono::weekday(day) - std::chrono::Monday);
    case TimeBucket::kMonth: {
      const std::chrono::year_month_day date(day);
      return std::chrono::sys_days(date.year() / date.month() / 1);
    }
  }
  CHECK(false, "no bucket has no first day");
}

bool comes_before(const SummaryRow& a, const SummaryRow& b) {
  if (a.bucket != b.bucket) return a.bucket < b.bucket;
  if (a.keys != b.keys) return a.keys < b.keys;
  return a.costs.currency() < b.costs.currency();
}

std::string month_is_closed(std::string_view month) {
  return fmt::format(
      "{} is closed and does not change; what came later is booked in the first open month", month);
}

Result<void> must_be_exact(std::string_view month, std::span<const ReconcileTotals> totals) {
  std::uint64_t lines = 0, off = 0, unposted = 0, gone = 0, transfers_off = 0;
  for (const ReconcileTotals& total : totals) {
    lines += total.lines;
    off += total.lines_off;
    unposted += total.lines_unposted;
    gone += total.lines_gone;
    transfers_off += total.transfers_off;
  }
  if (lines == 0) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has no bill lines; there is nothing to close", month));
  }
  if (off + gone + transfers_off == 0) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("{} can't be closed: {} bill lines do not add up to their postings ({} "
                          "were never allocated), {} that are posted were taken back, {} transfers "
                          "do not add up to zero; run 'pennyweight allocate --month {}', then "
                          "'pennyweight reconcile --month {}'",
                          month, off, unposted, gone, transfers_off, month, month));
}

std::string replacement_is_incomplete(std::uint64_t rejected) {
  return fmt::format(
      "{} could not be read, and a replacement takes what it does not say for gone; mend "
      "{}, or import with another --delivery",
      rejected == 1 ? "1 row" : fmt::format("{} rows", rejected), rejected == 1 ? "it" : "them");
}

std::string invoice_exists(std::string_view number) {
  return fmt::format("an invoice {} was issued already and says something else", number);
}

RejectedRow late_correction_row(std::string_view file, const Correction& correction,
                                std::string_view month) {
  return {.file = std::string(file),
          .line = correction.source.line,
          .column = {},
          .reason = fmt::format("the correction '{}' would change {}, which is closed; date it in "
                                "an open month",
                                correction.name, month),
          .text = {}};
}

Hash128 closing_member(const FactId& line) {
  return Fingerprint().add("line").add(to_text(line)).hash();
}

Hash128 closing_member(const Run& run) {
  return Fingerprint()
      .add("run")
      .add(run.scope.cluster.text())
      .add(static_cast<std::int64_t>(run.number))
      .add(to_text(run.postings_digest))
      .hash();
}

bool is_built_in_dimension(std::string_view name) {
  return std::ranges::any_of(kBuiltInDimensions,
                             [&](const char* built_in) { return name == built_in; });
}

RejectedRow conflict_row(std::string_view file, std::uint64_t line, std::string_view fact,
                         std::string_view difference) {
  return {.file = std::string(file),
          .line = line,
          .column = {},
          .reason = fmt::format("conflict: this {} is already known with other content ({}); the "
                                "first version is kept; a correction must be a fact of its own",
                                fact, difference),
          .text = {}};
}

}  // namespace pennyweight
