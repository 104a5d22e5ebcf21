#include "ingest/schedulers/slurm/scontrol_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/limits.h"
#include "core/plain_text.h"
#include "core/text_lines.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/hostlist.h"
#include "ingest/schedulers/slurm/mig_type.h"
#include "ingest/schedulers/slurm/node_gres.h"
#include "ingest/schedulers/slurm/recorded_time.h"
#include "ingest/schedulers/slurm/rejection.h"
#include "ingest/schedulers/slurm/utf8.h"

namespace pennyweight::slurm {
namespace {

constexpr std::string_view kNodeName = "NodeName=";

// Everything from one NodeName= to the next.
struct Record {
  std::string_view text;
  std::uint64_t line = 0;
};

// A node begins with NodeName= at the start of a line, in both layouts.
std::vector<Record> split_records(std::string_view text) {
  std::vector<Record> records;
  std::uint64_t line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t newline = std::min(text.find('\n', at), text.size() - 1);
    if (text.substr(at).starts_with(kNodeName)) {
      records.push_back({text.substr(at, 0), line});
    }
    if (!records.empty()) {
      Record& last = records.back();
      const char* end = text.data() + newline + 1;
      last.text = {last.text.data(), static_cast<std::size_t>(end - last.text.data())};
    }
    if (records.size() > kNodesMax) return records;
    at = newline + 1;
  }
  return records;
}

// Key=value pairs at word boundaries. Values with spaces (OS, Reason) are cut at the first one;
// none of them is used. The first of two equal keys counts, since Reason, which may contain
// anything, comes last.
std::map<std::string_view, std::string_view> split_words(std::string_view text) {
  std::map<std::string_view, std::string_view> words;
  constexpr std::string_view kSpace = " \t\r\n";
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kSpace));
    text.remove_prefix(word.size());
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string_view key = word.substr(0, equals);
    if (key == "Reason" || key == "Comment") return words;
    words.emplace(key, word.substr(equals + 1));
  }
}

// The "3" of "3g.20gb" and of "1c.3g.20gb": its sevenths of a GPU.
std::uint64_t profile_sevenths(std::string_view profile) {
  const std::size_t g = profile.find("g.");
  if (g == std::string_view::npos || g == 0) return 0;
  const std::size_t dot = profile.substr(0, g).rfind('.');
  const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
  return parse_count(profile.substr(begin, g - begin)).value_or(0);
}

std::expected<void, Rejection> read_gres(std::string_view text, Node& node,
                                         std::vector<std::string>& notes) {
  const auto gres = parse_node_gres(text);
  if (!gres) return reject("Gres", gres.error().message);
  std::uint64_t gpus = 0;
  std::uint64_t shards = 0;
  std::uint64_t mps = 0;
  std::uint64_t instances = 0;
  std::map<std::string, std::uint64_t> sevenths;  // of MIG instances, by model
  std::vector<std::string> models;
  const auto add_model = [&](const std::string& model) {
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  };
  for (const Gres& entry : *gres) {
    if (entry.name == "shard") shards += entry.count;
    if (entry.name == "mps") mps += entry.count;
    if (entry.name != "gpu" || entry.count == 0) continue;
    if (const auto mig = parse_mig_type(entry.type)) {
      add_model(mig->model);
      sevenths[mig->model] += profile_sevenths(mig->profile) * entry.count;
      instances += entry.count;
    } else {
      add_model(entry.type);
      gpus += entry.count;
    }
  }
  std::uint64_t cut_cards = 0;
  for (const auto& [model, parts] : sevenths) {
    cut_cards += std::max<std::uint64_t>((parts + 6) / 7, 1);
  }
  gpus += cut_cards;
  if (gpus > limits::kGpusPerNodeMax) {
    return reject("Gres", fmt::format("{} GPUs on one node, more than the limit of {}", gpus,
                                      limits::kGpusPerNodeMax));
  }
  if (shards > UINT32_MAX) return reject("Gres", "the number of shards is out of range");
  if (mps > UINT32_MAX) return reject("Gres", "the number of MPS units is out of range");
  if (models.size() > 1) {
    notes.push_back(
        fmt::format("node {}: its {} GPUs are of {} models, and '{}' stands for all of "
                    "them; describe the node in an inventory file to tell them apart",
                    node.name.text(), gpus, models.size(), models.front()));
  }
  if (instances > 0) {
    notes.push_back(
        fmt::format("node {}: its {} MIG instances are taken for {} card{}, the fewest "
                    "that hold them; if there are more, describe the node in an "
                    "inventory file",
                    node.name.text(), instances, cut_cards, cut_cards == 1 ? "" : "s"));
  }
  node.gpu_model = models.empty() ? "" : models.front();
  node.gpu_count = static_cast<std::uint32_t>(gpus);
  node.shard_count = static_cast<std::uint32_t>(shards);
  node.mps_count = static_cast<std::uint32_t>(mps);
  return {};
}

