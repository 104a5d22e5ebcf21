// /api/v1/annotations: what people write beside the costs of some days.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/ascii.h"
#include "core/plain_text.h"
#include "core/whole_count.h"
#include "reporting/queries/selection.h"
#include "server/access/principal.h"
#include "server/annotation_book/annotation_book.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/recorded_change.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

using server::problem;
using server::Request;
using server::Response;

constexpr std::string_view kAnnotationList = "annotations";
constexpr std::string_view kAnnotateAction = "annotation.add";
constexpr std::string_view kUnannotateAction = "annotation.remove";
constexpr std::uint64_t kAnnotationIdMax = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kAnnotationFilterBytesMax = 1'000;  // of all filters of one annotation
constexpr std::chrono::days kAnnotatedDaysMax{366};

// Nothing: a filter names what the policy no longer knows.
std::optional<std::vector<SummaryFilter>> read_annotation_scope(
    const std::vector<std::string>& filters, const Policy& policy) {
  std::vector<SummaryFilter> scope;
  for (const std::string& text : filters) {
    const auto parsed = parse_filter(text, policy);
    if (!parsed) return std::nullopt;
    scope.insert(scope.end(), parsed->begin(), parsed->end());
  }
  return scope;
}

// Whether the user sees all the costs that it is about.
bool sees_costs_of(const access::Principal& who, const Annotation& one, const Policy& policy) {
  if (!who.is_scoped()) return true;
  const auto scope = read_annotation_scope(one.filters, policy);
  return scope && access::covers(who.scope, *scope);
}

bool may_see_annotation(const access::Principal& who, const Annotation& one, const Policy& policy) {
  return one.for_everyone || sees_costs_of(who, one, policy);
}

bool may_remove_annotation(const access::Principal& who, const Annotation& one) {
  return access::may(who, access::Permission::kManageBudgets) &&
         (one.who == who.name ||
          (!who.is_scoped() && access::may(who, access::Permission::kManageUsers)));
}

void write_annotation(JsonWriter& out, const Annotation& one, const access::Principal& who) {
  out.begin_object()
      .field("id", one.id)
      .field("first", one.first)
      .field("last", one.last)
      .texts("filter", one.filters)
      .field("for_everyone", one.for_everyone)
      .field("text", one.text)
      .field("who", one.who)
      .field("at", one.at)
      .field("removable", may_remove_annotation(who, one))
      .end_object();
}

std::string annotation_facts(const Annotation& one) {
  JsonWriter out;
  out.begin_object()
      .field("first", one.first)
      .field("last", one.last)
      .texts("filter", one.filters)
      .field("for_everyone", one.for_everyone)
      .field("text", one.text)
      .end_object();
  return out.text();
}

std::string annotation_subject(const Annotation& one) {
  return fmt::format("annotation {} of {}", one.id, one.who);
}

Response no_annotations() { return problem(409, "Conflict", "This server keeps no annotations."); }

// The latest days come first; of the same days, what was written last.
std::string annotation_key(const Annotation& one) {
  const auto number = [](auto days) { return static_cast<std::uint64_t>(days.count()); };
  return descending_key(number(one.first.time_since_epoch())) + "\n" + descending_key(one.id);
}

void check_annotation_text(JsonBody& body, const std::string& text) {
  if (text.size() > kAnnotationTextBytesMax || !is_plain_text(text)) {
    body.reject("text", fmt::format("must be a text of at most {} bytes", kAnnotationTextBytesMax));
  } else if (text.empty()) {
    body.reject("text", "is blank");
  }
}

void check_annotated_days(JsonBody& body, const Annotation& one) {
  if (one.last < one.first) {
    body.reject("last", fmt::format("is before the first day, {}", to_text(one.first)));
  } else if (one.last - one.first >= kAnnotatedDaysMax) {
    body.reject("last",
                fmt::format("an annotation is about at most {} days", kAnnotatedDaysMax.count()));
  }
}

void check_annotation_filters(JsonBody& body, const std::vector<std::string>& filters,
                              const Policy& policy) {
  std::size_t bytes = 0;
  for (const std::string& filter : filters) {
    bytes += filter.size();
    if (const auto sound = parse_filter(filter, policy); !sound) {
      return body.reject("filter", sound.error().message);
    }
  }
  if (filters.size() > kFiltersMax || bytes > kAnnotationFilterBytesMax) {
    body.reject("filter", fmt::format("at most {} filters of at most {} bytes together",
                                      kFiltersMax, kAnnotationFilterBytesMax));
  }
}

