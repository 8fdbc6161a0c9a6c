#include "knowledge/resolve/container_toolkits.hpp"

namespace cudamatrix::rules {

std::optional<Row> container_toolkit(const Context& context) {
    const auto version = Version::parse(context.cell.text(Field::toolkit));
    if (!version) return std::nullopt;
    const auto series = *Version::parse(version->major_minor());
    for (const auto& row : context.facts.rows("container_toolkits")) {
        if (lookup::required_version(row, "first") <= series &&
            series <= lookup::required_version(row, "last"))
            return row;
    }
    return std::nullopt;
}

}  // namespace cudamatrix::rules
