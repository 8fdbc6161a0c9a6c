// What looking into an index, and asking all places again, has given so far.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "look/measure/job.hpp"
#include "look/measure/news.hpp"

namespace cudamatrix::measure {

/// Of `facts measure`.
struct Measured {
    std::vector<Compared> rows;
    std::vector<std::string> not_measured;
    std::vector<std::string> other_libraries;  ///< with code, and known to no row by name
    std::vector<std::string> left_out;         ///< rows that the tables would refuse
    std::size_t remembered = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requests = 0;

    /// A row that is there already by its id stays as it is.
    void add(MeasuredRow row, const Facts& facts);
    /// What looking at the tasks gave, but for rows: a failure is one of not_measured. True: it was looked
    /// at.
    [[nodiscard]] bool note(const Seen& seen);
    [[nodiscard]] std::size_t count(Standing standing) const;
};

/// A page, an archive or an image repository that did not answer as it should.
struct NotReached {
    std::string what;
    std::string why;
};

/// Of `facts refresh`.
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

}  // namespace cudamatrix::measure
