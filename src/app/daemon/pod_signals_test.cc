#include "app/daemon/pod_signals.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "app/daemon/live_inventory.h"
#include "core/clock.h"
#include "core/instant.h"

namespace pennyweight {
namespace {

TEST(PodSignals, WhatCouldNotBeWrittenIsTriedAgainInAWhile) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "pod_signals";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  // A file is where its folder is to be.
  const auto place = folder / "state";
  std::ofstream(place.string()) << "in the way";
  SimulatedClock clock(*parse_instant("2026-03-04T10:00:00Z"));
  const std::string path = (place / "spot").string();
  PodSignals signals(path, clock);
  CollectedFacts facts;
  facts.spot_nodes.emplace_back(ClusterId("lab"), NodeId("n1"));
  signals.note(facts);
  EXPECT_EQ(signals.spot_nodes().size(), 1u) << "it is known all the same";
  std::filesystem::remove(place);
  for (int minute = 1; minute < 10; ++minute) {
    clock.advance(std::chrono::minutes(1));
    signals.note(facts);
    EXPECT_FALSE(std::filesystem::exists(path)) << "after " << minute << " minutes";
  }
  clock.advance(std::chrono::minutes(1));
  signals.note(facts);
  EXPECT_TRUE(std::filesystem::exists(path));
  // After a success a new node is written at once.
  facts.spot_nodes.emplace_back(ClusterId("lab"), NodeId("n2"));
  clock.advance(std::chrono::minutes(1));
  signals.note(facts);
  EXPECT_EQ(PodSignals(path, clock).spot_nodes().size(), 2u);
}

}  // namespace
}  // namespace pennyweight
