#include "knowledge/resolve/resolve.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "fatbin/cover.hpp"
#include "knowledge/facts/images.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kDefaultArch = "x86_64";

Unresolved gap(Field field, std::string_view text) {
    return {field, fmt::format("no fact knows {} {}", info(field).name, text), {}};
}

// A misspelt name.
Unresolved with_name_near(Unresolved unresolved, std::string_view text,
                          const std::vector<std::string>& names) {
    if (const auto near = text::did_you_mean(text, names)) {
        unresolved.what += fmt::format(" (did you mean {}?)", *near);
        unresolved.near.push_back(set_to(unresolved.field, *near));
    }
    return unresolved;
}

// A version: the nearest known one below it, or the lowest of all.
Unresolved with_version_near(Unresolved unresolved, const Facts& facts, std::string_view table,
                             std::string_view column, std::string_view text) {
    const auto wanted = Version::parse(text);
    if (!wanted) return unresolved;
    std::optional<Version> best;
    for (const auto& row : facts.rows(table)) {
        auto known = Version::parse(row.text(column));
        if (!known) continue;
        if (!best || *known <= *wanted) best = known;  // the rows are sorted
    }
    unresolved.what += fmt::format(" (the nearest that is known is {})", best->text());
    unresolved.near.push_back(set_to(unresolved.field, best->text()));
    return unresolved;
}

std::optional<Row> architecture_of(const Facts& facts, std::string_view compute) {
    for (const auto& row : facts.rows("architectures")) {
        if (contains(row.list("compute"), compute)) return row;
    }
    return std::nullopt;
}

// `make` is asked once for each key.
template <class T, class Make>
const Resolved<T>& recalled(Memo::Known<T>& map, std::string key, const Make& make) {
    const auto found = map.find(key);
    if (found != map.end()) return found->second;
    return map.emplace(std::move(key), make()).first->second;
}

// The same where there is a memo.
template <class T, class Make>
Resolved<T> remembered(Memo* memo, Memo::Known<T> Memo::*known, std::string key, const Make& make) {
    if (memo == nullptr) return make();
    return recalled(memo->*known, std::move(key), make);
}

Resolved<Device> look_up_device(const Context& context) {
    const auto gpu_text = context.cell.text(Field::gpu);
    const auto gpu = gpu_text.empty() ? std::nullopt : lookup::gpu(context.facts, gpu_text);
    const bool by_compute = context.cell.has(Field::compute);
    if (!by_compute && !gpu) {
        return with_name_near(gap(Field::gpu, gpu_text), gpu_text, lookup::gpu_names(context.facts));
    }
    const auto text = by_compute ? context.cell.text(Field::compute) : gpu->text("compute");
    const auto arch = fatbin::parse_arch(text);
    std::optional<Row> architecture;
    std::string compute;
    if (arch) {
        compute = fmt::format("{}.{}", arch->major, arch->minor);
        architecture = architecture_of(context.facts, compute);
    }
    const Field field = by_compute ? Field::compute : Field::gpu;
    if (!architecture) return gap(Field::compute, text);

    Device out{field, *arch, compute, fmt::format("compute {}", text), gpu, *architecture, {}};
    if (gpu && gpu->text("compute") == compute) {
        out.text = fmt::format("{} (compute {})", gpu_text, text);
        if (!by_compute) out.facts.push_back(gpu->ref());
    }
    return out;
}

// The branch whose drivers for Windows, which count on their own, include the number.
std::optional<std::string_view> windows_branch(const Facts& facts, std::string_view number) {
    const auto driver = Version::parse(number);
    for (const auto& row : facts.rows("driver_branches")) {
        const auto oldest = Version::parse(row.text("windows_oldest"));
        const auto newest = Version::parse(row.text("windows_newest"));
        if (driver && oldest && newest && *oldest <= *driver && *driver <= *newest) return row.text("branch");
    }
    return std::nullopt;
}

Resolved<lookup::Driver> look_up_driver(const Context& context) {
    const auto text = context.cell.text(Field::driver);
    auto found = lookup::driver(context.facts, text);
    if (found && found->branch) return *std::move(found);
    auto unresolved = gap(Field::driver, text);
    if (const auto branch = windows_branch(context.facts, driver_number(text)))
        unresolved.what += fmt::format(" on Linux, it is a Windows driver of branch {}", *branch);
    return with_version_near(std::move(unresolved), context.facts, "driver_branches", "newest",
                             driver_number(text));
}

