#include "knowledge/resolve/packages.hpp"

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

// A build for no GPU (+cpu) or for those of another maker is a wheel of its own, with demands of its own.
// Those of torch's companions differ in their libraries alone.
bool is_build_without_cuda(const Facts& facts, std::string_view package, std::string_view local) {
    if (local != "cpu" && !local.starts_with("rocm") && !local.starts_with("xpu")) return false;
    const auto companions = facts.rows("torch_companions");
    return std::none_of(companions.begin(), companions.end(),
                        [&](const Row& row) { return row.text("package") == package; });
}

// By its text; a version written another way (2.0 for 2.0.0) is found by its value, and a build for one CUDA
// (0.13.1+cu113) as the release that it is a build of: both demand the same.
std::optional<Row> release_row(const Facts& facts, std::string_view package, std::string_view text,
                               const std::optional<pep440::Version>& version) {
    if (auto row = lookup::package_release(facts, package, text)) return row;
    if (!version) return std::nullopt;
    for (const auto& release : facts.package_releases(package)) {
        if (release.version == *version) return release.row;
    }
    const auto local = pep440::local_of(text);
    if (local.empty() || is_build_without_cuda(facts, package, local)) return std::nullopt;
    const auto release = text.substr(0, text.find('+'));
    return release_row(facts, package, release, pep440::Version::parse(release));
}

// "python >=3.13", "arch x86_64"
bool holds(const Context& context, std::string_view condition) {
    const auto blank = condition.find(' ');
    const auto subject = condition.substr(0, blank);
    const auto wanted = condition.substr(blank + 1);
    if (subject == "arch") return wanted == arch_of(context);
    const auto python = Version::parse(context.cell.text(Field::python));
    const auto minor = python ? pep440::Version::parse(python->major_minor()) : std::nullopt;
    return minor && pep440::Specifiers::of_fact(wanted)->admits(*minor);
}

const std::vector<std::pair<std::string, std::string>>& items_of(const ProjectedCell& cell) {
    static const std::vector<std::pair<std::string, std::string>> none;
    const auto* value = cell.value(Field::packages);
    return value == nullptr ? none : value->items;
}

FixOption set_packages(const std::vector<std::pair<std::string, std::string>>& items, std::string text) {
    std::string value;
    for (const auto& [name, version] : items)
        value += fmt::format("{}{}={}", value.empty() ? "" : ",", name, version);
    return set_to(Field::packages, value, std::move(text));
}

}  // namespace

std::vector<Package> packages_of(const Context& context) {
    std::vector<Package> out;
    for (const auto& [written, text] : items_of(context.cell)) {
        if (text == kCompanionVersion || text == kAnyVersion || text == kNoPackage) continue;
        Package package;
        package.name = pep440::canonical_name(written);
        package.text = fmt::format("{} {}", package.name, text);
        package.version = pep440::Version::parse(text);
        package.row = release_row(context.facts, package.name, text, package.version);
        out.push_back(std::move(package));
    }
    return out;
}

std::optional<Package> torch_package(const Context& context) {
    if (const auto own = image_torch(context)) {
        Package package;
        package.name = "torch";
        package.text = own->text;
        if (own->release) package.version = pep440::Version::parse(own->release->text() + "a0");
        package.field = context.cell.has(Field::torch) ? Field::torch : own->field;
        if (own->row) package.torch_release = own->row->ref();
        package.in_image = true;
        return package;
    }
    if (!wants_torch(context)) return std::nullopt;
    const auto build = if_known(torch_build(context));
    if (!build || never_published(*build)) return std::nullopt;
    const auto text = context.cell.text(Field::torch);
    const auto plus = text.find('+');
    const auto exact = build->torch.exact.text();
    Package package;
    package.name = "torch";
    package.text = plus == text.npos ? "torch " + exact : build->text;
    package.version =
        pep440::Version::parse(plus == text.npos ? exact : exact + std::string(text.substr(plus)));
    if (build->torch.index_default) package.row = lookup::package_release(context.facts, "torch", exact);
    package.field = Field::torch;
    package.torch_release = build->torch.release->ref();
    return package;
}

std::string torch_cuda(const Context& context) {
    if (const auto own = image_torch(context)) return own->cuda;
    if (!wants_torch(context)) return {};
    const auto build = if_known(torch_build(context));
    if (!build || !build->torch.wheel) return {};
    return std::string(build->torch.wheel->text("cuda"));
}

const pep440::Specifiers& Demand::specifiers() const {
    static const pep440::Specifiers everything;
    const auto& read = pep440::Specifiers::of_fact(clauses);
    return read ? *read : everything;
}

