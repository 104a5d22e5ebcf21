// What every store promises about bills that are delivered again (ledger/delivery.h) and about
// closed months: both versions of a line stay, a closed month never changes, and no cent is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <random>

#include "ledger/store_rules.h"
#include "testing/store_contract/stores.h"

namespace pennyweight {
namespace {

using namespace sample;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeliveryContract : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, DeliveryContract, every_store(), store_name);

Charge line(const std::string& resource, std::int64_t units, int month = 3,
            const std::string& account = "12") {
  const auto begin = [](int m) { return at(("2026-0" + std::to_string(m) + "-01").c_str()); };
  Charge made = charge(resource, units);
  made.billing_account_id = account;
  made.billing_period = made.charge_period = Interval(begin(month), begin(month + 1));
  return made;
}

ImportSource delivered(DeliveryStyle style, std::uint64_t file = 1) {
  ImportSource made = source("bill-" + std::to_string(file) + ".csv");
  made.style = style;
  made.file_hash = {file, file};
  made.reason = "delivery " + std::to_string(file);
  return made;
}

Result<ImportOutcome> deliver(Store& store, const ImportSource& from,
                              const std::vector<Charge>& lines) {
  const auto session = must(store.begin_import(from));
  must(session->append_charges(lines));
  return session->commit();
}

ImportOutcome replace(Store& store, const std::vector<Charge>& lines, std::uint64_t file = 1) {
  return must(deliver(store, delivered(DeliveryStyle::kReplacement, file), lines));
}

// Allocates every line of a month to one holder.
void allocate(Store& store, const std::string& month) {
  pennyweight::Run made = run();
  made.scope.month = month;
  std::vector<Posting> postings;
  for (const Charge& charge : charges_of(store, month)) {
    postings.push_back(posting(charge.id, "w", charge.costs));
  }
  keep_run(store, made, postings);
}

Closing closing_of(const std::string& month) {
  return {.month = month,
          .at = at("2026-04-05T08:00:00Z"),
          .by = "ann",
          .reason = "the invoice is paid",
          .last_import = 0,
          .lines = 0,
          .runs = 0,
          .digest = {}};
}

void close(Store& store, const std::string& month) {
  allocate(store, month);
  must(store.close_month(closing_of(month)));
}

std::int64_t billed(Store& store, const std::string& month) {
  Money sum = Money::zero(kUsd);
  for (const Charge& charge : charges_of(store, month)) sum += charge.costs.billed;
  return static_cast<std::int64_t>(sum.ticks() / Money::kTicksPerUnit);
}

TEST_P(DeliveryContract, AReplacementReplacesTheBill) {
  replace(*store_, {line("a", 10), line("b", 20), line("b", 20), line("c", 30)});
  const ImportOutcome second = replace(*store_, {line("a", 11), line("b", 20), line("d", 40)}, 2);
  EXPECT_EQ(second.charges.created, 2u);
  EXPECT_EQ(second.charges.existing, 1u);
  EXPECT_EQ(second.charges.conflicts, 0u);
  EXPECT_EQ(second.restated, (Restated{.removed = 3, .reversed = 0, .late = 0}));
  EXPECT_EQ(billed(*store_, "2026-03"), 11 + 20 + 40);
  // Delivering the same again changes nothing.
  const ImportOutcome again = replace(*store_, {line("a", 11), line("b", 20), line("d", 40)}, 3);
  EXPECT_EQ(again.charges.existing, 3u);
  EXPECT_EQ(again.charges.created, 0u);
  EXPECT_EQ(again.restated, Restated{});
  // Both versions stay.
  const auto retired = must(store_->retired_charges("2026-03"));
  ASSERT_EQ(retired.size(), 3u);
  for (const RetiredCharge& gone : retired) {
    EXPECT_EQ(gone.import_number, 2u);
    EXPECT_EQ(gone.charge.import_number, 1u);
    EXPECT_FALSE(gone.taken_back);
    EXPECT_EQ(must(store_->find_charge(gone.charge.id)), gone.charge);
  }
  const auto restated = must(store_->restated_charges("2026-03"));
  ASSERT_EQ(restated.size(), 2u);
  EXPECT_EQ(restated[0].import_number, 2u);
  // An earlier version may return, as a line of its own.
  EXPECT_EQ(replace(*store_, {line("a", 10)}, 4).charges.created, 1u);
  EXPECT_EQ(billed(*store_, "2026-03"), 10);
  const auto imports = must(store_->imports());
  EXPECT_EQ(imports[1].source.style, DeliveryStyle::kReplacement);
  EXPECT_EQ(imports[1].source.reason, "delivery 2");
  EXPECT_EQ(imports[1].restated.removed, 3u);
}

// A line that one delivery leaves out and the next one has again is shown twice: as gone and as
// back, so that the differences of all restatements are what the bill changed by.
TEST_P(DeliveryContract, ALineThatComesBackIsRestated) {
  replace(*store_, {line("a", 10), line("b", 20)});
  EXPECT_EQ(replace(*store_, {line("a", 10)}, 2).restated.removed, 1u);
  EXPECT_EQ(replace(*store_, {line("a", 10), line("b", 20), line("c", 5)}, 3).charges.created, 2u);
  EXPECT_EQ(must(store_->retired_charges("2026-03")).size(), 1u);
  const auto restated = must(store_->restated_charges("2026-03"));
  ASSERT_EQ(restated.size(), 1u);
  EXPECT_EQ(restated[0].resource_id, "b");
  EXPECT_EQ(restated[0].import_number, 3u);
  EXPECT_EQ(must(store_->restated_charges("2026-04")).size(), 0u);
}

TEST_P(DeliveryContract, AReplacementKeepsToItsScope) {
  Charge of_nobody = line("x", 1, 3, "");
  of_nobody.invoice_issuer_name = "Acme";
  Charge of_another = of_nobody;
  of_another.invoice_issuer_name = "Other";
  of_another.resource_id = "y";
  replace(*store_,
          {line("a", 10), line("a", 10, 4), line("a", 10, 3, "34"), of_nobody, of_another});
  EXPECT_EQ(replace(*store_, {line("a", 5)}, 2).restated.removed, 1u);
  EXPECT_EQ(billed(*store_, "2026-03"), 5 + 10 + 1 + 1);
  EXPECT_EQ(billed(*store_, "2026-04"), 10);
  // A delivery part (x_DeliveryPart) is a scope of its own.
  Charge part = line("p", 3);
  part.other_columns = R"({"x_Any":"1","x_DeliveryPart":"purchases"})";
  EXPECT_EQ(replace(*store_, {part}, 21).restated.removed, 0u);
  EXPECT_EQ(replace(*store_, {line("a", 5)}, 22).charges.existing, 1u);
  part.costs = costs(0);
  EXPECT_EQ(replace(*store_, {part}, 23).restated.removed, 1u);
  of_nobody.costs = costs(7);
  EXPECT_EQ(replace(*store_, {of_nobody}, 3).restated.removed, 1u);
  EXPECT_EQ(billed(*store_, "2026-03"), 5 + 10 + 7 + 1);
}

TEST_P(DeliveryContract, AReplacementThatIsNotCompleteIsRefused) {
  replace(*store_, {line("a", 10), line("b", 20)});
  const auto session = must(store_->begin_import(delivered(DeliveryStyle::kReplacement, 2)));
  must(session->append_charges(std::vector{line("a", 10)}));
  const RejectedRow bad{"bill.csv", 3, "BilledCost", "no number", "x"};
  must(session->append_rejected({&bad, 1}));
  const auto outcome = session->commit();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("1 row could not be read"));
  EXPECT_EQ(billed(*store_, "2026-03"), 30);
  EXPECT_EQ(must(store_->imports()).size(), 1u);
}