// A minor of CUDA that was left out: no toolkit has the number.
std::optional<Unresolved> never_released(const Facts& facts, std::string_view text) {
    const auto version = Version::parse(text);
    const auto family = version ? facts.row(fmt::format("cuda-family-{}", version->major())) : std::nullopt;
    if (!family || !contains(family->list("skipped"), version->major_minor())) return std::nullopt;
    std::optional<std::string_view> older, newer;
    for (const auto& row : facts.rows("cuda_releases")) {  // sorted
        const auto cuda = lookup::required_version(row, "cuda");
        if (cuda < *version) older = row.text("cuda");
        if (cuda > *version && !newer) newer = row.text("cuda");
    }
    Unresolved out{
        Field::cuda, fmt::format("CUDA {} was never released", version->major_minor()), {}, family->ref()};
    std::string near;
    for (const auto& release : {older, newer}) {
        if (!release) continue;
        near += fmt::format("{}{}", near.empty() ? "" : " and ", *release);
        out.near.push_back(set_to(Field::cuda, *release));
    }
    out.what += ": there are " + near;
    return out;
}

Resolved<lookup::Cuda> look_up_cuda(const Context& context) {
    const auto text = context.cell.text(Field::cuda);
    if (auto found = lookup::cuda(context.facts, text)) return *std::move(found);
    if (auto never = never_released(context.facts, text)) return *std::move(never);
    return with_version_near(gap(Field::cuda, text), context.facts, "cuda_releases", "cuda", text);
}

// The build that stands in for one that no row describes: its own CUDA in another release, else its own
// release.
std::optional<Row> nearest_build(const Facts& facts, const TorchBuild& build) {
    std::optional<Row> same_variant, same_release;
    for (const auto& row : facts.rows("torch_wheels")) {
        if (row.text("arch") != build.arch) continue;
        const auto release = lookup::required_version(row, "torch");
        if (release == build.torch.exact) same_release = row;
        // The rows are sorted.
        if (row.text("variant") == build.torch.variant && (!same_variant || release < build.torch.exact))
            same_variant = row;
    }
    return same_variant ? same_variant : same_release;
}

Resolved<TorchBuild> look_up_build(const Context& context) {
    const auto text = context.cell.text(Field::torch);
    const auto arch = context.cell.has(Field::arch) ? context.cell.text(Field::arch) : kDefaultArch;
    const auto found = lookup::torch(context.facts, text, arch);
    if (!found || !found->release) {
        return with_version_near(gap(Field::torch, text), context.facts, "torch_releases", "torch",
                                 text.substr(0, text.find('+')));
    }
    TorchBuild build{*found, {}, std::string(arch), {}};
    if (!found->wheel) build.nearest = nearest_build(context.facts, build);
    build.text = "torch " + found->exact.text() + (found->variant.empty() ? "" : "+" + found->variant);
    return build;
}

std::string key_of(const Context& context, std::initializer_list<Field> fields) {
    std::string key;
    for (const auto field : fields)
        key.append(context.cell.text(field)).append("\x1f");
    return key;
}

}  // namespace

Unresolved unknown_name(Field field, std::string_view text, const std::vector<std::string>& names) {
    return with_name_near(gap(field, text), text, names);
}

Unresolved unknown_os(const Facts& facts, std::string_view text) {
    std::vector<std::string> names;
    for (const auto& row : facts.rows("operating_systems")) {
        if (row.text("codename") == text) {
            auto out = gap(Field::os, text);
            out.what += fmt::format(" (did you mean {}?)", row.text("os"));
            out.near.push_back(set_to(Field::os, std::string(row.text("os"))));
            return out;
        }
        names.emplace_back(row.text("os"));
    }
    return unknown_name(Field::os, text, names);
}

Unresolved unknown_python(const Facts& facts, std::string_view text) {
    auto out = gap(Field::python, text);
    const bool free_threaded = text.ends_with('t');
    out = with_version_near(std::move(out), facts, "pythons", "python",
                            free_threaded ? text.substr(0, text.size() - 1) : text);
    return out;
}

Resolved<Device> device(const Context& context) {
    return remembered(context.memo, &Memo::devices, key_of(context, {Field::gpu, Field::compute}),
                      [&] { return look_up_device(context); });
}

const Device* known_device(const Context& context, Resolved<Device>& own) {
    const auto look_up = [&] { return look_up_device(context); };
    if (context.memo == nullptr) {
        own = look_up();
        return std::get_if<Device>(&own);
    }
    return std::get_if<Device>(
        &recalled(context.memo->devices, key_of(context, {Field::gpu, Field::compute}), look_up));
}

std::string_view host_arch(const Facts& facts, std::string_view gpu) {
    const auto row = lookup::gpu(facts, gpu);
    return row ? row->text("host_arch") : std::string_view();
}

Resolved<lookup::Driver> driver(const Context& context) {
    return remembered(context.memo, &Memo::drivers, key_of(context, {Field::driver}),
                      [&] { return look_up_driver(context); });
}

Resolved<lookup::Cuda> image_cuda(const Context& context) {
    return remembered(context.memo, &Memo::cudas, key_of(context, {Field::cuda}),
                      [&] { return look_up_cuda(context); });
}

