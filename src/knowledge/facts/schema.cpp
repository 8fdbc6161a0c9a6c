#include "knowledge/facts/schema.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "knowledge/facts/schema_groups.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kCommon[] = {
    {"id", Kind::text, Form::scalar, kRequired},
    {"source", Kind::source, Form::either, kRequired},
    {"as_of", Kind::date, Form::scalar, kRequired},
    {"confidence", Kind::level, Form::scalar, kRequired},
    {"note", Kind::text},
    {"disputed", Kind::text},
};

bool all_of(std::string_view text, bool (*allowed)(char)) {
    return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}
bool is_visible(char c) {
    return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7F;
}

}  // namespace

std::span<const Column> common_columns() {
    return kCommon;
}

std::span<const Schema> all_schemas() {
    static const std::vector<Schema> all = [] {
        std::vector<Schema> joined;
        for (const auto group : {build_schemas(), cuda_schemas(), image_schemas(), package_schemas(),
                                 system_schemas(), torch_schemas()}) {
            joined.insert(joined.end(), group.begin(), group.end());
        }
        std::sort(joined.begin(), joined.end(),
                  [](const Schema& a, const Schema& b) { return a.table < b.table; });
        return joined;
    }();
    return all;
}

const Schema* schema_of(std::string_view table) {
    const auto schemas = all_schemas();
    const auto found = std::find_if(schemas.begin(), schemas.end(),
                                    [&](const Schema& schema) { return schema.table == table; });
    return found == schemas.end() ? nullptr : &*found;
}

bool is_source(std::string_view text) {
    constexpr std::string_view url = "https://", github = "github:", wheel = "wheel:", sha = ".whl sha256:";
    constexpr std::string_view sdist = "sdist:", sdist_sha = ".tar.gz sha256:";
    constexpr std::string_view deb = "deb:", deb_sha = ".deb sha256:";
    if (text.starts_with(url))
        return all_of(text.substr(url.size()), is_visible) && text.find('.') != text.npos;
    if (text.starts_with(github)) {
        const auto rest = text.substr(github.size());
        const auto at = rest.find('@');
        const auto slash = rest.find('/');
        const auto colon = rest.find(':', at == rest.npos ? 0 : at);
        return at != rest.npos && slash < at && slash > 0 && slash + 1 < at && colon != rest.npos &&
               colon > at + 1 && colon + 1 < rest.size() && all_of(rest, is_visible);
    }
    // image:HOST/PATH:TAG sha256:DIGEST: what a registry gave.
    constexpr std::string_view image = "image:", image_sha = " sha256:";
    if (text.starts_with(image)) {
        const auto at = text.find(image_sha);
        if (at == text.npos) return false;
        const auto name = text.substr(image.size(), at - image.size()),
                   digest = text.substr(at + image_sha.size());
        return name.find('/') != name.npos && name.find(':', name.rfind('/')) != name.npos &&
               all_of(name, is_visible) && digest.size() == 64 && all_of(digest, is_hex);
    }
    // A file that was opened: its name, and its digest.
    for (const auto& [start, ending] : {std::pair{wheel, sha}, {sdist, sdist_sha}, {deb, deb_sha}}) {
        if (!text.starts_with(start)) continue;
        const auto at = text.find(ending);
        if (at == text.npos || at == start.size()) return false;
        const auto digest = text.substr(at + ending.size());
        return digest.size() == 64 && all_of(digest, is_hex) &&
               all_of(text.substr(start.size(), at - start.size()), is_visible);
    }
    return false;
}

bool is_url(std::string_view text) {
    constexpr std::string_view scheme = "https://";
    return text.starts_with(scheme) && is_source(text) && !text.ends_with('/');
}

bool is_date(std::string_view text) {
    return cudamatrix::is_date(text);
}

}  // namespace cudamatrix::facts
