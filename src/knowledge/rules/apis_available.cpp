// What code uses (`uses:`), against the headers that the cell's torch and toolkit still have.
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

// Rows of the words that facts know; the others become one answer that says what they may have meant.
std::vector<Row> known_words(Ask& ask) {
    std::vector<Row> rows;
    std::vector<std::string> names;
    for (const auto& row : ask.facts.rows("removed_apis"))
        names.emplace_back(row.text("api"));
    std::string strange;
    for (const auto& [word, unused] : ask.cell.value(Field::uses)->items) {
        if (const auto row = ask.facts.row(fmt::format("api-{}", word))) {
            rows.push_back(*row);
            continue;
        }
        strange += fmt::format("{}{}", strange.empty() ? "" : ", ", word);
        if (const auto near = text::did_you_mean(word, names))
            strange += fmt::format(" (did you mean {}?)", *near);
    }
    ask.question({Field::uses}, "whether the cell still has it", "word");
    if (!strange.empty()) ask.unknown(Field::uses, "no fact knows uses {}", strange);
    return rows;
}

bool gone(const Row& word, std::string_view column, const Version& version) {
    const auto removed = Version::parse(word.text(column));
    return removed && version >= *removed;
}

// `column` says which release of `who`, the value of `field`, dropped a word.
void judge_words(Ask& ask, const std::vector<Row>& words, std::string_view column, const std::string& who,
                 const Version& version, Field field) {
    std::string missing;
    std::vector<std::string> kept;
    std::vector<FactRef> all, removed;
    for (const auto& row : words) {
        if (!row.has(column)) continue;  // it never was in there, or still is in every release
        kept.emplace_back(row.text("api"));
        all.push_back(row.ref());
        if (!gone(row, column, version)) continue;
        removed.push_back(row.ref());
        missing += fmt::format("{}{} (removed in {}", missing.empty() ? "" : ", ", row.text("api"),
                               row.text(column));
        if (row.has("instead")) missing += fmt::format(", now {}", row.text("instead"));
        missing += ')';
    }
    if (missing.empty()) {
        if (kept.empty()) return;
        ask.affirm("{} has not removed {}", who, text::join(kept, ", "));
        ask.record_pass(std::move(all));
        return;
    }
    ask.reject("{} does not have {}", who, missing).because(removed).other(field);
}

void judge_build(Ask& ask, const std::vector<Row>& words, const TorchBuild& build) {
    ask.question({Field::uses, Field::torch}, {}, "torch");
    judge_words(ask, words, "removed_in_torch", build.text, build.torch.exact, Field::torch);
}

void judge_torch(Ask& ask, const std::vector<Row>& words) {
    const auto question = fmt::format("whether it has {}", ask.cell.text(Field::uses));
    if (const auto own = image_torch(ask)) {
        ask.question(own->about(ask, Field::uses), question);
        return judge_stand_ins(ask, *own,
                               [&](Ask& each, const TorchBuild& build) { judge_build(each, words, build); });
    }
    ask.question({Field::torch, Field::uses}, question, "torch");
    if (const auto build = ask.torch_build()) judge_build(ask, words, *build);
}

void judge_cuda(Ask& ask, const std::vector<Row>& words) {
    ask.question({Field::cuda, Field::uses}, fmt::format("whether it has {}", ask.cell.text(Field::uses)),
                 "cuda");
    const auto cuda = ask.cuda();
    if (!cuda) return;
    ask.question({Field::uses, Field::cuda}, {}, "cuda");
    judge_words(ask, words, "removed_in_cuda", "CUDA " + cuda->exact.text(), cuda->exact, Field::cuda);
}

void judge_apis_available(Ask& ask) {
    const auto words = known_words(ask);
    if (words.empty()) return;
    if (wants_torch(ask)) judge_torch(ask, words);
    if (ask.cell.has(Field::cuda)) judge_cuda(ask, words);
}

}  // namespace

Rule apis_available() {
    return {.id = "apis-available",
            .stage = Stage::build,
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
            .judge = judge_apis_available};
}

}  // namespace cudamatrix::rules
