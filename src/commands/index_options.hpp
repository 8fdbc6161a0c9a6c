// What the commands that ask an index have in common: options, connection, progress.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.hpp"
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

/// --mirror and --ca-bundle.
void add_connection(const Arguments& app, std::vector<std::string>& mirrors, std::string& ca_bundle);

/// What open_http opens.
[[nodiscard]] Result<HttpOptions> http_options(const std::vector<std::string>& mirrors,
                                               const std::string& ca_bundle, const World& world);
/// With mirrors ("FROM=TO" each), certificates (empty: those that the environment names) and the credentials
/// of the environment. An input failure where a mirror is no pair of URLs or registries.
[[nodiscard]] Result<std::unique_ptr<Http>> open_http(const std::vector<std::string>& mirrors,
                                                      const std::string& ca_bundle, const World& world);
/// Finds the index that pip would ask where none is named, and gives the request the day and lines on stderr.
[[nodiscard]] Status complete(measure::IndexRequest& request, const World& world);

// The part of `facts` that asks an index.

/// Adds what `facts measure` takes to its subcommand.
Action add_facts_measure(const Arguments& app);

/// The same of `facts refresh`.
Action add_facts_refresh(const Arguments& app);
/// `facts log`.
Action add_facts_log(const Arguments& app);

}  // namespace cudamatrix
