// Kubernetes as input formats: what `kubectl get pods,nodes -o json` and `-o yaml` print, what
// kube-state-metrics serves at /metrics, and the audit log of an API server.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <memory>
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
#include "ingest/schedulers/kubernetes/audit_log.h"
#include "ingest/schedulers/kubernetes/cluster_state.h"
#include "ingest/schedulers/kubernetes/object_json.h"
#include "ingest/schedulers/kubernetes/state_metrics.h"
#include "reporting/number_format.h"
#include "reporting/table.h"
#include "telemetry/classification.h"
#include "telemetry/prometheus/exposition.h"

namespace pennyweight {
namespace {

// A collector reports a node again only where it has changed, here since `until`.
kubernetes::KnownFacts known_facts(const ParserInput& input, std::span<const Node> nodes,
                                   Instant until = kInstantMax) {
  std::map<NodeId, Node> latest;
  for (const Node& node : nodes) {
    if (node.cluster == input.cluster.name && node.from <= until) {
      latest.insert_or_assign(node.name, node);
    }
  }
  kubernetes::KnownFacts known;
  known.node = [latest = std::move(latest)](const NodeId& name) -> std::optional<Node> {
    const auto found = latest.find(name);
    return found == latest.end() ? std::nullopt : std::optional(found->second);
  };
  return known;
}

constexpr std::size_t kProblemsShown = 10;

// Tells the first of them, and how many there are beside.
void tell_problems(const ParserInput& input, std::span<const std::string> problems,
                   std::size_t in_all) {
  const auto shown = problems.first(std::min(problems.size(), kProblemsShown));
  input.remarks.insert(input.remarks.end(), shown.begin(), shown.end());
  if (in_all > shown.size()) {
    input.remarks.push_back(fmt::format("and {} more of the kind", in_all - shown.size()));
  }
}

Result<void> give_facts(const ParserInput& input, const kubernetes::Facts& facts) {
  TRY(input.sink.nodes(facts.nodes));
  TRY(input.sink.gpus(facts.gpus));
  TRY(input.sink.holdings(facts.holdings));
  TRY(input.sink.outages(facts.outages));
  tell_problems(input, facts.problems, facts.problems.size());
  return {};
}

class KubectlReader {
 public:
  KubectlReader(const ParserInput& input, Instant at, std::span<const Node> nodes)
      : input_(input),
        at_(at),
        state_({.cluster = input.cluster.name, .known = known_facts(input, nodes)}) {}

