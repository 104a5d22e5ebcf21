#include "ingest/bills/focus/focus_row_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/json_text.h"
#include "ingest/bills/cell_text.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/number.h"

namespace pennyweight::focus {
namespace {

// Different SkuPriceDetails in the cache; when it is full, it is emptied.
constexpr std::size_t kDetailsCachedMax = 4096;

constexpr std::size_t kList = 2;
constexpr std::size_t kContracted = 3;
constexpr std::string_view kPeriodColumns[] = {"BillingPeriodStart", "BillingPeriodEnd",
                                               "ChargePeriodStart", "ChargePeriodEnd"};

constexpr std::pair<std::string_view, std::string Charge::*> kTexts[] = {
    {"BillingAccountId", &Charge::billing_account_id},
    {"BillingAccountName", &Charge::billing_account_name},
    {"SubAccountId", &Charge::sub_account_id},
    {"SubAccountName", &Charge::sub_account_name},
    {"InvoiceId", &Charge::invoice_id},
    {"InvoiceIssuerName", &Charge::invoice_issuer_name},
    {"ServiceProviderName", &Charge::service_provider_name},
    {"ChargeDescription", &Charge::charge_description},
    {"ServiceCategory", &Charge::service_category},
    {"ServiceSubcategory", &Charge::service_subcategory},
    {"ServiceName", &Charge::service_name},
    {"RegionId", &Charge::region_id},
    {"AvailabilityZone", &Charge::availability_zone},
    {"ResourceId", &Charge::resource_id},
    {"ResourceName", &Charge::resource_name},
    {"ResourceType", &Charge::resource_type},
    {"SkuId", &Charge::sku_id},
    {"SkuMeter", &Charge::sku_meter},
    {"SkuPriceId", &Charge::sku_price_id},
    {"PricingUnit", &Charge::pricing_unit},
    {"ConsumedUnit", &Charge::consumed_unit},
    {"CommitmentDiscountId", &Charge::commitment_discount_id},
    {"CommitmentDiscountType", &Charge::commitment_discount_type},
    {"CapacityReservationId", &Charge::capacity_reservation_id},
    {"x_ClusterId", &Charge::cluster},
    {"x_PoolId", &Charge::pool},
};

constexpr std::pair<std::string_view, std::optional<Decimal> Charge::*> kNumbers[] = {
    {"PricingQuantity", &Charge::pricing_quantity},
    {"ListUnitPrice", &Charge::list_unit_price},
    {"ContractedUnitPrice", &Charge::contracted_unit_price},
    {"ConsumedQuantity", &Charge::consumed_quantity},
};

// True for the same letters in any case, with or without spaces, hyphens and underscores.
bool same_letters(std::string_view text, std::string_view code) {
  const auto is_letter = [](char c) { return c != ' ' && c != '-' && c != '_'; };
  const auto lower = [](char c) { return ascii::to_lower(c); };
  return std::ranges::equal(text | std::views::filter(is_letter) | std::views::transform(lower),
                            code | std::views::filter(is_letter) | std::views::transform(lower));
}

// The code in the spelling of FOCUS (Google's view writes "usage", others "usage_based"); a text
// that is no code stays as it is.
std::string_view respell_code(std::string_view text) {
  constexpr std::string_view kCodes[] = {"Usage",      "Purchase",   "Tax",         "Credit",
                                         "Adjustment", "Correction", "One-Time",    "Recurring",
                                         "Standard",   "Dynamic",    "Committed",   "Other",
                                         "Spend",      "Used",       "Usage-Based", "Unused"};
  for (const std::string_view code : kCodes) {
    if (same_letters(text, code)) return code;
  }
  return text;
}

// PricingCategory as FOCUS 0.5 and the preview of 1.0 had it, which emitters still write.
std::string_view current_code(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kDrafts[] = {
      {"On-Demand", "Standard"}, {"Commitment-Based", "Committed"}};
  for (const auto& [draft, code] : kDrafts) {
    if (same_letters(text, draft)) return code;
  }
  return text;
}

std::optional<std::string_view> parse_spend_or_usage(std::string_view text) {
  if (text == "Spend" || text == "Usage") return text;
  return std::nullopt;
}

std::optional<std::string_view> parse_class(std::string_view text) {
  if (text == "Correction") return text;
  return std::nullopt;
}

// Cuts "…00.123456Z" to "…00.123Z"; empty for a text with nothing finer than a millisecond.
std::string cut_to_milliseconds(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return {};
  std::size_t end = point + 1;
  while (end < text.size() && ascii::is_digit(text[end])) ++end;
  if (end - point <= 4) return {};
  return std::string(text.substr(0, point + 4)).append(text.substr(end));
}

Interval utc_day(Instant at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  return {day, day + std::chrono::days(1)};
}

bool has_custom_name(std::string_view name) { return name.starts_with("x_"); }

}  // namespace

std::optional<std::size_t> FocusRowReader::find(std::string_view name) const {
  const auto at = positions_.find(std::string(name));
  if (at == positions_.end()) return std::nullopt;
  return at->second;
}

Result<FocusRowReader> FocusRowReader::open(const csv::Header& header) {
  constexpr const char* kRemedy =
      "; a bill is the FOCUS dataset Cost and Usage: export it with these columns";
  if (const auto needed = header.require(kNeededColumns); !needed) {
    return std::unexpected(Error{ErrorCode::kBadFile, needed.error().message + kRemedy});
  }
  const bool has_costs = std::ranges::any_of(
      kCostColumns, [&](std::string_view name) { return header.find(name).has_value(); });
  if (!has_costs) {
    return fail(ErrorCode::kBadFile, fmt::format("missing columns: at least one of {}{}",
                                                 fmt::join(kCostColumns, ", "), kRemedy));
  }
  FocusRowReader reader;
  reader.names_ = header.names();
  for (std::size_t i = 0; i < header.size(); ++i) reader.positions_[header.names()[i]] = i;
  // Current names take precedence over old ones, and the first old name over the others.
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string_view current = current_name(header.names()[i]);
    if (!current.empty()) reader.positions_.emplace(current, i);
  }
  reader.version_ = detect_version(header.names());

