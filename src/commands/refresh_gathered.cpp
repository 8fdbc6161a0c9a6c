#include "commands/refresh_gathered.hpp"

#include <algorithm>
#include <utility>

#include "base/mirrors.hpp"
#include "base/text.hpp"
#include "registry/url.hpp"

namespace cudamatrix {

bool Gathered::given_up(const std::string& url, const std::string& what) {
    if (silent_.count(origin_of(url)) == 0) return false;
    report.not_reached.push_back({what, fmt::format("{} did not answer before", url::shown(url))});
    return true;
}

void Gathered::lost(const std::string& url, const std::string& what, const Failure& failure) {
    if (failure.code == ExitCode::environment && answered_.count(origin_of(url)) == 0)
        silent_.insert(origin_of(url));
    report.not_reached.push_back({what, failure.diagnostics.front().message});
}

void Gathered::reached(const std::string& url) {
    answered_.insert(origin_of(url));
    ++report.places;
}

void Gathered::add(const std::vector<measure::Change>& changes) {
    report.changes.insert(report.changes.end(), changes.begin(), changes.end());
}

measure::Compared* Gathered::add(measure::MeasuredRow row) {
    const auto there = std::find_if(report.rows.begin(), report.rows.end(),
                                    [&](const measure::Compared& other) { return other.row.id == row.id; });
    if (there != report.rows.end()) return &*there;
    report.rows.push_back(measure::compare(std::move(row), facts_));
    return nullptr;
}

std::string Gathered::origin_of(const std::string& url) const {
    const auto parts = url::parse(mirrored(url, http_.options().mirrors));
    return parts ? parts->origin() : std::string();
}

}  // namespace cudamatrix
