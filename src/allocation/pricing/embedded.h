// The tables of data/prices, embedded when the program is built (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace pennyweight::embedded {

std::string_view rates_csv();
std::string_view instance_types_csv();
std::string_view host_unit_rates_csv();

}  // namespace pennyweight::embedded
