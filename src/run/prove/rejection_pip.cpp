// Attempts in which pip looks for what the cell asks for, or fetches it.
#include <algorithm>
#include <array>
#include <optional>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/packages.hpp"
#include "run/prove/rejection_attempt.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::string_view kPip = "/opt/attempt/bin/pip";
constexpr std::string_view kArch = "x86_64";
constexpr FieldSet kBaseFields{Field::os, Field::family, Field::arch, Field::image};

// pip ends with the very same error when it has not seen an index at all (refused connection, TLS, 403).
const std::vector<std::string>& unread_index() {
    static const std::vector<std::string> globs{"*(from versions: none)*", "WARNING: Retrying (*",
                                                "Could not fetch URL *"};
    return globs;
}

// One search of pip: nothing is installed and, of the wheels, only the metadata is read.
struct Search {
    std::vector<std::string> requirements;
    std::string python;              ///< 3.12, 3.13t
    std::vector<std::string> index;  ///< options; empty: the default index
    bool dependencies = false;
};

std::string minor_of(std::string_view python) {
    const auto version = Version::parse(python);
    return version ? version->major_minor() : std::string(python);
}

std::vector<std::string> argv_of(const Search& search) {
    std::vector<std::string> argv{std::string(kPip),
                                  "install",
                                  "--no-input",
                                  "--no-cache-dir",
                                  "--dry-run",
                                  "--ignore-installed",
                                  "--use-feature=fast-deps",
                                  "--disable-pip-version-check",
                                  "--only-binary",
                                  ":all:",
                                  "--target",
                                  "/attempt/none"};
    argv.insert(argv.end(), search.index.begin(), search.index.end());
    const auto minor = minor_of(search.python);
    argv.insert(argv.end(), {"--python-version", minor});
    if (search.python.ends_with('t'))
        argv.insert(argv.end(), {"--abi", "cp" + text::replace_all(minor, ".", "") + "t"});
    if (!search.dependencies) argv.emplace_back("--no-deps");
    argv.insert(argv.end(), search.requirements.begin(), search.requirements.end());
    return argv;
}

std::vector<std::string> default_index(const RejectedCell& rejected) {
    const auto url = lookup::mirror_of_source(rejected.facts, rejected.matrix.mirrors, "pypi");
    if (url.empty()) return {};
    return {"--index-url", url};
}

// Where a build of torch is looked for: the attempt and its control ask this index and no other.
struct TorchOnIndex {
    lookup::Torch torch;
    std::string requirement;
    std::vector<std::string> index;
};

std::variant<TorchOnIndex, std::string> torch_of(const RejectedCell& rejected) {
    const auto text = text_of(rejected.cell, Field::torch);
    auto torch = lookup::torch(rejected.facts, text, kArch);
    if (!torch || torch->variant.empty()) return "no fact knows torch " + text;
    TorchOnIndex out{std::move(*torch), {}, {}};
    out.requirement = "torch==" + out.torch.exact.text();
    if (out.torch.index_default) {
        out.index = default_index(rejected);
        return out;
    }
    out.requirement += "+" + out.torch.variant;
    const auto url =
        lookup::mirror_of_torch_index(rejected.facts, rejected.matrix.mirrors, out.torch.variant);
    if (url.empty()) {
        return fmt::format(
            "builds +{0} of torch come from an index of their own, which the matrix file does not name: "
            "mirrors: {{pytorch: URL}} (the part before /{0})",
            out.torch.variant);
    }
    out.index = {"--index-url", url};
    return out;
}

std::variant<PlannedAttempt, std::string> searching(const RejectedCell& rejected) {
    auto image = image_of(rejected, kBaseFields);
    if (auto* reason = std::get_if<std::string>(&image)) return std::move(*reason);
    PlannedAttempt planned;
    planned.image = std::move(std::get<Image>(image));
    planned.request.pip = true;
    planned.request.index = default_index(rejected);
    planned.doubts = unread_index();
    return planned;
}

