#include "testing/memory_store/memory_store.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/limits.h"
#include "core/try.h"
#include "ledger/store_rules.h"
#include "testing/memory_store/memory_ledger.h"
#include "testing/memory_store/summarise.h"
#include "testing/memory_store/work.h"

namespace pennyweight {
namespace {

// Holds the right to change the ledger: one session at a time.
class SessionLock {
 public:
  explicit SessionLock(MemoryLedger& ledger) : ledger_(ledger) { ledger_.session_open = true; }
  ~SessionLock() { ledger_.session_open = false; }
  SessionLock(const SessionLock&) = delete;
  SessionLock& operator=(const SessionLock&) = delete;
  MemoryLedger& ledger() { return ledger_; }

 private:
  MemoryLedger& ledger_;
};

template <class T>
void append(std::vector<T>& to, std::span<const T> from) {
  to.insert(to.end(), from.begin(), from.end());
}

class MemoryImport : public ImportSession {
 public:
  MemoryImport(MemoryLedger& ledger, ImportSource source) : lock_(ledger) {
    staged_.source = std::move(source);
  }
  Result<void> append_charges(std::span<const Charge> charges) override {
    append(staged_.charges, charges);
    return {};
  }
  Result<void> append_holdings(std::span<const Holding> holdings) override {
    append(staged_.holdings, holdings);
    for (const auto& fact : holdings) staged_.invalidations.add(fact);
    return {};
  }
  Result<void> append_nodes(std::span<const Node> nodes) override {
    append(staged_.nodes, nodes);
    for (const auto& fact : nodes) staged_.invalidations.add(fact);
    return {};
  }
  Result<void> append_gpus(std::span<const Gpu> gpus) override {
    append(staged_.gpus, gpus);
    for (const auto& fact : gpus) staged_.invalidations.add(fact);
    return {};
  }
  Result<void> append_usages(std::span<const Usage> usages) override {
    append(staged_.usages, usages);
    for (const auto& fact : usages) staged_.invalidations.add(fact);
    return {};
  }
  Result<void> append_outages(std::span<const Outage> outages) override {
    append(staged_.outages, outages);
    for (const auto& fact : outages) staged_.invalidations.add(fact);
    return {};
  }
  Result<void> append_corrections(std::span<const Correction> corrections) override {
    append(staged_.corrections, corrections);
    for (const auto& fact : corrections) staged_.invalidations.add(fact);
    return {};
  }
  Result<void> append_outcomes(std::span<const Outcome> outcomes) override {
    append(staged_.outcomes, outcomes);
    return {};
  }
  Result<void> append_rejected(std::span<const RejectedRow> rows) override {
    staged_.rejected_count += rows.size();
    const std::size_t room = limits::kRejectedRowsKeptMax - staged_.rejected.size();
    append(staged_.rejected, rows.first(std::min(room, rows.size())));
    return {};
  }
  Result<ImportOutcome> commit_on(const CommitTerms& terms) override {
    CHECK(!std::exchange(committed_, true), "a session is committed once");
    return commit_import(lock_.ledger(), std::move(staged_), terms);
  }

 private:
  SessionLock lock_;
  StagedImport staged_;
  bool committed_ = false;
};

class MemoryRun : public RunSession {
 public:
  MemoryRun(MemoryLedger& ledger, Run run)
      : lock_(ledger), kept_{{std::move(run), {}, {}}, {}, {}} {}
  MemoryRun(MemoryLedger& ledger, Run run, WorkClaim claim, WorkCompletion done)
      : MemoryRun(ledger, std::move(run)) {
    work_.emplace(std::move(claim), std::move(done));
  }