  for (std::size_t i = 0; i < 4; ++i) {
    reader.costs_[i] = header.find(kCostColumns[i]);
    reader.periods_[i] = header.find(kPeriodColumns[i]);
  }
  reader.currency_ = *header.find("BillingCurrency");
  reader.category_ = *header.find("ChargeCategory");
  reader.class_ = reader.find("ChargeClass");
  reader.frequency_ = reader.find("ChargeFrequency");
  reader.pricing_category_ = reader.find("PricingCategory");
  reader.commitment_category_ = reader.find("CommitmentDiscountCategory");
  reader.commitment_status_ = reader.find("CommitmentDiscountStatus");
  reader.reservation_status_ = reader.find("CapacityReservationStatus");
  reader.tags_ = reader.find("Tags");
  reader.details_ = reader.find("SkuPriceDetails");
  reader.instance_type_ = reader.find("x_InstanceType");
  reader.credits_ = reader.find("x_Credits");
  for (const auto& [name, member] : kTexts) {
    if (const auto at = reader.find(name)) reader.texts_.push_back({*at, member});
  }
  for (const auto& [name, member] : kNumbers) {
    if (const auto at = reader.find(name)) reader.numbers_.push_back({*at, member});
  }
  reader.plan_other_columns(header);
  reader.note_warnings(header);
  return reader;
}

