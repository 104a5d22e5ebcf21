#include "app/cli/replay_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "core/instant.h"
#include "core/plain_text.h"
#include "insight/queries/replayed_runs.h"

namespace pennyweight {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 150;
constexpr double kRight = 20;
constexpr double kPlot = kWidth - kLeft - kRight;
constexpr std::string_view kWasColour = "#8a8f98";
constexpr std::string_view kIsColour = "#2f6fed";
constexpr std::array<std::string_view, 10> kColours = {"#2f6fed", "#e07b39", "#2e9e6b", "#b5488f",
                                                       "#c9a227", "#5b5bd6", "#d64550", "#3aa6b9",
                                                       "#7d8f2b", "#8a5a44"};

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable_text(text, 80)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string label(double x, double y, std::string_view text, std::string_view anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(text));
}

std::string rule(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#d5d8dd\"/>\n", x1,
      y1, x2, y2);
}

std::string document(double height, std::string_view title, const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"{3:.0f}\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{2}</text>\n{4}</svg>\n",
      kWidth, height, escaped(title), kLeft, body);
}

struct Point {
  double x;
  double y;
};

std::string polyline(const std::vector<Point>& points, std::string_view colour, bool dashed) {
  std::string path;
  for (const Point& point : points) path += fmt::format("{:.1f},{:.1f} ", point.x, point.y);
  return fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>\n", path,
      colour, dashed ? " stroke-dasharray=\"5 4\"" : "");
}

std::string legend(double y) {
  return polyline({{kLeft, y}, {kLeft + 24, y}}, kWasColour, true) +
         label(kLeft + 30, y + 4, "as it was, replayed", "start") +
         polyline({{kLeft + 170, y}, {kLeft + 194, y}}, kIsColour, false) +
         label(kLeft + 200, y + 4, "what if", "start");
}

std::string days_axis(const WhatIfMonth& month, double top, double bottom) {
  constexpr int kLabels = 6;
  std::string axis;
  const auto length = static_cast<std::int64_t>(month.period.length_ms());
  for (int i = 0; i <= kLabels; ++i) {
    const double x = kLeft + kPlot * i / kLabels;
    const Instant at = month.period.begin() + std::chrono::milliseconds(length * i / kLabels);
    axis += rule(x, top, x, bottom) + label(x, bottom + 16, to_text(at).substr(0, 10),
                                            i == 0         ? "start"
                                            : i == kLabels ? "end"
                                                           : "middle");
  }
  return axis;
}

// One figure of the moments as a panel.
std::string moments_panel(const WhatIfMonth& month, const what_if::WhatIf& result,
                          std::uint64_t what_if::Moment::* figure, double scale,
                          std::string_view title, double top) {
  constexpr double kHeight = 180;
  double most = 1;
  for (const auto* moments : {&result.moments_calibrated, &result.moments_would_be}) {
    for (const what_if::Moment& moment : *moments) {
      most = std::max(most, static_cast<double>(moment.*figure) / scale);
    }
  }
  const auto period = static_cast<double>(month.period.length_ms()) * 1000;
  const auto line = [&](const std::vector<what_if::Moment>& moments, std::string_view colour,
                        bool dashed) {
    std::vector<Point> points;
    for (const what_if::Moment& moment : moments) {
      points.push_back(
          {kLeft + kPlot * static_cast<double>(moment.at_us) / period,
           top + kHeight - kHeight * static_cast<double>(moment.*figure) / scale / most});
    }
    return polyline(points, colour, dashed);
  };
  std::string panel = label(kLeft - 8, top - 6, title, "end");
  for (int i = 0; i <= 2; ++i) {
    const double y = top + kHeight - kHeight * i / 2;
    panel += rule(kLeft, y, kLeft + kPlot, y) +
             label(kLeft - 8, y + 4, fmt::format("{:.0f}", most * i / 2), "end");
  }
  return panel + days_axis(month, top, top + kHeight) +
         line(result.moments_calibrated, kWasColour, true) +
         line(result.moments_would_be, kIsColour, false);
}

// The rows of a node: each span gets the first row that is free.
std::vector<std::size_t> rows_of_spans(const std::vector<NodeSpan>& spans, std::size_t& rows) {
  std::vector<Instant> free_at;
  std::vector<std::size_t> row_of;
  for (const NodeSpan& span : spans) {
    const auto row =
        std::ranges::find_if(free_at, [&](const Instant& at) { return at <= span.held.begin(); });
    row_of.push_back(static_cast<std::size_t>(row - free_at.begin()));
    if (row == free_at.end()) {
      free_at.push_back(span.held.end());
    } else {
      *row = span.held.end();
    }
  }
  rows = std::max<std::size_t>(1, free_at.size());
  return row_of;
}

std::string chart_title(const WhatIfMonth& month, std::string_view what) {
  return fmt::format("{}: {} of cluster {}", what, month.month, month.cluster.text());
}

}  // namespace

std::string over_time_svg(const WhatIfMonth& month, const what_if::WhatIf& result) {
  return document(
      520, chart_title(month, "Over time"),
      legend(42) + moments_panel(month, result, &what_if::Moment::waiting, 1, "jobs waiting", 76) +
          moments_panel(month, result, &what_if::Moment::held_milli, 1000, "GPUs held", 306));
}

