// Which of the candidates of a stream are containers that count (private to src/scan).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "look/scan/container_stream.hpp"
#include "look/scan/library.hpp"

namespace cudamatrix::scan {

class Confirmation {
  public:
    Confirmation(const ContainerStream& stream, std::uint64_t size);

    /// Containers that follow each other from the section's begin on, as in a file on disk.
    void section(const std::string& name, std::uint64_t offset, std::uint64_t size);
    /// What a place is called that hidden() finds something in.
    void name(const std::string& name, std::uint64_t offset, std::uint64_t size);
    /// Every other whole candidate that holds an entry.
    void hidden();

    /// `error` wins over what the sections gave cause to.
    [[nodiscard]] Library library(std::string path, std::string error) &&;

  private:
    void take(const ContainerStream::Candidate& candidate, const std::string* section);

    const ContainerStream& stream_;
    std::uint64_t size_;
    std::map<std::uint64_t, const ContainerStream::Candidate*> by_offset_;
    std::map<std::uint64_t, std::pair<std::uint64_t, const std::string*>> named_;  ///< begin: end, name
    std::set<std::string> names_;                                                  ///< sections are views
    fatbin::Contents contents_;
    std::vector<bool> with_code_;
};

}  // namespace cudamatrix::scan
