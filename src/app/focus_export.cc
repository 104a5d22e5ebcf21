#include "app/focus_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "app/file.h"
#include "app/version.h"
#include "config/policy_text.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "export/allocated_rows.h"
#include "export/focus_csv.h"
#include "export/focus_metadata.h"
#include "export/focus_parquet.h"
#include "export/share_spool.h"
#include "ledger/summary.h"
#include "questions/selection.h"
#include "report/json_text.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

constexpr std::size_t kTextAtOnce = std::size_t{1} << 20;

// What waits on disk while a file is made; gone with this.
class Scratch {
 public:
  explicit Scratch(const std::string& beside) : path_(beside + ".spill") {}
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string folder(const char* name) const { return path_ + "/" + name; }
  Result<void> make() const {
    std::error_code code;
    std::filesystem::create_directories(path_, code);
    if (code) return fail(ErrorCode::kIo, "cannot write " + path_ + ": " + code.message());
    return {};
  }

 private:
  std::string path_;
};

// Rows into a file of either format.
class RowFile {
 public:
  static Result<RowFile> create(const FocusExportOptions& options,
                                const std::vector<FocusColumn>& columns, const Scratch& scratch) {
    RowFile file(options.out);
    if (options.format == "parquet") {
      auto parquet = FocusParquet::create(columns, scratch.folder("rows"));
      if (!parquet) return std::unexpected(std::move(parquet.error()));
      file.parquet_.emplace(std::move(*parquet));
      return file;
    }
    auto csv = OutputFile::create(options.out);
    if (!csv) return std::unexpected(std::move(csv.error()));
    file.csv_ = std::make_unique<OutputFile>(std::move(*csv));
    append_csv_header(file.text_, columns);
    return file;
  }

  Result<void> append(const FocusRow& row) {
    ++rows_;
    if (parquet_) return parquet_->append(row);
    append_csv_row(text_, row);
    return text_.size() < kTextAtOnce ? Result<void>{} : flush();
  }
  Result<void> finish() {
    if (parquet_) return parquet_->write(path_);
    if (auto written = flush(); !written) return written;
    return csv_->commit();
  }
  std::uint64_t rows() const { return rows_; }

 private:
  explicit RowFile(std::string path) : path_(std::move(path)) {}
  Result<void> flush() {
    auto written = csv_->write(text_);
    text_.clear();
    return written;
  }

  std::string path_;
  std::string text_;
  std::uint64_t rows_ = 0;
  std::optional<FocusParquet> parquet_;
  std::unique_ptr<OutputFile> csv_;
};

std::string basis_of(const Run& run) {
  const auto policy = parse_policy_text(run.policy);
  if (!policy) return "unknown";
  switch (policy->basis.kind) {
    case Basis::Kind::kRequest:
      return "request";
    case Basis::Kind::kUsage:
      return "usage";
    case Basis::Kind::kMax:
      return "max";
    case Basis::Kind::kBlend:
      return fmt::format("blend {}/1000", policy->basis.request_permille);
  }
  CHECK(false, "every basis is listed");
}

// The current runs of a month, by scope.
Result<std::vector<AllocationMethod>> methods_of(Store& store, const std::string& month) {
  const auto runs = store.runs();
  if (!runs) return std::unexpected(runs.error());
  std::vector<AllocationMethod> methods;
  for (const Run& run : *runs) {
    if (!run.current || run.scope.month != month) continue;
    methods.push_back(
        {.id = "pennyweight-" + to_text(run.policy_version), .basis = basis_of(run), .run = run});
  }
  return methods;
}