  Result<void> append_postings(std::span<const Posting> postings) override {
    append(kept_.postings, postings);
    return {};
  }
  Result<void> append_dimensions(std::span<const WorkloadDimensions> workloads) override {
    return add_dimensions(kept_.dimensions, workloads);
  }
  Result<void> keep_previous_except(std::span<const FactId> charges) override {
    CHECK(!std::exchange(kept_previous_, true), "a session keeps the previous run once");
    const StoredRun* current = current_run(lock_.ledger(), kept_.run.scope);
    if (current == nullptr) return fail(ErrorCode::kNotFound, kNothingToKeep);
    if (!same_rules(current->run, kept_.run)) return fail(ErrorCode::kConflict, kOtherRules);
    const std::set<FactId> left_out(charges.begin(), charges.end());
    std::vector<WorkloadDimensions> dimensions;
    for (const Posting& posting : current->postings) {
      if (left_out.contains(posting.charge)) continue;
      kept_.postings.push_back(posting);
      const auto found = current->dimensions.find(posting.workload);
      if (found != current->dimensions.end()) dimensions.push_back({found->first, found->second});
    }
    return append_dimensions(dimensions);
  }
  Result<Run> commit() override {
    CHECK(!std::exchange(committed_, true), "a session is committed once");
    std::ranges::sort(kept_.postings,
                      [](const Posting& a, const Posting& b) { return comes_before(a, b); });
    SetDigest postings;
    for (const Posting& posting : kept_.postings) postings.add(content_hash(posting));
    kept_.run.postings_digest = postings.digest();
    kept_.run.postings = kept_.postings.size();
    kept_.run.current = true;
    kept_.run.number = 1;
    kept_.dimensions_digest = dimensions_digest(kept_.dimensions);
    MemoryLedger& ledger = lock_.ledger();
    if (work_) {
      TRY(check_claim(ledger, work_->first));
    }
    Run run = keep(ledger);
    if (work_) save_completion(ledger, std::move(work_->second), run.number);
    return run;
  }

 private:
  Run keep(MemoryLedger& ledger) {
    if (StoredRun* current = current_run(ledger, kept_.run.scope)) {
      if (is_same_run(*current, kept_)) return current->run;
      kept_.run.number = current->run.number + 1;
      current->run.current = false;
    }
    ledger.runs.push_back(std::move(kept_));
    return ledger.runs.back().run;
  }

  SessionLock lock_;
  StoredRun kept_;
  std::optional<std::pair<WorkClaim, WorkCompletion>> work_;
  bool kept_previous_ = false;
  bool committed_ = false;
};

template <class Fact>
std::vector<Fact> values(const std::map<FactId, Fact>& facts, const auto& wanted) {
  std::vector<Fact> found;
  for (const auto& [id, fact] : facts) {
    if (wanted(fact)) found.push_back(fact);
  }
  return found;
}

// Whether a line is in the accounts of a month; empty: of any month.
auto booked_in(const MemoryLedger& ledger, const std::string& month) {
  return [&ledger, &month](const Charge& charge) {
    return (month.empty() || charge.booked_month == month) && ledger.is_booked(charge.id);
  };
}

std::string billing_month_of(const Charge& charge) {
  return month_of(charge.billing_period.begin());
}

class MemoryStore : public Store {
 public:
  explicit MemoryStore(bool is_alone) : is_alone_(is_alone) {}

  Result<std::unique_ptr<ImportSession>> begin_import(const ImportSource& source) override {
    if (ledger_.session_open) return fail(ErrorCode::kStore, kSessionIsOpen);
    return std::make_unique<MemoryImport>(ledger_, source);
  }
  Result<std::unique_ptr<RunSession>> begin_run(const Run& run) override {
    if (ledger_.session_open) return fail(ErrorCode::kStore, kSessionIsOpen);
    if (ledger_.is_closed(run.scope.month)) {
      return fail(ErrorCode::kConflict, month_is_closed(run.scope.month));
    }
    return std::make_unique<MemoryRun>(ledger_, run);
  }
  Result<WorkRecords> work_records() override {
    WorkRecords work = work_records_of(ledger_);
    work.is_alone = is_alone_;
    return work;
  }
  Result<std::vector<InvalidatedScope>> invalidated_scopes(std::uint64_t after) override {
    return invalidated_since(ledger_, after);
  }
  Result<std::optional<WorkClaim>> claim_work(const ClaimRequest& request) override {
    if (ledger_.session_open) return fail(ErrorCode::kStore, kSessionIsOpen);
    return pennyweight::claim_work(ledger_, request);
  }
  Result<void> renew_claim(const WorkClaim& claim, Instant at) override {
    record_heartbeat(ledger_, claim, at, false);
    return {};
  }
  Result<void> release_claim(const WorkClaim& claim, Instant at) override {
    record_heartbeat(ledger_, claim, at, true);
    return {};
  }
  Result<void> save_plan(const WorkPlan& plan) override {
    WorkPlan& newest = ledger_.plans[plan.month];
    if (plan.imports >= newest.imports) newest = plan;
    return {};
  }
  Result<std::unique_ptr<RunSession>> begin_claimed_run(const Run& run, const WorkClaim& claim,
                                                        const WorkCompletion& done) override {
    if (ledger_.session_open) return fail(ErrorCode::kStore, kSessionIsOpen);
    if (ledger_.is_closed(run.scope.month)) {
      return fail(ErrorCode::kConflict, month_is_closed(run.scope.month));
    }
    return std::make_unique<MemoryRun>(ledger_, run, claim, done);
  }

