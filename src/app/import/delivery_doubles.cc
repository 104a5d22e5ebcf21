#include "app/import/delivery_doubles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "app/import/sampled_cells.h"
#include "core/ascii.h"
#include "core/decimal.h"
#include "ledger/charge.h"
#include "reporting/money_text.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// Less than this share of a delivery may look like lines of the ledger by chance.
constexpr std::uint64_t kDoublePercent = 5;
// Of a delivery of differences more than this share is not equal by chance.
constexpr std::int64_t kDeltaDoublePercent = 90;
// So many days with the same, different totals are no chance.
constexpr std::size_t kEqualDaysMin = 3;

// Money of lines that both have, and of all lines of each, in the same sample.
struct Overlap {
  Int128 common = 0, delivered = 0, there = 0;
  std::uint64_t lines = 0, cells = 0;  // in common
  // In percent of the smaller side.
  std::uint64_t percent() const {
    const Int128 whole = std::min(delivered, there);
    if (whole <= 0) return 0;
    return static_cast<std::uint64_t>(common / ((whole + 99) / 100));
  }
  // Whether the smaller side is in the other one.
  bool is_whole() const {
    const Int128 whole = std::min(delivered, there);
    return whole > 0 && common == whole;
  }
};

void add_wholes(const SampledCells& delivered, const SampledCells& there, Overlap& overlap) {
  delivered.each(there, [&](const CellSum& sum) { overlap.delivered += sum.size(); });
  there.each(delivered, [&](const CellSum& sum) { overlap.there += sum.size(); });
}

Overlap overlap_of_lines(const SampledCells& delivered, const SampledCells& there) {
  Overlap overlap;
  delivered.each_common(there, [&](const CellSum& mine, const CellSum& theirs) {
    // All lines of a cell cost the same.
    const std::uint64_t lines = std::min(mine.lines, theirs.lines);
    overlap.common +=
        mine.size() / static_cast<std::int64_t>(mine.lines) * static_cast<std::int64_t>(lines);
    overlap.lines += lines;
  });
  add_wholes(delivered, there, overlap);
  return overlap;
}

bool is_same_money(const CellSum& mine, const CellSum& theirs) {
  return (mine.billed != 0 && mine.billed == theirs.billed) ||
         (mine.effective != 0 && mine.effective == theirs.effective);
}

Overlap overlap_of_days(const SampledCells& delivered, const SampledCells& there) {
  Overlap overlap;
  delivered.each_common(there, [&](const CellSum& mine, const CellSum& theirs) {
    if (!is_same_money(mine, theirs)) return;
    overlap.common += mine.size();
    ++overlap.cells;
  });
  add_wholes(delivered, there, overlap);
  return overlap;
}

Int128 size_of_days(const DaySums& days) {
  Int128 size = 0;
  for (const auto& [day, sum] : days) size += sum.size();
  return size;
}

// What an account or sub account costs by day, and how its resources are named.
struct DailyCost {
  DaySums days;
  std::array<Int128, kResourceNamings> named = {};  // as in LineGroup
  std::string cloud;
  std::set<std::string> spellings;  // of the account and sub account
  bool has_line_identity = false;
  bool is_of_other_form = false;  // as the delivery

  void add(const LineGroupKey& key, const LineGroup& group, const FormTest& is_other) {
    for (const auto& [day, sum] : group.days) days[day].add(sum);
    for (std::size_t i = 0; i < kResourceNamings; ++i) named[i] += group.named[i];
    if (!key.cloud.empty()) cloud = key.cloud;
    spellings.insert(key.account + '\n' + key.sub_account);
    is_of_other_form |= is_other && is_other(group);
    has_line_identity |= group.has_line_identity;
  }
  Int128 size() const { return size_of_days(days); }
  Int128 named_as(ResourceNaming naming) const { return named[static_cast<std::size_t>(naming)]; }
  // Whether most of the money is of resources that are named so.
  bool is_mostly(ResourceNaming naming) const {
    Int128 all = 0;
    for (const Int128 sum : named) all += sum;
    return named_as(naming) > all / 2;
  }
};

struct EqualDays {
  Int128 common = 0;
  std::uint64_t days = 0;
  std::set<Int128> totals;  // of the equal days
};

