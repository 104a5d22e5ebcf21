#include "store/clickhouse/import_settling.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/limits.h"
#include "ledger/keeping.h"
#include "store/clickhouse/books.h"
#include "store/clickhouse/settle.h"
#include "store/clickhouse/staged_part.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::quoted;

constexpr std::size_t kConflictRowsShown = 100;
// So many fingerprints stand in one statement, which stays below ClickHouse's limits for its text.
constexpr std::size_t kListedMax = 2'000;
// Of a part, so many rows are asked for by their fingerprints; more than that, and the whole part
// is read.
constexpr std::size_t kAskedByNameMax = 10 * kListedMax;

template <class Visit>
Result<void> each_block(ClickhouseDatabase& database, const std::string& sql, const Visit& visit) {
  const ClickhouseDatabase::Loan client = database.lend();
  return client->query(sql, visit, database.reading());
}

// "column IN (…)"
std::string is_one_of(const char* column, std::span<const Hash128> hashes) {
  std::string text;
  for (const Hash128& hash : hashes) text += (text.empty() ? "" : ", ") + quoted(hash);
  return fmt::format("{} IN ({})", column, text);
}

// Calls visit(some) with at most kListedMax of the values after another.
template <class Value, class Visit>
Result<void> in_lists(std::span<const Value> values, const Visit& visit) {
  for (std::size_t begin = 0; begin < values.size(); begin += kListedMax) {
    const auto some = values.subspan(begin, std::min(kListedMax, values.size() - begin));
    if (Result<void> done = visit(some); !done) return done;
  }
  return {};
}

// "table PREWHERE column IN (…) WHERE …" of "table WHERE …": only for these rows the engine then
// reads the other columns.
std::string narrowed(std::string from, const std::string& condition) {
  const std::size_t where = from.find(" WHERE ");
  CHECK(where != std::string::npos, "rows are told apart by their session");
  return from.insert(where, " PREWHERE " + condition);
}

std::unexpected<Error> rows_moved(const char* table) {
  return fail(ErrorCode::kStore, fmt::format("the table {} does not give back the rows that were "
                                             "sent to it, so nothing was committed; do it again",
                                             table));
}

// The fingerprint by which facts meet: of charges the natural key, of others their id.
template <class Fact>
constexpr const char* key_column() {
  return std::is_same_v<Fact, Charge> ? "natural_key" : Table<Fact>::kId;
}

// A conflict on its way to words: what was kept aside, and what is kept.
struct KeyedConflict {
  StagedRow here;
  std::optional<StagedRow> there;  // of the same import; nothing: the ledger's
};
struct LineConflict {
  FactId id, left_out;
  StagedRow here;
};

class Settling {
 public:
  Settling(ClickhouseDatabase& database, const Snapshot& ledger, const Delivery& delivery,
           const std::function<Result<void>()>& between)
      : database_(database),
        ledger_(ledger),
        delivery_(delivery),
        between_(between),
        conflicts_max_(std::max<std::uint64_t>(
            kConflictRowsShown,
            limits::kRejectedRowsKeptMax - std::min<std::uint64_t>(limits::kRejectedRowsKeptMax,
                                                                   delivery.rejected_rows_kept))) {}

  Result<Settlement> settle();

 private:
  bool adds() const {
    const DeliveryStyle style = delivery_.source.style;
    return style == DeliveryStyle::kDelta || style == DeliveryStyle::kLedger;
  }
  bool is_closed(const std::string& month) const { return closed_.contains(month); }
  const std::string& booked_month_of(const std::string& month);

  // Conditions.
  template <class Fact>
  std::string of_part(const KeyParts& parts, std::uint64_t part) const;
  template <class Fact>
  std::string of_ledger() const;
  std::string of_delivered_months() const;
  template <class Fact>
  std::string keys_of(const std::string& here) const;

  // Whether all that came is new and comes once.
  Result<bool> all_is_new();
  template <class Fact>
  Result<bool> is_new();
  void count_all_as_new();
  Result<std::uint64_t> count(const std::string& sql) {
    const ClickhouseDatabase::Loan client = database_.lend();
    return count_of(*client, database_, sql);
  }

