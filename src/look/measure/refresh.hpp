// What `facts refresh` does: asks every place that the facts are from, and looks into what is new there.
#pragma once

#include <string>
#include <vector>

#include "look/measure/measure.hpp"
#include "look/measure/news.hpp"

namespace cudamatrix::measure {

struct RefreshRequest : IndexRequest {
    std::vector<std::string> only;  ///< projects and image repositories; empty: all that the facts know
    std::string archive;            ///< of Debian, up to /dists; empty: none is asked
};

/// A page, an archive or an image repository that did not answer as it should.
struct NotReached {
    std::string what;
    std::string why;
};

struct Refreshed {
    std::size_t places = 0;  ///< project pages, archives and image repositories that answered
    std::vector<Change> changes;
    std::vector<NotReached> not_reached;
    std::vector<std::string> not_measured;
    std::vector<Compared> rows;
    std::vector<std::string> left_out;  ///< what no row can hold: the tables would refuse it, or two images
                                        ///< of a release say different things
    std::uint64_t bytes = 0;
    std::uint64_t requests = 0;
};

/// Asks for the pages, looks into wheels, and writes their rows to request.out. Failures: an interrupt, a
/// folder that cannot be written; a place that cannot be reached is none.
[[nodiscard]] Result<Refreshed> refresh(const RefreshRequest& request, const Facts& facts, Http& http);

}  // namespace cudamatrix::measure
