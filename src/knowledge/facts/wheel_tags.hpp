// Which wheels a python takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "knowledge/facts/facts.hpp"

namespace cudamatrix::lookup {

/// What pip compares the tags of a wheel with.
struct PythonAbi {
    std::string digits;  ///< "312", "313t"
    std::uint64_t minor = 0;
    bool free_threaded = false;
};
/// Of "3.12", "3.12.4", "3.13t"; nothing where the text names no minor release.
[[nodiscard]] std::optional<PythonAbi> python_abi(std::string_view text);

/// The minor in `digits`, after the 3 of its major: 39 -> 9, 312t -> 12, 3 -> 0.
[[nodiscard]] std::uint64_t minor_of_tag(std::string_view digits);

/// Whether a wheel with the tag ("cp312", "cp39-abi3", "py3": column `abi`) runs on it. Free-threaded pythons
/// have an ABI of their own, which abi3 wheels do not serve.
[[nodiscard]] bool serves(std::string_view tag, const PythonAbi& python);
/// Whether one of the wheels with these tags does.
[[nodiscard]] bool any_serves(const facts::Values& tags, const PythonAbi& python);

/// The tags of a release's wheels for Linux with glibc on `arch`.
[[nodiscard]] facts::Values glibc_wheel_tags(const Row& release, std::string_view arch);

}  // namespace cudamatrix::lookup
