#include "ingest/focus/charge_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "ingest/bill/currency_code.h"
#include "ingest/bill/number.h"

namespace pennyweight::focus {
namespace {

// How many different Tags and SkuPriceDetails are remembered; then the memory is given back.
constexpr std::size_t kJsonRemembered = 4096;

constexpr std::string_view kCostColumns[] = {"BilledCost", "EffectiveCost", "ListCost",
                                             "ContractedCost"};
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

bool is_null_word(std::string_view text) {
  if (text.size() == 2) return text == "\\N";
  return text.size() == 4 && (text == "NULL" || text == "null");
}

// Of a number, time or code, where no word may stand.
bool is_null(std::string_view text) { return text.empty() || is_null_word(text); }

std::string_view text_or_null(std::string_view text, bool quoted) {
  return !quoted && is_null_word(text) ? std::string_view{} : text;
}

std::string shown(std::string_view text) { return std::string(text.substr(0, 60)); }

Fault must_be_one_of(std::string_view column, std::string_view text, std::string_view allowed) {
  return {std::string(column), fmt::format("{} '{}' is not one that FOCUS knows; write {}", column,
                                           shown(text), allowed)};
}

Result<ParsedDecimal> number_of(std::string_view column, std::string_view text) {
  auto parsed = bill::parse_printed_number(text);
  if (parsed) return parsed;
  return fail(parsed.error().code,
              fmt::format("{}: {}; write digits with a point, at most a '-' before them, and no "
                          "separators or symbols",
                          column, parsed.error().message));
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Google's view writes "usage" and "committed". The code as FOCUS spells it; else the text itself.
std::string_view in_case_of_focus(std::string_view text) {
  constexpr std::string_view kCodes[] = {"Usage",      "Purchase",   "Tax",         "Credit",
                                         "Adjustment", "Correction", "One-Time",    "Recurring",
                                         "Standard",   "Dynamic",    "Committed",   "Other",
                                         "Spend",      "Used",       "Usage-Based", "Unused"};
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  for (const std::string_view code : kCodes) {
    if (std::ranges::equal(text, code, same)) return code;
  }
  return text;
}

// The code that `parse` reads; in another letter case it is counted.
template <class Parse>
auto code_of(std::string_view text, Parse parse, bool& was_respelled) {
  auto code = parse(text);
  if (code) return code;
  code = parse(in_case_of_focus(text));
  was_respelled = was_respelled || code.has_value();
  return code;
}

std::optional<std::string_view> parse_spend_or_usage(std::string_view text) {
  if (text == "Spend" || text == "Usage") return text;
  return std::nullopt;
}

std::optional<std::string_view> parse_class(std::string_view text) {
  if (text == "Correction") return text;
  return std::nullopt;
}

// "…00.123456Z" as "…00.123Z"; empty where there is nothing finer than a millisecond.
std::string to_milliseconds(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return {};
  std::size_t end = point + 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  if (end - point <= 4) return {};
  return std::string(text.substr(0, point + 4)).append(text.substr(end));
}

// The day in UTC of a moment.
Interval day_of(Instant moment) {
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  return {day, day + std::chrono::days(1)};
}

bool has_custom_name(std::string_view name) { return name.starts_with("x_"); }

}  // namespace

std::optional<std::size_t> ChargeReader::find(std::string_view name) const {
  const auto at = places_.find(std::string(name));
  if (at == places_.end()) return std::nullopt;
  return at->second;
}

Result<ChargeReader> ChargeReader::of(const csv::Header& header) {
  if (const auto needed = header.require(kNeededColumns); !needed) {
    return std::unexpected(Error{ErrorCode::kBadFile,
                                 needed.error().message +
                                     "; a bill is the FOCUS dataset Cost and Usage: export it with "
                                     "these columns"});
  }
  ChargeReader reader;
  reader.names_ = header.names();
  for (std::size_t i = 0; i < header.size(); ++i) reader.places_[header.names()[i]] = i;
  // Names of today take precedence over old ones, and the first old one over the rest.
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string_view today = renamed(header.names()[i]);
    if (!today.empty()) reader.places_.emplace(today, i);
  }
  reader.version_ = detect_version(header.names());

