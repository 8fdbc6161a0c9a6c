// A toolkit installed from wheels comes in parts: nvcc, nvvm, crt. nvcc works with the parts of its own
// release only, and older metapackages and nvcc itself do not pin them.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// "nvidia-nvvm ==13.0.88.*"
struct Component {
    std::string_view name;
    std::string_view clauses;
    std::string_view text;
    [[nodiscard]] bool admits(const pep440::Version& version) const {
        return pep440::Specifiers::of_fact(clauses)->admits(version);
    }
};

std::vector<Component> components_of(const Row& row, std::string_view column) {
    std::vector<Component> components;
    for (const auto text : row.list(column)) {
        const auto blank = text.find(' ');
        components.push_back({text.substr(0, blank), text.substr(blank + 1), text});
    }
    return components;
}

template <class Named>
const Named* find(const std::vector<Named>& all, std::string_view name) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
    return found == all.end() ? nullptr : &*found;
}

// Every part of the package's release, at its newest known release that belongs to the toolkit.
std::vector<FixOption> pinned(const Context& context, const Package& package) {
    std::vector<std::pair<std::string, std::string>> changes;
    for (const auto& part : components_of(*package.row, "one_release")) {
        const auto releases = fitting_releases(context.facts, part.name, [&](const PackageRelease& release) {
            return part.admits(release.version);
        });
        if (releases.empty()) return {};
        changes.emplace_back(part.name, releases.back().version.text());
    }
    return {with_packages(context, changes)};
}

void judge_mix(Ask& ask, const std::vector<Package>& packages, const Package& package) {
    for (const auto& part : components_of(*package.row, "one_release")) {
        const auto* other = find(packages, part.name);
        if (other == nullptr || !other->version || part.admits(*other->version)) continue;
        ask.question({Field::packages}, {}, part.text);
        ask.reject(
               "{} belongs with {} {}; the cell has {}: nvcc does not compile with parts of another "
               "release",
               package.text, part.name, part.clauses, other->text)
            .because(package.row->ref())
            .because(other->row)
            .fix(pinned(ask, package));
    }
}

// Parts that neither the package nor the cell pins.
std::string open_parts(const Context& context, const std::vector<Package>& packages, const Package& package) {
    const auto pins = components_of(*package.row, "nvcc");
    std::string open;
    for (const auto& part : components_of(*package.row, "one_release")) {
        if (find(pins, part.name) != nullptr || find(packages, part.name) != nullptr) continue;
        // The newest release is what pip takes anyway.
        const auto releases =
            fitting_releases(context.facts, part.name, [](const PackageRelease&) { return true; });
        if (!releases.empty() && part.admits(releases.back().version)) continue;
        open += fmt::format("{}{}", open.empty() ? "" : ", ", part.name);
    }
    return open;
}

void judge_open(Ask& ask, const std::vector<Package>& packages, const Package& package) {
    const auto open = open_parts(ask, packages, package);
    if (open.empty()) return;
    const bool is_toolkit = package.row->has("nvcc");
    ask.question({Field::packages}, {}, package.row->text("package"));
    auto answer = ask.degrade(
        "{} leaves {} open{}: pip takes their newest releases, and nvcc does not "
        "compile with parts of another release",
        package.text, open, is_toolkit ? " in its extra [nvcc]" : "");
    answer.because(package.row->ref());
    if (is_toolkit) answer.other_release(package.name);
    answer.fix(pinned(ask, package));
}

void judge_toolkit_wheels_one_release(Ask& ask) {
    const auto packages = packages_of(ask);
    for (const auto& package : packages) {
        if (!package.row || !package.row->has("one_release")) continue;
        const auto before = ask.out().size();
        judge_mix(ask, packages, package);
        judge_open(ask, packages, package);
        if (ask.out().size() != before) continue;
        ask.question({Field::packages},
                     fmt::format("whether the parts of nvcc beside {} are of its release", package.text));
        ask.record_pass({package.row->ref()});
    }
}

}  // namespace

Rule toolkit_wheels_one_release() {
    return {.id = "toolkit-wheels-one-release",
            .stage = Stage::build,
            .summary = "The parts of a CUDA toolkit from wheels are of one release.",
            .why =
                "nvcc, nvvm and crt are wheels of their own, and nvidia-cuda-nvcc names the others without a "
                "version. A fresh install takes the newest of each; nvcc then stops at headers or at an "
                "intermediate code of another release.",
            .fails = "packages: {nvidia-cuda-nvcc: 13.0.88, nvidia-nvvm: 13.2.78, nvidia-cuda-crt: 13.0.88}",
            .passes = "packages: {nvidia-cuda-nvcc: 13.0.88, nvidia-nvvm: 13.0.88, nvidia-cuda-crt: 13.0.88}",
            .reads = {Field::packages},
            .needs = {{Field::packages}},
            .judge = judge_toolkit_wheels_one_release,
            .proof = {Attempt::mix_parts,
                      {"*fatal*Unsupported .version *; current version is *",
                       "*error:*__cudaLaunch*was not declared in this scope*"}}};
}

}  // namespace cudamatrix::rules
