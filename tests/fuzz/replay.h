// The fuzzers of a build without libFuzzer, each under its own name. The build writes the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

using FuzzEntry = int (*)(const std::uint8_t* data, std::size_t size);

const std::map<std::string_view, FuzzEntry>& fuzzers();
