// A toolkit installed from wheels comes in parts: nvcc, nvvm, crt. nvcc works with the parts of its own
// release only, and older metapackages and nvcc itself do not pin them.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

// "nvidia-nvvm ==13.0.88.*"
struct Part {
    std::string_view name;
    std::string_view clauses;
    std::string_view text;
};

std::vector<Part> parts_of(const Row& row, std::string_view column) {
    std::vector<Part> parts;
    for (const auto text : row.list(column)) {
        const auto blank = text.find(' ');
        parts.push_back({text.substr(0, blank), text.substr(blank + 1), text});
    }
    return parts;
}

const Package* named(const std::vector<Package>& packages, std::string_view name) {
    const auto found = std::find_if(packages.begin(), packages.end(),
                                    [&](const Package& package) { return package.name == name; });
    return found == packages.end() ? nullptr : &*found;
}

// The newest known release of a part that belongs to the toolkit.
std::optional<std::string> release_of(const Facts& facts, const Part& part) {
    const auto specifiers = pep440::Specifiers::parse(part.clauses);
    const auto releases = fitting_releases(
        facts, part.name, [&](const Release& release) { return specifiers->admits(release.version); });
    return releases.empty() ? std::nullopt : std::optional(releases.back().version.text());
}

// Every part of the package's release, at that release.
std::optional<FixOption> pinned(const Context& context, const Package& package) {
    if (!context.wants_fixes) return std::nullopt;
    std::vector<std::pair<std::string, std::string>> changes;
    for (const auto& part : parts_of(*package.row, "one_release")) {
        auto version = release_of(context.facts, part);
        if (!version) return std::nullopt;
        changes.emplace_back(part.name, *std::move(version));
    }
    return with_packages(context, changes);
}

void judge_mix(const Context& context, const std::vector<Package>& packages, const Package& package,
               Findings& out) {
    for (const auto& part : parts_of(*package.row, "one_release")) {
        const auto* other = named(packages, part.name);
        const auto specifiers = pep440::Specifiers::parse(part.clauses);
        if (other == nullptr || !other->version || specifiers->admits(*other->version)) continue;
        std::vector<FactRef> facts{package.row->ref()};
        if (other->row) facts.push_back(other->row->ref());
        auto error = finding(Severity::error, kStage, part.text, {Field::packages},
                             fmt::format("{} belongs with {} {}; the cell has {}: nvcc does not compile with "
                                         "parts of another release",
                                         package.text, part.name, part.clauses, other->text),
                             std::move(facts));
        if (auto option = pinned(context, package)) error.fixes.push_back(*std::move(option));
        out.push_back(std::move(error));
    }
}

// Parts that neither the package nor the cell pins.
void judge_open(const Context& context, const std::vector<Package>& packages, const Package& package,
                Findings& out) {
    const auto pins = parts_of(*package.row, "nvcc");
    std::string open;
    for (const auto& part : parts_of(*package.row, "one_release")) {
        const bool held =
            std::any_of(pins.begin(), pins.end(), [&](const Part& pin) { return pin.name == part.name; }) ||
            named(packages, part.name) != nullptr;
        if (held) continue;
        // The newest release is what pip takes anyway.
        const auto releases = fitting_releases(context.facts, part.name, [](const Release&) { return true; });
        const auto specifiers = pep440::Specifiers::parse(part.clauses);
        if (!releases.empty() && specifiers->admits(releases.back().version)) continue;
        open += fmt::format("{}{}", open.empty() ? "" : ", ", part.name);
    }
    if (open.empty()) return;
    const bool is_toolkit = package.row->has("nvcc");
    auto warning =
        finding(Severity::warning, kStage, package.row->text("package"), {Field::packages},
                fmt::format("{} leaves {} open{}: pip takes their newest releases, and nvcc does not "
                            "compile with parts of another release",
                            package.text, open, is_toolkit ? " in its extra [nvcc]" : ""),
                {package.row->ref()});
    if (is_toolkit) {
        for (auto& option : release_options(context, package, [](const Release& release) {
                 return release.row.list("nvcc").size() == release.row.list("one_release").size() &&
                        release.row.has("nvcc");
             })) {
            warning.fixes.push_back(std::move(option));
        }
    }
    if (auto option = pinned(context, package)) warning.fixes.push_back(*std::move(option));
    out.push_back(std::move(warning));
}

void judge(const Context& context, Findings& out) {
    const auto packages = packages_of(context);
    for (const auto& package : packages) {
        if (!package.row || !package.row->has("one_release")) continue;
        const auto before = out.size();
        judge_mix(context, packages, package, out);
        judge_open(context, packages, package, out);
        if (out.size() != before) continue;
        passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              {Field::packages},
                              fmt::format("whether {} brings parts of one release", package.text),
                              {package.row->ref()}};
        });
    }
}

}  // namespace

Rule toolkit_wheels_one_release() {
    return {.id = "toolkit-wheels-one-release",
            .stage = kStage,
            .summary = "The parts of a CUDA toolkit from wheels are of one release.",
            .why =
                "nvcc, nvvm and crt are wheels of their own, and nvidia-cuda-nvcc names the others without a "
                "version. A fresh install takes the newest of each; nvcc then stops at headers or at an "
                "intermediate code of another release.",
            .fails = "packages: {nvidia-cuda-nvcc: 13.0.88, nvidia-nvvm: 13.2.78, nvidia-cuda-crt: 13.0.88}",
            .passes = "packages: {nvidia-cuda-nvcc: 13.0.88, nvidia-nvvm: 13.0.88, nvidia-cuda-crt: 13.0.88}",
            .reads = {Field::packages},
            .needs = {{Field::packages}},
            .judge = plain(judge),
            .proof = {Attempt::mix_parts,
                      {"*fatal*Unsupported .version *; current version is *",
                       "*error:*__cudaLaunch*was not declared in this scope*"}}};
}

}  // namespace cudamatrix::rules
