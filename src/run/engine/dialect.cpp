#include "run/engine/dialect.hpp"

#include <algorithm>
#include <array>

#include "run/engine/dialect_rows.hpp"

namespace cudamatrix::engine {

namespace {

// No containers: this machine's own nvcc (choose_nvcc).
Dialect host_dialect() {
    Dialect row;
    row.name = "host";
    return row;
}

}  // namespace

std::span<const Dialect> all_dialects() {
    static const std::array rows{docker_dialect(), podman_dialect(), buildah_dialect(), host_dialect()};
    return rows;
}

const Dialect* dialect_named(std::string_view name) {
    const auto rows = all_dialects();
    const auto found = std::ranges::find(rows, name, &Dialect::name);
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace cudamatrix::engine
