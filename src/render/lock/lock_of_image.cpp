// What a lock has for an image and what it lacks: all that the image asks for by name has to be among its
// pins, or in its base.
#include <algorithm>
#include <utility>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/pep440.hpp"
#include "render/image/families.hpp"
#include "render/image/resolve_cell.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix {
namespace {

// "2.6.0+cu124" answers "2.6.0", "1.0" answers "1.0.0".
bool same_version(std::string_view answered, std::string_view asked) {
    const auto got = Version::parse(answered);
    const auto want = Version::parse(asked);
    return got && want && *got == *want && (want->suffix().empty() || got->suffix() == want->suffix());
}

bool is_pinned(std::string_view package, const std::vector<AptPin>& pins) {
    return std::ranges::any_of(pins, [&](const AptPin& pin) { return pin.package == package; });
}

// Of `names` those that the lock says the base to hold are taken out.
void add_gap(std::vector<PinGap>& gaps, std::string_view list, std::vector<std::string> names,
             const ImagePins& pins) {
    if (const auto held = pins.held.find(list); held != pins.held.end()) {
        std::erase_if(names, [&](const std::string& name) {
            return std::ranges::count(held->second, name_of_request(name)) != 0;
        });
    }
    if (!names.empty()) gaps.push_back({list, std::move(names)});
}

}  // namespace

std::string name_of_request(std::string_view request) {
    const auto at = request.find("==");
    return at == std::string_view::npos ? std::string(request)
                                        : pep440::canonical_name(request.substr(0, at));
}

std::vector<std::string> unpinned_packages(const std::vector<std::string>& wanted,
                                           const std::vector<AptPin>& pins, const std::vector<AptPin>& base) {
    std::vector<std::string> out;
    for (const auto& package : wanted) {
        if (!is_pinned(package, pins) && !is_pinned(package, base)) out.push_back(package);
    }
    return out;
}

std::vector<std::string> unpinned_wheels(const std::vector<std::string>& wanted,
                                         const std::vector<WheelPin>& pins) {
    std::vector<std::string> out;
    for (const auto& requirement : wanted) {
        const auto name = name_of_request(requirement);
        const auto version = requirement.substr(requirement.find("==") + 2);
        const bool answered = std::ranges::any_of(pins, [&](const WheelPin& pin) {
            return pin.name == name && (pin.version == version || same_version(pin.version, version));
        });
        if (!answered) out.push_back(requirement);
    }
    return out;
}

std::vector<PinGap> gaps_in(const ImagePins& pins, const Image& image, const Lock& lock) {
    const auto wanted = package_requests(image);
    const std::vector<AptPin> none;
    const auto* bootstrapped = image.references().empty() ? lock.base(image) : nullptr;
    const auto& base = bootstrapped == nullptr ? none : bootstrapped->packages;
    std::vector<PinGap> gaps;
    for (const auto& list : kAptLists)
        add_gap(gaps, list.name, unpinned_packages(wanted.*list.wanted, pins.*list.member, base), pins);
    for (const auto& list : kWheelLists)
        add_gap(gaps, list.name, unpinned_wheels(wanted.*list.wanted, pins.*list.member), pins);
    return gaps;
}

std::vector<std::string> missing_pins(const Image& image, const Lock& lock) {
    std::vector<std::string> out;
    for (const auto& reference : image.references()) {
        if (lock.registry_base(reference) == nullptr) out.push_back("no digest of " + reference);
    }
    if (image.references().empty() && lock.base(image) == nullptr)
        out.push_back("no bootstrap tar of " + image.base_name());
    const auto* pins = lock.pins(image);
    if (pins == nullptr) {
        out.emplace_back(
            lock.images.count(image.id) == 0
                ? "no packages and wheels of it"
                : "packages and wheels for what it asked for before, which is not what it asks for now");
        return out;
    }
    for (const auto& [list, names] : gaps_in(*pins, image, lock))
        out.push_back(fmt::format("no pin of {} (list {})", text::join(names, ", "), list));
    return out;
}

const BasePins* Lock::base(const Image& image) const {
    const auto found = bases.find(image.base_name());
    return found == bases.end() ? nullptr : &found->second;
}

const RegistryBase* Lock::registry_base(std::string_view reference) const {
    const auto found = references.find(reference);
    return found == references.end() ? nullptr : &found->second;
}

const ImageConfiguration* Lock::configuration(std::string_view reference) const {
    const auto found = configurations.find(reference);
    return found == configurations.end() ? nullptr : &found->second;
}

const ImagePins* Lock::pins(const Image& image) const {
    const auto found = images.find(image.id);
    return found == images.end() || found->second.asked != asked_of(image) ? nullptr : &found->second;
}

std::string asked_of(const Image& image) {
    const auto wanted = package_requests(image);
    std::string all = fmt::format("{} {} {} {} {}\n", image.family, image.suite, image.arch, image.python,
                                  image.torch_index_default ? "default" : image.torch_variant);
    for (const auto* list : {&wanted.devel, &wanted.toolkit, &wanted.python, &wanted.runtime, &wanted.cuda,
                             &wanted.wheels, &wanted.installer}) {
        all += text::join(*list, " ") + "\n";
    }
    for (const auto& reference : image.references())
        all += reference + "\n";
    if (!image.sources.snapshot.empty()) all += "snapshot " + image.sources.snapshot + "\n";
    if (!image.constraints.empty()) all += "constraints " + text::join(image.constraints, " ") + "\n";
    // What else such an image asks its base for; a bootstrapped one has the choice of a standalone python
    // only. Locks of before call the flavour base of distributions runtime.
    const auto* made = family::named(image.family);
    const bool was_runtime = made != nullptr && made->distribution && image.flavour == "base";
    if (!image.references().empty() || !image.python_release.empty())
        all += fmt::format("{} {} {}\n", was_runtime ? "runtime" : image.flavour, image.python_from,
                           image.python_release);
    return sha256(all);
}

Taken taken_by(const std::optional<Lock>& lock) {
    Taken taken;
    if (!lock) return taken;
    for (const auto& [reference, base] : lock->references)
        taken.bases.insert(reference);
    taken.snapshots = lock->snapshots;
    return taken;
}

const ImagePins* Lock::covering(const Image& image) const {
    return covers(image) ? pins(image) : nullptr;
}

bool Lock::covers(const Image& image) const {
    return missing_pins(image, *this).empty();
}

}  // namespace cudamatrix
