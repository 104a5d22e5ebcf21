#include "ingest/schedulers/slurm/slurm_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/text_lines.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/hostlist.h"
#include "ingest/schedulers/slurm/utf8.h"

namespace pennyweight::slurm {
namespace {

// Keys in lower case, since slurm.conf does not distinguish.
using Settings = std::map<std::string, std::string, std::less<>>;

struct ConfLine {
  std::uint64_t number = 0;  // of its first line
  std::string text;          // without comments; continued lines are joined
};

std::vector<ConfLine> conf_lines(std::string_view text) {
  std::vector<ConfLine> lines;
  bool continues = false;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    line = ascii::trim(line, " \t\r");
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    if (continues) {
      lines.back().text += ' ';
      lines.back().text += line;
    } else if (!line.empty()) {
      lines.push_back({number, std::string(line)});
    }
    continues = goes_on && !lines.empty();
  }
  return lines;
}

// "NodeName=n1 CPUs=16 Reason=\"a b\"": a value with blanks is in quotes.
Settings settings_of(std::string_view line) {
  Settings settings;
  while (true) {
    line = ascii::trim(line);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return settings;
    const std::string key = ascii::lower_case(ascii::trim(line.substr(0, equals)));
    line = ascii::trim(line.substr(equals + 1));
    const bool is_quoted = line.starts_with('"') && line.find('"', 1) != std::string_view::npos;
    if (is_quoted) line.remove_prefix(1);
    const std::size_t end = std::min(line.find_first_of(is_quoted ? "\"" : " \t"), line.size());
    settings.try_emplace(key, line.substr(0, end));
    line.remove_prefix(std::min(end + (is_quoted ? 1 : 0), line.size()));
  }
}

std::string_view value_of(const Settings& settings, std::string_view key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string_view() : found->second;
}

// CPUs, or the sockets times their cores and threads, each 1 where it is not stated.
std::string processors_of(const Settings& node) {
  for (const std::string_view key : {"cpus", "procs"}) {
    if (const auto stated = value_of(node, key); !stated.empty()) return std::string(stated);
  }
  std::uint64_t product = 1;
  bool any = false;
  const bool has_sockets = !value_of(node, "sockets").empty();
  for (const std::string_view key :
       {"boards", "socketsperboard", "sockets", "corespersocket", "threadspercore"}) {
    if (has_sockets && (key == "boards" || key == "socketsperboard")) continue;
    const std::string_view text = value_of(node, key);
    if (text.empty()) continue;
    const auto count = parse_count(text);
    // What scontrol's reader refuses names the value.
    if (!count || *count > 1'000'000 || product > 1'000'000) return std::string(text) + "?";
    product *= *count;
    any = true;
  }
  return any ? std::to_string(product) : "1";  // Slurm's own default
}

// Feature=a,b or Features=a,b of a node's line.
bool has_feature(const Settings& node, std::string_view feature) {
  for (const std::string_view key : {"feature", "features"}) {
    std::string_view list = value_of(node, key);
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      if (ascii::trim(list.substr(0, end)) == feature) return true;
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }
  return false;
}

struct ConfNode {
  std::uint64_t line;
  std::string name;
  std::shared_ptr<const Settings> settings;  // of its line, which may name thousands
};

class Conf {
 public:
  Result<void> read(std::string_view text) {
    for (const ConfLine& line : conf_lines(text)) {
      if (ascii::lower_case(line.text.substr(0, 8)) == "include ") {
        includes_.push_back(line.text.substr(8));
        continue;
      }
      Settings settings = settings_of(line.text);
      if (std::string set(value_of(settings, "nodeset")); !set.empty()) {
        sets_.insert_or_assign(std::move(set), std::move(settings));
        continue;
      }
      if (const std::string names(value_of(settings, "nodename")); !names.empty()) {
        TRY(add_nodes(line, names, std::move(settings)));
      } else if (const std::string partition(value_of(settings, "partitionname"));
                 !partition.empty() && partition != "DEFAULT") {
        named_.emplace_back(partition, value_of(settings, "nodes"));
      }
    }
    // Lines may name what only a later one defines.
    for (const auto& [partition, nodes] : named_) add_partition(partition, nodes);
    return {};
  }

  // As scontrol would print the nodes, a line each.
  Result<std::string> scontrol_text() const {
    std::string text;
    for (const ConfNode& node : nodes_) {
      const Settings& settings = *node.settings;
      const std::string_view state = value_of(settings, "state");
      const auto partition = partitions_.find(node.name);
      const std::string first = partition != partitions_.end() ? partition->second : all_;
      text += fmt::format(
          "NodeName={} CPUTot={} RealMemory={} Gres={} State={} Partitions={}\n", node.name,
          processors_of(settings),
          value_of(settings, "realmemory").empty() ? "1" : value_of(settings, "realmemory"),
          value_of(settings, "gres").empty() ? "(null)" : value_of(settings, "gres"),
          state.empty() ? "UNKNOWN" : ascii::upper_case(state), first.empty() ? "(null)" : first);
      if (text.size() > limits::kDocumentBytesMax) {
        return fail(
            ErrorCode::kLimit,
            fmt::format("line {}: what it states for each of its nodes is too long together",
                        node.line));
      }
    }
    return text;
  }

  const std::vector<ConfNode>& nodes() const { return nodes_; }
  const std::vector<std::string>& includes() const { return includes_; }

