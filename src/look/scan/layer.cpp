#include "look/scan/layer.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::scan {
namespace {

constexpr std::size_t kMostPaths = 4U << 20;     // of one layer: 32 MiB of memory
constexpr std::size_t kMostLibraries = 100'000;  // of one layer
constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";

// What hides a path below: a file or a whiteout there or at a folder above it; a folder there; a folder above
// it that is opaque. The letter keeps them apart.
std::uint64_t key(char what, std::string_view path) {
    return std::hash<std::string>{}(what + std::string(path));
}

}  // namespace

bool hides_path(const Layer& layer, const std::string& path) {
    const auto has = [&](char what, std::string_view part) {
        return std::binary_search(layer.hides.begin(), layer.hides.end(), key(what, part));
    };
    if (has('f', path) || has('d', path) || has('o', "")) return true;
    for (auto slash = path.rfind('/'); slash != std::string::npos && slash != 0;
         slash = path.rfind('/', slash - 1)) {
        const auto above = std::string_view(path).substr(0, slash);
        if (has('f', above) || has('o', above)) return true;
    }
    return false;
}

std::vector<Library> merged(std::vector<const Layer*> layers, std::size_t& hidden) {
    std::vector<Library> out;
    hidden = 0;
    for (auto layer = layers.begin(); layer != layers.end(); ++layer) {
        for (const auto& [path, library] : (*layer)->libraries) {
            const bool gone = std::any_of(layer + 1, layers.end(), [&path = path](const Layer* later) {
                return hides_path(*later, path);
            });
            if (gone) {
                ++hidden;
            } else {
                out.push_back(library);
            }
        }
    }
    std::ranges::sort(out, [](const auto& a, const auto& b) { return a.path < b.path; });
    return out;
}

LayerScanner::LayerScanner(std::string label, const Options& options)
    : label_(std::move(label)), options_(options), tar_(*this, label_) {}

// False for a whiteout, which is no file of the image.
bool LayerScanner::note_path(const TarEntry& entry) {
    const auto slash = entry.path.rfind('/');
    const auto folder = slash == std::string::npos ? std::string() : entry.path.substr(0, slash);
    const std::string_view name =
        std::string_view(entry.path).substr(slash == std::string::npos ? 0 : slash + 1);
    if (name == kOpaque) {
        layer_.hides.push_back(key('o', folder));
        return false;
    }
    if (name.starts_with(kWhiteout)) {
        const auto hidden = name.substr(kWhiteout.size());
        layer_.hides.push_back(
            key('f', folder.empty() ? std::string(hidden) : fmt::format("{}/{}", folder, hidden)));
        return false;
    }
    layer_.hides.push_back(key(entry.kind == TarEntry::Kind::folder ? 'd' : 'f', entry.path));
    return true;
}

Status LayerScanner::begin(const TarEntry& entry) {
    if (cudamatrix::interrupted(options_.cancellation))
        return Failure{ExitCode::interrupted, {Diagnostic::error("interrupted")}};
    if (layer_.hides.size() >= kMostPaths || layer_.libraries.size() >= kMostLibraries)
        return input_failure(fmt::format("{} holds more than {} paths or {} libraries",
                                         text::printable(label_), kMostPaths, kMostLibraries));
    file_.reset();
    if (entry.path.empty() || !note_path(entry) || entry.kind == TarEntry::Kind::folder) return Done{};
    layer_.libraries.erase(entry.path);  // the last one of a name is the one that is unpacked
    ++layer_.files;
    if (entry.kind == TarEntry::Kind::hard_link) {
        const auto target = layer_.libraries.find(entry.link);
        if (target == layer_.libraries.end()) return Done{};
        Library linked = target->second;
        linked.path = entry.path;
        layer_.libraries.emplace(entry.path, std::move(linked));
    }
    if (entry.kind != TarEntry::Kind::file) return Done{};
    path_ = entry.path;
    file_ = std::make_unique<StreamScanner>(entry.size, options_.depth);
    return Done{};
}

Status LayerScanner::content(std::span<const std::uint8_t> bytes) {
    if (file_ && file_->wants_more()) file_->feed(bytes);
    return Done{};
}

Status LayerScanner::end() {
    if (!file_) return Done{};
    auto library = file_->finish(path_);
    file_.reset();
    if (library && worth_listing(*library)) layer_.libraries.emplace(path_, std::move(*library));
    return Done{};
}

Result<Layer> LayerScanner::finish() {
    CM_TRY(tar_.finish());
    std::ranges::sort(layer_.hides);
    return std::move(layer_);
}

namespace {

constexpr std::size_t kSniffedBytes = 6;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

bool starts_with(std::span<const std::uint8_t> bytes, std::initializer_list<std::uint8_t> magic) {
    return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

}  // namespace

Status TarBytes::feed(std::span<const std::uint8_t> bytes) {
    if (begun_) return inflater_ ? inflate(bytes) : tar_.feed(bytes);
    first_.insert(first_.end(), bytes.begin(), bytes.end());
    return first_.size() < kSniffedBytes ? Status(Done{}) : begin();
}

Status TarBytes::begin() {
    begun_ = true;
    const auto first = std::exchange(first_, {});
    const bool zstd = starts_with(first, {0x28, 0xb5, 0x2f, 0xfd});
    if (zstd || starts_with(first, {0xfd, '7', 'z', 'X', 'Z', 0})) {
        return input_failure(
            fmt::format("{} is compressed by {}", text::printable(label_), zstd ? "zstd" : "xz"),
            "a tar that is plain or compressed by gzip; docker save writes plain ones");
    }
    if (!starts_with(first, {0x1f, 0x8b})) return tar_.feed(first);
    inflater_ = std::make_unique<Inflater>(Inflater::Format::gzip);
    if (!inflater_->ready()) return environment_failure("zlib cannot be started");
    return inflate(first);
}

Status TarBytes::inflate(std::span<const std::uint8_t> bytes) {
    const auto state = inflater_->feed(bytes, [this](std::span<const std::uint8_t> plain) -> Status {
        inflated_ += plain.size();
        if (inflated_ > kMostBytes) {
            return input_failure(fmt::format("{} inflates to more than {}", text::printable(label_),
                                             text::human_bytes(kMostBytes)));
        }
        return tar_.feed(plain);
    });
    if (!state.ok()) return state.failure();
    if (*state == Inflater::State::broken) {
        return input_failure(fmt::format("{} is damaged: its gzip stream is broken", text::printable(label_)),
                             "make or fetch it again");
    }
    if (!bytes.empty()) stream_ended_ = *state == Inflater::State::ended;
    return Done{};
}

Status TarBytes::finish() {
    if (!begun_) {
        CM_TRY(begin());
    }
    if (inflater_ && !stream_ended_) {
        return input_failure(fmt::format("{} is cut off: its gzip stream goes on", text::printable(label_)),
                             "make or fetch it again");
    }
    return tar_.finish();
}

}  // namespace cudamatrix::scan
