#include "ingest/manifests/slurm_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/gpu/gpu_model.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/manifests/slurm_options.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/hostlist.h"
#include "ingest/schedulers/slurm/job_labels.h"
#include "ingest/schedulers/slurm/mig_type.h"
#include "ingest/schedulers/slurm/tres.h"

namespace pennyweight::manifests {
namespace {

constexpr std::uint64_t kSlurmCountMax = 1'000'000;
constexpr std::uint64_t kSlurmMemoryMax = std::uint64_t{1} << 50U;
constexpr std::size_t kSlurmJobsMax = 10'000;

std::string_view trimmed_line(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// The name of the program that a word runs, without its folder.
std::string_view program_name(std::string_view word) { return word.substr(word.rfind('/') + 1); }

bool is_slurm_command(std::string_view word) {
  const std::string_view name = program_name(word);
  return name == "sbatch" || name == "srun" || name == "salloc";
}

// Numbered lines; a backslash at the end joins a line with the next.
struct NumberedLine {
  int number;
  std::string text;
};

std::vector<NumberedLine> logical_lines(std::string_view text) {
  std::vector<NumberedLine> lines;
  bool joins = false;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool joins_next = line.ends_with('\\') && !trimmed_line(line).starts_with('#');
    if (joins_next) line.remove_suffix(1);
    if (joins) {
      lines.back().text += line;
    } else {
      lines.push_back({number, std::string(line)});
    }
    joins = joins_next;
  }
  return lines;
}

// "gpu", "gpu:4", "gpu:a100", "gpu:a100:4", "gres/gpu:a100=4".
struct AskedGres {
  std::string name;
  std::string type;
  std::uint64_t count = 1;
};

Result<AskedGres> read_asked_gres(std::string_view entry) {
  const auto refuse = [&] {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is no resource such as gpu:a100:4", printable_text(entry, 60)));
  };
  std::string_view rest = entry.substr(0, entry.find('('));
  if (rest.starts_with("gres/") || rest.starts_with("gres:")) rest.remove_prefix(5);
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t cut = rest.find_first_of(":=");
    parts.push_back(rest.substr(0, cut));
    if (cut == std::string_view::npos || parts.size() > 3) break;
    rest.remove_prefix(cut + 1);
  }
  if (parts.size() > 3 || std::ranges::any_of(parts, &std::string_view::empty)) return refuse();
  AskedGres asked;
  asked.name = parts[0];
  if (parts.size() == 1) return asked;
  const auto count = pennyweight::parse_count(parts.back(), kSlurmCountMax);
  if (count) asked.count = *count;
  if (!count && parts.size() == 3) return refuse();
  if (!count || parts.size() == 3) asked.type = parts[1];
  return asked;
}

std::vector<std::string_view> split_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// GPUs of one type, or hundredths of one by MPS.
struct AskedGpus {
  std::string type;
  std::uint64_t count = 0;
  std::uint64_t mps = 0;
};

Result<void> add_asked(AskedGpus& gpus, const AskedGres& gres) {
  if (gres.name == "mps") {
    gpus.mps += gres.count;
    return {};
  }
  if (gres.name == "shard") {
    return fail(ErrorCode::kUnsupported,
                "it asks for shards, and how many of them a GPU has is in the cluster's gres.conf");
  }
  if (gres.name != "gpu") return {};
  if (gres.count == 0) return {};
  if (gpus.count > 0 && gpus.type != gres.type) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("it asks for GPUs of two types, '{}' and '{}', together",
                            printable_text(gpus.type, 40), printable_text(gres.type, 40)));
  }
  gpus.type = gres.type;
  gpus.count += gres.count;
  return {};
}

// A list of --gres.
Result<AskedGpus> read_gres_list(std::string_view text) {
  AskedGpus gpus;
  if (text == "none" || text == "NONE") return gpus;
  for (const std::string_view entry : split_commas(text)) {
    const AskedGres gres = TRY(read_asked_gres(entry));
    TRY(add_asked(gpus, gres));
  }
  return gpus;
}

// "4", "a100:4", "a100:2,a100:2" of --gpus and --gpus-per-….
Result<AskedGpus> read_gpu_list(std::string_view text) {
  AskedGpus gpus;
  for (const std::string_view entry : split_commas(text)) {
    const AskedGres gres = TRY(read_asked_gres(fmt::format("gpu:{}", entry)));
    TRY(add_asked(gpus, gres));
  }
  return gpus;
}

