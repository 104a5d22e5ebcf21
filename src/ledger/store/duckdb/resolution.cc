#include "ledger/store/duckdb/resolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/duckdb/appender.h"
#include "core/try.h"
#include "ledger/account_in_scope.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store_rules.h"

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

// Two lists of facts: what the ledger has, and what was delivered.
template <class Fact>
Result<std::vector<RejectedRow>> describe(duckdb::Connection& connection,
                                          const ResolutionRequest& order,
                                          const std::string& select_there,
                                          const std::string& select_here) {
  const std::string limit = " LIMIT " + std::to_string(order.conflict_rows_max);
  std::vector<Fact> there = TRY(all_facts<Fact>(connection.query(select_there + limit)));
  std::vector<Fact> here = TRY(all_facts<Fact>(connection.query(select_here + limit)));
  CHECK(there.size() == here.size(), "every conflict has two sides");
  std::vector<RejectedRow> rows;
  for (std::size_t i = 0; i < here.size(); ++i) {
    const Fact& fact = here[i];
    rows.push_back(
        conflict_row(order.file, fact.source.line, Table<Fact>::kFact, difference(there[i], fact)));
  }
  return rows;
}

// The ranges of keys in which staged facts are resolved, of equal size.
class Parts {
 public:
  explicit Parts(std::uint64_t staged_rows) : count_(staged_rows / kRowsPerKeyRange + 1) {}
  std::uint64_t count() const { return count_; }

