// Packages that load cuDNN by the name of one major, or compare it with the one that they were compiled with.
// It comes with the image or with torch; where neither is the right one, it is not there.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/cudnn.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// A cuDNN of the cell: what `cudnn` says, and what the torch build pins.
struct Brought {
    Version version;
    std::string text;  ///< "cuDNN 8.9.7", "the cuDNN 9.1.0.70 of torch 2.5.1+cu121"
    Field field = Field::cudnn;
    std::optional<FactRef> fact;
};

std::vector<Brought> brought(const Context& context) {
    std::vector<Brought> out;
    if (context.cell.has(Field::cudnn)) {
        const auto text = context.cell.text(Field::cudnn);
        out.push_back({*Version::parse(text), fmt::format("cuDNN {}", text), Field::cudnn, std::nullopt});
    }
    if (!wants_wheel(context)) return out;
    const auto build = if_known(torch_build(context));
    if (!build || !build->torch.wheel || !build->torch.wheel->has("cudnn")) return out;
    const auto& wheel = *build->torch.wheel;
    out.push_back({lookup::required_version(wheel, "cudnn"),
                   fmt::format("the cuDNN {} of {}", wheel.text("cudnn"), build->text), Field::torch,
                   wheel.ref()});
    return out;
}

// The oldest that the row asks for: 9 of a major, 8.6 of a version such as 0.4.7+cuda11.cudnn86.
std::optional<Version> least(const Row& row, const Package& package) {
    if (row.has("cudnn_min")) return Version::parse(row.text("cudnn_min"));
    if (row.has("cudnn_major")) return Version::parse(row.text("cudnn_major"));
    constexpr std::string_view mark = "cudnn";
    const auto at = package.text.find(mark, package.text.find('+'));
    if (at == std::string::npos) return std::nullopt;
    return Version::parse(pointed(package.text.substr(at + mark.size())));
}

// A short version stands for its releases: one of them may be new enough.
bool takes(const Version& least, const Version& cudnn) {
    return cudnn.major() == least.major() && (cudnn >= least || cudnn.covers(least));
}

std::string demand(const Version& least) {
    return least.size() < 2 ? least.text() : fmt::format("{} from {} on", least.major(), least.text());
}

void judge_package(Ask& ask, const std::vector<Brought>& all, const Package& package, const Row& row) {
    const auto wanted = least(row, package);
    if (!wanted) return;
    std::vector<Field> about{Field::packages};
    std::vector<std::string> texts;
    std::vector<FactRef> facts{row.ref()};
    for (const auto& each : all) {
        about.push_back(each.field);
        texts.push_back(each.text);
        if (each.fact) facts.push_back(*each.fact);
    }
    ask.question(std::move(about),
                 fmt::format("whether {} finds the cuDNN {} that it needs in {}", package.text,
                             demand(*wanted), text::join(texts, ", or in ")),
                 row.text("package"));
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Brought& each) { return takes(*wanted, each.version); });
    if (found != all.end()) {
        ask.affirm("{} finds the cuDNN {} that it needs in {}", package.text, demand(*wanted), found->text);
        return ask.record_pass(std::move(facts));
    }
    auto answer = ask.say(severity_in(row),
                          fmt::format("{} needs cuDNN {}; the cell has {}: {}", package.text, demand(*wanted),
                                      text::join(texts, " and "), row.text("consequence")));
    answer.because(facts).other_release(package.name);
    for (const auto& each : all)
        answer.accepted_other(each.field);
    answer.without(package.name);
}

void judge_package_finds_cudnn(Ask& ask) {
    const auto all = brought(ask);
    if (all.empty()) return;
    for (const auto& package : packages_of(ask)) {
        if (!package.version) continue;
        for (const auto& row : ask.facts.rows("package_cudnn")) {
            if (describes(row, package.name, *package.version)) judge_package(ask, all, package, row);
        }
    }
}

}  // namespace

Rule package_finds_cudnn() {
    return {
        .id = "package-finds-cudnn",
        .stage = Stage::runtime,
        .summary = "Each Python package finds the cuDNN that it was built for.",
        .why =
            "A major of cuDNN changes the names of its libraries, and a package that was built for another one "
            "looks for names that are not there (\"Could not load library libcudnn_ops_infer.so.8\", "
            "\"libcudnn.so.9: cannot open shared object file\"). Others compare the version with the one that "
            "they were compiled with, and refuse an older one.",
        .fails = "cudnn: \"9\", packages: {ctranslate2: 4.4.0}",
        .passes = "cudnn: \"9\", packages: {ctranslate2: 4.5.0}",
        .reads = {Field::packages, Field::cudnn, Field::torch, Field::arch, Field::image, Field::family},
        .needs = {{Field::packages}, {Field::cudnn, Field::torch}},
        .judge = judge_package_finds_cudnn};
}

}  // namespace cudamatrix::rules