TEST_P(DeliveryContract, DifferencesAddUp) {
  const auto delta = [&](std::uint64_t file, const std::vector<Charge>& lines) {
    return must(deliver(*store_, delivered(DeliveryStyle::kDelta, file), lines));
  };
  delta(1, {line("a", 10), line("a", -3)});
  const ImportOutcome second = delta(2, {line("a", -3), line("a", -3), line("b", 1)});
  EXPECT_EQ(second.charges.created, 3u);
  EXPECT_EQ(second.charges.conflicts, 0u);
  EXPECT_EQ(billed(*store_, "2026-03"), 10 - 9 + 1);
  // A file is identified by its bytes.
  const ImportOutcome again = delta(2, {line("a", -3), line("a", -3), line("b", 1)});
  EXPECT_TRUE(again.known_file);
  EXPECT_EQ(again.charges.created, 0u);
  EXPECT_EQ(billed(*store_, "2026-03"), 2);
}

TEST_P(DeliveryContract, AGuardedDeliveryChecksTheLiveLines) {
  replace(*store_, {line("a", 10)});
  replace(*store_, {line("a", 11)}, 2);
  // 10 was taken back, so the guard does not count it as a known version.
  const auto guarded =
      must(deliver(*store_, delivered(DeliveryStyle::kGuarded, 3), {line("a", 10)}));
  EXPECT_EQ(guarded.charges.conflicts, 1u);
  EXPECT_EQ(guarded.charges.existing, 0u);
  const auto both =
      must(deliver(*store_, delivered(DeliveryStyle::kGuarded, 4), {line("a", 10), line("a", 11)}));
  EXPECT_EQ(both.charges.created, 1u);
  EXPECT_EQ(both.charges.existing, 1u);
  EXPECT_EQ(billed(*store_, "2026-03"), 21);
}

