// Options about other GPU models: which replace which, and what limits the jobs on them.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/gpu/gpu_model.h"
#include "core/try.h"
#include "insight/what_if/option_reader.h"

namespace pennyweight::what_if {
namespace {

class ModelOptions : public OptionReader {
 public:
  using OptionReader::OptionReader;

  Result<void> read(Scenario& scenario) const {
    for (const std::string& text : texts_.models) TRY(add_model(text, scenario));
    for (const std::string& text : texts_.bounds) TRY(add_bound(text, scenario));
    if (texts_.models.empty()) {
      if (texts_.bounds.empty()) return {};
      return without_effect("bound",
                            fmt::format("it says how long jobs take on another GPU model; give "
                                        "{}replace-model too",
                                        texts_.dashes));
    }
    if (!texts_.any_model) return {};
    return fail(ErrorCode::kBadValue,
                fmt::format("{0}replace-model can't be combined with {0}any-model: jobs would run "
                            "on several models, and on each at the speed that they had",
                            texts_.dashes));
  }

 private:
  Result<void> add_model(const std::string& text, Scenario& scenario) const {
    const std::size_t equals = text.find('=');
    ModelChange change;
    if (equals != std::string::npos) {
      change.from = text.substr(0, equals);
      change.to = text.substr(equals + 1);
    }
    if (change.from.empty() || change.to.empty()) {
      return wrong("replace-model", text,
                   "write which GPU model is replaced by which: A100-SXM4-40GB=H100-SXM5-80GB");
    }
    TRY(check_model(change.from, "replace-model", text));
    TRY(check_model(change.to, "replace-model", text));
    const GpuModel* const from = find_gpu_model(change.from);
    if (from == find_gpu_model(change.to)) {
      return wrong("replace-model", text, "a model that replaces itself changes nothing");
    }
    const auto is_same = [&](const ModelChange& other) {
      return find_gpu_model(other.from) == from;
    };
    if (std::ranges::any_of(scenario.replaced_models, is_same)) {
      return wrong("replace-model", text, "this model is replaced already");
    }
    scenario.replaced_models.push_back(std::move(change));
    return {};
  }

  // "memory", "TEAM=compute", "TEAM=55%", "workload:train-*=unknown".
  Result<void> add_bound(const std::string& text, Scenario& scenario) const {
    constexpr std::string_view kWorkload = "workload:";
    const std::size_t equals = text.rfind('=');
    const std::string what = text.substr(equals == std::string::npos ? 0 : equals + 1);
    BoundChange change;
    if (equals != std::string::npos) change.team = text.substr(0, equals);
    bool is_read = equals != 0;
    if (change.team.starts_with(kWorkload)) {
      change.workload = change.team.substr(kWorkload.size());
      change.team.clear();
      is_read = !change.workload.empty();
    }
    bool is_known = false;
    for (const Bound bound : {Bound::kUnknown, Bound::kCompute, Bound::kMemory}) {
      if (what != bound_text(bound)) continue;
      change.bound = bound;
      is_known = true;
    }
    if (!is_known && what.ends_with('%')) {
      change.time_percent =
          parse_number<std::uint32_t>(std::string_view(what).substr(0, what.size() - 1));
      is_known =
          change.time_percent && *change.time_percent > 0 && *change.time_percent <= kPercentMax;
    }
    if (!is_read || !is_known) {
      return wrong("bound", text,
                   "write TEAM=BOUND, workload:PATTERN=BOUND or BOUND for all others; BOUND is "
                   "compute, memory, unknown, or how long such jobs take on the other model: 55% "
                   "(1% to 10000%)");
    }
    const auto is_same = [&](const BoundChange& other) {
      return other.team == change.team && other.workload == change.workload;
    };
    if (std::ranges::any_of(scenario.bounds, is_same)) {
      return wrong("bound", text, "these jobs have a bound already");
    }
    scenario.bounds.push_back(std::move(change));
    return {};
  }
};

}  // namespace

std::string_view bound_text(Bound bound) {
  switch (bound) {
    case Bound::kUnknown:
      return "unknown";
    case Bound::kCompute:
      return "compute";
    case Bound::kMemory:
      return "memory";
  }
  CHECK(false, "every bound is listed");
}

Result<void> read_model_options(const ScenarioTexts& texts, Scenario& scenario) {
  return ModelOptions(texts).read(scenario);
}

}  // namespace pennyweight::what_if
