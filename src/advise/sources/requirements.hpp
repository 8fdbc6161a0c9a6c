// Requirements of pip: in commands, in files, in tables (private to advise/sources, but for satisfied_names).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "advise/sources/text.hpp"

namespace cudamatrix::sources {

/// "torch[x]==2.1.0 ; marker", "torch @ https://...", a wheel's path or address; nothing for what is none of
/// them.
[[nodiscard]] std::optional<Requirement> requirement_from(std::string_view text, const Location& where);

/// The name, version and tags of a wheel's file name; nothing for another file.
struct WheelName {
    std::string name, version, python;  ///< torch, 2.1.0+cu121, cp310
};
[[nodiscard]] std::optional<WheelName> wheel_name(std::string_view path);

/// A requirements file.
[[nodiscard]] Source read_requirements(std::string path, std::string text);

}  // namespace cudamatrix::sources