void FocusRowReader::plan_other_columns(const csv::Header& header) {
  std::vector<bool> read(header.size(), false);
  const auto mark = [&](std::optional<std::size_t> at) {
    if (at) read[*at] = true;
  };
  for (std::size_t i = 0; i < 4; ++i) {
    mark(costs_[i]);
    mark(periods_[i]);
  }
  for (const auto& at : {class_, frequency_, pricing_category_, commitment_category_,
                         commitment_status_, reservation_status_}) {
    mark(at);
  }
  mark(currency_);
  mark(category_);
  for (const TextColumn& text : texts_) mark(text.at);
  for (const NumberColumn& number : numbers_) mark(number.at);
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (read[i]) continue;
    const std::string& name = header.names()[i];
    KeepRule keep = KeepRule::kAlways;
    if (i == tags_) keep = KeepRule::kIfUnreadTags;
    if (i == details_) keep = KeepRule::kIfUnreadDetails;
    if (i == instance_type_) keep = KeepRule::kIfNotInstanceType;
    if (name == "ProviderName" || name == "PublisherName") keep = KeepRule::kUnlessProvider;
    std::string key;
    append_stored_json_string(key, name);
    others_.push_back({name, key + ":", i, keep, 0});
  }
  const auto keep_where = [&](std::size_t at, KeepRule keep, std::size_t number) {
    std::string name = "x_" + header.names()[at];
    const bool is_always_kept = keep == KeepRule::kIfUnknownCode || keep == KeepRule::kIfNoPeriod;
    while (is_always_kept && header.find(name)) name = "x_Unread" + name.substr(2);
    if (header.find(name)) return;
    std::string key;
    append_stored_json_string(key, name);
    others_.push_back({name, key + ":", at, keep, number});
  };
  keep_where(*periods_[2], KeepRule::kIfZeroLength, 0);
  for (const std::size_t i : {0u, 1u}) {
    if (periods_[i]) keep_where(*periods_[i], KeepRule::kIfNoPeriod, 0);
  }
  for (std::size_t i = 0; i < kCodes; ++i) {
    const auto at = code_column(static_cast<Code>(i));
    if (at) keep_where(*at, KeepRule::kIfUnknownCode, i);
  }
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    keep_where(numbers_[i].at, KeepRule::kIfTooLarge, i);
  }
  std::ranges::sort(others_, {}, &OtherColumn::name);
}

void FocusRowReader::note_warnings(const csv::Header& header) {
  std::vector<std::string_view> missing;
  for (const Column& column : columns()) {
    const bool expected = column.mandatory && column.since <= version_ && version_ <= column.until;
    if (expected && !find(column.name)) missing.push_back(column.name);
  }
  if (!missing.empty()) {
    warnings_.push_back(fmt::format("FOCUS {} has columns that this file lacks: {}",
                                    version_name(version_), fmt::join(missing, ", ")));
  }
  std::vector<std::string_view> unknown;
  for (const std::string& name : header.names()) {
    const bool known =
        find_column(name) != nullptr || has_custom_name(name) || !current_name(name).empty();
    if (!known) unknown.push_back(name);
  }
  if (!unknown.empty()) {
    warnings_.push_back(fmt::format(
        "columns that FOCUS does not have and that do not begin with x_ are kept as they are: {}",
        fmt::join(unknown, ", ")));
  }
}

void FocusRowReader::describe(bill::ImportSummary& summary) const {
  summary.kind = fmt::format("FOCUS {}", version_name(version_));
  summary.rounded_numbers = rounded_numbers_;
  summary.unread_json = unread_json_;
  summary.warnings = warnings();
}

