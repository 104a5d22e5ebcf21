// What the captures of amd-smi, rocm-smi and xpu-smi have in common: JSON documents, one after
// another in a file, of devices that are told by number.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ledger/rejected_row.h"

namespace pennyweight::json_capture {

using simdjson::dom::element;

// What stands under these keys; nothing where one is missing or it is null.
std::optional<element> find(element from, std::initializer_list<std::string_view> path);

// A text, or a number as text, to the sixth decimal; "" for anything else.
std::string text_of(std::optional<element> value);

// Calls `visit` with each document. An Error for a text that is over the limit, no UTF-8, no JSON
// or cut off; `flag` is the option with which the program prints JSON.
Result<void> for_each_document(std::string_view text, std::string_view flag,
                               const std::function<Result<void>(element)>& visit);

// The row that a GPU with a mistake becomes.
RejectedRow rejected_gpu(const std::string& file, std::uint64_t index, std::string_view reason);

}  // namespace pennyweight::json_capture
