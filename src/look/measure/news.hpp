// What an index or an archive has that our facts do not know, and what it no longer has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "look/measure/inspection.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::measure {

struct Change {
    enum class Kind {
        fresh,     ///< newer than everything that the facts have of it
        yanked,    ///< all files of a release that the facts have are, and the facts do not say so
        vanished,  ///< no file of a release that the facts have from there
        replaced,  ///< an archive has another version of a package than the facts say
        changed,  ///< a known release has wheels for other pythons than the facts say, or is no longer yanked
        swapped,  ///< a wheel that the facts were read from has another sha256 now
    };
    Kind kind = Kind::fresh;
    std::string project;  ///< "torch", "torch (cu130)", "nvidia-cuda-toolkit (debian12)"
    std::string version;
    std::string detail = {};  ///< why it was yanked; what the facts say
};
[[nodiscard]] std::string_view to_string(Change::Kind kind);

struct News {
    std::vector<Change> changes;
    std::vector<Task> tasks;        ///< wheels to inspect: of what is fresh or changed
    std::vector<MeasuredRow> rows;  ///< known rows as they are now, where nothing has to be looked into
    std::vector<std::string> not_measured = {};  ///< why there is no row of a change
};

/// Of the files of torch on the default index, or on that of one `variant` ("cu130"; empty: the default).
[[nodiscard]] News torch_news(const std::vector<IndexFile>& files, std::string_view variant,
                              const Facts& facts);
/// Of the files of a package that package_releases knows.
[[nodiscard]] News package_news(const std::vector<IndexFile>& files, std::string_view package,
                                const Facts& facts);
/// Of the files of the toolkit's meta package: releases that cuda_releases does not have, of whichever minor.
[[nodiscard]] News toolkit_news(const std::vector<IndexFile>& files, const Facts& facts);

/// Packages that package_releases knows, torch aside, sorted.
[[nodiscard]] std::vector<std::string> known_packages(const Facts& facts);

}  // namespace cudamatrix::measure
