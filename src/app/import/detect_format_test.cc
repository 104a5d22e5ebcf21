// The format of a file is detected from its first bytes.
#include "app/import/detect_format.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "ingest/bills/formats/bill_formats.h"

namespace pennyweight {
namespace {

TEST(DetectFormat, ByContent) {
  const struct {
    const char* text;
    const char* want;
  } kCases[] = {
      {"BilledCost,ChargePeriodStart\n", "focus"},
      {"\xEF\xBB\xBF\"AvailabilityZone\",\"BilledCost\"\r\n", "focus"},
      {"PAR1....", "focus-parquet"},
      {"SkuId,ChargePeriodStart,ConsumedQuantity\n", "focus"},
      {R"([{"BillingPeriodStart": "2026-03-01", "ChargePeriodStart": "2026-03-01"}])",
       "focus-json"},
      {R"({"data": [{"BillingPeriodStart": "a", "ChargePeriodStart": "b", "Tags": {"jobs": 1}}]})",
       "focus-json"},
      {"amount,time,timeBilledMs,podId,gpuTypeId\n", "runpod"},
      {"time,amount,endpointId\n", "runpod"},
      {R"([{"amount": 1, "time": "2026-03-01T00:00:00Z", "timeBilledMs": 5}])", "runpod-json"},
      {R"([{"amount": 1, "time": "2026-03-01T00:00:00Z", "diskSpaceBilledGb": 5}])", "runpod-json"},
      {"JobIDRaw|Partition|Account\n", "slurm"},
      {"JobID|State|\n", "slurm"},
      {"{\"meta\": {}, \"jobs\": []}", "slurm-json"},
      {"name,cpu_milli,memory_mib,num_gpu,gpu_milli\n", "openb-pods"},
      {"sn,cpu_milli,memory_mib,gpu,model\n", "openb-nodes"},
      {"cluster,node,gpu_count,from\n", "nodes"},
      {"node,uuid,from\n", "gpus"},
      {"workload,begin,node,devices\n", "holdings"},
      {"cluster,node,gpu,mig_instance,at,gpu_util\n", "usage"},
      {"cluster,node,gpu,begin,end,reason\n", "outages"},
      {"node,begin,end\n", "outages"},
      {"cluster,name,begin,end,from,to,amount,currency,reason\n", "corrections"},
      {"workload,measure,begin,end,count\n", "outcomes"},
      {"index, uuid, memory.total [MiB]\n", "nvidia-smi"},
      {"GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n", "nvidia-smi"},
      {"# HELP DCGM_FI_DEV_GPU_UTIL x\n", "dcgm"},
      {"DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 5\n", "dcgm"},
      {"NodeName=vm Arch=x86_64\n", "scontrol"},
      {"NodeName=vm CoresPerSocket=1\n   CPUAlloc=0\n", "scontrol"},
      {"# x\nClusterName=lab\nGresTypes=gpu\n", "slurm-conf"},
      {"NodeName=n[1-4] CPUs=16 Gres=gpu:a100:4\n", "slurm-conf"},
      {"Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n", "slurm-events"},
      {"\"JOB_FINISH\" \"10.1\" 1770868800 7 1000\n", "lsf"},
      {"dteam:testce.test:dteam:dteam041:STDIN:43:sge:19:1200093286:1200093294:1200093295:0:0:1:0:"
       "0:0:"
       "0:0:0:0:46206:0:0:0:0:0:0:0:337:257:NONE:defaultdepartment:NONE:1:0:0:0:0:-U d:0:NONE:3\n",
       "grid-engine"},
      {R"([{"gpu": 0, "bdf": "0000:0C:00.0", "uuid": "u"}])", "amd-smi"},
      {R"({"device_list": [{"device_id": 0, "pci_bdf_address": "0000:4d:00.0"}]})", "xpu-smi"},
      {R"({"card0": {"Unique ID": "0x1", "Card Series": "x"}})", "amd-smi"},
      {"# HELP kube_pod_info [STABLE] x\n", "kube-state-metrics"},
      {"kube_node_info{node=\"n\"} 1\n", "kube-state-metrics"},
      {R"({"apiVersion": "v1", "items": [], "kind": "List"})", "kubectl"},
  };
  for (const auto& [text, want] : kCases) {
    const auto format = detect_format(text);
    ASSERT_TRUE(format) << text << format.error().message;
    EXPECT_EQ((*format)->name, want) << text;
  }
}

TEST(DetectFormat, SaysWhyNot) {
  const struct {
    std::string text;
    const char* want;
  } kCases[] = {
      {"", "fetch it again, or leave it out"},
      {"\n \n", "is empty"},
      {std::string("a\0b", 3), "binary"},
      {"\xFF\xFE"
       "a",
       "UTF-16"},
      {"\xFE\xFF"
       "a",
       "iconv -f UTF-16 -t UTF-8"},
      {std::string("B\0i\0l\0", 6), "iconv -f UTF-16LE"},
      {std::string("\0B\0i\0l", 6), "iconv -f UTF-16BE"},
      {std::string("B\0i\0", 4), "iconv -f UTF-16LE"},
      {std::string("\0\0\0a", 4), "binary"},
      {"hello, world\n", "its first line is 'hello, world'"},
      {"\x1b[2J\n", "\\x1b[2J"},
      {"{\"a\": 1}", "no format"},
      {"DCGM_FI_DEV_GPU_UTIL, gauge, GPU utilization (in %).\n", "no format"},
      {"#!/bin/sh\nnvidia-smi --query-gpu=index,uuid --format=csv | grep NVIDIA-SMI\n",
       "no format"},
      {"uuid\ngpu_name\n", "no format"},
      {"123_4|train|gpu|ml|8|COMPLETED|0:0\n", "give --columns"},
      {"workload,start,finish\n", "the nearest is holdings, but there is no column begin, end"},
      {"a,b\n", "--format: focus"},
      {"[1, 2]", "no format"},
      {R"([{"amount": 1, "time": 2}])", "no format"},
      {"time,amount\n", "no format"},
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

TEST(InputFormat, IsFoundByItsName) {
  std::set<std::string_view> names;
  for (const InputFormat& format : input_formats()) {
    EXPECT_EQ(find_input_format(format.name), &format);
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
  }
  EXPECT_EQ(find_input_format("csv"), nullptr);
}

TEST(InputFormat, EveryBillFormatIsOneInEachOfItsEncodings) {
  for (const bill::BillFormat* bill : bill::bill_formats()) {
    const InputFormat* csv = find_input_format(bill->name);
    ASSERT_NE(csv, nullptr) << bill->name;
    EXPECT_EQ(csv, find_bill_input(*bill, bill::BillEncoding::kCsv));
    EXPECT_EQ(find_bill_input(*bill, bill::BillEncoding::kParquet) != nullptr, bill->in_parquet);
    EXPECT_EQ(find_bill_input(*bill, bill::BillEncoding::kJson) != nullptr, bill->in_json);
  }
}

}  // namespace
}  // namespace pennyweight