// Newest first, free-threaded ones last.
std::vector<std::string> pythons_of(const Row& wheel) {
    const auto list = wheel.list("pythons");
    std::vector<std::string> pythons(list.begin(), list.end());
    std::ranges::stable_sort(pythons, [](const std::string& a, const std::string& b) {
        if (a.ends_with('t') != b.ends_with('t')) return b.ends_with('t');
        const auto left = Version::parse(a), right = Version::parse(b);
        return left && right && *right < *left;
    });
    return pythons;
}

std::optional<Row> release_of(const Facts& facts, std::string_view package, std::string_view version) {
    const auto wanted = Version::parse(version);
    for (const auto& release : facts.package_releases(package)) {
        const auto known = Version::parse(release.text);
        if (known && wanted && *known == *wanted) return release.row;
    }
    return std::nullopt;
}

// A python for which both have a wheel: the cell's own, else the newest that the facts know for both.
std::string common_python(const RejectedCell& rejected, const Row& wheel, std::string_view package,
                          std::string_view version) {
    if (rejected.cell.has(Field::python)) return text_of(rejected.cell, Field::python);
    const auto pythons = pythons_of(wheel);
    const auto release = release_of(rejected.facts, package, version.substr(0, version.find('+')));
    for (const auto& python : pythons) {
        const auto tag = "cp" + text::replace_all(python, ".", "");
        const auto tags = release ? release->list("abi") : facts::Values{};
        if (std::ranges::find(tags, tag) != tags.end()) return python;
    }
    return pythons.empty() ? std::string() : pythons.front();
}

// "nvidia_cuda_nvcc" and "nvidia-cuda-nvcc" are one package.
std::string canonical(std::string_view name) {
    return text::replace_all(text::replace_all(text::lower(name), "_", "-"), ".", "-");
}

std::string version_in(const Cell& cell, std::string_view package) {
    const auto* packages = cell.get(Field::packages);
    if (packages == nullptr) return {};
    for (const auto& [name, version] : packages->items) {
        if (canonical(name) == package) return version;
    }
    return {};
}

// The wheels of the release whose compiler the cell names, all of that release.
std::optional<Row> release_with(const RejectedCell& rejected, const std::string& os) {
    const auto nvcc = version_in(rejected.cell, "nvidia-cuda-nvcc");
    const auto toolkit = version_in(rejected.cell, "cuda-toolkit");
    const auto* table = rejected.facts.table("toolkit_sources");
    for (const auto& row : table == nullptr ? std::vector<Row>{} : table->rows) {
        if (row.text("os") != os || row.text("cuda_from") != "wheels") continue;
        const auto pins = row.list("pins");
        const bool same = nvcc.empty() ? !toolkit.empty() && row.text("cuda") == toolkit
                                       : std::ranges::find(pins, "nvidia-cuda-nvcc==" + nvcc) != pins.end();
        if (same) return row;
    }
    return std::nullopt;
}

// The pins that the finding is about, torch first: those on whose rows it rests, and the one that is asked
// for. Whose release of torch pip takes makes no difference to a contradiction: the default index has them
// all.
std::vector<std::string> contradicting(const RejectedCell& rejected, std::string_view needed) {
    const auto& finding = rejected.finding;
    std::vector<std::string> pins;
    if (std::ranges::find(finding.about, Field::torch) != finding.about.end()) {
        const auto torch = lookup::torch(rejected.facts, text_of(rejected.cell, Field::torch), kArch);
        if (torch) pins.push_back("torch==" + torch->exact.text());
    }
    const rules::ProjectedCell view(rejected.cell, {Field::packages});
    for (const auto& package : rules::packages_of({view, rejected.facts, {}})) {
        const bool cited = package.row && std::ranges::any_of(finding.facts, [&](const FactRef& fact) {
                               return fact.id == package.row->ref().id;
                           });
        if (!cited && package.name != needed) continue;
        pins.push_back(fmt::format("{}=={}", package.name, version_in(rejected.cell, package.name)));
    }
    return pins;
}

