#include "ingest/slurm/scontrol_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/limits.h"
#include "ingest/slurm/duration.h"
#include "ingest/slurm/hostlist.h"
#include "ingest/slurm/mig_type.h"
#include "ingest/slurm/node_gres.h"
#include "ingest/slurm/rejection.h"
#include "ingest/slurm/utf8.h"

namespace pennyweight::slurm {
namespace {

constexpr std::string_view kNodeName = "NodeName=";

// Everything from one NodeName= to the next.
struct Record {
  std::string_view text;
  std::uint64_t line = 0;
};

// A node begins with NodeName= at the start of a line, in both layouts.
std::vector<Record> records_of(std::string_view text) {
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

// Key=value pairs at word boundaries. Values with spaces (OS, Reason) are cut at the first one:
// none of them is used. The first of two equal keys counts, since Reason, which may hold anything,
// is last.
std::map<std::string_view, std::string_view> words_of(std::string_view text) {
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

std::unexpected<Rejection> reject(std::string column, std::string_view reason) {
  return std::unexpected(Rejection{std::move(column), shown_as_utf8(reason)});
}

std::expected<void, Rejection> read_gres(std::string_view text, Node& node) {
  const auto gres = parse_node_gres(text);
  if (!gres) return reject("Gres", gres.error().message);
  std::uint64_t gpus = 0;
  std::uint64_t shards = 0;
  std::optional<std::string> model;
  for (const Gres& entry : *gres) {
    if (entry.name == "shard") shards += entry.count;
    if (entry.name != "gpu" || entry.count == 0) continue;
    if (parse_mig_type(entry.type)) {
      return reject("Gres", fmt::format("gpu:{} are MIG instances, which do not tell the number of "
                                        "cards: describe the node in an inventory file",
                                        entry.type));
    }
    if (model && *model != entry.type) {
      return reject("Gres",
                    fmt::format("the node has GPUs of two models, '{}' and '{}': describe it "
                                "in an inventory file",
                                *model, entry.type));
    }
    model = entry.type;
    gpus += entry.count;
  }
  if (gpus > limits::kGpusPerNodeMax) {
    return reject("Gres", fmt::format("{} GPUs on one node, more than the limit of {}", gpus,
                                      limits::kGpusPerNodeMax));
  }
  if (shards > UINT32_MAX) return reject("Gres", "the number of shards is out of range");
  node.gpu_model = model.value_or("");
  node.gpu_count = static_cast<std::uint32_t>(gpus);
  node.shard_count = static_cast<std::uint32_t>(shards);
  return {};
}

std::expected<Node, Rejection> node_of(const std::map<std::string_view, std::string_view>& words,
                                       const ScontrolOptions& options) {
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
    if (value.size() > limits::kIdBytesMax || !is_clean_utf8(value)) {
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
    if (first.size() > limits::kIdBytesMax || !is_clean_utf8(first)) {
      return reject("Partitions", "it is too long, or not UTF-8");
    }
    node.pool = PoolId(std::string(first));
  }
  if (auto read = read_gres(word("Gres"), node); !read) return std::unexpected(read.error());
  return node;
}

bool is_future(const std::map<std::string_view, std::string_view>& words) {
  const auto state = words.find("State");
  return state != words.end() && state->second.starts_with("FUTURE");
}

}  // namespace

Result<ScontrolNodes> parse_scontrol_nodes(std::string_view text, const ScontrolOptions& options) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.size() > limits::kDocumentBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("the file has {} bytes, more than the limit of {}",
                                               text.size(), limits::kDocumentBytesMax));
  }
  const std::vector<Record> records = records_of(text);
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
    const auto words = words_of(record.text);
    if (is_future(words)) {
      ++found.future;
      continue;
    }
    auto node = node_of(words, options);
    if (node) {
      node->source = {.line = record.line};
      const auto [at, is_new] = positions.emplace(node->name.text(), found.nodes.size());
      if (is_new) {
        found.nodes.push_back(std::move(*node));
        continue;
      }
      const std::string differs = difference(found.nodes[at->second], *node);
      if (differs.empty()) continue;
      node = reject("NodeName", "the node is there twice and differs: " + differs);
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
