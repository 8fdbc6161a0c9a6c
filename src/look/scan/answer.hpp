// Which code of a library would run on a GPU, and whether the driver could compile what is PTX only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "look/scan/local.hpp"

namespace cudamatrix::scan {

/// What is asked for: one GPU, under one driver or under none in particular.
struct Question {
    std::string gpu;  ///< "T4 (compute 7.5)", "compute 7.5"
    fatbin::Arch arch;
    std::string driver;                     ///< "driver 535.309.01"; empty: none was given
    std::optional<fatbin::PtxIsa> ptx_isa;  ///< the newest that the driver compiles, where that is known
};

enum class Outcome {
    runs,        ///< Cover::road says how
    no_code,     ///< none of its code can run there
    unknown,     ///< it may: the file is damaged, or nothing is known of the driver's PTX ISA
    no_kernels,  ///< it holds nothing that would have to run
};

struct Answer {
    std::size_t library = 0;   ///< index into the scan's libraries
    std::size_t question = 0;  ///< index into the questions
    Outcome outcome = Outcome::no_kernels;
    fatbin::Cover cover;
    std::string text;  ///< "sass 7.5", "ptx 9.0 via JIT", "none: ..."
};

[[nodiscard]] Answer answer_to(const Library& library, const Question& question);

/// For every library of the scan every question, in their order.
[[nodiscard]] std::vector<Answer> answers(const Scan& scan, const std::vector<Question>& questions);

}  // namespace cudamatrix::scan
