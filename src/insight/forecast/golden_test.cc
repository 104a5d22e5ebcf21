// Published and independently computed figures for AirPassengers (Box and Jenkins, series G).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "insight/forecast/baselines.h"
#include "insight/forecast/intermittent.h"
#include "insight/forecast/metrics.h"
#include "insight/forecast/smoothing.h"
#include "insight/forecast/theta.h"

namespace pennyweight::forecasting {
namespace {

const std::vector<double> kAirPassengers = {
    112, 118, 132, 129, 121, 135, 148, 148, 136, 119, 104, 118, 115, 126, 141, 135, 125, 149,
    170, 170, 158, 133, 114, 140, 145, 150, 178, 163, 172, 178, 199, 199, 184, 162, 146, 166,
    171, 180, 193, 181, 183, 218, 230, 242, 209, 191, 172, 194, 196, 196, 236, 235, 229, 243,
    264, 272, 237, 211, 180, 201, 204, 188, 235, 227, 234, 264, 302, 293, 259, 229, 203, 229,
    242, 233, 267, 269, 270, 315, 364, 347, 312, 274, 237, 278, 284, 277, 317, 313, 318, 374,
    413, 405, 355, 306, 271, 306, 315, 301, 356, 348, 355, 422, 465, 467, 404, 347, 305, 336,
    340, 318, 362, 348, 363, 435, 491, 505, 404, 359, 310, 337, 360, 342, 406, 396, 420, 472,
    548, 559, 463, 407, 362, 405, 417, 391, 419, 461, 472, 535, 622, 606, 508, 461, 390, 432};

// The values as they are printed, with a space between them.
std::string printed(const std::vector<double>& values, int digits) {
  std::string text;
  for (const double value : values) {
    text += fmt::format("{}{:.{}f}", text.empty() ? "" : " ", value, digits);
  }
  return text;
}

TEST(GoldenForecasts, Drift) {
  const auto path = drift(kAirPassengers, 12);
  EXPECT_EQ(printed({path[0], path[1], path[11]}, 4), "434.2378 436.4755 458.8531");
}

TEST(GoldenForecasts, StandardTheta) {
  const auto theta = theta_forecast(kAirPassengers, {.alpha = 0.5, .first_level = 56}, 5);
  EXPECT_EQ(printed(theta.path, 4), "441.9132 443.2418 444.5704 445.8990 447.2276");
  EXPECT_EQ(printed({theta.fitted[0], theta.fitted[1], theta.fitted[143]}, 4),
            "101.1550 107.9061 449.1692");
}

TEST(GoldenForecasts, DynamicTheta) {
  const auto theta =
      theta_forecast(kAirPassengers, {.alpha = 0.5, .first_level = 56, .is_dynamic = true}, 5);
  EXPECT_EQ(printed(theta.path, 4), "441.9132 443.2330 444.5484 445.8594 447.1659");
}

TEST(GoldenForecasts, SimpleSmoothing) {
  const Smoothing smoothing({.alpha = 0.3, .phi = 0}, kAirPassengers);
  EXPECT_EQ(printed({smoothing.state().level, smoothing.squared_error()}, 6),
            "461.766589 301000.944861");
}

TEST(GoldenForecasts, HoltWinters) {
  const Smoothing additive({.alpha = 0.3, .beta = 0.05, .gamma = 0.4, .season = 12},
                           kAirPassengers);
  EXPECT_EQ(printed(additive.forecast(12), 4),
            "465.8864 453.3406 502.4386 513.6519 525.5036 579.6302 635.4336 621.1471 532.5992 "
            "485.8447 440.3463 484.3386");
  EXPECT_EQ(printed({additive.squared_error()}, 4), "54335.3376");
  const Smoothing multiplicative({.alpha = 0.3,
                                  .beta = 0.05,
                                  .gamma = 0.4,
                                  .season = 12,
                                  .seasonality = Seasonality::kMultiplicative},
                                 kAirPassengers);
  EXPECT_EQ(printed(multiplicative.forecast(12), 4),
            "452.3251 432.0642 496.5643 507.5182 521.9461 596.7289 675.2329 664.6692 555.5529 "
            "490.8360 424.5590 473.2707");
  EXPECT_EQ(printed({multiplicative.squared_error()}, 4), "22656.8474");
}

TEST(GoldenForecasts, Metrics) {
  const std::span<const double> all(kAirPassengers);
  const auto history = all.first(132);
  const auto actual = all.last(12);
  const auto path = seasonal_naive(history, 12, 12);
  EXPECT_EQ(printed({mean_absolute_error(actual, path), mase(actual, path, history, 12).value(),
                     smape(actual, path), wape(actual, path).value(), bias(actual, path)},
                    6),
            "47.833333 1.570881 10.571808 0.100455 -47.833333");
  EXPECT_EQ(
      printed({pinball(actual, path, 0.1), pinball(actual, path, 0.5), pinball(actual, path, 0.9)},
              6),
      "4.783333 23.916667 43.050000");
}

TEST(Metrics, AnUndefinedScaleIsNothingAndNotInfinite) {
  const std::vector<double> flat(20, 5.0);
  EXPECT_FALSE(seasonal_scale(flat, 7));
  EXPECT_FALSE(seasonal_scale(std::span(flat).first(7), 7));
  EXPECT_FALSE(mase(std::vector<double>{1}, std::vector<double>{2}, flat, 7));
  EXPECT_FALSE(wape(std::vector<double>{0, 0}, std::vector<double>{1, 1}));
  EXPECT_EQ(smape(std::vector<double>{0}, std::vector<double>{0}), 0);
}

TEST(Intermittent, RatesByHand) {
  // Demand of 10 every fifth day: 2 a day.
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) values.push_back(i % 5 == 4 ? 10 : 0);
  EXPECT_TRUE(is_intermittent(values));
  EXPECT_DOUBLE_EQ(croston(values, 0.1), 2);
  values.insert(values.end(), 100, 0);
  EXPECT_DOUBLE_EQ(croston(values, 0.1), 2);  // knows nothing of the end of demand
  EXPECT_LT(tsb(values, 0.1, 0.1), 0.01);
  EXPECT_EQ(croston(std::vector<double>(9, 0.0), 0.1), 0);
  EXPECT_FALSE(is_intermittent(std::vector<double>(9, 0.0)));
}

}  // namespace
}  // namespace pennyweight::forecasting
