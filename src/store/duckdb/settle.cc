#include "store/duckdb/settle.h"

#include "ledger/keeping.h"
#include "store/duckdb/fact_table.h"

namespace pennyweight {
namespace {

// fact_id.h's numbered(), in SQL: the fingerprint with `ordinal` added to its low half, which
// wraps.
constexpr const char* kNumberedId = R"sql(
  CASE WHEN ordinal = 0 THEN content ELSE CAST(
    left(replace(content::VARCHAR, '-', ''), 16) ||
    printf('%016x', ((('0x' || right(replace(content::VARCHAR, '-', ''), 16))::UBIGINT::HUGEINT
                      + ordinal) % 18446744073709551616)::UBIGINT)
    AS UUID) END)sql";

// Two lists of facts, side by side: what is there, and what came.
template <class Fact>
Result<std::vector<RejectedRow>> describe(duckdb::Connection& connection, const SettleOrder& order,
                                          const std::string& select_there,
                                          const std::string& select_here) {
  const std::string limit = " LIMIT " + std::to_string(order.conflict_rows_max);
  Result<std::vector<Fact>> there = all_facts<Fact>(connection.query(select_there + limit));
  if (!there) return std::unexpected(std::move(there.error()));
  Result<std::vector<Fact>> here = all_facts<Fact>(connection.query(select_here + limit));
  if (!here) return std::unexpected(std::move(here.error()));
  CHECK(there->size() == here->size(), "every conflict has two sides");
  std::vector<RejectedRow> rows;
  for (std::size_t i = 0; i < here->size(); ++i) {
    const Fact& fact = (*here)[i];
    rows.push_back(conflict_row(order.file, fact.source.line, Table<Fact>::kFact,
                                difference((*there)[i], fact)));
  }
  return rows;
}

// The parts in which staged facts are judged: equal ranges of their keys.
class Parts {
 public:
  explicit Parts(std::uint64_t staged_rows) : count_(staged_rows / kSettledTogether + 1) {}
  std::uint64_t count() const { return count_; }

  // "column >= '…' AND column < '…'" for the part; keys are fingerprints, so parts are even.
  std::string holds(const std::string& column, std::uint64_t part) const {
    std::string condition = column + " >= '" + bound(part) + "'::UUID";
    if (part + 1 < count_) condition += " AND " + column + " < '" + bound(part + 1) + "'::UUID";
    return condition;
  }

 private:
  std::string bound(std::uint64_t part) const {
    const UInt128 whole = UInt128{1} << 64;
    const auto high = static_cast<std::uint64_t>(whole * part / count_);
    const std::string digits = to_text(Hash128{.high = high, .low = 0});
    return digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-" + digits.substr(12, 4) + "-" +
           digits.substr(16, 4) + "-" + digits.substr(20);
  }
  std::uint64_t count_;
};

// Judges part after part and adds up what became of them.
template <class JudgePart>
Result<Settled> settle_in_parts(const SettleOrder& order, const JudgePart& judge_part) {
  const Parts parts(order.staged_rows);
  Settled all;
  SettleOrder rest = order;
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    Result<Settled> settled = judge_part(rest, parts, part);
    if (!settled) return settled;
    all.counts.created += settled->counts.created;
    all.counts.existing += settled->counts.existing;
    all.counts.repeated += settled->counts.repeated;
    all.counts.conflicts += settled->counts.conflicts;
    rest.conflict_rows_max -= settled->conflict_rows.size();
    for (RejectedRow& row : settled->conflict_rows) all.conflict_rows.push_back(std::move(row));
  }
  return all;
}

}  // namespace

template <class Fact>
std::string staged_table() {
  return std::string("staged_") + Table<Fact>::kName;
}
template std::string staged_table<Charge>();
template std::string staged_table<Holding>();
template std::string staged_table<Node>();
template std::string staged_table<Gpu>();
template std::string staged_table<Usage>();
template std::string staged_table<Outage>();
template std::string staged_table<Correction>();

