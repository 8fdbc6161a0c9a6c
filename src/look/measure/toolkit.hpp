// Releases of the CUDA toolkit on an index: its meta package names the build of each component, the
// compiler's wheels say what the compiler takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "look/measure/news.hpp"
#include "look/measure/rows.hpp"

namespace cudamatrix::measure {

/// The meta package of the toolkit on the index.
inline constexpr std::string_view kToolkitPackage = "cuda-toolkit";

/// One build of a component: "nvidia-cuda-nvcc-cu12" 12.4.131.
struct Component {
    std::string package;
    std::string version;
};

/// A release as its meta package describes it.
struct ToolkitRelease {
    std::string cuda;   ///< "12.8.2", of a wheel of version 12.8.2.0 as well
    std::string minor;  ///< "12.8"
    Component nvcc;
    std::optional<Component> headers;  ///< crt/, where the toolkit has a wheel for them (13.x)
    std::string source;
};

/// Input failure: METADATA that names no version or no nvcc.
[[nodiscard]] Result<ToolkitRelease> toolkit_release(const WheelInfo& info);

/// The newest release of each minor.
[[nodiscard]] std::vector<ToolkitRelease> newest_of_minors(const std::vector<ToolkitRelease>& releases);

/// The wheel of a component for that processor, of the files of its project; nothing: there is none.
[[nodiscard]] std::optional<IndexFile> component_wheel(const std::vector<IndexFile>& files,
                                                       const Component& component, std::string_view arch);

/// cuda_releases: that the release is there, and its nvcc.
[[nodiscard]] MeasuredRow release_row(const ToolkitRelease& release);

/// cuda_toolkits, of the newest release of a minor. `compiler`, `headers`: looks at the wheels, asked as
/// compilers. An input failure where no row of that minor is known and nothing was run: then targets and PTX
/// are missing.
[[nodiscard]] Result<MeasuredRow> toolkit_row(const ToolkitRelease& release, const WheelInfo& compiler,
                                              const WheelInfo* headers, const Facts& facts);

// What a Debian archive has of the packages that our facts name, and the rows that follow from it.

/// Of the text of an archive's Packages ("debian12"): other versions of the packages that toolkit_sources
/// names for it than its rows say, and those rows as they are now. A row keeps its id, whatever CUDA the
/// archive has by now: what it said before is no longer true.
[[nodiscard]] News archive_news(std::string_view packages, std::string_view os, const Facts& facts);

}  // namespace cudamatrix::measure
