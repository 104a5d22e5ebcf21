// What differs between the limits that are wanted and those that a cluster has.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/ascii.h"
#include "core/gpu/kubernetes_quantity.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/manifests/document.h"
#include "insight/guardrails/limit_export.h"

namespace pennyweight::guardrails {
namespace {

using manifests::DocumentNode;

constexpr std::string_view kOnCluster = " on cluster ";
// How objects of Slurm are called.
constexpr std::string_view kAccount = "account ";
constexpr std::string_view kQos = "QOS ";

constexpr std::string_view kQuotaKinds[] = {"ResourceQuota", "ClusterQueue",   "LocalQueue",
                                            "Cohort",        "ResourceFlavor", "Queue"};

// Values of a specification by their paths; items of lists by their names, so that their order does
// not matter.
void flatten(const DocumentNode& node, const std::string& path, const std::string& object,
             bool is_ours, std::vector<QuotaSetting>& settings) {
  switch (node.kind) {
    case DocumentNode::Kind::kNull:
      return;
    case DocumentNode::Kind::kScalar:
      settings.push_back({object, path, node.scalar, is_ours});
      return;
    case DocumentNode::Kind::kMapping:
      for (const auto& [key, value] : node.fields) {
        flatten(value, path.empty() ? key : path + "." + key, object, is_ours, settings);
      }
      return;
    case DocumentNode::Kind::kSequence:
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        const std::string& name = node.items[i]["name"].scalar;
        flatten(node.items[i],
                fmt::format("{}[{}]", path, name.empty() ? fmt::format("{}", i) : name), object,
                is_ours, settings);
      }
  }
}

void add_object(const DocumentNode& object, std::vector<QuotaSetting>& settings) {
  const std::string& kind = object["kind"].scalar;
  if (kind.ends_with("List")) {
    for (const DocumentNode& item : object["items"].items) add_object(item, settings);
    return;
  }
  if (std::ranges::find(kQuotaKinds, kind) == std::end(kQuotaKinds)) return;
  const std::string& name_space = object.at("metadata.namespace").scalar;
  const std::string title =
      printable_text(fmt::format("{} {}{}{}", kind, name_space, name_space.empty() ? "" : "/",
                                 object.at("metadata.name").scalar),
                     400);
  const bool is_ours =
      object.at("metadata.labels")["app.kubernetes.io/managed-by"].scalar == "pennyweight";
  settings.push_back({title, "", "present", is_ours});
  flatten(object["spec"], "", title, is_ours, settings);
}

std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells;
  while (true) {
    const std::size_t cut = line.find(separator);
    cells.emplace_back(line.substr(0, cut));
    if (cut == std::string_view::npos) return cells;
    line.remove_prefix(cut + 1);
  }
}

void add_tres(const std::string& object, const std::string& field, std::string_view tres,
              std::vector<QuotaSetting>& settings) {
  for (const std::string& entry : cells_of(tres, ',')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    settings.push_back({object, field + " " + entry.substr(0, equals), entry.substr(equals + 1)});
  }
}

// Of accounts, whose users are not ours, or of QOS: what `sacctmgr --parsable2 show` prints.
Result<std::vector<QuotaSetting>> read_slurm_limits(std::string_view text, std::string_view name) {
  std::vector<QuotaSetting> settings;
  std::vector<std::string> header;
  std::set<std::string> objects;
  int number = 0;
  for (const std::string& line : cells_of(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    std::vector<std::string> cells = cells_of(line, '|');
    if (header.empty()) {
      for (std::string& cell : cells) cell = ascii::lower_case(cell);
      header = std::move(cells);
      continue;
    }
    if (cells.size() != header.size()) {
      return fail(ErrorCode::kBadFile, fmt::format("{}:{}: {} columns instead of {}", name, number,
                                                   cells.size(), header.size()));
    }
    const auto cell = [&](std::string_view column) -> const std::string* {
      const auto at = std::ranges::find(header, column);
      return at == header.end() ? nullptr : &cells[static_cast<std::size_t>(at - header.begin())];
    };
    const std::string* const account = cell("account");
    const std::string* const user = cell("user");
    const std::string* const qos = account == nullptr ? cell("name") : nullptr;
    const std::string* const running = cell("grptres");
    const std::string* const minutes = cell("grptresmins");
    const bool is_named = qos != nullptr || (account != nullptr && user != nullptr);
    if (!is_named || running == nullptr || minutes == nullptr) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("{}: the columns account, user, grptres and grptresmins are needed: "
                              "sacctmgr --parsable2 show assoc "
                              "format=cluster,account,user,grptres,grptresmins; of QOS "
                              "sacctmgr --parsable2 show qos format=name,grptres,grptresmins",
                              name));
    }
    if (qos == nullptr && !user->empty()) continue;
    // An account has an association in each cluster.
    const std::string* const cluster = cell("cluster");
    std::string object = std::string(qos == nullptr ? kAccount : kQos) +
                         printable_text(qos == nullptr ? *account : *qos, 200);
    if (cluster != nullptr) object += std::string(kOnCluster) + printable_text(*cluster, 200);
    if (!objects.insert(object).second) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("{}:{}: {} is there twice; for several clusters add the column "
                              "cluster: format=cluster,account,user,grptres,grptresmins",
                              name, number, object));
    }
    settings.push_back({object, "", "present"});
    add_tres(object, "GrpTRES", *running, settings);
    add_tres(object, "GrpTRESMins", *minutes, settings);
  }
  return settings;
}

