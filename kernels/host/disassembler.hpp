#pragma once

#include <string>

#include "fatbin/mapped_file.hpp"
#include "kernels/host/listing.hpp"

namespace cudamatrix::suite {

/// The image's nvdisasm, if it has one that knows what its nvcc writes.
class Disassembler {
  public:
    /// On PATH, or where the toolkit lies. `nvcc`: the version that wrote the code.
    [[nodiscard]] static Disassembler find(const std::string& nvcc);

    /// Why machine code cannot be read; "" when it can.
    [[nodiscard]] const std::string& missing() const { return missing_; }
    [[nodiscard]] const std::string& version() const { return version_; }

    /// The instructions of a cubin. On failure nothing, and `error` says what the tool said.
    [[nodiscard]] Listing read(fatbin::Bytes cubin, std::string& error) const;

  private:
    std::string path_;
    std::string version_;
    std::string missing_;
};

}  // namespace cudamatrix::suite
