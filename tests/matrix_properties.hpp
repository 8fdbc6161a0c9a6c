// What holds of every text that is read as a matrix file: a refusal has its places in it, and what is
// accepted, printed and read again, is the same matrix: the same text, cells and verdicts.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "matrix/matrix_file.hpp"
#include "matrix/matrix_text.hpp"

namespace cudamatrix::test {

class MatrixProperties {
  public:
    /// `most_cells`: of larger matrices no cell is judged.
    explicit MatrixProperties(std::uint64_t most_cells)
        : facts_(Facts::embedded()), names_(lookup::names_in(facts_)), most_cells_(most_cells) {}

    struct Found {
        bool accepted = false;
        std::string broken;  ///< what does not hold; empty: everything does
    };

    [[nodiscard]] Found look_at(std::string_view text) {
        // Answers are shared by texts that are nearly the same, and forgotten before they take much memory.
        if (texts_++ % 500 == 0)
            answers_ = std::make_unique<rules::SharedAnswers>(facts_, std::string(kToday));
        const auto matrix = read(text);
        if (!matrix.ok()) return {false, bad_refusal(text, matrix.failure())};
        return {true, not_printed_back(*matrix)};
    }

  private:
    [[nodiscard]] Result<Matrix> read(std::string_view text) const {
        return read_matrix_text(text, "matrix.yaml", rules::mistakes_in_ids, names_);
    }

    [[nodiscard]] static std::string bad_refusal(std::string_view text, const Failure& failure) {
        const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) +
                           static_cast<std::size_t>(std::count(text.begin(), text.end(), '\r')) + 1;
        if (failure.code != ExitCode::bad_input) return "a refusal that is no input failure";
        if (failure.diagnostics.empty()) return "a refusal without a word";
        for (const auto& each : failure.diagnostics) {
            const auto said = render(each, {});
            if (text::invalid_utf8(said)) return "not UTF-8: " + text::printable(said);
            if (each.message.empty()) return "a refusal without a message";
            if (each.where.file != "matrix.yaml" || each.where.line == 0 || each.where.line > lines ||
                each.where.column == 0)
                return "a refusal without a place: " + said;
        }
        return {};
    }

    // A matrix says the same after it was printed and read.
    [[nodiscard]] std::string not_printed_back(const Matrix& matrix) const {
        const auto printed = matrix_text(matrix);
        const auto again = read(printed);
        if (!again.ok())
            return "printed, it is refused:\n" + printed +
                   render(again.failure().diagnostics.front(), printed);
        if (matrix_text(*again) != printed)
            return "printed twice, it differs:\n" + printed + "---\n" + matrix_text(*again);
        const auto before = judged(matrix);
        const auto after = judged(*again);
        return before == after ? "" : "printed, it is judged otherwise:\n" + before + "---\n" + after;
    }

    [[nodiscard]] std::string judged(const Matrix& matrix) const {
        JudgeOptions options;
        options.today = kToday;
        options.shared = answers_.get();
        options.cell_limit = most_cells_;
        const auto judgement = judge_whole(matrix, facts_, options);
        if (!judgement.ok()) return judgement.failure().diagnostics.front().message;
        std::string out;
        for (const auto& cell : judgement->cells) {
            out += fmt::format("{} {}", cell.id, to_string(cell.verdict));
            for (const auto& field : all_fields()) {
                if (const auto* value = cell.cell.get(field.field))
                    out += fmt::format(" {}={}", field.name, value->text);
            }
            out += "\n";
        }
        return out;
    }

    static constexpr std::string_view kToday = "2026-11-28";

    Facts facts_;
    Spelling names_;
    std::uint64_t most_cells_;
    std::uint64_t texts_ = 0;
    std::unique_ptr<rules::SharedAnswers> answers_;
};

}  // namespace cudamatrix::test