EqualDays equal_days(const DaySums& mine, const DaySums& theirs) {
  EqualDays equal;
  for (const auto& [day, sum] : mine) {
    const auto found = theirs.find(day);
    if (found == theirs.end() || !is_same_money(sum, found->second)) continue;
    ++equal.days;
    equal.common += sum.size();
    equal.totals.insert(sum.billed != 0 ? sum.billed : sum.effective);
  }
  return equal;
}

// Whether both name most of their money's resources, and in the same way. Since no line of the two
// is for the same resource, they are for different ones.
bool are_named_alike(const DailyCost& mine, const DailyCost& theirs) {
  for (std::size_t i = 0; i < kResourceNamings; ++i) {
    const auto naming = static_cast<ResourceNaming>(i);
    if (naming == ResourceNaming::kNone || !mine.is_mostly(naming)) continue;
    return theirs.is_mostly(naming);
  }
  return false;
}

bool name_nothing(const DailyCost& mine, const DailyCost& theirs) {
  return mine.is_mostly(ResourceNaming::kNone) && theirs.is_mostly(ResourceNaming::kNone);
}

bool are_spelled_differently(const DailyCost& mine, const DailyCost& theirs) {
  return std::ranges::none_of(
      mine.spellings, [&](const std::string& name) { return theirs.spellings.contains(name); });
}

bool is_of_two_clouds(const DailyCost& mine, const DailyCost& theirs) {
  return !mine.cloud.empty() && !theirs.cloud.empty() && mine.cloud != theirs.cloud;
}

// By month, currency and a name of whoever the cost is for.
using DailyCosts = std::map<AccountMonth, DailyCost>;

// `name`: gives an AccountMonth for the key of a group, or nothing.
template <class Name>
DailyCosts costs_by(const DeliveredLines& lines, const FormTest& is_other, const Name& name) {
  DailyCosts costs;
  for (const auto& [key, group] : lines.groups()) {
    if (const auto named = name(key)) costs[*named].add(key, group, is_other);
  }
  return costs;
}

std::optional<AccountMonth> account_of(const LineGroupKey& key) { return key.account_month(); }

// The account as it is, whichever way a form of the bill writes it.
std::optional<AccountMonth> plain_account_of(const LineGroupKey& key) {
  const std::string name = key.account_name();
  return AccountMonth{key.month(), plain_account(name.substr(name.find(' ') + 1)), key.currency};
}

// What only one account is called: a number of AWS, a GUID of Azure, an OCID, a project of Google
// Cloud. What people call their accounts may be there twice.
bool is_unique_account(std::string_view plain, const LineGroupKey& key) {
  constexpr std::size_t kAwsDigits = 12;
  constexpr std::size_t kGuidSize = 36;
  if (key.cloud == "Google Cloud" || plain.starts_with("ocid1.")) return true;
  if (plain.size() == kAwsDigits && ascii::is_all_digits(plain)) return true;
  return plain.size() == kGuidSize && std::ranges::all_of(plain, [](char c) {
           return c == '-' || ascii::is_digit(c) || (c >= 'a' && c <= 'f');
         });
}

// Of a sub account whose name no other account has: that name; others within their account.
std::optional<AccountMonth> plain_sub_account_of(const LineGroupKey& key) {
  if (key.sub_account.empty()) return std::nullopt;
  std::string name = plain_account(key.sub_account);
  if (!is_unique_account(name, key)) name = plain_account_of(key)->account + "/" + name;
  return AccountMonth{key.month(), name, key.currency};
}

// Whether lines that cost the same by day, or in sum, are two statements of one cost.
bool state_the_same(const DaySums& some, const DaySums& others, std::size_t different_min) {
  const EqualDays equal = equal_days(some, others);
  return equal.days >= kEqualDaysMin && equal.totals.size() >= different_min &&
         equal.common > std::min(size_of_days(some), size_of_days(others)) / 2;
}

bool is_same_sum(const DaySums& some, const DaySums& others) {
  if (std::max(some.size(), others.size()) < kEqualDaysMin) return false;
  CellSum mine, theirs;
  for (const auto& [day, sum] : some) mine.add(sum);
  for (const auto& [day, sum] : others) theirs.add(sum);
  return is_same_money(mine, theirs);
}

