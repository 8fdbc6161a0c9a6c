#include "knowledge/resolve/images.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "knowledge/resolve/host.hpp"

namespace cudamatrix::rules {
namespace {

std::string_view gpu_class(const Context& context) {
    if (context.cell.has(Field::host_class)) return context.cell.text(Field::host_class);
    const auto gpu = context.cell.has(Field::gpu) ? lookup::gpu(context.facts, context.cell.text(Field::gpu))
                                                  : std::nullopt;
    return gpu ? gpu->text("class") : std::string_view{};
}

// A newer branch never runs less, so a driver below the oldest that is known has an upper bound.
std::optional<lookup::Driver> older_than_facts(const Context& context) {
    const auto exact = Version::parse(context.cell.text(Field::driver));
    if (!exact || exact->size() < 2) return std::nullopt;
    for (const auto& row : context.facts.rows("driver_branches")) {
        if (lookup::required_version(row, "branch").major() <= exact->major()) return std::nullopt;
    }
    return lookup::Driver{*exact, false, std::nullopt};
}

bool has_branch(const Row& row, std::string_view column, const ImageHost& host) {
    return contains(row.list(column), std::to_string(host.driver.exact.major()));
}

RequirementAnswer branch_answer(const Row& row, const ImageHost& host) {
    const bool any = has_branch(row, "any_branches", host);
    const bool professional = any || has_branch(row, "professional_branches", host);
    const bool tesla = professional || has_branch(row, "tesla_branches", host);
    if (any) return RequirementAnswer::met;
    if (!tesla) return RequirementAnswer::refused;
    if (host.gpu_class.empty()) return RequirementAnswer::depends_on_gpu;
    const bool met = host.gpu_class == "datacenter" || (professional && host.gpu_class == "workstation");
    return met ? RequirementAnswer::met : RequirementAnswer::refused;
}

std::string branches_text(const Row& row) {
    constexpr std::pair<std::string_view, std::string_view> columns[] = {
        {"any_branches", ""},
        {"professional_branches", " with a data-centre or workstation GPU"},
        {"tesla_branches", " with a data-centre GPU"}};
    std::string out;
    if (row.has("driver_min")) out += fmt::format(", or driver>={}", row.text("driver_min"));
    for (const auto& [column, with] : columns) {
        if (row.has(column)) out += fmt::format(", or driver branch {}{}", listed(row.list(column)), with);
    }
    return out;
}

// Where the branches leave it open, the row may know the first driver of its CUDA.
std::optional<bool> runs(const Row& row, const ImageHost& host, const Version& cuda) {
    const auto native = runs_natively(host.native, cuda);
    const auto first = Version::parse(row.text("first_driver"));
    return native || !first ? native : std::optional(host.driver.exact >= *first);
}

Requirement of_row(const Row& row, const ImageHost& host) {
    Requirement out{RequirementAnswer::met, {row.ref()}, {}};
    const auto cuda = Version::parse(row.text("cuda_min"));
    if (!cuda) return out;
    out.text = fmt::format("cuda>={}{}", cuda->text(), branches_text(row));
    const auto native = runs(row, host, *cuda);
    const auto least = Version::parse(row.text("driver_min"));
    if (native == true || (least && host.driver.exact >= *least)) return out;
    out.answer = branch_answer(row, host);
    if (out.answer == RequirementAnswer::refused && !native) out.answer = RequirementAnswer::open;
    return out;
}

// A release that no row describes: the driver's own CUDA is enough, its exceptions are not known.
Requirement of_policy(const Context& context, const CudaTag& tag, const ImageHost& host) {
    Requirement out;
    cite(out.facts, context.facts, "image-policy-requires-own-cuda");
    const auto cuda = *Version::parse(Version::parse(tag.cuda)->major_minor());
    if (runs_natively(host.native, cuda) == true) out.answer = RequirementAnswer::met;
    return out;
}

std::vector<Row> rows_for_arch(const Context& context) {
    std::vector<Row> out;
    const auto arch = context.cell.has(Field::arch) ? context.cell.text(Field::arch) : "x86_64";
    const auto rows = context.facts.rows("cuda_image_requirements");
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
                 [&](const Row& row) { return contains(row.list("arch"), arch); });
    return out;
}

// The rows of the release that the tag names; where it has none and the cell names a minor, all of the minor.
std::vector<Row> release_rows(const Context& context, const CudaImage& image) {
    const auto all = rows_for_arch(context);
    const auto wanted = Version::parse(image.tag.cuda)->major_minor();
    std::vector<Row> exact, minor;
    for (const auto& row : all) {
        if (row.text("cuda") == image.tag.cuda) exact.push_back(row);
        if (lookup::required_version(row, "cuda").major_minor() == wanted) minor.push_back(row);
    }
    // Where the family names the image, its CUDA is the cell's.
    const bool names_minor =
        !image.by_reference && Version::parse(context.cell.text(Field::cuda))->size() == 2;
    return exact.empty() && names_minor ? minor : exact;
}

// Of each release the row for the distribution, else the one for all others; without one every row.
std::vector<Row> distribution_rows(std::vector<Row> rows, std::string_view os) {
    if (os.empty()) return rows;
    std::vector<Row> out;
    const auto of_release = [](const std::vector<Row>& list, const Row& row) {
        return std::any_of(list.begin(), list.end(),
                           [&](const Row& other) { return other.text("cuda") == row.text("cuda"); });
    };
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
                 [&](const Row& row) { return contains(row.list("os"), os); });
    const auto own = out;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
                 [&](const Row& row) { return !row.has("os") && !of_release(own, row); });
    return out;
}