TEST_P(DeliveryContract, AClosedMonthDoesNotChange) {
  replace(*store_, {line("a", 10), line("b", 20), line("c", 30)});
  allocate(*store_, "2026-03");
  const Closing closed = must(store_->close_month(closing_of("2026-03")));
  EXPECT_EQ(closed.lines, 3u);
  EXPECT_EQ(closed.runs, 1u);
  EXPECT_EQ(closed.last_import, 1u);
  EXPECT_EQ(must(store_->closings()), std::vector{closed});
  const auto before = charges_of(*store_, "2026-03");

  // A late refund, and three changed lines in a month that is delivered again.
  const ImportOutcome late =
      must(deliver(*store_, delivered(DeliveryStyle::kDelta, 2), {line("refund", -5)}));
  EXPECT_EQ(late.restated, (Restated{.removed = 0, .reversed = 0, .late = 1}));
  const ImportOutcome again =
      replace(*store_, {line("a", 11), line("b", 20), line("c", 25), line("refund", -5)}, 3);
  EXPECT_EQ(again.restated, (Restated{.removed = 0, .reversed = 2, .late = 2}));
  EXPECT_EQ(again.charges.existing, 2u);
  EXPECT_EQ(charges_of(*store_, "2026-03"), before);
  EXPECT_EQ(billed(*store_, "2026-03"), 60);
  EXPECT_EQ(billed(*store_, "2026-04"), -5 + (11 - 10) + (25 - 30));

  for (const RetiredCharge& retired : must(store_->retired_charges("2026-03"))) {
    ASSERT_TRUE(retired.taken_back);
    const Charge& back = *retired.taken_back;
    EXPECT_EQ(back.booked_month, "2026-04");
    EXPECT_EQ(back.takes_back, retired.charge.id);
    EXPECT_TRUE(back.is_correction);
    EXPECT_EQ(back.costs.billed + retired.charge.costs.billed, Money::zero(kUsd));
    EXPECT_EQ(back.charge_period, retired.charge.charge_period);
    EXPECT_EQ(back.import_number, 3u);
  }
  // Then April is closed too, and the correct amount for March changes once more.
  close(*store_, "2026-04");
  EXPECT_EQ(replace(*store_, {line("a", 11), line("b", 20)}, 4).restated,
            (Restated{.removed = 0, .reversed = 2, .late = 0}));
  EXPECT_EQ(billed(*store_, "2026-03"), 60);
  EXPECT_EQ(billed(*store_, "2026-04"), -9);
  EXPECT_EQ(billed(*store_, "2026-05"), -25 + 5);
}