  template <class Fact>
  Result<void> settle_facts(FactCounts& counts);
  Result<void> settle_charges();
  template <class Fact>
  Result<StagedPart> read_staged(const std::string& here);
  template <class Fact>
  Result<std::vector<LedgerFact>> read_ledger(const std::string& here);
  Result<void> keep_late_aside(const std::string& here, const std::vector<LedgerFact>& ledger,
                               StagedPart& staged);
  template <class Fact>
  Result<void> write(const std::string& here, StagedPart& staged);
  template <class Fact>
  Result<void> write_block(const Block& block, StagedPart& staged, std::uint64_t& written);

  struct Line;
  Result<std::uint64_t> lines_to_settle();
  Result<std::vector<Line>> read_lines(const std::string& here);
  Result<void> retire(const std::vector<Line>& lines, const std::vector<std::size_t>& left_out);
  Result<void> take_back(std::span<const FactId> lines);
  Result<void> add_retired(const FactId& line, const std::optional<FactId>& reversal);

  template <class Fact>
  Result<void> describe(std::span<const KeyedConflict> conflicts);
  Result<void> describe(std::span<const LineConflict> conflicts);
  template <class Fact>
  Result<void> read_facts(const std::string& from, std::map<StagedRow, Fact>& found);
  void add_conflict(RejectedRow row);

  ClickhouseDatabase& database_;
  const Snapshot& ledger_;
  const Delivery& delivery_;
  const std::function<Result<void>()>& between_;
  std::uint64_t conflicts_max_;  // how many are described; all are counted
  std::set<std::string> closed_;
  std::map<std::string, std::string> booked_months_;  // of billing months
  Settlement made_;
  std::optional<Outlet> retired_;
};

const std::string& Settling::booked_month_of(const std::string& month) {
  const auto [found, is_new] = booked_months_.try_emplace(month);
  if (is_new) {
    found->second = open_month_from(month, [&](const std::string& m) { return is_closed(m); });
  }
  return found->second;
}

template <class Fact>
std::string Settling::of_part(const KeyParts& parts, std::uint64_t part) const {
  std::string condition;
  const auto add = [&](const char* comparison, const Hash128& bound) {
    condition += fmt::format(" AND {} {} {}", key_column<Fact>(), comparison, quoted(bound));
  };
  if (part > 0) add(">=", parts.begin(part));
  if (part + 1 < parts.count()) add("<", parts.begin(part + 1));
  return condition;
}

std::string Settling::of_delivered_months() const {
  std::string months;
  for (const auto& [month, lines] : delivery_.months) {
    months += (months.empty() ? "" : ", ") + quoted(month);
  }
  // No line is booked before its billing month, and tables are parted by where lines are booked.
  return fmt::format(" AND billing_month IN ({}) AND booked_month >= {}", months,
                     quoted(delivery_.months.begin()->first));
}

// Where facts of the ledger may be that these can meet.
template <class Fact>
std::string Settling::of_ledger() const {
  if constexpr (std::is_same_v<Fact, Charge>) {
    return of_delivered_months() + " AND takes_back IS NULL";
  } else {
    return delivery_.rows.of<Fact>().reach();
  }
}

// "(SELECT key FROM …)": the keys that came.
template <class Fact>
std::string Settling::keys_of(const std::string& here) const {
  return fmt::format("(SELECT {} FROM {}{})", key_column<Fact>(), delivery_.rows.rows_of<Fact>(),
                     here);
}

template <class Fact>
Result<bool> Settling::is_new() {
  const std::uint64_t rows = delivery_.rows.of<Fact>().rows();
  if (rows == 0) return true;
  const std::string table = Table<Fact>::kName;
  const char* content = std::is_same_v<Fact, Charge> ? "content" : Table<Fact>::kId;
  const KeyParts parts(rows);
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    if (Result<void> go_on = between_(); !go_on) return std::unexpected(go_on.error());
    const std::string here = of_part<Fact>(parts, part);
    const auto repeated = count(fmt::format("SELECT toUInt64(count() - uniqExact({})) FROM {}{}",
                                            content, delivery_.rows.rows_of<Fact>(), here));
    if (!repeated) return std::unexpected(repeated.error());
    if (*repeated > 0) return false;
    const auto known =
        count(fmt::format("SELECT count() FROM {}{}{} AND {} GLOBAL IN {}", ledger_.facts(table),
                          of_ledger<Fact>(), here, key_column<Fact>(), keys_of<Fact>(here)));
    if (!known) return std::unexpected(known.error());
    if (*known > 0) return false;
  }
  return true;
}