std::vector<Demand> demands_of(const Context& context, const Row& release) {
    std::vector<Demand> out;
    for (const auto text : release.list("requires")) {
        const auto end = std::min(text.find(';'), text.size());
        const auto demand = text.substr(0, end);
        bool applies_here = true;
        for (auto rest = text.substr(end); applies_here && !rest.empty();) {
            rest.remove_prefix(std::min<std::size_t>(2, rest.size()));
            const auto stop = std::min(rest.find(';'), rest.size());
            applies_here = holds(context, rest.substr(0, stop));
            rest.remove_prefix(stop);
        }
        const auto blank = demand.find(' ');
        if (applies_here) out.push_back({demand.substr(0, blank), demand.substr(blank + 1), text});
    }
    return out;
}

std::vector<PackageRelease> fitting_releases(const Facts& facts, std::string_view package,
                                             const std::function<bool(const PackageRelease&)>& fits) {
    const auto known = facts.package_releases(package);
    std::vector<PackageRelease> out(known.begin(), known.end());
    std::erase_if(out, [&](const PackageRelease& release) { return !fits(release); });
    const auto kept = [](const PackageRelease& release) { return !lookup::is_yanked(release.row); };
    if (std::any_of(out.begin(), out.end(), kept)) std::erase_if(out, std::not_fn(kept));
    return out;
}

bool knows_package(const Facts& facts, std::string_view package) {
    return !facts.package_releases(package).empty();
}

bool covers(const Row& row, std::string_view column, const pep440::Version& version) {
    return pep440::Specifiers::of_fact(row.text(column))->admits(version);
}

bool describes(const Row& row, std::string_view package, const pep440::Version& version) {
    return row.text("package") == package && covers(row, "versions", version);
}

FixOption with_packages(const Context& context,
                        const std::vector<std::pair<std::string, std::string>>& changes) {
    auto items = items_of(context.cell.as_written());
    std::string text;
    for (const auto& [name, version] : changes) {
        const auto at = std::find_if(items.begin(), items.end(), [&name = name](const auto& item) {
            return pep440::canonical_name(item.first) == name;
        });
        if (at == items.end()) {
            items.emplace_back(name, version);
        } else {
            at->second = version;
        }
        text += fmt::format("{}{} {}", text.empty() ? "" : " and ", name, version);
    }
    return set_packages(items, std::move(text));
}

std::string pointed(const std::string& digits) {
    return digits.size() < 2 ? digits : fmt::format("{}.{}", digits.front(), digits.substr(1));
}

FixOption with_package(const Context& context, std::string_view name, std::string_view version) {
    return with_packages(context, {{std::string(name), std::string(version)}});
}

FixOption without_package(const Context& context, std::string_view name) {
    auto items = items_of(context.cell.as_written());
    std::erase_if(items, [&](const auto& item) { return pep440::canonical_name(item.first) == name; });
    return set_packages(items, fmt::format("leave {} out", name));
}

std::string_view arch_of(const Context& context) {
    return context.cell.has(Field::arch) ? context.cell.text(Field::arch) : std::string_view("x86_64");
}

Severity severity_in(const Row& row) {
    return row.text("severity") == "error" ? Severity::error : Severity::warning;
}

std::optional<NamedTriton> named_triton(const Context& context) {
    for (const auto& package : packages_of(context)) {
        if (package.name != "triton" && package.name != "triton-windows") continue;
        // 3.5.0.post21 is a build of 3.5.0.
        const auto number = package.text.substr(package.text.find(' ') + 1);
        const auto post = number.find(".post");
        return NamedTriton{package.name, package.text, Version::parse(number.substr(0, post))};
    }
    return std::nullopt;
}

std::optional<CellTriton> cell_triton(const Context& context) {
    if (const auto named = named_triton(context)) {
        CellTriton out{Field::packages, named->text, {}, {}};
        if (named->version) out.row = context.facts.row(fmt::format("triton-{}", named->version->text()));
        if (out.row) out.facts.push_back(out.row->ref());
        return out;
    }
    // Which triton is in an image of NVIDIA's own no wheel says; its assembler is of the image's CUDA or
    // older, and what a driver makes of that driver-supports-cuda says.
    if (!wants_wheel(context)) return std::nullopt;
    const auto build = if_known(torch_build(context));
    if (!build || build->torch.variant == "cpu" || never_published(*build)) return std::nullopt;
    const auto row = compile_row(context.facts, build->torch.release->text("torch"));
    if (!row || other_os(context) || !contains(row->list("triton_arch"), build->arch)) return std::nullopt;
    CellTriton out;
    out.text = fmt::format("the triton {} of {}", row->text("triton"), build->text);
    out.row = context.facts.row(fmt::format("triton-{}", row->text("triton")));
    out.facts.push_back(row->ref());
    out.facts.push_back(out.row->ref());
    return out;
}

}  // namespace cudamatrix::rules
