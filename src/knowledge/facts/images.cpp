#include "knowledge/facts/images.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::lookup {
namespace {

constexpr std::string_view kHub = "docker.io/";

bool is_version(std::string_view text, std::size_t parts_at_least) {
    const auto version = Version::parse(text);
    return version && version->suffix().empty() && version->size() >= parts_at_least;
}

bool is_kind(std::string_view text) {
    return text == "base" || text == "runtime" || text == "devel";
}

// How the tags of a release spell their cuDNN: cudnn8, cudnn9, cudnn; of the first row that has one.
std::string cudnn_spelling(const CudaRelease& release) {
    for (const auto& row : release.rows) {
        for (const auto flavour : row.list("flavours")) {
            if (flavour.starts_with("cudnn")) return std::string(flavour.substr(0, flavour.find('-')));
        }
    }
    return "cudnn";
}

}  // namespace

ImageReference image_reference(std::string_view text) {
    ImageReference out;
    if (const auto at = text.find('@'); at != text.npos) {
        out.pinned = true;
        out.digest = text.substr(at + 1);
        text = text.substr(0, at);
    }
    const auto slash = text.rfind('/');
    const auto colon = text.find(':', slash == text.npos ? 0 : slash);
    if (colon != text.npos) {
        out.tag = text.substr(colon + 1);
        text = text.substr(0, colon);
    } else {
        out.tag = kLatestTag;
    }
    out.name = text;
    const auto host = text.substr(0, text.find('/'));
    const bool has_host =
        text.find('/') != text.npos && (host.find_first_of(".:") != host.npos || host == "localhost");
    if (has_host) {
        out.repository = text;
    } else {
        out.repository =
            std::string(kHub) + (text.find('/') == text.npos ? "library/" : "") + std::string(text);
    }
    return out;
}

std::optional<Row> other_image(const Facts& facts, const ImageReference& reference) {
    return facts.row(reference.pinned
                         ? fmt::format("other-image-{}@{}", reference.repository, reference.digest)
                         : fmt::format("other-image-{}:{}", reference.repository, reference.tag));
}

bool is_condition(std::string_view text) {
    return text.size() <= kLongestCondition && text::only(text, kConditionMarks);
}