// What is wanted of an account is wanted in each cluster that has it.
std::vector<QuotaSetting> on_each_cluster(std::span<const QuotaSetting> wanted,
                                          std::span<const QuotaSetting> real) {
  std::map<std::string, std::vector<std::string>> placed;  // "account nlp on cluster a", …
  for (const QuotaSetting& setting : real) {
    const std::size_t cut = setting.object.find(kOnCluster);
    if (!setting.field.empty() || cut == std::string::npos) continue;
    placed[setting.object.substr(0, cut)].push_back(setting.object);
  }
  std::vector<QuotaSetting> settings;
  for (const QuotaSetting& setting : wanted) {
    const auto at = placed.find(setting.object);
    if (at == placed.end()) {
      settings.push_back(setting);
      continue;
    }
    for (const std::string& object : at->second) {
      settings.push_back(setting);
      settings.back().object = object;
    }
  }
  return settings;
}

// Kubernetes writes 1000 as "1k".
bool is_same_value(const std::string& one, const std::string& other) {
  if (one == other) return true;
  const auto first = parse_quantity(one, 1000);
  const auto second = parse_quantity(other, 1000);
  return first && second && *first == *second;
}

// The settings of a script of ours; -1 stands for no limit.
std::vector<QuotaSetting> script_settings(std::string_view script) {
  std::vector<QuotaSetting> settings;
  for (const std::string& line : cells_of(script, '\n')) {
    for (const auto& [kind, object_kind] : {std::pair("account", kAccount), {"qos", kQos}}) {
      const std::string modify = fmt::format("sacctmgr --immediate modify {} where name=", kind);
      if (!line.starts_with(modify)) continue;
      const auto words = cells_of(std::string_view(line).substr(modify.size()), ' ');
      const std::string object = std::string(object_kind) + words[0];
      settings.push_back({object, "", "present"});
      for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        if (!word.starts_with("GrpTRES") || equals == std::string::npos) continue;
        add_tres(object, word.substr(0, equals), std::string_view(word).substr(equals + 1),
                 settings);
      }
    }
  }
  std::erase_if(settings, [](const QuotaSetting& setting) { return setting.value == "-1"; });
  return settings;
}

}  // namespace

Result<std::vector<QuotaSetting>> read_quota_settings(std::string_view text,
                                                      std::string_view name) {
  const std::string first = ascii::lower_case(text.substr(0, text.find('\n')));
  // JSON of one line may hold anything.
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool is_json =
      begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
  if (!is_json && first.contains('|') && (first.contains("account") || first.contains("name"))) {
    return read_slurm_limits(text, name);
  }
  const auto documents = TRY(manifests::parse_documents(
      text, name, {.bytes = 256U << 20U, .values = std::size_t{20'000'000}}));
  std::vector<QuotaSetting> settings;
  for (const DocumentNode& document : documents) add_object(document, settings);
  return settings;
}

Result<std::vector<QuotaSetting>> wanted_settings(const LimitExport& exported, LimitSystem system) {
  if (system == LimitSystem::kSlurm) return script_settings(exported.text);
  return read_quota_settings(exported.text, "the export");
}

std::vector<QuotaDrift> find_drift(std::span<const QuotaSetting> wanted_anywhere,
                                   std::span<const QuotaSetting> real) {
  const std::vector<QuotaSetting> wanted = on_each_cluster(wanted_anywhere, real);
  const auto key = [](const QuotaSetting& setting) {
    return std::pair(setting.object, setting.field);
  };
  std::map<std::pair<std::string, std::string>, std::string> there;
  for (const QuotaSetting& setting : real) there.emplace(key(setting), setting.value);
  std::vector<QuotaDrift> drifts;
  std::set<std::string> missing;
  std::set<std::string> objects;
  for (const QuotaSetting& setting : wanted) {
    objects.insert(setting.object);
    if (missing.contains(setting.object)) continue;  // said once
    const auto at = there.find(key(setting));
    if (at != there.end() && is_same_value(at->second, setting.value)) continue;
    // What a system leaves out where it is its default.
    const bool is_default = at == there.end() && setting.value == "None";
    if (is_default && there.contains({setting.object, ""})) continue;
    if (setting.field.empty()) missing.insert(setting.object);
    drifts.push_back({setting.object, setting.field.empty() ? "the object" : setting.field,
                      setting.value, at == there.end() ? "" : at->second});
  }
  for (const QuotaSetting& setting : real) {
    if (!setting.is_ours || !setting.field.empty() || objects.contains(setting.object)) continue;
    drifts.push_back({setting.object, "the object", "", "present"});
  }
  // A limit of an account or a QOS that nobody wants any more.
  for (const QuotaSetting& setting : real) {
    const bool is_slurm = setting.object.starts_with(kAccount) || setting.object.starts_with(kQos);
    const bool is_ours = is_slurm && objects.contains(setting.object) &&
                         setting.field.find("gres/gpu") != std::string::npos;
    if (!is_ours) continue;
    const bool is_wanted = std::ranges::any_of(
        wanted, [&](const QuotaSetting& one) { return key(one) == key(setting); });
    if (!is_wanted) drifts.push_back({setting.object, setting.field, "", setting.value});
  }
  return drifts;
}

}  // namespace pennyweight::guardrails
