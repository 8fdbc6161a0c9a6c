// Tars and container images made byte by byte, so that each of them can lie in one place.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "unit/look/scan/fixture.hpp"

namespace fixture {

struct TarMember {
    std::string path;
    std::string content = {};
    char type = '0';
    std::string link = {};
};

inline std::string octal(std::uint64_t value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
    return text;
}

/// A header of 512 bytes; the checksum fits. `size_field` replaces the size as it would be written.
inline std::string tar_header(const TarMember& member, const std::string& size_field = {}) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
    put(0, member.path.substr(0, 100));
    put(100, "0000644");
    put(124, size_field.empty() ? octal(member.content.size(), 11) : size_field);
    put(156, std::string(1, member.type));
    put(157, member.link.substr(0, 100));
    put(257, std::string("ustar\0"
                         "00",
                         8));
    put(148, "        ");
    unsigned sum = 0;
    for (const char c : header)
        sum += static_cast<unsigned char>(c);
    put(148, octal(sum, 6) + std::string("\0 ", 2));
    return header;
}

inline std::string padded(std::string content) {
    content.resize((content.size() + 511) / 512 * 512, '\0');
    return content;
}

inline std::string tar_without_end(const std::vector<TarMember>& members) {
    std::string out;
    for (const auto& member : members)
        out += tar_header(member) + padded(member.content);
    return out;
}

inline std::string tar(const std::vector<TarMember>& members) {
    return tar_without_end(members) + std::string(1024, '\0');
}

/// "19 path=usr/libx.so\n": the length counts itself.
inline std::string pax_record(const std::string& key, const std::string& value) {
    const std::string rest = " " + key + "=" + value + "\n";
    std::size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length)
        ++length;
    return std::to_string(length) + rest;
}

inline std::string gzipped(const std::string& text) {
    z_stream stream{};
    ::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(::deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    ::deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
}

inline std::string blob_name(const std::string& content) {
    return "blobs/sha256/" + cudamatrix::sha256(content);
}

inline std::string descriptor(const std::string& content, const std::string& platform = {}) {
    return R"({"mediaType": "x", "digest": "sha256:)" + cudamatrix::sha256(content) + R"(", "size": )" +
           std::to_string(content.size()) +
           (platform.empty() ? "}"
                             : R"(, "platform": {"os": "linux", "architecture": ")" + platform + R"("}})");
}

/// index.json, manifest and layers of one image, or of one for each platform, in the order of a layout.
inline std::vector<TarMember> oci_layout(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& images) {
    std::vector<TarMember> members{{"oci-layout", R"({"imageLayoutVersion": "1.0.0"})"}};
    std::string manifests;
    for (const auto& [platform, layers] : images) {
        std::string list;
        for (const auto& layer : layers) {
            members.push_back({blob_name(layer), layer});
            list += (list.empty() ? "" : ", ") + descriptor(layer);
        }
        const std::string manifest = R"({"schemaVersion": 2, "layers": [)" + list + "]}";
        members.push_back({blob_name(manifest), manifest});
        manifests += (manifests.empty() ? "" : ", ") + descriptor(manifest, platform);
    }
    members.push_back({"index.json", R"({"schemaVersion": 2, "manifests": [)" + manifests + "]}"});
    return members;
}

}  // namespace fixture