Int128 sum_of(const std::array<Int128, kResourceNamings>& named) {
  Int128 sum = 0;
  for (const Int128 size : named) sum += size;
  return sum;
}

// Whether all money of both is of resources that are named in one way.
bool name_all_alike(const LinesOfLength& some, const LinesOfLength& others) {
  for (std::size_t i = 0; i < kResourceNamings; ++i) {
    if (some.named[i] == 0 || static_cast<ResourceNaming>(i) == ResourceNaming::kNone) continue;
    return some.named[i] == sum_of(some.named) && others.named[i] == sum_of(others.named);
  }
  return false;
}

// In a sample, whether two have less than half of their money in common. Where one has nothing,
// such as a report without the names of services, nothing tells them apart.
bool are_mostly_other(const SampledCells& some, const SampledCells& others) {
  Overlap overlap;
  add_wholes(some, others, overlap);
  some.each_common(others, [&](const CellSum& mine, const CellSum& theirs) {
    overlap.common += std::min(mine.size(), theirs.size());
  });
  const Int128 whole = std::min(overlap.delivered, overlap.there);
  return whole > 0 && overlap.common <= whole / 2;
}

// What stands in a group under charge periods of two lengths.
struct TwoLengths {
  Int128 twice = 0;    // it is the same cost
  Int128 similar = 0;  // of some lines that look so
  bool is_sampled = false;
};

// Machines that are billed by the hour beside others of their price that are billed by the day cost
// the same each day, and are other machines; so is what another service bills.
TwoLengths compare_lengths(const LinesOfLength& some, const LinesOfLength& others) {
  if (are_mostly_other(some.services, others.services)) return {};
  // One machine that runs all month costs the same on each day.
  const bool is_equal =
      state_the_same(some.days, others.days, 1) || is_same_sum(some.days, others.days);
  const Int128 whole = std::min(size_of_days(some.days), size_of_days(others.days));
  if (!name_all_alike(some, others))
    return {.twice = is_equal ? whole : 0, .similar = 0, .is_sampled = false};
  const Overlap overlap = overlap_of_days(some.resource_days, others.resource_days);
  const bool is_most = overlap.common > std::min(overlap.delivered, overlap.there) / 2;
  if (is_equal && (is_most || !are_mostly_other(some.resources, others.resources))) {
    return {.twice = whole, .similar = 0, .is_sampled = false};
  }
  const std::uint64_t sampled =
      std::max(some.resource_days.sampled(), others.resource_days.sampled());
  const Int128 size = std::min(overlap.common * static_cast<std::int64_t>(sampled), whole);
  if (is_most && overlap.cells >= kEqualDaysMin) {
    return {.twice = size, .similar = 0, .is_sampled = sampled > 1};
  }
  return {.twice = 0, .similar = size, .is_sampled = sampled > 1};
}

// Two reports of one bill among the files of a delivery: by the hour and by the day, with resources
// and without.
void add_reports_of_one_bill(const DeliveredLines& delivered, DoubleFindings& findings) {
  for (const auto& [key, group] : delivered.groups()) {
    const auto& lengths = group.by_length;
    TwoLengths found;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      for (std::size_t j = i + 1; j < lengths.size(); ++j) {
        const TwoLengths two = compare_lengths(lengths[i], lengths[j]);
        found.twice = std::max(found.twice, two.twice);
        found.similar = std::max(found.similar, two.similar);
        found.is_sampled |= two.is_sampled;
      }
    }
    std::string_view how = "in shorter and in longer charge periods";
    const auto& [unnamed, named] = group.by_resource;
    if (found.twice == 0 && state_the_same(unnamed, named, kEqualDaysMin)) {
      found = {.twice = std::min(size_of_days(unnamed), size_of_days(named)),
               .similar = 0,
               .is_sampled = false};
      how = "with the names of resources and without them";
    }
    const auto text_of = [&, &account = key](Int128 amount) {
      return fmt::format("{}{} of {} {} stand in it twice, {}", found.is_sampled ? "about " : "",
                         exact_money(Money::from_ticks(amount, account.currency)), account.month(),
                         account.account_name(), how);
    };
    if (found.twice > 0) {
      findings.doubles.push_back(text_of(found.twice) +
                                 ": its files are of two reports of one bill");
    } else if (found.similar > 0) {
      findings.similar.push_back(text_of(found.similar) +
                                 ", if they are the same charges; each counts");
    }
  }
}