TEST_P(DeliveryContract, ClosingIsForGood) {
  EXPECT_THAT(store_->close_month(closing_of("2026-03")).error().message,
              HasSubstr("no bill lines"));
  import_charges(*store_, {line("a", 10)});
  EXPECT_THAT(store_->close_month(closing_of("2026-03")).error().message,
              HasSubstr("1 were never allocated"));
  close(*store_, "2026-03");
  EXPECT_THAT(store_->close_month(closing_of("2026-03")).error().message, HasSubstr("is closed"));
  const auto session = store_->begin_run(run());
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().message, HasSubstr("2026-03 is closed"));
}

TEST_P(DeliveryContract, PostingsOfRetiredLinesAreReported) {
  replace(*store_, {line("a", 10), line("b", 20)});
  allocate(*store_, "2026-03");
  replace(*store_, {line("a", 10), line("b", 21)}, 2);
  const auto totals = totals_of(*store_, "2026-03");
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals[0].lines, 2u);
  EXPECT_EQ(totals[0].lines_gone, 1u);
  EXPECT_EQ(totals[0].lines_unposted, 1u);
  EXPECT_FALSE(totals[0].exact());
  EXPECT_THAT(store_->close_month(closing_of("2026-03")).error().message,
              HasSubstr("1 that are posted were taken back"));
  allocate(*store_, "2026-03");
  EXPECT_TRUE(totals_of(*store_, "2026-03")[0].exact());
}

TEST_P(DeliveryContract, EarlierStatesCanBeQueried) {
  replace(*store_, {line("a", 10)});
  pennyweight::Run first = run();
  first.at = at("2026-04-01T10:00:00Z");
  const auto post = [&](const pennyweight::Run& made) {
    std::vector<Posting> postings;
    for (const Charge& charge : charges_of(*store_, "2026-03")) {
      postings.push_back(posting(charge.id, "w", charge.costs));
    }
    keep_run(*store_, made, postings);
  };
  post(first);
  replace(*store_, {line("a", 12)}, 2);
  pennyweight::Run second = run();
  second.at = at("2026-04-03T10:00:00Z");
  post(second);
  const auto cost_as_of = [&](std::optional<Instant> when) {
    const auto rows =
        must(store_->summarise({.group_by = {"month", "billing_month"}, .as_of = when}));
    return rows.empty() ? "nothing" : to_text(rows[0].costs.billed.amount()) + rows[0].keys[1];
  };
  EXPECT_EQ(cost_as_of({}), "122026-03");
  EXPECT_EQ(cost_as_of(at("2026-04-02T00:00:00Z")), "102026-03");
  EXPECT_EQ(cost_as_of(at("2026-04-01T10:00:00Z")), "102026-03");
  EXPECT_EQ(cost_as_of(at("2026-04-03T10:00:00Z")), "122026-03");
  EXPECT_EQ(cost_as_of(at("2026-03-01T00:00:00Z")), "nothing");
}

TEST_P(DeliveryContract, ACorrectionOfAClosedMonthIsSetAside) {
  const auto correct = [&](const std::string& name) {
    const auto session = must(store_->begin_import(source("corrections.csv")));
    must(session->append_corrections(std::vector{correction(name, 1)}));
    return must(session->commit());
  };
  correct("early");
  import_charges(*store_, {line("a", 10)});
  close(*store_, "2026-03");
  const ImportOutcome late = correct("late");
  EXPECT_EQ(late.corrections.created, 0u);
  EXPECT_EQ(late.rejected, 1u);
  EXPECT_THAT(must(store_->rejected_rows(10))[0].reason, HasSubstr("date it in an open month"));
  EXPECT_EQ(correct("early").corrections.existing, 1u);
}

TEST_P(DeliveryContract, InvoicesAreIssuedOnce) {
  const IssuedInvoice one{"PW-1", "2026-03", "acme", at("2026-04-02"), "{\"a\":1}", {1, 1}, ""};
  IssuedInvoice two{"PW-2", "2026-03", "bolt", at("2026-04-02"), "{\"b\":2}", {2, 2}, "PW-1"};
  must(store_->issue_invoices(std::vector{two, one}));
  must(store_->issue_invoices(std::vector{one}));
  EXPECT_EQ(must(store_->issued_invoices()), (std::vector{one, two}));
  two.digest = {3, 3};
  IssuedInvoice three = one;
  three.number = "PW-3";
  const auto refused = store_->issue_invoices(std::vector{three, two});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("PW-2"));
  EXPECT_EQ(must(store_->issued_invoices()).size(), 2u);
}

