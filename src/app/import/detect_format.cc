#include "app/import/detect_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/try.h"
#include "ingest/bills/formats/bill_formats.h"
#include "ingest/bills/parquet_import.h"
#include "ingest/csv/utf16.h"
#include "ingest/schedulers/slurm/slurm_conf.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

// The names of a header, without the spaces and quotes around them.
std::vector<std::string> split_header(std::string_view line, char delimiter) {
  std::vector<std::string> names;
  for (;;) {
    const std::size_t end = line.find(delimiter);
    names.emplace_back(ascii::trim(line.substr(0, end), " \t\""));
    if (end == std::string_view::npos) return names;
    line.remove_prefix(end + 1);
  }
}

// "123|…", "123_7|…", "123+1|…", and at least three columns.
bool is_sacct_row(std::string_view line) {
  const std::size_t bar = line.find('|');
  if (bar == 0 || bar == std::string_view::npos || line.find('|', bar + 1) == line.npos)
    return false;
  return ascii::is_digit(line[0]) &&
         line.substr(0, bar).find_first_not_of("0123456789_+.[]-,%") == std::string_view::npos;
}

// "JobID JobName …", and under it "------------ ---------- …".
bool is_sacct_for_eyes(std::string_view text) {
  const std::string_view line = ascii::trim(first_line(text));
  if (!line.starts_with("JobID") || line.find_first_of("|,") != line.npos) return false;
  std::string_view next = text.substr(std::min(text.size(), text.find('\n')));
  next = ascii::trim(next.substr(std::min<std::size_t>(1, next.size())));
  return next.starts_with("---");
}

// Output of programs that is not read, and what to import in its place.
struct Lookalike {
  std::string_view begins;
  std::string_view has;  // somewhere
  std::string_view advice;
};
constexpr std::string_view kOfPodResources =
    "is an answer of the kubelet's pod-resources API, which says who has a device now and not "
    "since "
    "when; import kubectl get pods -A -o json, and give serve dcgm-exporter's metrics, which say "
    "on "
    "which GPU each pod is";
constexpr std::string_view kOfKubelet =
    "is a page of the kubelet or of cAdvisor, of one instant, and what containers use is the "
    "difference between two: serve takes it minute by minute where serve.host_usage is cadvisor or "
    "resource, and backfill from a Prometheus that has it; what other programs measured can be "
    "given as a table of outcomes (format outcomes, measures cpu_used_core_ms and "
    "memory_used_kib_ms)";
constexpr std::string_view kOfRay =
    "is a list of Ray's jobs, which says what a job's driver asked for and not what its tasks and "
    "actors held; import the pods or the Slurm jobs that Ray ran in, or a table of holdings";
constexpr Lookalike kLookalikes[] = {
    {"====", "ru_wallclock",
     "is the output of Grid Engine's qacct, whose times have no zone; import the file that it "
     "reads, "
     "$SGE_ROOT/$SGE_CELL/common/accounting (format grid-engine)"},
    {"Job <", "Submitted from host",
     "is the output of LSF's bhist or bacct, whose times have no year; import the file that they "
     "read, lsb.acct (format lsf)"},
    {"Summary of time in seconds", "JOBID",
     "is the output of LSF's bhist, which does not say when jobs ran; import the file that it "
     "reads, lsb.acct (format lsf)"},
    {"Job: ", "Job Queued",
     "is the output of PBS' tracejob without lines of the accounting log (A), which only root may "
     "read: run it as root, or import the log, PBS_HOME/server_priv/accounting/YYYYMMDD (format "
     "pbs)"},
    {"", "\"podResources\"", kOfPodResources},
    {"", "\"pod_resources\"", kOfPodResources},
    {"# HELP cadvisor_version_info", "", kOfKubelet},
    {"", "container_cpu_usage_seconds_total", kOfKubelet},
    {"", "\"usageCoreNanoSeconds\"", kOfKubelet},
    {"", "\"usageNanoCores\"", kOfKubelet},
    {"", "\"driver_agent_http_address\"", kOfRay},
    {"", "\"submission_id\"", kOfRay},
    {"", "\"currentAllocatedGPUs\"",
     "is a list of Run:ai's jobs, which says what they have now and not since when; import kubectl "
     "get pods -A -o json, whose annotations Run:ai's fractions are read from, or a table of "
     "holdings"},
    {"#Date ", "#YYYYMMDD",
     "is the output of nvidia-smi dmon or pmon, which number the GPUs and do not name them; run "
     "nvidia-smi --query-gpu=timestamp,index,uuid,name,memory.total,memory.used,utilization.gpu,"
     "power.draw --format=csv -l 60 in their place"},
    {"# gpu ", "# Idx",
     "is the output of nvidia-smi dmon or pmon, which number the GPUs and do not name them; run "
     "nvidia-smi --query-gpu=timestamp,index,uuid,name,memory.total,memory.used,utilization.gpu,"
     "power.draw --format=csv -l 60 in their place"},
    {"Timestamp, DeviceId", "",
     "is the output of Intel's xpu-smi, which numbers the GPUs and does not name them; write it as "
     "a table of usage (format usage) with the UUIDs of xpu-smi discovery"},
};

