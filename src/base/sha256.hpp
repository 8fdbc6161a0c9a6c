// SHA-256 (OpenSSL), in lower-case hexadecimal.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cudamatrix {

class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    Sha256& update(std::string_view bytes);
    /// The digest of everything so far; the object is finished afterwards.
    [[nodiscard]] std::string hex();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

[[nodiscard]] std::string sha256(std::string_view bytes);
/// Streams the file, so that its size does not matter.
[[nodiscard]] Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace cudamatrix
