#include "report/results.hpp"

#include <array>
#include <cstddef>

namespace cudamatrix {

std::string_view to_string(Proof proof) {
    static constexpr std::array<std::string_view, 5> names{"none", "rendered", "built", "loaded", "ran"};
    return names.at(static_cast<std::size_t>(proof));
}

std::string_view to_string(TestStatus status) {
    static constexpr std::array<std::string_view, 6> names{"pass",  "fail",    "skip",
                                                           "error", "timeout", "crash"};
    return names.at(static_cast<std::size_t>(status));
}

std::string_view to_string(CellOutcome outcome) {
    static constexpr std::array<std::string_view, 6> names{"skipped",       "planned", "passed",
                                                           "passed_static", "failed",  "errored"};
    return names.at(static_cast<std::size_t>(outcome));
}

}  // namespace cudamatrix