RequirementAnswer joined(RequirementAnswer a, RequirementAnswer b) {
    using enum RequirementAnswer;
    if (a == b) return a;
    const auto is_no = [](RequirementAnswer answer) { return answer == refused || answer == depends_on_gpu; };
    return is_no(a) && is_no(b) ? depends_on_gpu : depends_on_image;
}

}  // namespace

std::optional<ImageHost> image_host(const Context& context) {
    const auto resolved = host_driver(context);
    const auto* known = std::get_if<lookup::Driver>(&resolved);
    const auto host_driver = known != nullptr ? std::optional(*known) : older_than_facts(context);
    if (!host_driver) return std::nullopt;
    return ImageHost{*host_driver, native_cuda(context.facts, *host_driver), gpu_class(context)};
}

std::optional<bool> runs_natively(const NativeCuda& native, const Version& cuda) {
    if (native.at_least && *native.at_least >= cuda) return true;
    if (native.at_most && *native.at_most < cuda) return false;
    return std::nullopt;
}

std::optional<CudaImage> started_image(const Context& context) {
    if (auto image = cuda_image(context)) return image;
    if (context.cell.has(Field::image) || !context.cell.has(Field::cuda)) return std::nullopt;
    const auto repository = family_repository(context.facts, context.cell.text(Field::family));
    const auto known = lookup::cuda(context.facts, context.cell.text(Field::cuda));
    if (!repository || repository->text("scheme") != "cuda" || !known) return std::nullopt;
    CudaImage out;
    out.field = Field::cuda;
    out.name = repository->text("repository");
    out.tag.cuda = known->exact.text();
    const auto release = cuda_release_images(context.facts, out.tag.cuda);
    if (!release.rows.empty()) out.tag.cuda = release.rows.front().text("cuda");
    out.tag.flavour = context.cell.text(Field::flavour);
    out.text = fmt::format("an image {} of CUDA {}", out.name, context.cell.text(Field::cuda));
    return out;
}

Requirement requirement(const Context& context, const CudaImage& image, const ImageHost& host) {
    const auto rows = distribution_rows(release_rows(context, image), image.tag.os);
    if (rows.empty()) return of_policy(context, image.tag, host);
    // Newest first: that is the image that would be taken.
    auto out = of_row(rows.back(), host);
    std::vector<std::string> others;
    for (auto row = rows.rbegin() + 1; row != rows.rend(); ++row) {
        auto next = of_row(*row, host);
        out.answer = joined(out.answer, next.answer);
        if (next.text == out.text || std::find(others.begin(), others.end(), next.text) != others.end())
            continue;
        others.push_back(next.text);
        out.facts.push_back(row->ref());
    }
    for (const auto& other : others)
        out.text += fmt::format(" (on another distribution {})", other);
    if (host.driver.branch && !out.text.empty()) out.facts.push_back(host.driver.branch->ref());
    return out;
}

}  // namespace cudamatrix::rules
