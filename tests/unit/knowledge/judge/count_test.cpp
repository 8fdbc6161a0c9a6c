// Counting by bit planes says what judging every cell by itself says.
#include "knowledge/judge/count/count.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "matrix/matrix_file.hpp"
#include "read_matrix.hpp"
#include "unit/knowledge/judge/random_matrix.hpp"
#include "unit/knowledge/rules/rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;
using test::read;

namespace {

struct Counts {
    std::array<std::uint64_t, 4> verdicts{};
    std::map<std::string, std::array<std::uint64_t, 6>> rules;  ///< by Severity, then waived
    std::vector<std::string> warnings;
    bool operator==(const Counts&) const = default;
};

std::string text_of(const Counts& counts) {
    std::string out = "verdicts";
    for (const auto number : counts.verdicts)
        out += fmt::format(" {}", number);
    for (const auto& [rule, numbers] : counts.rules) {
        out += "\n" + rule;
        for (const auto number : numbers)
            out += fmt::format(" {}", number);
    }
    for (const auto& warning : counts.warnings)
        out += "\n" + warning;
    return out;
}

Counts counts_of(const Judgement& judgement) {
    Counts out{judgement.verdicts, {}, {}};
    for (const auto& rule : judgement.rules)
        out.rules[rule.rule] = {rule.cells[0], rule.cells[1], rule.cells[2],
                                rule.cells[3], rule.cells[4], rule.waived};
    for (const auto& warning : judgement.warnings)
        out.warnings.push_back(warning.message);
    return out;
}

// Judges cells one by one: nothing of tables, diagrams and planes. What a rule of ours says of the same words
// is remembered from matrix to matrix.
class OneByOne {
  public:
    Counts count(const Matrix& matrix) {
        Counts out;
        const auto own = own_rules(matrix);
        std::vector<bool> matched(matrix.rules.size(), false), met(matrix.waivers.size(), false);
        for_each_cell(matrix, [&](const Cell& cell) {
            for (std::size_t i = 0; i < matched.size(); ++i)
                matched[i] = matched[i] || matches(matrix.rules[i].when, cell);
            count_cell(matrix, own, cell, out, met);
            return true;
        });
        for (std::size_t i = 0; i < matched.size(); ++i) {
            if (!matched[i])
                out.warnings.push_back(fmt::format("rule {} matches no cell{}", matrix.rules[i].id,
                                                   missing_fields(matrix, matrix.rules[i].when)));
        }
        for (std::size_t i = 0; i < met.size(); ++i) {
            const auto& waiver = matrix.waivers[i];
            if (!met[i])
                out.warnings.push_back(fmt::format("this waiver matches no finding of {}{}", waiver.rule,
                                                   missing_fields(matrix, waiver.when)));
        }
        return out;
    }

  private:
    using Said = std::vector<std::pair<Severity, Stage>>;

    static Said short_of(const Findings& findings) {
        Said said;
        for (const auto& finding : findings)
            said.emplace_back(finding.severity, finding.stage);
        return said;
    }

    const Said& said(const Rule& rule, const Cell& cell) {
        std::string key(rule.id);
        const auto fields = depends_on(rule);
        for (const auto& field : all_fields()) {
            if (!fields.contains(field.field)) continue;
            const auto* value = cell.get(field.field);
            key += value != nullptr ? "\n" + value->text : "\t";
        }
        const auto known = known_.find(key);
        if (known != known_.end()) return known->second;
        return known_.emplace(key, short_of(ask(rule, cell, Facts::embedded(), kToday, &memo_)))
            .first->second;
    }

    static bool decides(const Matrix& matrix, Stage stage, const Cell& cell) {
        if (!matrix.stages.empty())
            return std::find(matrix.stages.begin(), matrix.stages.end(), to_string(stage)) !=
                   matrix.stages.end();
        if (stage != Stage::build) return stage != Stage::torch_compile;
        const auto text = [&](Field field) { return cell.has(field) ? cell.get(field)->text : ""; };
        if (cell.has(Field::compiler) || cell.has(Field::arch_list) || cell.has(Field::uses)) return true;
        if (text(Field::image).find("-devel") != std::string::npos) return true;
        if (cell.has(Field::flavour)) return text(Field::flavour) == "devel";
        return cell.has(Field::cuda) && (text(Field::torch).empty() || text(Field::torch) == "none");
    }

