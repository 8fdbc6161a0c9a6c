#include "knowledge/resolve/package_wheels.hpp"

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/packages.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kNewestPatch = ".99";

// "3.12" -> 3.12.99; "3.13t" loses the t.
std::optional<pep440::Version> python_version(std::string_view text) {
    if (text.ends_with('t')) text.remove_suffix(1);
    const auto version = Version::parse(text);
    if (!version || version->size() < 2) return std::nullopt;
    std::string whole(text);
    if (version->size() == 2 && version->suffix().empty()) whole += kNewestPatch;
    return pep440::Version::parse(whole);
}

// "cp39", "cp39-abi3" and "py3" as people say them.
std::string named(std::string_view tag) {
    if (tag.starts_with("py")) return "any python 3";
    const auto minor = lookup::minor_of_tag(tag.substr(2));
    if (tag.find('-') != tag.npos) return fmt::format("3.{} and later", minor);
    return fmt::format("3.{}{}", minor, tag.ends_with('t') ? "t" : "");
}

}  // namespace

Machine machine_of(const Context& context) {
    Machine out{.arch = arch_of(context), .text = {}};
    const auto os = lookup::os(context.facts, context.cell.text(Field::os));
    if (os && os->has("wheels")) {
        out.system = os->text("wheels");
        out.text = os->text("name");
    } else if (os && os->text("libc") == "musl") {
        out.system = "musl";
        out.text = fmt::format("{}, which has musl", os->text("name"));
    }
    if (out.is_glibc()) {
        out.text = fmt::format("Linux on {}", out.arch);
    } else {
        out.os = os;
    }
    return out;
}

facts::Values wheel_tags(const Row& row, const Machine& machine) {
    if (machine.is_glibc()) return lookup::glibc_wheel_tags(row, machine.arch);
    if (!contains(row.list("platforms"), machine.system)) return {};
    const auto own = fmt::format("abi_{}", machine.system);
    return row.list(row.has(own) ? std::string_view(own) : "abi");
}

bool knows_wheels(const Row& row, const Machine& machine) {
    return row.has(machine.is_glibc() ? "abi" : "platforms");
}

bool lacks_wheels(const Row& row, const Machine& machine) {
    return wheel_tags(row, machine).empty();
}

std::optional<Python> python_of(std::string_view text) {
    const auto version = python_version(text);
    if (!version) return std::nullopt;
    auto abi = lookup::python_abi(text);
    if (!abi) return std::nullopt;
    return Python{text, *version, *std::move(abi)};
}

bool admits(const Row& row, const Python& python) {
    return !row.has("requires_python") || covers(row, "requires_python", python.version);
}

bool has_wheel(const Row& row, const Python& python, const Machine& machine) {
    return lookup::any_serves(wheel_tags(row, machine), python.abi);
}

std::string pythons_with_wheels(const Row& row, const Machine& machine) {
    std::string out;
    for (const auto tag : wheel_tags(row, machine))
        out.append(out.empty() ? "" : ", ").append(named(tag));
    return out;
}

std::string on_system(const Machine& machine) {
    return machine.is_glibc() ? std::string(machine.arch) : machine.text;
}

}  // namespace cudamatrix::rules
