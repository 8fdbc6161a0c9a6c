#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/support/json.hpp"

namespace cudamatrix::suite {

inline constexpr const char* kKernelPrefix = "cudamatrix_";  ///< of every kernel in the suite

/// static.jsonl as suite_build left it: the record of static.compile. Nothing when it is absent or damaged;
/// `error` tells which.
[[nodiscard]] std::optional<json::Value> read_static_file(const std::string& prefix, std::string& error);

/// Names of built files that are gone or differ from what was built, as the record in static.jsonl lists
/// them.
[[nodiscard]] std::vector<std::string> changed_files(const std::string& prefix, const json::Value& record);

/// "a, b", or "nothing".
[[nodiscard]] std::string joined(const std::vector<std::string>& parts);

/// Was the suite built without nvcc?
[[nodiscard]] bool built_without_nvcc(const json::Value& record);

}  // namespace cudamatrix::suite
