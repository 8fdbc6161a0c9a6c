#include "look/scan/answer.hpp"

#include <algorithm>

namespace cudamatrix::scan {

Answer answer_to(const Library& library, const Question& question) {
    Answer answer;
    auto codes = library.codes();
    answer.cover = fatbin::cover(codes, question.arch, question.ptx_isa);
    answer.text = answer.cover.text;
    if (answer.cover.road == fatbin::Road::ptx_jit && !question.driver.empty() && !question.ptx_isa) {
        // cover() takes PTX for granted without an ISA; here a driver was named of which it is not known.
        answer.outcome = Outcome::unknown;
    } else if (answer.cover.road != fatbin::Road::none) {
        answer.outcome = Outcome::runs;
    } else if (!library.error.empty()) {
        answer.outcome = Outcome::unknown;
        answer.text = "unknown: " + library.error;
    } else if (!library.has_kernels()) {
        answer.text = "no kernels";
    } else {
        answer.outcome = Outcome::no_code;
        const bool lto = codes.empty() &&
                         std::any_of(library.targets.begin(), library.targets.end(),
                                     [](const auto& t) { return t.kernels && t.kind == fatbin::Kind::lto; });
        if (lto) answer.text = "none: link-time code only, which no driver loads";
    }
    return answer;
}

std::vector<Answer> answers(const Scan& scan, const std::vector<Question>& questions) {
    std::vector<Answer> result;
    for (std::size_t i = 0; i < scan.libraries.size(); ++i) {
        for (std::size_t j = 0; j < questions.size(); ++j) {
            result.push_back(answer_to(scan.libraries[i], questions[j]));
            result.back().library = i;
            result.back().question = j;
        }
    }
    return result;
}

}  // namespace cudamatrix::scan