    void count_cell(const Matrix& matrix, const std::vector<Rule>& own, const Cell& cell, Counts& out,
                    std::vector<bool>& met) {
        auto verdict = Verdict::accepted;
        std::map<std::string, std::array<bool, 6>> seen;
        const auto add = [&](const Rule& rule, const Said& findings) {
            for (const auto& [severity, stage] : findings) {
                bool active = false, ended = false;
                for (std::size_t i = 0; i < met.size(); ++i) {
                    const auto& waiver = matrix.waivers[i];
                    if (waiver.rule != rule.id || !matches(waiver.when, cell)) continue;
                    met[i] = true;
                    (waiver.until < kToday ? ended : active) = true;
                }
                auto& numbers = seen[std::string(rule.id)];
                numbers[active ? 5 : static_cast<std::size_t>(severity)] = true;
                if (active) continue;
                Finding finding;
                finding.severity = severity;
                auto weight = finding.verdict();
                if (weight == Verdict::accepted) continue;
                if (ended) seen[std::string(kWaiverExpired)][1] = true;
                if (!decides(matrix, stage, cell) && weight != Verdict::degraded)
                    weight = weight == Verdict::rejected ? Verdict::degraded : Verdict::accepted;
                verdict = std::max({verdict, weight, ended ? Verdict::degraded : verdict});
            }
        };
        for (const auto& rule : all_rules()) {
            if (applies(rule, cell)) add(rule, said(rule, cell));
        }
        for (const auto& rule : own) {
            if (applies(rule, cell)) add(rule, short_of(ask(rule, cell, Facts::embedded(), kToday)));
        }
        ++out.verdicts[static_cast<std::size_t>(verdict)];
        for (const auto& [rule, columns] : seen) {
            for (std::size_t i = 0; i < columns.size(); ++i)
                out.rules[rule][i] += columns[i] ? 1 : 0;
        }
    }

    Memo memo_;
    std::map<std::string, Said, std::less<>> known_;
};

Judgement counted(const Matrix& matrix, std::uint64_t block = kBlock) {
    auto judgement = count(matrix, Facts::embedded(), kToday, block);
    REQUIRE(judgement);
    return *std::move(judgement);
}

}  // namespace

TEST_CASE("a thousand random matrices: the planes count what one judges by one") {
    RandomMatrix random(6);
    OneByOne one_by_one;
    Counts all;
    std::map<std::string, int> with;
    for (int round = 0, tries = 0; round < 1000; ++tries) {
        REQUIRE(tries < 3000);
        const auto text = random.text();
        const auto matrix = read_matrix_text(text, "matrix.yaml");
        if (!matrix) continue;  // the same exclude twice, and other things that the reader refuses
        ++round;
        const auto expected = one_by_one.count(*matrix);
        for (const std::uint64_t block : {kBlock, std::uint64_t{1}, std::uint64_t{6}}) {
            const auto found = counts_of(counted(*matrix, block));
            REQUIRE_MESSAGE(found == expected, fmt::format("{}\nblock {}\nfound {}\nexpected {}", text, block,
                                                           text_of(found), text_of(expected)));
        }
        // The judge that lists cells does fixes and texts as well: a few of them.
        if (round % 50 == 0) {
            const auto listed = judge(*matrix, Facts::embedded(), {std::string(kToday)});
            REQUIRE(listed);
            REQUIRE_MESSAGE(counts_of(*listed) == expected, text);
        }
        for (std::size_t i = 0; i < 4; ++i)
            all.verdicts[i] += expected.verdicts[i];
        for (const auto& [rule, numbers] : expected.rules) {
            if (numbers[5] != 0) ++with["waived"];
            if (rule == kWaiverExpired) ++with["expired"];
            if (rule.starts_with("own")) ++with["own"];
        }
        if (!expected.warnings.empty()) ++with["idle"];
        for (const auto* key : {"zip:", "exclude:", "include:", "stages:"}) {
            if (text.find(key) != std::string::npos) ++with[key];
        }
    }
    // They are matrices worth counting.
    for (const auto number : all.verdicts)
        CHECK(number > 500);
    for (const auto* key : {"zip:", "exclude:", "include:", "stages:", "waived", "expired", "own", "idle"}) {
        CAPTURE(std::string(key));
        CHECK(with[key] > 40);
    }
}

TEST_CASE("what a package without a pin stands for is counted by all that it rests on") {
    // Of these axes a rule about packages declares a few only; each of them decides which release is judged.
    const auto matrix = read(
        "version: 1\n"
        "axes:\n"
        "  packages: [{vllm: any}, {transformers: any, tokenizers: 0.13.3}, {xformers: any, numpy: any}, "
        "{nothing-known: any}, {vllm: 0.6.0}]\n"
        "  python: [\"3.8\", \"3.10\", \"3.13\"]\n"
        "  torch: [2.1.2, 2.6.0, none]\n"
        "  gpu: [RTX 4090, GH200, V100]\n"
        "  os: [ubuntu22.04, windows]\n"
        "  flavour: [runtime, devel]\n"
        "exclude: [{python: \"3.13\", torch: 2.1.2}]\n"
        "include: [{packages: {numpy: any}, torch: 2.0.1, python: \"3.9\"}]\n");
    const auto expected = OneByOne().count(matrix);
    CHECK(text_of(counts_of(counted(matrix))) == text_of(expected));
    CHECK(text_of(counts_of(counted(matrix, 1))) == text_of(expected));
    const auto listed = judge(matrix, Facts::embedded(), {std::string(kToday)});
    REQUIRE(listed);
    CHECK(text_of(counts_of(*listed)) == text_of(expected));
    const auto& pinned = expected.rules.at("packages-pinned");
    for (const auto severity : {Severity::error, Severity::warning, Severity::unknown})
        CHECK(pinned[static_cast<std::size_t>(severity)] > 10);
}

