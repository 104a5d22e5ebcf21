// Objects of the Kubernetes API as input formats: what `kubectl get pods,nodes -o json` and
// `-o yaml` print.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/import/capture_time.h"
#include "app/import/detect_format.h"
#include "app/import/format_lists.h"
#include "app/import/parser_tools.h"
#include "core/try.h"
#include "ingest/manifests/document.h"
#include "ingest/manifests/document_text.h"
#include "ingest/schedulers/kubernetes/cluster_state.h"
#include "ingest/schedulers/kubernetes/object_json.h"
#include "reporting/number_format.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

// A collector reports a node again only where it has changed.
kubernetes::KnownFacts known_facts(const ParserInput& input, std::span<const Node> nodes) {
  std::map<NodeId, Node> latest;
  for (const Node& node : nodes) {
    if (node.cluster == input.cluster.name) latest.insert_or_assign(node.name, node);
  }
  kubernetes::KnownFacts known;
  known.node = [latest = std::move(latest)](const NodeId& name) -> std::optional<Node> {
    const auto found = latest.find(name);
    return found == latest.end() ? std::nullopt : std::optional(found->second);
  };
  return known;
}

class KubectlReader {
 public:
  KubectlReader(const ParserInput& input, Instant at, std::span<const Node> nodes)
      : input_(input),
        at_(at),
        state_({.cluster = input.cluster.name, .known = known_facts(input, nodes)}) {}

  // One object, or a list of them, in JSON.
  Result<void> add(const std::string& document) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (const auto error = parser.parse(document).get(root); error != simdjson::SUCCESS) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("is not JSON: {}; give what kubectl get pods,nodes -o json prints",
                              simdjson::error_message(error)));
    }
    simdjson::dom::array items;
    if (root["items"].get(items) == simdjson::SUCCESS) {
      // The items of a PodList state neither kind nor version; those of a List do.
      std::string_view list, version;
      std::ignore = root["kind"].get(list);
      std::ignore = root["apiVersion"].get(version);
      if (list.ends_with("List")) list.remove_suffix(4);
      for (const simdjson::dom::element item : items) take(item, list, version);
    } else {
      take(root, {}, {});
    }
    return {};
  }
  Result<void> finish() {
    if (objects_ == 0 && rejected_.empty()) {
      return fail(ErrorCode::kBadFile, "has no object of Kubernetes in it");
    }
    return give(state_.facts(at_));
  }

 private:
  void take(simdjson::dom::element item, std::string_view kind, std::string_view version) {
    ++number_;
    const auto object = kubernetes::read_object(item, kind, version);
    if (object) {
      ++objects_;
      const auto* pod = std::get_if<kubernetes::Pod>(&*object);
      const auto* node = std::get_if<kubernetes::NodeObject>(&*object);
      if (pod != nullptr || node != nullptr) {
        ++pods_and_nodes_;
        const kubernetes::Meta& meta = pod != nullptr ? pod->meta : node->meta;
        if (meta.created && *meta.created > at_) {
          return reject(item, fmt::format("it was created at {}, after {}, when the objects are "
                                          "taken to have been listed; give --at",
                                          to_text(*meta.created), to_text(at_)));
        }
      }
      return state_.apply(*object, at_);
    }
    reject(item, object.error().message);
  }

  void reject(simdjson::dom::element item, const std::string& reason) {
    std::string_view name = "an object";
    std::ignore = item.at_pointer("/metadata/name").get(name);
    rejected_.push_back({.file = input_.file,
                         .line = 0,
                         .column = "",
                         .reason = fmt::format("item {}: {}", number_, reason),
                         .text = printable(name)});
  }

  Result<void> give(const kubernetes::Facts& facts) {
    TRY(input_.sink.nodes(facts.nodes));
    TRY(input_.sink.gpus(facts.gpus));
    TRY(input_.sink.holdings(facts.holdings));
    TRY(input_.sink.outages(facts.outages));
    if (pods_and_nodes_ == 0 && rejected_.empty()) {
      input_.remarks.push_back(counted(objects_, "object") +
                               ", and no pod or node among them: nothing is held or priced");
    }
    constexpr std::size_t kShown = 10;
    for (std::size_t i = 0; i < std::min(facts.problems.size(), kShown); ++i) {
      input_.remarks.push_back(facts.problems[i]);
    }
    if (facts.problems.size() > kShown) {
      input_.remarks.push_back(
          fmt::format("and {} more of the kind", facts.problems.size() - kShown));
    }
    remark_capture_time(input_, at_);
    return input_.sink.rejected(rejected_);
  }

  const ParserInput& input_;
  Instant at_;
  kubernetes::ClusterState state_;
  std::uint64_t number_ = 0;
  std::uint64_t objects_ = 0;
  std::uint64_t pods_and_nodes_ = 0;
  std::vector<RejectedRow> rejected_;
};

