// What code uses (`uses:`), against the headers that the cell's torch and toolkit still have.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

// Rows of the words that facts know; the others become one finding that says what they may have meant.
std::vector<Row> known_words(const Context& context, Findings& out) {
    std::vector<Row> rows;
    std::vector<std::string> names;
    for (const auto& row : context.facts.rows("removed_apis"))
        names.emplace_back(row.text("api"));
    std::string strange;
    for (const auto& [word, unused] : context.cell.value(Field::uses)->items) {
        if (const auto row = context.facts.row(fmt::format("api-{}", word))) {
            rows.push_back(*row);
            continue;
        }
        strange += fmt::format("{}{}", strange.empty() ? "" : ", ", word);
        if (const auto near = text::did_you_mean(word, names))
            strange += fmt::format(" (did you mean {}?)", *near);
    }
    if (!strange.empty()) {
        const Unresolved gap{Field::uses, fmt::format("no fact knows uses {}", strange), {}};
        out.push_back(unknown(kStage, "word", {Field::uses}, gap, "whether the cell still has it"));
    }
    return rows;
}

bool gone(const Row& row, std::string_view column, const Version& version) {
    const auto removed = Version::parse(row.text(column));
    return removed && version >= *removed;
}

// The words that `version` has no more, as one text, with what takes their place.
std::string lacking(const std::vector<Row>& words, std::string_view column, const Version& version,
                    std::vector<FactRef>& facts) {
    std::string text;
    for (const auto& row : words) {
        if (!gone(row, column, version)) continue;
        facts.push_back(row.ref());
        text +=
            fmt::format("{}{} (removed in {}", text.empty() ? "" : ", ", row.text("api"), row.text(column));
        if (row.has("instead")) text += fmt::format(", now {}", row.text("instead"));
        text += ')';
    }
    return text;
}

bool has_all(const std::vector<Row>& words, std::string_view column, const Version& version) {
    for (const auto& row : words) {
        if (gone(row, column, version)) return false;
    }
    return true;
}

void has_them(const Context& context, const std::vector<Row>& words, const std::string& who, Field field) {
    passed(context, [&] {
        std::vector<FactRef> facts;
        for (const auto& row : words)
            facts.push_back(row.ref());
        return Acceptance{{},
                          kStage,
                          {Field::uses, field},
                          fmt::format("whether {} has {}", who, context.cell.text(Field::uses)),
                          std::move(facts)};
    });
}

void judge_build(const Context& context, const std::vector<Row>& words, const TorchBuild& build,
                 Findings& out) {
    constexpr std::string_view column = "removed_in_torch";
    std::vector<FactRef> facts;
    const auto missing = lacking(words, column, build.torch.exact, facts);
    if (missing.empty()) return has_them(context, words, build.text, Field::torch);
    auto error = finding(Severity::error, kStage, "torch", {Field::uses, Field::torch},
                         fmt::format("{} does not have {}", build.text, missing), std::move(facts));
    error.fixes = torch_options(context, [&](const Row& wheel) {
        return has_all(words, column, lookup::required_version(wheel, "torch"));
    });
    out.push_back(std::move(error));
}

void judge_torch(const Context& context, const std::vector<Row>& words, Findings& out) {
    if (const auto own = image_torch(context)) {
        const auto judge_one = [&](const Context& other, const TorchBuild& build, Findings& found) {
            judge_build(other, words, build, found);
        };
        judge_image_torch(context, *own, kStage, Field::uses,
                          fmt::format("whether it has {}", context.cell.text(Field::uses)), judge_one, out);
        return;
    }
    const auto torch = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&torch);
    if (build == nullptr) {
        out.push_back(unknown(kStage, "torch", {Field::torch, Field::uses}, std::get<Unresolved>(torch),
                              fmt::format("whether it has {}", context.cell.text(Field::uses))));
        return;
    }
    judge_build(context, words, *build, out);
}

void judge_cuda(const Context& context, const std::vector<Row>& words, Findings& out) {
    constexpr std::string_view column = "removed_in_cuda";
    const auto toolkit = image_cuda(context);
    const auto* cuda = std::get_if<lookup::Cuda>(&toolkit);
    if (cuda == nullptr) {
        out.push_back(unknown(kStage, "cuda", {Field::cuda, Field::uses}, std::get<Unresolved>(toolkit),
                              fmt::format("whether it has {}", context.cell.text(Field::uses))));
        return;
    }
    std::vector<FactRef> facts;
    const auto missing = lacking(words, column, cuda->exact, facts);
    if (missing.empty()) return has_them(context, words, "CUDA " + cuda->exact.text(), Field::cuda);
    auto error =
        finding(Severity::error, kStage, "cuda", {Field::uses, Field::cuda},
                fmt::format("CUDA {} does not have {}", cuda->exact.text(), missing), std::move(facts));
    error.fixes = cuda_options(context, cuda->exact,
                               [&](const Version& other) { return has_all(words, column, other); });
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    const auto words = known_words(context, out);
    if (words.empty()) return;
    if (wants_torch(context)) judge_torch(context, words, out);
    if (context.cell.has(Field::cuda)) judge_cuda(context, words, out);
}

}  // namespace

Rule apis_available() {
    return {.id = "apis-available",
            .stage = kStage,
            .summary = "What the code uses is still in the headers of torch and of the toolkit.",
            .why =
                "Old extensions name interfaces that later headers dropped, and their build stops at "
                "\"THC/THC.h: No such file or directory\", \"AT_CHECK was not declared in this scope\" or "
                "\"class cudaDeviceProp has no member clockRate\". `uses` names them from a closed list; "
                "each row was found by opening the last release that has it and the first that has not.",
            .fails = "torch: 1.11.0, uses: [THC]",
            .passes = "torch: 1.10.2, cuda: 12.9.1, uses: [THC, cudaDeviceProp-clockRate]",
            .reads = {Field::uses, Field::torch, Field::arch, Field::cuda, Field::image, Field::family,
                      Field::python, Field::os},
            .needs = {{Field::uses}},
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