Result<bool> Settling::all_is_new() {
  const ImportRows& rows = delivery_.rows;
  if (made_.outcome.known_file && rows.of<Charge>().rows() > 0) return false;
  // A correction of a closed month can't be made.
  if (!closed_.empty() && rows.of<Correction>().rows() > 0) return false;
  for (const auto& [month, lines] : delivery_.months) {
    if (booked_month_of(month) != lines.booked) return false;
  }
  if (!delivery_.scopes.empty()) {
    const auto there = count(fmt::format("SELECT count() FROM {}{}",
                                         ledger_.facts(Table<Charge>::kName), of_ledger<Charge>()));
    if (!there) return std::unexpected(there.error());
    if (*there > 0) return false;
  }
  Result<bool> all = is_new<Charge>();
  if (all && *all) all = is_new<Holding>();
  if (all && *all) all = is_new<Node>();
  if (all && *all) all = is_new<Gpu>();
  if (all && *all) all = is_new<Usage>();
  if (all && *all) all = is_new<Outage>();
  if (all && *all) all = is_new<Correction>();
  if (all && *all) all = is_new<Outcome>();
  return all;
}

void Settling::count_all_as_new() {
  ImportOutcome& outcome = made_.outcome;
  const ImportRows& rows = delivery_.rows;
  outcome.charges.created = rows.of<Charge>().rows();
  outcome.holdings.created = rows.of<Holding>().rows();
  outcome.nodes.created = rows.of<Node>().rows();
  outcome.gpus.created = rows.of<Gpu>().rows();
  outcome.usages.created = rows.of<Usage>().rows();
  outcome.outages.created = rows.of<Outage>().rows();
  outcome.corrections.created = rows.of<Correction>().rows();
  outcome.outcomes.created = rows.of<Outcome>().rows();
  for (const auto& [month, lines] : delivery_.months) {
    if (lines.booked != month) outcome.restated.late += lines.lines;
  }
}

template <class Fact>
Result<StagedPart> Settling::read_staged(const std::string& here) {
  StagedPart staged;
  const auto read =
      each_block(database_,
                 fmt::format("SELECT {}, content, source_line FROM {}{}", key_column<Fact>(),
                             delivery_.rows.rows_of<Fact>(), here),
                 [&](const Block& block) -> Result<bool> {
                   const auto &keys = block.columns[0], &contents = block.columns[1];
                   const auto& lines = block.columns[2];
                   for (std::uint64_t row = 0; row < block.rows; ++row) {
                     staged.add({keys.hash(row), contents.hash(row), lines.uint64(row)});
                   }
                   return true;
                 });
  if (!read) return std::unexpected(read.error());
  staged.sort();
  return staged;
}

