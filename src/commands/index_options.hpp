// What the commands that ask an index have in common: options, connection, progress.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/solve/suggest.hpp"
#include "look/measure/measure.hpp"
#include "registry/http.hpp"

namespace cudamatrix {

/// How an index is reached, and how the report is written.
struct IndexOptions {
    std::string ca_bundle;
    std::vector<std::string> mirrors;
    std::string format = "text";
};

void add_index_options(const Arguments& app, IndexOptions& options, measure::IndexRequest& request);

/// With mirrors ("FROM=TO" each), certificates (empty: those that the environment names) and the credentials
/// of the environment. An input failure where a mirror is no pair of URLs or registries.
[[nodiscard]] Result<std::unique_ptr<Http>> open_http(const std::vector<std::string>& mirrors,
                                                      const std::string& ca_bundle, const World& world);
/// Finds the index that pip would ask where none is named, and gives the request the day and lines on stderr.
[[nodiscard]] Status complete(measure::IndexRequest& request, const World& world);

/// The user's own facts, which --look measured: $XDG_CACHE_HOME/cudamatrix/facts, or the same below ~/.cache.
/// An environment failure where neither is set.
[[nodiscard]] Result<std::filesystem::path> own_store(const World& world);

/// The rows of `store` lie over those of `overlay` (the folder of --facts; empty: none): they were measured.
/// A store that is not there has no rows.
[[nodiscard]] Result<Facts> facts_with_store(const std::string& overlay, const std::filesystem::path& store,
                                             const World& world);

struct Loaded;

/// --look: what no fact knows of the packages, images and releases of torch that the matrix names is measured
/// now, through its mirrors, into the user's own store of facts, which `loaded.facts` then rests on as well
/// (with `overlay`, the folder of --facts). What cannot be found out stays unknown, and stderr says why.
[[nodiscard]] Status look(const std::string& overlay, const World& world, Loaded& loaded);

/// --look of `suggest`: the same for packages that `facts` lack, from the index that pip would ask.
[[nodiscard]] Status look_for_packages(const std::vector<solve::Need>& needs, const std::string& overlay,
                                       const World& world, Facts& facts);

// The part of `facts` that asks an index.

/// Adds what `facts measure` takes to its subcommand.
Action add_facts_measure(const Arguments& app);

/// The same of `facts refresh`.
Action add_facts_refresh(const Arguments& app);

}  // namespace cudamatrix
