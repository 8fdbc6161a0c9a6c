#include "report/rejections.hpp"

#include <algorithm>

namespace cudamatrix {

std::string_view to_string(RejectionOutcome outcome) {
    switch (outcome) {
        case RejectionOutcome::proven:
            return "proven";
        case RejectionOutcome::refuted:
            return "refuted";
        case RejectionOutcome::inconclusive:
            return "inconclusive";
        case RejectionOutcome::not_attempted:
            return "not-attempted";
    }
    return "?";
}

std::size_t RejectionReport::count(RejectionOutcome outcome) const {
    return static_cast<std::size_t>(
        std::count_if(rejections.begin(), rejections.end(),
                      [&](const Rejection& rejection) { return rejection.outcome == outcome; }));
}

}  // namespace cudamatrix
