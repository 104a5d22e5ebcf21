// The sums of the generated text, computed by a reader that knows nothing but CSV, equal the
// recorded truth; and the provider's own equations hold.
#include "testing/generate/bills/native_bill.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "testing/generate/bills/made_up_fleet.h"
#include "testing/generate/bills/number_text.h"

namespace pennyweight::bills {
namespace {

using Row = std::map<std::string, std::string>;

// Quotes doubled within quotes, rows end with a line feed.
std::vector<Row> rows_of(std::string_view csv) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (quoted && c == '"' && i + 1 < csv.size() && csv[i + 1] == '"') {
      lines.back().back() += csv[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      lines.back().emplace_back();
    } else if (!quoted && c == '\n') {
      lines.emplace_back(1);
    } else {
      lines.back().back() += c;
    }
  }
  lines.pop_back();
  std::vector<Row> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].size(), lines[0].size());
    Row row;
    for (std::size_t j = 0; j < lines[i].size(); ++j) row[lines[0][j]] = lines[i][j];
    rows.push_back(std::move(row));
  }
  return rows;
}

Int128 ticks(const std::string& text) {
  if (text.empty()) return 0;
  const auto parsed = parse_decimal(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  if (!parsed) return 0;
  EXPECT_FALSE(parsed->rounded) << text;
  return parsed->value.ticks();
}

std::string exact(Int128 ticks) { return to_text(Decimal::from_ticks(ticks)); }

NativeBillOptions options_of(NativeForm form, std::uint64_t seed) {
  NativeBillOptions options;
  options.bill.seed = seed;
  options.form = form;
  options.bill.first_day = std::chrono::sys_days(std::chrono::year(2025) / 2 / 26);
  options.bill.last_day = std::chrono::sys_days(std::chrono::year(2025) / 3 / 10);
  options.bill.prices_as_of = parse_instant("2026-08-15").value();
  return options;
}

std::vector<Node> fleet_of(NativeForm form, std::uint64_t seed) {
  auto nodes = made_up_fleet({.seed = seed,
                              .provider = std::string(provider_of(form)),
                              .nodes = 20,
                              .clusters = 2,
                              .prices_at = parse_instant("2026-08-15").value(),
                              .from = parse_instant("2025-01-01").value()},
                             Catalog::built_in());
  EXPECT_TRUE(nodes.has_value()) << nodes.error().message;
  return *std::move(nodes);
}

struct Written {
  std::string text;
  BillTruth truth;
};

Written write(const NativeBillOptions& options) {
  Written written;
  std::vector<Node> nodes =
      fleet_of(options.form == NativeForm::kUsageOnly ? NativeForm::kAwsCur : options.form,
               options.bill.seed);
  auto truth = write_native_bill(nodes, Catalog::built_in(), options,
                                 [&](std::string_view text) -> Result<void> {
                                   written.text += text;
                                   return {};
                                 });
  EXPECT_TRUE(truth.has_value()) << truth.error().message;
  if (truth) written.truth = *std::move(truth);
  return written;
}

constexpr NativeForm kForms[] = {NativeForm::kAwsCur,      NativeForm::kAwsCur2,
                                 NativeForm::kAzureActual, NativeForm::kAzureAmortised,
                                 NativeForm::kGcpCsv,      NativeForm::kGcpJson,
                                 NativeForm::kOciReport,   NativeForm::kUsageOnly};

TEST(NativeBill, TheSameBytesForASeedAndOthersForAnother) {
  for (const NativeForm form : kForms) {
    SCOPED_TRACE(to_text(form));
    const Written once = write(options_of(form, 7));
    const Written again = write(options_of(form, 7));
    EXPECT_EQ(once.text, again.text);
    EXPECT_EQ(to_json(once.truth), to_json(again.truth));
    EXPECT_NE(once.text, write(options_of(form, 8)).text);
    EXPECT_NE(once.text.find(form == NativeForm::kUsageOnly ? "x_Generated" : "generated"),
              std::string::npos);
  }
}

TEST(NativeBill, NamesOfFormsReadBack) {
  for (const NativeForm form : kForms) EXPECT_EQ(parse_native_form(to_text(form)), form);
  EXPECT_FALSE(parse_native_form("focus").has_value());
}

TEST(NativeBill, AwsRowsAreTheTruth) {
  for (const AwsDiscount discount :
       {AwsDiscount::kNone, AwsDiscount::kLines, AwsDiscount::kNetColumns}) {
    NativeBillOptions options = options_of(NativeForm::kAwsCur, 3);
    options.aws_discount = discount;
    options.hostile = true;
    const Written written = write(options);
    const auto rows = rows_of(written.text);
    EXPECT_EQ(rows.size(), written.truth.rows);
    const bool net = discount == AwsDiscount::kNetColumns;
    const auto of = [&](const Row& row, const std::string& room, const std::string& name) {
      return ticks(row.at(fmt::format("{}/{}{}", room, net ? "Net" : "", name)));
    };
    Int128 billed = 0;
    Int128 effective = 0;
    Int128 negated = 0;  // list price of covered use, and its negation
    std::uint64_t repeating = 0;
    std::map<std::string, int> types;
    for (const Row& row : rows) {
      const std::string& type = row.at("lineItem/LineItemType");
      ++types[type];
      if (row.at("lineItem/Operation") == "EKSPod-EC2") {
        ++repeating;
        continue;
      }
      const Int128 cost = of(row, "lineItem", "UnblendedCost");
      billed += cost;
      if (type == "SavingsPlanCoveredUsage" || type == "SavingsPlanNegation") negated += cost;
      if (type == "SavingsPlanCoveredUsage") {
        effective += of(row, "savingsPlan", "SavingsPlanEffectiveCost");
      } else if (type == "SavingsPlanRecurringFee") {
        effective += ticks(row.at("savingsPlan/TotalCommitmentToDate")) -
                     ticks(row.at("savingsPlan/UsedCommitment"));
      } else if (type == "DiscountedUsage") {
        effective += of(row, "reservation", "EffectiveCost");
      } else if (type == "RIFee") {
        effective += of(row, "reservation", "UnusedRecurringFee") +
                     of(row, "reservation", "UnusedAmortizedUpfrontFeeForBillingPeriod");
      } else if (type != "SavingsPlanNegation" && type != "SavingsPlanUpfrontFee" &&
                 (type != "Fee" || row.at("reservation/ReservationARN").empty())) {
        effective += cost;
      }
    }
    EXPECT_EQ(exact(billed), to_text(written.truth.billed()));
    EXPECT_EQ(exact(effective), to_text(written.truth.effective()));
    EXPECT_EQ(exact(negated), "0");
    EXPECT_EQ(repeating, written.truth.repeating_rows);
    EXPECT_GT(repeating, 0u);
    for (const auto type : {"Usage", "DiscountedUsage", "RIFee", "Fee", "SavingsPlanCoveredUsage",
                            "SavingsPlanNegation", "SavingsPlanRecurringFee",
                            "SavingsPlanUpfrontFee", "Credit", "Refund", "Tax"}) {
      EXPECT_GT(types[type], 0) << type;
    }
    EXPECT_EQ(types["EdpDiscount"] > 0, discount == AwsDiscount::kLines);
    ASSERT_FALSE(written.truth.commitments.empty());
    for (const auto& [id, commitment] : written.truth.commitments) {
      EXPECT_TRUE(commitment.holds()) << id;
    }
  }
}

// The purchases of the actual data set equal the used and unused parts of the amortised one.
TEST(NativeBill, AzureDataSetsExplainOneAnother) {
  for (const AzureAgreement agreement : {AzureAgreement::kEnterprise, AzureAgreement::kCustomer}) {
    Int128 commitments[2] = {};
    Int128 others[2] = {};
    const bool customer = agreement == AzureAgreement::kCustomer;
    for (const bool amortised : {false, true}) {
      NativeBillOptions options =
          options_of(amortised ? NativeForm::kAzureAmortised : NativeForm::kAzureActual, 4);
      options.azure_agreement = agreement;
      const Written written = write(options);
      const auto rows = rows_of(written.text);
      EXPECT_EQ(rows.size(), written.truth.rows);
      Int128 cost = 0;
      for (const Row& row : rows) {
        const Int128 one =
            ticks(row.at(customer ? "costInBillingCurrency" : "CostInBillingCurrency"));
        cost += one;
        const bool of_commitment = !row.at("benefitId").empty();
        (of_commitment ? commitments : others)[amortised] += one;
      }
      EXPECT_EQ(exact(cost),
                to_text(amortised ? written.truth.effective() : written.truth.billed()));
    }
    EXPECT_EQ(exact(commitments[0]), exact(commitments[1]));
    EXPECT_EQ(exact(others[0]), exact(others[1]));
    EXPECT_GT(commitments[0], 0);
  }
}

TEST(NativeBill, OciRowsAreTheTruthAndCorrectionsNameWhatTheyTakeBack) {
  const Written written = write(options_of(NativeForm::kOciReport, 2));
  const auto rows = rows_of(written.text);
  EXPECT_EQ(rows.size(), written.truth.rows);
  std::map<std::string, Int128> cost_of;
  Int128 cost = 0;
  int corrections = 0;
  for (const Row& row : rows) {
    const Int128 one = ticks(row.at("cost/myCost"));
    cost += one;
    cost_of[row.at("lineItem/referenceNo")] = one;
    if (row.at("lineItem/isCorrection") == "false") continue;
    ++corrections;
    ASSERT_TRUE(cost_of.contains(row.at("lineItem/backreferenceNo")));
    if (one < 0) {
      EXPECT_EQ(one, -cost_of[row.at("lineItem/backreferenceNo")]);
    }
  }
  EXPECT_EQ(cost_of.size(), rows.size());
  EXPECT_EQ(corrections, 4);  // two in each month
  EXPECT_EQ(exact(cost), to_text(written.truth.billed()));
  EXPECT_EQ(exact(cost), to_text(written.truth.effective()));
}

TEST(NativeBill, GcpCostAndCreditsAreTheTruthInPacificMonths) {
  const Written written = write(options_of(NativeForm::kGcpCsv, 5));
  const auto rows = rows_of(written.text);
  EXPECT_EQ(rows.size(), written.truth.rows);
  Int128 net = 0;
  std::map<std::string, int> months;
  for (const Row& row : rows) {
    net += ticks(row.at("cost"));
    ++months[row.at("invoice.month")];
    const std::string& credits = row.at("credits");
    constexpr std::string_view kAmount = "\"amount\":";
    for (std::size_t at = credits.find(kAmount); at != std::string::npos;
         at = credits.find(kAmount, at + 1)) {
      const std::size_t begin = at + kAmount.size();
      net += ticks(credits.substr(begin, credits.find('}', begin) - begin));
    }
    if (row.at("usage_start_time") == "2025-03-01 08:00:00+00:00") {
      EXPECT_EQ(row.at("invoice.month"), "202503");
    }
  }
  EXPECT_EQ(exact(net), to_text(written.truth.billed()));
  EXPECT_GT(months["202502"], 0);
  EXPECT_GT(months["202503"], 0);
  EXPECT_EQ(months.size(), 2u);
}

TEST(NativeBill, UsageAloneHasHoursOfGpusAndNoMoney) {
  const Written written = write(options_of(NativeForm::kUsageOnly, 6));
  std::map<std::pair<std::string, std::string>, Int128> hours;
  for (const Row& row : rows_of(written.text)) {
    hours[{row.at("SkuId"), row.at("ConsumedUnit")}] += ticks(row.at("ConsumedQuantity"));
    EXPECT_FALSE(row.contains("BilledCost"));
  }
  EXPECT_FALSE(hours.empty());
  EXPECT_EQ(hours.size(), written.truth.quantities.size());
  for (const auto& [key, quantity] : written.truth.quantities) {
    EXPECT_EQ(exact(hours[key]), to_text(quantity)) << key.first;
  }
  EXPECT_TRUE(written.truth.amounts.empty());
}

TEST(NativeBill, ErrorsNameWhatCannotBeBilled) {
  const auto sink = [](std::string_view) -> Result<void> { return {}; };
  const auto none =
      write_native_bill({}, Catalog::built_in(), options_of(NativeForm::kAwsCur, 1), sink);
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message.find("no node is there during"), std::string::npos);
  NativeBillOptions early = options_of(NativeForm::kAwsCur, 1);
  early.bill.prices_as_of = parse_instant("2001-01-01").value();
  const auto nodes = fleet_of(NativeForm::kAwsCur, 1);
  EXPECT_FALSE(write_native_bill(nodes, Catalog::built_in(), early, sink).has_value());
  const auto full =
      write_native_bill(nodes, Catalog::built_in(), options_of(NativeForm::kAwsCur, 1),
                        [](std::string_view) { return fail(ErrorCode::kIo, "disk full"); });
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().message, "cannot generate a bill: disk full");
  EXPECT_FALSE(made_up_fleet({.seed = 1,
                              .provider = "nobody",
                              .nodes = 1,
                              .clusters = 1,
                              .prices_at = parse_instant("2026-08-15").value(),
                              .from = parse_instant("2025-01-01").value()},
                             Catalog::built_in())
                   .has_value());
}