// Objects say what is now, so it matters when that was.
Result<FileParser> open_kubectl(const InputFormat&, const ParserInput& input) {
  const auto at = TRY(capture_time(input));
  if (!at) {
    return fail(ErrorCode::kConfig,
                "objects of Kubernetes do not say when they were listed; give --at");
  }
  return document_parser([input, at = *at](const std::string& document) -> Result<void> {
    const auto nodes = TRY(input.store.nodes());
    KubectlReader reader(input, at, nodes);
    TRY(reader.add(document));
    return reader.finish();
  });
}

// Some 20,000 pods, each of some 400 values, in a gigabyte of memory.
constexpr manifests::DocumentLimits kListingLimits{.bytes = 128U << 20U, .values = 8'000'000};
constexpr std::string_view kLine = "line";

// Its documents as JSON, so that one reader reads both.
Result<std::vector<std::string>> json_of_yaml(const std::string& yaml) {
  const auto parsed = manifests::parse_documents(yaml, kLine, kListingLimits);
  if (!parsed) {
    // "line:3: …"
    return fail(parsed.error().code,
                fmt::format("{} {} (kubectl get -o json prints the same in JSON)", kLine,
                            parsed.error().message.substr(kLine.size() + 1)));
  }
  std::vector<std::string> documents;
  for (const manifests::DocumentNode& document : *parsed) {
    documents.push_back(manifests::json_text_of(document));
  }
  return documents;
}

Result<FileParser> open_kubectl_yaml(const InputFormat&, const ParserInput& input) {
  const auto at = TRY(capture_time(input));
  if (!at) {
    return fail(ErrorCode::kConfig,
                "objects of Kubernetes do not say when they were listed; give --at");
  }
  return document_parser([input, at = *at](const std::string& yaml) -> Result<void> {
    const auto documents = TRY(json_of_yaml(yaml));
    const auto nodes = TRY(input.store.nodes());
    KubectlReader reader(input, at, nodes);
    for (const std::string& document : documents) {
      TRY(reader.add(document));
    }
    return reader.finish();
  });
}

// "apiVersion:" at the begin of a line, and "items:", "kind:" or "metadata:" at that of another.
bool matches_kubectl_yaml(const InputFormat&, const FileStart& start) {
  const auto begins_line = [&](const std::string& word) {
    return start.text().starts_with(word) || start.contains("\n" + word);
  };
  return !start.text().starts_with('{') && begins_line("apiVersion:") &&
         (begins_line("items:") || begins_line("kind:") || begins_line("metadata:"));
}

bool matches_kubectl(const InputFormat&, const FileStart& start) {
  return start.text().starts_with('{') && start.contains("\"apiVersion\"") &&
         (start.contains("\"items\"") || start.contains("\"metadata\""));
}

}  // namespace

std::vector<InputFormat> kubernetes_inputs() {
  return {{.name = "kubectl",
           .description = "Kubernetes objects (kubectl get pods,nodes -o json)",
           .matches = matches_kubectl,
           .open = open_kubectl,
           .needs_cluster = true,
           .cluster_kind = ClusterKind::kKubernetes},
          {.name = "kubectl-yaml",
           .description = "Kubernetes objects (kubectl get pods,nodes -o yaml)",
           .matches = matches_kubectl_yaml,
           .open = open_kubectl_yaml,
           .needs_cluster = true,
           .cluster_kind = ClusterKind::kKubernetes}};
}

}  // namespace pennyweight