// Calls visit(mine, theirs) where most of the money of one of the two is on days on
// which both cost the same.
template <class Visit>
void each_equal(const DailyCosts& delivered, const DailyCosts& standing, const Visit& visit) {
  for (const auto& [account, mine] : delivered) {
    const auto theirs = standing.find(account);
    if (theirs == standing.end() || is_of_two_clouds(mine, theirs->second)) continue;
    const EqualDays equal = equal_days(mine.days, theirs->second.days);
    if (equal.common <= std::min(mine.size(), theirs->second.size()) / 2) continue;
    visit(mine, theirs->second);
  }
}

// Whether an account has its cost already from resources that are named in another way or not named
// at all, in another form of the bill, or under another spelling.
bool stands_under_other_names(const DeliveredLines& delivered, const DeliveredLines& standing,
                              const FormTest& is_other) {
  bool found = false;
  each_equal(costs_by(delivered, {}, plain_sub_account_of),
             costs_by(standing, is_other, plain_sub_account_of),
             [&](const DailyCost& mine, const DailyCost& theirs) {
               // Rows that the provider identifies and that name nothing are different rows.
               const bool are_rows_of_one_report =
                   name_nothing(mine, theirs) && mine.has_line_identity && theirs.has_line_identity;
               found |= theirs.is_of_other_form || are_spelled_differently(mine, theirs) ||
                        (!are_named_alike(mine, theirs) && !are_rows_of_one_report);
             });
  each_equal(costs_by(delivered, {}, plain_account_of),
             costs_by(standing, is_other, plain_account_of),
             [&](const DailyCost& mine, const DailyCost& theirs) {
               // Sub accounts that name nothing are different ones.
               found |= theirs.is_of_other_form ||
                        (!are_named_alike(mine, theirs) && !name_nothing(mine, theirs));
             });
  return found;
}

// Whether any two accounts have the same totals on so many days that it is the same bill. Ids of
// one kind with none in common are different resources all the same.
bool has_equal_account(const DeliveredLines& delivered, const DeliveredLines& standing) {
  const DailyCosts theirs = costs_by(standing, {}, account_of);
  for (const auto& [account, mine] : costs_by(delivered, {}, account_of)) {
    for (const auto& [other, cost] : theirs) {
      if (account.month != other.month || account.currency != other.currency) continue;
      const bool are_other_resources =
          are_named_alike(mine, cost) && !mine.is_mostly(ResourceNaming::kName);
      if (are_other_resources) continue;
      const EqualDays equal = equal_days(mine.days, cost.days);
      if (equal.totals.size() >= kEqualDaysMin && equal.common > mine.size() / 2) return true;
    }
  }
  return false;
}

// Two accounts may cost the same on a few days by chance, so this is only said.
void add_similar_accounts(const DeliveredLines& delivered, const DeliveredLines& standing,
                          std::vector<std::string>& similar) {
  constexpr std::size_t kSaidMax = 5;
  const DailyCosts theirs = costs_by(standing, {}, account_of);
  for (const auto& [account, mine] : costs_by(delivered, {}, account_of)) {
    for (const auto& [other, cost] : theirs) {
      if (account.month != other.month || account.currency != other.currency) continue;
      if (is_of_two_clouds(mine, cost) || are_named_alike(mine, cost)) continue;
      const EqualDays equal = equal_days(mine.days, cost.days);
      if (equal.common == 0 || equal.common < std::min(mine.size(), cost.size())) continue;
      if (similar.size() == kSaidMax) return;
      similar.push_back(fmt::format(
          "{} {} costs {} {} on {} {}, to the last digit as much as {}, which is in the ledger; if "
          "the two are one bill, it is now counted twice",
          account.month, account.account, to_text(Decimal::from_ticks(equal.common)),
          account.currency.text(), equal.days, equal.days == 1 ? "day" : "days", other.account));
    }
  }
}

// What lines of a key cost beside the first one, in a sample an estimate for all.
struct Repeats {
  std::uint64_t lines = 0, cells = 0;
  Int128 size = 0;
  bool is_of_all = true;  // each key has an even number of lines
};