Date read_annotated_day(JsonBody& body, const std::string& name, const std::string& text) {
  const auto day = parse_date(text);
  if (!day) body.reject(name, day.error().message);
  return day.value_or(Date());
}

}  // namespace

Response get_annotations(const Services& services, const Request& request) {
  QueryParams params(request);
  const auto from = params.date("from");
  const auto to = params.date("to");
  const Page page = params.page(kAnnotationList);
  if (auto problem = params.problem()) return *std::move(problem);
  std::vector<Annotation> all;
  if (services.annotation_book != nullptr) {
    auto kept = services.annotation_book->annotations();
    if (!kept) return refusal(kept.error());
    all = *std::move(kept);
  }
  const access::Principal& who = principal_of(request);
  std::erase_if(all, [&](const Annotation& one) {
    return (from && one.last < *from) || (to && one.first > *to) ||
           !may_see_annotation(who, one, services.config.policy);
  });
  std::ranges::sort(all, {}, annotation_key);
  const auto part = cut_page(kAnnotationList, page, std::move(all), annotation_key);
  return list(part.entries, part.next,
              [&](JsonWriter& out, const Annotation& one) { write_annotation(out, one, who); });
}

Response add_annotation(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const access::Principal& who = principal_of(request);
  Annotation one{.filters = body.texts("filter").value_or(std::vector<std::string>()),
                 .for_everyone = body.boolean("for_everyone").value_or(false),
                 .text = std::string(ascii::trim(body.required("text"))),
                 .who = who.name,
                 .at = services.clock.now()};
  const std::string first = body.required("first");
  one.first = read_annotated_day(body, "first", first);
  one.last = read_annotated_day(body, "last", body.text("last").value_or(first));
  check_annotation_text(body, one.text);
  check_annotated_days(body, one);
  check_annotation_filters(body, one.filters, services.config.policy);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (services.annotation_book == nullptr) return no_annotations();
  if (!sees_costs_of(who, one, services.config.policy)) {
    return problem(403, "Forbidden",
                   "You see a part of these costs only; name values of your scope, such as "
                   "filter team=nlp.");
  }
  if (one.for_everyone && who.is_scoped()) {
    return problem(403, "Forbidden",
                   "Only users without a scope write what everybody sees; leave out for_everyone.");
  }
  const auto added =
      services.annotation_book->add(one, [&](const Annotation& kept) -> Result<void> {
        return append(services, request, kAnnotateAction, annotation_subject(kept), "",
                      annotation_facts(kept));
      });
  if (!added) {
    record_failure(services.audit_log, author_of(request), kAnnotateAction,
                   fmt::format("annotation of {}", one.who), added.error());
    return refusal(added.error());
  }
  JsonWriter out;
  write_annotation(out, *added, who);
  return json(out, 201);
}

Response remove_annotation(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const Response missing = not_found(fmt::format("there is no annotation {}", request.param("id")));
  const auto id = parse_count(request.param("id"), kAnnotationIdMax);
  if (!id) return missing;
  if (services.annotation_book == nullptr) return no_annotations();
  const auto all = services.annotation_book->annotations();
  if (!all) return refusal(all.error());
  const auto found = std::ranges::find(*all, *id, &Annotation::id);
  const access::Principal& who = principal_of(request);
  if (found == all->end() || !may_see_annotation(who, *found, services.config.policy))
    return missing;
  if (!may_remove_annotation(who, *found)) {
    return problem(403, "Forbidden",
                   fmt::format("{} has written it; an admin can remove it too.", found->who));
  }
  const std::string subject = annotation_subject(*found);
  const auto removed =
      services.annotation_book->remove(*id, [&](const Annotation& kept) -> Result<void> {
        return append(services, request, kUnannotateAction, annotation_subject(kept),
                      annotation_facts(kept), "");
      });
  if (removed) return Response{.status = 204};
  record_failure(services.audit_log, author_of(request), kUnannotateAction, subject,
                 removed.error());
  return refusal(removed.error());
}

}  // namespace pennyweight::api
