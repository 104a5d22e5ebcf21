#include "app/input_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/table.h"

namespace pennyweight {
namespace {

struct Named {
  InputFormat format;
  std::string_view name;
  std::string_view description;
};

constexpr Named kFormats[] = {
    {InputFormat::kFocus, "focus", "a FOCUS bill (CSV)"},
    {InputFormat::kFocusParquet, "focus-parquet", "a FOCUS bill (Parquet)"},
    {InputFormat::kSlurm, "slurm", "Slurm accounting (sacct --parsable2)"},
    {InputFormat::kSlurmJson, "slurm-json", "Slurm accounting (sacct --json)"},
    {InputFormat::kOpenbPods, "openb-pods", "Kubernetes pods (openb CSV)"},
    {InputFormat::kOpenbNodes, "openb-nodes", "Kubernetes nodes (openb CSV)"},
    {InputFormat::kNodes, "nodes", "an inventory of nodes (CSV)"},
    {InputFormat::kGpus, "gpus", "an inventory of GPUs (CSV)"},
    {InputFormat::kHoldings, "holdings", "holdings (CSV)"},
    {InputFormat::kUsage, "usage", "usage of GPUs (CSV)"},
    {InputFormat::kOutages, "outages", "outages (CSV)"},
    {InputFormat::kCorrections, "corrections", "corrections (CSV)"},
    {InputFormat::kNvidiaSmi, "nvidia-smi", "nvidia-smi --query-gpu (CSV)"},
    {InputFormat::kDcgm, "dcgm", "dcgm-exporter metrics"},
    {InputFormat::kScontrol, "scontrol", "Slurm nodes (scontrol show node)"},
};

const Named& named(InputFormat format) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats),
                       [&](const Named& entry) { return entry.format == format; });
}

// The names of a header, without spaces and quotes around them.
std::vector<std::string> names_of(std::string_view line, char delimiter) {
  std::vector<std::string> names;
  for (;;) {
    const std::size_t end = line.find(delimiter);
    std::string_view name = line.substr(0, end);
    constexpr std::string_view kAround = " \t\"";
    const std::size_t first = name.find_first_not_of(kAround);
    name = first == std::string_view::npos
               ? std::string_view()
               : name.substr(first, name.find_last_not_of(kAround) - first + 1);
    names.emplace_back(name);
    if (end == std::string_view::npos) return names;
    line.remove_prefix(end + 1);
  }
}

class HeaderLine {
 public:
  HeaderLine(std::string_view line, char delimiter) : names_(names_of(line, delimiter)) {}
  bool has(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }

 private:
  std::vector<std::string> names_;
};

std::optional<InputFormat> by_header(std::string_view line) {
  const HeaderLine bars(line, '|');
  if (bars.has("JobID") || bars.has("JobIDRaw")) return InputFormat::kSlurm;
  const HeaderLine header(line, ',');
  if (header.has("BilledCost") || header.has("ChargePeriodStart")) return InputFormat::kFocus;
  if (header.has("num_gpu") && header.has("gpu_milli")) return InputFormat::kOpenbPods;
  if (header.has("sn") && header.has("gpu")) return InputFormat::kOpenbNodes;
  if (header.has("workload") && header.has("begin")) return InputFormat::kHoldings;
  if (header.has("amount") && header.has("begin")) return InputFormat::kCorrections;
  if (header.has("gpu") && header.has("at")) return InputFormat::kUsage;
  if (header.has("node") && header.has("begin")) return InputFormat::kOutages;
  if (header.has("node") && header.has("uuid")) return InputFormat::kGpus;
  if (header.has("node") && header.has("from")) return InputFormat::kNodes;
  // nvidia-smi writes ", " and units: "index, uuid, memory.total [MiB]".
  if (header.has("uuid") || header.has("gpu_uuid") || header.has("gpu_name")) {
    return InputFormat::kNvidiaSmi;
  }
  return std::nullopt;
}

std::optional<InputFormat> by_content(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const std::string_view begin = text.substr(std::min(first, text.size()));
  if (begin.starts_with('{')) {
    return begin.find("\"jobs\"") != std::string_view::npos ||
                   begin.find("\"Slurm\"") != std::string_view::npos ||
                   begin.find("\"slurm\"") != std::string_view::npos
               ? std::optional(InputFormat::kSlurmJson)
               : std::nullopt;
  }
  if (begin.starts_with("GPU 0:") || begin.find("NVIDIA-SMI") != std::string_view::npos ||
      begin.find("<nvidia_smi_log") != std::string_view::npos) {
    return InputFormat::kNvidiaSmi;
  }
  if (begin.starts_with("NodeName=")) return InputFormat::kScontrol;
  if (begin.starts_with("# HELP") || begin.starts_with("# TYPE") || begin.starts_with("DCGM_")) {
    return InputFormat::kDcgm;
  }
  if (begin.starts_with('#') && text.find("\nDCGM_FI_") != std::string_view::npos) {
    return InputFormat::kDcgm;
  }
  return by_header(begin.substr(0, begin.find_first_of("\r\n")));
}

}  // namespace

std::string_view to_text(InputFormat format) { return named(format).name; }
std::string_view description_of(InputFormat format) { return named(format).description; }

std::optional<InputFormat> parse_input_format(std::string_view text) {
  for (const Named& entry : kFormats) {
    if (entry.name == text) return entry.format;
  }
  return std::nullopt;
}

std::vector<std::string> input_format_names() {
  std::vector<std::string> names;
  for (const Named& entry : kFormats) names.emplace_back(entry.name);
  return names;
}

Result<InputFormat> detect_format(std::string_view beginning) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (beginning.starts_with("PAR1")) return InputFormat::kFocusParquet;
  if (beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF")) {
    return fail(ErrorCode::kBadFile, "is UTF-16; write it as UTF-8");
  }
  if (beginning.starts_with(kByteOrderMark)) beginning.remove_prefix(kByteOrderMark.size());
  if (beginning.starts_with("\x1F\x8B")) {
    return fail(ErrorCode::kBadFile,
                "is compressed; give it as 'gzip -dc FILE | pennyweight import -'");
  }
  if (beginning.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadFile, "is a binary file, not a bill, a record or an inventory");
  }
  if (beginning.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(ErrorCode::kBadFile, "is empty");
  }
  if (const auto format = by_content(beginning)) return *format;
  constexpr std::size_t kShown = 80;
  const std::string line(beginning.substr(0, beginning.find_first_of("\r\n")));
  return fail(
      ErrorCode::kBadFile,
      fmt::format("is of no kind that is known here; its first line is '{}{}'; --format says "
                  "what it is",
                  printable(std::string_view(line).substr(0, kShown)),
                  line.size() > kShown ? "…" : ""));
}

}  // namespace pennyweight
