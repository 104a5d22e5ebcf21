// top: shows what runs now and what it costs, as a running `serve` reports it.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "app/cli/serve_request.h"
#include "app/cli/verb.h"
#include "core/http/client.h"
#include "core/percent.h"
#include "core/try.h"
#include "reporting/live/live_table.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

struct TopOptions {
  ServeAddress serve;
  std::string sort = "cost";
  std::string by;
  std::vector<std::string> filters;
  std::uint32_t limit = 20;
  std::string format = "text";
  bool ended = false;
  bool watch = false;
  std::uint32_t every = 5;
};

std::string request_url(const TopOptions& options, const Context& context) {
  std::string address = server_url(options.serve, context.config) +
                        "/api/v1/top?sort=" + percent_encoded(options.sort) +
                        "&limit=" + std::to_string(options.limit) +
                        "&format=" + percent_encoded(options.format);
  if (!options.by.empty()) address += "&by=" + percent_encoded(options.by);
  for (const std::string& filter : options.filters) address += "&filter=" + percent_encoded(filter);
  if (options.ended) address += "&ended=true";
  if (options.format == "text") {
    const TextStyle style = context.console.style(std::nullopt);
    if (style.width) address += "&width=" + std::to_string(*style.width);
    if (style.colour) address += "&colour=true";
    if (!style.unicode) address += "&plain=true";
  }
  return address;
}

Result<ExitCode> run(const TopOptions& options, Context& context) {
  const auto settings = TRY(http_settings(options.serve, context.config));
  http::Client client(settings);
  bool is_first = true;
  while (true) {
    const auto text = ask_serve(client, request_url(options, context));
    if (!text && (!options.watch || is_first)) return std::unexpected(text.error());
    is_first = false;
    // Moves the cursor home, clears below, and prints: no flicker. Waits for a restarting `serve`.
    const std::string shown = text ? *text : text.error().message + "\n";
    context.console.print(options.watch ? "\x1b[H\x1b[J" + shown : shown);
    std::fflush(stdout);
    if (!options.watch) return ExitCode::kDone;
    std::this_thread::sleep_for(std::chrono::seconds(options.every));
  }
}

}  // namespace

Verb declare_top(CLI::App& app) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App* command = app.add_subcommand("top", "Show what runs now, for whom, and what it costs");
  add_serve_options(*command, options->serve);
  command->add_option("--sort", options->sort, "The order, largest first")
      ->check(CLI::IsMember(kLiveOrders))
      ->capture_default_str();
  command->add_option("--by", options->by, "Dimensions to show as columns: team,user");
  command->add_option("--filter", options->filters, "DIMENSION=VALUE; also cluster, workload");
  command->add_option("--limit", options->limit, "At most this many rows; 0: all")
      ->capture_default_str();
  command->add_flag("--ended", options->ended, "Include what ran today and has ended");
  command->add_flag("--watch", options->watch, "Refresh continuously");
  command->add_option("--every", options->every, "Seconds, of --watch")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command->add_option("--format", options->format, "text, csv or json")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
  command->footer(examples_footer("top"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
