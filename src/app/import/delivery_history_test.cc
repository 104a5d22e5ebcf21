// Whatever is delivered in whatever order, the ledger has each line's money once, as the provider
// said it last, or the delivery is refused with an amount and nothing changes. The truth is kept
// here, beside the ledger, by the providers' rules in docs/bills/deliveries.md.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "app/import/delivered_bills_testing.h"
#include "app/import/importer.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

using Identity = BillWriter::Identity;

// A line of the truth: sub account, machine, day, export. Only Google Cloud has several exports.
using LineKey = std::tuple<unsigned, unsigned, unsigned, unsigned>;
using Lines = std::map<LineKey, std::int64_t>;  // cents

enum class Act {
  kDeliver,     // all of the month
  kOneAccount,  // of one sub account
  kHalf,        // without its last rows
  kCut,         // somewhere within a row
  kParts,       // in several commands
  kOtherForm,   // as FOCUS
  kGrow,        // the provider adds a day
  kCorrect,     // the provider changes amounts
  kRewrite,     // the provider fills in invoices, tags, columns
  kClose,
};

struct Step {
  Act act = Act::kDeliver;
  unsigned a = 0, b = 0;
  bool confirm = false;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  constexpr const char* kNames[] = {"deliver",    "one account", "half",    "cut",     "parts",
                                    "other form", "grow",        "correct", "rewrite", "close"};
  return out << kNames[static_cast<std::size_t>(step.act)] << "(" << step.a << "," << step.b
             << (step.confirm ? ",confirm)" : ")");
}

// What the machines of a bill are like.
struct Fleet {
  bool is_mixed = false;       // some are billed by the hour, others by the day
  bool has_one_price = false;  // of every machine, on every day
};