  Result<void> scan_charges(const std::string& month, const ChargeSink& sink) override {
    return hand_over(values(ledger_.charges, booked_in(ledger_, month)), sink);
  }

  Result<void> scan_holdings(const ClusterId& cluster, const Interval& during,
                             const HoldingSink& sink) override {
    std::map<std::pair<WorkloadId, std::string>, const Holding*> attempts;
    for (const auto& [id, holding] : ledger_.holdings) {
      if (holding.cluster != cluster) continue;
      const Holding*& kept = attempts[{holding.workload, holding.attempt}];
      if (kept == nullptr || supersedes(holding, *kept)) kept = &holding;
    }
    std::vector<Holding> found;
    for (const auto& [attempt, holding] : attempts) {
      if (holding->held.overlap(during)) found.push_back(*holding);
    }
    std::ranges::stable_sort(found, {}, [](const Holding& h) { return h.held.begin(); });
    return hand_over(found, sink);
  }

  Result<std::vector<Node>> nodes() override {
    auto found = values(ledger_.nodes, [](const Node&) { return true; });
    std::ranges::sort(found, {},
                      [](const Node& n) { return std::tuple(n.cluster, n.name, n.from); });
    keep_ended(found);
    return found;
  }
  Result<std::vector<Gpu>> gpus() override {
    auto found = values(ledger_.gpus, [](const Gpu&) { return true; });
    std::ranges::sort(found, {}, [](const Gpu& g) {
      return std::tuple(g.cluster, g.node, g.index, g.uuid, g.from);
    });
    keep_ended(found);
    return found;
  }
  Result<void> scan_usage(const ClusterId& cluster, const Interval& during, UsageDetail detail,
                          const UsageSink& sink) override {
    auto found = values(ledger_.usages, [&](const Usage& u) {
      return u.cluster == cluster && during.contains(u.at);
    });
    std::ranges::sort(found, {}, [](const Usage& u) {
      return std::tie(u.gpu, u.mig_instance, u.workload, u.at, u.span_ms, u.part);
    });
    for (Usage& usage : found) {
      usage.id = {};
      usage.source = {};
      if (detail == UsageDetail::kShares) usage = shares_of(usage);
    }
    for (auto card = found.begin(); card != found.end();) {
      const auto next = std::find_if(card, found.end(),
                                     [&](const Usage& usage) { return usage.gpu != card->gpu; });
      if (!sink(std::span<const Usage>(card, next))) break;
      card = next;
    }
    return {};
  }
  Result<void> scan_outcomes(const ClusterId& cluster, const Interval& during,
                             const OutcomeSink& sink) override {
    auto found = values(ledger_.outcomes, [&](const Outcome& o) {
      return o.cluster == cluster && during.contains(o.during.begin());
    });
    std::ranges::sort(found, {},
                      [](const Outcome& o) { return std::tuple(o.during.begin(), o.id); });
    return hand_over(found, sink);
  }
  Result<std::vector<Outage>> outages(const ClusterId& cluster, const Interval& during) override {
    auto found = values(ledger_.outages, [&](const Outage& o) {
      return o.cluster == cluster && o.during.overlap(during);
    });
    std::ranges::sort(found, {},
                      [](const Outage& o) { return std::tuple(o.node, o.gpu, o.during.begin()); });
    return found;
  }
  Result<std::vector<Correction>> corrections(const ClusterId& cluster,
                                              const Interval& during) override {
    auto found = values(ledger_.corrections, [&](const Correction& c) {
      return c.cluster == cluster && c.during.overlap(during);
    });
    std::ranges::sort(found, {}, &Correction::name);
    return found;
  }

