#include "ingest/schedulers/slurm/node_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/text_lines.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/hostlist.h"
#include "ingest/schedulers/slurm/outage_pieces.h"
#include "ingest/schedulers/slurm/recorded_time.h"
#include "ingest/schedulers/slurm/rejection.h"
#include "ingest/schedulers/slurm/scontrol_nodes.h"

namespace pennyweight::slurm {
namespace {

constexpr char kBar = '|';
constexpr std::size_t kEventReasonBytesMax = 400;  // as of scontrol
// How far the clocks of Slurm's machines may be ahead of ours.
constexpr std::chrono::minutes kEventClockSkewMax{5};

enum EventColumn : std::size_t { kOfCluster, kOfNode, kFrom, kTo, kOfState, kWhy, kEventColumns };
constexpr std::array<std::string_view, kEventColumns> kEventColumnNames = {
    "Cluster", "NodeName", "TimeStart", "TimeEnd", "State", "Reason"};

// Where the columns are.
struct EventHeader {
  std::size_t count = 0;
  std::array<std::optional<std::size_t>, kEventColumns> at{};
  bool has_all() const { return at[kOfNode] && at[kFrom] && at[kTo] && at[kOfState]; }
};

std::vector<std::string_view> split_bars(std::string_view line) {
  std::vector<std::string_view> fields;
  while (fields.size() <= limits::kColumnsMax) {
    const std::size_t bar = line.find(kBar);
    fields.push_back(line.substr(0, bar));
    if (bar == std::string_view::npos) break;
    line.remove_prefix(bar + 1);
  }
  return fields;
}

EventHeader read_event_header(std::string_view line) {
  EventHeader header;
  const auto fields = split_bars(line);
  header.count = fields.size();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (std::size_t c = 0; c < kEventColumns; ++c) {
      if (ascii::lower_case(fields[i]) == ascii::lower_case(kEventColumnNames[c]) &&
          !header.at[c]) {
        header.at[c] = i;
      }
    }
  }
  return header;
}

using EventFields = std::array<std::string_view, kEventColumns>;

// The reason takes the bars that are too many. Nothing: the row has too few, or no reason to take
// them.
std::optional<EventFields> fields_of(std::string_view line, const EventHeader& header) {
  auto fields = split_bars(line);
  if (fields.size() < header.count) return std::nullopt;
  const std::size_t more = fields.size() - header.count;
  if (more > 0) {
    if (!header.at[kWhy]) return std::nullopt;
    const std::size_t first = *header.at[kWhy];
    const std::string_view last = fields[first + more];
    fields[first] = {fields[first].data(),
                     static_cast<std::size_t>(last.data() + last.size() - fields[first].data())};
    const auto after = fields.begin() + static_cast<std::ptrdiff_t>(first) + 1;
    fields.erase(after, after + static_cast<std::ptrdiff_t>(more));
  }
  EventFields found;
  for (std::size_t c = 0; c < kEventColumns; ++c) {
    if (header.at[c]) found[c] = fields[*header.at[c]];
  }
  return found;
}

std::expected<Instant, Rejection> read_event_time(EventColumn column, std::string_view text,
                                                  const TimeZone& zone) {
  const std::string name(kEventColumnNames[column]);
  if (const auto absolute = parse_absolute_time(text)) {
    if (*absolute) return **absolute;
    return reject(name, absolute->error().message);
  }
  const auto earlier = parse_local_time(text, zone, Ambiguous::kEarlier);
  if (!earlier) return reject(name, earlier.error().message);
  if (*earlier != parse_local_time(text, zone, Ambiguous::kLater)) {
    return reject(name, "the zone has this time twice; export with SLURM_TIME_FORMAT=%s");
  }
  return *earlier;
}

// Nothing: it lasted less than a second.
std::expected<std::optional<NodeEvent>, Rejection> read_event(const EventFields& fields,
                                                              const NodeEventOptions& options) {
  const std::string_view name = fields[kOfNode];
  const auto hosts = expand_hostlist(name);
  if (!hosts || hosts->size() != 1 || hosts->front() != name) {
    return reject("NodeName", fmt::format("'{}' is not the name of one node", name.substr(0, 60)));
  }
  const Instant from = TRY(read_event_time(kFrom, fields[kFrom], options.zone));
  const bool has_ended = fields[kTo] != "Unknown";
  Instant to = options.now;
  if (has_ended) {
    to = TRY(read_event_time(kTo, fields[kTo], options.zone));
    if (to < from) return reject("TimeEnd", "it is before the start");
  } else {
    to = std::max(to, from);
  }
  if (to > options.now + kEventClockSkewMax || from > options.now + kEventClockSkewMax) {
    return reject(has_ended ? "TimeEnd" : "TimeStart",
                  fmt::format("it is later than now ({})", to_text(options.now)));
  }
  if (to == from) return std::nullopt;
  if (to - from > kNodeEventMax) {
    return reject(
        "TimeStart",
        fmt::format("the node was out of use for more than {} days: describe it with its end in an "
                    "inventory file, or give the time that was paid for as a table of outages",
                    kNodeEventMax.count() / 24));
  }
  return NodeEvent{
      .node = NodeId(std::string(name)),
      .during = Interval(from, to),
      .has_ended = has_ended,
      .reason = shown_as_utf8(
          (fields[kWhy].empty() ? fields[kOfState] : fields[kWhy]).substr(0, kEventReasonBytesMax)),
      .source = {}};
}

}  // namespace

