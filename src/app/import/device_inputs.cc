// What programs say about GPUs, as input formats: nvidia-smi, dcgm-exporter, amd-smi, rocm-smi and
// xpu-smi.
#include <optional>

#include "app/import/capture_time.h"
#include "app/import/detect_format.h"
#include "app/import/format_lists.h"
#include "app/import/parser_tools.h"
#include "core/ascii.h"
#include "core/try.h"
#include "ingest/devices/amd_smi/amd_smi.h"
#include "ingest/devices/dcgm/dcgm.h"
#include "ingest/devices/nvidia_smi/nvidia_smi.h"
#include "ingest/devices/xpu_smi/xpu_smi.h"

namespace pennyweight {
namespace {

Result<FileParser> open_dcgm(const InputFormat&, const ParserInput& input) {
  const auto at = TRY(capture_time(input));
  dcgm::Options options{input.file, input.cluster.name, at, {}};
  if (!input.options.node.empty()) options.node = NodeId(input.options.node);
  return document_parser([options, input](const std::string& text) -> Result<void> {
    const auto document = TRY(dcgm::parse(text, options));
    TRY(input.sink.gpus(document.gpus));
    TRY(input.sink.usages(document.usages));
    TRY(input.sink.rejected(document.rejected));
    if (document.counts.timeless > 0) remark_capture_time(input, options.at);
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
  const auto at = TRY(capture_time(input));
  const nvidia_smi::Options options{input.file, input.cluster.name, NodeId(input.options.node),
                                    input.cluster.time_zone, at};
  return document_parser([options, input](const std::string& text) -> Result<void> {
    SessionSink& sink = input.sink;
    const auto document = TRY(nvidia_smi::parse(text, options));
    TRY(sink.gpus(document.gpus));
    TRY(sink.usages(document.usages));
    if (document.used_given_time) remark_capture_time(input, options.at);
    return sink.rejected(document.rejected);
  });
}

// amd-smi names neither the cluster nor the node, and seldom the time.
Result<FileParser> open_amd_smi(const InputFormat&, const ParserInput& input) {
  if (input.options.node.empty()) {
    return fail(ErrorCode::kConfig, "amd-smi does not name the node it ran on; give --node NAME");
  }
  const auto at = TRY(capture_time(input));
  const amd_smi::Options options{input.file, input.cluster.name, NodeId(input.options.node), at};
  return document_parser([options, input](const std::string& text) -> Result<void> {
    const auto document = TRY(amd_smi::parse(text, options));
    TRY(input.sink.gpus(document.gpus));
    TRY(input.sink.usages(document.usages));
    if (document.used_given_time) remark_capture_time(input, options.at);
    return input.sink.rejected(document.rejected);
  });
}

// xpu-smi names neither the cluster nor the node; its statistics have a time.
Result<FileParser> open_xpu_smi(const InputFormat&, const ParserInput& input) {
  if (input.options.node.empty()) {
    return fail(ErrorCode::kConfig, "xpu-smi does not name the node it ran on; give --node NAME");
  }
  const auto at = TRY(capture_time(input));
  const xpu_smi::Options options{input.file, input.cluster.name, NodeId(input.options.node), at};
  return document_parser([options, input](const std::string& text) -> Result<void> {
    const auto document = TRY(xpu_smi::parse(text, options));
    TRY(input.sink.gpus(document.gpus));
    TRY(input.sink.usages(document.usages));
    if (document.used_given_time) remark_capture_time(input, options.at);
    return input.sink.rejected(document.rejected);
  });
}

bool matches_xpu_smi(const InputFormat&, const FileStart& start) {
  return xpu_smi::is_xpu_smi(start.text());
}

bool matches_amd_smi(const InputFormat&, const FileStart& start) {
  return amd_smi::is_amd_smi(start.text());
}

// Whether the beginning of a file has a line that is so, without the spaces before it.
template <class Is>
bool has_line(std::string_view text, Is is) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = ascii::trim(text.substr(0, end), " \t\r");
    if (is(line)) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

bool matches_nvidia_smi(const InputFormat&, const FileStart& start) {
  if (start.is_json() || start.text().starts_with("#!")) return false;
  // --query-gpu writes ", " and units: "index, uuid, memory.total [MiB]".
  const bool has_columns =
      start.has_column("uuid") || start.has_column("gpu_uuid") || start.has_column("gpu_name");
  if (has_columns && start.columns().size() > 1) return true;
  return has_line(start.text(), [](std::string_view line) {
    return line.starts_with("GPU 0:") || line.starts_with("<nvidia_smi_log") ||
           (line.starts_with('|') && (line.find("NVIDIA-SMI") != std::string_view::npos ||
                                      line.find("GPU instances:") != std::string_view::npos));
  });
}

bool matches_dcgm(const InputFormat&, const FileStart& start) {
  // A sample, not a line of the exporter's list of fields: "DCGM_FI_DEV_GPU_UTIL, gauge, …".
  return has_line(start.text(), [](std::string_view line) {
    if (line.starts_with("# HELP DCGM_") || line.starts_with("# TYPE DCGM_")) return true;
    if (!line.starts_with("DCGM_")) return false;
    const std::size_t end =
        line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:");
    return end != std::string_view::npos && (line[end] == '{' || line[end] == ' ');
  });
}

}  // namespace

std::vector<InputFormat> device_inputs() {
  return {
      {.name = "nvidia-smi",
       .description = "nvidia-smi --query-gpu (CSV)",
       .matches = matches_nvidia_smi,
       .open = open_nvidia_smi,
       .needs_cluster = true},
      {.name = "amd-smi",
       .description = "amd-smi and rocm-smi --json",
       .matches = matches_amd_smi,
       .open = open_amd_smi,
       .needs_cluster = true},
      {.name = "xpu-smi",
       .description = "Intel xpu-smi (discovery -j, stats -j)",
       .matches = matches_xpu_smi,
       .open = open_xpu_smi,
       .needs_cluster = true},
      {.name = "dcgm",
       .description = "dcgm-exporter metrics",
       .matches = matches_dcgm,
       .open = open_dcgm,
       .needs_cluster = true},
  };
}

}  // namespace pennyweight