template <class Fact>
Result<std::vector<LedgerFact>> Settling::read_ledger(const std::string& here) {
  std::vector<LedgerFact> found;
  const auto read = each_block(
      database_,
      fmt::format("SELECT {0}, content FROM {1}{2}{3} AND {0} GLOBAL IN {4}", key_column<Fact>(),
                  ledger_.facts(Table<Fact>::kName), of_ledger<Fact>(), here, keys_of<Fact>(here)),
      [&](const Block& block) -> Result<bool> {
        const auto &ids = block.columns[0], &contents = block.columns[1];
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          found.push_back({ids.hash(row), contents.hash(row)});
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  std::ranges::sort(found, {}, &LedgerFact::id);
  return found;
}

// The facts of a block whose columns are those of clickhouse_fact_columns, then the natural key of
// charges, then the content; and what tells each apart.
template <class Fact>
Result<std::vector<std::pair<StagedRow, Fact>>> rows_and_facts(const Block& block,
                                                               const ImportNumbers& numbers) {
  Result<std::vector<Fact>> facts = facts_of<Fact>(block, numbers);
  if (!facts) return std::unexpected(std::move(facts.error()));
  const std::size_t last = block.columns.size() - 1;
  std::vector<std::pair<StagedRow, Fact>> found;
  found.reserve(facts->size());
  for (std::size_t row = 0; row < facts->size(); ++row) {
    Fact& fact = (*facts)[row];
    const Hash128 key =
        std::is_same_v<Fact, Charge> ? block.columns[last - 1].hash(row) : fact.id.hash;
    const StagedRow told = {key, block.columns[last].hash(row), fact.source.line};
    found.emplace_back(told, std::move(fact));
  }
  return found;
}
template <class Fact>
std::string rows_and_facts_columns() {
  return clickhouse_fact_columns<Fact>() +
         (std::is_same_v<Fact, Charge> ? ", natural_key, content" : ", content");
}

// Takes new corrections of closed months out of what is judged.
Result<void> Settling::keep_late_aside(const std::string& here,
                                       const std::vector<LedgerFact>& ledger, StagedPart& staged) {
  if (closed_.empty()) return {};
  std::vector<std::pair<std::uint64_t, RejectedRow>> late;
  StagedPart rest;
  const auto read = each_block(
      database_,
      fmt::format("SELECT {} FROM {}{}", rows_and_facts_columns<Correction>(),
                  delivery_.rows.rows_of<Correction>(), here),
      [&](const Block& block) -> Result<bool> {
        const auto facts = rows_and_facts<Correction>(block, ledger_.numbers());
        if (!facts) return std::unexpected(facts.error());
        for (const auto& [row, correction] : *facts) {
          const auto month =
              closed_month_of(correction, [&](const std::string& m) { return is_closed(m); });
          if (!month || std::ranges::binary_search(ledger, row.key, {}, &LedgerFact::id)) {
            rest.add(row);
          } else {
            late.emplace_back(row.line,
                              late_correction_row(delivery_.source.name, correction, *month));
          }
        }
        return true;
      });
  if (!read) return read;
  if (rest.rows().size() + late.size() != staged.rows().size()) return rows_moved("corrections");
  rest.sort();
  staged = std::move(rest);
  std::ranges::sort(late, {},
                    [](const auto& row) { return std::tie(row.first, row.second.reason); });
  for (auto& [line, row] : late) {
    ++made_.rejected_count;
    made_.rejected.push_back(std::move(row));
  }
  return {};
}

template <class Fact>
Result<void> Settling::write_block(const Block& block, StagedPart& staged, std::uint64_t& written) {
  auto read = rows_and_facts<Fact>(block, ledger_.numbers());
  if (!read) return std::unexpected(read.error());
  std::vector<const Fact*> facts;
  std::vector<ClickhouseFactKeys> keys;
  for (const auto& [row, fact] : *read) {
    std::optional<std::uint64_t> ordinal;
    if (!staged.take(row, ordinal)) continue;
    if (!ordinal) continue;
    facts.push_back(&fact);
    if constexpr (std::is_same_v<Fact, Charge>) {
      const std::string month = month_of(fact.billing_period.begin());
      const std::string& booked = booked_month_of(month);
      if (booked != month) ++made_.outcome.restated.late;
      keys.push_back({.id = numbered(row.content, *ordinal).hash,
                      .second = row.key,
                      .content = row.content,
                      .booked_month = booked,
                      .ordinal = *ordinal});
    } else {
      keys.push_back({.id = row.key, .second = row.content});
    }
  }
  written += facts.size();
  return made_.instead->of<Fact>().add(facts, keys);
}

// Writes what is kept of a part.
template <class Fact>
Result<void> Settling::write(const std::string& here, StagedPart& staged) {
  if (staged.kept() == 0) return {};
  std::uint64_t written = 0;
  const auto copy = [&](const std::string& from) {
    return each_block(
        database_, fmt::format("SELECT {} FROM {}{}", rows_and_facts_columns<Fact>(), from, here),
        [&](const Block& block) -> Result<bool> {
          if (auto done = write_block<Fact>(block, staged, written); !done) {
            return std::unexpected(done.error());
          }
          return true;
        });
  };
  const std::string from = delivery_.rows.rows_of<Fact>();
  Result<void> done = {};
  if (staged.kept() <= kAskedByNameMax && staged.kept() * 10 <= staged.rows().size()) {
    std::vector<Hash128> contents;
    for (const std::size_t row : staged.kept_rows()) contents.push_back(staged.rows()[row].content);
    std::ranges::sort(contents);
    const auto rest = std::ranges::unique(contents);
    contents.erase(rest.begin(), rest.end());
    done = in_lists(std::span<const Hash128>(contents), [&](std::span<const Hash128> some) {
      return copy(narrowed(from, is_one_of("content", some)));
    });
  } else {
    done = copy(from);
  }
  if (done && written != staged.kept()) return rows_moved(Table<Fact>::kName);
  return done;
}

template <class Fact>
Result<void> Settling::settle_facts(FactCounts& counts) {
  const std::uint64_t rows = delivery_.rows.of<Fact>().rows();
  if (rows == 0) return {};
  const KeyParts parts(rows);
  std::vector<KeyedConflict> conflicts;
  std::uint64_t seen = 0;
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    if (Result<void> go_on = between_(); !go_on) return go_on;
    const std::string here = of_part<Fact>(parts, part);
    Result<StagedPart> staged = read_staged<Fact>(here);
    if (!staged) return std::unexpected(std::move(staged.error()));
    seen += staged->rows().size();
    Result<std::vector<LedgerFact>> ledger = read_ledger<Fact>(here);
    if (!ledger) return std::unexpected(std::move(ledger.error()));
    if constexpr (std::is_same_v<Fact, Correction>) {
      if (Result<void> done = keep_late_aside(here, *ledger, *staged); !done) return done;
    }
    std::vector<StagedFact> facts;
    facts.reserve(staged->rows().size());
    for (const StagedRow& row : staged->rows()) {
      facts.push_back({row.key, row.content, facts.size()});
    }
    const FactVerdict verdict = judge_facts(std::move(facts), std::move(*ledger));
    counts.created += verdict.counts.created;
    counts.existing += verdict.counts.existing;
    counts.conflicts += verdict.counts.conflicts;
    for (const std::uint64_t row : verdict.created) staged->keep(row);
    if (Result<void> done = write<Fact>(here, *staged); !done) return done;
    for (const FactConflict& conflict : verdict.conflicts) {
      if (conflicts.size() == conflicts_max_) break;
      conflicts.push_back(
          {staged->rows()[conflict.row],
           conflict.there_row ? std::optional(staged->rows()[*conflict.there_row]) : std::nullopt});
    }
  }
  if (seen != rows) return rows_moved(Table<Fact>::kName);
  made_.rejected_count += counts.conflicts;
  conflicts_max_ -= conflicts.size();
  return in_lists(std::span<const KeyedConflict>(conflicts),
                  [&](std::span<const KeyedConflict> some) { return describe<Fact>(some); });
}

// A line of the ledger, and what decides whether a delivery replaces it.
struct Settling::Line {
  LedgerCharge charge;
  std::string booked_month, scope;
};

// How many rows the parts of the charges are cut by. Of a replacement those of the ledger count,
// too.
Result<std::uint64_t> Settling::lines_to_settle() {
  const std::uint64_t rows = delivery_.rows.of<Charge>().rows();
  if (delivery_.scopes.empty()) return rows;
  const auto there = count(fmt::format("SELECT count() FROM {}{}",
                                       ledger_.facts(Table<Charge>::kName), of_ledger<Charge>()));
  if (!there) return there;
  return std::max(rows, *there);
}

Result<std::vector<Settling::Line>> Settling::read_lines(const std::string& here) {
  const bool replaces = !delivery_.scopes.empty();
  const std::string part = std::string("\"") + kDeliveryPartColumn + "\":\"";
  const std::string scope = replaces
                                ? fmt::format(
                                      ", booked_month, billing_period_start, billing_account_id, "
                                      "invoice_issuer_name, position(other_columns, {}) > 0, "
                                      "extract(other_columns, {})",
                                      quoted(part), quoted(part + "([^\"]*)\""))
                                : "";
  const std::string which = replaces ? "" : " AND natural_key GLOBAL IN " + keys_of<Charge>(here);
  std::vector<Line> lines;
  Charge told = Table<Charge>::blank();
  const auto read = each_block(
      database_,
      fmt::format("SELECT charge_id, natural_key, content, ordinal, charge_id GLOBAL NOT IN "
                  "(SELECT charge_id FROM {}){} FROM {}{}{}{}",
                  ledger_.facts("retired_charges"), scope, ledger_.facts(Table<Charge>::kName),
                  of_ledger<Charge>(), here, which),
      [&](const Block& block) -> Result<bool> {
        const auto& columns = block.columns;
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          Line& line = lines.emplace_back();
          line.charge = {.id = columns[0].hash(row),
                         .natural_key = columns[1].hash(row),
                         .content = columns[2].hash(row),
                         .ordinal = columns[3].uint64(row),
                         .live = columns[4].boolean(row)};
          if (!replaces) continue;
          line.booked_month = columns[5].text(row);
          const Instant begin = from_unix_ms(columns[6].int64(row));
          told.billing_period = Interval(begin, begin + std::chrono::milliseconds(1));
          told.billing_account_id = columns[7].text(row);
          told.invoice_issuer_name = columns[8].text(row);
          told.other_columns =
              columns[9].boolean(row) ? part + std::string(columns[10].text(row)) + "\"" : "";
          line.scope = delivery_scope(told);
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  return lines;
}

Result<void> Settling::add_retired(const FactId& line, const std::optional<FactId>& reversal) {
  if (!retired_) retired_.emplace(database_, clickhouse_table("retired_charges"));
  clickhouse::BlockWriter& block = retired_->block();
  block.column(0).add_uint64(made_.instead->session());
  block.column(1).add_hash(line.hash);
  reversal ? block.column(2).add_hash(reversal->hash) : block.column(2).add_null();
  ++made_.retired;
  return retired_->added(1);
}

// Lines of closed months are taken back by lines of open ones.
Result<void> Settling::take_back(std::span<const FactId> lines) {
  std::vector<Hash128> ids;
  for (const FactId& line : lines) ids.push_back(line.hash);
  std::vector<Charge> reversals;
  const auto read = each_block(
      database_,
      fmt::format("SELECT {} FROM {}", clickhouse_fact_columns<Charge>(),
                  narrowed(ledger_.facts(Table<Charge>::kName), is_one_of("charge_id", ids))),
      [&](const Block& block) -> Result<bool> {
        const auto originals = facts_of<Charge>(block, ledger_.numbers());
        if (!originals) return std::unexpected(originals.error());
        for (const Charge& line : *originals) {
          reversals.push_back(reversal_of(line, booked_month_of(line.booked_month)));
        }
        return true;
      });
  if (!read) return read;
  if (reversals.size() != lines.size()) return rows_moved(Table<Charge>::kName);
  std::vector<const Charge*> facts;
  std::vector<ClickhouseFactKeys> keys;
  for (const Charge& reversal : reversals) {
    facts.push_back(&reversal);
    keys.push_back({.id = reversal.id.hash,
                    .second = natural_key(reversal),
                    .content = reversal.id.hash,
                    .booked_month = reversal.booked_month,
                    .ordinal = 0,
                    .takes_back = reversal.takes_back->hash});
    if (auto done = add_retired(*reversal.takes_back, reversal.id); !done) return done;
  }
  made_.outcome.restated.reversed += reversals.size();
  return made_.instead->of<Charge>().add(facts, keys);
}

Result<void> Settling::retire(const std::vector<Line>& lines,
                              const std::vector<std::size_t>& left_out) {
  std::vector<FactId> of_closed_months;
  for (const std::size_t index : left_out) {
    const Line& line = lines[index];
    if (!delivery_.scopes.contains(line.scope)) continue;
    if (is_closed(line.booked_month)) {
      of_closed_months.push_back(FactId{line.charge.id});
      continue;
    }
    ++made_.outcome.restated.removed;
    if (auto done = add_retired(FactId{line.charge.id}, std::nullopt); !done) return done;
  }
  return in_lists(std::span<const FactId>(of_closed_months),
                  [&](std::span<const FactId> some) { return take_back(some); });
}

Result<void> Settling::settle_charges() {
  if (delivery_.rows.of<Charge>().rows() == 0 || made_.outcome.known_file) return {};
  const Result<std::uint64_t> rows = lines_to_settle();
  if (!rows) return std::unexpected(rows.error());
  const KeyParts parts(*rows);
  FactCounts& counts = made_.outcome.charges;
  std::vector<LineConflict> conflicts;
  std::uint64_t seen = 0;
  const auto keep_the_first = [&] {
    std::ranges::sort(conflicts, {}, &LineConflict::id);
    if (conflicts.size() > conflicts_max_) conflicts.resize(conflicts_max_);
  };
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    if (Result<void> go_on = between_(); !go_on) return go_on;
    const std::string here = of_part<Charge>(parts, part);
    Result<StagedPart> staged = read_staged<Charge>(here);
    if (!staged) return std::unexpected(std::move(staged.error()));
    seen += staged->rows().size();
    const Result<std::vector<Line>> lines = read_lines(here);
    if (!lines) return std::unexpected(lines.error());
    std::vector<StagedCharge> charges;
    charges.reserve(staged->rows().size());
    for (const StagedRow& row : staged->rows()) {
      charges.push_back({row.key, row.content, charges.size()});
    }
    std::vector<LedgerCharge> ledger;
    ledger.reserve(lines->size());
    for (const Line& line : *lines) ledger.push_back(line.charge);
    const ChargeVerdict verdict = judge_charges(delivery_.source.style, std::move(charges), ledger);
    counts.created += verdict.counts.created;
    counts.existing += verdict.counts.existing;
    counts.repeated += verdict.counts.repeated;
    counts.conflicts += verdict.counts.conflicts;
    for (const CreatedCharge& line : verdict.created) staged->keep(line.row, line.ordinal);
    if (Result<void> done = write<Charge>(here, *staged); !done) return done;
    if (!delivery_.scopes.empty()) {
      if (Result<void> done = retire(*lines, verdict.left_out); !done) return done;
    }
    for (const ChargeConflict& conflict : verdict.conflicts) {
      conflicts.push_back({conflict.id, conflict.left_out, staged->rows()[conflict.row]});
    }
    keep_the_first();
  }
  if (seen != delivery_.rows.of<Charge>().rows()) return rows_moved(Table<Charge>::kName);
  made_.rejected_count += counts.conflicts;
  conflicts_max_ -= conflicts.size();
  return in_lists(std::span<const LineConflict>(conflicts),
                  [&](std::span<const LineConflict> some) { return describe(some); });
}

void Settling::add_conflict(RejectedRow row) {
  auto& shown = made_.outcome.conflict_rows;
  if (shown.size() < kConflictRowsShown) shown.push_back(row);
  made_.rejected.push_back(std::move(row));
}

template <class Fact>
Result<void> Settling::read_facts(const std::string& from, std::map<StagedRow, Fact>& found) {
  return each_block(database_,
                    fmt::format("SELECT {} FROM {}", rows_and_facts_columns<Fact>(), from),
                    [&](const Block& block) -> Result<bool> {
                      auto read = rows_and_facts<Fact>(block, ledger_.numbers());
                      if (!read) return std::unexpected(read.error());
                      for (auto& [row, fact] : *read) found.emplace(row, std::move(fact));
                      return true;
                    });
}

template <class Fact>
Result<void> Settling::describe(std::span<const KeyedConflict> conflicts) {
  std::vector<Hash128> ids;
  for (const KeyedConflict& conflict : conflicts) ids.push_back(conflict.here.key);
  const std::string these = is_one_of(Table<Fact>::kId, ids);
  std::map<StagedRow, Fact> came, there;
  Result<void> read = read_facts<Fact>(narrowed(delivery_.rows.rows_of<Fact>(), these), came);
  if (read) {
    read = read_facts<Fact>(narrowed(ledger_.facts(Table<Fact>::kName), these) + of_ledger<Fact>(),
                            there);
  }
  if (!read) return read;
  for (const KeyedConflict& conflict : conflicts) {
    const auto here = came.find(conflict.here);
    const auto kept = conflict.there ? came.find(*conflict.there)
                                     : there.lower_bound({.key = conflict.here.key, .content = {}});
    if (here == came.end() || kept == (conflict.there ? came.end() : there.end()) ||
        kept->first.key != conflict.here.key) {
      return rows_moved(Table<Fact>::kName);
    }
    add_conflict(conflict_row(delivery_.source.name, here->second.source.line, Table<Fact>::kFact,
                              difference(kept->second, here->second)));
  }
  return {};
}

Result<void> Settling::describe(std::span<const LineConflict> conflicts) {
  std::vector<Hash128> contents, ids;
  for (const LineConflict& conflict : conflicts) {
    contents.push_back(conflict.here.content);
    ids.push_back(conflict.left_out.hash);
  }
  std::map<StagedRow, Charge> came, kept;
  Result<void> read = read_facts<Charge>(
      narrowed(delivery_.rows.rows_of<Charge>(), is_one_of("content", contents)), came);
  if (read) {
    read = read_facts<Charge>(
        narrowed(ledger_.facts(Table<Charge>::kName), is_one_of("charge_id", ids)), kept);
  }
  if (!read) return read;
  std::map<FactId, const Charge*> there;
  for (const auto& [row, line] : kept) there.emplace(line.id, &line);
  for (const LineConflict& conflict : conflicts) {
    const auto here = came.find(conflict.here);
    const auto line = there.find(conflict.left_out);
    if (here == came.end() || line == there.end()) return rows_moved(Table<Charge>::kName);
    add_conflict(conflict_row(delivery_.source.name, here->second.source.line, Table<Charge>::kFact,
                              difference(*line->second, here->second)));
  }
  return {};
}

Result<Settlement> Settling::settle() {
  Result<std::set<std::string>> closed = closed_months(database_, ledger_);
  if (!closed) return std::unexpected(std::move(closed.error()));
  closed_ = std::move(*closed);
  const Result<bool> known = is_known_file(database_, ledger_, delivery_.source);
  if (!known) return std::unexpected(known.error());
  ImportOutcome& outcome = made_.outcome;
  outcome.known_file = *known;
  const Result<bool> all_new = all_is_new();
  if (!all_new) return std::unexpected(all_new.error());
  if (*all_new) {
    count_all_as_new();
    return std::move(made_);
  }
  made_.instead = std::make_unique<ImportRows>(database_);
  Result<void> done = settle_charges();
  if (done) done = settle_facts<Holding>(outcome.holdings);
  if (done) done = settle_facts<Node>(outcome.nodes);
  if (done) done = settle_facts<Gpu>(outcome.gpus);
  if (done) done = settle_facts<Usage>(outcome.usages);
  if (done) done = settle_facts<Outage>(outcome.outages);
  if (done) done = settle_facts<Correction>(outcome.corrections);
  if (done) done = settle_facts<Outcome>(outcome.outcomes);
  if (done && retired_) done = retired_->flush();
  if (done) done = between_();
  if (done) done = made_.instead->finish();
  if (done && made_.retired > 0) {
    done = must_hold(database_, "retired_charges", made_.instead->session(), made_.retired);
  }
  if (!done) return std::unexpected(done.error());
  return std::move(made_);
}

}  // namespace

Result<Settlement> settle_import(ClickhouseDatabase& database, const Snapshot& ledger,
                                 const Delivery& delivery,
                                 const std::function<Result<void>()>& between) {
  return Settling(database, ledger, delivery, between).settle();
}

Result<bool> is_known_file(ClickhouseDatabase& database, const Snapshot& ledger,
                           const ImportSource& source) {
  const bool adds = source.style == DeliveryStyle::kDelta || source.style == DeliveryStyle::kLedger;
  if (!adds || source.file_hash == Hash128{}) return false;
  const ClickhouseDatabase::Loan client = database.lend();
  const auto known = count_of(*client, database,
                              fmt::format("SELECT count() FROM {} AND file_hash = {}",
                                          ledger.facts("imports"), quoted(source.file_hash)));
  if (!known) return std::unexpected(known.error());
  return *known > 0;
}

}  // namespace pennyweight