  Result<std::optional<Charge>> find_charge(const FactId& id) override {
    return find(ledger_.charges, id);
  }
  Result<std::optional<Holding>> find_holding(const FactId& id) override {
    return find(ledger_.holdings, id);
  }
  Result<std::vector<Posting>> postings_of(const FactId& charge) override {
    std::vector<Posting> found;
    visit_postings(ledger_, {}, [&](const StoredRun&, const Posting& posting) {
      if (posting.charge == charge) found.push_back(posting);
    });
    std::ranges::sort(found, [](const Posting& a, const Posting& b) { return comes_before(a, b); });
    return found;
  }
  Result<void> scan_postings(const Scope& scope, const PostingSink& sink) override {
    const StoredRun* run = current_run(ledger_, scope);
    return run == nullptr ? Result<void>() : hand_over(run->postings, sink);
  }
  Result<std::vector<WorkloadDimensions>> dimensions_of(const Scope& scope) override {
    std::vector<WorkloadDimensions> found;
    if (const StoredRun* run = current_run(ledger_, scope)) {
      for (const auto& [workload, labels] : run->dimensions) found.push_back({workload, labels});
    }
    return found;
  }
  Result<std::vector<Posting>> largest_postings(const SummaryQuery& query, std::uint64_t at_most,
                                                std::uint64_t skipped) override {
    std::vector<Posting> found;
    visit_postings(ledger_, query, [&](const StoredRun&, const Posting& p) { found.push_back(p); });
    std::ranges::sort(found, is_larger);
    found.erase(found.begin(), found.begin() + std::ptrdiff_t(std::min(skipped, found.size())));
    if (found.size() > at_most) found.erase(found.begin() + std::ptrdiff_t(at_most), found.end());
    return found;
  }

  Result<std::vector<Run>> runs() override {
    std::vector<Run> found;
    for (const StoredRun& kept : ledger_.runs) found.push_back(kept.run);
    std::ranges::sort(found, {}, [](const Run& run) { return std::pair(run.scope, run.number); });
    return found;
  }
  Result<std::vector<ImportRecord>> imports() override { return ledger_.imports; }
  Result<std::vector<ImportRecord>> imports_numbered(
      std::span<const std::uint64_t> numbers) override {
    std::vector<ImportRecord> found;
    std::ranges::copy_if(ledger_.imports, std::back_inserter(found),
                         [&](const ImportRecord& import) {
                           return std::ranges::find(numbers, import.number) != numbers.end();
                         });
    return found;
  }
  Result<std::uint64_t> last_import_until(Instant at) override {
    std::uint64_t last = 0;
    for (const ImportRecord& import : ledger_.imports) {
      if (import.source.at <= at) last = std::max(last, import.number);
    }
    return last;
  }
  Result<std::vector<RejectedRow>> rejected_rows(std::uint64_t at_most) override {
    std::vector<const StoredRejectedRow*> found;
    for (const auto& [id, kept] : ledger_.rejected) found.push_back(&kept);
    std::ranges::stable_sort(found, {}, [](const StoredRejectedRow* kept) {
      const RejectedRow& row = kept->row;
      return std::tuple(kept->import, row.file, row.line, row.column, row.reason, row.text);
    });
    std::vector<RejectedRow> rows;
    for (const StoredRejectedRow* kept : found) {
      if (rows.size() == at_most) break;
      rows.push_back(kept->row);
    }
    return rows;
  }
  Result<StoreOverview> overview() override;
  Result<Closing> close_month(const Closing& closing) override;
  Result<std::vector<Closing>> closings() override {
    std::vector<Closing> found;
    for (const auto& [month, closing] : ledger_.closings) found.push_back(closing);
    return found;
  }
  Result<std::vector<RetiredCharge>> retired_charges(const std::string& month) override;
  Result<std::vector<Charge>> restated_charges(const std::string& month) override;
  Result<void> issue_invoices(std::span<const IssuedInvoice> invoices) override;
  Result<std::vector<IssuedInvoice>> issued_invoices() override {
    std::vector<IssuedInvoice> found;
    for (const auto& [number, invoice] : ledger_.invoices) found.push_back(invoice);
    return found;
  }
  Result<std::vector<SummaryRow>> summarise(const SummaryQuery& query) override {
    return pennyweight::summarise(ledger_, query);
  }
  Result<void> scan_summary(const SummaryQuery& query, const SummarySink& sink) override {
    const std::vector<SummaryRow> rows = pennyweight::summarise(ledger_, query);
    if (!rows.empty()) sink(rows);
    return {};
  }
  Result<std::vector<ReconcileTotals>> reconcile(const std::string& month, bool only_off,
                                                 const LineSink& sink) override;

