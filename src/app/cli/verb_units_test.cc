// `units` and `audit labels` on a ledger: imported, allocated and queried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/verb.h"
#include "testing/generate/tool/verb_bill.h"

namespace pennyweight {

namespace {

using testing::HasSubstr;

constexpr std::string_view kNodes =
    "cluster,node,provider_id,instance_type,region,gpu_model,gpu_count,vcpu,memory_gib,from\n"
    "lab,n1,i-1,p4d.24xlarge,us-east-1,A100-SXM4-40GB,8,96,1152,2026-03-01T00:00:00Z\n";

constexpr std::string_view kHoldings =
    "cluster,workload,attempt,begin,end,node,devices,team,user,label:state\n"
    "lab,serve/a,,2026-03-01,2026-03-02,n1,2,nlp,ann,\n"
    "lab,100,1,2026-03-01T00:00:00Z,2026-03-01T06:00:00Z,n1,4,nlp,bob,NODE_FAIL\n"
    "lab,100,2,2026-03-01T06:00:00Z,2026-03-01T12:00:00Z,n1,4,nlp,bob,COMPLETED\n"
    "lab,x/p,,2026-03-01,2026-03-02,n1,1,,eve,\n";

constexpr std::string_view kOutcomes =
    "cluster,workload,measure,begin,end,count,user\n"
    "lab,serve/a,requests,2026-03-01T00:00:00Z,2026-03-01T01:00:00Z,300,ann\n"
    "lab,serve/a,requests,2026-03-01T01:00:00Z,2026-03-01T02:00:00Z,100,zoe\n"
    "lab,serve/a,requests,2026-04-01T00:00:00Z,2026-04-01T01:00:00Z,7,zoe\n"
    "lab,serve/a,output_tokens,2026-03-01T00:00:00Z,2026-03-01T01:00:00Z,2000000,\n"
    "lab,gone,requests,2026-03-01T00:00:00Z,2026-03-01T01:00:00Z,5,\n";

class UnitsVerb : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("units_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    config_ = default_config();
    config_.store_path = (folder_ / "ledger.duckdb").string();
    const std::string bill = (folder_ / "bill.csv").string();
    expect(declare_bill, "bill --nodes " + file("nodes.csv", kNodes) +
                             " --from 2026-03-01 --to 2026-03-01 --prices-as-of 2026-07-20 "
                             "--out " +
                             bill);
    expect(declare_import, "import " + file("nodes.csv", kNodes) + " " +
                               file("holdings.csv", kHoldings) + " " +
                               file("outcomes.csv", kOutcomes) + " " + bill);
    expect(declare_allocate, "allocate --month 2026-03");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, std::string_view text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // The output, then the exit code or the error message.
  std::string run_verb(Verb (*declare)(CLI::App&), const std::string& arguments) {
    CLI::App app("test");
    const Verb verb = declare(app);
    app.parse(arguments);
    Context context{config_, Console::detect(ColourMode::kNever, true), {}};
    testing::internal::CaptureStdout();
    const auto done = verb.run(context);
    const std::string out = testing::internal::GetCapturedStdout();
    return out + (done ? std::to_string(static_cast<int>(*done)) : done.error().message);
  }
  void expect(Verb (*declare)(CLI::App&), const std::string& arguments) {
    const std::string out = run_verb(declare, arguments);
    ASSERT_TRUE(out.ends_with("0")) << arguments << "\n" << out;
  }

  // A CSV column, by the value of the first column.
  static std::string cell(const std::string& csv, const std::string& key,
                          const std::string& column) {
    std::istringstream lines(csv);
    std::vector<std::string> header;
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string> cells;
      std::istringstream parts(line + ",");
      for (std::string part; std::getline(parts, part, ',');) cells.push_back(part);
      if (header.empty()) {
        header = cells;
        continue;
      }
      if (cells.at(0) != key) continue;
      for (std::size_t i = 0; i < header.size(); ++i) {
        if (header[i] == column) return cells.at(i);
      }
    }
    return "no " + key + " with " + column + " in\n" + csv;
  }