std::optional<Row> image_repository(const Facts& facts, std::string_view repository) {
    const auto rows = rows_with(facts, "image_repositories", "repository", repository);
    return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::optional<Row> family_repository(const Facts& facts, std::string_view family) {
    if (family.empty()) return std::nullopt;
    const auto rows = rows_with(facts, "image_repositories", "family", family);
    return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::string CudaTag::text() const {
    return cuda + (flavour.empty() ? "" : "-" + flavour) + (os.empty() ? "" : "-" + os);
}

std::string_view CudaTag::kind() const {
    const std::string_view whole = flavour;
    return whole.substr(whole.rfind('-') + 1);
}

std::optional<CudaTag> cuda_tag(std::string_view tag) {
    auto parts = text::split(tag, '-');
    if (parts.size() < 3 || parts.size() > 4 || !is_version(parts.front(), 2)) return std::nullopt;
    CudaTag out{parts.front(), parts[1], parts.back()};
    if (parts.size() == 4) out.flavour += "-" + parts[2];
    if (!is_kind(parts[parts.size() - 2])) return std::nullopt;
    return out;
}

std::string PytorchTag::text() const {
    return fmt::format("{}-cuda{}-cudnn{}-{}", torch, cuda, cudnn, flavour);
}

std::string PytorchTag::variant() const {
    return "cu" + text::replace_all(cuda, ".", "");
}

std::string PytorchTag::release() const {
    return torch + (Version::parse(torch)->size() == 2 ? ".0" : "");
}

bool PytorchTag::is_full() const {
    return Version::parse(torch)->size() == 3 && Version::parse(cudnn)->size() == 1;
}

PytorchTag pytorch_tag_of(const Row& row, std::string_view cuda, std::string_view flavour) {
    const auto torch = row.has("tag_torch") ? row.text("tag_torch") : row.text("torch");
    return {std::string(torch), std::string(cuda), std::string(row.text("cudnn")), std::string(flavour)};
}

bool spells_torch(const Row& row, const PytorchTag& tag) {
    return pytorch_tag_of(row, tag.cuda, tag.flavour).torch == tag.torch;
}

std::optional<PytorchTag> pytorch_tag(std::string_view tag) {
    const auto parts = text::split(tag, '-');
    if (parts.size() != 4 || !parts[1].starts_with("cuda") || !parts[2].starts_with("cudnn"))
        return std::nullopt;
    PytorchTag out{parts[0], parts[1].substr(4), parts[2].substr(5), parts[3]};
    if (!is_version(out.torch, 2) || !is_version(out.cuda, 2) || !is_version(out.cudnn, 1) ||
        !is_kind(out.flavour)) {
        return std::nullopt;
    }
    return out;
}

CudaRelease cuda_release_images(const Facts& facts, std::string_view cuda) {
    CudaRelease out{rows_with(facts, "cuda_images", "cuda", cuda), false};
    const auto is_whole = [](const Row& row) { return row.text("complete") == "true"; };
    const auto wanted = *Version::parse(cuda);
    std::vector<Row> long_form, short_form;  // of the same minor, by the number of parts in the tag
    bool later_minor = false, later_update = false;
    for (const auto& row : facts.rows("cuda_images")) {
        if (!is_whole(row)) continue;
        const auto version = required_version(row, "cuda");
        const bool same_minor = version.major_minor() == wanted.major_minor();
        if (same_minor) (version.size() > 2 ? long_form : short_form).push_back(row);
        if (version > wanted) (same_minor ? later_update : later_minor) = true;
    }
    // Up to CUDA 10.2 a tag writes two parts, whatever the release is called in full.
    if (out.rows.empty() && long_form.empty()) out.rows = std::move(short_form);
    if (!out.rows.empty()) {
        out.settled = std::all_of(out.rows.begin(), out.rows.end(), is_whole);
    } else if (long_form.empty()) {
        out.settled = later_minor;
    } else {
        out.settled = later_update || wanted.size() == 2;  // 11.2 instead of 11.2.2
    }
    return out;
}

std::optional<Row> cuda_image_row(const CudaRelease& release, const CudaTag& tag) {
    for (const auto& row : release.rows) {
        if (!contains(row.list("os"), tag.os)) continue;
        if (tag.flavour.empty() || contains(row.list("flavours"), tag.flavour)) return row;
    }
    return std::nullopt;
}

std::vector<Row> newer_updates(const Facts& facts, const Row& image) {
    const auto mine = required_version(image, "cuda");
    std::vector<Row> out;
    for (const auto& other : facts.rows("cuda_images")) {  // sorted
        const auto version = required_version(other, "cuda");
        if (version.major_minor() == mine.major_minor() && version > mine &&
            other.text("status") != "deleted")
            out.push_back(other);
    }
    return out;
}

std::optional<Superseded> superseded(const Facts& facts, const Row& image) {
    const auto newer = newer_updates(facts, image);
    if (newer.empty() && image.text("status") != "eol") return std::nullopt;
    Superseded out{std::string(image.text("marked_eol")), {}};
    if (newer.empty()) return out;
    out.by = newer.front();
    if (!out.day.empty()) return out;
    const auto next = cuda(facts, out.by->text("cuda"));
    if (next && next->release) out.day = next->release->text("released");
    return out;
}

std::vector<Row> rows_with(const Facts& facts, std::string_view table, std::string_view column,
                           std::string_view value) {
    std::vector<Row> out;
    const auto rows = facts.rows(table);
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
                 [&](const Row& row) { return row.text(column) == value; });
    return out;
}

CudaTag family_cuda_tag(const Facts& facts, std::string_view cuda, std::string_view os,
                        std::string_view flavour, bool cudnn) {
    const auto release = cuda_release_images(facts, cuda);
    CudaTag tag{std::string(release.rows.empty() ? cuda : release.rows.front().text("cuda")),
                std::string(flavour), std::string(os)};
    if (cudnn && !flavour.empty() && flavour != "base")
        tag.flavour = cudnn_spelling(release) + "-" + tag.flavour;
    return tag;
}

std::optional<Row> pytorch_image(const Facts& facts, std::string_view torch, std::string_view cuda,
                                 std::string_view flavour) {
    for (const auto& row : facts.rows("pytorch_images")) {
        if (row.text("torch") == torch && row.text("exists") == "true" && contains(row.list("cuda"), cuda) &&
            contains(row.list("flavours"), flavour))
            return row;
    }
    return std::nullopt;
}

namespace {

// A release and its minor are one: a row may know less than what is asked for, or more.
bool agrees(const Row& row, std::string_view column, const std::string& wanted) {
    if (wanted.empty()) return true;
    const auto have = Version::parse(row.text(column));
    const auto want = Version::parse(wanted);
    return have && want && (have->covers(*want) || want->covers(*have));
}

// From which month on there are images for aarch64 is one fact, not one of each.
bool ngc_for_aarch64(const Facts& facts, const Row& image) {
    const auto policy = facts.row("policy-ngc-aarch64");
    const auto tag = image.text("tag");
    const auto month = Version::parse(tag.substr(0, tag.find('-')));
    return policy && month && !(*month < required_version(*policy, "since"));
}

}  // namespace

std::optional<Row> ngc_image(const Facts& facts, const NgcWanted& wanted) {
    std::optional<Row> best, possible;
    for (const auto& row : facts.rows("ngc_images")) {
        if (!agrees(row, "cuda", wanted.cuda) || !agrees(row, "torch", wanted.torch)) continue;
        if (row.has("python") && !agrees(row, "python", wanted.python)) continue;
        if (row.has("os") && !wanted.os.empty() && row.text("os") != wanted.os) continue;
        if (wanted.arch != "x86_64" && !(wanted.arch == "aarch64" && ngc_for_aarch64(facts, row))) continue;
        const bool says_all =
            (wanted.python.empty() || row.has("python")) && (wanted.os.empty() || row.has("os"));
        (says_all ? best : possible) = row;  // the rows are sorted
    }
    return best ? best : possible;
}

std::optional<Row> python_image(const Facts& facts, std::string_view minor, std::string_view os) {
    std::optional<Row> best;
    std::string_view best_os;
    for (const auto& row : facts.rows("python_images")) {
        if (row.text("python") != minor || (!os.empty() && row.text("os") != os)) continue;
        if (!best || row.text("os") > best_os) {
            best = row;
            best_os = row.text("os");
        }
    }
    return best;
}

std::string distribution_image(const Facts& facts, std::string_view os, std::string_view arch) {
    const auto row = facts.row(fmt::format("distribution-image-{}", os));
    if (!row) return {};
    const auto archs = row->list("arch");
    if (std::find(archs.begin(), archs.end(), arch) == archs.end()) return {};
    return fmt::format("{}:{}", row->text("repository"), row->text("tag"));
}

std::optional<Row> standalone_python(const Facts& facts, std::string_view minor) {
    return facts.row("standalone-python-" + std::string(minor));
}

std::vector<std::string> gpu_capabilities(const Facts& facts, bool reserved) {
    std::vector<std::string> names;
    for (const auto& row : facts.rows("gpu_capabilities")) {
        if (!reserved || row.text("reserved") == "true") names.emplace_back(row.text("capability"));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string unknown_capability(const Facts& facts, std::string_view value) {
    const auto known = gpu_capabilities(facts, false);
    for (const auto& word : text::split(value, ',')) {
        if (word != "all" && std::find(known.begin(), known.end(), word) == known.end()) return word;
    }
    return {};
}

}  // namespace cudamatrix::lookup