TEST_CASE("a thousand million cells are counted, and not one too many") {
    // Nine axes of ten rows; what is said of each axis is known.
    std::string text = "version: 1\naxes:\n";
    const std::vector<std::string> fields{"glibc", "vram_gb", "toolkit", "cudnn", "shm_gb",
                                          "mig",   "compute", "cuda",    "driver"};
    for (const auto& field : fields) {
        text += "  " + field + ": [";
        for (int i = 1; i <= 10; ++i)
            text += fmt::format("{}\"{}{}\"", i == 1 ? "" : ", ", i,
                                field == "shm_gb" || field == "vram_gb" || field == "mig" ? "" : ".0");
        text += "]\n";
    }
    // Only stages of own rules, so that the counts can be written down; the other rules are waived.
    text +=
        "stages: [torch_compile]\n"
        "exclude: [{glibc: \"1.0\"}, {toolkit: \"2.0\", cudnn: \"3.0\"}]\n"
        "rules:\n"
        "  - {id: half, require: {shm_gb: \"<6\"}, because: x, stage: torch_compile}\n"
        "  - {id: tenth, when: {cuda: \"4.0\"}, require: {driver: \"!=7.0\"}, because: x, severity: warning, "
        "stage: torch_compile}\n"
        "waive:\n";
    for (const auto* rule :
         {"driver-supports-gpu", "glibc-supported-by-cuda", "cuda-supports-compute",
          "container-toolkit-vulnerable", "mig-one-device", "cudnn-published-for-cuda", "cudnn-supports-gpu"})
        text += fmt::format("  - {{rule: {}, because: x, until: 2099-12-31}}\n", rule);
    const auto judgement = counted(read(text));
    const std::uint64_t cells = 1'000'000'000u / 10 * 9 / 100 * 99;
    CHECK(judgement.count(Verdict::rejected) == cells / 2);
    CHECK(judgement.count(Verdict::degraded) == cells / 200);
    CHECK(judgement.count(Verdict::unknown) == 0);
    CHECK(judgement.count(Verdict::accepted) == cells / 2 - cells / 200);
    const auto counts = counts_of(judgement);
    CHECK(counts.rules.at("half")[0] == cells / 2);
    CHECK(counts.rules.at("tenth")[1] == cells / 100);
}

TEST_CASE("includes count beside the product, and alone") {
    const auto alone = counted(read("version: 1\ninclude: [{driver: \"470.161.03\", cuda: \"12.4.1\"}]\n"));
    CHECK(alone.verdicts == std::array<std::uint64_t, 4>{0, 0, 0, 1});
    const auto set = counted(read("version: 1\nset: {driver: \"470.161.03\", cuda: \"12.4.1\"}\n"));
    CHECK(set.verdicts == alone.verdicts);
    CHECK(counts_of(set) == counts_of(alone));
}

TEST_CASE("2^64 cells are refused") {
    constexpr std::uint64_t rows = 565;  // to the seventh power: just below
    std::string axes = "version: 1\naxes:\n";
    std::uint64_t cells = 1;
    for (const auto* field : {"driver", "glibc", "vram_gb", "shm_gb", "mig", "toolkit", "cudnn"}) {
        axes += fmt::format("  {}: [", field);
        for (std::uint64_t i = 0; i < rows; ++i)
            axes += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", 100 + i);
        axes += "]\n";
        cells *= rows;
    }
    const auto most = counted(read(axes));
    std::uint64_t sum = 0;
    for (const auto number : most.verdicts)
        sum += number;
    CHECK(sum == cells);
    CHECK(sum > 18'000'000'000'000'000'000u);
    axes += "  platform: [gcp, wsl2]\n";
    const auto refused = judge(read(axes), Facts::embedded(), {std::string(kToday), 1, false});
    REQUIRE_FALSE(refused);
    CHECK(refused.failure().code == ExitCode::bad_input);
    REQUIRE(refused.failure().diagnostics.size() == 1);
    CHECK(refused.failure().diagnostics[0].message ==
          "matrix.yaml: the matrix has more than 18446744073709551615 cells: so many are not counted");
    CHECK(refused.failure().diagnostics[0].fix == "shorten an axis, or zip axes that go together");
}