// Dimensions are tags that the data generator defines, so their keys have its prefix.
std::string tags_of(const Labels& dimensions, const std::vector<std::string>& only) {
  std::string json;
  for (const auto& [key, value] : dimensions.entries()) {
    if (!only.empty() && std::ranges::find(only, key) == only.end()) continue;
    json += json.empty() ? '{' : ',';
    append_json_string(json, "pennyweight/" + key);
    json += ':';
    if (value.empty()) {
      json += "true";
    } else {
      append_json_string(json, value);
    }
  }
  return json.empty() ? json : json + "}";
}

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == ',' || c == '=') {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

class OwnersOf {
 public:
  OwnersOf(std::vector<WorkloadDimensions> workloads, std::vector<std::string> by)
      : by_(std::move(by)) {
    for (WorkloadDimensions& one : workloads) {
      dimensions_.emplace(one.workload.text(), std::move(one.dimensions));
    }
  }

  Owner operator()(const WorkloadId& workload) const {
    static const Labels kNone;
    const auto at = dimensions_.find(workload.text());
    const Labels& dimensions = at == dimensions_.end() ? kNone : at->second;
    if (by_.empty()) {
      return {.id = workload.text(), .name = workload.text(), .tags = tags_of(dimensions, {})};
    }
    Owner owner{.id = {}, .name = {}, .tags = tags_of(dimensions, by_)};
    for (const std::string& dimension : by_) {
      const auto value = dimensions.find(dimension);
      owner.id += (owner.id.empty() ? "" : ",") + dimension + "=" + encoded(value.value_or(""));
      owner.name += owner.name.empty() ? "" : " / ";
      owner.name += value ? std::string(*value) : "(no " + dimension + ")";
    }
    return owner;
  }

 private:
  std::map<std::string, Labels, std::less<>> dimensions_;
  std::vector<std::string> by_;
};

Result<void> spool_scope(Store& store, const AllocationMethod& method, std::uint32_t scope,
                         const std::vector<std::string>& by, ShareSpool& spool) {
  auto workloads = store.dimensions_of(method.run.scope);
  if (!workloads) return std::unexpected(std::move(workloads.error()));
  ShareCollector collector(scope, OwnersOf(std::move(*workloads), by),
                           [&](const ChargeShare& share) { return spool.append(share); });
  Result<void> collected;
  const auto scanned =
      store.scan_postings(method.run.scope, [&](std::span<const Posting> postings) {
        for (const Posting& posting : postings) {
          collected = collector.add(posting);
          if (!collected) return false;
        }
        return true;
      });
  if (!scanned) return std::unexpected(scanned.error());
  if (!collected) return collected;
  return collector.finish();
}

struct Counts {
  std::uint64_t lines = 0;
  std::uint64_t unallocated_lines = 0;
  std::uint64_t transfers = 0;
  std::uint64_t gone = 0;
};

Result<void> note_columns(Store& store, const std::string& month, FocusTable& table) {
  Result<void> noted;
  const auto scanned = store.scan_charges(month, [&](std::span<const Charge> charges) {
    noted = table.note(charges);
    return noted.has_value();
  });
  if (!scanned) return std::unexpected(scanned.error());
  if (!noted) return noted;
  table.settle();
  return {};
}

// Lines by id beside shares by id.
class Merge {
 public:
  Merge(AllocatedRows& rows, ShareSpool& spool, RowFile& file, const Interval& period,
        bool with_transfers)
      : rows_(rows), spool_(spool), file_(file), period_(period), with_transfers_(with_transfers) {}

  Result<void> begin() { return advance(); }
  Result<void> write(const Charge& charge) {
    while (!ahead_.empty() && ahead_.front().charge < charge.id) {
      if (auto done = write_without_line(); !done) return done;
    }
    ++counts_.lines;
    const auto sink = [this](const FocusRow& row) { return file_.append(row); };
    if (ahead_.empty() || ahead_.front().charge != charge.id) {
      ++counts_.unallocated_lines;
      return rows_.write(charge, {}, sink);
    }
    if (auto written = rows_.write(charge, ahead_, sink); !written) return written;
    return advance();
  }
  Result<void> finish() {
    while (!ahead_.empty()) {
      if (auto done = write_without_line(); !done) return done;
    }
    return {};
  }
  const Counts& counts() const { return counts_; }

 private:
  Result<void> advance() {
    auto next = spool_.next();
    if (!next) return std::unexpected(std::move(next.error()));
    ahead_ = std::move(*next);
    return {};
  }
  Result<void> write_without_line() {
    if (!is_transfer(ahead_)) {
      ++counts_.gone;
    } else {
      ++counts_.transfers;
      if (with_transfers_) {
        auto written = rows_.write_transfer(
            ahead_, period_, [this](const FocusRow& row) { return file_.append(row); });
        if (!written) return written;
      }
    }
    return advance();
  }

  AllocatedRows& rows_;
  ShareSpool& spool_;
  RowFile& file_;
  Interval period_;
  bool with_transfers_;
  std::vector<ChargeShare> ahead_;
  Counts counts_;
};

Result<void> write_lines(Store& store, const std::string& month,
                         const std::function<Result<void>(const Charge&)>& write) {
  Result<void> written;
  const auto scanned = store.scan_charges(month, [&](std::span<const Charge> charges) {
    for (const Charge& charge : charges) {
      written = write(charge);
      if (!written) return false;
    }
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());
  return written;
}

void warn_of(const std::map<std::string, std::uint64_t>& columns, std::string_view what,
             const Console& console) {
  for (const auto& [column, lines] : columns) {
    console.warn(fmt::format("{}: {} {} {}", column, format_count(lines, Thousands::kSeparated),
                             lines == 1 ? "bill line" : "bill lines", what));
  }
}

void warn_of(const FocusTable& table, const NullRules& rules, const Counts& counts,
             const Console& console) {
  warn_of(rules.missing(), "without a value, which FOCUS wants; left null", console);
  warn_of(rules.emptied(), "with a value where FOCUS wants null; written as null", console);
  warn_of(table.unreadable(), "with a text that is no number; written as null", console);
  warn_of(table.rounded(), "with digits beyond 10^-18; rounded half to even", console);
  if (counts.unallocated_lines > 0) {
    console.warn(
        fmt::format("{} bill lines are not allocated yet and are written whole; "
                    "'pennyweight allocate' divides them",
                    format_count(counts.unallocated_lines, Thousands::kSeparated)));
  }
  if (counts.gone > 0) {
    console.warn(
        fmt::format("{} allocated bill lines are no longer in the ledger and are left "
                    "out; 'pennyweight allocate' makes the runs anew",
                    format_count(counts.gone, Thousands::kSeparated)));
  }
}

Result<void> write_text(const std::string& path, std::string_view text) {
  auto file = OutputFile::create(path);
  if (!file) return std::unexpected(std::move(file.error()));
  if (auto written = file->write(text); !written) return written;
  return file->commit();
}

std::vector<RunFacts> facts_of(const std::vector<AllocationMethod>& methods) {
  std::vector<RunFacts> facts;
  for (const AllocationMethod& method : methods) {
    facts.push_back({.method_id = method.id,
                     .cluster = method.run.scope.cluster.text(),
                     .basis = method.basis,
                     .policy_version = to_text(method.run.policy_version),
                     .number = method.run.number});
  }
  return facts;
}

// Writes the rows, says what is to be said, and gives the counts.
Result<Counts> write_rows(Store& store, const FocusExportOptions& options,
                          const std::vector<AllocationMethod>& methods, const Interval& period,
                          FocusTable& table, Context& context) {
  const Scratch scratch(options.out);
  if (auto made = scratch.make(); !made) return std::unexpected(made.error());
  auto file = RowFile::create(options, table.columns(), scratch);
  if (!file) return std::unexpected(file.error());
  Counts counts;
  if (options.rows == "charges") {
    NullRules rules(table);
    FocusRow row;
    const auto written = write_lines(store, options.month, [&](const Charge& charge) {
      ++counts.lines;
      if (auto filled = table.fill(charge, row); !filled) return filled;
      rules.apply(row);
      rules.fill_in(row);
      return file->append(row);
    });
    if (!written) return std::unexpected(written.error());
    warn_of(table, rules, counts, context.console);
  } else {
    auto spool = ShareSpool::create(scratch.folder("shares"));
    if (!spool) return std::unexpected(spool.error());
    for (std::uint32_t scope = 0; scope < methods.size(); ++scope) {
      auto spooled = spool_scope(store, methods[scope], scope, options.by, *spool);
      if (!spooled) return std::unexpected(spooled.error());
    }
    if (auto sorted = spool->sort(); !sorted) return std::unexpected(sorted.error());
    AllocatedRows rows(table, facts_of(methods));
    Merge merge(rows, *spool, *file, period, options.with_transfers);
    auto written = merge.begin();
    if (written) {
      written = write_lines(store, options.month,
                            [&](const Charge& charge) { return merge.write(charge); });
    }
    if (written) written = merge.finish();
    if (!written) return std::unexpected(written.error());
    counts = merge.counts();
    warn_of(table, rows.rules(), counts, context.console);
  }
  if (counts.lines == 0) {
    return fail(ErrorCode::kNotFound, "the ledger has no bill lines of " + options.month);
  }
  if (auto done = file->finish(); !done) return std::unexpected(done.error());
  context.console.say(fmt::format("{}: {} rows of {} bill lines", options.out,
                                  format_count(file->rows(), Thousands::kSeparated),
                                  format_count(counts.lines, Thousands::kSeparated)));
  return counts;
}

Result<void> check_options(const FocusExportOptions& options) {
  if (options.month.empty()) {
    return wrong_usage("which month? 'export focus' writes one: --month 2026-03");
  }
  if (auto month = check_month(options.month); !month) return as_usage(month.error());
  if (options.out == "-") {
    return wrong_usage("'export focus' writes a file and its metadata: name one with --out");
  }
  if (options.rows == "charges" && (options.with_transfers || !options.by.empty())) {
    return wrong_usage("--by and --with-transfers are of --rows allocated");
  }
  return {};
}

}  // namespace

Result<ExitCode> export_focus(const FocusExportOptions& given, Context& context) {
  FocusExportOptions options = given;
  if (auto right = check_options(options); !right) return std::unexpected(right.error());
  if (!options.by.empty()) {
    auto by = parse_dimensions(options.by, context.config.policy);
    if (!by) return as_usage(by.error());
    for (const std::string& dimension : *by) {
      if (std::ranges::find(kBuiltInDimensions, dimension) == std::end(kBuiltInDimensions))
        continue;
      return wrong_usage(fmt::format(
          "--by {}: the owners of a FOCUS export are dimensions of workloads, such as team or user",
          dimension));
    }
    options.by = std::move(*by);
  }
  const auto version = parse_focus_version(options.version);
  CHECK(version.has_value(), "the command line takes only versions that are known");
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());

  const bool is_allocated = options.rows == "allocated";
  std::vector<AllocationMethod> methods;
  if (is_allocated) {
    auto found = methods_of(**store, options.month);
    if (!found) return std::unexpected(found.error());
    methods = std::move(*found);
  }
  FocusTable table(
      *version, Fidelity::kToTheLetter,
      is_allocated ? allocation_columns(*version, options.with_transfers)
                   : std::vector<FocusColumn>{{std::string(kOriginChargeId), FocusType::kString}});
  if (auto noted = note_columns(**store, options.month, table); !noted) {
    return std::unexpected(noted.error());
  }
  const auto month = BillingPeriod::parse(options.month, TimeZone::utc());
  if (!month) return std::unexpected(month.error());
  const Interval period = month->to_interval();
  const auto counts = write_rows(**store, options, methods, period, table, context);
  if (!counts) return std::unexpected(counts.error());

  const Instant now = context.clock.now();
  const std::string metadata = to_json(
      {.version = *version,
       .columns = table.columns(),
       .program_version = kProgramVersion,
       .month = options.month,
       .period = period,
       .at = now,
       .is_complete = now >= period.end() && counts->unallocated_lines == 0 && counts->gone == 0,
       .is_allocated = is_allocated,
       .methods = methods});
  const std::string path =
      options.metadata.empty() ? options.out + ".metadata.json" : options.metadata;
  if (auto written = write_text(path, metadata); !written) {
    return std::unexpected(written.error());
  }
  return ExitCode::kDone;
}

}  // namespace pennyweight