// "Reason=replace fan [root@1795294099]", to the end of its line: the last of the node's words.
void read_reason(std::string_view record, const TimeZone& zone, NodeState& state) {
  constexpr std::string_view kReason = " Reason=";
  const std::size_t at = record.find(kReason);
  if (at == std::string_view::npos) return;
  std::string_view text = record.substr(at + kReason.size());
  text = text.substr(0, text.find_first_of("\r\n"));
  while (text.ends_with(' ')) text.remove_suffix(1);
  const std::size_t by = text.rfind(" [");
  const std::size_t sign = text.rfind('@');
  if (by != std::string_view::npos && text.ends_with(']') && sign != std::string_view::npos &&
      sign > by) {
    const std::string_view since = text.substr(sign + 1, text.size() - sign - 2);
    if (const auto absolute = parse_absolute_time(since)) {
      if (*absolute) state.reason_since = **absolute;
    } else if (const auto local = parse_local_time(since, zone, Ambiguous::kLater)) {
      state.reason_since = *local;
    }
    text = text.substr(0, by);
  }
  constexpr std::size_t kReasonBytesMax = 400;
  state.reason = shown_as_utf8(text.substr(0, kReasonBytesMax));
}

std::expected<Node, Rejection> make_node(const std::map<std::string_view, std::string_view>& words,
                                         const ScontrolOptions& options,
                                         std::vector<std::string>& notes) {
  const auto word = [&](std::string_view key) -> std::string_view {
    const auto at = words.find(key);
    return at == words.end() || at->second == "(null)" ? std::string_view() : at->second;
  };
  const std::string_view name = word("NodeName");
  const auto hosts = expand_hostlist(name);
  if (!hosts || hosts->size() != 1 || hosts->front() != name) {
    return reject("NodeName", fmt::format("'{}' is not the name of one node", name.substr(0, 60)));
  }
  Node node{.cluster = options.cluster,
            .name = NodeId(std::string(name)),
            .provider_id = "",
            .instance_type = "",
            .region = "",
            .pool = PoolId(""),
            .gpu_model = "",
            .cpu_milli = {},
            .memory_bytes = {},
            .from = options.from,
            .to = {},
            .id = {},
            .source = {}};
  for (const auto& [key, target] : std::initializer_list<std::pair<std::string_view, std::string*>>{
           {"InstanceId", &node.provider_id}, {"InstanceType", &node.instance_type}}) {
    const std::string_view value = word(key);
    if (value.size() > limits::kIdBytesMax || !is_plain_text(value)) {
      return reject(std::string(key), "it is too long, or not UTF-8");
    }
    *target = value;
  }
  if (const std::string_view text = word("CPUTot"); !text.empty()) {
    const auto cpus = parse_count(text);
    if (!cpus || *cpus > 1'000'000) return reject("CPUTot", "it is not a number of processors");
    node.cpu_milli = *cpus * 1000;
  }
  if (const std::string_view text = word("RealMemory"); !text.empty()) {
    const auto mib = parse_count(text);
    if (!mib || *mib > (std::uint64_t{1} << 42)) {
      return reject("RealMemory", "it is not an amount of memory in MiB");
    }
    node.memory_bytes = *mib << 20;
  }
  if (options.partitions_are_pools) {
    const std::string_view first = word("Partitions").substr(0, word("Partitions").find(','));
    if (first.size() > limits::kIdBytesMax || !is_plain_text(first)) {
      return reject("Partitions", "it is too long, or not UTF-8");
    }
    node.pool = PoolId(std::string(first));
  }
  TRY(read_gres(word("Gres"), node, notes));
  return node;
}