Resolved<TorchBuild> torch_build(const Context& context) {
    return remembered(context.memo, &Memo::builds, key_of(context, {Field::torch, Field::arch}),
                      [&] { return look_up_build(context); });
}

bool wants_torch(const Context& context) {
    return context.cell.has(Field::torch) && context.cell.text(Field::torch) != "none";
}

bool wants_wheel(const Context& context) {
    if (!wants_torch(context)) return false;
    const auto image = context.cell.text(Field::image);
    const auto repository =
        image.empty() ? lookup::family_repository(context.facts, context.cell.text(Field::family))
                      : lookup::image_repository(context.facts, lookup::image_reference(image).repository);
    return !repository || repository->text("scheme") != "ngc";
}

bool no_wheels_for_arch(const TorchBuild& build) {
    return !build.torch.wheel && build.torch.variant.empty() &&
           contains(build.torch.release->list("no_wheels_for"), build.arch);
}

bool never_published(const TorchBuild& build) {
    if (no_wheels_for_arch(build) || build.torch.absent) return true;
    const auto& release = *build.torch.release;
    return !build.torch.wheel && !build.torch.variant.empty() && release.text("complete") == "true" &&
           !contains(release.list("variants"), build.torch.variant);
}

Unresolved no_wheel_row(const TorchBuild& build) {
    Unresolved out{
        Field::torch, fmt::format("no fact describes a build of {} for {}", build.text, build.arch), {}};
    if (build.nearest) {
        const auto near = fmt::format("{}+{}", build.nearest->text("torch"), build.nearest->text("variant"));
        out.what += fmt::format(" (the nearest that is known is {})", near);
        out.near.push_back(set_to(Field::torch, near));
    }
    return out;
}

NativeCuda native_cuda(const Facts& facts, const lookup::Driver& driver) {
    NativeCuda out;
    // The self-check sees to it that a newer branch never runs less: a branch's own row is the answer.
    if (driver.branch && driver.branch->has("cuda")) {
        out.at_least = out.at_most = Version::parse(driver.branch->text("cuda"));
        return out;
    }
    // The rows are sorted.
    for (const auto& row : facts.rows("driver_branches")) {
        const auto branch = lookup::required_version(row, "branch").major();
        const auto cuda = Version::parse(row.text("cuda"));
        if (!cuda) continue;
        if (branch <= driver.exact.major()) out.at_least = cuda;
        if (branch >= driver.exact.major() && !out.at_most) out.at_most = cuda;
    }
    return out;
}

std::string driver_text(const lookup::Driver& driver) {
    if (!driver.bare_branch || driver.exact.size() == 1) return "driver " + driver.exact.text();
    return fmt::format("driver {} (newest of branch {})", driver.exact.text(), driver.exact.major());
}

FixOption set_to(Field field, std::string_view value) {
    return set_to(field, value, fmt::format("{} {}", info(field).name, value));
}

FixOption set_to(Field field, std::string_view value, std::string text) {
    return {std::move(text), {{field, std::string(value)}}, {}};
}

void cite(std::vector<FactRef>& facts, const Facts& from, std::string_view id) {
    if (const auto row = from.row(id)) facts.push_back(row->ref());
}

std::string listed(std::span<const std::string_view> values) {
    std::string out;
    for (const auto value : values)
        out.append(out.empty() ? "" : ", ").append(value);
    return out;
}

std::string listed(const facts::Values& values) {
    return listed(std::vector<std::string_view>(values.begin(), values.end()));
}

bool contains(std::span<const std::string_view> values, std::string_view value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

fatbin::Arch device_arch(fatbin::Arch arch) {
    arch.variant = fatbin::Variant::base;
    return arch;
}

TargetRange target_range(const Row& toolkit) {
    TargetRange range;
    for (const auto target : toolkit.list("targets")) {
        const auto arch = fatbin::parse_arch(target);
        if (arch->variant != fatbin::Variant::base) continue;
        if (!range.lowest || *arch < *range.lowest) range.lowest = arch;
        if (!range.highest || *range.highest < *arch) range.highest = arch;
    }
    return range;
}

bool has_sass(facts::Values compute, const fatbin::Arch& device) {
    return std::any_of(compute.begin(), compute.end(), [&](std::string_view text) {
        return fatbin::sass_runs_on(*fatbin::parse_arch(text), device);  // the self-check lets no others in
    });
}

std::optional<std::string_view> ptx_for(facts::Values compute, const fatbin::Arch& device) {
    const auto found = std::find_if(compute.begin(), compute.end(), [&](std::string_view text) {
        return fatbin::ptx_compiles_for(*fatbin::parse_arch(text), device);
    });
    return found == compute.end() ? std::nullopt : std::optional(*found);
}

bool has_code(const Row& row, std::string_view sass, const fatbin::Arch& device) {
    return has_sass(row.list(sass), device) || ptx_for(row.list("ptx"), device).has_value();
}

}  // namespace cudamatrix::rules
