#include "base/image_reference.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::size_t kLongestName = 255;  // of host and path, as the distribution project limits them
constexpr std::size_t kLongestTag = 128;
constexpr std::string_view kHub = "docker.io";
constexpr std::string_view kDigest = "sha256:";

bool is_low(char c) {
    return text::is_digit(c) || text::is_lower(c);
}

bool is_port(std::string_view text) {
    if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), text::is_digit))
        return false;
    const auto port = std::stoul(std::string(text));
    return port >= 1 && port <= 65535;
}

// "registry.example.org:5000", "localhost", "[::1]:5000".
bool is_host(std::string_view text) {
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos) return false;
        const auto address = text.substr(1, end - 1);
        const auto rest = text.substr(end + 1);
        return address.find(':') != std::string_view::npos && text::only(address, ":") &&
               (rest.empty() || (rest.front() == ':' && is_port(rest.substr(1))));
    }
    const auto colon = text.find(':');
    if (colon != std::string_view::npos && !is_port(text.substr(colon + 1))) return false;
    const auto labels = text::split(text.substr(0, colon), '.');
    return std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
        return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
               text::only(label, "-");
    });
}

Failure no_reference(std::string_view text, std::string_view why) {
    return input_failure(fmt::format("invalid image reference '{}': {}", text::printable(text.substr(0, 300)),
                                     text::printable(why)),
                         "write it as HOST[:PORT]/PATH[:TAG][@sha256:DIGEST], such as "
                         "docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04");
}

// The first part is a host where it has a dot or a port, or is localhost: docker reads it so.
bool names_host(std::string_view part) {
    return part == "localhost" || part.find_first_of(".:[") != std::string_view::npos;
}

std::string wrong_path(std::string_view path) {
    for (const auto& part : text::split(path, '/')) {
        if (is_image_path_part(part)) continue;
        if (part.empty()) return "a component of its path is empty";
        return fmt::format(
            "invalid path component '{}': expected lower-case letters and digits, joined by '.', '_', "
            "'__' or '-'",
            part);
    }
    return {};
}

bool is_loopback(std::string_view host) {
    if (host.starts_with("[::1]")) return true;
    const auto name = host.substr(0, host.find(':'));
    const auto numbers = text::split(name, '.');
    return name == "localhost" || (numbers.size() == 4 && numbers.front() == "127" &&
                                   name.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace

std::string ImageReference::text() const {
    return name() + (tag.empty() ? "" : ":" + tag) + (digest.empty() ? "" : "@" + digest);
}

bool is_image_path_part(std::string_view text) {
    if (text.empty() || !is_low(text.front()) || !is_low(text.back())) return false;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && !is_low(text[end]))
            ++end;
        const auto joint = text.substr(i, end - i);
        if (!joint.empty() && joint != "." && joint != "_" && joint != "__" &&
            joint.find_first_not_of('-') != std::string_view::npos)
            return false;
        i = end + 1;
    }
    return true;
}

bool is_image_digest(std::string_view text) {
    return text.starts_with(kDigest) && is_sha256(text.substr(kDigest.size()));
}

bool is_image_tag(std::string_view text) {
    return !text.empty() && text.size() <= kLongestTag && text.find_first_of(".-") != 0 &&
           text::only(text, "_.-");
}