std::vector<std::string> FocusRowReader::warnings() const {
  std::vector<std::string> all = warnings_;
  for (std::size_t i = 0; i < kCostCount && rows_ > 0; ++i) {
    if (costs_[i]) continue;
    const auto other =
        find_cost_default(i, [this](std::size_t cost) { return costs_[cost].has_value(); });
    all.push_back(fmt::format("the file has no {}; in {} {} {} took its place", kCostColumns[i],
                              rows_, rows_ == 1 ? "row" : "rows", kCostColumns[*other]));
  }
  const auto note = [&all](std::uint64_t rows, std::string_view what) {
    if (rows > 0) all.push_back(fmt::format("in {} {} {}", rows, rows == 1 ? "row" : "rows", what));
  };
  note(deviations_.empty_contracted_cost, "ContractedCost is empty; BilledCost took its place");
  note(deviations_.empty_list_cost, "ListCost is empty; ContractedCost took its place");
  note(deviations_.letter_case,
       "codes are in another letter case than FOCUS's, such as usage for Usage");
  note(deviations_.draft_codes,
       "PricingCategory is of FOCUS before 1.0: On-Demand is now Standard, Commitment-Based "
       "Committed");
  note(deviations_.unknown_categories,
       "ChargeCategory is none of Usage, Purchase, Tax, Credit and Adjustment; with a quantity it "
       "was taken as Usage, without one as Adjustment, and the text is kept as x_ChargeCategory");
  note(deviations_.unknown_codes,
       "a code is not one that FOCUS knows; the row's money is taken, and the text is kept under "
       "x_ and the column's name");
  note(deviations_.padded, "a number, currency or time has a '+' or spaces around it");
  note(deviations_.no_period,
       "no whole billing period is stated; the calendar month (UTC) of what is stated, or of "
       "ChargePeriodStart, took its place");
  note(deviations_.local_period,
       "the billing period begins and ends at local midnights; the months (UTC) that they begin "
       "took its place");
  note(deviations_.odd_period,
       "the billing period begins within 14 hours before a month (UTC), at no midnight of a time "
       "zone; it was taken as it stands, which is for the month before; if the one after is meant, "
       "write billing periods in UTC, such as 2026-03-01T00:00:00Z");
  note(deviations_.zero_length,
       "the charge period is a moment; usage was taken for its day, the rest for its billing "
       "period, and the moment is kept as x_ChargePeriodStart");
  note(deviations_.cut_times, "times are finer than a millisecond, and were cut");
  note(deviations_.too_large,
       "a quantity or unit price is 10^20 or more; it is kept as text, and the row's money is "
       "taken");
  note(deviations_.credits,
       "there are x_Credits, and exports of Google differ in whether BilledCost is before or after "
       "them; compare its sum with the invoice, or import the detailed usage export");
  return all;
}

std::string_view FocusRowReader::value_of(const RowState& row,
                                          std::optional<std::size_t> at) const {
  if (!at || bill::is_null(row.fields[*at])) return {};
  return row.fields[*at];
}

bill::RowOutcome FocusRowReader::read(const bill::TextRow& texts, bill::ChargeBuffer& charges) {
  CHECK(texts.fields.size() == names_.size() && texts.quoted.size() == names_.size(),
        "a row has as many fields as its header");
  RowState row{.fields = texts.fields, .quoted = texts.quoted};
  // Every field is set below, so what an earlier row left does not matter.
  return {.fault = fill(row, charges.add_recycled())};
}

std::optional<RowFault> FocusRowReader::fill(RowState& row, Charge& charge) {
  if (auto fault = read_costs(row, charge)) return fault;
  if (auto fault = read_periods(row, charge)) return fault;
  if (auto fault = read_numbers(row, charge)) return fault;
  read_codes(row, charge);
  read_texts(row, charge);
  read_json(row, charge);
  keep_others(row, charge);
  count(row, charge);
  return std::nullopt;
}

void FocusRowReader::count(const RowState& row, const Charge& charge) {
  ++rows_;
  rounded_numbers_ += row.rounded;
  unread_json_ += (row.tags_unread ? 1u : 0u) + (row.details_unread ? 1u : 0u);
  deviations_.empty_list_cost += row.list_empty ? 1 : 0;
  deviations_.empty_contracted_cost += row.contracted_empty ? 1 : 0;
  deviations_.letter_case += row.recased_code ? 1 : 0;
  deviations_.draft_codes += row.draft_code ? 1 : 0;
  const bool odd_category = (row.unknown_codes >> kCategoryCode & 1u) != 0;
  deviations_.unknown_categories += odd_category ? 1 : 0;
  deviations_.unknown_codes += (row.unknown_codes & ~(1u << kCategoryCode)) != 0 ? 1 : 0;
  deviations_.padded += row.padded ? 1 : 0;
  deviations_.no_period += row.no_period ? 1 : 0;
  deviations_.local_period += row.local_period ? 1 : 0;
  deviations_.odd_period += row.odd_period ? 1 : 0;
  deviations_.zero_length += row.zero_length ? 1 : 0;
  deviations_.cut_times += row.cut_time ? 1 : 0;
  deviations_.too_large += row.too_large != 0 ? 1 : 0;
  const std::string_view credits = value_of(row, credits_);
  const bool has_credits = !credits.empty() && credits != "[]";
  if (has_credits && charge.service_provider_name.starts_with("Google")) ++deviations_.credits;
}

