#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <vector>

#include "base/text.hpp"

namespace cudamatrix {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
}

Sha256& Sha256::update(std::string_view bytes) {
    EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
    return *this;
}

std::string Sha256::hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string out;
    for (unsigned int i = 0; i < size; ++i)
        out += fmt::format("{:02x}", digest[i]);
    return out;
}

bool is_sha256(std::string_view text) {
    return text.size() == kSha256Digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string sha256(std::string_view bytes) {
    return Sha256().update(bytes).hex();
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    Sha256 hash;
    const bool good = in.good();
    std::vector<char> buffer(1u << 20);
    while (in) {
        in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        hash.update({buffer.data(), static_cast<std::size_t>(in.gcount())});
    }
    if (!good || in.bad())
        return environment_failure(fmt::format("cannot read {}", text::printable(path.string())));
    return hash.hex();
}

}  // namespace cudamatrix
