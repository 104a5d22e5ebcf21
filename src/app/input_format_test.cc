// What a file is, by its first bytes.
#include "app/input_format.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string_view>

#include "app/examples.h"
#include "config/bill_config.h"

namespace pennyweight {
namespace {

TEST(DetectFormat, TellsByContent) {
  const struct {
    const char* text;
    InputFormat want;
  } kCases[] = {
      {"BilledCost,ChargePeriodStart\n", InputFormat::kFocus},
      {"\xEF\xBB\xBF\"AvailabilityZone\",\"BilledCost\"\r\n", InputFormat::kFocus},
      {"PAR1....", InputFormat::kFocusParquet},
      {"SkuId,ChargePeriodStart,ConsumedQuantity\n", InputFormat::kFocus},
      {R"([{"BillingPeriodStart": "2026-03-01", "ChargePeriodStart": "2026-03-01"}])",
       InputFormat::kFocusJson},
      {R"({"data": [{"BillingPeriodStart": "a", "ChargePeriodStart": "b", "Tags": {"jobs": 1}}]})",
       InputFormat::kFocusJson},
      {"amount,time,timeBilledMs,podId,gpuTypeId\n", InputFormat::kRunpod},
      {"time,amount,endpointId\n", InputFormat::kRunpod},
      {R"([{"amount": 1, "time": "2026-03-01T00:00:00Z", "timeBilledMs": 5}])",
       InputFormat::kRunpodJson},
      {R"([{"amount": 1, "time": "2026-03-01T00:00:00Z", "diskSpaceBilledGb": 5}])",
       InputFormat::kRunpodJson},
      {"JobIDRaw|Partition|Account\n", InputFormat::kSlurm},
      {"JobID|State|\n", InputFormat::kSlurm},
      {"{\"meta\": {}, \"jobs\": []}", InputFormat::kSlurmJson},
      {"name,cpu_milli,memory_mib,num_gpu,gpu_milli\n", InputFormat::kOpenbPods},
      {"sn,cpu_milli,memory_mib,gpu,model\n", InputFormat::kOpenbNodes},
      {"cluster,node,gpu_count,from\n", InputFormat::kNodes},
      {"node,uuid,from\n", InputFormat::kGpus},
      {"workload,begin,node,devices\n", InputFormat::kHoldings},
      {"cluster,node,gpu,mig_instance,at,gpu_util\n", InputFormat::kUsage},
      {"cluster,node,gpu,begin,end,reason\n", InputFormat::kOutages},
      {"node,begin,end\n", InputFormat::kOutages},
      {"cluster,name,begin,end,from,to,amount,currency,reason\n", InputFormat::kCorrections},
      {"workload,measure,begin,end,count\n", InputFormat::kOutcomes},
      {"index, uuid, memory.total [MiB]\n", InputFormat::kNvidiaSmi},
      {"GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n", InputFormat::kNvidiaSmi},
      {"# HELP DCGM_FI_DEV_GPU_UTIL x\n", InputFormat::kDcgm},
      {"NodeName=vm Arch=x86_64\n", InputFormat::kScontrol},
  };
  for (const auto& [text, want] : kCases) {
    const auto format = detect_format(text);
    ASSERT_TRUE(format) << text << format.error().message;
    EXPECT_EQ(to_text(*format), to_text(want)) << text;
  }
}

TEST(DetectFormat, SaysWhyNot) {
  const struct {
    std::string text;
    const char* want;
  } kCases[] = {
      {"", "is empty"},
      {"\n \n", "is empty"},
      {std::string("a\0b", 3), "binary"},
      {"\xFF\xFE"
       "a",
       "UTF-16"},
      {"hello, world\n", "its first line is 'hello, world'"},
      {"\x1b[2J\n", "\\x1b[2J"},
      {"{\"a\": 1}", "no kind"},
      {"[1, 2]", "no kind"},
      {R"([{"amount": 1, "time": 2}])", "no kind"},
      {"time,amount\n", "no kind"},
      {"PK\x03\x04 and a sheet", "is a ZIP archive or a spreadsheet"},
      {"sep=,\nBilledCost,EffectiveCost\n", "remove the first line"},
      {"<!DOCTYPE html><html>", "fetch it again"},
      {"BilledCost;EffectiveCost\n1;2\n", "has ';' between its fields"},
      {"BilledCost\tEffectiveCost\n1\t2\n", "has tabs between its fields"},
  };
  for (const auto& [text, want] : kCases) {
    const auto format = detect_format(text);
    ASSERT_FALSE(format) << text;
    EXPECT_NE(format.error().message.find(want), std::string::npos) << format.error().message;
  }
}

TEST(InputFormat, NamesReadBack) {
  for (const std::string& name : input_format_names()) {
    EXPECT_EQ(to_text(parse_input_format(name).value()), name);
  }
  EXPECT_FALSE(parse_input_format("csv"));
}

TEST(InputFormat, BillsHaveTheNamesOfTheConfiguration) {
  std::set<std::string_view> seen;
  for (const std::string& name : input_format_names()) {
    const InputFormat format = parse_input_format(name).value();
    const std::string_view bill = bill_format_of(format);
    EXPECT_EQ(bill.empty(), !is_bill(format)) << name;
    if (!bill.empty()) seen.insert(bill);
  }
  EXPECT_EQ(seen, std::set<std::string_view>(std::begin(kBillFormats), std::end(kBillFormats)));
}

TEST(Examples, AreASectionsCommentsAndCommands) {
  const char* text = "# no\n## a\n# words\n$ go\n? 1\n> out\n## b\n$ stay\n";
  EXPECT_EQ(examples_section(text, "a"), "  # words\n  $ go\n");
  EXPECT_EQ(examples_section(text, "c"), "");
}

}  // namespace
}  // namespace pennyweight
