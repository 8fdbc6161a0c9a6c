#include "knowledge/resolve/host.hpp"

#include "base/text.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kJetson = "jetson";  // the word of the field host_class
constexpr std::uint32_t kLeastBranch = 100;     // no CUDA is numbered so, every driver branch is

// The branch that a number counts in: the highest known one that is not above it. Beyond the newest known
// branch nothing is known.
std::optional<Row> branch_below(const Facts& facts, const Version& driver) {
    std::optional<Row> best;
    bool beyond = true;
    for (const auto& row : facts.rows("driver_branches")) {
        const auto branch = lookup::required_version(row, "branch").major();
        if (branch <= driver.major()) best = row;
        if (branch >= driver.major()) beyond = false;
    }
    return beyond ? std::nullopt : best;
}

// The row of the release, or of the newest release of a minor, by ids alone: this is asked very often.
std::optional<Row> release_of(const Facts& facts, const Version& cuda) {
    if (cuda.size() > 2) return facts.row(fmt::format("cuda-{}", cuda.text()));
    const auto toolkit = facts.row(fmt::format("cuda-toolkit-{}", cuda.text()));
    if (!toolkit || !toolkit->has("newest")) return std::nullopt;
    return facts.row(fmt::format("cuda-{}", toolkit->text("newest")));
}

}  // namespace

bool windows_driver(const Context& context) {
    return context.cell.text(Field::os).starts_with("windows") ||
           lookup::is_wsl(context.cell.text(Field::platform));
}

Resolved<lookup::Driver> host_driver(const Context& context) {
    if (!windows_driver(context)) return driver(context);
    const auto text = context.cell.text(Field::driver);
    const auto version = Version::parse(driver_number(text));
    if (version && version->suffix().empty()) {
        if (const auto branch = branch_below(context.facts, *version))
            return lookup::Driver{*version, version->size() == 1, branch};
    }
    return Unresolved{Field::driver, fmt::format("no fact knows a branch of Windows driver {}", text), {}};
}

std::string host_driver_text(const Context& context, const lookup::Driver& driver) {
    return windows_driver(context) ? "Windows driver " + driver.exact.text() : driver_text(driver);
}

std::optional<Integrated> integrated_gpu(const Context& context) {
    if (context.cell.has(Field::gpu) || context.cell.has(Field::compute)) {
        Resolved<Device> own = Unresolved{};
        if (const auto* known = known_device(context, own)) {
            if (known->architecture.text("integrated") != "true") return std::nullopt;
            auto facts = known->facts;
            facts.push_back(known->architecture.ref());
            return Integrated{known->field, known->text, std::move(facts)};
        }
    }
    if (context.cell.text(Field::host_class) != kJetson) return std::nullopt;
    return Integrated{Field::host_class, fmt::format("host class {}", kJetson), {}};
}

Unresolved outside_branches(const Integrated& gpu) {
    return {gpu.field, fmt::format("no branch of the desktop and server driver applies to {}", gpu.text), {}};
}

std::optional<Floor> floor_of(const Facts& facts, const Version& cuda, bool windows) {
    const std::string_view column = windows ? "min_driver_windows" : "min_driver_linux";
    const auto release = release_of(facts, cuda);
    const auto family = facts.row(fmt::format("cuda-family-{}", cuda.major()));
    const auto of_major = family ? Version::parse(family->text(column)) : std::nullopt;
    const auto of_release = release ? Version::parse(release->text(column)) : std::nullopt;
    // The first releases of a major run on drivers that are older than what its later ones ask for.
    if (of_release && (!of_major || *of_release < *of_major)) return Floor{*of_release, *release, false};
    if (of_major) return Floor{*of_major, *family, true};
    return std::nullopt;
}

std::optional<Unresolved> compat_gap(const Context& context) {
    const auto text = context.cell.text(Field::cuda_compat);
    const auto version = Version::parse(text);
    if (!version || version->major() < kLeastBranch) return std::nullopt;
    const auto branch = context.facts.row(fmt::format("driver-r{}", version->major()));
    const auto cuda = branch ? branch->text("cuda") : std::string_view();
    Unresolved gap{
        Field::cuda_compat,
        fmt::format("cuda_compat takes the CUDA version of the libraries, and {} is a driver", text),
        {}};
    if (!lookup::cuda(context.facts, cuda)) return gap;
    gap.what += fmt::format(" (did you mean {}, whose libraries are of driver {}?)", cuda, version->major());
    gap.near.push_back(set_to(Field::cuda_compat, cuda));
    return gap;
}

