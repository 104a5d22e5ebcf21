// A bill that comes in a second form is never counted twice without a word, however its resources
// and accounts are named there and however few days it has; and what is not the same bill is taken,
// however alike its machines are.
#include "app/import/delivery_doubles.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "app/import/delivered_bills_testing.h"
#include "app/import/importer.h"
#include "app/import/resource_naming.h"
#include "core/ascii.h"
#include "core/check.h"
#include "core/decimal.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

using Change = std::function<void(BillCells&)>;

void set_cell(BillCells& cells, const std::string& column, const std::string& value) {
  for (auto& [name, text] : cells) {
    if (name == column) text = value;
  }
}

class DeliveredBills {
 public:
  DeliveredBills() : store_(make_memory_store()), clock_(from_unix_ms(1'775'000'000'000)) {
    std::string folder = (std::filesystem::temp_directory_path() / "pw-doubles-XXXXXX").string();
    CHECK(mkdtemp(folder.data()) != nullptr, "the folder for temporary files can be written");
    folder_ = folder;
  }
  ~DeliveredBills() { std::filesystem::remove_all(folder_); }
  DeliveredBills(const DeliveredBills&) = delete;
  DeliveredBills& operator=(const DeliveredBills&) = delete;

  Result<FileImport> import(const std::vector<BillCells>& rows) {
    clock_.advance(std::chrono::minutes(1));
    const std::string path = folder_ + "/" + std::to_string(++files_) + ".csv";
    std::ofstream(path, std::ios::binary) << csv_of_bill(rows, {});
    ImportOptions options;
    options.bill_options.emplace("azure_metric", "actual");
    return import_files(*store_, {path}, options, {}, Console::detect(ColourMode::kNever, true),
                        clock_);
  }
  Int128 total() {
    Int128 total = 0;
    CHECK(store_
              ->scan_charges("",
                             [&](std::span<const Charge> charges) {
                               for (const Charge& c : charges) total += c.costs.billed.ticks();
                               return true;
                             })
              .has_value(),
          "the store is in memory");
    return total;
  }

 private:
  std::unique_ptr<Store> store_;
  SimulatedClock clock_;
  std::string folder_;
  unsigned files_ = 0;
};