class SlurmJobReader {
 public:
  explicit SlurmJobReader(const SlurmOptions& options) : options_(options) {}

  Result<ReplicaGroup> read(std::vector<std::string>& notes) {
    ReplicaGroup group;
    TRY(read_layout());
    const AskedGpus per_node = TRY(read_per_node());
    const AskedGpus per_task = TRY(read_per_task());
    AskedGpus total = TRY(read_total());
    if (per_node.count + per_node.mps + per_task.count + per_task.mps == 0) {
      TRY(match_tasks_to_gpus(total));
    }
    const std::string type = TRY(one_type({per_node, per_task, total}));
    TRY(place_gpus(group, per_node, per_task, total, notes));
    TRY(read_host(group));
    if (group.replicas > kReplicasMax) {
      return fail(ErrorCode::kLimit, fmt::format("more than {} nodes", kReplicasMax));
    }
    set_type(group, type);
    group.takes_whole_machines = is_exclusive();
    if (text("mem") == "0") {
      notes.emplace_back("--mem=0 takes all memory of its nodes, which the price leaves idle");
    }
    return group;
  }

 private:
  std::string_view text(std::string_view name) const {
    const auto at = options_.find(name);
    return at == options_.end() ? std::string_view() : std::string_view(at->second);
  }
  bool states(std::string_view name) const { return !text(name).empty(); }

  // "--exclusive=user" and "=mcs" share nodes among some jobs.
  bool is_exclusive() const {
    const auto at = options_.find("exclusive");
    return at != options_.end() && (at->second.empty() || at->second == "exclusive");
  }

  Result<std::uint64_t> count(std::string_view name, std::uint64_t absent) const {
    if (!states(name)) return absent;
    const auto value = pennyweight::parse_count(text(name), kSlurmCountMax);
    if (value && *value > 0) return *value;
    return fail(ErrorCode::kBadValue,
                fmt::format("--{}: '{}' is no whole number from 1 to {}", name,
                            printable_text(text(name), 60), kSlurmCountMax));
  }

  Result<std::uint64_t> memory(std::string_view name) const {
    if (!states(name)) return 0;
    // sbatch takes "32G", "32g" and "32GB".
    std::string amount = ascii::lower_case(text(name));
    if (amount.size() > 1 && amount.ends_with('b') && !ascii::is_digit(amount[amount.size() - 2])) {
      amount.pop_back();
    }
    if (!amount.empty() && std::string_view("kmgt").contains(amount.back())) {
      amount.back() = static_cast<char>(amount.back() - 'a' + 'A');
    }
    const auto bytes = slurm::parse_memory_bytes(amount);
    if (!bytes) return std::unexpected(bytes.error().during(fmt::format("--{}", name)));
    if (*bytes > kSlurmMemoryMax) {
      return fail(ErrorCode::kLimit, fmt::format("--{}: more than any machine has", name));
    }
    return *bytes;
  }

  Result<void> read_layout() {
    // "4", "2-4", "4-": at least the first.
    const std::string_view nodes = text("nodes");
    if (!nodes.empty()) {
      const auto least = pennyweight::parse_count(nodes.substr(0, nodes.find('-')), kReplicasMax);
      if (!least || *least == 0) {
        return fail(ErrorCode::kBadValue, fmt::format("--nodes: '{}' is not a number of nodes",
                                                      printable_text(nodes, 60)));
      }
      nodes_ = *least;
    }
    const auto tasks = TRY(count("ntasks", 0));
    const auto per_node = TRY(count("ntasks-per-node", 0));
    tasks_ = tasks;
    tasks_per_node_ = per_node;
    // A list of nodes asks for all of them.
    if (nodes_ == 0 && states("nodelist") && text("nodelist").find('/') == std::string_view::npos) {
      const auto hosts = TRY(slurm::expand_hostlist(text("nodelist")));
      nodes_ = hosts.size();
    }
    if (nodes_ == 0 && tasks_ > 0 && tasks_per_node_ > 0) {
      nodes_ = (tasks_ + tasks_per_node_ - 1) / tasks_per_node_;
    }
    return {};
  }

  std::uint64_t task_count() const {
    if (tasks_ > 0) return tasks_;
    const std::uint64_t nodes = std::max<std::uint64_t>(nodes_, 1);
    return nodes * std::max<std::uint64_t>(tasks_per_node_, 1);
  }