// What the provider currently says of each scope, kept by an oracle that knows nothing of ids.
class Oracle {
 public:
  void replace(const std::vector<Charge>& lines) {
    for (const Charge& line : lines) says_.erase(delivery_scope(line));
    add(lines);
  }
  void add(const std::vector<Charge>& lines) {
    for (const Charge& line : lines) {
      auto& scope = says_[delivery_scope(line)];
      scope.push_back(line.costs.billed.ticks());
    }
  }
  Int128 total() const {
    Int128 sum = 0;
    for (const auto& [scope, amounts] : says_) {
      for (const Int128 amount : amounts) sum += amount;
    }
    return sum;
  }

 private:
  std::map<std::string, std::vector<Int128>> says_;
};

std::vector<Charge> any_lines() {
  std::vector<Charge> lines;
  const int count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) {
    lines.push_back(line(std::string(1, static_cast<char>('a' + *rc::gen::inRange(0, 3))),
                         *rc::gen::inRange(-2, 3), *rc::gen::inRange(1, 5),
                         std::to_string(*rc::gen::inRange(0, 2))));
  }
  return lines;
}

Int128 billed_ticks(const std::vector<Charge>& lines) {
  Int128 sum = 0;
  for (const Charge& line : lines) sum += line.costs.billed.ticks();
  return sum;
}

class Deliveries : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Stores, Deliveries, ::testing::ValuesIn(persistent_stores()), store_name);

TEST_P(Deliveries, NoSequenceChangesAClosedMonthOrLosesACent) {
  const bool held = rc::check("closed months stay, and everything adds up", [] {
    Ledgers ledgers(GetParam());
    const auto memory = make_memory_store();
    const auto file = ledgers.fresh("ledger.duckdb");
    Oracle oracle;
    std::map<std::string, std::vector<Charge>> closed;
    const int steps = *rc::gen::inRange(1, 9);
    for (int step = 1; step <= steps; ++step) {
      const auto number = static_cast<std::uint64_t>(step);
      if (*rc::gen::inRange(0, 4) == 0) {
        const std::string month = "2026-0" + std::to_string(*rc::gen::inRange(1, 6));
        if (closed.contains(month) || charges_of(*memory, month).empty()) continue;
        close(*memory, month);
        close(*file, month);
        closed[month] = charges_of(*memory, month);
      } else {
        const bool replaces = *rc::gen::arbitrary<bool>();
        const auto lines = any_lines();
        const auto from =
            delivered(replaces ? DeliveryStyle::kReplacement : DeliveryStyle::kLedger, number);
        const auto a = must(deliver(*memory, from, lines));
        const auto b = must(deliver(*file, from, lines));
        RC_ASSERT(a.restated == b.restated);
        RC_ASSERT(a.charges.created == b.charges.created);
        RC_ASSERT(a.charges.existing == b.charges.existing);
        RC_ASSERT(a.charges.repeated == b.charges.repeated);
        replaces ? oracle.replace(lines) : oracle.add(lines);
        // Delivering the same again changes nothing.
        const auto again = must(deliver(*memory, from, lines));
        RC_ASSERT(again.charges.created == 0u && again.restated == Restated{});
        const auto again_b = must(deliver(*file, from, lines));
        RC_ASSERT(again_b.charges.created == 0u && again_b.restated == Restated{});
      }
      RC_ASSERT(charges_of(*memory) == charges_of(*file));
      RC_ASSERT(must(memory->retired_charges("")) == must(file->retired_charges("")));
      RC_ASSERT(must(memory->restated_charges("")) == must(file->restated_charges("")));
      RC_ASSERT(billed_ticks(charges_of(*memory)) == oracle.total());
      for (const auto& [month, lines] : closed) {
        RC_ASSERT(charges_of(*memory, month) == lines);
        const auto totals = totals_of(*memory, month);
        for (const ReconcileTotals& total : totals) RC_ASSERT(total.exact());
      }
    }
    RC_ASSERT(must(memory->closings()) == must(file->closings()));
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace pennyweight
