// A machine as a file: the report of `doctor --format json`, which --host FILE reads back.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "run/host/host.hpp"

namespace cudamatrix::probe {

/// The member "host" of the report. It names no machine: the file's name does.
[[nodiscard]] Json host_json(const Host& host);

/// The machine that the report `text` of `doctor` was made on; `name` is what messages call it.
[[nodiscard]] Result<Host> parse_host_report(std::string_view text, std::string_view name);

/// The machine that the report was made on. Input failures: no such file, no report of `doctor`, a value that
/// is none; each with its place.
[[nodiscard]] Result<Host> read_host_file(const std::filesystem::path& file);

}  // namespace cudamatrix::probe
