#include "look/measure/archive.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/version.hpp"

namespace cudamatrix::measure {
namespace {

using Versions = std::map<std::string, std::string, std::less<>>;  // by package

constexpr std::string_view kNote = "read in the archive's list of packages; nothing was compiled with it";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

Versions versions_of(std::string_view packages) {
    constexpr std::string_view name = "Package: ", version = "Version: ";
    Versions out;
    std::string inside;
    for (const auto& line : text::split(packages, '\n')) {
        if (line.empty()) inside.clear();
        if (line.starts_with(name)) inside = line.substr(name.size());
        if (line.starts_with(version) && !inside.empty()) out[inside] = line.substr(version.size());
    }
    return out;
}

// The release of the toolkit that a version is of: "11.8.0-5~deb12u1" of "11.8.89~11.8.0-5~deb12u1", where
// the component's own version comes first, and of itself.
std::string_view release_of(std::string_view version) {
    const auto mark = version.find('~');
    const bool is_component =
        mark != version.npos && mark + 1 < version.size() && is_digit(version[mark + 1]);
    return is_component ? version.substr(mark + 1) : version;
}

// "libcudart" of "libcudart11.0": the package of the next release may have another number.
std::string_view stem_of(std::string_view package) {
    while (!package.empty() && (is_digit(package.back()) || package.back() == '.'))
        package.remove_suffix(1);
    return package;
}

// The package that is now what `package` was; empty: there is none. Others than the toolkit's own keep their
// names, wherever in the archive they are.
std::string successor(const std::string& package, const Versions& versions, std::string_view release) {
    const auto there = versions.find(package);
    if (there != versions.end() && release_of(there->second) == release) return package;
    const auto stem = stem_of(package);
    if (stem == package) return package;
    for (const auto& [other, version] : versions) {
        if (other != package && stem_of(other) == stem && release_of(version) == release) return other;
    }
    return there != versions.end() ? package : std::string();
}

// The known row with what the archive has now.
Result<MeasuredRow> archive_row(const Row& known, std::string_view os, const std::string& found,
                                const Versions& versions) {
    const auto release = release_of(found);
    const auto here = fmt::format("archive of {}: {} {}", os, known.text("package"), text::printable(found));
    const auto cuda = Version::parse(release.substr(0, release.find('-')));
    if (!cuda || cuda->size() != 3 || !cuda->suffix().empty())
        return input_failure(here +
                             " names no release of CUDA; a version such as 11.2.2-3 or "
                             "12.4.131~12.4.1-2 would");
    MeasuredRow row{"toolkit_sources", std::string(known.id()), {}};
    for (const auto& column : known.columns()) {
        if (column.name == "id" || column.name == "as_of" || column.name == "note") continue;
        if (column.name == "source") row.cells.push_back(scalar("note", std::string(kNote)));
        Cell cell{std::string(column.name), {column.values.begin(), column.values.end()}, column.is_list};
        if (cell.name == "cuda") cell.values = {cuda->text()};
        if (cell.name == "package_version") cell.values = {found};
        if (cell.name == "confidence") cell.values = {"read"};
        if (cell.name == "unpack" || cell.name == "runtime") {
            for (auto& package : cell.values) {
                auto now = successor(package, versions, release);
                if (now.empty())
                    return input_failure(fmt::format("{} comes without {} or another {} of that release",
                                                     here, package, stem_of(package)));
                package = std::move(now);
            }
        }
        row.cells.push_back(std::move(cell));
    }
    return row;
}

}  // namespace

News archive_news(std::string_view packages, std::string_view os, const Facts& facts) {
    News news;
    const auto versions = versions_of(packages);
    for (const auto& row : facts.rows("toolkit_sources")) {
        if (row.text("os") != os || row.text("cuda_from") != "archive") continue;
        const auto package = std::string(row.text("package"));
        const auto known = std::string(row.text("package_version"));
        const auto name = fmt::format("{} ({})", package, os);
        const auto found = versions.find(package);
        if (found == versions.end()) {
            news.changes.push_back({Change::Kind::vanished, name, known});
        } else if (found->second != known) {
            news.changes.push_back(
                {Change::Kind::replaced, name, found->second, fmt::format("the facts have {}", known)});
            auto now = archive_row(row, os, found->second, versions);
            if (now.ok()) {
                news.rows.push_back(std::move(now).value());
            } else {
                news.not_measured.push_back(now.failure().diagnostics.front().message);
            }
        }
    }
    return news;
}

}  // namespace cudamatrix::measure
