#include "app/import/file_parser.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/import/parser_tools.h"
#include "core/limits.h"
#include "core/try.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// Slurm records for a Kubernetes cluster are a mistake in --cluster.
Result<void> check_cluster_kind(const InputFormat& format, const ClusterConfig& cluster) {
  const bool is_any =
      format.cluster_kind == ClusterKind::kUnknown || cluster.kind == ClusterKind::kUnknown;
  if (is_any || format.cluster_kind == cluster.kind) return {};
  return fail(ErrorCode::kConfig,
              fmt::format("these are {}, and the cluster '{}' is configured as {}",
                          format.description, cluster.name.text(),
                          cluster.kind == ClusterKind::kKubernetes ? "kubernetes" : "slurm"));
}

}  // namespace

Result<FileParser> open_parser(const InputFormat& format, const ParserInput& input) {
  TRY(check_cluster_kind(format, input.cluster));
  if (format.needs_cluster && input.cluster.name.empty()) {
    return fail(ErrorCode::kConfig, fmt::format("{} do not name their cluster; give --cluster NAME",
                                                format.description));
  }
  return format.open(format, input);
}

void add_remark(const ParserInput& input, std::uint64_t count, std::string_view one,
                std::string_view many) {
  if (count == 0) return;
  input.remarks.push_back(
      fmt::format("{} {}", format_count(count, Thousands::kSeparated), count == 1 ? one : many));
}

FileParser document_parser(std::function<Result<void>(const std::string&)> parse) {
  const auto document = std::make_shared<std::string>();
  return {[document](std::string_view chunk) -> Result<void> {
            if (document->size() + chunk.size() > limits::kDocumentBytesMax) {
              return fail(ErrorCode::kLimit, fmt::format("is larger than {} bytes; export it in "
                                                         "pieces",
                                                         limits::kDocumentBytesMax));
            }
            document->append(chunk);
            return {};
          },
          [document, parse = std::move(parse)] { return parse(*document); }};
}

}  // namespace pennyweight