  Result<AskedGpus> read_per_node() const {
    AskedGpus gpus = TRY(read_gres_list(states("gres") ? text("gres") : "none"));
    if (states("gpus-per-node")) {
      const AskedGpus more = TRY(read_gpu_list(text("gpus-per-node")));
      // Both say the same thing; --gpus-per-node is what Slurm keeps.
      gpus.count = more.count;
      gpus.type = more.type;
    }
    if (states("gpus-per-socket")) {
      const AskedGpus socket = TRY(read_gpu_list(text("gpus-per-socket")));
      if (!states("sockets-per-node")) {
        return fail(ErrorCode::kBadValue,
                    "--gpus-per-socket without --sockets-per-node, which Slurm needs with it");
      }
      const auto sockets = TRY(count("sockets-per-node", 1));
      gpus.count = socket.count * sockets;
      gpus.type = socket.type;
    }
    return gpus;
  }

  Result<AskedGpus> read_per_task() const {
    if (states("gpus-per-task")) return read_gpu_list(text("gpus-per-task"));
    AskedGpus gpus;
    if (!states("tres-per-task")) return gpus;
    return read_gres_list(text("tres-per-task"));
  }

  Result<AskedGpus> read_total() const {
    if (states("gpus")) return read_gpu_list(text("gpus"));
    AskedGpus none;
    return none;
  }

  // --ntasks-per-gpu decides the GPUs of a job that states its tasks, and the tasks of one that
  // states its GPUs.
  Result<void> match_tasks_to_gpus(AskedGpus& total) {
    const auto per_gpu = TRY(count("ntasks-per-gpu", 0));
    if (per_gpu == 0) return {};
    if (total.count > 0) {
      if (tasks_ == 0) tasks_ = total.count * per_gpu;
      return {};
    }
    if (tasks_ > 0 || tasks_per_node_ > 0) total.count = (task_count() + per_gpu - 1) / per_gpu;
    return {};
  }

  static Result<std::string> one_type(std::initializer_list<AskedGpus> asked) {
    std::string type;
    for (const AskedGpus& gpus : asked) {
      if (gpus.type.empty()) continue;
      if (!type.empty() && type != gpus.type) {
        return fail(ErrorCode::kUnsupported,
                    fmt::format("it asks for GPUs of two types, '{}' and '{}'",
                                printable_text(type, 40), printable_text(gpus.type, 40)));
      }
      type = gpus.type;
    }
    return type;
  }

  // Decides how many nodes there are, and what is on each.
  Result<void> place_gpus(ReplicaGroup& group, const AskedGpus& per_node, const AskedGpus& per_task,
                          const AskedGpus& total, std::vector<std::string>& notes) {
    std::uint64_t all = total.count;
    if (per_task.count > 0) all = per_task.count * task_count();
    gpus_per_node_ = per_node.count;
    if (all == 0 || per_node.count > 0) {
      if (all > 0 && nodes_ == 0) nodes_ = (all + per_node.count - 1) / per_node.count;
      if (nodes_ == 0 && per_node.count > 0 && tasks_ > 1) {
        notes.emplace_back(
            "it does not state its number of nodes; one is assumed, and each further "
            "one costs as much again");
      }
      group.replicas = std::max<std::uint64_t>(nodes_, 1);
      if (per_node.mps > 0) mps_ = per_node.mps;
    } else if (nodes_ > 0 && all % nodes_ == 0) {
      group.replicas = nodes_;
      gpus_per_node_ = all / nodes_;
    } else if (nodes_ > 0 && is_exclusive()) {
      group.replicas = nodes_;  // whole nodes, however the GPUs lie on them
      gpus_per_node_ = (all + nodes_ - 1) / nodes_;
    } else {
      group.replicas = 1;
      group.may_span_machines = true;
      gpus_per_node_ = all;
    }
    if (gpus_per_node_ > limits::kGpusPerHoldingMax) {
      return fail(ErrorCode::kLimit,
                  fmt::format("more than {} GPUs in a job", limits::kGpusPerHoldingMax));
    }
    return {};
  }