// Of identical machines that run all day, as clusters have them.
std::vector<BillRow> rows_of_days(unsigned days) {
  std::vector<BillRow> rows;
  for (unsigned sub = 0; sub < 3; ++sub) {
    for (unsigned machine = 0; machine < 4; ++machine) {
      for (unsigned day = 1; day <= days; ++day) rows.push_back({sub, machine, day, 78'648, 0});
    }
  }
  return rows;
}

std::vector<BillCells> cells_of(const std::vector<BillRow>& rows,
                                BillCells (*write)(const BillRow&, const BillLook&),
                                const Change& change = {}) {
  std::vector<BillCells> cells;
  for (const BillRow& row : rows) {
    cells.push_back(write(row, {}));
    if (change) change(cells.back());
  }
  return cells;
}

// How a second form may write what the first one writes in its way.
struct OtherNames {
  const char* what;
  Change change;
};
const OtherNames kOtherNames[] = {
    {"no resources", [](BillCells& cells) { set_cell(cells, "ResourceId", ""); }},
    {"names that people gave",
     [](BillCells& cells) {
       for (auto& [column, value] : cells) {
         if (column == "ResourceId") value = "trainer " + value.substr(value.size() - 4);
       }
     }},
    {"ARNs",
     [](BillCells& cells) {
       for (auto& [column, value] : cells) {
         if (column == "ResourceId") value = "arn:aws:ec2:us-east-1:1:instance/" + value;
       }
     }},
    {"capital letters",
     [](BillCells& cells) {
       for (auto& [column, value] : cells) {
         if (column == "ResourceId") value = ascii::upper_case(value);
       }
     }},
};

TEST(DeliveryDoubles, ASecondFormIsRefusedOrSaid) {
  for (const BillWriter& writer : kBillWriters) {
    for (const OtherNames& names : kOtherNames) {
      for (const unsigned days : {1u, 2u, 5u}) {
        SCOPED_TRACE(fmt::format("{}, {}, {} days", writer.name, names.what, days));
        DeliveredBills bills;
        const auto rows = rows_of_days(days);
        const auto first = bills.import(cells_of(rows, writer.cells));
        ASSERT_TRUE(first.has_value()) << first.error().message;
        const Int128 before = bills.total();
        const auto second = bills.import(cells_of(rows, writer.other_form, names.change));
        if (second) {
          const bool is_said = std::ranges::any_of(second->remarks, [](const std::string& remark) {
            return remark.contains("to the last digit as much as") && remark.contains(" USD on ");
          });
          EXPECT_TRUE(is_said || bills.total() == before);
        } else {
          EXPECT_TRUE(second.error().message.contains(" USD")) << second.error().message;
          EXPECT_EQ(bills.total(), before);
        }
      }
    }
  }
}

// An account under another name altogether, for a single day: said, since it may be another one.
TEST(DeliveryDoubles, EqualTotalsOfAnotherAccountAreSaid) {
  DeliveredBills bills;
  const auto rows = rows_of_days(1);
  ASSERT_TRUE(bills.import(cells_of(rows, aws_cells)).has_value());
  const Change renamed = [](BillCells& cells) {
    set_cell(cells, "ResourceId", "");
    set_cell(cells, "BillingAccountId", "Production");
    set_cell(cells, "SubAccountId", "");
  };
  const auto second = bills.import(cells_of(
      rows,
      [](const BillRow& row, const BillLook& look) { return focus_cells(row, look, "Acme", "x"); },
      renamed));
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_THAT(second->remarks, ::testing::Contains("2026-03 account Production costs 9437.76 USD "
                                                   "on 1 day, to the last digit as much as account "
                                                   "111111111111, which is in the ledger; if the "
                                                   "two are one bill, it is now counted twice"));
}

// Machines of one kind cost the same. Each is delivered on its own, in every order of parts that a
// provider's rules allow, and none is taken for another.
TEST(DeliveryDoubles, OtherMachinesOfTheSamePriceAreTaken) {
  const auto by = [](const std::vector<BillRow>& rows, auto&& key) {
    std::map<unsigned, std::vector<BillRow>> parts;
    for (const BillRow& row : rows) parts[key(row)].push_back(row);
    return parts;
  };
  for (const BillWriter& writer : kBillWriters) {
    for (const unsigned days : {1u, 2u, 5u}) {
      std::vector<BillRow> rows = rows_of_days(days);
      std::vector<std::pair<const char*, std::map<unsigned, std::vector<BillRow>>>> splits;
      splits.emplace_back("sub accounts", by(rows, [](const BillRow& row) { return row.sub; }));
      if (writer.identity != BillWriter::Identity::kSubAccount) {
        // Rows that the provider identifies may come in any packing.
        for (BillRow& row : rows) row.assembly = 10 * row.machine + row.day;
        splits.emplace_back("exports", by(rows, [](const BillRow& row) { return row.assembly; }));
      }
      if (writer.identity == BillWriter::Identity::kLine) {
        splits.emplace_back("machines", by(rows, [](const BillRow& row) { return row.machine; }));
        splits.emplace_back("rows", by(rows, [](const BillRow& row) {
                              return 100 * row.sub + 10 * row.machine + row.day;
                            }));
        splits.emplace_back("halves", by(rows, [](const BillRow& row) { return row.machine % 2; }));
      }
      for (const auto& [what, parts] : splits) {
        SCOPED_TRACE(fmt::format("{}, by {}, {} days", writer.name, what, days));
        DeliveredBills bills;
        for (const auto& [number, part] : parts) {
          const auto taken = bills.import(cells_of(part, writer.cells));
          ASSERT_TRUE(taken.has_value()) << taken.error().message;
        }
        const auto cents = static_cast<std::int64_t>(rows.size()) * 78'648;
        EXPECT_EQ(to_text(Decimal::from_ticks(bills.total())),
                  to_text(parse_decimal(dollars_of(cents))->value));
      }
    }
  }
}

// Machines that are billed by the hour beside others of their price that are billed by the day,
// with another price on each day or the same; and the hours of a machine beside its day.
TEST(DeliveryDoubles, OnlyTheSameMachinesAreDoubleByTheHourAndByTheDay) {
  for (const BillWriter& writer : kBillWriters) {
    if (writer.cells == azure_cells) continue;  // bills all by the day
    for (const bool is_one_price : {true, false}) {
      for (const unsigned days : {1u, 5u, 28u}) {
        SCOPED_TRACE(fmt::format("{}, {} days, one price: {}", writer.name, days, is_one_price));
        std::vector<BillRow> rows = rows_of_days(days);
        for (BillRow& row : rows) {
          row.is_daily = row.machine % 2 == 1;
          if (!is_one_price) row.cents += row.day;
        }
        DeliveredBills other, same;
        const auto taken = other.import(cells_of(rows, writer.cells));
        ASSERT_TRUE(taken.has_value()) << taken.error().message;
        std::int64_t cents = 0;
        for (BillRow& row : rows) {
          cents += row.cents;
          if (row.is_daily) --row.machine;
        }
        EXPECT_EQ(to_text(Decimal::from_ticks(other.total())),
                  to_text(parse_decimal(dollars_of(cents))->value));
        if (days == 1) continue;
        if (writer.identity == BillWriter::Identity::kLine) continue;  // refused by its numbers
        const auto twice = same.import(cells_of(rows, writer.cells));
        ASSERT_FALSE(twice.has_value());
        EXPECT_TRUE(twice.error().message.contains("in shorter and in longer charge periods"))
            << twice.error().message;
        EXPECT_EQ(same.total(), 0);
      }
    }
  }
}

// A report may lack the names of services, or give them to some lines only.
TEST(DeliveryDoubles, AReportWithoutServicesIsAReportOfTheSameBill) {
  for (const bool lacks_all : {true, false}) {
    SCOPED_TRACE(fmt::format("lacks all services: {}", lacks_all));
    std::vector<BillCells> cells;
    for (const bool is_daily : {false, true}) {
      for (BillRow row : rows_of_days(5)) {
        row.is_daily = is_daily;
        row.cents += row.day;
        cells.push_back(focus_cells(row, {}, "Acme Cloud", "acme-1"));
        if (is_daily && (lacks_all || row.machine > 0)) {
          set_cell(cells.back(), "ServiceName", "");
        }
      }
    }
    DeliveredBills bills;
    const auto twice = bills.import(cells);
    ASSERT_FALSE(twice.has_value());
    EXPECT_TRUE(twice.error().message.contains("in shorter and in longer charge periods"))
        << twice.error().message;
    EXPECT_EQ(bills.total(), 0);
  }
}

// A later version of a bill that names its account takes the place of the earlier one in every
// currency: what it lacks is said, and goes with a person's word alone.
TEST(DeliveryDoubles, AnotherCurrencyDoesNotGoUnsaidWithABillWhoseAccountIsFilledIn) {
  const Change of_no_account = [](BillCells& cells) { set_cell(cells, "BillingAccountId", ""); };
  const Change euros = [](BillCells& cells) {
    set_cell(cells, "BillingAccountId", "");
    set_cell(cells, "BillingCurrency", "EUR");
    for (const char* cost : {"BilledCost", "EffectiveCost", "ListCost", "ContractedCost"}) {
      set_cell(cells, cost, "7.50");
    }
  };
  const auto write = [](const BillRow& row, const BillLook& look) {
    return focus_cells(row, look, "Acme Cloud", "acme-1");
  };
  const auto rows = rows_of_days(5);
  std::vector<BillCells> both = cells_of(rows, write, of_no_account);
  const std::vector<BillCells> in_euros =
      cells_of({{0, 9, 1, 750, 0}, {1, 9, 2, 750, 0}}, write, euros);
  both.insert(both.end(), in_euros.begin(), in_euros.end());
  DeliveredBills bills;
  const auto first = bills.import(both);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const Int128 before = bills.total();
  const auto second = bills.import(cells_of(rows, write));
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(second.error().message.contains("takes 15.00 EUR away")) << second.error().message;
  EXPECT_EQ(bills.total(), before);
  // With its euros it is what it was, under a name.
  std::vector<BillCells> whole = cells_of(rows, write);
  for (BillCells cells : in_euros) {
    set_cell(cells, "BillingAccountId", "acme-1");
    whole.push_back(std::move(cells));
  }
  const auto third = bills.import(whole);
  ASSERT_TRUE(third.has_value()) << third.error().message;
  EXPECT_EQ(bills.total(), before);
}

// Two copies of a file, one behind the other, in one file; and lines that happen to be alike.
TEST(DeliveryDoubles, LinesThatStandTwiceInADelivery) {
  for (const BillWriter& writer : kBillWriters) {
    SCOPED_TRACE(writer.name);
    DeliveredBills bills;
    std::vector<BillRow> rows = rows_of_days(1);
    const std::vector<BillRow> once = rows;
    rows.insert(rows.end(), once.begin(), once.end());
    const auto twice = bills.import(cells_of(rows, writer.cells));
    ASSERT_FALSE(twice.has_value());
    EXPECT_TRUE(twice.error().message.contains("9437.76 USD would count twice"))
        << twice.error().message;
    EXPECT_EQ(bills.total(), 0);
    rows.resize(once.size() + 1);
    const auto one_more = bills.import(cells_of(rows, writer.cells));
    if (writer.identity == BillWriter::Identity::kLine) {
      ASSERT_FALSE(one_more.has_value());
      EXPECT_TRUE(one_more.error().message.contains("786.48 USD would count twice"))
          << one_more.error().message;
    } else {
      ASSERT_TRUE(one_more.has_value()) << one_more.error().message;
      EXPECT_THAT(one_more->remarks,
                  ::testing::Contains("1 line is in every column like another one of the delivery, "
                                      "and each counts: 786.48 USD beside the first ones"));
    }
  }
}

TEST(DeliveryDoubles, ResourcesOfTwoFormsHaveOneName) {
  struct Case {
    const char* resource;
    const char* plain;
    ResourceNaming naming;
  };
  for (const Case& one : {
           Case{"", "", ResourceNaming::kNone},
           {"i-0ABCDEF0123456789", "i-0abcdef0123456789", ResourceNaming::kId},
           {"arn:aws:ec2:us-east-1:12:instance/i-0abcdef0123456789", "i-0abcdef0123456789",
            ResourceNaming::kId},
           {"arn:aws:s3:::models", "arn:aws:s3:::models", ResourceNaming::kArn},
           {"/subscriptions/0A1B/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/n1",
            "/subscriptions/0a1b/resourcegroups/rg/providers/microsoft.compute/virtualmachines/n1",
            ResourceNaming::kPath},
           {"//compute.googleapis.com/projects/1/zones/z/instances/1234567890123456789",
            "1234567890123456789", ResourceNaming::kNumber},
           {"ocid1.instance.oc1.iad.anuwcljt", "ocid1.instance.oc1.iad.anuwcljt",
            ResourceNaming::kOcid},
           {"node-1", "node-1", ResourceNaming::kName},
           {"gpu-cafe", "gpu-cafe", ResourceNaming::kName},
       }) {
    EXPECT_EQ(plain_resource(one.resource), one.plain);
    EXPECT_EQ(naming_of(one.plain), one.naming) << one.resource;
  }
}

}  // namespace
}  // namespace pennyweight
