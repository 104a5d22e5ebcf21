#include "insight/advice/mig_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "core/gpu/mig_layout.h"

namespace pennyweight::advising {
namespace {

const GpuModel& model(const char* name) {
  const GpuModel* found = find_gpu_model(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

std::uint64_t gpus_for(const GpuModel& of, const std::map<std::string, std::uint64_t>& demand) {
  const auto plan = plan_mig_layouts(of, demand);
  EXPECT_TRUE(plan.has_value());
  std::map<std::string, std::uint64_t> held;
  std::uint64_t gpus = 0;
  for (const MigCards& cards : plan->layouts) {
    // Each GPU is a layout that mig_layout() allows.
    EXPECT_TRUE(mig_layout(of, cards.profiles).has_value());
    for (const std::string& profile : cards.profiles) held[profile] += cards.count;
    gpus += cards.count;
  }
  std::map<std::string, std::uint64_t> wanted = demand;
  std::erase_if(wanted, [](const auto& each) { return each.second == 0; });
  EXPECT_EQ(held, wanted);
  EXPECT_EQ(gpus, plan->gpus);
  return gpus;
}

TEST(MigPlan, ByHand) {
  struct Row {
    const char* model;
    std::map<std::string, std::uint64_t> demand;
    std::uint64_t gpus;
  };
  const Row rows[] = {
      {"A100-SXM4-80GB", {{"1g.10gb", 7}}, 1},
      {"A100-SXM4-80GB", {{"1g.10gb", 8}}, 2},
      {"A100-SXM4-80GB", {{"3g.40gb", 2}, {"1g.10gb", 1}}, 2},  // two 3g fill the memory
      {"A100-SXM4-80GB", {{"3g.40gb", 1}, {"2g.20gb", 1}, {"1g.10gb", 2}}, 1},
      {"A100-SXM4-80GB", {{"4g.40gb", 1}, {"3g.40gb", 1}}, 1},
      {"A100-SXM4-80GB", {{"4g.40gb", 2}, {"2g.20gb", 2}, {"1g.10gb", 2}}, 2},
      {"A100-SXM4-80GB", {{"7g.80gb", 3}, {"1g.10gb", 1}}, 4},
      {"A100-SXM4-80GB", {{"2g.20gb", 3}, {"1g.10gb", 1}}, 1},
      {"A30", {{"1g.6gb", 4}, {"2g.12gb", 1}}, 2},
      {"A100-SXM4-80GB", {}, 0},
      {"A100-SXM4-80GB", {{"1g.10gb", 7'000'000}}, 1'000'000},
  };
  for (const Row& row : rows) EXPECT_EQ(gpus_for(model(row.model), row.demand), row.gpus);
}

TEST(MigPlan, RefusesWhatTheModelDoesNotHave) {
  EXPECT_FALSE(plan_mig_layouts(model("A100-SXM4-80GB"), {{"1g.5gb", 1}}).has_value());
  EXPECT_FALSE(plan_mig_layouts(model("A100-SXM4-80GB"), {{"1g.10gb+me", 1}}).has_value());
  EXPECT_FALSE(plan_mig_layouts(model("L4"), {{"1g.5gb", 1}}).has_value());
}

// Any order in which instances are put on cards, and any card for each.
std::uint64_t brute_force(const GpuModel& of, std::vector<std::string> left,
                          std::vector<std::vector<std::string>>& cards, std::uint64_t best) {
  if (cards.size() >= best) return best;
  if (left.empty()) return cards.size();
  const std::string next = left.back();
  left.pop_back();
  for (std::size_t i = 0; i <= cards.size(); ++i) {
    const bool is_new = i == cards.size();
    if (is_new) cards.emplace_back();
    cards[i].push_back(next);
    if (mig_layout(of, cards[i]).has_value()) best = brute_force(of, left, cards, best);
    cards[i].pop_back();
    if (is_new) cards.pop_back();
    if (is_new) break;
  }
  return best;
}

TEST(MigPlan, AsFewAsBruteForceOnSmallPools) {
  std::mt19937_64 random(7);
  const std::vector<std::string> profiles = {"1g.10gb", "1g.20gb", "2g.20gb",
                                             "3g.40gb", "4g.40gb", "7g.80gb"};
  for (int round = 0; round < 40; ++round) {
    std::map<std::string, std::uint64_t> demand;
    std::vector<std::string> instances;
    const std::size_t count = 1 + random() % 9;
    for (std::size_t i = 0; i < count; ++i) {
      instances.push_back(profiles[random() % profiles.size()]);
      ++demand[instances.back()];
    }
    std::ranges::sort(instances);
    std::vector<std::vector<std::string>> cards;
    const GpuModel& of = model("A100-SXM4-80GB");
    EXPECT_EQ(gpus_for(of, demand), brute_force(of, instances, cards, count + 1)) << round;
  }
}

TEST(MigPlan, LargePoolsStayWithinTwoPercentOfTheSlices) {
  std::mt19937_64 random(8);
  const GpuModel& of = model("A100-SXM4-80GB");
  for (int round = 0; round < 8; ++round) {
    std::map<std::string, std::uint64_t> demand;
    // One 4g needs a GPU, and so do two 3g; 2g and 1g fill what is left beside them.
    const std::uint64_t four = 50 + random() % 400;
    const std::uint64_t three = random() % (four + 1);
    demand["4g.40gb"] = four;
    demand["3g.40gb"] = three;
    demand["1g.10gb"] = (four - three) * 3 + 7 * (random() % 300);
    const std::uint64_t bound = four + (demand["1g.10gb"] - (four - three) * 3) / 7;
    const std::uint64_t gpus = gpus_for(of, demand);
    EXPECT_GE(gpus, bound);
    EXPECT_LE(gpus * 100, bound * 102) << round;
  }
}

TEST(MigPlan, TheFileOfMigParted) {
  const auto plan =
      plan_mig_layouts(model("A100-SXM4-80GB"), {{"3g.40gb", 3}, {"2g.20gb", 1}, {"1g.10gb", 2}});
  ASSERT_TRUE(plan.has_value());
  const MigFile file = mig_parted_file(*plan, 4);
  EXPECT_EQ(file.text,
            "version: v1\n"
            "mig-configs:\n"
            "  pennyweight-1:\n"
            "    - devices: [2, 3]\n"
            "      mig-enabled: false\n"
            "    - devices: [1]\n"
            "      mig-enabled: true\n"
            "      mig-devices:\n"
            "        \"1g.10gb\": 2\n"
            "        \"2g.20gb\": 1\n"
            "        \"3g.40gb\": 1\n"
            "    - devices: [0]\n"
            "      mig-enabled: true\n"
            "      mig-devices:\n"
            "        \"3g.40gb\": 2\n");
  ASSERT_EQ(file.nodes.size(), 1u);
  EXPECT_EQ(file.nodes[0], (std::pair<std::string, std::uint64_t>("pennyweight-1", 1)));
}

}  // namespace
}  // namespace pennyweight::advising
