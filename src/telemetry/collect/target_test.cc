#include "telemetry/collect/target.h"

#include <gtest/gtest.h>

namespace pennyweight::collect {
namespace {

std::string labels_of(const Target& target) {
  std::string all;
  for (const prometheus::Label& label : target.labels.labels) {
    all += label.name + "=" + label.value + " ";
  }
  return all;
}

TEST(Target, JobAddressAndGroupMakeIt) {
  const ScrapeJob job = {.name = "dcgm", .honor_labels = true, .labels = {{"cluster", "prod"}}};
  const auto target = make_target(job, "n1:9400", {.addresses = {}, .labels = {{"rack", "7"}}});
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->url, "http://n1:9400/metrics");
  EXPECT_EQ(labels_of(*target), "cluster=prod instance=n1:9400 job=dcgm rack=7 ");
  EXPECT_TRUE(target->labels.honor_labels);
  EXPECT_EQ(target->interval, job.interval);
}

TEST(Target, LabelsWithUnderscoresSayWhereToAsk) {
  const ScrapeJob job = {.name = "vllm", .params = {{"module", "a b"}}};
  const auto target = make_target(job, "n1",
                                  {.addresses = {},
                                   .labels = {{"__scheme__", "https"},
                                              {"__metrics_path__", "own"},
                                              {"__address__", "[::1]:8000"},
                                              {"__param_x", "&"},
                                              {"__meta_pod", "p"},
                                              {"job", "other"},
                                              {"instance", "mine"},
                                              {"empty", ""}}});
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->url, "https://[::1]:8000/own?module=a%20b&x=%26");
  EXPECT_EQ(labels_of(*target), "instance=mine job=other ");
}

TEST(Target, OtherLabelsAreAnotherTarget) {
  const ScrapeJob job = {.name = "j"};
  const auto id = [&](const char* address, std::vector<prometheus::Label> labels) {
    return make_target(job, address, {.addresses = {}, .labels = std::move(labels)})->id;
  };
  EXPECT_EQ(id("n1:1", {}), id("n1:1", {}));
  EXPECT_NE(id("n1:1", {}), id("n2:1", {}));
  EXPECT_NE(id("n1:1", {}), id("n1:1", {{"a", "b"}}));
  EXPECT_NE(id("n1:1", {}), id("n1:1", {{"__metrics_path__", "/other"}}));
}

TEST(Target, WhatIsNoAddressIsRefused) {
  for (const char* const bad :
       {"", "n1:9400/metrics", "http://n1", "a b", "user@n1", "n1?x", "n1#x", "n1\n"}) {
    const auto target = make_target({.name = "dcgm"}, bad, {});
    ASSERT_FALSE(target) << bad;
    EXPECT_EQ(target.error().code, ErrorCode::kConfig);
    EXPECT_NE(target.error().message.find("job dcgm"), std::string::npos);
  }
  EXPECT_FALSE(
      make_target({.name = "j"}, "n1", {.addresses = {}, .labels = {{"__scheme__", "file"}}}));
}

}  // namespace
}  // namespace pennyweight::collect