namespace {

Result<Settled> settle_charges_of(duckdb::Connection& connection, const SettleOrder& order,
                                  const Parts& parts, std::uint64_t part) {
  const std::string import = std::to_string(order.import);
  const std::string staged_here = parts.holds("s.natural_key", part);
  const std::string ledger_here = parts.holds("c.natural_key", part);
  // A staged line's charge_id is still its content. The first of several identical lines may have
  // gone straight into the table; it has ordinal 0, then.
  const Result<void> judged = connection.execute(
      "CREATE OR REPLACE TEMP TABLE charge_verdicts AS "
      "WITH numbered AS (SELECT s.rowid AS staged_row, s.natural_key, s.charge_id AS content, "
      "row_number() OVER (PARTITION BY s.charge_id ORDER BY s.rowid) - 1 + "
      "CASE WHEN d.charge_id IS NULL THEN 0 ELSE 1 END AS ordinal "
      "FROM staged_charges s LEFT JOIN (SELECT c.charge_id FROM charges c WHERE import_number = " +
      import + " AND " + ledger_here +
      " AND c.charge_id IN (SELECT s.charge_id FROM staged_charges s WHERE " + staged_here +
      ")) d USING (charge_id) WHERE " + staged_here +
      "), "
      "named AS (SELECT staged_row, natural_key, ordinal, " +
      kNumberedId +
      " AS charge_id FROM numbered) "
      "SELECT n.*, c.charge_id IS NOT NULL AS existing FROM named n LEFT JOIN "
      "(SELECT c.charge_id FROM charges c WHERE " +
      ledger_here +
      " AND c.charge_id IN (SELECT charge_id FROM named)) c ON c.charge_id = n.charge_id; "
      // A key conflicts when the delivery brings a line that the ledger lacks and lacks one that
      // the ledger has.
      "CREATE OR REPLACE TEMP TABLE conflicting_keys AS "
      "SELECT c.natural_key, min(c.charge_id) AS left_out FROM charges c "
      "WHERE c.import_number <> " +
      import + " AND " + ledger_here +
      " AND c.natural_key IN (SELECT natural_key FROM charge_verdicts WHERE NOT existing) "
      "AND c.charge_id NOT IN (SELECT charge_id FROM charge_verdicts WHERE existing) "
      "GROUP BY c.natural_key");
  if (!judged) return std::unexpected(judged.error());
  const Result<std::uint64_t> created = connection.change(
      "INSERT INTO charges SELECT v.charge_id, s.* EXCLUDE (charge_id) "
      "FROM staged_charges s JOIN charge_verdicts v ON v.staged_row = s.rowid "
      "WHERE NOT v.existing AND v.natural_key NOT IN (SELECT natural_key FROM conflicting_keys)");
  if (!created) return std::unexpected(created.error());
  const Result<std::array<std::uint64_t, 3>> counts = counts_of<3>(connection.query(
      "SELECT (count(*) FILTER (existing))::UBIGINT, (count(*) FILTER (ordinal > 0))::UBIGINT, "
      "(count(*) FILTER (NOT existing AND "
      "natural_key IN (SELECT natural_key FROM conflicting_keys)))::UBIGINT FROM charge_verdicts"));
  if (!counts) return std::unexpected(counts.error());
  Settled settled;
  settled.counts = {*created, (*counts)[0], (*counts)[1], (*counts)[2]};
  if (settled.counts.conflicts > 0) {
    const std::string conflicts =
        " FROM charge_verdicts v JOIN conflicting_keys k USING (natural_key) ";
    const std::string rest = " WHERE NOT v.existing ORDER BY v.charge_id";
    Result<std::vector<RejectedRow>> rows =
        describe<Charge>(connection, order,
                         "SELECT " + fact_columns<Charge>("c.") + conflicts +
                             "JOIN charges c ON c.charge_id = k.left_out" + rest,
                         "SELECT " + fact_columns<Charge>("s.") + conflicts +
                             "JOIN staged_charges s ON s.rowid = v.staged_row" + rest);
    if (!rows) return std::unexpected(std::move(rows.error()));
    settled.conflict_rows = std::move(*rows);
  }
  return settled;
}

}  // namespace

