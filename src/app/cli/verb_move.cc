// move: copies a whole ledger from a file to ClickHouse, or back.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/clickhouse/address.h"
#include "core/decimal.h"
#include "core/duckdb/rows.h"
#include "core/try.h"
#include "ledger/store/move/clickhouse_source.h"
#include "ledger/store/move/clickhouse_target.h"
#include "ledger/store/move/duckdb_source.h"
#include "ledger/store/move/duckdb_target.h"
#include "ledger/store/move/move.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

// `serve` opens the ledger only while it writes; other programs get their turn in between.
constexpr milliseconds kPatience{20'000};
constexpr milliseconds kBetweenTries{100};
// Limits the database engine; the program needs more than that.
constexpr std::uint64_t kEngineBytesMax = std::uint64_t{256} << 20;
constexpr milliseconds kBetweenLines{100};       // on a terminal
constexpr milliseconds kBetweenReports{60'000};  // in a log
constexpr std::string_view kEraseLine = "\r\x1b[K";

struct MoveOptions {
  std::string from, to;
  TableOptions table;
};

// One end of a move, as named on the command line.
struct LedgerLocation {
  std::string text;
  std::optional<move::ClickhouseLocation> server;
  move::DuckdbLocation file;
  std::string name() const { return server ? clickhouse::shown(server->address) : text; }
};

Result<LedgerLocation> parse_location(const std::string& text, Context& context) {
  LedgerLocation place = {.text = text, .server = {}, .file = {}};
  if (!clickhouse::is_address(text)) {
    place.file = {.path = text,
                  .memory_bytes_max =
                      std::min(kEngineBytesMax, std::uint64_t{context.config.store_memory_bytes}),
                  .threads = context.config.threads};
    return place;
  }
  auto address = TRY(clickhouse::parse_address(text));
  std::random_device chance;
  place.server = move::ClickhouseLocation{.address = std::move(address),
                                          .clock = &context.clock,
                                          .seed = std::uint64_t{chance()} << 32 | chance()};
  return place;
}

// Opens a file. While another program has it locked, tries again for a while.
template <class Open>
auto open_with_retry(const Open& open) {
  const auto give_up = Steady::now() + kPatience;
  while (true) {
    auto opened = open();
    if (opened || !duckdb::is_locked_by_another(opened.error()) || Steady::now() > give_up) {
      return opened;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Result<std::unique_ptr<move::LedgerSource>> open_source(const LedgerLocation& place) {
  if (place.server) return move::open_clickhouse_source(*place.server);
  return open_with_retry([&] { return move::open_duckdb_source(place.file); });
}

Result<std::unique_ptr<move::LedgerTarget>> open_target(const LedgerLocation& place) {
  if (place.server) return move::open_clickhouse_target(*place.server);
  return open_with_retry([&] { return move::open_duckdb_target(place.file); });
}

Result<bool> is_ledger(const LedgerLocation& place) {
  if (place.server) return move::is_clickhouse_ledger(*place.server);
  std::error_code ignored;
  return std::filesystem::exists(place.file.path, ignored);
}

// Shows the progress: "1,250,000 rows, 61 %, 412,000/s, 2 min 5 s left"; often on a terminal, else
// once a minute.
class ProgressPrinter {
 public:
  explicit ProgressPrinter(const Console& console) : console_(console) {}
  ~ProgressPrinter() {
    if (visible_) std::fwrite(kEraseLine.data(), 1, kEraseLine.size(), stderr);
  }
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  void update(const move::MoveProgress& progress) {
    const auto now = Steady::now();
    if (!begun_ || progress.phase != phase_) {
      phase_ = progress.phase;
      begun_ = shown_ = now;
      rows_then_ = progress.rows;
      if (progress.found > 0 && !std::exchange(resumption_shown_, true)) {
        console_.say(fmt::format("resuming: {} copied before", counted(progress.found, "row")));
      }
    }
    const auto pause = console_.shows_progress() ? kBetweenLines : kBetweenReports;
    if (now - shown_ < pause) return;
    shown_ = now;
    const std::string line = format_line(progress, now - *begun_);
    if (!console_.shows_progress()) return console_.say(line);
    visible_ = true;
    const std::string shown = std::string(kEraseLine) + line;
    std::fwrite(shown.data(), 1, shown.size(), stderr);
  }

 private:
  std::string format_line(const move::MoveProgress& progress, Steady::duration elapsed) const {
    const auto ms = static_cast<std::uint64_t>(
        std::max<std::int64_t>(1, std::chrono::duration_cast<milliseconds>(elapsed).count()));
    const std::uint64_t rows_now = progress.rows - std::min(rows_then_, progress.rows);
    const std::uint64_t a_second = rows_now * 1000 / ms;
    std::string line =
        fmt::format("{} {}  {} rows",
                    progress.phase == move::MoveProgress::Phase::kCopying ? "copying" : "verifying",
                    progress.table, format_count(progress.rows, Thousands::kSeparated));
    if (progress.rows_all > 0) {
      line += fmt::format(" of {}", format_count(progress.rows_all, Thousands::kSeparated));
    }
    line += fmt::format("  {}/s", format_count(a_second, Thousands::kSeparated));
    if (a_second > 0 && progress.rows_all > progress.rows) {
      const std::uint64_t seconds = (progress.rows_all - progress.rows) / a_second;
      line += fmt::format("  {} min {} s left", seconds / 60, seconds % 60);
    }
    return line;
  }

  const Console& console_;
  std::optional<Steady::time_point> begun_;
  Steady::time_point shown_;
  move::MoveProgress::Phase phase_ = move::MoveProgress::Phase::kCopying;
  std::uint64_t rows_then_ = 0;  // when this phase began
  bool resumption_shown_ = false;
  bool visible_ = false;
};

std::string amount(move::ValueKind kind, UInt128 sum) {
  if (kind != move::ValueKind::kDecimal) return to_text(static_cast<Int128>(sum));
  return to_text(Decimal::from_ticks(static_cast<Int128>(sum)));
}

// The sums worth showing; all were compared.
bool is_shown(move::ValueKind kind) {
  return kind == move::ValueKind::kDecimal || kind == move::ValueKind::kWide;
}

Table comparison_table(const move::MoveOutcome& outcome, const LedgerLocation& from,
                       const LedgerLocation& to) {
  Table shown = {.title = fmt::format("{} compared with {}", to.name(), from.name()),
                 .currency = {},
                 .columns = {{"table", "table"},
                             {"what", "what"},
                             {"from", "from", ColumnKind::kId},
                             {"to", "to", ColumnKind::kId}},
                 .rows = {},
                 .total = {},
                 .notes = {}};
  for (const move::MovedRows& rows : outcome.tables) {
    const auto add = [&](const std::string& what, const std::string& a, const std::string& b) {
      shown.rows.push_back({rows.table->name, what, a, b});
    };
    add("rows", std::to_string(rows.source.rows()), std::to_string(rows.target.rows()));
    if (rows.source.rows() + rows.target.rows() == 0) continue;
    add("digest", to_text(rows.source.digest()), to_text(rows.target.digest()));
    for (const move::MovedColumn& column : rows.table->columns) {
      if (!is_shown(column.kind)) continue;
      add(column.name, amount(column.kind, rows.source.sum(*rows.table, column.name)),
          amount(column.kind, rows.target.sum(*rows.table, column.name)));
    }
  }
  shown.notes.push_back(
      "Sums add all currencies together; the digests cover every column of every row.");
  return shown;
}

std::uint64_t rows_in_all(const move::MoveOutcome& outcome) {
  std::uint64_t rows = 0;
  for (const move::MovedRows& moved : outcome.tables) rows += moved.target.rows();
  return rows;
}

std::unexpected<Error> difference_error(const move::MoveOutcome& outcome, const std::string& then) {
  std::string words;
  for (const std::string& difference : outcome.differences) {
    words += (words.empty() ? "" : "; ") + difference;
  }
  return fail(ErrorCode::kConflict, words + ". " + then);
}

// A program that was killed between the two steps of renaming leaves the file under both names, its
// own and that of an unfinished move.
void remove_second_name(const LedgerLocation& to) {
  if (to.server) return;
  std::error_code ignored;
  const std::string other = to.file.path + ".moving";
  if (std::filesystem::equivalent(to.file.path, other, ignored)) {
    std::filesystem::remove(other, ignored);
  }
}

Result<ExitCode> compare(move::LedgerSource& source, const LedgerLocation& from,
                         const LedgerLocation& to, const MoveOptions& options, Context& context) {
  const auto target = TRY(open_source(to));
  const auto outcome = [&] {
    ProgressPrinter printer(context.console);
    return move::compare_ledgers(source, *target, [&](const auto& p) { printer.update(p); });
  }();
  if (!outcome) return std::unexpected(outcome.error());
  print_tables({comparison_table(*outcome, from, to)}, options.table, context);
  if (!outcome->differences.empty()) {
    return difference_error(*outcome, to.name() +
                                          " is a ledger already, with different content; name "
                                          "another place, or remove it");
  }
  context.console.say(
      fmt::format("{} is a ledger already, with exactly the same content", to.name()));
  return ExitCode::kDone;
}

Result<ExitCode> copy(move::LedgerSource& source, const LedgerLocation& from,
                      const LedgerLocation& to, const MoveOptions& options, Context& context) {
  const auto target = TRY(open_target(to));
  const auto outcome = [&] {
    ProgressPrinter printer(context.console);
    return move::move_ledger(source, *target, [&](const auto& p) { printer.update(p); });
  }();
  if (!outcome) return std::unexpected(outcome.error());
  if (outcome->was_whole) return compare(source, from, to, options, context);
  print_tables({comparison_table(*outcome, from, to)}, options.table, context);
  if (!outcome->differences.empty()) {
    return difference_error(*outcome, "The copy differs from the original, so " + to.name() +
                                          " is not usable; remove it, and start again");
  }
  context.console.say(fmt::format("{} is now an exact copy of {}: {}, compared digit by digit",
                                  to.name(), from.name(), counted(rows_in_all(*outcome), "row")));
  return ExitCode::kDone;
}

Result<ExitCode> run(const MoveOptions& options, Context& context) {
  const auto from = parse_location(options.from, context), to = parse_location(options.to, context);
  if (!from) return std::unexpected(from.error().during("--from"));
  if (!to) return std::unexpected(to.error().during("--to"));
  if (from->server.has_value() == to->server.has_value()) {
    return usage_error(from->server ? "one of the two must be a file: move it to a file first"
                                    : "one of the two must be a clickhouse:// address; to copy a "
                                      "file, use 'pennyweight backup'");
  }
  const auto source = TRY(open_source(*from));
  const auto there = is_ledger(*to);
  if (!there) return std::unexpected(there.error());
  if (!*there) return copy(*source, *from, *to, options, context);
  auto compared = compare(*source, *from, *to, options, context);
  if (compared) remove_second_name(*to);
  return compared;
}

}  // namespace

Verb declare_move(CLI::App& app) {
  const auto options = std::make_shared<MoveOptions>();
  CLI::App* command = app.add_subcommand(
      "move", "Copy a whole ledger from a file to ClickHouse or back, and verify the copy");
  command->add_option("--from", options->from, "The ledger: a file or a clickhouse:// address")
      ->required();
  command
      ->add_option("--to", options->to,
                   "The destination, of the other kind; an interrupted move is resumed")
      ->required();
  command->add_option("--format", options->table.format, "The format of the comparison")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
  command->footer(examples_footer("move"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