  // "cpu=8" or "cpu:8" of --tres-per-task, which is --cpus-per-task; else 1.
  Result<std::uint64_t> cpus_of_tres_per_task() const {
    if (!states("tres-per-task")) return 1;
    for (const std::string_view entry : split_commas(text("tres-per-task"))) {
      const AskedGres asked = TRY(read_asked_gres(entry));
      if (asked.name == "cpu" && asked.count > 0) return asked.count;
    }
    return 1;
  }

  // CPUs and memory of one replica.
  Result<void> read_host(ReplicaGroup& group) const {
    const auto by_tres = TRY(cpus_of_tres_per_task());
    const auto per_task = TRY(count("cpus-per-task", by_tres));
    const auto least = TRY(count("mincpus", 0));
    const auto per_gpu = TRY(count("cpus-per-gpu", 0));
    const std::uint64_t tasks = task_count();
    const std::uint64_t here =
        tasks_per_node_ > 0 && !group.may_span_machines
            ? tasks_per_node_
            : (tasks + group.replicas - 1) / std::max<std::uint64_t>(group.replicas, 1);
    if (here > kSlurmMemoryMax / 1024 / std::max(per_task, per_gpu * 1000 + 1)) {
      return fail(ErrorCode::kLimit, "it asks for more CPUs than any cluster has");
    }
    const std::uint64_t asked = per_gpu > 0 ? per_gpu * gpus_per_node_ : here * per_task;
    const std::uint64_t cpus = std::max(asked, least);
    group.cpu_milli = cpus * 1000;
    const auto node = TRY(memory("mem"));
    const auto each_cpu = TRY(memory("mem-per-cpu"));
    const auto each_gpu = TRY(memory("mem-per-gpu"));
    const std::uint64_t units = each_gpu > 0 ? gpus_per_node_ : cpus;
    const std::uint64_t each = each_gpu > 0 ? each_gpu : each_cpu;
    if (each > 0 && units > kSlurmMemoryMax / each) {
      return fail(ErrorCode::kLimit, "it asks for more memory than any cluster has");
    }
    group.memory_bytes = node > 0 ? node : each * units;
    return {};
  }

  void set_type(ReplicaGroup& group, const std::string& type) const {
    group.place.gpu_model = type;
    const auto mig = slurm::parse_mig_type(type);
    if (mig) group.place.gpu_model = mig->model;
    const std::string_view constraint = text("constraint");
    if (type.empty() && find_gpu_model(constraint) != nullptr) group.place.gpu_model = constraint;
    if (gpus_per_node_ > 0) {
      RequestedDevice device;
      device.count = gpus_per_node_;
      if (mig) {
        device.kind = RequestedDevice::Kind::kMigSlice;
        device.mig_profile = mig->profile;
      }
      group.gpus.push_back(std::move(device));
    } else if (mps_ > 0) {
      // gres/mps counts hundredths of a GPU by default.
      RequestedDevice device;
      device.kind = RequestedDevice::Kind::kFraction;
      device.count = (mps_ + 99) / 100;
      device.compute = CardShare::nearest_below(mps_, 100 * device.count);
      device.memory = device.compute;
      group.gpus.push_back(std::move(device));
    }
  }

  const SlurmOptions& options_;
  std::uint64_t nodes_ = 0;  // 0: not stated
  std::uint64_t tasks_ = 0;
  std::uint64_t tasks_per_node_ = 0;
  std::uint64_t gpus_per_node_ = 0;
  std::uint64_t mps_ = 0;
};

std::string option_or(const SlurmOptions& options, std::string_view name, std::string_view absent) {
  const auto at = options.find(name);
  return std::string(at == options.end() || at->second.empty() ? absent
                                                               : std::string_view(at->second));
}

// The time limit and the array, which multiply a group.
Result<void> apply_repetition(const SlurmOptions& options, ReplicaGroup& group,
                              WorkloadRequest& workload) {
  ArrayTasks array{.tasks = 1, .at_once = 1};
  if (const std::string text = option_or(options, "array", ""); !text.empty()) {
    const ArrayTasks read = TRY(parse_array_tasks(text));
    array = read;
  }
  std::optional<std::uint64_t> limit_ms;
  if (const std::string text = option_or(options, "time", ""); !text.empty()) {
    const auto read = TRY(parse_time_limit_ms(text));
    limit_ms = read;
  }
  if (array.tasks > kReplicasMax / group.replicas) {
    return fail(ErrorCode::kLimit,
                fmt::format("--array: more than {} nodes over all tasks", kReplicasMax));
  }
  if (limit_ms) {
    group.replica_ms_max = *limit_ms * group.replicas * array.tasks;
  } else {
    workload.notes.emplace_back(
        "it states no --time, so what a run costs depends on the limit of "
        "its partition");
  }
  group.replicas *= array.at_once;
  return {};
}

