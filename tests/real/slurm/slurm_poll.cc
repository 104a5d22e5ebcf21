// Polls a real Slurm as `serve` does, and prints each fact as a line of JSON; for test_slurm.py.
//
//   slurm_poll CLUSTER SINCE_SECONDS STATE_FILE
//
// Reads STATE_FILE where there is one, polls once for each line of standard input, confirms
// the facts, writes STATE_FILE, and prints {"poll": …} after the facts of each poll. GPUs are known
// by index on node n1 alone: "GPU-n1-<index>".
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

#include "ingest/schedulers/slurm/poller.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has the caller say it

namespace {

using namespace pennyweight;

class WallClock : public Clock {
 public:
  Instant now() override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
};

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

void print(const Holding& holding) {
  std::cout << fmt::format(
      R"({{"holding": {}, "attempt": {}, "ended": {}, "begin": {}, "end": {}, "suspended_ms": {}, )"
      R"("device": {}, "model": {}, "devices": {}, "placement": {}, "labels": {{)",
      json_text(holding.workload.text()), json_text(holding.attempt), holding.ended,
      unix_ms(holding.held.begin()), unix_ms(holding.held.end()), holding.suspended_ms,
      json_text(to_text(holding.device)), json_text(holding.gpu_model), device_count(holding),
      json_text(to_text(holding.placement)));
  const char* between = "";
  for (const auto& [key, value] : holding.labels.entries()) {
    std::cout << between << json_text(key) << ": " << json_text(value);
    between = ", ";
  }
  std::cout << fmt::format("}}, \"key\": {}}}\n", json_text(to_text(natural_key(holding))));
}

void print(const slurm::PollResult& result) {
  for (const Holding& holding : result.holdings) print(holding);
  for (const Node& node : result.nodes) {
    std::cout << fmt::format(R"({{"node": {}, "model": {}, "gpus": {}, "shards": {}, "from": {}}})"
                             "\n",
                             json_text(node.name.text()), json_text(node.gpu_model), node.gpu_count,
                             node.shard_count, unix_ms(node.from));
  }
  for (const Outage& outage : result.outages) {
    std::cout << fmt::format(R"({{"outage": {}, "begin": {}, "end": {}, "reason": {}}})"
                             "\n",
                             json_text(outage.node.text()), unix_ms(outage.during.begin()),
                             unix_ms(outage.during.end()), json_text(outage.reason));
  }
  for (const RejectedRow& row : result.rejected) {
    std::cout << fmt::format(R"({{"rejected": {}, "column": {}, "reason": {}}})"
                             "\n",
                             json_text(row.text), json_text(row.column), json_text(row.reason));
  }
  for (const std::string& note : result.notes) {
    std::cout << fmt::format("{{\"note\": {}}}\n", json_text(note));
  }
  for (const Error& failure : result.failures) {
    std::cout << fmt::format("{{\"failure\": {}}}\n", json_text(failure.message));
  }
  std::cout << fmt::format(
                   R"({{"poll": {}, "running_jobs": {}, "running_on_gpus": {}, "ended_jobs": {}, )"
                   R"("caught_up": {}}})",
                   unix_ms(result.at), result.running_jobs, result.running_on_gpus,
                   result.ended_jobs, result.is_caught_up)
            << std::endl;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: slurm_poll CLUSTER SINCE_SECONDS STATE_FILE\n";
    return 2;
  }
  slurm::PollerOptions options{.cluster = ClusterId(arguments[1]),
                               .slurm_cluster = "",
                               .sacct = {"sacct"},
                               .scontrol = {"scontrol"},
                               .sacctmgr = {"sacctmgr"},
                               .environment = {},
                               .zone = TimeZone::utc(),
                               .since = from_unix_seconds(std::stoll(arguments[2]))};
  for (char** entry = environ; *entry != nullptr; ++entry) options.environment.emplace_back(*entry);
  // A test looks at every poll, and has no minute to wait.
  options.running_every = std::chrono::milliseconds(0);
  WallClock clock;
  slurm::SlurmPoller poller(options, clock,
                            [](const NodeId& node, std::uint32_t index) -> std::optional<GpuId> {
                              if (node != NodeId("n1")) return std::nullopt;
                              return GpuId(fmt::format("GPU-{}-{}", node.text(), index));
                            });
  const std::string state_file = arguments[3];
  if (std::filesystem::exists(state_file)) {
    if (auto restored = poller.restore(read_file(state_file)); !restored) {
      std::cerr << restored.error().message << "\n";
      return 1;
    }
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    const slurm::PollResult result = poller.poll();
    poller.confirm_stored();
    std::ofstream(state_file, std::ios::binary) << poller.save();
    print(result);
  }
  return 0;
}