// The text of a cell that is a number, code, currency or time, without spaces around it.
std::string_view FocusRowReader::cell(RowState& row, std::size_t at) const {
  const std::string_view text = row.fields[at];
  const std::string_view trimmed = ascii::trim(text, " \t");
  row.padded = row.padded || trimmed.size() != text.size();
  return trimmed;
}

Result<ParsedDecimal> FocusRowReader::parse_cell(RowState& row, std::string_view column,
                                                 std::size_t at) const {
  std::string_view text = cell(row, at);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') {
    row.padded = true;
    text.remove_prefix(1);
  }
  auto parsed = bill::parse_printed_number(text);
  if (parsed) return parsed;
  return fail(parsed.error().code,
              fmt::format("{}: {}; write digits with a point, at most a '-' before them, and no "
                          "separators or symbols",
                          column, parsed.error().message));
}

std::optional<RowFault> FocusRowReader::read_costs(RowState& row, Charge& charge) {
  const std::string_view code = cell(row, currency_);
  auto currency = currency_parser_.parse(code);
  if (!currency && code.size() == 3) {
    std::string upper(code);
    for (char& c : upper) c = ascii::to_upper(c);
    currency = currency_parser_.parse(upper);
    row.recased_code = row.recased_code || currency.has_value();
  }
  if (!currency) {
    return RowFault{"BillingCurrency",
                    fmt::format("BillingCurrency '{}' is not a currency of ISO 4217; "
                                "write a code such as USD",
                                bill::excerpt(code))};
  }
  CostCells stated;
  for (std::size_t i = 0; i < kCostCount; ++i) {
    if (!costs_[i]) continue;
    const std::string_view column = kCostColumns[i];
    if (bill::is_null(cell(row, *costs_[i]))) {
      row.list_empty = row.list_empty || i == kList;
      row.contracted_empty = row.contracted_empty || i == kContracted;
      if (i == kList || i == kContracted) continue;
      return RowFault{
          std::string(column),
          fmt::format("{} is empty; FOCUS wants an amount in every row, 0 where there is none",
                      column)};
    }
    const auto parsed = parse_cell(row, column, *costs_[i]);
    if (!parsed) return RowFault{std::string(column), parsed.error().message};
    row.rounded += parsed->rounded ? 1 : 0;
    stated[i] = parsed->value;
  }
  Money* const amounts[] = {&charge.costs.billed, &charge.costs.effective, &charge.costs.list,
                            &charge.costs.contracted};
  for (std::size_t i = 0; i < kCostCount; ++i) {
    std::optional<Decimal> amount = stated[i];
    const auto is_stated = [&](std::size_t cost) { return stated[cost].has_value(); };
    if (!amount) {
      const auto other = find_cost_default(i, is_stated);
      if (!other) {
        const auto has_column = [&](std::size_t cost) { return costs_[cost].has_value(); };
        const std::size_t shown = costs_[i] ? i : find_cost_default(i, has_column).value_or(i);
        const std::string_view name = kCostColumns[shown];
        return RowFault{std::string(name),
                        fmt::format("{} is empty, and no other cost is stated; write an amount, 0 "
                                    "where there is none",
                                    name)};
      }
      amount = stated[*other];
    }
    *amounts[i] = Money::from_decimal(*amount, *currency);
  }
  return std::nullopt;
}

Result<Instant> FocusRowReader::read_instant(std::size_t slot, std::string_view text,
                                             RowState& row) {
  LastInstant& last = last_instants_[slot];
  if (text != last.text || text.empty()) {
    auto at = parse_instant(text);
    bool cut = false;
    if (!at) {
      const std::string shorter = cut_to_milliseconds(text);
      const auto coarser = parse_instant(shorter);
      if (shorter.empty() || !coarser) return at;
      at = coarser;
      cut = true;
    }
    last = {std::string(text), *at, cut};
  }
  row.cut_time = row.cut_time || last.cut;
  return last.at;
}

