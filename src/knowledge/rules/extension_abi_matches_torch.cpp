// A wheel that its makers compiled for one torch: is the cell's torch that one, for that CUDA, with that C++
// ABI? The version names it, and where somebody looked, what the wheel holds counts instead.
#include "base/text.hpp"
#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// A wheel that makers compile for one torch, as the local part of its version names it:
// 2.7.4.post1+cu12torch2.6cxx11abiFALSE, 0.2.4+cu124torch2.6, 2.1.2+pt26cu124.
struct MakersWheel {
    std::string torch;              ///< "2.6", the release that it was compiled with as far as it is named
    std::string cuda;               ///< "124", "12"; empty: not named
    std::optional<bool> cxx11_abi;  ///< as the name says
};

// The C++ ABI of a torch build, and what says so.
struct TorchAbi {
    bool cxx11 = false;
    FactRef fact;
};

// What follows `mark`, as far as it is made of `chars`; empty where the mark is not there.
std::string after(const std::string& text, std::string_view mark, std::string_view chars) {
    const auto at = text.find(mark);
    if (at == std::string::npos) return {};
    const auto begin = at + mark.size();
    const auto end = text.find_first_not_of(chars, begin);
    auto out = text.substr(begin, end == std::string::npos ? end : end - begin);
    while (!out.empty() && out.back() == '.')
        out.pop_back();
    return out;
}

std::optional<bool> named_abi(const std::string& local) {
    if (local.find("cxx11abitrue") != std::string::npos) return true;
    if (local.find("cxx11abifalse") != std::string::npos) return false;
    return std::nullopt;
}

constexpr std::string_view kDigits = "0123456789", kVersion = "0123456789.";

// Nothing where the version names no torch.
std::optional<MakersWheel> makers_wheel(const Package& package) {
    const auto local = text::lower(pep440::local_of(package.text));
    MakersWheel out{after(local, "torch", kVersion), after(local, "cu", kDigits), named_abi(local)};
    if (out.torch.empty()) out.torch = pointed(after(local, "pt", kDigits));  // pt26, pt210
    const auto torch = Version::parse(out.torch);
    if (!torch || torch->size() < 2) return std::nullopt;
    return out;
}

// Of a build for Linux; nothing where no fact says it.
std::optional<TorchAbi> torch_abi(const Facts& facts, const TorchBuild& build) {
    const auto& wheel = build.torch.wheel;
    if (wheel && wheel->has("cxx11_abi")) return TorchAbi{wheel->text("cxx11_abi") == "true", wheel->ref()};
    if (build.arch != "x86_64") return std::nullopt;
    const auto last_old = facts.row("policy-torch-old-abi"), first_new = facts.row("policy-torch-cxx11-abi");
    if (last_old && build.torch.exact < lookup::required_version(*last_old, "since"))
        return TorchAbi{false, last_old->ref()};
    if (first_new && build.torch.exact >= lookup::required_version(*first_new, "since"))
        return TorchAbi{true, first_new->ref()};
    return std::nullopt;
}

std::string_view abi_text(bool cxx11) {
    return cxx11 ? "the new C++ ABI" : "the old C++ ABI";
}

// The makers' wheels of that release for that torch, of which it is known which ABI they hold.
std::optional<Row> held_abi(const Facts& facts, const Package& package, const Version& torch) {
    for (const auto& row : facts.rows("package_makers_abi")) {
        if (describes(row, package.name, *package.version) &&
            lookup::required_version(row, "torch").covers(torch))
            return row;
    }
    return std::nullopt;
}

void reject(Ask& ask, const Package& package, const std::string& text, const std::vector<FactRef>& facts) {
    auto answer = ask.reject("{}", text);
    answer.because(facts);
    answer.accepted_other(Field::torch).without(package.name);
}

// The build that the name means where it says no ABI: 2.6 and 124 for 2.6.0+cu124.
std::optional<TorchAbi> named_build_abi(const Context& context, const MakersWheel& wheel,
                                        const TorchBuild& build) {
    for (const auto& row : context.facts.rows("torch_wheels")) {
        if (row.text("arch") != build.arch || row.text("variant") != "cu" + wheel.cuda) continue;
        if (!Version::parse(wheel.torch)->covers(lookup::required_version(row, "torch"))) continue;
        TorchBuild named = build;
        named.torch.exact = lookup::required_version(row, "torch");
        named.torch.wheel = row;
        return torch_abi(context.facts, named);
    }
    return std::nullopt;
}

// The ABI of the wheel: as somebody found it, as its name says, or that of the torch that it names.
struct WheelAbi {
    bool cxx11 = false;
    std::string why;
    std::vector<FactRef> facts;
    std::string consequence = "its import ends with \"undefined symbol\"";
};

std::optional<WheelAbi> abi_of(const Context& context, const Package& package,
                               const std::optional<MakersWheel>& wheel, const TorchBuild& build) {
    if (const auto row = held_abi(context.facts, package, build.torch.exact))
        return WheelAbi{row->text("cxx11_abi") == "true",
                        "whatever its name says, ",
                        {row->ref()},
                        std::string(row->text("consequence"))};
    if (!wheel) return std::nullopt;
    if (wheel->cxx11_abi) return WheelAbi{*wheel->cxx11_abi, "as its version says, ", {}};
    if (const auto abi = named_build_abi(context, *wheel, build))
        return WheelAbi{abi->cxx11, "as its torch was, ", {abi->fact}};
    return std::nullopt;
}

