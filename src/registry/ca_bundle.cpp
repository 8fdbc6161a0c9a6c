#include <array>
#include <system_error>

#include "registry/http.hpp"

namespace cudamatrix {

std::string system_ca_bundle(const std::filesystem::path& root) {
    static constexpr std::array<const char*, 5> places{
        "etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch
        "etc/pki/tls/certs/ca-bundle.crt",    // Rocky, Fedora until 43
        "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "etc/ssl/ca-bundle.pem",  // SUSE
        "etc/ssl/cert.pem",       // Alpine, where only the base image's own are there
    };
    for (const auto* place : places) {
        const auto path = root / place;
        std::error_code error;
        if (std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0 &&
            !error)
            return path.string();
    }
    return {};
}

}  // namespace cudamatrix