class History {
 public:
  History(const BillWriter& writer, const Fleet& fleet)
      : writer_(writer),
        fleet_(fleet),
        store_(make_memory_store()),
        clock_(from_unix_ms(1'775'000'000'000)) {
    std::string folder = (std::filesystem::temp_directory_path() / "pw-history-XXXXXX").string();
    RC_ASSERT(mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    for (unsigned day = 1; day <= 3; ++day) add_day(day);
  }
  ~History() { std::filesystem::remove_all(folder_); }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  void run(const Step& step) {
    if (is_broken_) return;
    clock_.advance(std::chrono::minutes(1));
    switch (step.act) {
      case Act::kDeliver:
        look_.is_reversed = step.a % 2 == 1;
        look_.has_crlf = step.a % 3 == 1;
        deliver(bill_, 1 + step.b % 3, step.confirm);
        break;
      case Act::kOneAccount:
        deliver(of_account(step.a % 3), 1, step.confirm);
        break;
      case Act::kHalf:
        deliver(first_rows(1 + step.a % bill_.size()), 1, step.confirm);
        break;
      case Act::kCut:
        deliver_cut(step);
        break;
      case Act::kParts:
        deliver_parts(step);
        break;
      case Act::kOtherForm:
        deliver_other_form(step);
        break;
      case Act::kGrow:
        add_day(++last_day_);
        break;
      case Act::kCorrect:
        for (std::size_t i = step.a % 4; i < bill_.size(); i += 2 + step.b % 9) {
          bill_[i].cents += static_cast<std::int64_t>(step.a % 500) - 200;
        }
        break;
      case Act::kRewrite:
        look_.invoice = step.a % 4;
        look_.tags = step.b % 4;
        look_.has_more_columns = step.a % 2 == 1;
        break;
      case Act::kClose:
        close();
        break;
    }
  }

 private:
  void add_day(unsigned day) {
    last_day_ = day;
    for (unsigned sub = 0; sub < 3; ++sub) {
      for (unsigned machine = 0; machine < 2; ++machine) {
        // No two sums of some of them are equal by chance.
        const unsigned more = (sub * 7'919 + machine * 104'729 + day * 1'299'709) % 9'973;
        bill_.push_back({sub, machine, day, 10'000 + (fleet_.has_one_price ? 0 : more),
                         writer_.identity == Identity::kExport ? day : 0, is_daily(machine)});
      }
    }
  }

  bool is_daily(unsigned machine) const { return fleet_.is_mixed && machine == 1; }

  std::vector<BillRow> of_account(unsigned sub) const {
    std::vector<BillRow> rows;
    std::ranges::copy_if(bill_, std::back_inserter(rows),
                         [&](const BillRow& row) { return row.sub == sub; });
    return rows;
  }
  std::vector<BillRow> first_rows(std::size_t count) const {
    return {bill_.begin(), bill_.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  std::string text_of(const std::vector<BillRow>& rows) const {
    std::vector<BillCells> cells;
    for (const BillRow& row : rows) cells.push_back(writer_.cells(row, look_));
    return csv_of_bill(cells, look_);
  }

  // What the ledger must say once it has taken these rows.
  static LineKey key_of(const BillRow& row) {
    return {row.sub, row.machine, row.day, row.assembly};
  }
  struct Expected {
    Lines lines;
    std::int64_t replaced = 0, lost = 0;  // of what was there, and of it what went away
    std::int64_t lost_machines = 0;       // what machines cost that the delivery does not name
  };
  bool gives_way(const LineKey& line, const std::vector<BillRow>& rows) const {
    const auto& [sub, machine, day, assembly] = line;
    if (writer_.identity == Identity::kLine) {
      return std::ranges::any_of(rows, [&](const BillRow& row) { return key_of(row) == line; });
    }
    return std::ranges::any_of(rows, [&](const BillRow& row) {
      const bool same = row.sub == sub && row.assembly == assembly;
      const auto with = came_with_.find(sub);
      const bool of_export = writer_.identity == Identity::kSubAccount &&
                             with != came_with_.end() && with->second.contains(row.sub);
      return same || of_export;
    });
  }
  Expected expected(const std::vector<BillRow>& rows) const {
    Expected next;
    std::map<std::pair<unsigned, unsigned>, std::int64_t> days;
    std::map<std::tuple<unsigned, unsigned, unsigned>, std::int64_t> machines;
    for (const auto& [line, cents] : truth_) {
      if (!gives_way(line, rows)) {
        next.lines.emplace(line, cents);
        continue;
      }
      next.replaced += cents;
      days[{std::get<0>(line), std::get<2>(line)}] += cents;
      machines[{std::get<0>(line), std::get<1>(line), std::get<2>(line)}] += cents;
    }
    for (const BillRow& row : rows) {
      next.lines[key_of(row)] = row.cents;
      const auto day = days.find({row.sub, row.day});
      if (day != days.end()) day->second -= row.cents;
      machines.erase({row.sub, row.machine, row.day});
    }
    for (const auto& [day, left] : days) next.lost += std::max<std::int64_t>(left, 0);
    for (const auto& [machine, cents] : machines) next.lost_machines += cents;
    return next;
  }
  static bool is_too_much(const Expected& next) {
    return next.lost * 10 > next.replaced || next.lost_machines * 10 > next.replaced;
  }
  // Whether several deliveries took more away together than one may, each less: of what each sub
  // account had at most.
  bool is_too_much_together(const Lines& next) const {
    std::map<unsigned, std::int64_t> now;
    for (const auto& [line, cents] : next) now[std::get<0>(line)] += cents;
    std::int64_t lost = 0, all = 0;
    for (const auto& [sub, most] : most_) {
      lost += std::max<std::int64_t>(most - now[sub], 0);
      all += most;
    }
    return lost * 10 > all;
  }
  bool stands_in_other_form(const std::vector<BillRow>& rows) const {
    return !in_other_form_.empty() && !rows.empty();
  }
  void take(const std::vector<BillRow>& rows, Lines lines) {
    truth_ = std::move(lines);
    std::map<unsigned, std::int64_t> now;
    for (const auto& [line, cents] : truth_) now[std::get<0>(line)] += cents;
    for (const auto& [sub, cents] : now) most_[sub] = std::max(most_[sub], cents);
    std::set<unsigned> subs;
    for (const BillRow& row : rows) subs.insert(row.sub);
    for (const unsigned sub : subs) {
      came_with_[sub] = subs;
      if (writer_.identity == Identity::kSubAccount) in_other_form_.erase(sub);
    }
  }

  std::string write(const std::string& text) {
    const std::string path = fmt::format("{}/{}.csv", folder_, ++files_);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  Result<FileImport> import(const std::vector<std::string>& paths, const ImportOptions& given) {
    ImportOptions options = given;
    options.bill_options.emplace("azure_metric", "actual");
    return import_files(*store_, paths, options, {}, Console::detect(ColourMode::kNever, true),
                        clock_);
  }

  static ImportOptions confirmed(bool confirm) {
    ImportOptions options;
    options.confirm = confirm;
    return options;
  }

  static void has_an_amount(const Error& error) {
    static const std::regex kAmount("[0-9][.][0-9]{2,} USD");
    RC_LOG() << error.message << "\n";
    RC_ASSERT(std::regex_search(error.message, kAmount));
  }

  void deliver(const std::vector<BillRow>& rows, std::size_t file_count, bool confirm) {
    std::vector<std::vector<BillRow>> files(std::min(file_count, rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) files[i % files.size()].push_back(rows[i]);
    std::vector<std::string> paths;
    for (const auto& file : files) paths.push_back(write(text_of(file)));
    const Expected next = expected(rows);
    const auto taken = import(paths, confirmed(confirm));
    const bool too_much = is_too_much(next);
    const bool is_of_other_form = stands_in_other_form(rows);
    if (!taken) {
      has_an_amount(taken.error());
      const bool together = taken.error().message.contains("with the deliveries before it") &&
                            is_too_much_together(next.lines);
      RC_ASSERT(((too_much || together) && !confirm) || is_of_other_form);
    } else {
      RC_ASSERT(!too_much || confirm);
      take(rows, next.lines);
    }
    compare();
  }

  // A file that ends within a row is never taken for a whole one.
  void deliver_cut(const Step& step) {
    look_.is_reversed = look_.has_crlf = false;
    const std::string whole = text_of(bill_);
    const std::size_t header = whole.find('\n') + 1;
    const std::string text = whole.substr(0, header + 1 + step.a * 7919u % (whole.size() - header));
    const auto rows = static_cast<std::size_t>(std::ranges::count(text, '\n')) - 1;
    if (text.ends_with('\n') || rows == 0 || text.ends_with('\r') || text.ends_with('"')) return;
    const bool replaces = std::ranges::any_of(
        truth_, [&](const auto& line) { return gives_way(line.first, first_rows(rows)); });
    const auto taken = import({write(text)}, confirmed(step.confirm));
    if (taken) {
      // Either the last row can't be read, or nothing but the end of its last text is missing.
      const bool is_aside = taken->statement.aside.rows > 0;
      RC_ASSERT(!is_aside || !replaces);
      RC_ASSERT(is_aside || std::ranges::any_of(taken->remarks, [](const std::string& remark) {
                  return remark.contains("no line end");
                }));
      const std::vector<BillRow> whole_rows = first_rows(rows + (is_aside ? 0 : 1));
      const Expected next = expected(whole_rows);
      RC_ASSERT(step.confirm || !is_too_much(next));
      take(whole_rows, next.lines);
    }
    compare();
  }

  void deliver_parts(const Step& step) {
    const std::size_t parts = 2 + step.a % 2;
    std::vector<std::vector<BillRow>> of_part(parts);
    for (std::size_t i = 0; i < bill_.size(); ++i) {
      const std::size_t place = step.b % 2 == 0 ? i % parts : i * parts / bill_.size();
      of_part[place].push_back(bill_[i]);
    }
    const Expected next = expected(bill_);
    const std::size_t first = step.b / 2 % parts;
    for (std::size_t i = 0; i <= parts; ++i) {  // the first one twice
      const std::size_t part = (first + i) % parts;
      ImportOptions options = confirmed(step.confirm);
      options.delivery = step.b % 3 == 0 ? "march" : "march again";
      options.part = part + 1;
      options.parts = parts;
      const auto taken = import({write(text_of(of_part[part]))}, options);
      if (!taken) {
        has_an_amount(taken.error());
        // Google's and Oracle's rows of a whole delivery do not give way to named parts, nor do
        // parts of one delivery to parts that are cut elsewhere.
        RC_ASSERT(stands_in_other_form(bill_) || writer_.identity != Identity::kSubAccount ||
                  had_parts_);
        // What came so far is a part, and `close` says which one is missing.
        is_broken_ = i > 0;
        if (!is_broken_) compare();
        return;
      }
    }
    had_parts_ = true;
    take(bill_, next.lines);
    compare();
  }

  // The bill as it stands in the ledger, in another form.
  void deliver_other_form(const Step& step) {
    if (truth_.empty() || writer_.other_form == nullptr) return;
    std::vector<BillCells> cells;
    for (const auto& [key, cents] : truth_) {
      const auto& [sub, machine, day, assembly] = key;
      cells.push_back(writer_.other_form({sub, machine, day, cents, 0, is_daily(machine)}, look_));
    }
    const auto taken = import({write(csv_of_bill(cells, look_))}, confirmed(step.confirm));
    if (taken) {
      RC_ASSERT(step.confirm || stands_in_other_form(bill_));
      for (auto& [sub, with] : came_with_) {
        with.clear();
        for (const auto& [key, cents] : truth_) with.insert(std::get<0>(key));
        in_other_form_.insert(sub);
      }
    } else {
      has_an_amount(taken.error());
    }
    compare();
  }

  void close() {
    if (is_closed_ || truth_.empty()) return;
    std::vector<Posting> postings;
    RC_ASSERT(store_
                  ->scan_charges("2026-03",
                                 [&](std::span<const Charge> charges) {
                                   for (const Charge& charge : charges) {
                                     postings.push_back(whole_posting(charge));
                                   }
                                   return true;
                                 })
                  .has_value());
    const Run run{.scope = {ClusterId(""), "2026-03"},
                  .policy = "",
                  .policy_version = {},
                  .catalog_version = {},
                  .time_zone = "UTC",
                  .program_version = "",
                  .at = clock_.now(),
                  .postings_digest = {}};
    auto session = store_->begin_run(run);
    RC_ASSERT(session.has_value());
    RC_ASSERT((*session)->append_postings(postings).has_value());
    RC_ASSERT((*session)->commit().has_value());
    session->reset();
    const auto closed = store_->close_month({.month = "2026-03",
                                             .at = clock_.now(),
                                             .by = "ann",
                                             .reason = "",
                                             .last_import = 0,
                                             .lines = 0,
                                             .runs = 0,
                                             .digest = {}});
    if (!closed) RC_FAIL(closed.error().message);
    is_closed_ = true;
  }

  static Posting whole_posting(const Charge& charge) {
    return {.charge = charge.id,
            .kind = PostingKind::kShared,
            .component = Component::kWhole,
            .interval = charge.charge_period,
            .day = std::chrono::floor<std::chrono::days>(charge.charge_period.begin()),
            .node = NodeId(""),
            .gpu = GpuId(""),
            .workload = WorkloadId(""),
            .holding = {},
            .weight = 1,
            .costs = charge.costs,
            .gpu_time = {},
            .memory_time = {},
            .observed_time = {}};
  }

  // The ledger has of every machine and day what the truth says, and no other money.
  void compare() {
    if (is_broken_) return;
    std::map<std::string, Int128> want, got;
    for (const auto& [key, cents] : truth_) {
      const auto& [sub, machine, day, assembly] = key;
      want[fmt::format("s{}m{} on {}", sub, machine, day)] +=
          parse_decimal(dollars_of(cents))->value.ticks();
    }
    const auto scanned = store_->scan_charges("", [&](std::span<const Charge> charges) {
      for (const Charge& charge : charges) {
        const auto day = std::chrono::year_month_day(
            std::chrono::floor<std::chrono::days>(charge.charge_period.begin()));
        const std::string& resource = charge.resource_id;
        got[fmt::format("{} on {}", resource.substr(resource.size() - 4),
                        static_cast<unsigned>(day.day()))] += charge.costs.billed.ticks();
      }
      return true;
    });
    RC_ASSERT(scanned.has_value());
    std::erase_if(want, [](const auto& line) { return line.second == 0; });
    std::erase_if(got, [](const auto& line) { return line.second == 0; });
    RC_ASSERT(texts_of(got) == texts_of(want));
  }

  static std::map<std::string, std::string> texts_of(const std::map<std::string, Int128>& sums) {
    std::map<std::string, std::string> texts;
    for (const auto& [line, ticks] : sums) texts[line] = to_text(Decimal::from_ticks(ticks));
    return texts;
  }

  const BillWriter& writer_;
  Fleet fleet_;
  std::unique_ptr<Store> store_;
  SimulatedClock clock_;
  std::string folder_;
  unsigned files_ = 0, last_day_ = 0;
  std::vector<BillRow> bill_;  // as the provider has it
  BillLook look_;
  Lines truth_;                                       // as the ledger must have it
  std::map<unsigned, std::set<unsigned>> came_with_;  // sub accounts, by their last delivery
  std::set<unsigned> in_other_form_;                  // sub accounts
  std::map<unsigned, std::int64_t> most_;             // that a sub account had, in cents
  bool is_closed_ = false, had_parts_ = false;
  bool is_broken_ = false;  // a part is missing
};

rc::Gen<Step> any_step() {
  static const std::vector<Act> kActs = {Act::kDeliver, Act::kOneAccount, Act::kHalf, Act::kCut,
                                         Act::kParts,   Act::kOtherForm,  Act::kGrow, Act::kCorrect,
                                         Act::kRewrite, Act::kClose};
  return rc::gen::build<Step>(
      rc::gen::set(&Step::act, rc::gen::elementOf(kActs)),
      rc::gen::set(&Step::a, rc::gen::resize(100, rc::gen::inRange(0u, 1'000u))),
      rc::gen::set(&Step::b, rc::gen::resize(100, rc::gen::inRange(0u, 1'000u))),
      rc::gen::set(&Step::confirm));
}

RC_GTEST_PROP(DeliveryHistory, MoneyStandsOnceOrIsRefused, ()) {
  constexpr std::size_t kStepsMax = 8;
  const auto provider = *rc::gen::inRange<std::size_t>(0, std::size(kBillWriters));
  auto steps = *rc::gen::container<std::vector<Step>>(any_step());
  if (steps.size() > kStepsMax) steps.resize(kStepsMax);
  const Fleet fleet{.is_mixed = *rc::gen::arbitrary<bool>(),
                    .has_one_price = *rc::gen::arbitrary<bool>()};
  RC_LOG() << kBillWriters[provider].name << (fleet.is_mixed ? ", by hour and by day" : "")
           << (fleet.has_one_price ? ", of one price" : "") << "\n";
  History history(kBillWriters[provider], fleet);
  for (const Step& step : steps) history.run(step);
}

}  // namespace
}  // namespace pennyweight
