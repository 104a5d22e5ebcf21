// sacct --json: the shapes that its versions give the same facts, and documents that are not whole.
#include "ingest/schedulers/slurm/sacct_json.h"

#include <gtest/gtest.h>

#include "core/limits.h"
#include "ingest/schedulers/slurm/sacct_testing.h"
#include "ledger/task_count.h"

namespace pennyweight::slurm {
namespace {

// One job with the given fields over those of a plain one; fields are in the order of the text, and
// the first of two equal ones counts.
std::string job_with(std::string_view fields) {
  return fmt::format(
      R"({{{}"job_id":12,"cluster":"lab","account":"llm","user":"alice","partition":"gpu",)"
      R"("name":"train","nodes":"n[1-2]","state":{{"current":["COMPLETED"],"reason":"None"}},)"
      R"("time":{{"start":1700000000,"end":1700003600,"elapsed":3600,"suspended":0}},)"
      R"("tres":{{"allocated":[{{"type":"gres","name":"gpu","count":2}}]}}}})",
      fields);
}

std::string document_of(std::initializer_list<std::string> jobs) {
  return fmt::format("{{\"jobs\":[\n{}\n],\"errors\":[]}}", fmt::join(jobs, ",\n"));
}

SacctReading read_job(std::string_view fields) {
  return read_json(document_of({job_with(fields)}), options_for(""));
}

std::string summary(const SacctReading& read) {
  if (!read.error.empty()) return "error: " + read.error;
  if (!read.rejected.empty()) return read.rejected[0].column + ": " + read.rejected[0].reason;
  std::string text;
  for (const Holding& holding : read.holdings) {
    text += fmt::format("{} {} {}{} [{}] {};", holding.workload.text(), holding.held.length_ms(),
                        holding.ended ? "" : "… ", to_text(holding.device), holding.gpu_model,
                        to_text(holding.placement));
  }
  return text;
}

TEST(SacctJson, ShapesOfFields) {
  constexpr std::string_view kPlain = "12 3600000 gpu [] nodes n1=1,n2=1;";
  const struct {
    std::string_view fields, want;
  } table[] = {
      {"", kPlain},
      {R"("state":"COMPLETED",)", kPlain},
      {R"("state":["COMPLETED"],)", kPlain},
      {R"("state":{"current":"COMPLETED"},)", kPlain},
      {R"("state":null,)", kPlain},
      {R"("job_id":{"set":true,"infinite":false,"number":12},)", kPlain},
      {R"("user":null,"qos":null,"comment":null,"wckey":null,)", kPlain},
      {R"("array":{"job_id":0,"task_id":null},"het":{"job_id":0,"job_offset":null},)", kPlain},
      {R"("array":{"job_id":12,"task_id":{"set":false,"infinite":false,"number":0}},)", kPlain},
      {R"("array":{"job_id":9,"task_id":3},)", "9_3 3600000 gpu [] nodes n1=1,n2=1;"},
      {R"("array":{"job_id":{"number":9},"task_id":{"set":true,"infinite":false,"number":0}},)",
       "9_0 3600000 gpu [] nodes n1=1,n2=1;"},
      {R"("het":{"job_id":12,"job_offset":{"set":true,"number":1}},)",
       "12+1 3600000 gpu [] nodes n1=1,n2=1;"},
      {R"("het":{"job_id":12,"job_offset":4294967294},)", kPlain},
      {R"("nodes":"None assigned",)", "12 3600000 gpu [] pool 2;"},
      {R"("nodes":null,)", "12 3600000 gpu [] pool 2;"},
      {R"("nodes":"",)", "12 3600000 gpu [] pool 2;"},
      {R"("time":{"start":{"set":true,"number":1700000000},)"
       R"("end":{"set":true,"number":1700000060}},)",
       "12 60000 gpu [] nodes n1=1,n2=1;"},
      {R"("state":["RUNNING"],"time":{"start":1700000000,"end":0,"elapsed":60,"suspended":0},)",
       "12 60000 … gpu [] nodes n1=1,n2=1;"},
      {R"("state":["RUNNING","COMPLETING"],"time":{"start":1700000000,"end":null,"elapsed":60},)",
       "12 60000 … gpu [] nodes n1=1,n2=1;"},
      {R"("time":{"start":1700000000,"end":1700003600,"elapsed":3000,"suspended":600},)",
       "12 3000000 gpu [] nodes n1=1,n2=1;"},
      {R"("tres":{"allocated":[]},)", "12 3600000 gpu [] nodes n1=0,n2=0;"},
      {R"("tres":{"allocated":null},)", "12 3600000 gpu [] nodes n1=0,n2=0;"},
      {R"("tres":{"allocated":[{"type":"gres","name":"gpu:a100_3g.20gb","count":2}]},)",
       "12 3600000 mig 3g.20gb [a100] nodes n1=1,n2=1;"},
      {R"("tres":{"allocated":[{"type":"energy","name":null,"count":null},)"
       R"({"type":"gres","name":"gpu","id":1001,"count":{"set":true,"infinite":false,"number":4}},)"
       R"({"type":"gres","name":"gpu:a100","id":1002,"count":4}]},)",
       "12 3600000 gpu [a100] nodes n1=2,n2=2;"},
      {R"("tres":{"allocated":[{"type":"gres","name":"gpumem","count":99},)"
       R"({"type":"gres","name":"shard","count":3},{"type":"gres","name":"gpu","count":1}]},)",
       "12 3600000 gpu [] nodes n1=1,n2=0;12 3600000 shard [] nodes n1=2,n2=1;"},
      {R"("tres":{"allocated":[{"type":"gres","name":"gpu","count":18446744073709551614}]},)",
       "12 3600000 gpu [] nodes n1=0,n2=0;"},
  };
  for (const auto& row : table) EXPECT_EQ(summary(read_job(row.fields)), row.want) << row.fields;
}

TEST(SacctJson, LabelsAndAmounts) {
  const SacctReading read = read_job(
      R"("qos":"high","wckey":{"wckey":"w","flags":[]},"comment":{"administrator":"no",)"
      R"("job":"project=chat;team=nlp"},"reservation":{"id":0,"name":0},)"
      R"("tres":{"allocated":[{"type":"cpu","name":"","count":8},{"type":"mem","count":2048}]},)"
      R"("time":{"start":1700000000,"end":1700003600,"limit":{"set":true,"number":480}},)");
  ASSERT_EQ(read.holdings.size(), 1u) << summary(read);
  std::string text;
  for (const auto& [key, value] : read.holdings[0].labels.entries())
    text += key + "=" + value + " ";
  EXPECT_EQ(text,
            "account=llm comment=project=chat;team=nlp job_name=train partition=gpu project=chat "
            "qos=high state=COMPLETED team=nlp time_limit_minutes=480 user=alice wckey=w ");
  EXPECT_EQ(read.holdings[0].cpu_milli, 8000u);
  EXPECT_EQ(read.holdings[0].memory_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(read.holdings[0].attempt, "2023-11-14T22:13:20Z");
}

// Since when a job could run is told where that is not its submission.
TEST(SacctJson, EligibleTime) {
  const auto told = [](const char* fields) {
    const SacctReading read = read_job(fields);
    if (read.holdings.size() != 1) return std::string("not read");
    return std::string(read.holdings[0].labels.find("eligible_time").value_or("-"));
  };
  EXPECT_EQ(told(R"("time":{"start":1700000000,"end":1700003600,"submission":1699999000,)"
                 R"("eligible":1699999900},)"),
            "2023-11-14T22:11:40Z");
  EXPECT_EQ(told(R"("time":{"start":1700000000,"end":1700003600,"submission":1699999000,)"
                 R"("eligible":1699999000},)"),
            "-");
  EXPECT_EQ(told(R"("time":{"start":1700000000,"end":1700003600,"submission":1699999000,)"
                 R"("eligible":0},)"),
            "-");
}

TEST(SacctJson, TasksAreThoseOfTheWidestStep) {
  const auto told = [](const char* steps) {
    const SacctReading read = read_job(steps);
    if (read.holdings.size() != 1) return std::string("not read");
    return std::string(read.holdings[0].labels.find(kTasksLabel).value_or("-"));
  };
  EXPECT_EQ(told(R"("steps":[{"step":{"id":"batch"},"tasks":{"count":1}},)"
                 R"({"step":{"id":"extern"},"tasks":{"count":64}},)"
                 R"({"step":{"id":{"job_id":7,"step_id":"0"}},"tasks":{"count":8}}],)"),
            "8");
  EXPECT_EQ(told(R"("steps":[{"step":{"id":"7.extern"},"tasks":{"count":64}}],)"), "-");
  EXPECT_EQ(told(R"("steps":[{"step":{"id":"7.0"},"tasks":{"count":-1}},{"tasks":3},7],)"), "-");
}

// In the forms of 21.08, 23.11 and 24.11; what can't be read of them is not known, and costs
// nothing.
TEST(SacctJson, SubmissionAndExitCode) {
  const auto told = [](const char* fields) {
    const SacctReading read = read_job(fields);
    if (read.holdings.size() != 1) return std::string("not read");
    const Labels& labels = read.holdings[0].labels;
    return std::string(labels.find("submit_time").value_or("-")) + " " +
           std::string(labels.find("exit_code").value_or("-"));
  };
  EXPECT_EQ(told(R"("time":{"start":1700000000,"end":1700003600,"submission":1699999000},)"
                 R"("exit_code":{"status":"ERROR","return_code":1},)"),
            "2023-11-14T21:56:40Z 1:0");
  EXPECT_EQ(told(R"("exit_code":{"status":["SIGNALED"],)"
                 R"("return_code":{"set":false,"infinite":false,"number":0},)"
                 R"("signal":{"id":{"set":true,"infinite":false,"number":9},"name":"KILL"}},)"),
            "- 0:9");
  EXPECT_EQ(
      told(R"("exit_code":{"return_code":{"set":true,"number":0},"signal":{"signal_id":0}},)"),
      "- 0:0");
  EXPECT_EQ(told(R"("exit_code":"none","time":{"start":1700000000,"end":1700003600,)"
                 R"("submission":"soon"},)"),
            "- -");
}

TEST(SacctJson, NotEveryJobHolds) {
  const SacctReading read = read_json(
      document_of(
          {job_with(R"("state":["PENDING"],"time":{"start":0,"end":0,"elapsed":0},)"),
           job_with(R"("state":["CANCELLED"],"time":{"start":0,"end":1700000000,"elapsed":0},)"),
           job_with(R"("time":{"start":1700000000,"end":1700000000,"elapsed":0},)"),
           job_with(R"("steps":[{},{"time":[]}],)")}),
      options_for(""));
  EXPECT_EQ(read.counts, (SacctCounts{.jobs = 4,
                                      .held = 1,
                                      .holdings = 1,
                                      .pending = 1,
                                      .never_started = 1,
                                      .zero_length = 1,
                                      .steps = 2}));
}

// A job's own processor time, with steps or without; that of its steps where it has none.
TEST(SacctJson, AJobTellsWhatItUsedWithoutSteps) {
  const auto used_ms = [](const std::string& parts) {
    const SacctReading read = read_json(document_of({job_with(parts)}), options_for(""));
    EXPECT_EQ(read.error, "");
    std::uint64_t sum = 0;
    for (const Outcome& outcome : read.usage) {
      if (outcome.measure == "cpu_used_core_ms") sum += outcome.count;
    }
    return sum;
  };
  const std::string own = R"("time":{"start":1700000000,"end":1700003600,"elapsed":3600,)"
                          R"("total":{"seconds":12,"microseconds":500000}})";
  const std::string step = R"({"time":{"total":{"seconds":7,"microseconds":0}}})";
  EXPECT_EQ(used_ms(own + ","), 12'500U);
  EXPECT_EQ(used_ms(own + R"(,"steps":null,)"), 12'500U);
  EXPECT_EQ(used_ms(own + R"(,"steps":[)" + step + "],"), 12'500U);
  EXPECT_EQ(used_ms(R"("steps":[)" + step + "," + step + "],"), 14'000U);
}

TEST(SacctJson, BadJobsAreKeptAsideAndGoodOnesAreRead) {
  const struct {
    std::string job;
    std::string_view column, reason;
  } table[] = {
      {"3", "", "the job is not an object"},
      {"null", "", "the job is not an object"},
      {"[1,[2]]", "", "the job is not an object"},
      {"\"x\"", "", "the job is not an object"},
      {"{}", "job_id", "there is none"},
      {job_with(R"("job_id":"twelve",)"), "job_id", "not a whole number"},
      {job_with(R"("job_id":-1,)"), "job_id", "not a whole number"},
      {job_with(R"("job_id":1.5,)"), "job_id", "not a whole number"},
      {job_with(R"("job_id":{"set":true},)"), "job_id", "without a number"},
      {job_with(R"("job_id":{"number":{"number":1}},)"), "job_id", "without a number"},
      {job_with(R"("user":7,)"), "user", "not a string"},
      {job_with(R"("user":"a\u0000b",)"), "User", "not UTF-8"},
      {job_with(R"("state":[7],)"), "state", "not a word"},
      {job_with(R"("state":["COMPLETED"],"time":{"start":1700000000},)"), "End", "no End"},
      {job_with(R"("time":{"start":"now"},)"), "time/start", "not a whole number"},
      {job_with(R"("time":{"start":99999999999},)"), "time/start", "after the year 2199"},
      {job_with(R"("time":{"start":1700003600,"end":1700000000},)"), "End", "before Start"},
      {job_with(R"("time":{"start":1700000000,"end":1700003600,"elapsed":5,"suspended":0},)"),
       "Elapsed", "End − Start is 3600 s"},
      {job_with(R"("tres":7,)"), "tres/allocated", "not an object"},
      {job_with(R"("time":5,)"), "time/limit", "not an object"},
      {job_with(R"("time":null,)"), "time", "there is none"},
      {job_with(R"("array":[],)"), "array/job_id", "not an object"},
      {job_with(R"("tres":{"allocated":{}},)"), "tres/allocated", "not a list"},
      {job_with(R"("tres":{"allocated":[7]},)"), "tres/allocated", "no type"},
      {job_with(R"("tres":{"allocated":[{"type":"gres","name":7}]},)"), "tres/allocated",
       "a string"},
      {job_with(R"("tres":{"allocated":[{"type":"gres","name":"gpu","count":-1}]},)"),
       "tres/allocated", "not a whole number"},
      {job_with(R"("tres":{"allocated":[{"type":"gres","name":"gpu","count":1},)"
                R"({"type":"gres","name":"gpu","count":1}]},)"),
       "tres/allocated", "gres/gpu appears twice"},
      {job_with(R"("nodes":"n[",)"), "NodeList", "not closed"},
      {job_with(R"("cluster":"",)"), "Cluster", "does not name a cluster"},
      {job_with("\"name\":\"caf\xe9\","), "", "not UTF-8"},
      {job_with("\"name\":tru,"), "", "not JSON"},
      {job_with("\"name\":01,"), "", "not JSON"},
  };
  for (const auto& row : table) {
    const SacctReading read =
        read_json(document_of({job_with(""), row.job, job_with("")}), options_for(""));
    ASSERT_EQ(read.error, "") << row.job;
    ASSERT_EQ(read.rejected.size(), 1u) << row.job;
    EXPECT_EQ(read.rejected[0].column, row.column) << row.job << read.rejected[0].reason;
    EXPECT_TRUE(read.rejected[0].reason.find(row.reason) != std::string::npos)
        << row.job << read.rejected[0].reason;
    EXPECT_EQ(read.rejected[0].line, 3u) << row.job;
    EXPECT_EQ(read.holdings.size(), 2u) << row.job;
    EXPECT_EQ(read.counts.jobs, 3u) << row.job;
  }
}

TEST(SacctJson, RefusesWhatIsNotAWholeDocument) {
  const std::string whole = document_of({job_with(""), job_with("")});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const SacctReading read = read_json(std::string_view(whole).substr(0, size), options_for(""));
    EXPECT_NE(read.error, "") << size;
  }
  const struct {
    std::string_view text, why;
  } table[] = {
      {"", "the file is empty"},
      {"\xEF\xBB\xBF", "the file is empty"},
      {"   ", "not a whole document"},
      {R"({"jobs":[],"errors":[{"description":"slurmdbd is down","error_number":7000}]})",
       "slurmdbd is down"},
      {R"({"errors":["connection refused"],"jobs":[]})", "connection refused"},
      {"JobID|Start|End\n1|2|3\n", "not a whole document"},
      {"[]", "not a whole document"},
      {"{}", "there is no list named jobs"},
      {R"({"jobs":7})", "there is no list named jobs"},
      {R"({"jobs":{}})", "there is no list named jobs"},
      {R"({"jobs":null})", "there is no list named jobs"},
      {R"({"jobs":[)", "not a whole document"},
      {R"({"jobs":[{]})", "not a whole document"},
      {std::string_view("\x7f"
                        "ELF\0\0",
                        6),
       "not a whole document"},
  };
  for (const auto& row : table) {
    const SacctReading read = read_json(row.text, options_for(""));
    EXPECT_TRUE(read.error.find(row.why) != std::string::npos) << row.text << ": " << read.error;
  }
  EXPECT_EQ(read_json(std::string(100'000, '\xff'), options_for("")).error,
            "this is not a whole document of sacct --json: it is not UTF-8");
  EXPECT_EQ(read_json(R"({"meta":{},"jobs":[]})", options_for("")).counts, SacctCounts{});
  EXPECT_EQ(read_json("\xEF\xBB\xBF" + whole, options_for("")).counts.held, 2u);
}

}  // namespace
}  // namespace pennyweight::slurm
