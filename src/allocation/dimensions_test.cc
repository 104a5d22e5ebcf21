// Dimensions: which rule decides, and what is never overridden.
#include "allocation/dimensions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pennyweight {
namespace {

Labels labels(std::initializer_list<Labels::Entry> entries) {
  Labels all;
  for (const auto& [key, value] : entries) EXPECT_TRUE(all.set(key, value).has_value());
  return all;
}

LabelMatch is(const char* key, const char* pattern) {
  return {.key = key, .op = LabelMatch::Op::kIn, .values = {pattern}};
}

// A team by namespace, by workload name, by cluster; a client by team; a default for the rest.
Policy policy() {
  Policy policy;
  policy.owners = {
      {.priority = 0, .when = {}, .set = {{"client", "internal"}}},
      {.priority = 10, .when = {is("namespace", "nlp-*")}, .set = {{"team", "nlp"}}},
      {.priority = 20, .when = {is("workload", "lab/*")}, .set = {{"team", "research"}}},
      {.priority = 5, .when = {is("dimension:team", "nlp")}, .set = {{"client", "acme"}}},
      {.priority = 10, .when = {is("namespace", "nlp-eval")}, .set = {{"team", "late"}}},
      {.priority = -1, .when = {is("cluster", "west")}, .set = {{"site", "west"}, {"team", "w"}}},
  };
  policy.dimensions = {{"team", {"team", "account"}, "(unowned)"},
                       {"user", {"user"}, ""},
                       {"client", {"client"}, "nobody"}};
  return policy;
}

TEST(Dimensions, TheFirstThatHasAValueDecides) {
  struct Case {
    const char* name;
    const char* cluster;
    const char* workload;
    Labels labels;
    Labels want;
  };
  const Case cases[] = {
      {"no rule: the fallback, and no empty value",
       "east",
       "1",
       {},
       labels({{"client", "internal"}, {"team", "(unowned)"}})},
      {"the first label that is not empty", "east", "1",
       labels({{"team", ""}, {"account", "vision"}, {"user", "ann"}}),
       labels({{"client", "internal"}, {"team", "vision"}, {"user", "ann"}})},
      {"a label that looks like one of the program's own values is marked as a label", "east", "1",
       labels({{"team", "(unowned)"}, {"user", "(shared)"}}),
       labels({{"client", "internal"}, {"team", "label:(unowned)"}, {"user", "label:(shared)"}})},
      {"as much of it as a value may have", "east", "1",
       labels({{"team", "(" + std::string(4094, 'x') + ")"}}),
       labels({{"client", "internal"}, {"team", "label:(" + std::string(4089, 'x')}})},
      {"and one that does not, is as it is", "east", "1",
       labels({{"team", "(a) b"}, {"user", "x (y)"}}),
       labels({{"client", "internal"}, {"team", "(a) b"}, {"user", "x (y)"}})},
      {"a rule beats the labels, and the earlier of equals", "east", "1",
       labels({{"namespace", "nlp-eval"}, {"team", "vision"}}),
       labels({{"client", "acme"}, {"team", "nlp"}})},
      {"the higher priority is asked first", "east", "lab/x", labels({{"namespace", "nlp-1"}}),
       labels({{"client", "internal"}, {"team", "research"}})},
      {"a lower one fills in what is open",
       "west",
       "lab/x",
       {},
       labels({{"client", "internal"}, {"site", "west"}, {"team", "research"}})},
      {"by cluster", "west", "1", labels({{"team", "vision"}}),
       labels({{"client", "internal"}, {"site", "west"}, {"team", "w"}})},
      {"a label can't pass for the cluster", "east", "1", labels({{"cluster", "west"}}),
       labels({{"client", "internal"}, {"team", "(unowned)"}})},
      {"a team that only a label gives is not settled when rules are asked", "east", "1",
       labels({{"team", "nlp"}}), labels({{"client", "internal"}, {"team", "nlp"}})},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(resolve_dimensions(ClusterId(c.cluster), WorkloadId(c.workload), c.labels, policy()),
              c.want)
        << c.name;
  }
}

TEST(Dimensions, WhatNoLabelSaysIsDerived) {
  Policy rules = policy();
  rules.dimensions[0].derive = {{"image", *LabelPattern::parse(".*/([^/]+)/[^/]+"), "$1"},
                                {"namespace", *LabelPattern::parse("lab-.*"), "lab"}};
  const auto team = [&](const Labels& workload) {
    return std::string(resolve_dimensions(ClusterId("c"), WorkloadId("1"), workload, rules)
                           .find("team")
                           .value_or(""));
  };
  const Labels image = labels({{"image", "registry/vision/train:3"}, {"namespace", "lab-1"}});
  EXPECT_EQ(team(image), "vision");
  EXPECT_EQ(team(labels({{"image", "train:3"}, {"namespace", "lab-1"}})), "lab");
  EXPECT_EQ(team(labels({{"image", "train:3"}, {"namespace", "x"}})), "(unowned)");
  Labels stated = image;
  ASSERT_TRUE(stated.set("account", "speech"));
  EXPECT_EQ(team(stated), "speech");
}

// Whatever turns out of what is not known before work runs: what was said to be known holds, and
// nothing else comes than what was said not to be.
TEST(Dimensions, WhatIsPlannedHolds) {
  Policy derived = policy();
  derived.dimensions[1].derive = {{"image", *LabelPattern::parse(".*/([^/]+)/[^/]+"), "$1"},
                                  {"namespace", *LabelPattern::parse("lab-.*"), "lab"}};
  Policy plain = policy();
  plain.owners.clear();
  const auto is_unknown = [](std::string_view key) {
    return key == "namespace" || key == "account";
  };
  const Labels given[] = {{},
                          labels({{"team", "cv"}}),
                          labels({{"team", ""}}),
                          labels({{"namespace", "nlp-a"}}),
                          labels({{"namespace", "x"}, {"user", "ann"}}),
                          labels({{"namespace", "lab-1"}, {"account", ""}}),
                          labels({{"image", "r/vision/t"}, {"client", "acme"}})};
  const std::vector<std::string> dimensions = {"client", "site", "team", "user"};
  const Policy all[] = {policy(), derived, plain};
  for (const Policy& rules : all) {
    for (const Labels& some : given) {
      const PlannedDimensions planned = resolve_planned_dimensions(some, is_unknown, rules);
      for (const std::string name_space : {"", "nlp-a", "nlp-eval", "lab-1", "x"}) {
        for (const std::string account : {"", "vision"}) {
          Labels whole = some;
          if (!some.find("namespace")) {
            ASSERT_TRUE(whole.set("namespace", name_space));
          }
          if (!some.find("account")) {
            ASSERT_TRUE(whole.set("account", account));
          }
          for (const char* cluster : {"east", "west"}) {
            for (const char* workload : {"1", "lab/x"}) {
              const Labels real =
                  resolve_dimensions(ClusterId(cluster), WorkloadId(workload), whole, rules);
              for (const std::string& dimension : dimensions) {
                const bool is_open =
                    std::ranges::find(planned.unknown, dimension) != planned.unknown.end();
                if (is_open) continue;
                EXPECT_EQ(planned.known.find(dimension), real.find(dimension)) << dimension;
              }
            }
          }
        }
      }
    }
  }
  const auto none = [](std::string_view) { return false; };
  EXPECT_TRUE(resolve_planned_dimensions(given[1], none, plain).unknown.empty());
  EXPECT_EQ(resolve_planned_dimensions(given[1], none, plain).known,
            resolve_dimensions(ClusterId("c"), WorkloadId("1"), given[1], plain));
}

TEST(Dimensions, AnEmptyValueSetsNothing) {
  Policy rules = policy();
  rules.owners = {{.priority = 0, .when = {}, .set = {{"team", ""}}}};
  EXPECT_EQ(resolve_dimensions(ClusterId("c"), WorkloadId("1"), {}, rules),
            labels({{"client", "nobody"}, {"team", "(unowned)"}}));
}

}  // namespace
}  // namespace pennyweight
