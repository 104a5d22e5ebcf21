#include "insight/forecast/intermittent.h"

#include <algorithm>

namespace pennyweight::forecasting {

double croston(std::span<const double> history, double alpha) {
  double amount = 0;
  double interval = 0;
  double since = 1;
  bool has_begun = false;
  for (const double value : history) {
    if (value == 0) {
      ++since;
      continue;
    }
    amount = has_begun ? alpha * value + (1 - alpha) * amount : value;
    interval = has_begun ? alpha * since + (1 - alpha) * interval : since;
    has_begun = true;
    since = 1;
  }
  return has_begun ? amount / interval : 0;
}

double tsb(std::span<const double> history, double alpha, double beta) {
  double amount = 0;
  double probability = 0;
  double steps = 0;
  bool has_begun = false;
  for (const double value : history) {
    ++steps;
    if (value != 0) {
      amount = has_begun ? alpha * value + (1 - alpha) * amount : value;
      probability = has_begun ? beta + (1 - beta) * probability : 1 / steps;
      has_begun = true;
    } else if (has_begun) {
      probability *= 1 - beta;
    }
  }
  return probability * amount;
}

bool is_intermittent(std::span<const double> history) {
  const auto zeros = static_cast<std::size_t>(std::ranges::count(history, 0.0));
  return zeros * 2 > history.size() && zeros < history.size();
}

}  // namespace pennyweight::forecasting