std::optional<RowFault> FocusRowReader::read_periods(RowState& row, Charge& charge) {
  std::array<std::optional<Instant>, 4> at{};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string_view text = periods_[i] ? cell(row, *periods_[i]) : std::string_view();
    const std::string_view column = kPeriodColumns[i];
    if (bill::is_null(text)) {
      if (i < 2) continue;
      return RowFault{std::string(column),
                      fmt::format("{} is empty; write the time in UTC, such as "
                                  "2026-03-01T00:00:00Z",
                                  column)};
    }
    const auto parsed = read_instant(i, text, row);
    if (!parsed) {
      return RowFault{std::string(column), fmt::format("{}: {}; years are 1970 to 2199", column,
                                                       parsed.error().message)};
    }
    at[i] = *parsed;
  }
  row.no_period = !at[0] || !at[1];
  if (row.no_period) {
    const Interval month = utc_month(at[0]   ? *at[0]
                                     : at[1] ? *at[1] - std::chrono::milliseconds(1)
                                             : *at[2]);
    at[0] = month.begin();
    at[1] = month.end();
  }
  if (!row.no_period && is_soon_before_a_month(*at[0])) {
    const auto months = local_months_.months_of({*at[0], cell(row, *periods_[0])},
                                                {*at[1], cell(row, *periods_[1])});
    if (!months) return RowFault{std::string(kPeriodColumns[0]), months.error().message};
    row.local_period = months->has_value();
    row.odd_period = !row.local_period;
    if (row.local_period) {
      at[0] = (*months)->begin();
      at[1] = (*months)->end();
    }
  }
  for (const std::size_t i : {0u, 2u}) {
    const auto interval = Interval::of(*at[i], *at[i + 1]);
    // Some exports write the beginning of the last day as the end of a billing period.
    const bool is_instant = i == 2 && *at[2] == *at[3];
    if (is_instant && *at[0] <= *at[2] && *at[2] <= *at[1] + std::chrono::days(1)) {
      row.zero_length = true;
      continue;
    }
    if (!interval) {
      return RowFault{
          std::string(kPeriodColumns[i + 1]),
          fmt::format("{} {} is not after {} {}; the end of a period is the first moment "
                      "after it",
                      kPeriodColumns[i + 1], to_text(*at[i + 1]), kPeriodColumns[i],
                      to_text(*at[i]))};
    }
    (i == 0 ? charge.billing_period : charge.charge_period) = *interval;
  }
  // read_codes() corrects this for a charge that is not usage.
  if (row.zero_length) charge.charge_period = utc_day(*at[2]);
  return std::nullopt;
}

std::optional<RowFault> FocusRowReader::read_numbers(RowState& row, Charge& charge) {
  for (const NumberColumn& number : numbers_) {
    std::optional<Decimal>& out = charge.*number.member;
    out.reset();
    const std::string_view text = cell(row, number.at);
    if (bill::is_null(text)) continue;
    const auto parsed = parse_cell(row, names_[number.at], number.at);
    if (!parsed && bill::is_number_out_of_range(text)) {
      row.too_large |= std::uint32_t{1} << (&number - numbers_.data());
      continue;
    }
    if (!parsed) return RowFault{names_[number.at], parsed.error().message};
    row.rounded += parsed->rounded ? 1 : 0;
    out = parsed->value;
  }
  return std::nullopt;
}

std::optional<std::size_t> FocusRowReader::code_column(Code code) const {
  switch (code) {
    case kCategoryCode:
      return category_;
    case kClassCode:
      return class_;
    case kFrequencyCode:
      return frequency_;
    case kPricingCode:
      return pricing_category_;
    case kCommitmentCategoryCode:
      return commitment_category_;
    case kCommitmentStatusCode:
      return commitment_status_;
    case kReservationStatusCode:
      return reservation_status_;
    case kCodes:
      break;
  }
  return std::nullopt;
}

