// What the commands that ask an index have in common: options, connection, progress.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.hpp"
#include "knowledge/facts/facts.hpp"
#include "look/measure/job.hpp"
#include "registry/http.hpp"

namespace cudamatrix {

struct IndexOptions {
    std::string index;  ///< empty: the one that pip would ask
    std::string facts;
    std::string out = "cudamatrix-facts";
    std::string ca_bundle;
    std::vector<std::string> mirrors;
    std::string format = "text";
    unsigned jobs = 6;
};

/// What was seen of wheels, in the folder of the rows (measure::Memory).
inline constexpr std::string_view kMeasuredFile = "measured.jsonl";

/// Pages of the index, beside them (PageCache).
inline constexpr std::string_view kPagesFolder = "pages";

void add_index_options(const Arguments& app, IndexOptions& options);

/// With mirrors ("FROM=TO" each), certificates (empty: those that the environment names) and the credentials
/// of the environment. An input failure where a mirror is no pair of URLs or registries.
[[nodiscard]] Result<std::unique_ptr<Http>> open_http(const std::vector<std::string>& mirrors,
                                                      const std::string& ca_bundle, const World& world);
[[nodiscard]] Result<std::string> index_of(const IndexOptions& options, const World& world);

/// A line on stderr for each wheel that was looked into.
void show_progress(std::size_t done, std::size_t all, const measure::Task& task, const measure::Seen& seen);

}  // namespace cudamatrix