  // "column >= '…' AND column < '…'" for the range; keys are fingerprints, so ranges hold about
  // equally many.
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

// Resolves range after range, and adds up the results.
template <class JudgePart>
Result<Resolution> resolve_by_key_range(const ResolutionRequest& order,
                                        const JudgePart& judge_part) {
  const Parts parts(order.staged_rows);
  Resolution all;
  ResolutionRequest rest = order;
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    Result<Resolution> resolved = judge_part(rest, parts, part);
    if (!resolved) return resolved;
    all.counts.created += resolved->counts.created;
    all.counts.existing += resolved->counts.existing;
    all.counts.repeated += resolved->counts.repeated;
    all.counts.conflicts += resolved->counts.conflicts;
    all.late += resolved->late;
    rest.conflict_rows_max -= resolved->conflict_rows.size();
    for (RejectedRow& row : resolved->conflict_rows) all.conflict_rows.push_back(std::move(row));
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
template std::string staged_table<Outcome>();

namespace {

Result<Resolution> resolve_charge_range(duckdb::Connection& connection,
                                        const ResolutionRequest& order, const Parts& parts,
                                        std::uint64_t part) {
  const std::string import = std::to_string(order.import);
  const std::string staged_here = parts.holds("s.natural_key", part);
  const std::string ledger_here = parts.holds("c.natural_key", part);
  // A staged line's charge_id is still its content hash. The first of several identical lines may
  // have gone straight into the table; its ordinal is then 0. `delivered` counts identical lines in
  // order of arrival. As many as the ledger has live exist already; the others continue the
  // numbering.
  TRY(connection.execute(
      "CREATE OR REPLACE TEMP TABLE charge_verdicts AS "
      "WITH mine AS (SELECT s.rowid AS staged_row, s.natural_key, s.charge_id AS content, "
      "row_number() OVER (PARTITION BY s.charge_id ORDER BY s.rowid) - 1 AS delivered "
      "FROM staged_charges s WHERE " +
      staged_here +
      "), there AS (SELECT c.content, count(*) AS ever, "
      "count(*) FILTER (c.import_number = " +
      import + ") AS direct, count(*) FILTER (c.import_number <> " + import +
      " AND c.charge_id NOT IN (SELECT charge_id FROM retired_charges)) AS live "
      "FROM charges c WHERE c.takes_back IS NULL AND " +
      ledger_here +
      " AND c.content IN (SELECT content FROM mine) GROUP BY c.content), "
      "counted AS (SELECT m.*, coalesce(t.ever, 0) AS ever, coalesce(t.direct, 0) AS direct, " +
      (adds_every_line(order.style) ? "0" : "coalesce(t.live, 0)") +
      " AS live FROM mine m LEFT JOIN there t USING (content)), "
      "numbered AS (SELECT staged_row, natural_key, content, delivered + direct > 0 AS repeated, "
      "delivered < live AS existing, greatest(ever + delivered - live, 0) AS ordinal FROM counted) "
      "SELECT *, " +
      kNumberedId +
      " AS charge_id FROM numbered; "
      "CREATE OR REPLACE TEMP TABLE conflicting_keys (natural_key UUID, left_out UUID)"));
  if (order.style == DeliveryStyle::kGuarded) {
    // A key conflicts if the delivery brings a line that the ledger lacks, and lacks a line that
    // the ledger has.
    TRY(connection.execute(
        "INSERT INTO conflicting_keys WITH there AS (SELECT c.charge_id, c.natural_key, c.content, "
        "row_number() OVER (PARTITION BY c.content ORDER BY c.ordinal) - 1 AS place "
        "FROM charges c WHERE c.import_number <> " +
        import + " AND c.takes_back IS NULL AND " + ledger_here +
        " AND c.natural_key IN (SELECT natural_key FROM charge_verdicts WHERE NOT existing) "
        "AND c.charge_id NOT IN (SELECT charge_id FROM retired_charges)), "
        "here AS (SELECT content, count(*) AS delivered FROM charge_verdicts GROUP BY content) "
        "SELECT natural_key, min(charge_id) FROM there LEFT JOIN here USING (content) "
        "WHERE place >= coalesce(delivered, 0) GROUP BY natural_key"));
  }
  const std::uint64_t created = TRY(connection.change(
      "INSERT INTO charges SELECT v.charge_id, s.* EXCLUDE (charge_id) REPLACE (v.ordinal AS "
      "ordinal) FROM staged_charges s JOIN charge_verdicts v ON v.staged_row = s.rowid "
      "WHERE NOT v.existing AND v.natural_key NOT IN (SELECT natural_key FROM conflicting_keys)"));
  const std::array<std::uint64_t, 4> counts = TRY(counts_of<4>(connection.query(
      "SELECT (count(*) FILTER (existing))::UBIGINT, (count(*) FILTER (repeated))::UBIGINT, "
      "(count(*) FILTER (NOT existing AND "
      "v.natural_key IN (SELECT natural_key FROM conflicting_keys)))::UBIGINT, "
      "(count(*) FILTER (NOT existing AND v.natural_key NOT IN (SELECT natural_key FROM "
      "conflicting_keys) AND s.booked_month <> s.billing_month))::UBIGINT "
      "FROM charge_verdicts v JOIN staged_charges s ON s.rowid = v.staged_row")));
  Resolution resolved;
  resolved.counts = {created, counts[0], counts[1], counts[2]};
  resolved.late = counts[3];
  if (resolved.counts.conflicts > 0) {
    const std::string conflicts =
        " FROM charge_verdicts v JOIN conflicting_keys k USING (natural_key) ";
    const std::string rest = " WHERE NOT v.existing ORDER BY v.charge_id";
    std::vector<RejectedRow> rows =
        TRY(describe<Charge>(connection, order,
                             "SELECT " + fact_columns<Charge>("c.") + conflicts +
                                 "JOIN charges c ON c.charge_id = k.left_out" + rest,
                             "SELECT " + fact_columns<Charge>("s.") + conflicts +
                                 "JOIN staged_charges s ON s.rowid = v.staged_row" + rest));
    resolved.conflict_rows = std::move(rows);
  }
  return resolved;
}

}  // namespace

Result<Resolution> resolve_charges(duckdb::Connection& connection, const ResolutionRequest& order) {
  return resolve_by_key_range(
      order, [&](const ResolutionRequest& rest, const Parts& parts, std::uint64_t part) {
        return resolve_charge_range(connection, rest, parts, part);
      });
}

namespace {

// core/ascii.h's lower_case(), in SQL, whose lower() changes other letters too.
std::string ascii_lower_case(const std::string& column) {
  return fmt::format("translate({}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')",
                     column);
}

// ledger/delivery.h's cloud_of(), in SQL.
std::string cloud_in_sql(const std::string& prefix) {
  std::string cloud = "CASE";
  for (const char* name : {"invoice_issuer_name", "service_provider_name"}) {
    for (const CloudName& known : kCloudNames) {
      cloud += fmt::format(" WHEN starts_with({}, '{}') THEN '{}'", ascii_lower_case(prefix + name),
                           known.begins, known.cloud);
    }
  }
  return cloud + " ELSE '' END";
}

// ledger/delivery.h's delivery_scope(), in SQL.
std::string scope_of(const std::string& prefix) {
  const std::string cloud = cloud_in_sql(prefix);
  const auto account = [&](std::string_view column) {
    const std::string text = prefix + std::string(column);
    return fmt::format("CASE {} WHEN '{}' THEN {} ELSE {} END", cloud, kAzureCloud,
                       ascii_lower_case(text), text);
  };
  std::string scope = fmt::format(
      "{0}billing_month || CASE {0}billing_account_id WHEN '' THEN ' issuer ' || "
      "{0}invoice_issuer_name ELSE ' account ' || {1} END || CASE {0}sub_account_id WHEN '' THEN "
      "'' ELSE ' sub ' || {2} END || CASE {3} WHEN '' THEN '' ELSE ' of ' || {3} END",
      prefix, account("billing_account_id"), account("sub_account_id"), cloud);
  for (const ScopeColumn& column : kScopeColumns) {
    const std::string key = fmt::format("\"{}\":\"", column.name);
    const std::string text =
        "regexp_extract(" + prefix + "other_columns, '" + key + "([^\"]*)\"', 1)";
    scope += fmt::format(
        " || CASE WHEN contains({0}other_columns, '{1}') AND {2} <> '' THEN ' {3} ' || {2} ELSE '' "
        "END",
        prefix, key, text, column.title);
  }
  return scope;
}

// The scopes of the delivery, in the temporary table delivered_scopes; their number.
Result<std::uint64_t> list_delivered_scopes(duckdb::Connection& connection,
                                            const ReplacementRequest& order) {
  const std::string staged =
      order.staged_rows > 0 ? " UNION SELECT " + scope_of("") + " FROM " + staged_table<Charge>()
                            : "";
  TRY(connection.execute("CREATE OR REPLACE TEMP TABLE delivered_scopes AS SELECT " + scope_of("") +
                         " AS scope FROM charges WHERE takes_back IS NULL AND import_number = " +
                         std::to_string(order.import) + staged));
  for (const std::string& scope : order.also_replaced) {
    duckdb::Statement insert = TRY(connection.prepare("INSERT INTO delivered_scopes VALUES ($1)"));
    TRY(insert.bind_text(1, scope).execute());
  }
  return count_of(connection.query("SELECT count(*)::UBIGINT FROM delivered_scopes"));
}

// Writes what a replacement leaves out of its scope into the temporary table left_out: live lines
// of other imports of which fewer are delivered. They are numbered, so that they can be read in
// batches.
Result<std::uint64_t> find_left_out(duckdb::Connection& connection,
                                    const ReplacementRequest& order) {
  const std::array<std::uint64_t, 1> live = TRY(counts_of<1>(
      connection.query("SELECT count(*)::UBIGINT FROM charges WHERE import_number <> " +
                       std::to_string(order.import) + " AND " + scope_of("") +
                       " IN (SELECT scope FROM delivered_scopes)")));
  Result<void> made = connection.execute(
      "CREATE OR REPLACE TEMP TABLE left_out (charge_id UUID, booked_month VARCHAR)");
  const Parts parts(std::max(live[0], order.staged_rows));
  for (std::uint64_t part = 0; made && part < parts.count(); ++part) {
    made = connection.execute(
        "INSERT INTO left_out WITH there AS (SELECT c.charge_id, c.booked_month, c.content, "
        "row_number() OVER (PARTITION BY c.content ORDER BY c.ordinal) - 1 AS place "
        "FROM charges c WHERE c.import_number <> " +
        std::to_string(order.import) + " AND c.takes_back IS NULL AND " +
        parts.holds("c.natural_key", part) +
        " AND c.charge_id NOT IN (SELECT charge_id FROM retired_charges) "
        "AND " +
        scope_of("c.") +
        " IN (SELECT scope FROM delivered_scopes)), here AS (SELECT s.charge_id AS content, "
        "count(*) AS delivered FROM " +
        (order.staged_rows > 0 ? staged_table<Charge>()
                               : std::string("(SELECT NULL::UUID AS charge_id, NULL::UUID AS "
                                             "natural_key WHERE false)")) +
        " s WHERE " + parts.holds("s.natural_key", part) +
        " GROUP BY 1) SELECT charge_id, booked_month FROM there LEFT JOIN here USING (content) "
        "WHERE place >= coalesce(delivered, 0)");
  }
  if (!made) return std::unexpected(made.error());
  const std::array<std::uint64_t, 1> found =
      TRY(counts_of<1>(connection.query("SELECT count(*)::UBIGINT FROM left_out")));
  return found[0];
}

// Visits the lines that reverse what is left out of closed months, batch by batch.
Result<std::uint64_t> take_back(duckdb::Connection& connection, const ReplacementRequest& order) {
  Result<void> done = connection.execute(
      "CREATE OR REPLACE TEMP TABLE closed_left_out AS SELECT charge_id, "
      "row_number() OVER (ORDER BY charge_id) - 1 AS number FROM left_out WHERE booked_month IN "
      "(SELECT month FROM closings)");
  std::uint64_t taken = 0;
  while (done) {
    const std::string piece = "number >= " + std::to_string(taken) + " AND number < " +
                              std::to_string(taken + duckdb::Appender::kChunkRows);
    const auto lines = TRY(all_facts<Charge>(connection.query(
        "SELECT " + fact_columns<Charge>("c.") +
        " FROM charges c JOIN closed_left_out l ON l.charge_id = c.charge_id WHERE " + piece +
        " ORDER BY number")));
    if (lines.empty()) return taken;
    std::vector<Charge> reversals;
    for (const Charge& line : lines) {
      reversals.push_back(reversal_of(line, order.open_month(line.booked_month)));
    }
    std::vector<const Charge*> facts;
    std::vector<FactKeys> keys;
    for (const Charge& reversal : reversals) {
      facts.push_back(&reversal);
      keys.push_back({reversal.id.hash, natural_key(reversal), reversal.id.hash,
                      reversal.booked_month, reversal.takes_back->hash});
    }
    auto appender = TRY(duckdb::Appender::open(connection, "", Table<Charge>::kName));
    done = append_facts(appender, facts, keys, order.import);
    if (done) done = appender.close();
    auto retired = TRY(duckdb::Appender::open(connection, "", "retired_charges"));
    if (done) {
      duckdb::ColumnWriter ids = retired.column(0), imports = retired.column(1),
                           reversal_ids = retired.column(2);
      for (std::size_t row = 0; row < reversals.size(); ++row) {
        ids.set_uuid(row, reversals[row].takes_back->hash);
        imports.set_uint64(row, order.import);
        reversal_ids.set_uuid(row, reversals[row].id.hash);
      }
      done = retired.append(reversals.size());
    }
    if (done) done = retired.close();
    taken += reversals.size();
  }
  return std::unexpected(done.error());
}

}  // namespace

Result<Restated> retire_left_out(duckdb::Connection& connection, const ReplacementRequest& order) {
  const auto scopes = TRY(list_delivered_scopes(connection, order));
  if (scopes == 0) return Restated{};
  const Result<std::uint64_t> left_out = find_left_out(connection, order);
  if (!left_out) return std::unexpected(left_out.error());
  if (*left_out == 0) return Restated{};
  const std::uint64_t reversed = TRY(take_back(connection, order));
  const std::uint64_t removed = TRY(connection.change(
      "INSERT INTO retired_charges SELECT charge_id, " + std::to_string(order.import) +
      ", NULL FROM left_out WHERE booked_month NOT IN (SELECT month FROM closings)"));
  return Restated{.removed = removed, .reversed = reversed, .late = 0};
}

namespace {

// Millions of these facts arrive every hour, and their time is part of their key. So only the
// ledger's rows of the same time need to be read: tables are in order of arrival, and the engine
// skips what lies outside.
template <class Fact>
std::string of_staged_time() {
  const char* time = std::is_same_v<Fact, Usage>     ? "observed_at"
                     : std::is_same_v<Fact, Outcome> ? "counted_from"
                                                     : nullptr;
  if (time == nullptr) return "";
  const std::string column = time;
  return " AND l." + column + " BETWEEN (SELECT min(" + column + ") FROM " + staged_table<Fact>() +
         ") AND (SELECT max(" + column + ") FROM " + staged_table<Fact>() + ")";
}

// Whether the ledger has none of the range's staged facts, and each is staged once: nearly always
// so for telemetry. Then there is nothing to judge, and judging is most of what an import costs.
template <class Fact>
Result<bool> are_all_new(duckdb::Connection& connection, const Parts& parts, std::uint64_t part) {
  const std::string table = Table<Fact>::kName, id = Table<Fact>::kId;
  const std::string staged_here =
      " FROM " + staged_table<Fact>() + " s WHERE " + parts.holds("s." + id, part);
  const auto counts = TRY(counts_of<2>(connection.query(
      "SELECT (count(*) - count(DISTINCT s." + id +
      "))::UBIGINT, (SELECT count(*) FROM (SELECT 1 FROM " + table + " l WHERE " +
      parts.holds("l." + id, part) + of_staged_time<Fact>() + " AND l." + id + " IN (SELECT s." +
      id + staged_here + ") LIMIT 1))::UBIGINT" + staged_here)));
  return counts[0] == 0 && counts[1] == 0;
}

template <class Fact>
Result<Resolution> resolve_keyed_range(duckdb::Connection& connection,
                                       const ResolutionRequest& order, const Parts& parts,
                                       std::uint64_t part) {
  const std::string table = Table<Fact>::kName, id = Table<Fact>::kId;
  const std::string staged = staged_table<Fact>(), verdicts = table + "_verdicts";
  if (TRY(are_all_new<Fact>(connection, parts, part))) {
    const std::uint64_t created =
        TRY(connection.change("INSERT INTO " + table + " SELECT s.* FROM " + staged + " s WHERE " +
                              parts.holds("s." + id, part)));
    Resolution resolved;
    resolved.counts = {created, 0, 0, 0};
    return resolved;
  }
  TRY(connection.execute(
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
      parts.holds("l." + id, part) + of_staged_time<Fact>() + ") l ON l." + id + " = s." + id +
      " WHERE " + parts.holds("s." + id, part)));
  const Result<std::uint64_t> created =
      connection.change("INSERT INTO " + table + " SELECT s.* FROM " + staged + " s JOIN " +
                        verdicts + " v ON v.staged_row = s.rowid WHERE v.created");
  if (!created) return std::unexpected(created.error());
  const std::array<std::uint64_t, 2> counts = TRY(counts_of<2>(
      connection.query("SELECT (count(*) FILTER (content = kept AND NOT created))::UBIGINT, "
                       "(count(*) FILTER (content <> kept))::UBIGINT FROM " +
                       verdicts)));
  Resolution resolved;
  resolved.counts = {*created, counts[0], 0, counts[1]};
  if (resolved.counts.conflicts > 0) {
    const std::string rest = " WHERE v.content <> v.kept ORDER BY v.id, v.content, v.staged_row";
    std::vector<RejectedRow> rows =
        TRY(describe<Fact>(connection, order,
                           "SELECT " + fact_columns<Fact>("l.") + " FROM " + verdicts + " v JOIN " +
                               table + " l ON l." + id + " = v.id" + rest,
                           "SELECT " + fact_columns<Fact>("s.") + " FROM " + verdicts + " v JOIN " +
                               staged + " s ON s.rowid = v.staged_row" + rest));
    resolved.conflict_rows = std::move(rows);
  }
  return resolved;
}
}  // namespace

Result<std::uint64_t> stage_contended_usages(duckdb::Connection& connection, std::uint64_t import) {
  const std::string staged = staged_table<Usage>();
  const std::string contended = " FROM usages l WHERE l.import_number = " + std::to_string(import) +
                                of_staged_time<Usage>() +
                                " AND l.usage_id IN (SELECT usage_id FROM " + staged + ")";
  const std::uint64_t moved =
      TRY(connection.change("INSERT INTO " + staged + " SELECT l.*" + contended));
  if (moved > 0) {
    const std::uint64_t removed = TRY(connection.change("DELETE" + contended));
    CHECK(removed == moved, "what is staged again is in one table");
  }
  return moved;
}

template <class Fact>
Result<Resolution> resolve_keyed_facts(duckdb::Connection& connection,
                                       const ResolutionRequest& order) {
  return resolve_by_key_range(
      order, [&](const ResolutionRequest& rest, const Parts& parts, std::uint64_t part) {
        return resolve_keyed_range<Fact>(connection, rest, parts, part);
      });
}
template Result<Resolution> resolve_keyed_facts<Holding>(duckdb::Connection&,
                                                         const ResolutionRequest&);
template Result<Resolution> resolve_keyed_facts<Node>(duckdb::Connection&,
                                                      const ResolutionRequest&);
template Result<Resolution> resolve_keyed_facts<Gpu>(duckdb::Connection&, const ResolutionRequest&);
template Result<Resolution> resolve_keyed_facts<Usage>(duckdb::Connection&,
                                                       const ResolutionRequest&);
template Result<Resolution> resolve_keyed_facts<Outage>(duckdb::Connection&,
                                                        const ResolutionRequest&);
template Result<Resolution> resolve_keyed_facts<Correction>(duckdb::Connection&,
                                                            const ResolutionRequest&);
template Result<Resolution> resolve_keyed_facts<Outcome>(duckdb::Connection&,
                                                         const ResolutionRequest&);

}  // namespace pennyweight