Repeats repeats_of(const SampledCells& cells) {
  Repeats repeats;
  cells.each(cells, [&](const CellSum& sum) {
    ++repeats.cells;
    repeats.is_of_all &= sum.lines % 2 == 0;
    if (sum.lines == 1) return;
    repeats.lines += sum.lines - 1;
    const auto lines = static_cast<std::int64_t>(sum.lines);
    repeats.size += sum.size() / lines * (lines - 1);
  });
  repeats.lines *= cells.sampled();
  repeats.size *= static_cast<std::int64_t>(cells.sampled());
  return repeats;
}

// "12.00 USD", of a delivery in one currency and of which all lines are known; else about how much
// of it that is.
std::string size_text(const DeliveredLines& delivered, Int128 size) {
  std::set<Currency> currencies;
  for (const auto& [key, group] : delivered.groups()) currencies.insert(key.currency);
  if (currencies.size() == 1 && !delivered.contents().is_sampled()) {
    return fmt::format("{} {}", to_text(Decimal::from_ticks(size)), currencies.begin()->text());
  }
  Int128 all = 0;
  for (const auto& [key, group] : delivered.groups()) {
    for (const auto& [day, sum] : group.days) all += sum.size();
  }
  const Int128 percent = all > 0 ? std::clamp<Int128>(size / ((all + 99) / 100), 1, 100) : 0;
  return fmt::format("about {} % of {}", static_cast<std::uint64_t>(percent),
                     text_of_total(delivered));
}

std::string text_of_double(const DeliveredLines& delivered, const DeliveredLines& standing) {
  return fmt::format(
      "it holds {}, and the ledger has the same cost already: {}; it would stand there twice",
      text_of_total(delivered), text_of_accounts(standing));
}

// Whether an account names no sub accounts on one of the sides, and names them on the other one,
// and has cost on both: then a resource is known by the account alone.
bool names_sub_accounts_on_one_side(const DeliveredLines& delivered,
                                    const DeliveredLines& standing) {
  const auto names = [](const DeliveredLines& lines) {
    std::map<AccountMonth, std::array<bool, 2>> accounts;  // without a sub account, with one
    for (const auto& [key, group] : lines.groups()) {
      accounts[key.account_month()][key.sub_account.empty() ? 0 : 1] = true;
    }
    return accounts;
  };
  const auto theirs = names(standing);
  for (const auto& [account, mine] : names(delivered)) {
    const auto found = theirs.find(account);
    if (found == theirs.end()) continue;
    const auto& [without, with] = found->second;
    if ((mine[1] && without) || (mine[0] && with)) return true;
  }
  return false;
}

}  // namespace

DoubleFindings find_doubles(const DeliveredLines& delivered, const DeliveredLines& standing,
                            DeliveryStyle style, const FormTest& is_of_other_form) {
  DoubleFindings findings;
  if (standing.groups().empty()) return findings;
  Overlap twice = overlap_of_lines(delivered.lines(), standing.lines());
  // Differences add to what stands, and some of them may be equal to it.
  if (style == DeliveryStyle::kDelta) {
    constexpr std::uint64_t kLinesMin = 3;
    const bool is_copy =
        (twice.lines >= kLinesMin && twice.common > twice.delivered / 100 * kDeltaDoublePercent) ||
        (twice.common > 0 && twice.common == twice.delivered);
    if (is_copy) findings.doubles.push_back(text_of_double(delivered, standing));
    return findings;
  }
  // A guarded delivery knows the lines that are there already: they count once. Each share is of
  // its own sample, since the two are narrowed separately.
  const Overlap known = style == DeliveryStyle::kGuarded
                            ? overlap_of_lines(delivered.contents(), standing.contents())
                            : Overlap{};
  auto known_percent = known.percent();
  if (known.common == 0 && twice.percent() < kDoublePercent) {
    twice = overlap_of_days(delivered.resource_days(), standing.resource_days());
    known_percent = 0;
  }
  bool is_double = twice.common > 0 && twice.percent() >= known_percent + kDoublePercent;
  if (!is_double && known.common == 0 && names_sub_accounts_on_one_side(delivered, standing)) {
    const Overlap same =
        overlap_of_days(delivered.account_resources(), standing.account_resources());
    is_double = same.common > 0 && same.percent() >= kDoublePercent;
  }
  if (!is_double && known.common == 0) {
    is_double = has_equal_account(delivered, standing) ||
                stands_under_other_names(delivered, standing, is_of_other_form);
    if (!is_double) add_similar_accounts(delivered, standing, findings.similar);
  }
  if (is_double) findings.doubles.push_back(text_of_double(delivered, standing));
  return findings;
}