namespace {

// Of libraries whose branches no row lists: what the nearest older ones, or else the oldest, are made for.
Unresolved no_compat_row(const Facts& facts, const Version& cuda) {
    Unresolved gap{
        Field::cuda_compat,
        fmt::format("no fact lists the driver branches of the compat libraries of CUDA {}", cuda.text()),
        {}};
    std::optional<Row> near;
    for (const auto& row : facts.rows("forward_compatibility")) {
        // The rows are sorted.
        if (!near || lookup::required_version(row, "cuda") < cuda) near = row;
    }
    gap.what += fmt::format(" (the nearest that are known, of CUDA {}, are made for {})", near->text("cuda"),
                            listed(near->list("branches")));
    gap.near.push_back(set_to(Field::cuda_compat, near->text("cuda")));
    return gap;
}

}  // namespace

Compat compat_on(const Context& context, const lookup::Driver& driver) {
    Compat out;
    out.gap = compat_gap(context);
    if (out.gap) return out;
    const auto text = context.cell.text(Field::cuda_compat);
    const auto version = Version::parse(text);
    if (!version || !lookup::cuda(context.facts, version->major_minor())) {
        out.gap = Unresolved{Field::cuda_compat, fmt::format("no fact knows CUDA {}", text), {}};
        return out;
    }
    out.cuda = *Version::parse(lookup::cuda(context.facts, version->major_minor())->exact.major_minor());
    out.native = native_cuda(context.facts, driver);
    out.row = context.facts.row(fmt::format("compat-{}", out.cuda.text()));
    if (out.native.at_least && out.cuda <= *out.native.at_least) {
        out.use = CompatUse::unused;
    } else if (!out.native.at_most || out.cuda <= *out.native.at_most) {
        out.gap = Unresolved{
            Field::driver,
            fmt::format("no fact says which CUDA driver branch {} runs natively", driver.exact.major()),
            {}};
    } else if (!out.row) {
        out.gap = no_compat_row(context.facts, out.cuda);
    } else {
        const auto branch = std::to_string(driver.exact.major());
        out.use = contains(out.row->list("branches"), branch) ? CompatUse::works : CompatUse::wrong_branch;
    }
    return out;
}

Resolved<Hardware> compat_hardware(const Context& context) {
    const auto given = context.cell.text(Field::host_class);
    if (!given.empty())
        return Hardware{Field::host_class, std::string(given), fmt::format("host class {}", given), {}};
    const auto name = context.cell.text(Field::gpu);
    const auto row = lookup::gpu(context.facts, name);
    if (!row) return Unresolved{Field::gpu, fmt::format("no fact knows gpu {}", name), {}};
    return Hardware{Field::gpu,
                    std::string(row->text("class")),
                    fmt::format("{} (class {})", name, row->text("class")),
                    {row->ref()}};
}

namespace {

bool grants(const Context& context, std::string_view answer) {
    const auto resolved = compat_hardware(context);
    const auto* hardware = std::get_if<Hardware>(&resolved);
    if (hardware == nullptr) return false;
    const auto row = context.facts.row(fmt::format("class-{}", hardware->host_class));
    return row && row->text("forward_compatibility") == answer;
}

}  // namespace

bool refuses_compat(const Context& context) {
    return grants(context, "refused");
}

bool accepts_compat(const Context& context) {
    return grants(context, "supported");
}

std::optional<Version> branch_check_since(const Facts& facts) {
    return Version::parse(facts.row("policy-compat-hook")->text("since"));
}

bool toolkit_uses_any_branch(const Context& context) {
    const auto since = branch_check_since(context.facts);
    const auto toolkit = Version::parse(context.cell.text(Field::toolkit));
    return !since || !toolkit || *toolkit < *since;
}

std::string_view open_kernel_module(const Device& device) {
    if (device.gpu && device.gpu->has("open_kernel_module")) return device.gpu->text("open_kernel_module");
    return device.architecture.text("open_kernel_module");
}

std::optional<Row> first_with_open_modules(const Facts& facts) {
    std::optional<Row> first;
    std::optional<Version> oldest;
    for (const auto& row : facts.rows("architectures")) {
        const auto open = row.text("open_kernel_module");
        if (open.empty() || open == "unsupported") continue;
        for (const auto text : row.list("compute")) {
            const auto compute = Version::parse(text);
            if (!compute || (oldest && *oldest <= *compute)) continue;
            oldest = compute;
            first = row;
        }
    }
    return first;
}

std::optional<Row> container_toolkit(const Context& context) {
    const auto version = Version::parse(context.cell.text(Field::toolkit));
    if (!version) return std::nullopt;
    const auto series = *Version::parse(version->major_minor());
    for (const auto& row : context.facts.rows("container_toolkits")) {
        if (lookup::required_version(row, "first") <= series &&
            series <= lookup::required_version(row, "last"))
            return row;
    }
    return std::nullopt;
}

}  // namespace cudamatrix::rules