std::string waits_svg(const WhatIfMonth& month, const what_if::WhatIf& result) {
  constexpr double kTop = 70;
  constexpr double kHeight = 300;
  constexpr std::array<std::pair<double, std::string_view>, 6> kTicks = {{{1, "1 s"},
                                                                          {60, "1 min"},
                                                                          {600, "10 min"},
                                                                          {3600, "1 h"},
                                                                          {86'400, "1 day"},
                                                                          {604'800, "1 week"}}};
  double most = 60;
  for (const auto* waits :
       {&result.calibrated.wait_percentiles, &result.would_be.wait_percentiles}) {
    if (!waits->empty()) most = std::max(most, static_cast<double>(waits->back()) / 1e6);
  }
  // By the logarithm: seconds and days are on one axis.
  const auto x_of = [&](double seconds) {
    return kLeft + kPlot * std::log1p(seconds) / std::log1p(most);
  };
  const auto line = [&](const std::vector<std::int64_t>& waits, std::string_view colour,
                        bool dashed) {
    std::vector<Point> points;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      points.push_back({x_of(static_cast<double>(waits[i]) / 1e6),
                        kTop + kHeight - kHeight * static_cast<double>(i) / 100});
    }
    return polyline(points, colour, dashed);
  };
  std::string body = legend(42) + label(kLeft, kTop + kHeight + 16, "0 s", "middle");
  for (const auto& [seconds, name] : kTicks) {
    if (seconds > most) break;
    body += rule(x_of(seconds), kTop, x_of(seconds), kTop + kHeight) +
            label(x_of(seconds), kTop + kHeight + 16, name, "middle");
  }
  for (int i = 0; i <= 4; ++i) {
    const double y = kTop + kHeight - kHeight * i / 4;
    body += rule(kLeft, y, kLeft + kPlot, y) +
            label(kLeft - 8, y + 4, fmt::format("{} % of jobs", i * 25), "end");
  }
  body += line(result.calibrated.wait_percentiles, kWasColour, true) +
          line(result.would_be.wait_percentiles, kIsColour, false);
  return document(kTop + kHeight + 40, chart_title(month, "Jobs that waited at most so long"),
                  body);
}

std::string gantt_svg(const WhatIfMonth& month, const what_if::WhatIf& result,
                      const std::string& by) {
  constexpr double kTop = 78;
  constexpr double kRow = 6;
  constexpr double kGap = 6;
  constexpr std::size_t kNamed = 9;  // owners with a colour of their own
  const std::vector<NodeSpans> nodes = node_spans(result, by);
  std::map<std::string, std::uint64_t> held;  // milliseconds by owner
  for (const NodeSpans& node : nodes) {
    for (const NodeSpan& span : node.spans) held[span.owner] += span.held.length_ms();
  }
  std::vector<std::pair<std::string, std::uint64_t>> owners(held.begin(), held.end());
  std::ranges::stable_sort(owners, std::ranges::greater(),
                           &std::pair<std::string, std::uint64_t>::second);
  std::map<std::string, std::string_view> colours;
  std::string body;
  double x = kLeft;
  const auto add_to_legend = [&](std::string_view name, std::string_view colour) {
    body += fmt::format("<rect x=\"{:.1f}\" y=\"34\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x,
                        colour) +
            label(x + 14, 43, name, "start");
    x += 30 + 7.0 * static_cast<double>(std::min<std::size_t>(name.size(), 20));
  };
  for (std::size_t i = 0; i < std::min(kNamed, owners.size()); ++i) {
    colours[owners[i].first] = kColours[i];
    add_to_legend(owners[i].first.empty() ? "(none)" : owners[i].first.substr(0, 20), kColours[i]);
  }
  if (owners.size() > kNamed) add_to_legend("others", kWasColour);
  const auto length = static_cast<double>(month.period.length_ms());
  double y = kTop;
  const std::size_t shown = std::min(nodes.size(), kGanttNodes);
  std::string bars;
  for (std::size_t i = 0; i < shown; ++i) {
    std::size_t rows = 1;
    const std::vector<std::size_t> row_of = rows_of_spans(nodes[i].spans, rows);
    bars +=
        label(kLeft - 8, y + 8, nodes[i].node, "end") + rule(kLeft, y - 3, kLeft + kPlot, y - 3);
    for (std::size_t at = 0; at < row_of.size(); ++at) {
      const NodeSpan& span = nodes[i].spans[at];
      const auto from = static_cast<double>((span.held.begin() - month.period.begin()).count());
      const auto colour = colours.find(span.owner);
      bars += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
          kLeft + kPlot * from / length, y + kRow * static_cast<double>(row_of[at]),
          std::max(0.3, kPlot * static_cast<double>(span.held.length_ms()) / length), kRow - 1,
          colour == colours.end() ? kWasColour : colour->second);
    }
    y += std::max(12.0, kRow * static_cast<double>(rows)) + kGap;
  }
  body += days_axis(month, kTop - 6, y) + bars;
  if (shown < nodes.size()) {
    body += label(kLeft, y + 34, fmt::format("The first {} of {} nodes.", shown, nodes.size()),
                  "start");
  }
  return document(y + 46, chart_title(month, "What each node held, what if"), body);
}

}  // namespace pennyweight
