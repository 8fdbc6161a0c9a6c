#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <vector>

#include "base/text.hpp"

namespace cudamatrix {

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
    EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}
Sha256::~Sha256() = default;

Sha256& Sha256::update(std::string_view bytes) {
    EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
    return *this;
}

std::string Sha256::hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(state_->context, digest.data(), &size);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(2 * size);
    for (unsigned int i = 0; i < size; ++i)
        out.append({digits[digest[i] >> 4u], digits[digest[i] & 0xFu]});
    return out;
}

std::string sha256(std::string_view bytes) {
    return Sha256().update(bytes).hex();
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return environment_failure(fmt::format("cannot read {}", text::printable(path.string())));
    Sha256 hash;
    std::vector<char> buffer(1u << 20);
    while (in) {
        in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        hash.update({buffer.data(), static_cast<std::size_t>(in.gcount())});
    }
    if (in.bad()) return environment_failure(fmt::format("cannot read {}", text::printable(path.string())));
    return hash.hex();
}

}  // namespace cudamatrix