// The pairs of a comment such as "team=nlp;project=chat" are labels, as they are of a job that has
// run (ingest/schedulers/slurm/job_labels.h). The token of an approval is none: a workload is the
// same with it and without.
void add_comment_labels(std::string_view comment, WorkloadRequest& workload) {
  const char separator = comment.find(';') == std::string_view::npos ? ',' : ';';
  std::string plain;
  while (!comment.empty()) {
    const std::size_t cut = comment.find(separator);
    const std::string_view pair = comment.substr(0, cut);
    comment.remove_prefix(cut == std::string_view::npos ? comment.size() : cut + 1);
    const std::size_t equals = pair.find('=');
    const std::string_view key = trimmed_line(pair.substr(0, equals));
    const std::string_view value =
        equals == std::string_view::npos ? "" : trimmed_line(pair.substr(equals + 1));
    if (key == kSlurmApprovalKey && !value.empty()) {
      workload.approval = value;
      continue;
    }
    if (!plain.empty()) plain += separator;
    plain += pair;
    if (!key.empty() && !value.empty() && !is_slurm_job_fact(key)) {
      workload.labels.emplace(printable_text(key, 200), printable_text(value, 400));
    }
  }
  if (!plain.empty()) workload.labels.emplace("comment", printable_text(plain, 400));
}

// Turns the options of the parts of one job into a workload, or says why not.
void add_slurm_workload(ManifestReading& reading, const std::string& file, int line,
                        const std::vector<SlurmOptions>& parts, std::string_view default_name,
                        std::vector<std::string> notes = {}) {
  WorkloadRequest workload;
  workload.file = file;
  workload.line = line;
  workload.kind = "Slurm job";
  workload.lifetime = Lifetime::kRun;
  workload.notes = std::move(notes);
  workload.name = printable_text(option_or(parts[0], "job-name", default_name), 200);
  for (const std::string_view label : {"account", "partition", "qos", "wckey"}) {
    const std::string value = option_or(parts[0], label, "");
    if (!value.empty()) workload.labels.emplace(label, printable_text(value, 400));
  }
  add_comment_labels(option_or(parts[0], "comment", ""), workload);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto group = SlurmJobReader(parts[i]).read(workload.notes);
    auto applied = group ? apply_repetition(parts[i], *group, workload) : Result<void>();
    if (!group || !applied) {
      const Error& error = group ? applied.error() : group.error();
      reading.unpriced.push_back({file, line, workload.kind, workload.name, error.message});
      return;
    }
    group->line = line;
    if (parts.size() > 1) group->name = fmt::format("part {}", i);
    workload.groups.push_back(std::move(*group));
  }
  reading.workloads.push_back(std::move(workload));
}

// What is said of options that Slurm does not have.
void add_unknown_options(const SlurmOptionWords& read, std::vector<std::string>& notes) {
  for (const std::string& option : read.unknown) {
    notes.push_back(fmt::format(
        "'{}' is no option of Slurm's own; what it asks for is not in the price", option));
  }
}

void read_batch_script(ManifestReading& reading, std::string_view text, const std::string& file) {
  std::vector<SlurmOptions> parts(1);
  std::vector<std::string> notes;
  int number = 0;
  int first = 1;
  bool has_any = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (!line.empty() && !line.starts_with('#')) break;  // sbatch stops at the first command
    if (!line.starts_with("#SBATCH")) continue;
    if (!has_any) first = number;
    has_any = true;
    const std::string_view rest = trimmed_line(line.substr(7));
    if (rest == "hetjob" || rest == "packjob") {
      if (parts.size() >= 128) break;  // Slurm's MAX_HET_JOB_COMPS
      // Options about the job as a whole are those of the first part.
      parts.emplace_back();
      continue;
    }
    const auto words = shell_words(rest);
    const auto added = words ? add_slurm_options(*words, parts.back())
                             : Result<SlurmOptionWords>(std::unexpected(words.error()));
    std::string problem;
    if (!added) {
      problem = added.error().message;
    } else if (added->count < words->size()) {
      problem = fmt::format("'{}' is no option, so sbatch refuses the script",
                            printable_text((*words)[added->count], 60));
    }
    if (!problem.empty()) {
      reading.unpriced.push_back(
          {file, number, "Slurm job", "", fmt::format("line {}: {}", number, problem)});
      return;
    }
    add_unknown_options(*added, notes);
  }
  if (!has_any) {
    reading.unpriced.push_back({file, 1, "script", "",
                                "it has no #SBATCH line before its first command, so it is priced "
                                "by the options of the command that submits it"});
    return;
  }
  add_slurm_workload(reading, file, first, parts,
                     file.substr(file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1),
                     std::move(notes));
}

