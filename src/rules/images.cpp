#include "rules/images.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kHub = "docker.io/";

bool is_version(std::string_view text, std::size_t parts_at_least) {
    const auto version = Version::parse(text);
    return version && version->suffix().empty() && version->size() >= parts_at_least;
}

bool is_kind(std::string_view text) {
    return text == "base" || text == "runtime" || text == "devel";
}

bool digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
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

std::optional<CudaImage> image_of_family(const Context& context) {
    const auto repository = family_repository(context.facts, context.cell.text(Field::family));
    if (!repository || repository->text("scheme") != "cuda") return std::nullopt;
    if (!context.cell.has(Field::cuda) || !context.cell.has(Field::os)) return std::nullopt;
    const auto known = lookup::cuda(context.facts, context.cell.text(Field::cuda));
    if (!known) return std::nullopt;  // said by the rules about CUDA itself
    CudaImage out;
    out.field = Field::cuda;
    out.name = repository->text("repository");
    out.tag.cuda = known->exact.text();
    out.tag.os = context.cell.text(Field::os);
    const auto release = cuda_release_images(context.facts, out.tag.cuda);
    if (!release.rows.empty()) out.tag.cuda = release.rows.front().text("cuda");
    out.tag.flavour = context.cell.text(Field::flavour);
    if (context.cell.has(Field::cudnn) && !out.tag.flavour.empty() && out.tag.flavour != "base")
        out.tag.flavour = cudnn_spelling(release) + "-" + out.tag.flavour;
    out.text = fmt::format("image {}:{}", out.name, out.tag.text());
    return out;
}

}  // namespace

ImageReference image_reference(std::string_view text) {
    ImageReference out;
    if (const auto at = text.find('@'); at != text.npos) {
        out.pinned = true;
        text = text.substr(0, at);
    }
    const auto slash = text.rfind('/');
    const auto colon = text.find(':', slash == text.npos ? 0 : slash);
    if (colon != text.npos) {
        out.tag = text.substr(colon + 1);
        text = text.substr(0, colon);
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

std::optional<PytorchTag> pytorch_tag(std::string_view tag) {
    const auto parts = text::split(tag, '-');
    if (parts.size() != 4 || !parts[1].starts_with("cuda") || !parts[2].starts_with("cudnn"))
        return std::nullopt;
    PytorchTag out{parts[0], parts[1].substr(4), parts[2].substr(5), parts[3]};
    if (!is_version(out.torch, 3) || !is_version(out.cuda, 2) || out.cudnn.empty() || !digits(out.cudnn) ||
        !is_kind(out.flavour)) {
        return std::nullopt;
    }
    return out;
}

std::optional<CudaImage> cuda_image(const Context& context) {
    if (!context.cell.has(Field::image)) return image_of_family(context);
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    const auto tag = cuda_tag(reference.tag);
    if (!repository || repository->text("scheme") != "cuda" || !tag) return std::nullopt;
    return CudaImage{*tag, fmt::format("image {}:{}", reference.name, reference.tag), reference.name, true,
                     reference.pinned};
}

std::optional<std::string> compat_in_image(const Context& context) {
    const auto policy = context.facts.row("image-policy-holds-compat");
    const auto arch = context.cell.text(Field::arch);
    if (!policy || !contains(policy->list("values"), arch.empty() ? "x86_64" : arch)) return std::nullopt;
    std::optional<Version> cuda;
    if (context.cell.has(Field::image)) {
        const auto image = cuda_image(context);
        if (image) cuda = Version::parse(image->tag.cuda);
    } else {
        const auto repository = family_repository(context.facts, context.cell.text(Field::family));
        const auto known = lookup::cuda(context.facts, context.cell.text(Field::cuda));
        if (repository && repository->text("scheme") == "cuda" && known) cuda = known->exact;
    }
    const auto since = Version::parse(policy->text("since"));
    if (!cuda || (since && *cuda < *since)) return std::nullopt;
    return cuda->major_minor();
}

CudaRelease cuda_release_images(const Facts& facts, std::string_view cuda) {
    CudaRelease out{rows_with(facts, "cuda_images", "cuda", cuda), false};
    const auto is_whole = [](const Row& row) { return row.text("complete") == "true"; };
    const auto wanted = *Version::parse(cuda);
    std::vector<Row> long_form, short_form;  // of the same minor, by the number of parts in the tag
    bool later_minor = false, later_update = false;
    for (const auto& row : facts.rows("cuda_images")) {
        if (!is_whole(row)) continue;
        const auto version = lookup::required_version(row, "cuda");
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

std::vector<Row> rows_with(const Facts& facts, std::string_view table, std::string_view column,
                           std::string_view value) {
    std::vector<Row> out;
    const auto rows = facts.rows(table);
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
                 [&](const Row& row) { return row.text(column) == value; });
    return out;
}

std::optional<std::string_view> member(const Context& context, Field field, std::string_view name) {
    const auto* value = context.cell.value(field);
    if (value == nullptr) return std::nullopt;
    for (const auto& [key, text] : value->items) {
        if (key == name) return text;
    }
    return std::nullopt;
}

}  // namespace cudamatrix::rules