void find_repeats(const DeliveredLines& delivered, DoubleFindings& findings) {
  add_reports_of_one_bill(delivered, findings);
  // Two or three lines may well be alike in every column.
  constexpr std::uint64_t kDifferentLinesMin = 3;
  const Repeats numbers = repeats_of(delivered.numbers());
  const Repeats contents = repeats_of(delivered.contents());
  if (numbers.size > 0) {
    findings.doubles.push_back(
        fmt::format("{} in it the number of a line before, so that {} would count twice",
                    numbers.lines == 1 ? "1 line has" : counted(numbers.lines, "line") + " have",
                    size_text(delivered, numbers.size)));
  } else if (delivered.between_files().different >= kDifferentLinesMin) {
    findings.doubles.push_back(fmt::format(
        "{}{} of one of its files stand in another one too, in every column, so that {} "
        "would count twice",
        delivered.contents().is_sampled() ? "about " : "",
        counted(delivered.between_files().lines, "line"),
        size_text(delivered, delivered.between_files().size)));
  } else if (contents.size > 0 && contents.is_of_all && contents.cells >= kDifferentLinesMin) {
    findings.doubles.push_back(
        fmt::format("each of its lines stands in it twice, so that {} would count twice",
                    size_text(delivered, contents.size)));
  } else if (contents.size > 0) {
    findings.similar.push_back(
        fmt::format("{} in every column like another one of the delivery, and each counts: {} "
                    "beside the first ones",
                    contents.lines == 1 ? "1 line is" : counted(contents.lines, "line") + " are",
                    size_text(delivered, contents.size)));
  }
}

LinesInCommon lines_in_common(const DeliveredLines& first, const DeliveredLines& second) {
  const Overlap overlap = overlap_of_lines(second.lines(), first.lines());
  return {overlap.lines, overlap.percent(), overlap.is_whole()};
}

std::uint64_t percent_without_sub_accounts(const DeliveredLines& first,
                                           const DeliveredLines& second) {
  if (!names_sub_accounts_on_one_side(first, second)) return 0;
  const Overlap unique = overlap_of_days(first.resource_days(), second.resource_days());
  const Overlap others = overlap_of_days(first.account_resources(), second.account_resources());
  std::uint64_t percent = std::max(unique.percent(), others.percent());
  const DailyCosts theirs = costs_by(second, {}, account_of);
  for (const auto& [account, mine] : costs_by(first, {}, account_of)) {
    const auto found = theirs.find(account);
    if (found == theirs.end() || are_named_alike(mine, found->second)) continue;
    if (state_the_same(mine.days, found->second.days, kEqualDaysMin)) percent = 100;
  }
  return percent;
}

std::string text_of_accounts(const DeliveredLines& lines) {
  std::map<AccountMonth, Costs> sums;
  for (const auto& [key, group] : lines.groups()) {
    const auto [sum, is_new] = sums.try_emplace(key.account_month(), group.costs);
    if (!is_new) std::ignore = add_costs(sum->second, group.costs);
  }
  std::string text;
  for (const auto& [key, costs] : sums) {
    text += fmt::format("{}{} {} has {} billed", text.empty() ? "" : ", ", key.month, key.account,
                        exact_money(costs.billed));
    if (text.size() > 400) return text + ", …";
  }
  return text;
}

std::string text_of_total(const DeliveredLines& lines) {
  std::map<Currency, Costs> sums;
  for (const auto& [key, group] : lines.groups()) {
    const auto [sum, is_new] = sums.try_emplace(key.currency, group.costs);
    if (!is_new) std::ignore = add_costs(sum->second, group.costs);
  }
  std::string text;
  for (const auto& [currency, costs] : sums) {
    text += (text.empty() ? "" : " and ") + exact_money(costs.billed);
  }
  return text;
}

}  // namespace pennyweight
