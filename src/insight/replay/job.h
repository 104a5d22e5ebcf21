// Job, Machine: what a replay schedules, and on what.
#pragma once

#include <cstdint>
#include <string>

namespace pennyweight::replay {

// Which GPU models a job may run on: bit i stands for the i-th model of the replay. 0: any.
using ModelSet = std::uint64_t;

// What a job holds while it runs. A job gets all of it at once or nothing.
struct Request {
  std::uint32_t gpus = 0;  // whole GPUs, over all its machines
  // A fraction of one GPU, 1 to 999 thousandths; then `gpus` is 0.
  std::uint32_t gpu_milli = 0;
  std::uint64_t cpu_milli =
      0;  // in all; a job on several machines takes them in proportion to GPUs
  std::uint64_t memory_mib = 0;  // likewise
  ModelSet models = 0;

  bool operator==(const Request&) const = default;
  // Thousandths of a GPU, over all its machines.
  std::uint64_t milli_gpus() const { return std::uint64_t{1000} * gpus + gpu_milli; }
};

// Times are microseconds since the beginning of the replay.
struct Job {
  std::string name = {};
  std::string team = {};
  std::int64_t submit_us = 0;
  std::int64_t work_us = 0;  // how long it runs when nothing interrupts it; > 0
  // How long the scheduler believes that it runs: its time limit, or a prediction. 0: it knows
  // work_us.
  std::int64_t estimate_us = 0;
  std::int64_t restart_us = 0;  // what an interruption costs it: see RestartCost and Spot
  std::int64_t priority = 0;    // higher goes first
  // Where else it may run once it has waited: a number among SpillOver::places, from 1 on. 0:
  // nowhere.
  std::uint32_t elsewhere = 0;
  Request request;
};

struct Machine {
  std::string name = {};
  std::uint32_t model = 0;  // index among the models of the replay, < 64
  std::uint32_t gpus = 0;   // <= 32
  std::uint64_t cpu_milli = 0;
  std::uint64_t memory_mib = 0;
  std::uint32_t rack = 0;  // matters where Scheduling::same_rack
};

}  // namespace pennyweight::replay