Result<ImageReference> parse_image_reference(std::string_view text) {
    ImageReference out;
    auto rest = text;
    if (text.empty()) return no_reference(text, "it is empty");
    if (text.find("://") != std::string_view::npos) return no_reference(text, "it starts with a URL scheme");
    if (const auto at = rest.find('@'); at != std::string_view::npos) {
        out.digest = rest.substr(at + 1);
        if (!is_image_digest(out.digest))
            return no_reference(
                text, fmt::format("invalid digest '{}': expected sha256: and 64 lower-case hexadecimal "
                                  "digits",
                                  out.digest));
        rest = rest.substr(0, at);
    }
    const auto slash = rest.rfind('/');
    const auto colon = rest.rfind(':');
    // A colon before the last '/' is that of the host's port.
    if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
        out.tag = rest.substr(colon + 1);
        if (!is_image_tag(out.tag))
            return no_reference(
                text, fmt::format("invalid tag '{}': expected up to 128 letters, digits, '_', '.' and "
                                  "'-', not starting with '.' or '-'",
                                  out.tag));
        rest = rest.substr(0, colon);
    }
    const auto first = rest.substr(0, rest.find('/'));
    if (first.size() < rest.size() && names_host(first)) {
        if (!is_host(first)) return no_reference(text, fmt::format("invalid registry host '{}'", first));
        out.host = text::lower(first);
        rest.remove_prefix(first.size() + 1);
    } else {
        out.host = kHub;
    }
    if (out.host == "index.docker.io") out.host = kHub;  // its old name
    out.path = rest;
    if (const auto wrong = wrong_path(rest); !wrong.empty()) return no_reference(text, wrong);
    if (out.host == kHub && rest.find('/') == std::string_view::npos) {
        if (is_sha256(rest)) return no_reference(text, "it is an image id, not a name");
        out.path.insert(0, "library/");
    }
    if (out.name().size() > kLongestName)
        return no_reference(text, fmt::format("its name has {} characters, expected at most {}",
                                              out.name().size(), kLongestName));
    return out;
}

std::string_view oci_architecture(std::string_view arch) {
    for (const auto& [ours, theirs] : kOciArchitectures) {
        if (arch == ours) return theirs;
    }
    return arch;
}

std::string ImagePlace::origin() const {
    // The service behind the name docker.io; its own host serves web pages.
    return scheme + "://" + (reference.host == kHub ? "registry-1.docker.io" : reference.host);
}

Result<ImagePlace> place_of(const ImageReference& reference, const Mirrors& mirrors) {
    auto name = mirrored(reference.name(), mirrors);
    ImagePlace place;
    for (const std::string_view scheme : {"http", "https"}) {
        if (!name.starts_with(std::string(scheme) + "://")) continue;
        place.scheme = scheme;
        name.erase(0, scheme.size() + 3);
    }
    auto parsed = parse_image_reference(name);
    if (!parsed.ok() || name.find('/') == std::string::npos || !parsed->tag.empty() ||
        !parsed->digest.empty()) {
        return input_failure(fmt::format("the mirror of {} gives '{}', which is not an image name",
                                         reference.name(), text::printable(name)),
                             "write it as HOST[:PORT][/PATH], such as registry.example.org/hub");
    }
    place.reference = std::move(*parsed);
    place.reference.tag = reference.tag;
    place.reference.digest = reference.digest;
    if (place.scheme.empty()) place.scheme = is_loopback(place.reference.host) ? "http" : "https";
    return place;
}

namespace {

std::string_view without_slashes(std::string_view prefix) {
    while (prefix.ends_with('/'))
        prefix.remove_suffix(1);
    return prefix;
}

}  // namespace

std::string mirrored(std::string_view text, const Mirrors& mirrors) {
    const std::pair<std::string, std::string>* best = nullptr;
    for (const auto& mirror : mirrors) {
        const auto prefix = without_slashes(mirror.first);
        if (prefix.empty() || !text.starts_with(prefix)) continue;
        const auto rest = text.substr(prefix.size());
        if (!rest.empty() && rest.find_first_of("/?#") != 0) continue;
        if (best == nullptr || best->first.size() < mirror.first.size()) best = &mirror;
    }
    if (best == nullptr) return std::string(text);
    return fmt::format("{}{}", without_slashes(best->second),
                       text.substr(without_slashes(best->first).size()));
}

std::string mirror_of(const Mirrors& mirrors, std::string_view name) {
    const auto found =
        std::find_if(mirrors.begin(), mirrors.end(), [&](const auto& entry) { return entry.first == name; });
    return found == mirrors.end() ? std::string() : found->second;
}

}  // namespace cudamatrix
