// Names that only facts know: of operating systems and GPUs.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/store.hpp"

namespace cudamatrix::lookup {
namespace {

std::string without(std::string_view text, std::string_view marks) {
    auto out = text::lower(text);
    std::erase_if(out, [&](char c) { return marks.find(c) != std::string_view::npos; });
    return out;
}

constexpr std::string_view kMarks = " -_:";  // Ubuntu 22.04, ubuntu-22.04, ubuntu:22.04

// Whether the row's system is written so: by its name, the code name of the release, or a short name of its
// own. Repositories of NVIDIA leave out the point, too: ubuntu2204.
bool is_written(const Row& row, std::string_view text) {
    const auto wanted = without(text, kMarks);
    const auto is_it = [&](std::string_view name) { return without(name, kMarks) == wanted; };
    if (text::lower(text) == row.text("codename") || is_it(row.text("os")) || is_it(row.text("name")))
        return true;
    const auto others = row.list("spellings");
    return std::any_of(others.begin(), others.end(), is_it) ||
           (text.find('.') == std::string_view::npos && without(row.text("os"), " -_:.") == wanted);
}

std::string os_meant(const Facts& facts, std::string_view text) {
    if (os(facts, text) || without(text, kMarks).empty()) return {};
    std::set<std::string_view> meant;
    for (const auto& row : facts.rows("operating_systems")) {
        if (is_written(row, text)) meant.insert(row.text("os"));
    }
    return meant.size() == 1 ? std::string(*meant.begin()) : std::string();
}

// As the row writes it, whichever of its names this is: that keeps the ids of cells.
std::string gpu_meant(const Facts& facts, std::string_view text) {
    const auto row = gpu(facts, text);
    if (!row) return {};
    std::vector<std::string_view> names{row->text("name")};
    const auto aliases = row->list("aliases");
    names.insert(names.end(), aliases.begin(), aliases.end());
    if (std::ranges::find(names, text) != names.end()) return {};
    const auto wanted = facts::folded(text);
    const auto found =
        std::ranges::find_if(names, [&](std::string_view name) { return facts::folded(name) == wanted; });
    return found == names.end() ? std::string() : std::string(*found);
}

}  // namespace

Spelling names_in(const Facts& facts) {
    return [facts](Field field, std::string_view text) {
        if (field == Field::os) return os_meant(facts, text);
        return field == Field::gpu ? gpu_meant(facts, text) : std::string();
    };
}

Spelling spellings(const Facts& facts) {
    return [names = names_in(facts)](Field field, std::string_view text) {
        auto meant = usual_spelling(field, text);
        return meant.empty() ? names(field, text) : meant;
    };
}

}  // namespace cudamatrix::lookup
