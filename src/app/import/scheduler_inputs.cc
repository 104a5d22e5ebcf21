// Records of schedulers as input formats: Slurm's sacct, scontrol, sacctmgr and slurm.conf, the
// accounting of PBS, LSF and Grid Engine, and Kubernetes traces in the openb schema.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "app/import/detect_format.h"
#include "app/import/format_lists.h"
#include "app/import/parser_tools.h"
#include "core/try.h"
#include "ingest/schedulers/grid_engine/accounting.h"
#include "ingest/schedulers/grid_engine/qacct.h"
#include "ingest/schedulers/lsf/accounting.h"
#include "ingest/schedulers/openb/nodes.h"
#include "ingest/schedulers/openb/pods.h"
#include "ingest/schedulers/pbs/accounting.h"
#include "ingest/schedulers/pbs/tracejob.h"
#include "ingest/schedulers/slurm/node_events.h"
#include "ingest/schedulers/slurm/sacct_json.h"
#include "ingest/schedulers/slurm/sacct_text.h"
#include "ingest/schedulers/slurm/scontrol_nodes.h"
#include "ingest/schedulers/slurm/slurm_conf.h"

namespace pennyweight {
namespace {

// The outcomes of schedulers' records: ledger/job_without_time.h and ledger/host_usage.h.
constexpr std::string_view kJobOutcome = "job measurement";

slurm::SacctOptions sacct_options(const ParserInput& input) {
  slurm::SacctOptions options{input.cluster.time_zone, input.file, {}, input.now};
  if (!input.cluster.name.empty()) options.cluster = input.cluster.name;
  options.partitions_are_pools = input.cluster.partitions_are_pools;
  options.columns = input.options.columns;
  return options;
}

slurm::SacctSink sacct_sink(SessionSink& sink) {
  return {facts_into<Holding>(sink, &SessionSink::holdings), rejected_into(sink),
          facts_into<Outcome>(sink, &SessionSink::outcomes),
          facts_into<Outcome>(sink, &SessionSink::outcomes)};
}

void add_sacct_remarks(const ParserInput& input, const slurm::SacctCounts& counts) {
  add_remark(input, counts.running, "job was still running", "jobs were still running");
  add_remark(input, counts.pending, "job was pending and held nothing",
             "jobs were pending and held nothing");
  add_remark(input, counts.never_started, "job ended before it began",
             "jobs ended before they began");
  add_remark(input, counts.zero_length, "job ended in the second in which it began",
             "jobs ended in the second in which they began");
  add_remark(input, counts.ambiguous,
             "job fits two lengths at the end of summer time; the shorter was taken",
             "jobs fit two lengths at the end of summer time; the shorter was taken");
  add_remark(input, counts.shortened,
             "job ran shorter than from Start to End: the rest is taken as suspended; export "
             "Suspended to be sure",
             "jobs ran shorter than from Start to End: the rest is taken as suspended; export "
             "Suspended to be sure");
  add_remark(input, counts.used, "job says what it used of processors or memory",
             "jobs say what they used of processors or memory");
  add_remark(input, counts.unknown_state,
             "job is in a state that Slurm does not have; it is taken as ended",
             "jobs are in states that Slurm does not have; they are taken as ended");
}

Result<FileParser> open_sacct_text(const InputFormat&, const ParserInput& input) {
  const auto reader =
      std::make_shared<slurm::SacctText>(sacct_options(input), sacct_sink(input.sink));
  return FileParser{[reader](std::string_view chunk) { return reader->feed(chunk); },
                    [reader, input]() -> Result<void> {
                      const auto counts = TRY(reader->finish());
                      add_sacct_remarks(input, counts);
                      return {};
                    }};
}

Result<FileParser> open_sacct_json(const InputFormat&, const ParserInput& input) {
  return document_parser([input](const std::string& document) -> Result<void> {
    const auto counts =
        TRY(slurm::read_sacct_json(document, sacct_options(input), sacct_sink(input.sink)));
    add_sacct_remarks(input, counts);
    return {};
  });
}

using NodeReader = Result<slurm::ScontrolNodes> (*)(std::string_view text,
                                                    const slurm::ScontrolOptions& options);

Result<FileParser> open_slurm_nodes(NodeReader parse, std::string_view program,
                                    const ParserInput& input) {
  if (!input.options.from) {
    return fail(ErrorCode::kConfig, fmt::format("{} does not say since when its nodes exist; state "
                                                "it, such as --from 2026-03-01",
                                                program));
  }
  const slurm::ScontrolOptions options{input.cluster.name, *input.options.from, input.file,
                                       input.cluster.partitions_are_pools};
  return document_parser([options, input, parse](const std::string& text) -> Result<void> {
    const auto nodes = TRY(parse(text, options));
    add_remark(input, nodes.future, "node is in state FUTURE and was skipped",
               "nodes are in state FUTURE and were skipped");
    TRY(input.sink.nodes(nodes.nodes));
    input.remarks.insert(input.remarks.end(), nodes.notes.begin(), nodes.notes.end());
    return input.sink.rejected(nodes.rejected);
  });
}

Result<FileParser> open_scontrol(const InputFormat&, const ParserInput& input) {
  return open_slurm_nodes(slurm::parse_scontrol_nodes, "scontrol", input);
}

Result<FileParser> open_slurm_conf(const InputFormat&, const ParserInput& input) {
  return open_slurm_nodes(slurm::parse_slurm_conf, "slurm.conf", input);
}

Result<FileParser> open_slurm_events(const InputFormat&, const ParserInput& input) {
  return document_parser([input](const std::string& text) -> Result<void> {
    const auto events = TRY(slurm::parse_node_events(text, {.cluster = input.cluster.name,
                                                            .file = input.file,
                                                            .now = input.now,
                                                            .zone = input.cluster.time_zone}));
    add_remark(input, events.going_on,
               "node is still out of use; import the events again when it is back",
               "nodes are still out of use; import the events again when they are back");
    add_remark(
        input, events.passed,
        "event is of the cluster, or of a node that was not out of use for a second, and was "
        "skipped",
        "events are of the cluster, or of nodes that were not out of use for a second, and "
        "were skipped");
    TRY(slurm::give_outages(events, input.cluster.name, [&](std::span<const Outage> some) {
      return input.sink.outages(some);
    }));
    return input.sink.rejected(events.rejected);
  });
}

// The instant that second 0 of a trace stands for.
Result<Instant> trace_origin(const std::optional<Instant>& given, const ParserInput& input,
                             std::string_view option) {
  if (given) return *given;
  if (input.cluster.origin) return *input.cluster.origin;
  return fail(ErrorCode::kConfig,
              fmt::format("the trace counts seconds from a start that it does not state; give {} "
                          "2023-01-01, or the cluster's origin in the configuration",
                          option));
}

Result<FileParser> open_openb_pods(const InputFormat&, const ParserInput& input) {
  const auto origin = TRY(trace_origin(input.options.origin, input, "--origin"));
  const auto reader = std::make_shared<openb::PodReader>(
      openb::PodOptions{input.file, input.cluster.name, origin, input.now},
      facts_into<Holding>(input.sink, &SessionSink::holdings), rejected_into(input.sink));
  return FileParser{[reader](std::string_view chunk) { return reader->feed(chunk); },
                    [reader, input]() -> Result<void> {
                      TRY(reader->finish());
                      add_remark(input, reader->counts().never_scheduled,
                                 "pod was never scheduled and held nothing",
                                 "pods were never scheduled and held nothing");
                      add_remark(input, reader->counts().without_time,
                                 "pod was deleted in the second of its scheduling",
                                 "pods were deleted in the second of their scheduling");
                      return {};
                    }};
}

Result<FileParser> open_openb_nodes(const InputFormat&, const ParserInput& input) {
  const auto from = TRY(trace_origin(input.options.from ? input.options.from : input.options.origin,
                                     input, "--from"));
  return stream_parser(std::make_shared<openb::NodeReader>(
      openb::NodeOptions{input.file, input.cluster.name, from, input.options.to, {}},
      facts_into<Node>(input.sink, &SessionSink::nodes), rejected_into(input.sink)));
}

// What records that hold nothing are.
struct OtherRecords {
  std::string_view one, many;
};

template <class Reader>
FileParser accounting_parser(const ParserInput& input, const std::shared_ptr<Reader>& reader,
                             const OtherRecords& others) {
  return FileParser{
      [reader](std::string_view chunk) { return reader->feed(chunk); },
      [reader, input, others]() -> Result<void> {
        TRY(reader->finish());
        const accounting::Counts& counts = reader->counts();
        add_remark(input, counts.never_started, "job ended before it began",
                   "jobs ended before they began");
        add_remark(input, counts.zero_length, "job ended in the second in which it began",
                   "jobs ended in the second in which they began");
        add_remark(input, counts.used, "job says what it used of processors or memory",
                   "jobs say what they used of processors or memory");
        add_remark(input, counts.others, others.one, others.many);
        for (const auto& [what, count] : counts.disregarded) {
          input.remarks.push_back(fmt::format("{}: {}", what, count));
        }
        return {};
      }};
}

accounting::Options accounting_options(const ParserInput& input) {
  return {input.file, input.cluster.name, input.now, input.cluster.time_zone};
}

accounting::Sinks accounting_sinks(const ParserInput& input) {
  return {facts_into<Holding>(input.sink, &SessionSink::holdings),
          facts_into<Outcome>(input.sink, &SessionSink::outcomes), rejected_into(input.sink)};
}

Result<FileParser> open_accounting(const ParserInput& input, accounting::ReadRecord read,
                                   const OtherRecords& others,
                                   accounting::IsSeparator is_separator = nullptr) {
  return accounting_parser(
      input,
      std::make_shared<accounting::RecordReader>(read, accounting_options(input),
                                                 accounting_sinks(input), is_separator),
      others);
}

constexpr OtherRecords kOfOtherPbsTypes = {
    "record is of a job's way to its end, and holds nothing",
    "records are of jobs' ways to their ends, and hold nothing"};

Result<FileParser> open_pbs(const InputFormat&, const ParserInput& input) {
  return open_accounting(input, pbs::read_record, kOfOtherPbsTypes);
}

Result<FileParser> open_tracejob(const InputFormat&, const ParserInput& input) {
  return accounting_parser(
      input,
      std::make_shared<pbs::TracejobReader>(accounting_options(input), accounting_sinks(input)),
      kOfOtherPbsTypes);
}

Result<FileParser> open_lsf(const InputFormat&, const ParserInput& input) {
  return open_accounting(input, lsf::read_record,
                         {"record is of another type than JOB_FINISH, and holds nothing",
                          "records are of other types than JOB_FINISH, and hold nothing"});
}

Result<FileParser> open_grid_engine(const InputFormat&, const ParserInput& input) {
  return open_accounting(input, grid_engine::read_record,
                         {"record is of a task of a parallel job, whose own record has it",
                          "records are of tasks of parallel jobs, whose own records have them"});
}

Result<FileParser> open_qacct(const InputFormat&, const ParserInput& input) {
  return open_accounting(input, grid_engine::read_qacct_record,
                         {"record is the total, or of a task of a parallel job, and holds nothing",
                          "records are of tasks of parallel jobs, or the total, and hold nothing"},
                         grid_engine::is_qacct_separator);
}

bool matches_qacct(const InputFormat&, const FileStart& start) {
  return grid_engine::is_qacct(start.text());
}

bool matches_grid_engine(const InputFormat&, const FileStart& start) {
  return grid_engine::is_accounting_file(start.text());
}

bool matches_lsf(const InputFormat&, const FileStart& start) {
  return lsf::is_accounting_file(start.text());
}

bool matches_pbs(const InputFormat&, const FileStart& start) {
  return pbs::is_accounting_record(start.text());
}

bool matches_tracejob(const InputFormat&, const FileStart& start) {
  return pbs::is_tracejob(start.text());
}

bool matches_sacct_text(const InputFormat&, const FileStart& start) {
  return start.has_column("JobID", '|') || start.has_column("JobIDRaw", '|');
}

bool matches_sacct_json(const InputFormat&, const FileStart& start) {
  return start.text().starts_with('{') &&
         (start.contains("\"jobs\"") || start.contains("\"Slurm\"") || start.contains("\"slurm\""));
}

bool matches_scontrol(const InputFormat&, const FileStart& start) {
  return start.text().starts_with("NodeName=") && !slurm::is_gres_conf(start.text());
}

bool matches_slurm_conf(const InputFormat&, const FileStart& start) {
  return !start.is_json() && slurm::is_slurm_conf(start.text());
}

bool matches_slurm_events(const InputFormat&, const FileStart& start) {
  return slurm::is_node_events(start.text());
}

bool matches_openb_pods(const InputFormat&, const FileStart& start) {
  return start.has_column("num_gpu") && start.has_column("gpu_milli");
}

bool matches_openb_nodes(const InputFormat&, const FileStart& start) {
  return start.has_column("sn") && start.has_column("gpu");
}

}  // namespace

std::vector<InputFormat> scheduler_inputs() {
  return {
      {.name = "slurm",
       .description = "Slurm accounting (sacct --parsable2)",
       .matches = matches_sacct_text,
       .open = open_sacct_text,
       .cluster_kind = ClusterKind::kSlurm,
       .outcome_name = kJobOutcome},
      {.name = "slurm-json",
       .description = "Slurm accounting (sacct --json)",
       .matches = matches_sacct_json,
       .open = open_sacct_json,
       .cluster_kind = ClusterKind::kSlurm,
       .outcome_name = kJobOutcome},
      {.name = "slurm-conf",
       .description = "Slurm nodes (slurm.conf)",
       .matches = matches_slurm_conf,
       .open = open_slurm_conf,
       .needs_cluster = true,
       .cluster_kind = ClusterKind::kSlurm},
      {.name = "scontrol",
       .description = "Slurm nodes (scontrol show node)",
       .matches = matches_scontrol,
       .open = open_scontrol,
       .needs_cluster = true,
       .cluster_kind = ClusterKind::kSlurm},
      {.name = "slurm-events",
       .description = "Slurm node outages (sacctmgr --parsable2 show event)",
       .matches = matches_slurm_events,
       .open = open_slurm_events,
       .needs_cluster = true,
       .cluster_kind = ClusterKind::kSlurm},
      {.name = "pbs",
       .description = "PBS Professional and OpenPBS (accounting log)",
       .matches = matches_pbs,
       .open = open_pbs,
       .needs_cluster = true,
       .outcome_name = kJobOutcome},
      {.name = "tracejob",
       .description = "PBS Professional and OpenPBS (tracejob)",
       .matches = matches_tracejob,
       .open = open_tracejob,
       .needs_cluster = true,
       .outcome_name = kJobOutcome},
      {.name = "lsf",
       .description = "LSF accounting (lsb.acct)",
       .matches = matches_lsf,
       .open = open_lsf,
       .needs_cluster = true,
       .outcome_name = kJobOutcome},
      {.name = "grid-engine",
       .description = "Grid Engine (accounting file)",
       .matches = matches_grid_engine,
       .open = open_grid_engine,
       .needs_cluster = true,
       .outcome_name = kJobOutcome},
      {.name = "qacct",
       .description = "Grid Engine (qacct -j)",
       .matches = matches_qacct,
       .open = open_qacct,
       .needs_cluster = true,
       .outcome_name = kJobOutcome},
      {.name = "openb-pods",
       .description = "Kubernetes pods (openb CSV)",
       .matches = matches_openb_pods,
       .open = open_openb_pods,
       .needs_cluster = true,
       .cluster_kind = ClusterKind::kKubernetes},
      {.name = "openb-nodes",
       .description = "Kubernetes nodes (openb CSV)",
       .matches = matches_openb_nodes,
       .open = open_openb_nodes,
       .needs_cluster = true,
       .cluster_kind = ClusterKind::kKubernetes},
  };
}

}  // namespace pennyweight