void judge_abi(Ask& ask, const Package& package, const std::optional<MakersWheel>& wheel,
               const TorchBuild& build) {
    const auto held = abi_of(ask, package, wheel, build);
    if (!held) return;
    const auto own = torch_abi(ask.facts, build);
    ask.question({Field::packages, Field::torch},
                 fmt::format("whether {} has the C++ ABI of {}", package.text, build.text), package.name);
    if (!own) {
        ask.unknown(Field::torch, "no fact says with which C++ ABI {} was built", build.text);
        return;
    }
    auto facts = held->facts;
    facts.push_back(own->fact);
    if (own->cxx11 == held->cxx11) return ask.record_pass(std::move(facts));
    reject(ask, package,
           fmt::format("the makers' wheel of {} was compiled, {}with {}; {} has {}: {}", package.text,
                       held->why, abi_text(held->cxx11), build.text, abi_text(own->cxx11), held->consequence),
           facts);
}

// The row of the wheels that its makers publish, where the python is none of theirs.
std::optional<Row> lacks_python(const Context& context, const Package& package) {
    const auto python = Version::parse(context.cell.text(Field::python));
    for (const auto& row : context.facts.rows("package_makers_wheels")) {
        if (python && describes(row, package.name, *package.version))
            return contains(row.list("pythons"), python->major_minor()) ? std::nullopt : std::optional(row);
    }
    return std::nullopt;
}

// True where something was said.
bool judge_name(Ask& ask, const Package& package, const MakersWheel& wheel, const TorchBuild& build) {
    const auto torch = Version::parse(wheel.torch);
    std::vector<FactRef> facts{build.torch.release->ref()};
    if (build.torch.wheel) facts = {build.torch.wheel->ref()};
    ask.question({Field::packages, Field::torch},
                 fmt::format("whether {} was compiled for {}", package.text, build.text), package.name);
    if (torch->major_minor() != build.torch.exact.major_minor()) {
        reject(ask, package,
               fmt::format("{} is the makers' wheel for torch {}; the cell has {}: its import may end with "
                           "\"undefined symbol\"",
                           package.text, torch->major_minor(), build.text),
               facts);
        return true;
    }
    const auto cuda = build.torch.wheel ? Version::parse(build.torch.wheel->text("cuda")) : std::nullopt;
    const auto major = wheel.cuda.substr(0, wheel.cuda.starts_with('9') ? 1 : 2);  // cu92, cu102, cu12
    const bool is_cpu = build.torch.variant == "cpu";
    if (!major.empty() && (is_cpu || (cuda && std::to_string(cuda->major()) != major))) {
        reject(ask, package,
               fmt::format(
                   "{} is the makers' wheel for CUDA {}; the cell has {}, {}: its libraries are not there",
                   package.text, major, build.text,
                   is_cpu ? "a build without CUDA" : "built for CUDA " + cuda->text()),
               facts);
        return true;
    }
    if (const auto row = lacks_python(ask, package)) {
        ask.question({Field::packages, Field::python}, {}, package.name);
        ask.reject("{} is a makers' wheel, which there is for python {} only; the cell has python {}",
                   package.text, listed(row->list("pythons")), ask.cell.text(Field::python))
            .because(row->ref())
            .accepted_other(Field::python)
            .without(package.name);
        return true;
    }
    ask.record_pass(std::move(facts));
    return false;
}

void judge_extension_abi_matches_torch(Ask& ask) {
    if (!wants_wheel(ask)) return;
    const auto build = if_known(torch_build(ask));
    if (!build || never_published(*build)) return;
    const auto machine = machine_of(ask);
    for (const auto& package : packages_of(ask)) {
        if (!package.version) continue;
        const auto wheel = makers_wheel(package);
        if (wheel && judge_name(ask, package, *wheel, *build)) continue;
        if (machine.is_glibc()) judge_abi(ask, package, wheel, *build);
    }
}

}  // namespace

Rule extension_abi_matches_torch() {
    return {
        .id = "extension-abi-matches-torch",
        .stage = Stage::runtime,
        .summary = "A wheel that its makers compiled for one torch finds that torch, CUDA and C++ ABI.",
        .why =
            "Extensions of torch link its C++ symbols, whose names carry the ABI of libstdc++ (_GLIBCXX_USE_"
            "CXX11_ABI): torch for Linux had the old one up to 2.6, and changed with one CUDA variant first. "
            "pip installs a wheel for another torch without a word, and its import ends with \"undefined "
            "symbol: _ZN3c105Error...\".",
        .fails = "torch: 2.6.0+cu126, packages: {flash-attn: 2.7.4.post1+cu12torch2.6cxx11abiFALSE}",
        .passes = "torch: 2.6.0+cu124, packages: {flash-attn: 2.7.4.post1+cu12torch2.6cxx11abiFALSE}",
        .reads = {Field::packages, Field::torch, Field::arch, Field::os, Field::image, Field::family,
                  Field::python},
        .needs = {{Field::packages}, {Field::torch}},
        .judge = judge_extension_abi_matches_torch};
}

}  // namespace cudamatrix::rules