// What a file of no known format probably is, and what to do; empty: no idea.
std::string_view likely_mistake(std::string_view text) {
  const std::string_view line = first_line(text);
  if (line.starts_with("PK\x03\x04"))
    return "is a ZIP archive or a spreadsheet; unpack it, or save it as CSV";
  if (line.starts_with("sep="))
    return "begins with a line that only spreadsheets understand; remove the first line";
  if (line.starts_with('<'))
    return "is a web page or XML, such as an answer that refused the download; fetch it again";
  if (is_sacct_row(line)) {
    return "looks like sacct --noheader, whose columns nobody can tell; run sacct --parsable2 with "
           "its header, or give --columns with the names that its --format had. They need JobID, "
           "Start, End and AllocTRES, which its default columns lack";
  }
  if (is_sacct_for_eyes(text)) {
    return "is sacct's table for the eye, which cuts long values; run sacct --parsable2";
  }
  if (slurm::is_gres_conf(text)) {
    return "is Slurm's gres.conf, which lists device files; what each node has is in slurm.conf, "
           "or "
           "in the output of scontrol show node: import one of them";
  }
  for (const Lookalike& each : kLookalikes) {
    if (line.starts_with(each.begins) && text.find(each.has) != std::string_view::npos) {
      return each.advice;
    }
  }
  if (line.find(',') != std::string_view::npos) return {};
  if (bill::detect_bill_format(split_header(line, ';')) != nullptr)
    return "has ';' between its fields; write it with ',' between them and with decimal points";
  if (bill::detect_bill_format(split_header(line, '\t')) != nullptr)
    return "has tabs between its fields; write it with ',' between them";
  return {};
}

// What distinguishes the formats that have a header.
struct FormatColumns {
  std::string_view format;
  std::vector<std::string_view> columns;
};

const std::vector<FormatColumns>& columns_of_formats() {
  static const std::vector<FormatColumns> kColumns = {
      {"focus", {"BilledCost", "EffectiveCost", "ChargePeriodStart", "ChargePeriodEnd"}},
      {"slurm", {"JobIDRaw", "Partition", "Account", "State", "Start", "End", "AllocTRES"}},
      {"openb-pods", {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}},
      {"openb-nodes", {"sn", "cpu_milli", "memory_mib", "gpu", "model"}},
      {"nodes", {"node", "gpu_count", "from"}},
      {"gpus", {"node", "uuid", "from"}},
      {"holdings", {"workload", "begin", "end"}},
      {"usage", {"node", "gpu", "at"}},
      {"outages", {"node", "begin", "end"}},
      {"corrections", {"name", "begin", "end", "amount", "currency"}},
      {"outcomes", {"workload", "measure", "begin", "end", "count"}},
      {"nvidia-smi", {"timestamp", "index", "uuid"}},
  };
  return kColumns;
}

// What JSON would have to have; empty: it is no JSON.
std::string_view known_json(const FileStart& start) {
  if (!start.is_json()) return "";
  return "; of JSON, these are known by their keys: sacct's (\"jobs\"), kubectl's (\"kind\"), "
         "amd-smi's and rocm-smi's (\"gpu\", \"card0\"), xpu-smi's (\"device_id\"), and bills; "
         "this has none of them where "
         "they belong. Jobs of Ray or Run:ai can be given as a table of holdings";
}

