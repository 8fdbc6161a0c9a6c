// SHA-256 (OpenSSL), in lower-case hexadecimal.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace cudamatrix {

inline constexpr std::size_t kSha256Digits = 64;

class Sha256 {
  public:
    Sha256();
    Sha256& update(std::string_view bytes);
    /// The digest of everything so far; the object is finished afterwards.
    [[nodiscard]] std::string hex();

  private:
    std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

[[nodiscard]] std::string sha256(std::string_view bytes);
/// kSha256Digits lower-case hexadecimal digits.
[[nodiscard]] bool is_sha256(std::string_view text);
/// Streams the file, so that its size does not matter.
[[nodiscard]] Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace cudamatrix