  // One object, or a list of them, in JSON. Where YAML is cut off, it is still YAML; but kubectl
  // names the kind of a list after its items.
  Result<void> add(const std::string& document, bool is_of_yaml = false) {
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
      if (is_of_yaml && list.empty()) {
        return fail(ErrorCode::kBadFile,
                    "is cut off: there is no 'kind' after its items; write it again");
      }
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
      if (pod != nullptr && pod->phase.empty()) {
        return reject(item,
                      "it has no status.phase, as a manifest, or a pod whose file is cut off; give "
                      "what kubectl get prints");
      }
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
    TRY(give_facts(input_, facts));
    if (pods_and_nodes_ == 0 && rejected_.empty()) {
      input_.remarks.push_back(counted(objects_, "object") +
                               ", and no pod or node among them: nothing is held or priced");
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
      TRY(reader.add(document, true));
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

// One scrape of kube-state-metrics, as if it had been scraped twice: what is there then is known.
class StateMetricsDump : public prometheus::SeriesSink {
 public:
  StateMetricsDump(const ParserInput& input, Instant at, std::span<const Node> nodes)
      : input_(input),
        at_(at),
        classes_{.cluster = input.cluster.name, .cluster_label = ""},
        state_({.cluster = input.cluster.name, .known = known_facts(input, nodes)}),
        metrics_({}, state_) {}

  void series(const Hash128&, const prometheus::EncodedLabels& labels,
              std::span<const prometheus::Sample> samples) override {
    std::vector<prometheus::Label> decoded;
    if (samples.empty() || !labels.decode(decoded)) return;
    auto what = telemetry::classify_series(decoded, classes_);
    auto* state = std::get_if<telemetry::StateSeries>(&what);
    if (state == nullptr) return;
    const prometheus::Sample& last = samples.back();
    if (last.at_ms != unix_ms(at_)) stated_ms_ = std::max(stated_ms_, last.at_ms);
    series_.emplace_back(std::move(*state), last);
  }

  Result<void> read(const std::string& document) {
    const auto report = TRY(prometheus::parse_exposition(prometheus::ExpositionFormat::kText,
                                                         document, {}, {.scraped_at = at_}, *this));
    std::vector<RejectedRow> rejected;
    for (const prometheus::BadLine& bad : report.first_bad) {
      rejected.push_back({input_.file, bad.line, "", printable(bad.reason), ""});
    }
    if (series_.empty() && rejected.empty()) {
      return fail(
          ErrorCode::kBadFile,
          "has no series of pods or nodes; give what kube-state-metrics serves at /metrics");
    }
    // Samples that state their time were scraped at the last of these times.
    const std::int64_t at_ms = stated_ms_ > 0 ? stated_ms_ : unix_ms(at_);
    for (const std::int64_t ms :
         {at_ms - kubernetes::StateMetricsOptions{}.interval.count(), at_ms}) {
      for (const auto& [one, sample] : series_) {
        if (const std::uint64_t handle = metrics_.declare(one); handle != 0) {
          metrics_.sample(handle, ms, sample.value);
        }
      }
    }
    if (const auto until = metrics_.settle()) {
      TRY(give_facts(input_, state_.facts(*until)));
    }
    if (stated_ms_ == 0) remark_capture_time(input_, at_);
    if (metrics_.refused() > 0) {
      input_.remarks.push_back(fmt::format("{} over the limit of {} were not read",
                                           counted(metrics_.refused(), "series"),
                                           kubernetes::kStateSeriesMax));
    }
    return input_.sink.rejected(rejected);
  }

 private:
  const ParserInput& input_;
  Instant at_;
  std::int64_t stated_ms_ = 0;
  telemetry::ClassificationOptions classes_;
  kubernetes::ClusterState state_;
  kubernetes::StateMetrics metrics_;
  std::vector<std::pair<telemetry::StateSeries, prometheus::Sample>> series_;
};

Result<FileParser> open_state_metrics(const InputFormat&, const ParserInput& input) {
  const auto at = TRY(capture_time(input));
  if (!at) {
    return fail(ErrorCode::kConfig,
                "kube-state-metrics does not say when it was scraped; give --at");
  }
  return document_parser([input, at = *at](const std::string& document) -> Result<void> {
    const auto nodes = TRY(input.store.nodes());
    return StateMetricsDump(input, at, nodes).read(document);
  });
}

bool matches_state_metrics(const InputFormat&, const FileStart& start) {
  for (const std::string_view what : {"kube_pod_", "kube_node_", "kube_namespace_", "kube_job_"}) {
    for (const std::string_view before : {"", "# HELP ", "# TYPE "}) {
      const std::string word = fmt::format("{}{}", before, what);
      if (start.text().starts_with(word) || start.contains("\n" + word)) return true;
    }
  }
  return false;
}

constexpr std::string_view kOverLimitOne =
    "event is left out, since its cluster has more pods, nodes or owners at once than are "
    "followed; "
    "give the log in shorter parts";
constexpr std::string_view kOverLimitMany =
    "events are left out, since their cluster has more pods, nodes or owners at once than are "
    "followed; give the log in shorter parts";

// The facts of a log come in several pieces; what they can't tell is told once, at the end.
class AuditLogReader {
 public:
  explicit AuditLogReader(const ParserInput& input)
      : input_(input),
        log_({.file = input.file,
              .cluster = input.cluster.name,
              .now = input.now,
              .known = [this](Instant first) { return known_facts(input_, nodes_, first); },
              .give = [this](const kubernetes::Facts& facts) { return give(facts); },
              .rejected =
                  [this](std::span<const RejectedRow> rows) {
                    return input_.sink.rejected(rows);
                  }}) {}

  Result<void> feed(std::string_view chunk) {
    if (!has_begun_) {
      nodes_ = TRY(input_.store.nodes());
      has_begun_ = true;
    }
    return log_.feed(chunk);
  }

  Result<void> finish() {
    TRY(log_.finish());
    tell_problems(input_, problems_, problems_seen_);
    const kubernetes::AuditCounts& counts = log_.counts();
    add_remark(input_, counts.others, "event holds nothing", "events hold nothing");
    add_remark(input_, counts.waiting_pods, "pod was on no node at its end",
               "pods were on no node at its end");
    add_remark(input_, counts.partial_pods,
               "pod is left out, since the log has its last change at level Request, without "
               "the answer; its hours come with its deletion, or with kubectl get pods -A -o json",
               "pods are left out, since the log has their last changes at level Request, "
               "without the answers; their hours come with their deletion, or with kubectl get "
               "pods -A -o json");
    add_remark(input_, counts.partial_nodes,
               "node is left out for the same reason; import kubectl get nodes -o json",
               "nodes are left out for the same reason; import kubectl get nodes -o json");
    add_remark(input_, counts.over_limit, kOverLimitOne, kOverLimitMany);
    return {};
  }

 private:
  Result<void> give(const kubernetes::Facts& facts) {
    problems_seen_ += facts.problems.size();
    for (const std::string& problem : facts.problems) {
      if (problems_.size() < kProblemsShown) problems_.push_back(problem);
    }
    TRY(input_.sink.nodes(facts.nodes));
    TRY(input_.sink.gpus(facts.gpus));
    TRY(input_.sink.holdings(facts.holdings));
    return input_.sink.outages(facts.outages);
  }

  ParserInput input_;
  std::vector<Node> nodes_;
  bool has_begun_ = false;
  std::vector<std::string> problems_;  // the first
  std::size_t problems_seen_ = 0;
  kubernetes::AuditLog log_;
};

Result<FileParser> open_audit_log(const InputFormat&, const ParserInput& input) {
  return stream_parser(std::make_shared<AuditLogReader>(input));
}

bool matches_audit_log(const InputFormat&, const FileStart& start) {
  return kubernetes::is_audit_log(start.text());
}

}  // namespace

std::vector<InputFormat> kubernetes_inputs() {
  return {{.name = "kube-state-metrics",
           .description = "Kubernetes (kube-state-metrics, /metrics)",
           .matches = matches_state_metrics,
           .open = open_state_metrics,
           .needs_cluster = true,
           .cluster_kind = ClusterKind::kKubernetes},
          {.name = "kubernetes-audit",
           .description = "Kubernetes audit log (audit.k8s.io/v1, an event a line)",
           .matches = matches_audit_log,
           .open = open_audit_log,
           .needs_cluster = true,
           .cluster_kind = ClusterKind::kKubernetes},
          {.name = "kubectl",
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