  std::filesystem::path folder_;
  Config config_;
};

TEST_F(UnitsVerb, CostOfARequestByUserAndTeam) {
  const std::string user =
      run_verb(declare_units, "units --month 2026-03 --measure requests --by user --format csv");
  // April's seven requests don't count in March.
  EXPECT_EQ(cell(user, "ann", "count"), "300");
  EXPECT_EQ(cell(user, "zoe", "count"), "100");
  // One server: each of its requests costs the same.
  EXPECT_EQ(cell(user, "ann", "unit_cost_without_idle"),
            cell(user, "zoe", "unit_cost_without_idle"));
  EXPECT_EQ(cell(user, "bob", "note"), "cost without outcomes");
  EXPECT_EQ(cell(user, "bob", "unit_cost_without_idle"), "");
  const std::string team =
      run_verb(declare_units, "units --month 2026-03 --by team --format json --measure requests");
  EXPECT_THAT(team, HasSubstr("outcomes without cost"));
  EXPECT_THAT(team, HasSubstr("\"unit_cost_with_idle\": null"));
  EXPECT_THAT(run_verb(declare_units, "units --month 2026-03"),
              HasSubstr("cost per 1,000,000 output_tokens by team"));
  EXPECT_THAT(run_verb(declare_units, "units --by taem"), HasSubstr("did you mean 'team'"));
  EXPECT_THAT(run_verb(declare_units, "units --measure request"), HasSubstr("'requests'"));
}

TEST_F(UnitsVerb, JobsUsefulAndLost) {
  const std::string jobs = run_verb(declare_units, "units --month 2026-03 --jobs --format csv");
  EXPECT_EQ(cell(jobs, "100", "attempts"), "2");
  EXPECT_EQ(cell(jobs, "100", "useful_cost"), cell(jobs, "100", "lost_cost")) << "six hours each";
  EXPECT_EQ(cell(jobs, "100", "lost_gpu_hours"), "24.0000");
  EXPECT_EQ(cell(jobs, "serve/a", "useful_cost"), "") << "nobody says how it ended";
}

TEST_F(UnitsVerb, AuditLabels) {
  config_.labels.required = {default_requirement("team-id"), default_requirement("user-id")};
  config_.labels.required[0].allowed = {"cv", "nlp"};
  const std::string csv = run_verb(declare_audit, "audit labels --month 2026-03 --format csv");
  EXPECT_THAT(csv, HasSubstr("user-id,missing,USD,0,"));
  const std::string offenders = run_verb(
      declare_audit, "audit labels --month 2026-03 --key team-id --show offenders --format csv");
  EXPECT_EQ(cell(offenders, "team-id", "group"), "namespace x");
  EXPECT_EQ(cell(offenders, "team-id", "user"), "eve");
  EXPECT_EQ(cell(offenders, "team-id", "example"), "x/p");
  EXPECT_THAT(run_verb(declare_audit, "audit labels --by day"), HasSubstr("2026-03-01"));
  EXPECT_TRUE(run_verb(declare_audit, "audit labels --fail-below 50").ends_with("0"));
  EXPECT_THAT(run_verb(declare_audit, "audit labels --fail-below 99.5"),
              HasSubstr("below 99.5 %: team-id"));
  EXPECT_THAT(run_verb(declare_audit, "audit labels --fail-below 101"), HasSubstr("0 to 100"));
  EXPECT_THAT(run_verb(declare_audit, "audit labels --key teem-id"), HasSubstr("'team-id'"));
  EXPECT_THAT(run_verb(declare_audit, "audit labels --show time"), HasSubstr("--by"));
  EXPECT_THAT(run_verb(declare_audit, "audit labels --month 2026-02"), HasSubstr("2026-02"));
}

}  // namespace
}  // namespace pennyweight
