// Resources of jobs: what they mean, and what must be refused. Durations and MIG types as well.
#include "ingest/schedulers/slurm/tres.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/mig_type.h"

namespace pennyweight::slurm {
namespace {

// "gpu:a100 gpu [a100] x2; shard shard [] x4"
std::string groups_text(std::string_view tres, std::uint64_t nodes = 1) {
  const auto parsed = parse_tres(tres);
  if (!parsed) return parsed.error().message;
  const auto groups = device_groups(*parsed, nodes);
  if (!groups) return groups.error().message;
  std::string text;
  for (const DeviceGroup& group : *groups) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {} [{}] x{}", group.name, to_text(group.device), group.gpu_model,
                        group.count);
  }
  return text;
}

TEST(Tres, DeviceGroups) {
  const struct {
    std::string_view tres, groups;
  } table[] = {
      {"", ""},
      {"billing=1,cpu=1,node=1", ""},
      {"cpu=1,gres/gpu=0", ""},
      {"gres/gpu=4", "gpu gpu [] x4"},
      // The same GPUs with and without their type are never added.
      {"billing=64,cpu=64,gres/gpu:a100=4,gres/gpu=4,mem=480G,node=1", "gpu:a100 gpu [a100] x4"},
      {"gres/gpu=4,gres/gpu:a100=4", "gpu:a100 gpu [a100] x4"},
      {"gres/gpu:a100=4", "gpu:a100 gpu [a100] x4"},
      {"gres/gpu:a100=2,gres/gpu:v100=1", "gpu:a100 gpu [a100] x2; gpu:v100 gpu [v100] x1"},
      // The types that are not tracked are what is left of the total.
      {"gres/gpu:a100=2,gres/gpu=3", "gpu gpu [] x1; gpu:a100 gpu [a100] x2"},
      {"gres/gpu=1,gres/gpu:a100_3g.20gb=1", "gpu:a100_3g.20gb mig 3g.20gb [a100] x1"},
      {"gres/gpu:a100_3g.20gb=1,gres/gpu:a100=1",
       "gpu:a100 gpu [a100] x1; gpu:a100_3g.20gb mig 3g.20gb [a100] x1"},
      {"gres/shard=4", "shard shard [] x4"},
      {"gres/gpu:a100=1,gres/gpu=1,gres/shard=3,gres/shard:a100=3",
       "gpu:a100 gpu [a100] x1; shard:a100 shard [a100] x3"},
      {"gres/gpumem=36266M,gres/gpuutil=100,license/matlab=1,bb/lustre=4K", ""},
      {"gres/mps=50", "mps fraction 36036000/36036000 [] x1"},
  };
  for (const auto& row : table) EXPECT_EQ(groups_text(row.tres), row.groups) << row.tres;
}

TEST(Tres, MpsIsHundredthsOfCards) {
  const auto devices = [](std::string_view tres, std::uint64_t nodes) {
    std::string text;
    const auto groups = device_groups(*parse_tres(tres), nodes);
    for (const DeviceGroup& group : *groups) {
      const CardFraction& part = std::get<CardFraction>(group.device);
      EXPECT_EQ(part.compute, part.memory);
      text += fmt::format("{}x{}% ", group.count,
                          part.compute.units() * 100 / CardShare::kUnitsPerCard);
    }
    return text;
  };
  EXPECT_EQ(devices("gres/mps=33", 1), "1x33% ");
  EXPECT_EQ(devices("gres/mps=100", 1), "1x100% ");
  EXPECT_EQ(devices("gres/mps=100", 2), "2x50% ");
  EXPECT_EQ(devices("gres/mps=250", 1), "2x83% 1x84% ");
  EXPECT_EQ(devices("gres/mps=3", 8), "3x1% ");
  EXPECT_EQ(devices("gres/mps=50", 0), "1x50% ");
}

TEST(Tres, Refuses) {
  const struct {
    std::string_view tres, why;
  } table[] = {
      {"gres/gpu", "'gres/gpu' is not a resource"},
      {"=4", "'=4' is not a resource"},
      {"cpu=1,", "ends with a comma"},
      {"cpu=1,,node=1", "'' is not a resource"},
      {"gres/gpu=", "gres/gpu: '' is not a whole number"},
      {"gres/gpu=two", "gres/gpu: 'two' is not a whole number"},
      {"gres/gpu=-1", "gres/gpu: '-1' is not a whole number"},
      {"gres/gpu=1.5", "is not a whole number"},
      {"gres/gpu=99999999999999999999", "is not a whole number"},
      {"gres/gpu=4,gres/gpu=4", "gres/gpu appears twice"},
      {"gres/gpu:a100=4,gres/gpu:a100=2", "gres/gpu:a100 appears twice"},
      {"gres/gpu:=4", "no type after the colon"},
      {"gres/gpu:a 100=4", "characters that are not allowed"},
      {"gres/gpu:\xff=4", "characters that are not allowed"},
      {"gres/mps:t4@78=3", "characters that are not allowed"},  // the name of a part of mps:t4
      {"cpu=1,cpu=2", "cpu appears twice"},
      {"mem=1G,mem=1G", "mem appears twice"},
      {"mem=lots", "not an amount of memory"},
      {"gres/gpu:a100=4,gres/gpu=2", "gres/gpu=2, but its types together are 4"},
      {"gres/gpu:a=18446744073709551615,gres/gpu:b=18446744073709551615", "more than the limit"},
      {"gres/gpu=1000001", "1000001 of gres/gpu, more than the limit of 1000000"},
  };
  for (const auto& row : table) {
    const std::string got = groups_text(row.tres);
    EXPECT_TRUE(got.find(row.why) != std::string::npos) << row.tres << ": " << got;
  }
}