 private:
  template <class Fact>
  static std::optional<Fact> find(const std::map<FactId, Fact>& facts, const FactId& id) {
    const auto found = facts.find(id);
    if (found == facts.end()) return std::nullopt;
    return found->second;
  }
  template <class Fact, class Sink>
  static Result<void> hand_over(const std::vector<Fact>& facts, const Sink& sink) {
    for (std::size_t begin = 0; begin < facts.size(); begin += limits::kBatchRows) {
      const std::size_t count = std::min(limits::kBatchRows, facts.size() - begin);
      if (!sink(std::span(facts).subspan(begin, count))) break;
    }
    return {};
  }

  bool is_alone_;
  MemoryLedger ledger_;
};

Result<StoreOverview> MemoryStore::overview() {
  StoreOverview view{.charges = ledger_.charges.size(),
                     .holdings = ledger_.holdings.size(),
                     .nodes = ledger_.nodes.size(),
                     .gpus = ledger_.gpus.size(),
                     .usages = ledger_.usages.size(),
                     .outages = ledger_.outages.size(),
                     .corrections = ledger_.corrections.size(),
                     .outcomes = ledger_.outcomes.size(),
                     .postings = 0,
                     .imports = ledger_.imports.size(),
                     .rejected = ledger_.rejected.size(),
                     .clusters = {},
                     .months = {}};
  std::set<std::string> clusters, months;
  for (const auto& [id, node] : ledger_.nodes) clusters.insert(node.cluster.text());
  for (const auto& [id, holding] : ledger_.holdings) clusters.insert(holding.cluster.text());
  for (const auto& [id, outcome] : ledger_.outcomes) clusters.insert(outcome.cluster.text());
  for (const auto& [id, charge] : ledger_.charges) {
    months.insert(charge.booked_month);
  }
  for (const StoredRun& kept : ledger_.runs)
    view.postings += kept.run.current ? kept.run.postings : 0;
  view.clusters.assign(clusters.begin(), clusters.end());
  view.months.assign(months.begin(), months.end());
  return view;
}

Result<std::vector<ReconcileTotals>> MemoryStore::reconcile(const std::string& month, bool only_off,
                                                            const LineSink& sink) {
  const auto no_totals = [](Currency currency) {
    return ReconcileTotals{Costs::zero(currency), Costs::zero(currency), 0, 0, 0, 0, 0};
  };
  std::map<FactId, std::vector<const Posting*>> postings;
  std::map<std::pair<FactId, Currency>, Costs> transfers;
  std::map<Currency, std::set<FactId>> gone;
  visit_postings(ledger_, {}, [&](const StoredRun& kept, const Posting& posting) {
    if (ledger_.charges.contains(posting.charge)) {
      if (!ledger_.is_booked(posting.charge) && (month.empty() || kept.run.scope.month == month)) {
        gone[posting.costs.currency()].insert(posting.charge);
      }
      postings[posting.charge].push_back(&posting);
    } else if (month.empty() || kept.run.scope.month == month) {
      const Currency currency = posting.costs.currency();
      transfers.try_emplace({posting.charge, currency}, Costs::zero(currency)).first->second +=
          posting.costs;
    }
  });
  std::map<Currency, ReconcileTotals> totals;
  for (const auto& [id, sum] : transfers) {
    ReconcileTotals& total = totals.try_emplace(id.second, no_totals(id.second)).first->second;
    ++total.transfers;
    total.transfers_off += sum == Costs::zero(id.second) ? 0 : 1;
  }
  for (const auto& [currency, lines] : gone) {
    totals.try_emplace(currency, no_totals(currency)).first->second.lines_gone = lines.size();
  }
  bool wants_more = true;
  for (const auto& [id, charge] : ledger_.charges) {
    if (!booked_in(ledger_, month)(charge)) continue;
    const Currency currency = charge.costs.currency();
    LineCheck line{charge, Costs::zero(currency), 0};
    // Amounts in a currency other than the line's do not add up to anything.
    std::optional<Currency> foreign;
    for (const Posting* posting : postings[id]) {
      ++line.postings;
      if (posting->costs.currency() == currency) {
        line.posted += posting->costs;
      } else if (!foreign || posting->costs.currency() < *foreign) {
        foreign = posting->costs.currency();
      }
    }
    ReconcileTotals& total = totals.try_emplace(currency, no_totals(currency)).first->second;
    total.billed_lines += charge.costs;
    total.posted += line.posted;
    if (foreign) line.posted = Costs::zero(*foreign);
    ++total.lines;
    total.lines_off += line.exact() ? 0 : 1;
    total.lines_unposted += line.postings == 0 ? 1 : 0;
    if (wants_more && !(only_off && line.exact())) wants_more = sink(line);
  }
  std::vector<ReconcileTotals> sorted;
  for (const auto& [currency, total] : totals) sorted.push_back(total);
  return sorted;
}

Result<Closing> MemoryStore::close_month(const Closing& asked) {
  if (ledger_.session_open) return fail(ErrorCode::kStore, kSessionIsOpen);
  if (ledger_.is_closed(asked.month)) {
    return fail(ErrorCode::kConflict, month_is_closed(asked.month));
  }
  Closing closing = asked;
  const auto totals = TRY(reconcile(asked.month, true, [](const LineCheck&) { return false; }));
  TRY(must_be_exact(asked.month, totals));
  SetDigest digest;
  closing.lines = 0;
  for (const auto& [id, charge] : ledger_.charges) {
    if (!booked_in(ledger_, asked.month)(charge)) continue;
    ++closing.lines;
    digest.add(closing_member(id));
  }
  closing.runs = 0;
  for (const StoredRun& kept : ledger_.runs) {
    if (!kept.run.current || kept.run.scope.month != asked.month) continue;
    ++closing.runs;
    digest.add(closing_member(kept.run));
  }
  closing.digest = digest.digest();
  closing.last_import = ledger_.imports.size();
  ledger_.closings.emplace(closing.month, closing);
  return closing;
}

Result<std::vector<RetiredCharge>> MemoryStore::retired_charges(const std::string& month) {
  std::vector<RetiredCharge> found;
  for (const auto& [id, retirement] : ledger_.retired) {
    const Charge& charge = ledger_.charges.at(id);
    if (!month.empty() && billing_month_of(charge) != month) continue;
    RetiredCharge& retired = found.emplace_back(charge, retirement.import, std::nullopt);
    if (retirement.reversal) retired.taken_back = ledger_.charges.at(*retirement.reversal);
  }
  std::ranges::stable_sort(found, {}, &RetiredCharge::import_number);
  return found;
}

Result<std::vector<Charge>> MemoryStore::restated_charges(const std::string& month) {
  std::set<std::uint64_t> imports;
  std::map<Hash128, std::uint64_t> gone;  // natural key → the first import that retired it
  for (const auto& [id, retirement] : ledger_.retired) {
    imports.insert(retirement.import);
    const auto first =
        gone.try_emplace(natural_key(ledger_.charges.at(id)), retirement.import).first;
    first->second = std::min(first->second, retirement.import);
  }
  const auto comes_back = [&](const Charge& charge) {
    const auto first = gone.find(natural_key(charge));
    return first != gone.end() && charge.import_number > first->second;
  };
  auto found = values(ledger_.charges, [&](const Charge& charge) {
    const std::string own = billing_month_of(charge);
    if (charge.takes_back || !(month.empty() || own == month)) return false;
    return charge.booked_month != own || imports.contains(charge.import_number) ||
           comes_back(charge);
  });
  std::ranges::stable_sort(found, {}, &Charge::import_number);
  return found;
}

Result<void> MemoryStore::issue_invoices(std::span<const IssuedInvoice> invoices) {
  for (const IssuedInvoice& invoice : invoices) {
    const auto there = ledger_.invoices.find(invoice.number);
    if (there != ledger_.invoices.end() && there->second.digest != invoice.digest) {
      return fail(ErrorCode::kConflict, invoice_exists(invoice.number));
    }
  }
  for (const IssuedInvoice& invoice : invoices) {
    ledger_.invoices.try_emplace(invoice.number, invoice);
  }
  return {};
}

}  // namespace

std::unique_ptr<Store> make_memory_store(bool is_alone) {
  return std::make_unique<MemoryStore>(is_alone);
}

}  // namespace pennyweight