AttemptStep fetch(const std::string& name, const std::vector<std::string>& wheels,
                  const std::vector<std::string>& index) {
    std::vector<std::string> argv{
        std::string(kPip), "install",       "-q",    "--no-input", "--no-cache-dir",  "--no-deps",
        "--no-compile",    "--only-binary", ":all:", "--target",   "/attempt/" + name};
    argv.insert(argv.end(), index.begin(), index.end());
    argv.insert(argv.end(), wheels.begin(), wheels.end());
    return {name, {}, std::move(argv), kStepSeconds};
}

}  // namespace

MaybeAttempt resolve_python(const RejectedCell& rejected) {
    const auto torch = torch_of(rejected);
    if (const auto* reason = std::get_if<std::string>(&torch)) return *reason;
    const auto& build = std::get<TorchOnIndex>(torch);
    std::string other;  // what the finding's own fix says, else any that has a wheel
    for (const auto& option : rejected.finding.fixes) {
        if (option.set.size() == 1 && option.set.front().first == Field::python)
            other = option.set.front().second;
    }
    const auto pythons = build.torch.wheel ? pythons_of(*build.torch.wheel) : std::vector<std::string>{};
    if (other.empty() && !pythons.empty()) other = pythons.front();
    if (other.empty()) return "no fact names a python that has a wheel, to compare with";
    auto attempt = searching(rejected);
    if (auto* planned = std::get_if<PlannedAttempt>(&attempt)) {
        const auto python = text_of(rejected.cell, Field::python);
        planned->signatures = signatures_of(rejected.rule, {{"requirement", build.requirement}});
        planned->attempt = fmt::format("pip looks for {} for python {}", build.requirement, python);
        planned->control = fmt::format("the same for python {}", other);
        add_steps(*planned, argv_of({{build.requirement}, python, build.index}),
                  argv_of({{build.requirement}, other, build.index}));
    }
    return attempt;
}

MaybeAttempt resolve_variant(const RejectedCell& rejected) {
    const auto torch = torch_of(rejected);
    if (const auto* reason = std::get_if<std::string>(&torch)) return *reason;
    const auto& build = std::get<TorchOnIndex>(torch);
    std::optional<Row> published;  // the newest on the same index
    const auto* table = rejected.facts.table("torch_wheels");
    for (const auto& row : table == nullptr ? std::vector<Row>{} : table->rows) {
        if (row.text("variant") == build.torch.variant && row.text("arch") == kArch && row.has("pythons"))
            published = row;
    }
    if (!published)
        return fmt::format("no fact knows a torch on the index of {}, to compare with", build.torch.variant);
    auto attempt = searching(rejected);
    if (auto* planned = std::get_if<PlannedAttempt>(&attempt)) {
        const auto python = pythons_of(*published).front();
        const auto other = fmt::format("torch=={}+{}", published->text("torch"), build.torch.variant);
        planned->signatures = signatures_of(rejected.rule, {{"requirement", build.requirement}});
        planned->attempt =
            fmt::format("pip looks for {} on the index of {}", build.requirement, build.torch.variant);
        planned->control = fmt::format("{} on the same index", other);
        add_steps(*planned, argv_of({{build.requirement}, python, build.index}),
                  argv_of({{other}, python, build.index}));
    }
    return attempt;
}

