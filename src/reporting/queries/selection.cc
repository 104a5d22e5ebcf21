#include "reporting/queries/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/nearest.h"
#include "core/billing_period.h"
#include "core/instant.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ledger/posting.h"
#include "reporting/queries/holding_dimensions.h"

namespace pennyweight {
namespace {

std::vector<std::string> known_dimensions(const Policy& policy) {
  std::vector<std::string> names;
  for (const DimensionRule& rule : policy.dimensions) names.push_back(rule.dimension);
  names.insert(names.end(), std::begin(kBuiltInDimensions), std::end(kBuiltInDimensions));
  return names;
}

// A name that reports of holdings know: says how costs come to have it.
Result<void> check_dimension_of_holdings(const std::string& name) {
  const std::vector<std::string> known = holding_dimensions();
  const std::string label = name.starts_with("label:") ? name.substr(6) : std::string();
  if (label.empty() && std::ranges::find(known, name) == known.end()) return {};
  const auto labels = label.empty() ? labels_of_dimension(name) : std::vector{label};
  const std::string rule = labels.empty()
                               ? ""
                               : fmt::format(
                                     "; costs have it after 'pennyweight allocate' with the rule "
                                     "dimensions: {{{}: {{from: [{}]}}}}",
                                     label.empty() ? name : label, fmt::join(labels, ", "));
  return fail(
      ErrorCode::kBadValue,
      fmt::format("'{}' is a dimension of holdings and not of costs; see 'pennyweight report "
                  "--as activity --by {}'{}",
                  name, name, rule));
}

Result<void> check_dimension(const std::string& name, const Policy& policy) {
  const std::vector<std::string> known = known_dimensions(policy);
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  if (is_tag_dimension(name) && name.size() <= limits::kLabelKeyBytesMax && is_plain_text(name)) {
    return {};
  }
  TRY(check_dimension_of_holdings(name));
  std::string list;
  for (const std::string& dimension : known) list += (list.empty() ? "" : ", ") + dimension;
  return fail(
      ErrorCode::kBadValue,
      fmt::format("there is no dimension '{}'{}; the dimensions are {}, and tag:KEY for a tag "
                  "of the bill",
                  name, suggestion(name, known), list));
}

// "cluster=a,kind=used" is two filters, and not a cluster of the name "kind=used".
Result<void> check_one_filter(std::string_view text, const std::vector<std::string>& values,
                              const Policy& policy) {
  const std::vector<std::string> known = known_dimensions(policy);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const std::size_t equals = values[i].find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string name = values[i].substr(0, equals - (values[i][equals - 1] == '!' ? 1 : 0));
    if (std::find(known.begin(), known.end(), name) == known.end()) continue;
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is two filters; give each its own --filter, and write a comma "
                            "within a value as \\,",
                            text));
  }
  return {};
}

// "unallocated" of "(unallocated)".
std::optional<std::string> parse_kind_key(std::string_view value) {
  if (value.size() < 2 || value.front() != '(' || value.back() != ')') return std::nullopt;
  const std::string_view kind = value.substr(1, value.size() - 2);
  return parse_posting_kind(kind) ? std::optional(std::string(kind)) : std::nullopt;
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> values(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escapes =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == '\\');
    if (escapes) {
      values.back() += text[++i];
    } else if (text[i] == ',') {
      values.emplace_back();
    } else {
      values.back() += text[i];
    }
  }
  return values;
}

Result<std::vector<std::string>> parse_dimensions(const std::vector<std::string>& texts,
                                                  const Policy& policy) {
  std::vector<std::string> dimensions;
  for (const std::string& text : texts) {
    for (std::string& name : split_list(text)) {
      TRY(check_dimension(name, policy));
      if (std::find(dimensions.begin(), dimensions.end(), name) != dimensions.end()) {
        return fail(ErrorCode::kBadValue, fmt::format("the dimension '{}' is listed twice", name));
      }
      dimensions.push_back(std::move(name));
    }
  }
  return dimensions;
}

Result<std::vector<SummaryFilter>> parse_filter(std::string_view text, const Policy& policy) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a filter; write it as team=nlp,cv or team!=nlp", text));
  }
  const bool negate = text[equals - 1] == '!';
  const std::string dimension(text.substr(0, negate ? equals - 1 : equals));
  TRY(check_dimension(dimension, policy));
  std::vector<std::string> values = split_list(text.substr(equals + 1));
  TRY(check_one_filter(text, values, policy));
  if (values.size() == 1 && !negate) return row_filters(dimension, values[0]);
  for (const std::string& value : values) {
    if (dimension == "kind" || !parse_kind_key(value)) continue;
    return fail(
        ErrorCode::kBadValue,
        fmt::format("'{}': {} is a kind, which can't be combined with other values; filter by "
                    "kind{}={} instead",
                    text, value, negate ? "!" : "", *parse_kind_key(value)));
  }
  return std::vector{SummaryFilter{dimension, std::move(values), negate}};
}

Result<void> check_scope_dimensions(const std::vector<SummaryFilter>& scope, const Policy& policy) {
  for (const SummaryFilter& part : scope) {
    TRY(check_dimension(part.dimension, policy));
  }
  return {};
}

std::vector<SummaryFilter> row_filters(const std::string& dimension, const std::string& key) {
  if (dimension == "cluster" && key == "(no cluster)") return {{dimension, {""}, false}};
  const auto kind = parse_kind_key(key);
  if (kind && dimension == "kind") return {{dimension, {*kind}, false}};
  if (kind) return {{dimension, {""}, false}, {"kind", {*kind}, false}};
  return {{dimension, {key}, false}};
}

Result<void> apply_dates(const DateOptions& dates, SummaryQuery& query) {
  if (!dates.month.empty()) {
    TRY(check_month(dates.month));
    query.filters.push_back({"month", {dates.month}, false});
  }
  if (!dates.from.empty()) {
    const auto day = TRY(parse_day(dates.from));
    query.first_day = day;
  }
  if (!dates.to.empty()) {
    const auto day = TRY(parse_day(dates.to));
    query.last_day = day;
  }
  if (query.first_day && query.last_day && *query.last_day < *query.first_day) {
    return fail(ErrorCode::kBadValue,
                fmt::format("the last day {} is before the first, {}", dates.to, dates.from));
  }
  return {};
}

Result<void> check_month(std::string_view text) {
  if (BillingPeriod::parse(text, TimeZone::utc())) return {};
  return fail(ErrorCode::kBadValue, fmt::format("'{}' is not a month; write it as 2026-03", text));
}

Result<Date> parse_day(std::string_view text) {
  auto date = parse_date(text);
  if (!date) return fail(ErrorCode::kBadValue, date.error().message);
  return date;
}

}  // namespace pennyweight