// A code says what a charge is and not how much it is, so none costs the row its money.
void FocusRowReader::read_codes(RowState& row, Charge& charge) const {
  const auto read = [&](Code code, auto parse) -> decltype(parse(std::string_view())) {
    const auto column = code_column(code);
    if (!column) return {};
    const std::string_view text = cell(row, *column);
    if (bill::is_null(text)) return {};
    if (auto found = parse(text)) return found;
    if (auto found = parse(respell_code(text))) {
      row.recased_code = true;
      return found;
    }
    if (code == kPricingCode) {
      if (auto found = parse(current_code(text))) {
        row.draft_code = true;
        return found;
      }
    }
    row.unknown_codes |= 1u << code;
    return {};
  };
  const auto category = read(kCategoryCode, parse_charge_category);
  if (!category) row.unknown_codes |= 1u << kCategoryCode;
  const bool has_quantity = charge.pricing_quantity || charge.consumed_quantity;
  charge.charge_category =
      category.value_or(has_quantity ? ChargeCategory::kUsage : ChargeCategory::kAdjustment);
  if (row.zero_length && charge.charge_category != ChargeCategory::kUsage) {
    charge.charge_period = charge.billing_period;
  }
  charge.is_correction = read(kClassCode, parse_class).has_value();
  charge.charge_frequency = read(kFrequencyCode, parse_charge_frequency);
  charge.pricing_category = read(kPricingCode, parse_pricing_category);
  charge.commitment_discount_category =
      read(kCommitmentCategoryCode, parse_spend_or_usage).value_or("");
  charge.commitment_discount_status = read(kCommitmentStatusCode, parse_used_or_unused);
  charge.capacity_reservation_status = read(kReservationStatusCode, parse_used_or_unused);
}

void FocusRowReader::read_texts(const RowState& row, Charge& charge) const {
  for (const TextColumn& text : texts_) {
    (charge.*text.member).assign(bill::text_or_null(row.fields[text.at], row.quoted[text.at] != 0));
  }
}

// A bad tag does not cost the row: a text that is not a flat JSON object is stored as text.
void FocusRowReader::read_json(RowState& row, Charge& charge) {
  const std::string_view tags = value_of(row, tags_);
  charge.tags = {};
  if (!tags.empty()) {
    const std::optional<Labels>& parsed = tags_cache_.parse(tags);
    row.tags_unread = !parsed;
    if (parsed) charge.tags = *parsed;
  }

  charge.sku_price_details.clear();
  charge.instance_type.clear();
  if (const std::string_view details = value_of(row, details_); !details.empty()) {
    auto cached = details_cache_.find(std::string(details));
    if (cached == details_cache_.end()) {
      if (details_cache_.size() >= kDetailsCachedMax) details_cache_.clear();
      auto parsed = json_.parse_instance_type(details);
      cached =
          details_cache_.emplace(details, parsed ? std::optional(std::move(*parsed)) : std::nullopt)
              .first;
    }
    row.details_unread = !cached->second;
    if (cached->second) {
      charge.sku_price_details = details;
      charge.instance_type = *cached->second;
    }
  }
  if (charge.instance_type.empty() && instance_type_) {
    charge.instance_type =
        bill::text_or_null(row.fields[*instance_type_], row.quoted[*instance_type_] != 0);
  }
}

void FocusRowReader::keep_others(const RowState& row, Charge& charge) const {
  std::string& out = charge.other_columns;
  out.clear();
  for (const OtherColumn& other : others_) {
    const std::string_view text =
        bill::text_or_null(row.fields[other.at], row.quoted[other.at] != 0);
    if (text.empty()) continue;
    switch (other.keep) {
      case KeepRule::kAlways:
        break;
      case KeepRule::kUnlessProvider:
        if (text == charge.service_provider_name) continue;
        break;
      case KeepRule::kIfUnreadTags:
        if (!row.tags_unread) continue;
        break;
      case KeepRule::kIfUnreadDetails:
        if (!row.details_unread) continue;
        break;
      case KeepRule::kIfNotInstanceType:
        if (text == charge.instance_type) continue;
        break;
      case KeepRule::kIfTooLarge:
        if ((row.too_large >> other.number & 1u) == 0) continue;
        break;
      case KeepRule::kIfZeroLength:
        if (!row.zero_length) continue;
        break;
      case KeepRule::kIfUnknownCode:
        if ((row.unknown_codes >> other.number & 1u) == 0) continue;
        break;
      case KeepRule::kIfNoPeriod:
        if (!row.no_period) continue;
        break;
    }
    out += out.empty() ? '{' : ',';
    out += other.json_key;
    append_stored_json_string(out, text);
  }
  if (!out.empty()) out += '}';
}

}  // namespace pennyweight::focus
