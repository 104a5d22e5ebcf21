// Turns the errors of earlier forecasts into ranges, and checks that the ranges hold.
#pragma once

#include "insight/forecast/forecast.h"

namespace pennyweight::forecasting {

// Fills spread, relative and checks from the errors.
void measure_ranges(SeriesForecast& forecast);

}  // namespace pennyweight::forecasting