  for (std::size_t i = 0; i < 4; ++i) {
    const auto cost = header.find(kCostColumns[i]);
    CHECK(cost || i == kContracted, "the other three are needed");
    reader.costs_[i] = cost.value_or(reader.costs_[0]);
    reader.lacks_contracted_ = !cost;
    reader.periods_[i] = *header.find(kPeriodColumns[i]);
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

void ChargeReader::plan_other_columns(const csv::Header& header) {
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
    Keep keep = Keep::kAlways;
    if (i == tags_) keep = Keep::kIfUnreadTags;
    if (i == details_) keep = Keep::kIfUnreadDetails;
    if (i == instance_type_) keep = Keep::kIfNotInstanceType;
    if (name == "ProviderName" || name == "PublisherName") keep = Keep::kUnlessProvider;
    std::string key;
    bill::append_json_string(key, name);
    others_.push_back({name, key + ":", i, keep, 0});
  }
  const auto keep_where = [&](std::size_t at, Keep keep, std::size_t number) {
    const std::string name = "x_" + header.names()[at];
    if (header.find(name)) return;
    std::string key;
    bill::append_json_string(key, name);
    others_.push_back({name, key + ":", at, keep, number});
  };
  keep_where(periods_[2], Keep::kIfMoment, 0);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    keep_where(numbers_[i].at, Keep::kIfTooLarge, i);
  }
  std::ranges::sort(others_, {}, &OtherColumn::name);
}

void ChargeReader::note_warnings(const csv::Header& header) {
  std::vector<std::string_view> missing;
  for (const Column& column : columns()) {
    const bool expected = column.mandatory && column.since <= version_ && version_ <= column.until;
    if (expected && !find(column.name)) missing.push_back(column.name);
  }
  if (!missing.empty()) {
    warnings_.push_back(fmt::format("FOCUS {} has columns that this file lacks: {}",
                                    name_of(version_), fmt::join(missing, ", ")));
  }
  std::vector<std::string_view> unknown;
  for (const std::string& name : header.names()) {
    const bool known =
        find_column(name) != nullptr || has_custom_name(name) || !renamed(name).empty();
    if (!known) unknown.push_back(name);
  }
  if (!unknown.empty()) {
    warnings_.push_back(
        fmt::format("columns that are neither of FOCUS nor begin with x_ are kept as "
                    "they are: {}",
                    fmt::join(unknown, ", ")));
  }
}

std::vector<std::string> ChargeReader::warnings() const {
  std::vector<std::string> all = warnings_;
  if (lacks_contracted_ && rows_ > 0) {
    all.push_back(
        fmt::format("the file has no ContractedCost; in {} rows BilledCost took its place", rows_));
  }
  const auto note = [&all](std::uint64_t rows, std::string_view what) {
    if (rows > 0) all.push_back(fmt::format("in {} {} {}", rows, rows == 1 ? "row" : "rows", what));
  };
  note(lenient_.contracted, "ContractedCost is empty; BilledCost took its place");
  note(lenient_.list, "ListCost is empty; ContractedCost took its place");
  note(lenient_.codes, "codes are in another letter case than FOCUS's, such as usage for Usage");
  note(lenient_.moments,
       "the charge period is a moment; usage was taken for its day, the rest for its billing "
       "period, and the moment is kept as x_ChargePeriodStart");
  note(lenient_.cut_times, "times are finer than a millisecond, and were cut");
  note(lenient_.too_large,
       "a quantity or unit price is 10^20 or more; it is kept as text, and the row's money is "
       "taken");
  note(lenient_.credits,
       "there are x_Credits, and exports of Google differ in whether BilledCost is before or after "
       "them; compare its sum with the invoice, or import the detailed usage export");
  return all;
}

std::string_view ChargeReader::value_of(const RowState& row, std::optional<std::size_t> at) const {
  if (!at || is_null(row.fields[*at])) return {};
  return row.fields[*at];
}

std::optional<Fault> ChargeReader::read(std::span<const std::string_view> fields,
                                        std::span<const std::uint8_t> quoted, Charge& charge) {
  CHECK(fields.size() == names_.size() && quoted.size() == names_.size(),
        "the reader of rows compares their length with the header's");
  RowState row{.fields = fields, .quoted = quoted};
  if (auto fault = read_costs(row, charge)) return fault;
  if (auto fault = read_periods(row, charge)) return fault;
  if (auto fault = read_numbers(row, charge)) return fault;
  if (auto fault = read_codes(row, charge)) return fault;
  read_texts(row, charge);
  read_json(row, charge);
  keep_others(row, charge);
  count(row, charge);
  return std::nullopt;
}

void ChargeReader::count(const RowState& row, const Charge& charge) {
  ++rows_;
  rounded_numbers_ += row.rounded;
  unread_json_ += (row.tags_unread ? 1u : 0u) + (row.details_unread ? 1u : 0u);
  lenient_.list += row.list_empty ? 1 : 0;
  lenient_.contracted += row.contracted_empty ? 1 : 0;
  lenient_.codes += row.respelled ? 1 : 0;
  lenient_.moments += row.moment ? 1 : 0;
  lenient_.cut_times += row.cut_time ? 1 : 0;
  lenient_.too_large += row.too_large != 0 ? 1 : 0;
  const std::string_view credits = value_of(row, credits_);
  const bool has_credits = !credits.empty() && credits != "[]";
  if (has_credits && charge.service_provider_name.starts_with("Google")) ++lenient_.credits;
}

std::optional<Fault> ChargeReader::read_costs(RowState& row, Charge& charge) {
  const std::string_view code = row.fields[currency_];
  if (code != last_currency_text_ || last_currency_text_.empty()) {
    const auto currency = Currency::parse(code);
    if (!currency || !bill::is_iso_currency(code)) {
      return Fault{"BillingCurrency",
                   fmt::format("BillingCurrency '{}' is not a currency of ISO 4217; "
                               "write a code such as USD",
                               shown(code))};
    }
    last_currency_text_ = code;
    last_currency_ = *currency;
  }
  Money* const amounts[] = {&charge.costs.billed, &charge.costs.effective, &charge.costs.list,
                            &charge.costs.contracted};
  for (std::size_t i = 0; i < 4; ++i) {
    if (i == kContracted && lacks_contracted_) {
      *amounts[i] = charge.costs.billed;
      continue;
    }
    const std::string_view text = row.fields[costs_[i]];
    const std::string_view column = kCostColumns[i];
    if (is_null(text)) {
      row.list_empty = row.list_empty || i == kList;
      row.contracted_empty = row.contracted_empty || i == kContracted;
      if (i == kList || i == kContracted) continue;
      return Fault{
          std::string(column),
          fmt::format("{} is empty; FOCUS wants an amount in every row, 0 where there is none",
                      column)};
    }
    const auto parsed = number_of(column, text);
    if (!parsed) return Fault{std::string(column), parsed.error().message};
    row.rounded += parsed->rounded ? 1 : 0;
    *amounts[i] = Money::from_decimal(parsed->value, last_currency_);
  }
  if (row.contracted_empty) charge.costs.contracted = charge.costs.billed;
  if (row.list_empty) charge.costs.list = charge.costs.contracted;
  return std::nullopt;
}

Result<Instant> ChargeReader::instant_of(std::size_t slot, std::string_view text, RowState& row) {
  LastInstant& last = last_instants_[slot];
  if (text != last.text || text.empty()) {
    auto at = parse_instant(text);
    bool cut = false;
    if (!at) {
      const std::string shorter = to_milliseconds(text);
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

std::optional<Fault> ChargeReader::read_periods(RowState& row, Charge& charge) {
  std::array<Instant, 4> at{};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string_view text = row.fields[periods_[i]];
    const std::string_view column = kPeriodColumns[i];
    if (is_null(text)) {
      return Fault{std::string(column), fmt::format("{} is empty; write the time in UTC, such as "
                                                    "2026-03-01T00:00:00Z",
                                                    column)};
    }
    const auto parsed = instant_of(i, text, row);
    if (!parsed) {
      return Fault{std::string(column),
                   fmt::format("{}: {}; years are 1970 to 2199", column, parsed.error().message)};
    }
    at[i] = *parsed;
  }
  for (const std::size_t i : {0u, 2u}) {
    const auto interval = Interval::of(at[i], at[i + 1]);
    // The end of some billing periods is the beginning of their last day.
    const bool is_moment = i == 2 && at[2] == at[3];
    if (is_moment && at[0] <= at[2] && at[2] <= at[1] + std::chrono::days(1)) {
      row.moment = true;
      continue;
    }
    if (!interval) {
      return Fault{std::string(kPeriodColumns[i + 1]),
                   fmt::format("{} {} is not after {} {}; the end of a period is the first moment "
                               "after it",
                               kPeriodColumns[i + 1], to_text(at[i + 1]), kPeriodColumns[i],
                               to_text(at[i]))};
    }
    (i == 0 ? charge.billing_period : charge.charge_period) = *interval;
  }
  // What it is for the category tells, which is read later.
  if (row.moment) charge.charge_period = day_of(at[2]);
  return std::nullopt;
}

std::optional<Fault> ChargeReader::read_numbers(RowState& row, Charge& charge) {
  for (const NumberColumn& number : numbers_) {
    std::optional<Decimal>& out = charge.*number.member;
    out.reset();
    const std::string_view text = row.fields[number.at];
    if (is_null(text)) continue;
    const auto parsed = number_of(names_[number.at], text);
    if (!parsed && bill::is_number_out_of_range(text)) {
      row.too_large |= std::uint32_t{1} << (&number - numbers_.data());
      continue;
    }
    if (!parsed) return Fault{names_[number.at], parsed.error().message};
    row.rounded += parsed->rounded ? 1 : 0;
    out = parsed->value;
  }
  return std::nullopt;
}

std::optional<Fault> ChargeReader::read_codes(RowState& row, Charge& charge) const {
  const auto category = code_of(row.fields[category_], parse_charge_category, row.respelled);
  if (!category) {
    return must_be_one_of("ChargeCategory", row.fields[category_],
                          "Usage, Purchase, Tax, Credit or Adjustment");
  }
  charge.charge_category = *category;
  if (row.moment && *category != ChargeCategory::kUsage) {
    charge.charge_period = charge.billing_period;
  }

  const std::string_view correction = value_of(row, class_);
  if (!correction.empty() && !code_of(correction, parse_class, row.respelled)) {
    return must_be_one_of("ChargeClass", correction, "Correction, or nothing");
  }
  charge.is_correction = !correction.empty();

  charge.charge_frequency.reset();
  if (const std::string_view text = value_of(row, frequency_); !text.empty()) {
    charge.charge_frequency = code_of(text, parse_charge_frequency, row.respelled);
    if (!charge.charge_frequency) {
      return must_be_one_of("ChargeFrequency", text, "One-Time, Recurring or Usage-Based");
    }
  }
  charge.pricing_category.reset();
  if (const std::string_view text = value_of(row, pricing_category_); !text.empty()) {
    charge.pricing_category = code_of(text, parse_pricing_category, row.respelled);
    if (!charge.pricing_category) {
      return must_be_one_of("PricingCategory", text, "Standard, Dynamic, Committed or Other");
    }
  }
  charge.commitment_discount_category.clear();
  if (const std::string_view text = value_of(row, commitment_category_); !text.empty()) {
    const auto kind = code_of(text, parse_spend_or_usage, row.respelled);
    if (!kind) return must_be_one_of("CommitmentDiscountCategory", text, "Spend or Usage");
    charge.commitment_discount_category = *kind;
  }

  charge.commitment_discount_status.reset();
  if (const std::string_view text = value_of(row, commitment_status_); !text.empty()) {
    charge.commitment_discount_status = code_of(text, parse_used_or_unused, row.respelled);
    if (!charge.commitment_discount_status) {
      return must_be_one_of("CommitmentDiscountStatus", text, "Used or Unused");
    }
  }
  charge.capacity_reservation_status.reset();
  if (const std::string_view text = value_of(row, reservation_status_); !text.empty()) {
    charge.capacity_reservation_status = code_of(text, parse_used_or_unused, row.respelled);
    if (!charge.capacity_reservation_status) {
      return must_be_one_of("CapacityReservationStatus", text, "Used or Unused");
    }
  }
  return std::nullopt;
}

void ChargeReader::read_texts(const RowState& row, Charge& charge) const {
  for (const TextColumn& text : texts_) {
    (charge.*text.member).assign(text_or_null(row.fields[text.at], row.quoted[text.at] != 0));
  }
}

// The money of a row is not lost for a bad tag: what is no flat JSON object stays as text.
void ChargeReader::read_json(RowState& row, Charge& charge) {
  const std::string_view tags = value_of(row, tags_);
  if (tags.empty()) {
    charge.tags = {};
  } else {
    auto seen = tags_seen_.find(std::string(tags));
    if (seen == tags_seen_.end()) {
      if (tags_seen_.size() >= kJsonRemembered) tags_seen_.clear();
      auto parsed = json_.parse_tags(tags);
      seen =
          tags_seen_.emplace(tags, parsed ? std::optional(std::move(*parsed)) : std::nullopt).first;
    }
    row.tags_unread = !seen->second;
    if (seen->second) {
      charge.tags = *seen->second;
    } else {
      charge.tags = {};
    }
  }

  charge.sku_price_details.clear();
  charge.instance_type.clear();
  if (const std::string_view details = value_of(row, details_); !details.empty()) {
    auto seen = details_seen_.find(std::string(details));
    if (seen == details_seen_.end()) {
      if (details_seen_.size() >= kJsonRemembered) details_seen_.clear();
      auto parsed = json_.parse_instance_type(details);
      seen =
          details_seen_.emplace(details, parsed ? std::optional(std::move(*parsed)) : std::nullopt)
              .first;
    }
    row.details_unread = !seen->second;
    if (seen->second) {
      charge.sku_price_details = details;
      charge.instance_type = *seen->second;
    }
  }
  if (charge.instance_type.empty() && instance_type_) {
    charge.instance_type =
        text_or_null(row.fields[*instance_type_], row.quoted[*instance_type_] != 0);
  }
}

void ChargeReader::keep_others(const RowState& row, Charge& charge) const {
  std::string& out = charge.other_columns;
  out.clear();
  for (const OtherColumn& other : others_) {
    const std::string_view text = text_or_null(row.fields[other.at], row.quoted[other.at] != 0);
    if (text.empty()) continue;
    switch (other.keep) {
      case Keep::kAlways:
        break;
      case Keep::kUnlessProvider:
        if (text == charge.service_provider_name) continue;
        break;
      case Keep::kIfUnreadTags:
        if (!row.tags_unread) continue;
        break;
      case Keep::kIfUnreadDetails:
        if (!row.details_unread) continue;
        break;
      case Keep::kIfNotInstanceType:
        if (text == charge.instance_type) continue;
        break;
      case Keep::kIfTooLarge:
        if ((row.too_large >> other.number & 1u) == 0) continue;
        break;
      case Keep::kIfMoment:
        if (!row.moment) continue;
        break;
    }
    out += out.empty() ? '{' : ',';
    out += other.json_key;
    bill::append_json_string(out, text);
  }
  if (!out.empty()) out += '}';
}

}  // namespace pennyweight::focus