Result<Settled> settle_charges(duckdb::Connection& connection, const SettleOrder& order) {
  return settle_in_parts(order,
                         [&](const SettleOrder& rest, const Parts& parts, std::uint64_t part) {
                           return settle_charges_of(connection, rest, parts, part);
                         });
}

namespace {

template <class Fact>
Result<Settled> settle_keyed_of(duckdb::Connection& connection, const SettleOrder& order,
                                const Parts& parts, std::uint64_t part) {
  const std::string table = Table<Fact>::kName, id = Table<Fact>::kId;
  const std::string staged = staged_table<Fact>(), verdicts = table + "_verdicts";
  const Result<void> judged = connection.execute(
      "CREATE OR REPLACE TEMP TABLE " + verdicts + " AS SELECT s.rowid AS staged_row, s." + id +
      " AS id, s.content, "
      "coalesce(l.content, min(s.content) OVER (PARTITION BY s." +
      id +
      ")) AS kept, "
      "l.content IS NULL AND row_number() OVER (PARTITION BY s." +
      id +
      " ORDER BY s.content, s.rowid) = 1 AS created "
      "FROM " +
      staged + " s LEFT JOIN (SELECT l." + id + ", l.content FROM " + table + " l WHERE " +
      parts.holds("l." + id, part) + ") l ON l." + id + " = s." + id + " WHERE " +
      parts.holds("s." + id, part));
  if (!judged) return std::unexpected(judged.error());
  const Result<std::uint64_t> created =
      connection.change("INSERT INTO " + table + " SELECT s.* FROM " + staged + " s JOIN " +
                        verdicts + " v ON v.staged_row = s.rowid WHERE v.created");
  if (!created) return std::unexpected(created.error());
  const Result<std::array<std::uint64_t, 2>> counts = counts_of<2>(
      connection.query("SELECT (count(*) FILTER (content = kept AND NOT created))::UBIGINT, "
                       "(count(*) FILTER (content <> kept))::UBIGINT FROM " +
                       verdicts));
  if (!counts) return std::unexpected(counts.error());
  Settled settled;
  settled.counts = {*created, (*counts)[0], 0, (*counts)[1]};
  if (settled.counts.conflicts > 0) {
    const std::string rest = " WHERE v.content <> v.kept ORDER BY v.id, v.content, v.staged_row";
    Result<std::vector<RejectedRow>> rows =
        describe<Fact>(connection, order,
                       "SELECT " + fact_columns<Fact>("l.") + " FROM " + verdicts + " v JOIN " +
                           table + " l ON l." + id + " = v.id" + rest,
                       "SELECT " + fact_columns<Fact>("s.") + " FROM " + verdicts + " v JOIN " +
                           staged + " s ON s.rowid = v.staged_row" + rest);
    if (!rows) return std::unexpected(std::move(rows.error()));
    settled.conflict_rows = std::move(*rows);
  }
  return settled;
}
}  // namespace

template <class Fact>
Result<Settled> settle_keyed(duckdb::Connection& connection, const SettleOrder& order) {
  return settle_in_parts(order,
                         [&](const SettleOrder& rest, const Parts& parts, std::uint64_t part) {
                           return settle_keyed_of<Fact>(connection, rest, parts, part);
                         });
}
template Result<Settled> settle_keyed<Holding>(duckdb::Connection&, const SettleOrder&);
template Result<Settled> settle_keyed<Node>(duckdb::Connection&, const SettleOrder&);
template Result<Settled> settle_keyed<Gpu>(duckdb::Connection&, const SettleOrder&);
template Result<Settled> settle_keyed<Usage>(duckdb::Connection&, const SettleOrder&);
template Result<Settled> settle_keyed<Outage>(duckdb::Connection&, const SettleOrder&);
template Result<Settled> settle_keyed<Correction>(duckdb::Connection&, const SettleOrder&);

}  // namespace pennyweight
