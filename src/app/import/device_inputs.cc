// What programs say about GPUs, as input formats: nvidia-smi and dcgm-exporter.
#include "app/import/detect_format.h"
#include "app/import/format_lists.h"
#include "app/import/parser_tools.h"
#include "core/try.h"
#include "ingest/devices/dcgm/dcgm.h"
#include "ingest/devices/nvidia_smi/nvidia_smi.h"

namespace pennyweight {
namespace {

Result<FileParser> open_dcgm(const InputFormat&, const ParserInput& input) {
  dcgm::Options options{input.file, input.cluster.name, input.now, {}};
  if (!input.options.node.empty()) options.node = NodeId(input.options.node);
  return document_parser([options, input](const std::string& text) -> Result<void> {
    const auto document = TRY(dcgm::parse(text, options));
    TRY(input.sink.gpus(document.gpus));
    TRY(input.sink.usages(document.usages));
    TRY(input.sink.rejected(document.rejected));
    add_remark(input, document.counts.blank, "sample was blank", "samples were blank");
    add_remark(input, document.counts.shared_devices, "device was shared by several workloads",
               "devices were shared by several workloads");
    add_remark(input, document.counts.exporter_nodes,
               "GPU names the exporter's pod as its node; --node names the node",
               "GPUs name the exporter's pod as their node; --node names the node");
    return {};
  });
}

// nvidia-smi names neither the cluster nor the node.
Result<FileParser> open_nvidia_smi(const InputFormat&, const ParserInput& input) {
  if (input.options.node.empty()) {
    return fail(ErrorCode::kConfig,
                "nvidia-smi does not name the node it ran on; give --node NAME");
  }
  const nvidia_smi::Options options{input.file, input.cluster.name, NodeId(input.options.node),
                                    input.cluster.time_zone, input.now};
  return document_parser([options, &sink = input.sink](const std::string& text) -> Result<void> {
    const auto document = TRY(nvidia_smi::parse(text, options));
    TRY(sink.gpus(document.gpus));
    TRY(sink.usages(document.usages));
    return sink.rejected(document.rejected);
  });
}

bool matches_nvidia_smi(const InputFormat&, const FileStart& start) {
  if (start.is_json()) return false;
  // --query-gpu writes ", " and units: "index, uuid, memory.total [MiB]".
  return start.text().starts_with("GPU 0:") || start.contains("NVIDIA-SMI") ||
         start.contains("<nvidia_smi_log") || start.has_column("uuid") ||
         start.has_column("gpu_uuid") || start.has_column("gpu_name");
}

bool matches_dcgm(const InputFormat&, const FileStart& start) {
  const std::string_view text = start.text();
  return text.starts_with("# HELP") || text.starts_with("# TYPE") || text.starts_with("DCGM_") ||
         (text.starts_with('#') && start.contains("\nDCGM_FI_"));
}

}  // namespace

std::vector<InputFormat> device_inputs() {
  return {
      {.name = "nvidia-smi",
       .description = "nvidia-smi --query-gpu (CSV)",
       .matches = matches_nvidia_smi,
       .open = open_nvidia_smi,
       .needs_cluster = true},
      {.name = "dcgm",
       .description = "dcgm-exporter metrics",
       .matches = matches_dcgm,
       .open = open_dcgm,
       .needs_cluster = true},
  };
}

}  // namespace pennyweight