// The format with the most of its columns in the header, and those that are missing; empty: no
// format has any.
std::string nearest_format(std::string_view line) {
  std::vector<std::string> names;
  for (const char delimiter : {',', '|', ';', '\t'}) {
    const auto cut = split_header(line, delimiter);
    if (cut.size() > names.size()) names = cut;
  }
  const FormatColumns* nearest = nullptr;
  std::size_t most = 0, of = 1;
  for (const FormatColumns& each : columns_of_formats()) {
    const auto there =
        static_cast<std::size_t>(std::ranges::count_if(each.columns, [&](std::string_view column) {
          return std::ranges::find(names, column) != names.end();
        }));
    if (there == 0 || there * of <= most * each.columns.size()) continue;
    nearest = &each;
    most = there;
    of = each.columns.size();
  }
  if (nearest == nullptr) return "";
  std::string missing;
  for (const std::string_view column : nearest->columns) {
    if (std::ranges::find(names, column) != names.end()) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(column);
  }
  return fmt::format("; the nearest is {}, but {}", nearest->format,
                     missing.empty() ? std::string("another format has the same columns")
                                     : fmt::format("there is no column {}", missing));
}

Result<const InputFormat*> detect_parquet(const std::string& path) {
  const InputFormat* const focus = find_input_format("focus-parquet");
  if (path.empty() || path == "-") return focus;
  const auto columns = TRY(bill::parquet_columns(path));
  const bill::BillFormat* bill = bill::detect_bill_format(columns);
  const InputFormat* found =
      bill == nullptr ? nullptr : find_bill_input(*bill, bill::BillEncoding::kParquet);
  return found == nullptr ? focus : found;
}

}  // namespace

FileStart::FileStart(std::string_view text) {
  const std::size_t first = text.find_first_not_of(ascii::kWhitespace);
  text_ = text.substr(std::min(first, text.size()));
  if (!is_json()) columns_ = split_header(first_line(text_), ',');
}

bool FileStart::has_column(std::string_view name) const {
  return std::ranges::find(columns_, name) != columns_.end();
}

bool FileStart::has_column(std::string_view name, char delimiter) const {
  if (is_json()) return false;
  const std::vector<std::string> names = split_header(first_line(text_), delimiter);
  return std::ranges::find(names, name) != names.end();
}

Result<const InputFormat*> detect_format(std::string_view beginning, const std::string& path) {
  if (beginning.starts_with("PAR1")) return detect_parquet(path);
  if (const std::string_view mistake = csv::utf16_mistake(beginning); !mistake.empty()) {
    return fail(ErrorCode::kBadFile, std::string(mistake));
  }
  if (beginning.starts_with(kByteOrderMark)) beginning.remove_prefix(kByteOrderMark.size());
  if (beginning.starts_with("PK\x03\x04")) {
    return fail(ErrorCode::kBadFile, std::string(likely_mistake(beginning)));
  }
  if (beginning.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadFile, "is a binary file, not a bill, a record or an inventory");
  }
  const FileStart start(beginning);
  if (start.text().empty()) {
    return fail(ErrorCode::kBadFile,
                "is empty: it was not written to its end; fetch it again, or leave it out");
  }
  for (const InputFormat& format : input_formats()) {
    if (format.matches(format, start)) return &format;
  }
  if (const std::string_view mistake = likely_mistake(beginning); !mistake.empty()) {
    return fail(ErrorCode::kBadFile, std::string(mistake));
  }
  constexpr std::size_t kShown = 80;
  const std::string_view line = first_line(beginning);
  std::string known;
  for (const std::string& name : input_format_names()) known += (known.empty() ? "" : ", ") + name;
  return fail(
      ErrorCode::kBadFile,
      fmt::format("is of no format that is known here; its first line is '{}{}'{}; name the "
                  "format with --format: {}",
                  printable(line.substr(0, kShown)), line.size() > kShown ? "…" : "",
                  start.is_json() ? std::string(known_json(start)) : nearest_format(line), known));
}

}  // namespace pennyweight
