#include "app/input_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "ingest/aws/aws_bill.h"
#include "ingest/aws/column.h"
#include "ingest/azure/azure_bill.h"
#include "ingest/bill/parquet_import.h"
#include "ingest/focus/column.h"
#include "ingest/gcp/gcp_bill.h"
#include "ingest/gcp/json_import.h"
#include "ingest/oci/oci_bill.h"
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
    {InputFormat::kAws, "aws", "an AWS Cost and Usage Report (CSV)"},
    {InputFormat::kAwsParquet, "aws-parquet", "an AWS Cost and Usage Report (Parquet)"},
    {InputFormat::kAzure, "azure", "an Azure cost export (CSV)"},
    {InputFormat::kAzureParquet, "azure-parquet", "an Azure cost export (Parquet)"},
    {InputFormat::kGcp, "gcp", "a Google Cloud bill (CSV)"},
    {InputFormat::kGcpParquet, "gcp-parquet", "a Google Cloud bill (Parquet)"},
    {InputFormat::kGcpJson, "gcp-json", "a Google Cloud bill (JSON)"},
    {InputFormat::kOci, "oci", "an Oracle Cloud cost report (CSV)"},
    {InputFormat::kFocusJson, "focus-json", "a FOCUS bill (JSON)"},
    {InputFormat::kRunpod, "runpod", "RunPod's billing history (CSV)"},
    {InputFormat::kRunpodJson, "runpod-json", "RunPod's billing history (JSON)"},
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
    {InputFormat::kOutcomes, "outcomes", "outcomes (CSV)"},
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
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// Whose bill has these columns.
std::optional<InputFormat> bill_of(const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (focus::is_focus_header(names)) return InputFormat::kFocus;
  if (aws::is_aws_header(names)) return InputFormat::kAws;
  if (oci::is_oci_header(names)) return InputFormat::kOci;
  if (gcp::is_gcp_header(names)) return InputFormat::kGcp;
  if (azure::is_azure_header(names)) return InputFormat::kAzure;
  // RunPod's names are few and plain, so two of them are asked for.
  const bool has_what = has("podId") || has("endpointId") || has("diskSpaceBilledGb");
  if (has("time") && (has("timeBilledMs") || (has("amount") && has_what))) {
    return InputFormat::kRunpod;
  }
  return std::nullopt;
}