// The words of a Slurm command in a line, from its name on: behind variables that are set for it,
// programs that run it ("exec", "time"), and "id=$(". Empty: the line has none in front.
std::vector<std::string> slurm_command_words(std::vector<std::string> words) {
  constexpr std::string_view kRunners[] = {"command", "env", "exec", "nohup", "time"};
  std::size_t at = 0;
  for (; at < words.size(); ++at) {
    std::string& word = words[at];
    if (const std::size_t begin = word.find("$("); begin != std::string::npos) {
      word.erase(0, begin + 2);
    } else if (word.starts_with('`')) {
      word.erase(0, 1);
    }
    if (is_slurm_command(word)) break;
    const std::size_t equals = word.find('=');
    const bool sets_variable =
        equals != std::string::npos && equals > 0 && word.find_first_of("/-.") >= equals;
    if (!sets_variable && std::ranges::find(kRunners, program_name(word)) == std::end(kRunners)) {
      return {};
    }
  }
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
  if (!words.empty() && words.back().ends_with(')')) words.back().pop_back();
  return words;
}

// The job of a command's words; components of a heterogeneous job are separated by ":".
void read_command(ManifestReading& reading, const std::vector<std::string>& words,
                  const std::string& file, int line) {
  const std::string_view program = program_name(words.front());
  std::vector<SlurmOptions> parts;
  std::vector<std::string> notes;
  std::string script;
  const auto set_aside = [&](std::string reason) {
    reading.unpriced.push_back({file, line, "command", "", std::move(reason)});
  };
  for (auto begin = words.begin() + 1;;) {
    const auto end = std::find(begin, words.end(), ":");
    const std::vector<std::string> own(begin, end);
    SlurmOptions& options = parts.emplace_back();
    const auto added = add_slurm_options(own, options);
    if (!added) return set_aside(added.error().message);
    if (!added->is_certain) {
      return set_aside(
          fmt::format("whether '{}' takes a value is not known, so where its options "
                      "end is not; write {}=VALUE",
                      added->unknown.back(), added->unknown.back()));
    }
    add_unknown_options(*added, notes);
    if (added->count < own.size()) script = own[added->count];
    if (end == words.end()) break;
    begin = end + 1;
  }
  const bool submits_script =
      program == "sbatch" && !script.empty() && !parts.front().contains("wrap");
  const bool asks_for_gpus = std::ranges::any_of(parts, [](const SlurmOptions& options) {
    return std::ranges::any_of(options, [](const auto& option) {
      return option.first.starts_with("gpus") || option.first == "gres" ||
             option.first == "tres-per-task" || option.first == "ntasks-per-gpu";
    });
  });
  if (submits_script && !asks_for_gpus) {
    return set_aside(
        fmt::format("it submits '{}', whose own options say what it asks for; give "
                    "that file",
                    printable_text(script, 120)));
  }
  if (submits_script) {
    notes.push_back(fmt::format("what '{}' itself asks for with #SBATCH is not in the price",
                                printable_text(script, 120)));
  }
  add_slurm_workload(reading, file, line, parts, program, std::move(notes));
}

void read_command_lines(ManifestReading& reading, std::string_view text, const std::string& file) {
  std::size_t jobs = 0;
  for (const NumberedLine& line : logical_lines(text)) {
    const auto words = shell_words(line.text);
    if (!words) {
      reading.unpriced.push_back({file, line.number, "command", "", words.error().message});
      continue;
    }
    const std::vector<std::string> command = slurm_command_words(*words);
    if (command.empty()) continue;
    if (++jobs > kSlurmJobsMax) {
      reading.unpriced.push_back(
          {file, line.number, "command", "", fmt::format("more than {} commands", kSlurmJobsMax)});
      return;
    }
    read_command(reading, command, file, line.number);
  }
}

