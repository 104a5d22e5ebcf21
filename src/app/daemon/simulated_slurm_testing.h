// A simulated Slurm cluster: the programs that the poller runs print what is true at that moment.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/daemon/live_source.h"
#include "core/clock.h"
#include "ingest/schedulers/slurm/poller.h"

namespace pennyweight {

inline const ClusterId kSimulatedSlurm("hpc");

struct SimulatedJob {
  int id;
  Instant begin, end;  // whole seconds
  std::vector<std::uint32_t> cards;
};

// As SlurmSource, polled on the thread that collects.
class SimulatedSlurm : public LiveSource {
 public:
  // `state` is the file of the poller's state. All outlive it.
  SimulatedSlurm(const std::vector<SimulatedJob>& jobs, std::filesystem::path folder, Instant since,
                 const GpuLookup& known, std::string& state, Clock& clock,
                 std::chrono::milliseconds every)
      : jobs_(jobs),
        folder_(std::move(folder)),
        state_(state),
        clock_(clock),
        every_(every),
        poller_(options(folder_, since), clock, [&known](const NodeId& node, std::uint32_t index) {
          return known.gpu_at(kSimulatedSlurm, node, index);
        }) {
    std::filesystem::create_directories(folder_);
    if (!state_.empty()) {
      const auto restored = poller_.restore(state_);
      EXPECT_TRUE(restored) << restored.error().message;
    }
  }

  const ClusterId& cluster() const override { return kSimulatedSlurm; }
  std::string kind() const override { return "slurm"; }
  bool is_ready() const override { return is_ready_; }
  std::map<std::string, std::uint64_t> counts() const override { return {}; }
  void set_down(bool down) { is_down_ = down; }
  // Of the last poll that was answered up to now, and of the first one since then without a failure
  // between.
  std::optional<Instant> answered_at() const { return answered_at_; }
  std::optional<Instant> answers_since() const { return answers_since_; }

  CollectedFacts collect() override {
    if (polled_at_ && clock_.now() < *polled_at_ + every_) return {};
    polled_at_ = clock_.now();
    is_down_ ? remove_answers() : write_answers();
    slurm::PollResult result = poller_.poll();
    EXPECT_EQ(result.failures.empty(), !is_down_);
    // A long absence is read in several polls, one after the other.
    if (!is_down_ && !result.is_caught_up) polled_at_.reset();
    if (is_down_) {
      answers_since_.reset();
    } else if (result.is_caught_up) {
      answered_at_ = clock_.now();
      if (!answers_since_) answers_since_ = answered_at_;
    }
    is_ready_ = is_ready_ || (result.failures.empty() && result.is_caught_up);
    return {.holdings = std::move(result.holdings),
            .nodes = std::move(result.nodes),
            .gpus = {},
            .outages = std::move(result.outages),
            .rejected = std::move(result.rejected),
            .problems = std::move(result.notes)};
  }
  // Also called where nothing was polled since.
  void confirm_stored() override {
    poller_.confirm_stored();
    state_ = poller_.save();
  }

 private:
  static slurm::PollerOptions options(const std::filesystem::path& folder, Instant since) {
    const std::string here = folder.string();
    return {.cluster = kSimulatedSlurm,
            .slurm_cluster = "",
            .sacct = {"sh", "-c", "cat " + here + "/sacct", "sacct"},
            .scontrol = {"sh", "-c", "cat " + here + "/$2", "scontrol"},
            .environment = {"PATH=/usr/bin:/bin"},
            .zone = TimeZone::utc(),
            .since = since};
  }
  void remove_answers() const {
    for (const char* name : {"node", "job", "sacct"}) std::filesystem::remove(folder_ / name);
  }
  void write_answers() const {
    const Instant now = clock_.now();
    std::string running;
    std::string records =
        "JobID|Account|User|State|Start|End|ElapsedRaw|Suspended|AllocTRES|NodeList|JobName\n";
    for (const SimulatedJob& job : jobs_) {
      if (now < job.begin) continue;
      const bool has_ended = job.end <= now;
      const std::int64_t begin = unix_ms(job.begin) / 1000, end = unix_ms(job.end) / 1000;
      const std::int64_t ran = (has_ended ? end : unix_ms(now) / 1000) - begin;
      records += fmt::format("{}|nlp|ada|{}|{}|{}|{}|00:00:00|cpu=1,gres/gpu={}|h1|train\n", job.id,
                             has_ended ? "COMPLETED" : "RUNNING", begin,
                             has_ended ? std::to_string(end) : "Unknown", ran, job.cards.size());
      if (has_ended) continue;
      running += fmt::format(
          "JobId={} JobName=train\n   UserId=ada(5) GroupId=g(0)\n   Account=nlp QOS=normal\n   "
          "JobState=RUNNING Reason=None\n   RunTime={}-{:02}:{:02}:{:02} TimeLimit=UNLIMITED\n   "
          "StartTime={} EndTime=Unknown\n   NodeList=h1\n   TRES=cpu=1,node=1,gres/gpu={}\n     "
          "Nodes=h1 CPU_IDs=0 Mem=0 GRES=gpu:a100:{}(IDX:{})\n\n",
          job.id, ran / 86'400, ran / 3600 % 24, ran / 60 % 60, ran % 60, begin, job.cards.size(),
          job.cards.size(), fmt::join(job.cards, ","));
    }
    for (char& c : records) {
      if (c == '|') c = '\x1f';
    }
    write("node", "NodeName=h1 CPUTot=8 Gres=gpu:a100:8 State=IDLE\n");
    write("job", running.empty() ? "No jobs in the system\n" : running);
    write("sacct", records);
  }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  const std::vector<SimulatedJob>& jobs_;
  const std::filesystem::path folder_;
  std::string& state_;
  Clock& clock_;
  const std::chrono::milliseconds every_;
  std::optional<Instant> polled_at_, answered_at_, answers_since_;
  slurm::SlurmPoller poller_;
  bool is_down_ = false, is_ready_ = false;
};

}  // namespace pennyweight
