// Rows of facts, of the tags that a registry lists and the configuration of one image behind them.

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "knowledge/facts/images.hpp"
#include "look/measure/image_news.hpp"

namespace cudamatrix::measure {
namespace {

using Texts = std::vector<std::string>;

std::string env(const OciConfig& config, std::string_view name) {
    for (const auto& [key, value] : config.env) {
        if (key == name) return value;
    }
    return {};
}

std::string env(const SeenImage& image, std::string_view name) {
    return env(image.config, name);
}

std::string label(const SeenImage& image, const std::string& name) {
    const auto found = image.config.labels.find(name);
    return found == image.config.labels.end() ? std::string() : found->second;
}

// "9.14.0" of "9.14.0.64-1"; empty: it is no version of that many parts.
std::string parts_of(const std::string& text, std::size_t count) {
    const auto version = Version::parse(text.substr(0, text.find('-')));
    if (!version || version->size() < count) return {};
    std::string out = std::to_string(version->part(0));
    for (std::size_t i = 1; i < count; ++i)
        out += "." + std::to_string(version->part(i));
    return out;
}

Failure contradicted(const SeenImage& image, std::string_view name, const std::string& value) {
    return input_failure(
        value.empty() ? fmt::format("{}: its configuration says no {}", image.reference, name)
                      : fmt::format("{}: its configuration says {} {}, which is not what its tag names",
                                    image.reference, name, text::printable(value)),
        "look at the image: another one may have been pushed under this tag");
}

Failure for_no_processor(const SeenImage& image) {
    return input_failure(fmt::format("{}: it is for neither x86_64 nor aarch64", image.reference));
}

void add_source(MeasuredRow& row, const SeenImage& image) {
    row.cells.push_back(scalar("source", fmt::format("image:{} {}", image.reference, image.digest)));
    row.cells.push_back(scalar("confidence", "measured"));
}

// In the order in which the images are built on each other.
Texts in_order(const std::set<std::string>& flavours) {
    const auto weight = [](const std::string& flavour) {
        const auto dash = flavour.rfind('-');
        const auto kind = dash == std::string::npos ? flavour : flavour.substr(dash + 1);
        return std::pair(dash != std::string::npos, kind == "base" ? 0 : kind == "runtime" ? 1 : 2);
    };
    Texts out(flavours.begin(), flavours.end());
    std::ranges::stable_sort(out, [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
    return out;
}

// What NVIDIA_REQUIRE_CUDA of an image asks for, in the columns of cuda_image_requirements.
struct Requirement {
    std::string cuda_min, driver_min;
    std::map<std::string, std::set<std::string>> brands;  // of a driver branch
};

std::optional<std::string> after(std::string_view text, std::string_view start) {
    if (!text.starts_with(start) || text.size() == start.size()) return std::nullopt;
    return std::string(text.substr(start.size()));
}

// The branch of "driver>=535" and "driver<536"; nothing: they are not one branch.
std::optional<std::string> branch_between(const std::string& from, const std::string& below) {
    unsigned first = 0, end = 0;
    const auto one = std::from_chars(from.data(), from.data() + from.size(), first);
    const auto two = std::from_chars(below.data(), below.data() + below.size(), end);
    const bool whole = one.ptr == from.data() + from.size() && two.ptr == below.data() + below.size();
    return whole && one.ec == std::errc() && two.ec == std::errc() && end == first + 1 ? std::optional(from)
                                                                                       : std::nullopt;
}

// Alternatives stand apart by blanks, what one asks for by commas. Nothing: some of it has no column.
std::optional<Requirement> requirement_of(const std::string& clauses) {
    Requirement out;
    for (const auto& alternative : text::split(clauses, ' ')) {
        if (alternative.empty()) continue;
        const auto terms = text::split(alternative, ',');
        if (terms.size() == 1) {
            const auto cuda = after(terms[0], "cuda>="), driver = after(terms[0], "driver>=");
            if (!cuda && !driver) return std::nullopt;
            (cuda ? out.cuda_min : out.driver_min) = cuda ? *cuda : *driver;
            continue;
        }
        if (terms.size() != 3) return std::nullopt;
        const auto brand = after(terms[0], "brand="), from = after(terms[1], "driver>="),
                   below = after(terms[2], "driver<");
        const auto branch = from && below ? branch_between(*from, *below) : std::nullopt;
        if (!brand || !branch) return std::nullopt;
        out.brands[*branch].insert(*brand);
    }
    return out.cuda_min.empty() && out.driver_min.empty() ? std::nullopt : std::optional(out);
}

// The column that a branch with these brands belongs to: by the brand that only it has.
std::string_view column_of(const std::set<std::string>& brands) {
    if (brands.count("tesla") == 0) return {};
    if (brands.size() == 1) return "tesla_branches";
    if (brands.count("geforce") != 0) return "any_branches";
    return brands.count("quadro") != 0 ? "professional_branches" : "";
}

Result<MeasuredRow> requirement_row(const ImageGroup& group, const SeenImage& image) {
    const auto clauses = env(image, "NVIDIA_REQUIRE_CUDA");
    const auto says = requirement_of(clauses);
    std::map<std::string_view, Texts> branches;
    bool fits = says.has_value();
    for (const auto& each : says ? says->brands : decltype(says->brands)()) {
        const auto column = column_of(each.second);
        fits = fits && !column.empty();
        branches[column].push_back(each.first);
    }
    if (!fits)
        return input_failure(fmt::format("{}: no row can hold its NVIDIA_REQUIRE_CUDA '{}'", image.reference,
                                         text::printable(clauses)));
    MeasuredRow row{"cuda_image_requirements",
                    fmt::format("cuda-image-requires-{}-{}", group.release, image.arches.front()),
                    {scalar("cuda", group.release), list("arch", image.arches)}};
    if (!says->cuda_min.empty()) row.cells.push_back(scalar("cuda_min", says->cuda_min));
    if (!says->driver_min.empty()) row.cells.push_back(scalar("driver_min", says->driver_min));
    for (const std::string_view column : {"tesla_branches", "professional_branches", "any_branches"}) {
        if (branches.count(column) != 0) row.cells.push_back(list(std::string(column), branches[column]));
    }
    add_source(row, image);
    return row;
}

using Rows = Result<std::vector<MeasuredRow>>;

Rows cuda_rows(const ImageGroup& group, const SeenImage& image, const Facts& facts) {
    const auto cuda = env(image, "CUDA_VERSION");
    if (cuda != group.release && !cuda.starts_with(group.release + "."))
        return contradicted(image, "CUDA_VERSION", cuda);
    std::set<std::string> systems, flavours;
    for (const auto& tag : group.tags) {
        const auto parts = *lookup::cuda_tag(tag);
        systems.insert(parts.os);
        flavours.insert(parts.flavour);
    }
    const auto known = lookup::rows_with(facts, "cuda_images", "cuda", group.release);
    // What is listed has not been deleted.
    const auto status = known.empty()                               ? "supported"
                        : known.front().text("status") == "deleted" ? "eol"
                                                                    : known.front().text("status");
    MeasuredRow row{"cuda_images",
                    fmt::format("cuda-image-{}-{}", group.release, *systems.begin()),
                    {scalar("cuda", group.release), scalar("status", std::string(status)),
                     list("os", {systems.begin(), systems.end()}), list("flavours", in_order(flavours))}};
    const auto cudnn =
        env(image, "NV_CUDNN_VERSION").empty() ? env(image, "CUDNN_VERSION") : env(image, "NV_CUDNN_VERSION");
    if (const auto version = parts_of(cudnn, 3); !version.empty())
        row.cells.push_back(scalar("cudnn", version));
    row.cells.push_back(list("arch", image.arches));
    row.cells.push_back(scalar("complete", "true"));
    add_source(row, image);
    CM_TRY_ASSIGN(auto requirement, requirement_row(group, image));
    return std::vector{std::move(row), std::move(requirement)};
}

Rows pytorch_rows(const ImageGroup& group, const SeenImage& image) {
    std::set<std::string> cudas, flavours;
    std::string cudnn, spelled;
    for (const auto& tag : group.tags) {
        const auto parts = *lookup::pytorch_tag(tag);
        cudas.insert(parts.cuda);
        flavours.insert(parts.flavour);
        cudnn = parts.cudnn;
        spelled = parts.torch;
    }
    if (const auto torch = env(image, "PYTORCH_VERSION"); !torch.empty() && torch != group.release)
        return contradicted(image, "PYTORCH_VERSION", torch);
    const auto id = fmt::format("pytorch-image-{}-hub", group.release);
    MeasuredRow row{
        "pytorch_images",
        group.first ? id : fmt::format("{}-cuda{}", id, *cudas.begin()),
        {scalar("torch", group.release), list("cuda", {cudas.begin(), cudas.end()}), scalar("cudnn", cudnn),
         list("flavours", {flavours.begin(), flavours.end()}), scalar("exists", "true")}};
    if (spelled != group.release) row.cells.push_back(scalar("tag_torch", spelled));
    add_source(row, image);
    return std::vector{std::move(row)};
}

// The one python3.N that paths of its environment name; empty: none, or several.
std::string python_in_paths(const SeenImage& image) {
    std::set<std::string> found;
    for (const auto& each : image.config.env) {
        constexpr std::string_view start = "/python3.";
        for (auto at = each.second.find(start); at != std::string::npos;
             at = each.second.find(start, at + 1)) {
            const auto end = each.second.find('/', at + 1);
            const auto minor = each.second.substr(at + 7, end == std::string::npos ? end : end - at - 7);
            if (!parts_of(minor, 2).empty()) found.insert(parts_of(minor, 2));
        }
    }
    return found.size() == 1 ? *found.begin() : std::string();
}

Rows ngc_rows(const ImageGroup& group, const SeenImage& image, const Facts& facts) {
    const auto month = env(image, "NVIDIA_PYTORCH_VERSION");
    if (month != group.release.substr(0, group.release.find('-')))
        return contradicted(image, "NVIDIA_PYTORCH_VERSION", month);
    MeasuredRow row{"ngc_images", "ngc-pytorch-" + group.release, {scalar("tag", group.release)}};
    // 2.10.0a0+b4e4ee81d3: the release that it precedes.
    const auto torch = env(image, "PYTORCH_VERSION");
    const auto release = torch.substr(0, torch.find_first_not_of("0123456789."));
    if (!parts_of(release, 3).empty()) row.cells.push_back(scalar("torch", release));
    if (const auto cuda = parts_of(env(image, "CUDA_VERSION"), 3); !cuda.empty())
        row.cells.push_back(scalar("cuda", cuda));
    if (const auto python = python_in_paths(image); !python.empty())
        row.cells.push_back(scalar("python", python));
    const auto os =
        label(image, "org.opencontainers.image.ref.name") + label(image, "org.opencontainers.image.version");
    if (facts.row("os-" + os)) row.cells.push_back(scalar("os", os));
    add_source(row, image);
    if (!torch.empty()) row.cells.insert(row.cells.end() - 2, scalar("note", "torch " + torch));
    return std::vector{std::move(row)};
}

Rows python_rows(const ImageGroup& group, const SeenImage& image, const Facts& facts) {
    const auto parts = *python_tag(group.release);
    const auto version = env(image, "PYTHON_VERSION");
    if (!version.starts_with(parts.python + ".")) return contradicted(image, "PYTHON_VERSION", version);
    const auto systems = lookup::rows_with(facts, "operating_systems", "codename", parts.codename);
    MeasuredRow row{"python_images",
                    "python-image-" + group.release,
                    {scalar("tag", group.release), scalar("python", parts.python),
                     scalar("os", std::string(systems.front().text("os"))), list("arch", image.arches)}};
    add_source(row, image);
    return std::vector{std::move(row)};
}

}  // namespace

// What the container toolkit checks: the variable, or else the CUDA that an image of old names.
std::string condition_of(const OciConfig& config) {
    if (auto clauses = env(config, "NVIDIA_REQUIRE_CUDA"); !clauses.empty()) return clauses;
    const auto cuda = parts_of(env(config, "CUDA_VERSION"), 2);
    return cuda.empty() ? cuda : "cuda>=" + cuda;
}

Result<MeasuredRow> other_image_row(const SeenImage& image) {
    if (image.arches.empty()) return for_no_processor(image);
    const auto condition = condition_of(image.config);
    const auto second = image.second ? condition_of(*image.second) : condition;
    for (const auto& each : {condition, second}) {
        if (!lookup::is_condition(each))
            return input_failure(fmt::format("{}: no row can hold its NVIDIA_REQUIRE_CUDA '{}'",
                                             image.reference, text::printable(each.substr(0, 200))));
    }
    MeasuredRow row{"other_images",
                    "other-image-" + image.reference,
                    {scalar("image", image.reference), list("arch", image.arches)}};
    if (const auto cuda = parts_of(env(image, "CUDA_VERSION"), 3); !cuda.empty())
        row.cells.push_back(scalar("cuda", cuda));
    if (!condition.empty()) row.cells.push_back(scalar("requires", condition));
    if (second != condition)
        row.cells.push_back(scalar("requires_aarch64", second.empty() ? "none" : second));
    add_source(row, image);
    return row;
}

Rows image_rows(const ImageGroup& group, const Row& repository, const SeenImage& image, const Facts& facts) {
    const auto scheme = repository.text("scheme");
    if (image.arches.empty()) return for_no_processor(image);
    if (scheme == "cuda") return cuda_rows(group, image, facts);
    if (scheme == "pytorch") return pytorch_rows(group, image);
    if (scheme == "ngc") return ngc_rows(group, image, facts);
    if (scheme == "python") return python_rows(group, image, facts);
    return std::vector<MeasuredRow>();
}

}  // namespace cudamatrix::measure