TEST(Tres, Memory) {
  const struct {
    std::string_view text;
    std::uint64_t bytes;
  } table[] = {
      {"0", 0},
      {"512", std::uint64_t{512} << 20},
      {"20000M", std::uint64_t{20000} << 20},
      {"480G", std::uint64_t{480} << 30},
      {"62.50G", std::uint64_t{125} << 29},
      {"1K", 1024},
      {"1.5T", std::uint64_t{3} << 39},
      {"2P", std::uint64_t{1} << 51},
      {"0.01K", 10},  // Slurm has rounded already
  };
  for (const auto& row : table) EXPECT_EQ(parse_memory_bytes(row.text), row.bytes) << row.text;
  for (const std::string_view bad : {"", "G", "-1G", "1.G", ".5G", "1.5.5G", "1E", "1g", "1 G",
                                     "8193P", "99999999999999999999", "1.1234567890G", "4Gn"}) {
    EXPECT_FALSE(parse_memory_bytes(bad).has_value()) << bad;
  }
}

TEST(Tres, ProcessorsAndMemory) {
  const auto tres = parse_tres("billing=64,cpu=64,energy=12,mem=480G,node=2");
  EXPECT_EQ(tres->cpus, 64u);
  EXPECT_EQ(tres->memory_bytes, std::uint64_t{480} << 30);
  EXPECT_EQ(parse_tres("")->cpus, std::nullopt);
}

// Whatever part of the total the types cover, the groups hold the total.
RC_GTEST_PROP(Tres, GroupsHoldTheTotal, ()) {
  const auto typed = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange(0, 9));
  const std::uint64_t rest = static_cast<std::uint64_t>(*rc::gen::inRange(0, 9));
  Tres tres;
  std::uint64_t total = rest;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    RC_ASSERT(add_gres(tres, fmt::format("gpu:t{}", i), typed[i]).has_value());
    total += typed[i];
  }
  RC_ASSERT(add_gres(tres, "gpu", total).has_value());
  const auto groups = device_groups(tres, 1);
  std::uint64_t held = 0;
  for (const DeviceGroup& group : groups.value()) held += group.count;
  RC_ASSERT(held == total);
}

TEST(MigType, ModelAndProfile) {
  const struct {
    std::string_view type, model, profile;
  } table[] = {
      {"a100_3g.20gb", "a100", "3g.20gb"},
      {"nvidia_a100_3g.39gb", "nvidia_a100", "3g.39gb"},
      {"NVIDIA-A100-SXM4-80GB_1G.10GB", "NVIDIA-A100-SXM4-80GB", "1g.10gb"},
      {"h100-1g.10gb+me", "h100", "1g.10gb+me"},
      {"1g.10gb.me", "", "1g.10gb+me"},
      {"a100_1c.3g.20gb", "a100", "1c.3g.20gb"},
      {"a100.mig-2g.10gb", "a100", "2g.10gb"},
      {"mig_7g.80gb", "", "7g.80gb"},
  };
  for (const auto& row : table) {
    const MigType want{.model = std::string(row.model), .profile = std::string(row.profile)};
    EXPECT_EQ(parse_mig_type(row.type), want) << row.type;
  }
  for (const std::string_view whole :
       {"", "a100", "a100-sxm4-80gb", "v100", "3g", "3g.20", "g.20gb", "a1003g.20gb",
        "a100_3g.20gbx", "a100_3g.20gb+x", "rtx_4g"}) {
    EXPECT_EQ(parse_mig_type(whole), std::nullopt) << whole;
  }
}

TEST(Duration, AllForms) {
  const struct {
    std::string_view text;
    std::uint64_t ms;
  } table[] = {
      {"00:00:00", 0},           {"00:00:12", 12'000},       {"01:02:03", 3'723'000},
      {"30:00:00", 108'000'000}, {"1-02:03:04", 93'784'000}, {"59:59", 3'599'000},
      {"90:00", 5'400'000},      {"00:00.001", 1},           {"1-02", 93'600'000},
      {"1-02:30", 95'400'000},   {"00:01.5", 1'500},         {"365-00:00:00", 31'536'000'000},
  };
  for (const auto& row : table) EXPECT_EQ(parse_duration_ms(row.text), row.ms) << row.text;
  for (const std::string_view bad :
       {"", "12", "UNLIMITED", "Partition_Limit", "-1:00:00", "00:00:60", "00:60:00", "1-24:00:00",
        "1-", "-", "1:2:3:4", "1::2", "a:b", "00:00.", "00:00.0001", "1-02.5", "999999999-00:00:00",
        "99999999999999999999:00"}) {
    EXPECT_FALSE(parse_duration_ms(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace pennyweight::slurm