MaybeAttempt resolve_together(const RejectedCell& rejected) {
    const auto torch = torch_of(rejected);
    if (const auto* reason = std::get_if<std::string>(&torch)) return *reason;
    const auto& build = std::get<TorchOnIndex>(torch);
    const auto& package = rejected.finding.aspect;
    const auto version = version_in(rejected.cell, package);
    if (!build.torch.wheel || version.empty()) return "no fact lists the wheels of its torch";
    const auto python = common_python(rejected, *build.torch.wheel, package, version);
    auto attempt = searching(rejected);
    if (auto* planned = std::get_if<PlannedAttempt>(&attempt)) {
        const std::vector<std::string> both{build.requirement, fmt::format("{}=={}", package, version)};
        planned->signatures = signatures_of(rejected.rule, {{"package", package}, {"version", version}});
        planned->attempt =
            fmt::format("pip looks for {} and {} together, for python {}", both[0], both[1], python);
        planned->control = "the same two without what they depend on";
        add_steps(*planned, argv_of({both, python, build.index, true}),
                  argv_of({both, python, build.index, false}));
    }
    return attempt;
}

MaybeAttempt resolve_packages(const RejectedCell& rejected) {
    for (const auto field : {Field::family, Field::image}) {
        if (std::ranges::find(rejected.finding.about, field) != rejected.finding.about.end())
            return "it is about the torch of NVIDIA's images, which no index has";
    }
    const auto python = text_of(rejected.cell, Field::python);
    if (python.empty()) return "pip looks for wheels of one python, and the cell names none";
    const auto& demand = rejected.finding.aspect;  // "tokenizers >=0.20,<0.21"
    const auto needed = demand.substr(0, demand.find(' '));
    const auto pins = contradicting(rejected, needed);
    if (pins.size() != 2) return "its two packages are not both pinned";
    auto attempt = searching(rejected);
    if (auto* planned = std::get_if<PlannedAttempt>(&attempt)) {
        planned->signatures = signatures_of(rejected.rule, {{"first", text::replace_all(pins[0], "==", " ")},
                                                            {"second", text::replace_all(pins[1], "==", " ")},
                                                            {"needed", needed}});
        planned->attempt =
            fmt::format("pip looks for {} and {} together, for python {}", pins[0], pins[1], python);
        planned->control = "the same two without what they depend on";
        add_steps(*planned, argv_of({pins, python, planned->request.index, true}),
                  argv_of({pins, python, planned->request.index, false}));
    }
    return attempt;
}

MaybeAttempt mix_parts(const RejectedCell& rejected) {
    auto attempt = searching(rejected);
    auto* planned = std::get_if<PlannedAttempt>(&attempt);
    if (planned == nullptr) return attempt;
    const auto release = release_with(rejected, planned->image.os);
    if (!release) return "no fact lists the wheels of one release to which its nvcc belongs";
    std::vector<std::string> whole, mixed;
    std::string root;
    for (const auto pin : release->list("pins")) {
        const auto name = std::string(pin.substr(0, pin.find("==")));
        const auto own = version_in(rejected.cell, name);
        whole.emplace_back(pin);
        mixed.push_back(own.empty() ? std::string(pin) : name + "==" + own);
        if (name == "nvidia-cuda-nvcc")
            root = "nvidia/cu" + text::split(pin.substr(pin.find("==") + 2), '.').front();
    }
    if (mixed == whole) return "the wheels of its release are those that the cell names";
    planned->doubts.clear();  // pip only prepares: when it fails there is no attempt
    planned->request.compiles = true;
    planned->request.files = {kernel_file()};
    planned->request.steps = {fetch("mixed", mixed, planned->request.index),
                              fetch("whole", whole, planned->request.index)};
    planned->signatures = signatures_of(rejected.rule, {});
    planned->attempt = "nvcc compiles with " + text::join(mixed, ", ");
    planned->control = "the same file with " + text::join(whole, ", ");
    const auto compile = [&](std::string_view parts) {
        return std::vector<std::string>{fmt::format("/attempt/{}/{}/bin/nvcc", parts, root),
                                        "-std=c++17",
                                        "-ccbin",
                                        planned->image.compiler,
                                        "-c",
                                        "kernel.cu",
                                        "-o",
                                        "/tmp/kernel.o"};
    };
    add_steps(*planned, compile("mixed"), compile("whole"));
    return attempt;
}

}  // namespace cudamatrix::job