Result<std::uint64_t> array_element(std::string_view text, std::string_view whole) {
  const auto number = pennyweight::parse_count(text, 4'000'001);
  if (number) return *number;
  return fail(ErrorCode::kBadValue,
              fmt::format("--array: '{}' is no list such as 0-15%4", printable_text(whole, 60)));
}

}  // namespace

bool is_slurm_text(std::string_view text) {
  for (const NumberedLine& line : logical_lines(text.substr(0, 64U << 10U))) {
    const std::string_view plain = trimmed_line(line.text);
    if (plain.starts_with("#!") || plain.starts_with("#SBATCH")) return true;
    if (plain.empty() || plain.starts_with('#')) continue;
    const auto words = shell_words(plain);
    return words && !slurm_command_words(*words).empty();
  }
  return false;
}

ManifestReading read_slurm_text(std::string_view text, const std::string& file) {
  ManifestReading reading;
  if (text.find("#SBATCH") != std::string_view::npos) {
    read_batch_script(reading, text, file);
    return reading;
  }
  read_command_lines(reading, text, file);
  if (reading.workloads.empty() && reading.unpriced.empty()) {
    reading.unpriced.push_back(
        {file, 1, "script", "", "it has no #SBATCH line and no line of sbatch, srun or salloc"});
  }
  return reading;
}

ManifestReading read_slurm_options(const SlurmOptions& options) {
  ManifestReading reading;
  add_slurm_workload(reading, "", 1, {options}, "");
  return reading;
}

Result<std::optional<std::uint64_t>> parse_time_limit_ms(std::string_view text) {
  if (text == "UNLIMITED" || text == "INFINITE" || text == "infinite" || text == "unlimited" ||
      text == "-1") {
    return std::nullopt;
  }
  std::uint64_t limit_ms = 0;
  if (text.find_first_of(":-") == std::string_view::npos) {
    const auto minutes = pennyweight::parse_count(text, kRunMsMax / 60'000);
    if (!minutes) {
      return fail(ErrorCode::kBadValue, fmt::format("--time: '{}' is no time such as 1-12:00:00",
                                                    printable_text(text, 60)));
    }
    limit_ms = *minutes * 60'000;
  } else {
    const auto read = slurm::parse_duration_ms(text);
    if (!read) return std::unexpected(read.error().during("--time"));
    limit_ms = *read;
  }
  if (limit_ms > kRunMsMax) return fail(ErrorCode::kLimit, "--time: more than 100,000 days");
  if (limit_ms == 0) return std::nullopt;
  return limit_ms;
}

Result<ArrayTasks> parse_array_tasks(std::string_view text) {
  ArrayTasks array;
  std::string_view list = text;
  if (list.starts_with('[') && list.ends_with(']')) list = list.substr(1, list.size() - 2);
  std::optional<std::uint64_t> at_once;
  if (const std::size_t percent = list.find('%'); percent != std::string_view::npos) {
    const auto read = TRY(array_element(list.substr(percent + 1), text));
    at_once = read;
    list = list.substr(0, percent);
  }
  for (const std::string_view element : split_commas(list)) {
    const std::size_t colon = element.find(':');
    const std::string_view range = element.substr(0, colon);
    std::uint64_t step = 1;
    if (colon != std::string_view::npos) {
      const auto read = TRY(array_element(element.substr(colon + 1), text));
      step = std::max<std::uint64_t>(read, 1);
    }
    const std::size_t dash = range.find('-');
    const auto first = TRY(array_element(range.substr(0, dash), text));
    auto last = first;
    if (dash != std::string_view::npos) {
      const auto read = TRY(array_element(range.substr(dash + 1), text));
      last = read;
    }
    if (last < first) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("--array: '{}' ends before it begins", printable_text(element, 60)));
    }
    array.tasks += (last - first) / step + 1;
    if (array.tasks > kReplicasMax) {
      return fail(ErrorCode::kLimit, fmt::format("--array: more than {} tasks", kReplicasMax));
    }
  }
  // %0 is no limit.
  array.at_once = at_once && *at_once > 0 ? std::min(*at_once, array.tasks) : array.tasks;
  return array;
}

bool is_slurm_job_fact(std::string_view key) { return slurm::is_job_fact(key); }

}  // namespace pennyweight::manifests
