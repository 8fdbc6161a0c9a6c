// The only door to nlohmann-json. Members keep their order, so that output is stable.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cudamatrix {

using Json = nlohmann::ordered_json;

/// Malformed text, invalid UTF-8 and nesting deeper than `max_depth` are failures; `what` names the document
/// in them. Of malformed text the failure's place has line and column, and no file.
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view what,
                                      std::size_t max_depth = 32);

/// Serialises with two-space indentation (`pretty`) or on one line; invalid UTF-8 is replaced, never thrown.
[[nodiscard]] std::string to_text(const Json& json, bool pretty = true);

/// Adds a member that `object` does not have yet, without the search of object["name"], too slow for
/// thousands.
void append_member(Json& object, std::string name, Json value);

/// The member `name`, or nullptr where `json` is no object or has none.
[[nodiscard]] const Json* member(const Json& json, std::string_view name);

/// The string member `name`, or `fallback` when it is absent or no string.
[[nodiscard]] std::string string_or(const Json& json, std::string_view name, std::string_view fallback = {});

}  // namespace cudamatrix
