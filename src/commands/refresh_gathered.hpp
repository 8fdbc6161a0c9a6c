// What a refresh has found so far, and which hosts answered it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "commands/refresh.hpp"

namespace cudamatrix {

class Gathered {
  public:
    Gathered(const Facts& facts, Http& http) : facts_(facts), http_(http) {}

    /// A host that has not answered is not asked again in this run: it would be as slow each time. True, and
    /// a line of the report, where `url` is on such a one.
    [[nodiscard]] bool given_up(const std::string& url, const std::string& what);
    void lost(const std::string& url, const std::string& what, const Failure& failure);
    void reached(const std::string& url);

    void add(const std::vector<measure::Change>& changes);
    /// Adds the row unless one of its id is there; gives that one then. The pointer holds until the next row.
    measure::Compared* add(measure::MeasuredRow row);

    measure::Refreshed report;

  private:
    [[nodiscard]] std::string origin_of(const std::string& url) const;

    const Facts& facts_;
    Http& http_;
    std::set<std::string> answered_;  ///< origins
    std::set<std::string> silent_;
};

}  // namespace cudamatrix
