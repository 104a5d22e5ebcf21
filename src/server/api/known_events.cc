// What people know of days to come: GET /api/v1/known-events, PUT and DELETE
// /api/v1/known-events/{name}, and their versions.
#include "server/api/known_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "config/config.h"
#include "core/try.h"
#include "reporting/queries/selection.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/endpoints.h"
#include "server/api/recorded_change.h"
#include "server/api/route_helpers.h"
#include "server/event_book/event_book.h"
#include "server/event_book/event_json.h"

namespace pennyweight::api {
namespace {

using forecasting::KnownEvent;
using server::problem;
using server::Request;
using server::Response;

constexpr std::string_view kKnownEventList = "known_events";
constexpr std::string_view kSetEventAction = "event.set";
constexpr std::string_view kRemoveEventAction = "event.remove";

Response no_event_book() {
  return problem(503, "Service unavailable", "This server keeps no known events.");
}

bool is_configured_event(const Services& services, const std::string& name) {
  const auto& all = services.config.events;
  return std::ranges::find(all, name, &KnownEvent::name) != all.end();
}

Response configured_event(const std::string& name) {
  return problem(409, "Conflict",
                 fmt::format("Event '{}' is part of the configuration; change it there.", name));
}

// Whether it is about a value of the user's scope, named with its dimension: what it does to other
// costs is not the user's to say.
bool may_change_event(const access::Principal& who, const KnownEvent& event) {
  if (!who.is_scoped()) return true;
  return !event.by.empty() && access::covers(who.scope, {{event.by, {event.key}, false}});
}

bool sees_event(const access::Principal& who, const KnownEvent& event) {
  if (!who.is_scoped() || event.key.empty()) return true;
  // A part of what a value costs is not the value.
  return std::ranges::all_of(who.scope, [&](const SummaryFilter& filter) {
    return !filter.negate && (event.by.empty() || event.by == filter.dimension) &&
           std::ranges::find(filter.values, event.key) != filter.values.end();
  });
}

Response event_out_of_scope() {
  return problem(403, "Forbidden",
                 "The event has to be about a value of your scope: name its dimension in by, such "
                 "as team, and the value in key.");
}

// The event that somebody has kept, if there is one of this name.
Result<std::optional<KnownEvent>> kept_event(const Services& services, const std::string& name) {
  const auto all = TRY(services.event_book->events());
  const auto found = std::ranges::find(all, name, &KnownEvent::name);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

EventBook::Recorder event_recorder(const Services& services, const Request& request,
                                   std::string_view action, const std::string& name) {
  return [&services, &request, action, name](const std::optional<KnownEvent>& before,
                                             const std::optional<KnownEvent>& after) {
    return append(services, request, action, "event " + name, before ? event_json(*before) : "",
                  after ? event_json(*after) : "");
  };
}

void write_event(JsonWriter& out, const Services& services, const access::Principal& who,
                 const KnownEvent& event) {
  const bool is_configured = is_configured_event(services, event.name);
  out.begin_object()
      .raw_field("event", event_json(event))
      .field("effect", event_effect(event))
      .field("is_configured", is_configured)
      .field("changeable", !is_configured && may_change_event(who, event) &&
                               access::may(who, access::Permission::kManageBudgets))
      .end_object();
}

}  // namespace

Result<std::vector<KnownEvent>> visible_events(const Services& services,
                                               const access::Principal& who) {
  const std::vector<KnownEvent>& configured = services.config.events;
  std::vector<KnownEvent> all =
      services.event_book == nullptr ? configured : TRY(services.event_book->with(configured));
  std::erase_if(all, [&](const KnownEvent& event) { return !sees_event(who, event); });
  return all;
}

Response get_known_events(const Services& services, const Request& request) {
  QueryParams params(request);
  const Page page = params.page(kKnownEventList);
  if (auto problem = params.problem()) return *std::move(problem);
  const access::Principal& who = principal_of(request);
  auto all = visible_events(services, who);
  if (!all) return refusal(all.error());
  // Those of the configuration need no names of their own, so that their days tell them apart.
  const auto key = [](const KnownEvent& event) {
    return to_text(event.from) + "\n" + event.name + "\n" + event_json(event);
  };
  std::ranges::sort(*all, {}, key);
  const auto part = cut_page(kKnownEventList, page, *std::move(all), key);
  return list(part.entries, part.next, [&](JsonWriter& out, const KnownEvent& event) {
    write_event(out, services, who, event);
  });
}

Response set_known_event(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (services.event_book == nullptr) return no_event_book();
  const std::string name(request.param("name"));
  JsonBody body(request);
  if (request.body.empty()) return bad_parameter("from", "missing");
  if (auto problem = body.unreadable()) return *std::move(problem);
  const auto event = parse_event_json(request.body, name);
  if (!event) return refusal(event.error());
  if (event->name != name) return bad_parameter("name", "the address names another event");
  if (is_configured_event(services, name)) return configured_event(name);
  if (!event->by.empty()) {
    const auto known = parse_dimensions({event->by}, services.config.policy);
    if (!known) return bad_parameter("by", known.error().message);
  }
  const access::Principal& who = principal_of(request);
  const auto kept = kept_event(services, name);
  if (!kept) return refusal(kept.error());
  // A name that is taken elsewhere is told, since the change can't be made; nothing else of it is.
  if (!may_change_event(who, *event) || (*kept && !may_change_event(who, **kept))) {
    return event_out_of_scope();
  }
  const auto set =
      services.event_book->set(*event, actor_name(who), services.clock.now(),
                               event_recorder(services, request, kSetEventAction, name));
  if (!set) {
    record_failure(services.audit_log, author_of(request), kSetEventAction, "event " + name,
                   set.error());
    return refusal(set.error());
  }
  JsonWriter out;
  write_event(out, services, who, *event);
  return json(out);
}

Response remove_known_event(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (services.event_book == nullptr) return no_event_book();
  const std::string name(request.param("name"));
  if (is_configured_event(services, name)) return configured_event(name);
  const access::Principal& who = principal_of(request);
  const auto kept = kept_event(services, name);
  if (!kept) return refusal(kept.error());
  if (!*kept || !sees_event(who, **kept)) {
    return not_found(fmt::format("nobody has kept an event '{}'", name));
  }
  if (!may_change_event(who, **kept)) return event_out_of_scope();
  const auto removed =
      services.event_book->remove(name, actor_name(who), services.clock.now(),
                                  event_recorder(services, request, kRemoveEventAction, name));
  if (removed) return Response{.status = 204};
  record_failure(services.audit_log, author_of(request), kRemoveEventAction, "event " + name,
                 removed.error());
  return refusal(removed.error());
}

Response get_known_event_versions(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const std::string name(request.param("name"));
  std::vector<EventChange> changes;
  if (services.event_book != nullptr) {
    auto all = services.event_book->history(name);
    if (!all) return refusal(all.error());
    changes = *std::move(all);
  }
  // A version that was about others is not shown.
  const access::Principal& who = principal_of(request);
  bool is_seen = !who.is_scoped();
  std::erase_if(changes, [&](const EventChange& change) {
    if (change.event) is_seen = sees_event(who, *change.event);
    return !is_seen;
  });
  if (changes.empty()) return not_found(fmt::format("nobody has kept an event '{}'", name));
  return list(changes, std::nullopt, [](JsonWriter& out, const EventChange& change) {
    out.begin_object()
        .field("number", change.number)
        .field("at", change.at)
        .field("who", change.who)
        .raw_field("event", change.event ? event_json(*change.event) : "null")
        .end_object();
  });
}

}  // namespace pennyweight::api
