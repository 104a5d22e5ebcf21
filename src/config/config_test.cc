// What a configuration may contain, what it may not, and the messages of the errors.
#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "config/nearest.h"
#include "config/yaml.h"
#include "core/limits.h"

namespace pennyweight {
namespace {

TEST(Config, EmptyIsTheDefaults) {
  for (const char* text : {"", "# nothing\n", "---\n", "store:\n"}) {
    const auto config = parse_config(text, "pennyweight.yaml");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->store_path, "pennyweight.duckdb");
    EXPECT_EQ(config->policy.time_zone.name(), "UTC");
    EXPECT_EQ(config->policy.node_split, NodeSplit::kResidual);
  }
}

TEST(Config, ReadsEveryKey) {
  const auto config = parse_config(R"(
store: {path: books/ledger.duckdb, memory_limit: 512MiB}
time_zone: America/Los_Angeles
threads: 4
clusters:
  - {name: philly, kind: slurm, time_zone: UTC}
  - {name: openb, kind: kubernetes, origin: 2023-01-01}
dimensions:
  team: {from: [squad], fallback: nobody}
  tier: {from: [tier]}
policy: {weights: {compute: 700, memory: 300}, node_split: whole_node}
prices: {override: /etc/prices.csv}
)",
                                   "/etc/pw/pennyweight.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->store_path, "/etc/pw/books/ledger.duckdb");
  EXPECT_EQ(config->store_memory_bytes, std::uint64_t{512} << 20);
  EXPECT_EQ(config->policy.time_zone.name(), "America/Los_Angeles");
  EXPECT_EQ(config->threads, 4U);
  ASSERT_EQ(config->clusters.size(), 2U);
  EXPECT_EQ(config->clusters[0].time_zone.name(), "UTC");
  EXPECT_EQ(config->clusters[1].time_zone.name(), "America/Los_Angeles");
  EXPECT_EQ(config->clusters[1].origin, parse_instant("2023-01-01").value());
  EXPECT_EQ(config->policy.weights.compute, 700U);
  EXPECT_EQ(config->policy.node_split, NodeSplit::kWholeNode);
  EXPECT_EQ(config->price_file, "/etc/prices.csv");
  bool squad = false;
  for (const DimensionRule& rule : config->policy.dimensions) {
    squad = squad ||
            (rule.dimension == "team" && rule.labels[0] == "squad" && rule.fallback == "nobody");
  }
  EXPECT_TRUE(squad);
}

TEST(Config, ThePolicyMayBeAFileOfItsOwn) {
  auto config = parse_config("policy: rules/2026.yaml\ntime_zone: America/Los_Angeles\n",
                             "/etc/pw/pennyweight.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->policy_file, "/etc/pw/rules/2026.yaml");
  EXPECT_TRUE(apply_policy_file(*config, "version: 1\nbasis: request\n").empty());
  EXPECT_EQ(config->policy.basis.kind, Basis::Kind::kRequest);
  EXPECT_EQ(config->policy.time_zone.name(), "America/Los_Angeles") << "as it states none";
  EXPECT_TRUE(apply_policy_file(*config, "version: 1\ntime_zone: UTC\n").empty());
  EXPECT_EQ(config->policy.time_zone.name(), "UTC");
  EXPECT_EQ(config->time_zone.name(), "America/Los_Angeles") << "that of the clusters stays";

  const auto wrong = apply_policy_file(*config, "basis: request\n");
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].message, "/etc/pw/rules/2026.yaml:1:1: a policy begins with version: 1");
}