std::optional<InputFormat> by_header(std::string_view line) {
  const HeaderLine bars(line, '|');
  if (bars.has("JobID") || bars.has("JobIDRaw")) return InputFormat::kSlurm;
  const HeaderLine header(line, ',');
  if (const auto bill = bill_of(header.names())) return bill;
  if (header.has("num_gpu") && header.has("gpu_milli")) return InputFormat::kOpenbPods;
  if (header.has("sn") && header.has("gpu")) return InputFormat::kOpenbNodes;
  if (header.has("measure") && header.has("count")) return InputFormat::kOutcomes;
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

// Records of a bill as a JSON document. Told by names that occur in its beginning.
std::optional<InputFormat> json_bill_of(std::string_view document) {
  const auto has = [&](std::string_view name) {
    return document.find(fmt::format("\"{}\"", name)) != std::string_view::npos;
  };
  if (has("ChargePeriodStart") && has("BillingPeriodStart")) return InputFormat::kFocusJson;
  // A list of rows, which its reader refuses with the way to write them as lines.
  if (has("usage_start_time") && has("billing_account_id")) return InputFormat::kGcpJson;
  const bool has_what = has("podId") || has("endpointId") || has("diskSpaceBilledGb");
  if (has("time") && (has("timeBilledMs") || (has("amount") && has_what))) {
    return InputFormat::kRunpodJson;
  }
  return std::nullopt;
}

std::optional<InputFormat> by_content(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const std::string_view begin = text.substr(std::min(first, text.size()));
  if (begin.starts_with('{')) {
    if (gcp::is_gcp_json(begin.substr(0, begin.find('\n')))) return InputFormat::kGcpJson;
    if (const auto bill = json_bill_of(begin)) return bill;
    return begin.find("\"jobs\"") != std::string_view::npos ||
                   begin.find("\"Slurm\"") != std::string_view::npos ||
                   begin.find("\"slurm\"") != std::string_view::npos
               ? std::optional(InputFormat::kSlurmJson)
               : std::nullopt;
  }
  if (begin.starts_with('[')) return json_bill_of(begin);
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

// What a file is instead of what was looked for, and what to do; empty: no idea.
std::string_view likely_reason(std::string_view text) {
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  if (line.starts_with("PK\x03\x04"))
    return "is a ZIP archive or a spreadsheet; unpack it, or save it as CSV";
  if (line.starts_with("sep="))
    return "begins with a line of a spreadsheet's; remove the first line";
  if (line.starts_with('<'))
    return "is a web page or XML, such as an answer that refused the download; fetch it again";
  if (line.find(',') != std::string_view::npos) return {};
  for (const auto& [delimiter, reason] :
       {std::pair(
            ';',
            "has ';' between its fields; write it with ',' between them and with decimal points"),
        std::pair('\t', "has tabs between its fields; write it with ',' between them")}) {
    if (bill_of(names_of(line, delimiter))) return reason;
  }
  return {};
}

Result<InputFormat> parquet_format(const std::string& path) {
  if (path.empty() || path == "-") return InputFormat::kFocusParquet;
  const auto columns = bill::parquet_columns(path);
  if (!columns) return std::unexpected(columns.error());
  switch (bill_of(*columns).value_or(InputFormat::kFocus)) {
    case InputFormat::kAws:
      return InputFormat::kAwsParquet;
    case InputFormat::kAzure:
      return InputFormat::kAzureParquet;
    case InputFormat::kGcp:
      return InputFormat::kGcpParquet;
    default:
      return InputFormat::kFocusParquet;
  }
}

}  // namespace

bool is_bill(InputFormat format) {
  switch (format) {
    case InputFormat::kFocus:
    case InputFormat::kFocusParquet:
    case InputFormat::kAws:
    case InputFormat::kAwsParquet:
    case InputFormat::kAzure:
    case InputFormat::kAzureParquet:
    case InputFormat::kOci:
    case InputFormat::kGcp:
    case InputFormat::kGcpParquet:
    case InputFormat::kGcpJson:
    case InputFormat::kFocusJson:
    case InputFormat::kRunpod:
    case InputFormat::kRunpodJson:
      return true;
    case InputFormat::kSlurm:
    case InputFormat::kSlurmJson:
    case InputFormat::kOpenbPods:
    case InputFormat::kOpenbNodes:
    case InputFormat::kNodes:
    case InputFormat::kGpus:
    case InputFormat::kHoldings:
    case InputFormat::kUsage:
    case InputFormat::kOutages:
    case InputFormat::kCorrections:
    case InputFormat::kOutcomes:
    case InputFormat::kNvidiaSmi:
    case InputFormat::kDcgm:
    case InputFormat::kScontrol:
      return false;
  }
  CHECK(false, "every format is a bill or is none");
}

std::string_view bill_format_of(InputFormat format) {
  const std::string_view name = to_text(format);
  return is_bill(format) ? name.substr(0, name.find('-')) : std::string_view();
}

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

Result<InputFormat> detect_format(std::string_view beginning, const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (beginning.starts_with("PAR1")) return parquet_format(path);
  if (beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF")) {
    return fail(ErrorCode::kBadFile, "is UTF-16; write it as UTF-8");
  }
  if (beginning.starts_with(kByteOrderMark)) beginning.remove_prefix(kByteOrderMark.size());
  if (beginning.starts_with("PK\x03\x04")) {
    return fail(ErrorCode::kBadFile, std::string(likely_reason(beginning)));
  }
  if (beginning.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadFile, "is a binary file, not a bill, a record or an inventory");
  }
  if (beginning.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(ErrorCode::kBadFile, "is empty");
  }
  if (const auto format = by_content(beginning)) return *format;
  if (const std::string_view reason = likely_reason(beginning); !reason.empty()) {
    return fail(ErrorCode::kBadFile, std::string(reason));
  }
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
