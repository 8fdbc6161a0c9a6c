// A condition on the host as NVIDIA_REQUIRE_CUDA writes it, judged as libnvidia-container does it for the
// hook behind docker's --gpus (policy requirement-clause): alternatives apart by blanks, the parts of each by
// commas, and a part is one of cuda, driver, arch and brand with =, !=, <, <=, > or >=.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/resolve/images.hpp"

namespace cudamatrix::rules {

enum class ClauseAnswer {
    met,
    refused,
    depends_on_gpu,  ///< it asks for the GPU's brand or architecture, and the cell names no GPU
    open,            ///< the facts do not settle it
    malformed        ///< the part that decides is none: the toolkit ends the start there, too
};

struct ClauseResult {
    ClauseAnswer answer = ClauseAnswer::open;
    std::string part;             ///< open and malformed: which part
    std::string why;              ///< open: "no fact says which CUDA driver 999.1 runs"
    Field field = Field::driver;  ///< open: the field about which the fact is missing
    std::string compute;          ///< "8.9" where the arch was compared
    std::vector<FactRef> facts;
};
[[nodiscard]] ClauseResult judge_clause(const Context& context, std::string_view clause,
                                        const ImageHost& host);

}  // namespace cudamatrix::rules