TEST(NumberText, AsEveryProviderWritesIt) {
  struct Case {
    std::string_view value;
    std::string_view java;
    std::string_view python;
    std::string_view dotnet;
    std::string_view eighteen;
  };
  const Case cases[] = {
      {"0", "0.0", "0.0", "0", "0.000000000000000000"},
      {"24", "24.0", "24.0", "24", "24.000000000000000000"},
      {"0.0416", "0.0416", "0.0416", "0.0416", "0.041600000000000000"},
      {"0.00000528", "5.28E-6", "5.28e-06", "5.28E-06", "0.000005280000000000"},
      {"-0.00002", "-2.0E-5", "-2e-05", "-2E-05", "-0.000020000000000000"},
      {"12345678.5", "1.23456785E7", "12345678.5", "12345678.5", "12345678.500000000000000000"},
      {"0.00000000232376", "2.32376E-9", "2.32376e-09", "2.32376E-09", "2.323760000E-9"},
  };
  for (const Case& c : cases) {
    const Decimal value = parse_exact_decimal(c.value).value();
    EXPECT_EQ(java_double(value), c.java);
    EXPECT_EQ(python_double(value), c.python);
    EXPECT_EQ(dotnet_double(value), c.dotnet);
    EXPECT_EQ(eighteen_digits(value), c.eighteen);
    for (const std::string& text :
         {java_double(value), python_double(value), dotnet_double(value), eighteen_digits(value)}) {
      EXPECT_EQ(parse_exact_decimal(text).value(), value) << text;
    }
  }
}

}  // namespace
}  // namespace pennyweight::bills
