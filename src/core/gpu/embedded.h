// The tables of data/fleet, embedded when the program is built (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace pennyweight::embedded {

std::string_view gpu_catalog_csv();
std::string_view gpu_aliases_csv();
std::string_view mig_profiles_csv();
std::string_view xid_codes_csv();

}  // namespace pennyweight::embedded
