#include "app/context/cluster_objects_file.h"

#include <string>

#include "config/guardrail_config.h"
#include "core/files/file.h"

namespace pennyweight {

Result<manifests::ClusterObjects> load_cluster_objects(const Config& config) {
  const std::string& path = config.guardrails->cluster_objects_file;
  if (path.empty()) return manifests::ClusterObjects();
  const auto text = read_file(path, manifests::kClusterObjectsBytesMax);
  if (!text) return std::unexpected(text.error().during("guardrails.cluster_objects"));
  auto objects = manifests::parse_cluster_objects(*text, path);
  if (!objects) return std::unexpected(objects.error().during("guardrails.cluster_objects"));
  return objects;
}

}  // namespace pennyweight