bool is_future(const std::map<std::string_view, std::string_view>& words) {
  const auto state = words.find("State");
  return state != words.end() && state->second.starts_with("FUTURE");
}

}  // namespace

bool is_out_of_use(std::string_view state) {
  bool out = false;
  while (!state.empty()) {
    const std::size_t plus = state.find('+');
    std::string_view word = state.substr(0, plus);
    // Marks after the word: '*' does not answer, '~' saving power, '$' maintenance, …
    const bool silent = word.ends_with('*');
    while (!word.empty() && (word.back() < 'A' || word.back() > 'Z')) word.remove_suffix(1);
    if (word.starts_with("POWER")) return false;  // POWERED_DOWN, POWERING_UP, POWER_DOWN …
    for (const std::string_view one :
         {"DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "MAINT", "INVAL",
          "INVALID_REG", "NOT_RESPONDING", "UNKNOWN", "REBOOT_ISSUED"}) {
      out |= word == one;
    }
    out |= silent;
    state.remove_prefix(plus == std::string_view::npos ? state.size() : plus + 1);
  }
  return out;
}

Result<ScontrolNodes> parse_scontrol_nodes(std::string_view text, const ScontrolOptions& options) {
  text = without_byte_order_mark(text);
  if (text.size() > limits::kDocumentBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("the file has {} bytes, more than the limit of {}",
                                               text.size(), limits::kDocumentBytesMax));
  }
  const std::vector<Record> records = split_records(text);
  if (records.empty()) {
    return fail(ErrorCode::kBadFile,
                "there is no line that begins with NodeName=: this is not the "
                "output of scontrol show node");
  }
  if (records.size() > kNodesMax) {
    return fail(ErrorCode::kLimit, fmt::format("there are more than {} nodes", kNodesMax));
  }
  ScontrolNodes found;
  std::unordered_map<std::string, std::size_t> positions;  // by name, into found.nodes
  for (const Record& record : records) {
    const auto words = split_words(record.text);
    if (is_future(words)) {
      ++found.future;
      continue;
    }
    std::vector<std::string> notes;
    auto node = make_node(words, options, notes);
    if (node) {
      node->source = {.line = record.line};
      const auto [at, is_new] = positions.emplace(node->name.text(), found.nodes.size());
      if (is_new) {
        const auto state = words.find("State");
        const std::string_view now = state == words.end() ? std::string_view() : state->second;
        found.states.push_back({.node = node->name,
                                .is_out = is_out_of_use(now),
                                .state = shown_as_utf8(now.substr(0, 100)),
                                .reason = "",
                                .reason_since = {}});
        read_reason(record.text, options.zone, found.states.back());
        found.notes.insert(found.notes.end(), notes.begin(), notes.end());
        found.nodes.push_back(std::move(*node));
        continue;
      }
      const std::string differs = difference(found.nodes[at->second], *node);
      if (differs.empty()) continue;
      node = reject("NodeName", "the node appears twice and differs: " + differs);
    }
    found.rejected.push_back(
        {.file = options.file,
         .line = record.line,
         .column = node.error().column,
         .reason = node.error().reason,
         .text = shown_as_utf8(record.text.substr(0, limits::kRejectedTextBytesMax))});
  }
  return found;
}

}  // namespace pennyweight::slurm
