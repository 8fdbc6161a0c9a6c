#include "knowledge/resolve/pip_question.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

// What pip takes for a name: nothing that starts like an option, and no extras, markers or URLs.
bool is_name(std::string_view text) {
    return text::only(text, "._-") && !text.empty() && text::is_word(text.front()) &&
           text::is_word(text.back());
}

bool is_version(std::string_view text) {
    return text::only(text, "._+!-") && !text.empty() && text::is_word(text.front()) &&
           pep440::Version::parse(text);
}

// Local parts that indexes have: those of torch's variants.
bool is_on_an_index(const Facts& facts, std::string_view version) {
    const auto local = pep440::local_of(version);
    return local.empty() || facts.row("index-" + local);
}

// "torch==2.6.0+cu118"; the build that the default index serves has no local part there.
std::optional<std::string> torch_pin(const Context& context) {
    const auto build = if_known(torch_build(context));
    if (!build || context.cell.text(Field::torch).find(".dev") != std::string_view::npos) return std::nullopt;
    const auto& torch = build->torch;
    if (torch.index_default || torch.variant.empty()) return fmt::format("torch=={}", torch.exact.text());
    return fmt::format("torch=={}+{}", torch.exact.text(), torch.variant);
}

// The C library that wheels are for, empty where the cell does not say it.
std::string glibc_of(const Context& context) {
    if (context.cell.has(Field::glibc)) return std::string(context.cell.text(Field::glibc));
    const auto os = lookup::os(context.facts, context.cell.text(Field::os));
    return os ? std::string(os->text("glibc")) : std::string();
}

// False: one of them must not or cannot be asked for.
bool add_packages(const Context& context, std::vector<std::string>& pins, std::string* refused) {
    const auto* value = context.cell.value(Field::packages);
    if (value == nullptr) return true;
    for (const auto& [written, version] : value->items) {
        if (version == kNoPackage) continue;
        const auto name = pep440::canonical_name(written);
        const bool open = version == kAnyVersion || version == kCompanionVersion;
        const bool valid = is_name(name) && (open || is_version(version));
        if (!valid || (!open && !is_on_an_index(context.facts, version))) {
            if (refused != nullptr)
                *refused = fmt::format("{} {} {}", text::printable(name), text::printable(version),
                                       valid ? "is on no index" : "is no name and version of a package");
            return false;
        }
        pins.push_back(open ? name : fmt::format("{}=={}", name, version));
    }
    return true;
}

}  // namespace

std::optional<PipQuestion> pip_question(const Context& context, std::string* refused) {
    const auto python = python_of(context.cell.text(Field::python));
    const auto machine = machine_of(context);
    if (!python || !machine.is_glibc() || image_torch(context)) return std::nullopt;
    PipQuestion question{{}, std::string(python->text), std::string(machine.arch), glibc_of(context)};
    if (wants_torch(context)) {
        auto pin = torch_pin(context);
        if (!pin) return std::nullopt;
        question.pins.push_back(*std::move(pin));
    }
    if (!add_packages(context, question.pins, refused) || question.pins.empty()) return std::nullopt;
    std::ranges::sort(question.pins);
    return question;
}

}  // namespace cudamatrix::rules