TEST(Config, DimensionsStandInOnePlace) {
  const std::string dimensions = "dimensions: {tier: {from: [tier]}}\n";
  EXPECT_FALSE(parse_config(dimensions + "policy:\n  " + dimensions, "p.yaml"));
  auto config = parse_config(dimensions + "policy: rules.yaml\n", "p.yaml");
  ASSERT_TRUE(config);
  EXPECT_FALSE(apply_policy_file(*config, "version: 1\n" + dimensions).empty());
  EXPECT_TRUE(apply_policy_file(*config, "version: 1\n").empty());
  EXPECT_EQ(config->policy.dimensions.size(), 11U) << "the built-in ones, and one more";
  // A policy's list replaces the default list.
  config = parse_config("policy:\n  " + dimensions, "p.yaml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->policy.dimensions, (std::vector<DimensionRule>{{"tier", {"tier"}, "(none)"}}));
}

TEST(Config, ClustersTakeTheZoneWhereverItStands) {
  const auto config =
      parse_config("clusters: [{name: a}]\ntime_zone: America/Los_Angeles\n", "p.yaml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->clusters[0].time_zone.name(), "America/Los_Angeles");
}

TEST(Config, ThePolicyDoesNotDependOnTheOrderOfTheFile) {
  const auto one = parse_config("dimensions: {a: {from: [x]}, b: {from: [y]}}", "p.yaml");
  const auto two = parse_config("dimensions: {b: {from: [y]}, a: {from: [x]}}", "p.yaml");
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->policy.text(), two->policy.text());
}

TEST(Config, RefusesWithPlaceAndReason) {
  const struct {
    const char* yaml;
    const char* want;
  } kCases[] = {
      {"stroe:\n  path: x\n",
       "p.yaml:1:1: the configuration has no key 'stroe'; did you mean 'store'?"},
      {"store:\n  pth: x\n", "p.yaml:2:3: store has no key 'pth'; did you mean 'path'?"},
      {"quux: 1\n", "p.yaml:1:1: the configuration has no key 'quux'"},
      {"store: 7\n", "p.yaml:1:8: store must be a mapping, not a text"},
      {"store: clickhouse://\n", "p.yaml:1:8: store: "},
      {"store: {address: 'clickhouse://host/no-such-name'}\n", "p.yaml:1:18: store.address: "},
      {"store: {path: [a]}\n", "p.yaml:1:15: store.path must be a text, not a list"},
      {"store: {path: ''}\n", "p.yaml:1:15: store.path is empty"},
      {"store: {memory_limit: lots}\n",
       "p.yaml:1:23: store.memory_limit: 'lots' is not a size; write it as 512MiB or 2GB"},
      {"threads: -1\n", "p.yaml:1:10: threads must be a whole number from 0 to 1024, not '-1'"},
      {"threads: 1.5\n", "p.yaml:1:10: threads must be a whole number from 0 to 1024, not '1.5'"},
      {"threads: 4096\n", "p.yaml:1:10: threads must be a whole number from 0 to 1024, not '4096'"},
      {"clusters: {a: b}\n", "p.yaml:1:11: clusters must be a list, not a mapping"},
      {"clusters: [{kind: slurm}]\n", "p.yaml:1:12: a cluster needs a name"},
      {"clusters: [{name: a, kind: pbs}]\n",
       "p.yaml:1:28: a cluster's kind is slurm or kubernetes, not 'pbs'"},
      {"clusters: [{name: a}, {name: a}]\n", "p.yaml:1:23: the cluster 'a' is here twice"},
      {"dimensions: {node: {from: [x]}}\n",
       "p.yaml:1:14: 'node' is a built-in dimension; choose another name"},
      {"dimensions: {team: {fallback: x}}\n",
       "p.yaml:1:14: the dimension 'team' needs from: [label, …]"},
      {"policy: {node_split: half}\n",
       "p.yaml:1:22: policy.node_split is residual, whole_node, {ratio: {gpu: 9, vcpu: 0.9, gib: "
       "0.1}} or {explicit: {gpu: 0.9, cpu: 0.07, memory: 0.03}}, not 'half'"},
      {"policy: {weights: {compute: 0, memory: 0}}\n",
       "p.yaml:1:19: policy.weights: one of compute and memory must be more than 0"},
      {"store: {path: a}\nstore: {path: b}\n",
       "p.yaml:2:1: the key 'store' is here twice; it was given in line 1 before"},
      {"store:\n\tpath: x\n", "p.yaml:2:1: a tab; indent with spaces"},
      {"a: &x [1]\n", "p.yaml:1:"},
      {"a: *x\n", "p.yaml:1:"},
      {"store: !!binary x\n", "p.yaml:1:"},
      {"store: {path: x\n", "p.yaml:"},
      {"- 1\n", "p.yaml:1:1: the configuration must be a mapping, not a list"},
      {"threads: 1\n---\nthreads: 2\n", "p.yaml: holds more than one document"},
  };
  for (const auto& [yaml, want] : kCases) {
    const auto config = parse_config(yaml, "p.yaml");
    ASSERT_FALSE(config) << yaml;
    EXPECT_TRUE(config.error().message.starts_with(want)) << config.error().message << "\n" << want;
  }
}

TEST(Config, AllMistakesAreReportedInOrder) {
  const auto reading = check_config(
      "stroe: {}\nclusters:\n  - {name: a, kind: nomad}\n  - {kind: slurm}\nthreads: many\n"
      "policy:\n  basis: most\n  overhead: [{label: x}]\n",
      "p.yaml");
  std::vector<std::string> places;
  for (const Problem& problem : reading.problems) {
    places.push_back(problem.message.substr(0, problem.message.find(": ")));
    EXPECT_FALSE(problem.is_warning);
  }
  EXPECT_EQ(places, (std::vector<std::string>{"p.yaml:1:1", "p.yaml:3:21", "p.yaml:4:5",
                                              "p.yaml:5:10", "p.yaml:7:10", "p.yaml:8:14"}));
}

TEST(Config, RefusesAnUnknownZone) {
  const auto config = parse_config("time_zone: Mars/Olympus\n", "p.yaml");
  ASSERT_FALSE(config);
  EXPECT_TRUE(config.error().message.starts_with("p.yaml:1:12: ")) << config.error().message;
}

TEST(Config, RefusesWhatIsTooMuch) {
  EXPECT_FALSE(parse_config(std::string(limits::kConfigBytesMax + 1, '#'), "p.yaml"));
  EXPECT_FALSE(parse_config(std::string(10'000, '['), "p.yaml"));
  EXPECT_FALSE(parse_config(std::string("a: b\0", 5), "p.yaml"));
  // The billion laughs attack: refused at its first anchor.
  EXPECT_FALSE(parse_config("a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "p.yaml"));
}

TEST(Config, TheGuideHasTheReferenceWordForWord) {
  std::ifstream file(PROJECT_ROOT "/docs/guide/configuration.md");
  std::stringstream guide;
  guide << file.rdbuf();
  EXPECT_NE(guide.str().find(config_reference()), std::string::npos)
      << "put this into docs/guide/configuration.md:\n"
      << config_reference();
}

// Every key that is read is documented, and every documented key is read. For a new mapping of the
// configuration, add a line to this document.
TEST(Config, TheReferenceHasTheKeysOfTheReadersAndNoOthers) {
  const ConfigReading reading = check_config(R"(store: {}
clusters: [{name: a}]
labels: {required: [{key: team-id}]}
prices: {}
bills: [{format: focus}]
join: [{label: node}]
currencies: {}
audit: {}
invoice: {issuer: {}, customers: {a: {}}, tax: {name: VAT, percent: 20}, rates: [{markup: 1}]}
mail: {}
pull: [{name: a, from: b}]
budgets: [{name: a, amounts: [{from: 2026-01-01, amount: 1 USD}]}]
events: [{name: a, from: 2026-01-01, percent: 0}]
guardrails: {pricing: {}, admission: {listen: "127.0.0.1:1"},
  approvals: {approvers: [{who: a, delegate: {to: b, from: 2026-01-01, until: 2026-01-02}}]},
             slurm: {socket: /s}, clients: [{name: a}],
             limits: [{name: a, per_month: 1 USD, stop_running: {grace: 1h, exempt: [
                       {workload: w, reason: r, until: 2026-01-01}]}}],
             rules: [{name: a, when: {gpus_above: 1}, exempt: [{reason: r, until: 2026-01-01}]},
                     {name: b, effect: mutate, when: {gpus_above: 1}, set: {time_limit: 1h}}]}
alerts: {receivers: [{name: a, url: "https://a/"}], thresholds: {}, rules: [{rule: gpu_hot}],
         maintenance: [{weekly: sat 22:00-04:00, reason: r}],
         commitments: [{id: a, ends: 2027-01-01}],
         silences: [{to: 2026-01-01, reason: r}]}
serve: {tls: {}, limits: {}, openid: {scope: [{match: "t-*", dimension: team}]}}
scrape: [{job: j, targets: ["h:1"], tls: {}, basic_auth: {}}]
kubernetes: [{cluster: a}]
slurm: [{cluster: a}]
outcomes: [{metric: m, measure: requests}]
)",
                                             "p.yaml");
  // Paths that messages shorten.
  const std::map<std::string, std::string> paths = {{"the configuration", ""},
                                                    {"a cluster", "clusters[]."},
                                                    {"tls", "scrape[].tls."},
                                                    {"basic_auth", "scrape[].basic_auth."},
                                                    {"invoice.customers[]", "invoice.customers."},
                                                    {"invoice.rates[]", "invoice.rates."}};
  std::map<std::string, std::string> documented;  // key to type, which may list further keys
  for (const ConfigKey& key : config_keys()) {
    if (key.key.starts_with("dimensions.")) continue;  // by the test of the policy's schema
    const std::size_t name = key.key.find(".VALUE");
    documented.emplace(key.key.substr(0, name), key.type);
  }
  const auto is_section = [&](const std::string& key) {
    return std::ranges::any_of(documented, [&](const auto& other) {
      return other.first.starts_with(key + ".") || other.first.starts_with(key + "[]");
    });
  };
  std::set<std::string> read, listed;
  for (const auto& [mapping, keys] : reading.known_keys) {
    const auto path = paths.find(mapping);
    const std::string prefix = path == paths.end() ? mapping + "." : path->second;
    const auto row = documented.find(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
    for (const std::string& name : keys) {
      const std::string key = prefix + name;
      if (key == "dimensions" || is_section(key)) continue;
      const bool is_in_row = row != documented.end() && row->second.contains(name);
      if (!is_in_row || documented.contains(key)) read.insert(key);
    }
  }
  for (const auto& [key, type] : documented) {
    if (!is_section(key)) listed.insert(key);
  }
  std::vector<std::string> only_read, only_documented;
  std::ranges::set_difference(read, listed, std::back_inserter(only_read));
  std::ranges::set_difference(listed, read, std::back_inserter(only_documented));
  EXPECT_THAT(only_read, testing::ElementsAre());
  EXPECT_THAT(only_documented, testing::ElementsAre());
}

TEST(Suggestion, FindsTheSlipOfTheFinger) {
  const std::vector<std::string> known = {"team", "user", "cluster"};
  EXPECT_EQ(suggestion("taem", known), "; did you mean 'team'?");
  EXPECT_EQ(suggestion("clusters", known), "; did you mean 'cluster'?");
  EXPECT_EQ(suggestion("zebra", known), "");
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(ParseBytes, KnowsItsUnits) {
  EXPECT_EQ(parse_bytes("2GB").value(), 2'000'000'000U);
  EXPECT_EQ(parse_bytes("1 KiB").value(), 1024U);
  EXPECT_EQ(parse_bytes("17").value(), 17U);
  for (const char* bad : {"", "GB", "-1GB", "1.5GB", "0", "99999999999TB", "1 XB"}) {
    EXPECT_FALSE(parse_bytes(bad)) << bad;
  }
}

}  // namespace
}  // namespace pennyweight