bool is_node_events(std::string_view beginning) {
  beginning = without_byte_order_mark(beginning);
  return read_event_header(take_line(beginning)).has_all();
}

Result<NodeEvents> parse_node_events(std::string_view text, const NodeEventOptions& options) {
  text = without_byte_order_mark(text);
  if (text.size() > limits::kDocumentBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("the file has {} bytes, more than the limit of {}",
                                               text.size(), limits::kDocumentBytesMax));
  }
  const std::string_view first = take_line(text);
  const EventHeader header = read_event_header(first);
  if (!header.has_all()) {
    return fail(ErrorCode::kBadFile,
                fmt::format("'{}' has no columns NodeName, TimeStart, TimeEnd and State: export "
                            "with sacctmgr --parsable2 show event, without --noheader",
                            shown_as_utf8(first.substr(0, 60))));
  }
  NodeEvents found;
  std::optional<std::string> cluster;
  std::size_t rows = 0;
  for (std::uint64_t number = 2; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty() || line == first) continue;
    if (++rows > kNodeEventsMax) {
      return fail(ErrorCode::kLimit,
                  fmt::format("there are more than {} events; export them year by year, with "
                              "Start= and End=",
                              kNodeEventsMax));
    }
    const auto fields = fields_of(line, header);
    std::optional<Rejection> refused;
    if (!fields) {
      refused = {.column = "",
                 .reason =
                     "the row has fewer fields than there are columns, or more where there "
                     "is no column Reason: it may be cut off"};
    } else {
      const std::string of = shown_as_utf8((*fields)[kOfCluster].substr(0, limits::kIdBytesMax));
      if (header.at[kOfCluster] && cluster && *cluster != of) {
        return fail(ErrorCode::kBadFile,
                    fmt::format("it has events of the clusters {} and {}: export one at a time, "
                                "with Clusters={}",
                                *cluster, of, *cluster));
      }
      cluster = of;
      if ((*fields)[kOfNode].empty() || !is_out_of_use((*fields)[kOfState])) {
        ++found.passed;
        continue;
      }
      auto event = read_event(*fields, options);
      if (!event) {
        refused = std::move(event).error();
      } else if (*event) {
        if (!(*event)->has_ended) ++found.going_on;
        (*event)->source = {.line = number};
        found.events.push_back(std::move(**event));
      } else {
        ++found.passed;
      }
    }
    if (!refused) continue;
    found.rejected.push_back(
        {.file = options.file,
         .line = number,
         .column = refused->column,
         .reason = refused->reason,
         .text = shown_as_utf8(line.substr(0, limits::kRejectedTextBytesMax))});
  }
  return found;
}

Result<void> give_outages(const NodeEvents& events, const ClusterId& cluster,
                          const OutageSink& sink) {
  std::vector<Outage> outages;
  std::size_t given = 0;
  for (const NodeEvent& event : events.events) {
    const std::size_t before = outages.size();
    append_outage_pieces(cluster, event.node, event.reason, event.during, event.has_ended, outages);
    for (std::size_t i = before; i < outages.size(); ++i) outages[i].source = event.source;
    if (given + outages.size() > kOutagePiecesMax) {
      return fail(ErrorCode::kLimit,
                  fmt::format("the outages up to line {} have more than {} quarters of an hour; "
                              "export less at a time, with Start= and End=",
                              event.source.line, kOutagePiecesMax));
    }
    if (outages.size() < limits::kBatchRows) continue;
    TRY(sink(outages));
    given += outages.size();
    outages.clear();
  }
  if (outages.empty()) return {};
  return sink(outages);
}

}  // namespace pennyweight::slurm