 private:
  Result<void> add_nodes(const ConfLine& line, const std::string& names, Settings settings) {
    if (ascii::lower_case(names) == "default") {
      settings.erase("nodename");
      for (auto& [key, value] : settings) defaults_.insert_or_assign(key, value);
      return {};
    }
    const auto hosts = expand_hostlist(names);
    if (!hosts) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("line {}: NodeName={}: {}", line.number,
                              shown_as_utf8(std::string_view(names).substr(0, 60)),
                              shown_as_utf8(hosts.error().message)));
    }
    settings.insert(defaults_.begin(), defaults_.end());  // what the line states wins
    const auto stated = std::make_shared<const Settings>(std::move(settings));
    for (const std::string& host : *hosts) {
      if (nodes_.size() == kNodesMax) {
        return fail(ErrorCode::kLimit, fmt::format("there are more than {} nodes", kNodesMax));
      }
      nodes_.push_back({line.number, host, stated});
    }
    return {};
  }

  // "ALL", nodes, and names of sets, in any mix. What can't be read has no node.
  void add_partition(const std::string& partition, std::string_view nodes) {
    const auto hosts = expand_hostlist(nodes);
    if (!hosts) return;
    for (const std::string& host : *hosts) {
      if (host == "ALL") {
        if (all_.empty()) all_ = partition;
      } else if (const auto set = sets_.find(host); set != sets_.end()) {
        add_set(partition, set->second);
      } else {
        partitions_.try_emplace(host, partition);
      }
    }
  }

  // The nodes that a NodeSet line names, and those that have its feature.
  void add_set(const std::string& partition, const Settings& set) {
    if (const auto hosts = expand_hostlist(value_of(set, "nodes"))) {
      for (const std::string& host : *hosts) {
        if (host == "ALL" && all_.empty()) all_ = partition;
        partitions_.try_emplace(host, partition);
      }
    }
    const std::string_view feature = value_of(set, "feature");
    for (const ConfNode& node : nodes_) {
      if (!feature.empty() && has_feature(*node.settings, feature)) {
        partitions_.try_emplace(node.name, partition);
      }
    }
  }

  Settings defaults_;
  std::vector<ConfNode> nodes_;
  std::vector<std::pair<std::string, std::string>> named_;  // partitions, and what their nodes are
  std::map<std::string, Settings, std::less<>> sets_;       // of NodeSet lines
  std::map<std::string, std::string> partitions_;           // of a node, the first
  std::string all_;                                         // the first partition of ALL nodes
  std::vector<std::string> includes_;
};

// Whether a line begins so, in any case.
bool has_line_with(std::string_view text, std::initializer_list<std::string_view> words) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = ascii::trim(text.substr(0, end), " \t\r");
    for (const std::string_view word : words) {
      if (ascii::equal_ignoring_case(line.substr(0, word.size()), word)) return true;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

Result<ScontrolNodes> parse_slurm_conf(std::string_view text, const ScontrolOptions& options) {
  text = without_byte_order_mark(text);
  if (text.size() > limits::kDocumentBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("the file has {} bytes, more than the limit of {}",
                                               text.size(), limits::kDocumentBytesMax));
  }
  Conf conf;
  TRY(conf.read(text));
  if (conf.nodes().empty()) {
    std::string more;
    if (!conf.includes().empty()) {
      more = fmt::format(": it includes {}; import that",
                         shown_as_utf8(std::string_view(conf.includes().front()).substr(0, 100)));
    }
    return fail(ErrorCode::kBadFile, "there is no NodeName line in it" + more);
  }
  const std::string nodes = TRY(conf.scontrol_text());
  auto found = TRY(parse_scontrol_nodes(nodes, options));
  // Its lines are ours, in the order of the nodes.
  const auto line_of = [&](std::uint64_t line) {
    return line >= 1 && line <= conf.nodes().size() ? conf.nodes()[line - 1].line : line;
  };
  for (Node& node : found.nodes) node.source.line = line_of(node.source.line);
  for (RejectedRow& row : found.rejected) row.line = line_of(row.line);
  found.states.clear();  // what is configured is no state
  const auto in_clouds = std::ranges::count_if(conf.nodes(), [](const ConfNode& node) {
    return ascii::upper_case(value_of(*node.settings, "state")).starts_with("CLOUD");
  });
  if (in_clouds > 0) {
    found.notes.push_back(fmt::format(
        "{} of its nodes {} in state CLOUD, which come and go: they count as there all the time; "
        "import a table of nodes with when each was there, or the output of scontrol show node",
        in_clouds, in_clouds == 1 ? "is" : "are"));
  }
  for (const std::string& name : conf.includes()) {
    found.notes.push_back(fmt::format("it includes {}, which is not read; import it as well",
                                      shown_as_utf8(std::string_view(name).substr(0, 100))));
  }
  return found;
}

bool is_gres_conf(std::string_view beginning) {
  return !has_line_with(beginning, {"ClusterName=", "PartitionName=", "SlurmctldHost="}) &&
         (has_line_with(beginning, {"Name=gpu", "AutoDetect=", "Name=shard", "Name=mps"}) ||
          beginning.find(" Name=gpu") != std::string_view::npos);
}

bool is_slurm_conf(std::string_view beginning) {
  if (is_gres_conf(beginning)) return false;
  // What scontrol prints begins with NodeName= as well.
  for (const std::string_view word : {"CPUTot=", "CPUAlloc=", " Arch="}) {
    if (beginning.find(word) != std::string_view::npos) return false;
  }
  return has_line_with(
      beginning,
      {"ClusterName=", "SlurmctldHost=", "ControlMachine=", "PartitionName=", "NodeName="});
}

}  // namespace pennyweight::slurm
