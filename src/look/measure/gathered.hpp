// What a refresh has found so far, and which hosts answered it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "look/measure/refresh.hpp"
#include "registry/oci.hpp"

namespace cudamatrix::measure {

class Gathered {
  public:
    Gathered(const Facts& facts, Http& http, const IndexRequest& request)
        : facts_(facts), http_(http), request_(request) {}

    /// Whether the run was interrupted.
    [[nodiscard]] bool stopped() const { return is_interrupted(http_); }
    void log(const std::string& what) const { request_.progress("refresh: " + what); }

    /// A host that has not answered is not asked again in this run: it would be as slow each time. True, and
    /// a line of the report, where `url` is on such a one.
    [[nodiscard]] bool given_up(const std::string& url, const std::string& what);
    void lost(const std::string& url, const std::string& what, const Failure& failure);
    void reached(const std::string& url);

    void add(const std::vector<Change>& changes);
    /// Adds the row unless one of its id is there; gives that one then. The pointer holds until the next row.
    Compared* add(MeasuredRow row);

    measure::Refreshed report;

  private:
    [[nodiscard]] std::string origin_of(const std::string& url) const;

    const Facts& facts_;
    Http& http_;
    const IndexRequest& request_;
    std::set<std::string> answered_;  ///< origins
    std::set<std::string> silent_;
};

/// Lists the tags of a repository (a row of image_repositories), reads the configurations of what is new
/// there, and adds their rows.
void refresh_images(const Row& repository, const Facts& facts, Http& http, OciClient& registry,
                    Gathered& gathered);

}  // namespace cudamatrix::measure
