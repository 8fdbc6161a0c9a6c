#include "render/image/image.hpp"

#include <algorithm>
#include <array>

#include "base/image_reference.hpp"
#include "base/text.hpp"

namespace cudamatrix {

std::vector<std::string> Image::references() const {
    std::vector<std::string> out;
    for (const auto& reference : {base_reference, devel_reference, installer_reference}) {
        if (!reference.empty() && std::ranges::find(out, reference) == out.end()) out.push_back(reference);
    }
    return out;
}

bool Image::holds_cuda() const {
    return !cuda.empty() || (!torch.empty() && torch_cuda != "None");
}

bool Image::compiles_beside() const {
    return cuda.empty() && !suite_cuda.empty();
}

std::string Image::platform() const {
    return fmt::format("linux/{}", oci_architecture(arch));
}

std::string Image::base_name() const {
    return arch == "x86_64" ? suite : fmt::format("{}-{}", suite, oci_architecture(arch));
}

std::string pulled_reference(std::string_view reference, const Mirrors& mirrors) {
    const auto parsed = parse_image_reference(reference);
    const auto place = parsed.ok() ? place_of(*parsed, mirrors) : Result<ImagePlace>(parsed.failure());
    return place.ok() ? place->reference.text() : mirrored(reference, mirrors);
}

// How the base of family debian is made: mmdebstrap, so that no image registry is needed.

namespace {

// Files in the tar get this time, whenever it is made (2025-01-01).
constexpr std::string_view kEpoch = "1735689600";
constexpr std::string_view kComponents = "main contrib non-free";

struct Extra {
    std::string_view suite;
    std::string_view option;
};

// Debian 12's usrmerge drags perl in, 49 MB that no image needs once the merge is done. Debian 13's apt no
// longer brings useradd, which images need for their user.
constexpr std::array<Extra, 3> kExtras{{
    {"trixie", "--include=passwd"},
    {"bookworm", "--include=usr-is-merged"},
    {"bookworm",
     "--customize-hook=chroot \"$1\" apt-get purge --yes usrmerge perl libperl5.36 perl-modules-5.36 "
     "libgdbm6 "
     "libgdbm-compat4 libfile-find-rule-perl libnumber-compare-perl libtext-glob-perl"},
}};

}  // namespace

Bootstrap bootstrap_of(const Image& image, const Matrix& matrix) {
    Bootstrap out;
    out.base = image.base_name();
    out.file = fmt::format("bootstrap-{}.tar", out.base);
    out.environment = {{"SOURCE_DATE_EPOCH", std::string(kEpoch)}};
    out.command = {"mmdebstrap",
                   "--variant=apt",
                   "--architectures=" + std::string(oci_architecture(image.arch)),
                   "--components=" + text::replace_all(kComponents, " ", ","),
                   "--aptopt=APT::Install-Recommends \"false\"",
                   "--aptopt=Acquire::Languages \"none\"",
                   "--dpkgopt=path-exclude=/usr/share/man/*",
                   "--dpkgopt=path-exclude=/usr/share/doc/*",
                   "--dpkgopt=path-include=/usr/share/doc/*/copyright",
                   "--dpkgopt=path-exclude=/usr/share/locale/*",
                   "--dpkgopt=path-exclude=/usr/share/info/*"};
    for (const auto& [suite, option] : kExtras) {
        if (suite == image.suite) out.command.emplace_back(option);
    }
    const auto& [archive, security, snapshot] = image.sources;
    // What mmdebstrap is told of apt it leaves in the tar; builds get these files as secrets instead.
    const auto lend = [&](std::string_view option, std::string_view name) {
        out.command.push_back(fmt::format("--aptopt={} \"{{{}}}\"", option, name));
        out.command.push_back(
            fmt::format("--customize-hook=sed -i /{}/d \"$1/etc/apt/apt.conf.d/99mmdebstrap\"",
                        option.substr(option.rfind(':') + 1)));
    };
    if (!archive.empty() && !matrix.build.netrc.empty()) {
        out.netrc = matrix.build.netrc;
        lend("Dir::Etc::netrc", "netrc");
    }
    if (archive.starts_with("https:") || security.starts_with("https:")) {
        out.command.emplace_back("--include=ca-certificates");
        if (!matrix.build.ca_bundle.empty()) {
            out.ca_bundle = matrix.build.ca_bundle;
            lend("Acquire::https::CAInfo", "ca_bundle");
        }
    }
    // mmdebstrap copies the machine's own name and resolver into the tar.
    out.command.emplace_back("--customize-hook=rm -f \"$1/etc/hostname\" \"$1/etc/resolv.conf\"");
    out.command.insert(out.command.end(), {image.suite, "{output}"});
    // Without a mirror mmdebstrap takes the distribution's own archives, updates and security among them.
    // What an archive said of itself at that time has run out since.
    const std::string_view options = snapshot.empty() ? "" : " [check-valid-until=no]";
    if (!archive.empty()) {
        for (const std::string_view pocket : {"", "-updates"}) {
            out.command.push_back(
                fmt::format("deb{} {} {}{} {}", options, archive, image.suite, pocket, kComponents));
        }
    }
    if (!archive.empty() && !security.empty()) {
        out.command.push_back(
            fmt::format("deb{} {} {}-security {}", options, security, image.suite, kComponents));
    }
    return out;
}

}  // namespace cudamatrix
