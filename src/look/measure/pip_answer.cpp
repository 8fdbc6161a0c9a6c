// What pip said, as a row of `resolutions`.
#include <algorithm>
#include <map>
#include <optional>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "look/measure/pip_resolver.hpp"
#include "registry/http.hpp"

namespace cudamatrix::measure {
namespace {

// What the file that guards python says (pip_resolver.cpp).
constexpr std::string_view kGuarded =
    "ERROR: Could not install packages due to an OSError: no program may be started";

Failure no_answer(std::string_view reason) {
    return environment_failure(text::printable(reason));
}

std::string in_metadata(const Json& item, std::string_view key) {
    const auto* metadata = member(item, "metadata");
    return metadata == nullptr ? std::string() : string_or(*metadata, key);
}

// What would be installed: "numpy==2.2.1", sorted. Each pin must be among it.
Result<std::vector<std::string>> read_report(const PipQuestion& question, std::string_view report) {
    CM_TRY_ASSIGN(const auto json, parse_json(report, "pip's report"));
    const auto* items = member(json, "install");
    if (items == nullptr || !items->is_array()) return no_answer("pip's report lists nothing");
    std::map<std::string, pep440::Version> taken;
    for (const auto& item : *items) {
        const auto name = pep440::canonical_name(in_metadata(item, "name"));
        const auto version = pep440::Version::parse(in_metadata(item, "version"));
        if (name.empty() || !text::only(name, "-") || !version)
            return no_answer("pip's report has an entry without a name or a version");
        taken.emplace(name, *version);
    }
    std::vector<std::string> out;
    for (const auto& [name, version] : taken)
        out.push_back(fmt::format("{}=={}", name, version.text()));
    for (const auto& pin : question.pins) {
        const auto equals = pin.find("==");
        const auto found = taken.find(pin.substr(0, equals));
        const auto wanted =
            equals == pin.npos ? std::nullopt : pep440::Version::parse(pin.substr(equals + 2));
        const bool is_it = found != taken.end() &&
                           (!wanted || found->second == *wanted || found->second.without_local() == *wanted);
        if (!is_it) return no_answer(fmt::format("pip's report says nothing of {}", pin));
    }
    return out;
}

// Who demands what, as pip says it between "The conflict is caused by:" and the next empty line.
std::vector<std::string> conflict_in(const std::vector<std::string>& lines) {
    constexpr std::size_t kMost = 20;
    std::vector<std::string> out;
    bool inside = false;
    for (const auto& each : lines) {
        const auto line = text::trim(each);
        if (inside && (line.empty() || out.size() == kMost)) break;
        if (inside) out.push_back(text::printable(line));
        if (line == "The conflict is caused by:") inside = true;
    }
    return out;
}

// "Could not find a version that satisfies the requirement X (from Y) (from versions: 1.0, 2.0)", without the
// list. With an empty list pip may as well not have seen the index, or not the one of the variant.
Result<std::vector<std::string>> absent_in(const std::vector<std::string>& lines) {
    constexpr std::string_view kStart = "ERROR: Could not find a version that satisfies the requirement ";
    constexpr std::string_view kListed = " (from versions: ";
    for (const auto& line : lines) {
        const auto list = line.find(kListed);
        if (!line.starts_with(kStart) || list == std::string::npos) continue;
        const auto what = line.substr(kStart.size(), list - kStart.size());
        const auto versions = line.substr(list + kListed.size());
        const auto local = pep440::local_of(what.substr(0, what.find(' ')));
        if (versions.starts_with("none") ||
            (!local.empty() && versions.find("+" + local) == std::string::npos))
            return no_answer(fmt::format("pip sees no wheel of {} on any index", what));
        return std::vector{text::printable(fmt::format("no wheel satisfies {}", what))};
    }
    return no_answer("it does not say why it failed");
}

std::string last_error(const std::vector<std::string>& lines) {
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (line->starts_with("ERROR: ")) return line->substr(std::string_view("ERROR: ").size());
    }
    return {};
}

bool has_line(const std::vector<std::string>& lines, std::string_view start) {
    return std::ranges::any_of(lines, [&](const std::string& line) { return line.starts_with(start); });
}

// The columns that say what pip found.
Result<Cell> answer_of(const PipQuestion& question, const Outcome& outcome, std::string_view report) {
    if (outcome.success()) {
        CM_TRY_ASSIGN(auto takes, read_report(question, report));
        return list("takes", std::move(takes));
    }
    const auto lines = text::split(outcome.err + "\n" + outcome.out, '\n');
    if (has_line(lines, kGuarded))
        return no_answer("it would build a source that a demand names by its URL, and with it run code");
    if (outcome.how != Ended::exited || outcome.exit_code != 1) {
        const auto error = last_error(lines);
        return no_answer(error.empty() ? outcome.describe() : outcome.describe() + ": " + error);
    }
    // It ends in the same way where an index was not read.
    if (has_line(lines, "WARNING: Retrying (") || has_line(lines, "Could not fetch URL"))
        return no_answer("an index could not be read");
    if (has_line(lines, "ERROR: ResolutionImpossible")) {
        auto conflict = conflict_in(lines);
        if (conflict.empty()) return no_answer("it does not say what the conflict is");
        return list("conflict", std::move(conflict));
    }
    if (!has_line(lines, "ERROR: No matching distribution found")) {
        const auto error = last_error(lines);
        return no_answer(error.empty() ? outcome.describe() : error);
    }
    CM_TRY_ASSIGN(auto absent, absent_in(lines));
    return list("absent", std::move(absent));
}

}  // namespace

Result<MeasuredRow> resolution_row(const PipQuestion& question, const Outcome& outcome,
                                   std::string_view report, std::string_view pip, const PipRequest& request) {
    CM_TRY_ASSIGN(auto answer, answer_of(question, outcome, report));
    MeasuredRow row{"resolutions", question.id(), {list("pins", question.pins)}};
    row.cells.push_back(scalar("python", question.python));
    row.cells.push_back(scalar("arch", question.arch));
    if (!question.glibc.empty()) row.cells.push_back(scalar("glibc", question.glibc));
    row.cells.push_back(std::move(answer));
    row.cells.push_back(scalar("pip", std::string(pip)));
    // Without a user name; that of another machine is no public source.
    constexpr std::string_view kManual = "https://pip.pypa.io/en/stable/cli/pip_install/";
    const auto index = url::parse(request.mirror.empty() ? request.index : request.mirror);
    const bool is_public = index && index->text().starts_with("https://");
    if (!is_public) row.cells.push_back(scalar("note", "asked at an index without a public address"));
    row.cells.push_back(scalar("source", is_public ? index->text() : std::string(kManual)));
    row.cells.push_back(scalar("confidence", "measured"));
    return row;
}

}  // namespace cudamatrix::measure
