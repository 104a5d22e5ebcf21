// move: a whole ledger from a file to ClickHouse, or back.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "app/table_options.h"
#include "app/verb.h"
#include "clickhouse/address.h"
#include "core/decimal.h"
#include "duckdb/rows.h"
#include "report/number_format.h"
#include "store/move/clickhouse_source.h"
#include "store/move/clickhouse_target.h"
#include "store/move/duckdb_source.h"
#include "store/move/duckdb_target.h"
#include "store/move/move.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

// `serve` has the ledger open while it writes to it, and lets others in between.
constexpr milliseconds kPatience{20'000};
constexpr milliseconds kBetweenTries{100};
// Of the engine, which is not all that the program needs.
constexpr std::uint64_t kEngineBytesMax = std::uint64_t{256} << 20;
constexpr milliseconds kBetweenLines{100};       // where somebody looks on
constexpr milliseconds kBetweenReports{60'000};  // in a log
constexpr std::string_view kEraseLine = "\r\x1b[K";

struct MoveOptions {
  std::string from, to;
  TableOptions table;
};

// One of the two ends, as it stands on the command line.
struct Place {
  std::string text;
  std::optional<move::ClickhousePlace> server;
  move::DuckdbPlace file;
  std::string name() const { return server ? clickhouse::shown(server->address) : text; }
};

Result<Place> place_of(const std::string& text, Context& context) {
  Place place = {.text = text, .server = {}, .file = {}};
  if (!clickhouse::is_address(text)) {
    place.file = {.path = text,
                  .memory_bytes_max =
                      std::min(kEngineBytesMax, std::uint64_t{context.config.store_memory_bytes}),
                  .threads = context.config.threads};
    return place;
  }
  auto address = clickhouse::parse_address(text);
  if (!address) return std::unexpected(address.error());
  std::random_device chance;
  place.server = move::ClickhousePlace{.address = *std::move(address),
                                       .clock = &context.clock,
                                       .seed = std::uint64_t{chance()} << 32 | chance()};
  return place;
}

// Opens a file, waiting for who has it only for a moment.
template <class Open>
auto with_patience(const Open& open) {
  const auto give_up = Steady::now() + kPatience;
  while (true) {
    auto opened = open();
    if (opened || !duckdb::is_locked_by_another(opened.error()) || Steady::now() > give_up) {
      return opened;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Result<std::unique_ptr<move::Source>> open_source(const Place& place) {
  if (place.server) return move::open_clickhouse_source(*place.server);
  return with_patience([&] { return move::open_duckdb_source(place.file); });
}

Result<std::unique_ptr<move::Target>> open_target(const Place& place) {
  if (place.server) return move::open_clickhouse_target(*place.server);
  return with_patience([&] { return move::open_duckdb_target(place.file); });
}

Result<bool> is_ledger(const Place& place) {
  if (place.server) return move::is_clickhouse_ledger(*place.server);
  std::error_code ignored;
  return std::filesystem::exists(place.file.path, ignored);
}

// "1,250,000 rows, 61 %, 412,000/s, 2 min 5 s left", on a terminal often, else once a minute.
class Teller {
 public:
  explicit Teller(const Console& console) : console_(console) {}
  ~Teller() {
    if (visible_) std::fwrite(kEraseLine.data(), 1, kEraseLine.size(), stderr);
  }
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;

  void hear(const move::MoveProgress& progress) {
    const auto now = Steady::now();
    if (!begun_ || progress.phase != phase_) {
      phase_ = progress.phase;
      begun_ = shown_ = now;
      rows_then_ = progress.rows;
      if (progress.found > 0 && !std::exchange(told_of_found_, true)) {
        console_.say(fmt::format("goes on: {} rows are there from before",
                                 format_count(progress.found, Thousands::kSeparated)));
      }
    }
    const auto pause = console_.shows_progress() ? kBetweenLines : kBetweenReports;
    if (now - shown_ < pause) return;
    shown_ = now;
    const std::string line = line_of(progress, now - *begun_);
    if (!console_.shows_progress()) return console_.say(line);
    visible_ = true;
    const std::string shown = std::string(kEraseLine) + line;
    std::fwrite(shown.data(), 1, shown.size(), stderr);
  }

 private:
  std::string line_of(const move::MoveProgress& progress, Steady::duration elapsed) const {
    const auto ms = static_cast<std::uint64_t>(
        std::max<std::int64_t>(1, std::chrono::duration_cast<milliseconds>(elapsed).count()));
    const std::uint64_t rows_now = progress.rows - std::min(rows_then_, progress.rows);
    const std::uint64_t a_second = rows_now * 1000 / ms;
    std::string line =
        fmt::format("{} {}  {} rows",
                    progress.phase == move::MoveProgress::Phase::kCopying ? "copies" : "reads back",
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
  bool told_of_found_ = false;
  bool visible_ = false;
};

std::string amount(move::ValueKind kind, UInt128 sum) {
  if (kind != move::ValueKind::kDecimal) return to_text(static_cast<Int128>(sum));
  return to_text(Decimal::from_ticks(static_cast<Int128>(sum)));
}

// The sums that a person can make something of; all were compared.
bool is_shown(move::ValueKind kind) {
  return kind == move::ValueKind::kDecimal || kind == move::ValueKind::kWide;
}

Table table_of(const move::MoveOutcome& outcome, const Place& from, const Place& to) {
  Table shown = {.title = fmt::format("{} beside {}", to.name(), from.name()),
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
      "Sums are of all currencies together, and every column of every row is in the digests.");
  return shown;
}

std::uint64_t rows_in_all(const move::MoveOutcome& outcome) {
  std::uint64_t rows = 0;
  for (const move::MovedRows& moved : outcome.tables) rows += moved.target.rows();
  return rows;
}

std::unexpected<Error> differs(const move::MoveOutcome& outcome, const std::string& then) {
  std::string words;
  for (const std::string& difference : outcome.differences) {
    words += (words.empty() ? "" : "; ") + difference;
  }
  return fail(ErrorCode::kConflict, words + ". " + then);
}

// The file under its own name and that of an unfinished move is one, where the program was ended
// between giving it the one and taking the other.
void forget_second_name(const Place& to) {
  if (to.server) return;
  std::error_code ignored;
  const std::string other = to.file.path + ".moving";
  if (std::filesystem::equivalent(to.file.path, other, ignored)) {
    std::filesystem::remove(other, ignored);
  }
}

Result<ExitCode> compare(move::Source& source, const Place& from, const Place& to,
                         const MoveOptions& options, Context& context) {
  const auto target = open_source(to);
  if (!target) return std::unexpected(target.error());
  const auto outcome = [&] {
    Teller teller(context.console);
    return move::compare_ledgers(source, **target, [&](const auto& p) { teller.hear(p); });
  }();
  if (!outcome) return std::unexpected(outcome.error());
  print_tables({table_of(*outcome, from, to)}, options.table, context);
  if (!outcome->differences.empty()) {
    return differs(*outcome, to.name() +
                                 " is a ledger already, and says something else; name "
                                 "another place, or remove it");
  }
  context.console.say(
      fmt::format("{} is a ledger already, and the same to the last digit", to.name()));
  return ExitCode::kDone;
}

Result<ExitCode> copy(move::Source& source, const Place& from, const Place& to,
                      const MoveOptions& options, Context& context) {
  const auto target = open_target(to);
  if (!target) return std::unexpected(target.error());
  const auto outcome = [&] {
    Teller teller(context.console);
    return move::move_ledger(source, **target, [&](const auto& p) { teller.hear(p); });
  }();
  if (!outcome) return std::unexpected(outcome.error());
  if (outcome->was_whole) return compare(source, from, to, options, context);
  print_tables({table_of(*outcome, from, to)}, options.table, context);
  if (!outcome->differences.empty()) {
    return differs(*outcome, "What was copied is not what was read, so " + to.name() +
                                 " is no ledger; remove it, and begin anew");
  }
  context.console.say(
      fmt::format("{} is now the ledger that {} is: {} rows, compared to the last digit", to.name(),
                  from.name(), format_count(rows_in_all(*outcome), Thousands::kSeparated)));
  return ExitCode::kDone;
}

Result<ExitCode> run(const MoveOptions& options, Context& context) {
  const auto from = place_of(options.from, context), to = place_of(options.to, context);
  if (!from) return std::unexpected(from.error().during("--from"));
  if (!to) return std::unexpected(to.error().during("--to"));
  if (from->server.has_value() == to->server.has_value()) {
    return wrong_usage(from->server ? "one of the two is a file: move it to a file first"
                                    : "one of the two is a clickhouse:// address; copy a file, or "
                                      "use 'pennyweight backup'");
  }
  const auto source = open_source(*from);
  if (!source) return std::unexpected(source.error());
  const auto there = is_ledger(*to);
  if (!there) return std::unexpected(there.error());
  if (!*there) return copy(**source, *from, *to, options, context);
  auto compared = compare(**source, *from, *to, options, context);
  if (compared) forget_second_name(*to);
  return compared;
}

}  // namespace

Verb declare_move(CLI::App& app) {
  const auto options = std::make_shared<MoveOptions>();
  CLI::App* command = app.add_subcommand(
      "move", "Copy a whole ledger from a file to ClickHouse or back, and prove it to be the same");
  command->add_option("--from", options->from, "The ledger: a file or a clickhouse:// address")
      ->required();
  command
      ->add_option("--to", options->to,
                   "Where it goes, the other of the two; what was broken off goes on")
      ->required();
  command->add_option("--format", options->table.format, "Of what was compared")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
  command->footer(examples_of("move"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
