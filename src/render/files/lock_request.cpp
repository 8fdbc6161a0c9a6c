#include "render/files/lock_request.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/pep440.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/image_folder.hpp"
#include "render/image/resolve_cell.hpp"
#include "render/templates/context.hpp"

namespace cudamatrix {
namespace {

Failure strange(std::string_view file, std::string_view what) {
    return environment_failure(
        fmt::format("the answer {} of the lock cannot be believed: {}", file, text::printable(what)));
}

std::string without_architecture(const std::string& package) {
    const auto colon = package.find(':');
    return package.substr(0, std::min(colon, package.size()));
}

template <class Pin, class Name>
void in_order(std::vector<Pin>& pins, Name name) {
    std::ranges::sort(pins, [&](const Pin& a, const Pin& b) { return a.*name < b.*name; });
}

Result<std::vector<AptPin>> checked(std::vector<AptPin> pins, std::string_view file) {
    for (const auto& [package, version] : pins) {
        if (!is_apt_package(package) || !is_apt_version(version))
            return strange(file, fmt::format("\"{} {}\"", package, version));
    }
    in_order(pins, &AptPin::package);
    return pins;
}

// apt-get install -s: "Inst g++-11 [OLD] (11.3.0-12 Debian:12.1/stable [amd64])", one line for each package.
Result<std::vector<AptPin>> read_simulation(std::string_view content, std::string_view file) {
    std::vector<AptPin> pins;
    for (const auto& line : text::split(content, '\n')) {
        if (!line.starts_with("Inst ")) continue;
        const auto words = text::split(line, ' ');
        const auto open =
            std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('('); });
        if (words.size() < 3 || open == words.end()) return strange(file, line);
        pins.push_back({without_architecture(words[1]), open->substr(1)});
    }
    return checked(std::move(pins), file);
}

// apt-get download --print-uris: "'URI' NAME_VERSION_ARCH.deb SIZE SHA256:...", with ':' written %3a.
Result<std::vector<AptPin>> read_uris(std::string_view content, std::string_view file) {
    std::vector<AptPin> pins;
    for (const auto& line : text::split(content, '\n')) {
        if (!line.starts_with('\'')) continue;
        const auto words = text::split(line, ' ');
        const auto parts = words.size() < 2 ? std::vector<std::string>{} : text::split(words[1], '_');
        if (parts.size() != 3) return strange(file, line);
        pins.push_back({parts[0], text::replace_all(parts[1], "%3a", ":")});
    }
    return checked(std::move(pins), file);
}

// dpkg-query: "adduser=3.134".
Result<std::vector<AptPin>> read_base(std::string_view content, std::string_view file) {
    std::vector<AptPin> pins;
    for (const auto& line : text::split(content, '\n')) {
        if (line.empty()) continue;
        const auto equals = std::min(line.find('='), line.size() - 1);
        pins.push_back({without_architecture(line.substr(0, equals)), line.substr(equals + 1)});
    }
    return checked(std::move(pins), file);
}

// rpm -qa: "gcc-c++=0:11.5.0-5.el9.x86_64", one line for each package.
Result<std::vector<AptPin>> read_rpms(std::string_view content, std::string_view file) {
    std::vector<AptPin> pins;
    for (const auto& line : text::split(content, '\n')) {
        if (line.empty()) continue;
        const auto equals = std::min(line.find('='), line.size() - 1);
        pins.push_back({line.substr(0, equals), line.substr(equals + 1)});
        if (!is_rpm_package(pins.back().package) || !is_rpm_version(pins.back().version))
            return strange(file, line);
    }
    in_order(pins, &AptPin::package);
    return pins;
}

// pip install --report: install[].metadata.{name, version},
// install[].download_info.{url, archive_info.hashes.sha256}.
Result<std::vector<WheelPin>> read_pip_report(std::string_view content, std::string_view file) {
    const auto json = parse_json(content, file);
    if (!json.ok()) return strange(file, json.failure().diagnostics.front().message);
    std::vector<WheelPin> pins;
    const auto at = [](const Json& from, std::string_view key) {
        return from.is_object() && from.contains(key) ? from[std::string(key)] : Json();
    };
    for (const auto& item : at(*json, "install")) {
        const auto metadata = at(item, "metadata");
        const auto download = at(item, "download_info");
        const auto hashes = at(at(download, "archive_info"), "hashes");
        WheelPin pin{pep440::canonical_name(string_or(metadata, "name")), string_or(metadata, "version"),
                     string_or(hashes, "sha256"), string_or(download, "url")};
        // A user in it is a secret, and what has a query is good for a day.
        if (!is_wheel_url(pin.url)) pin.url.clear();
        if (!is_wheel_name(pin.name) || !is_wheel_version(pin.version) || !is_sha256(pin.sha256)) {
            return strange(file,
                           fmt::format("\"{} {}\" with sha256 \"{}\"", pin.name, pin.version, pin.sha256));
        }
        pins.push_back(std::move(pin));
    }
    in_order(pins, &WheelPin::name);
    return pins;
}

struct AptQuestion {
    std::string file;
    const std::vector<std::string>& wanted;
    std::vector<AptPin>& pins;
    Result<std::vector<AptPin>> (*read)(std::string_view, std::string_view);
};

struct WheelQuestion {
    std::string_view file;
    const std::vector<std::string>& wanted;
    std::vector<WheelPin>& pins;
    bool base_holds_some = false;  ///< of an image whose base brings its torch
};

constexpr std::string_view kHeld = "pip-base.txt";

// pip list --format freeze: "numpy==2.2.1"; lines of other forms name no release of an index.
std::vector<WheelPin> read_held(std::string_view content) {
    std::vector<WheelPin> held;
    for (const auto& line : text::split(content, '\n')) {
        const auto at = line.find("==");
        if (at != std::string::npos)
            held.push_back({pep440::canonical_name(line.substr(0, at)), line.substr(at + 2), {}, {}});
    }
    return held;
}

Failure unanswered(std::string_view file) {
    return strange(file, "it is missing");
}

Status read_apt(const AptQuestion& question, const std::vector<AptPin>& base, const LockAnswer& answer) {
    if (question.wanted.empty()) return Done{};
    const auto content = answer(question.file);
    if (!content) return unanswered(question.file);
    CM_TRY_ASSIGN(auto pins, question.read(*content, question.file));
    // What is asked for is to be installed, or there already.
    if (const auto lacks = unpinned_packages(question.wanted, pins, base); !lacks.empty())
        return strange(question.file, "it says nothing of " + lacks.front());
    question.pins = std::move(pins);
    return Done{};
}

Status read_wheels(const WheelQuestion& question, const LockAnswer& answer) {
    if (question.wanted.empty()) return Done{};
    const auto content = answer(question.file);
    if (!content) return unanswered(question.file);
    CM_TRY_ASSIGN(auto pins, read_pip_report(*content, question.file));
    auto known = pins;
    if (question.base_holds_some) {
        const auto held = answer(kHeld);
        if (!held) return unanswered(kHeld);
        for (auto& wheel : read_held(*held))
            known.push_back(std::move(wheel));
    }
    if (const auto lacks = unpinned_wheels(question.wanted, known); !lacks.empty())
        return strange(question.file, "it says nothing of " + lacks.front());
    question.pins = std::move(pins);
    return Done{};
}

// The wheels were resolved by the image's own python: it must be the one that the facts promise.
Status check_python(const Image& image, const LockAnswer& answer) {
    const auto said = answer("python.txt");
    if (!said) return unanswered("python.txt");
    // Which a build without the interpreter lock says of itself in words.
    const bool free_threaded = image.python.ends_with('t');
    const auto minor = image.python.substr(0, image.python.size() - (free_threaded ? 1 : 0));
    const bool said_so = said->find("free-threading") != std::string::npos;
    if (!text::trim(*said).starts_with("Python " + minor + ".") || said_so != free_threaded) {
        return strange("python.txt",
                       fmt::format("\"{}\" where python {} is promised", text::trim(*said), image.python));
    }
    return Done{};
}

}  // namespace

Result<std::vector<Artifact>> lock_request(const Matrix& matrix, const Image& image,
                                           const RenderSettings& settings, const Lock* lock) {
    CM_TRY_ASSIGN(auto library, load_templates(settings));
    const mustache::Data model(lock_model(matrix, image, lock));
    std::vector<Artifact> files;
    for (const auto& [path, name] :
         {std::pair{".dockerignore", "dockerignore.mustache"}, std::pair{"Dockerfile", "lock.mustache"}}) {
        CM_TRY_ASSIGN(auto content, fill_dockerfile(library, template_folder(image) + "/" + name, model));
        files.push_back({path, std::move(content)});
    }
    CM_TRY_ASSIGN(auto packages, package_texts(library, image, nullptr));
    for (auto& [name, text] : packages)
        files.push_back({name, std::move(text)});
    return files;
}

Result<Resolved> read_resolution(const Image& image, const LockAnswer& answer) {
    const auto wanted = package_requests(image);
    Resolved out;
    out.pins.asked = asked_of(image);
    if (!wanted.wheels.empty()) out.pins.index = image.torch_index_default ? "default" : image.torch_variant;

    const bool dnf = image.package_manager == "dnf";
    const auto installed = [&](std::string_view file) -> Result<std::vector<AptPin>> {
        const auto content = answer(file);
        if (!content) return unanswered(file);
        return dnf ? read_rpms(*content, file) : read_base(*content, file);
    };
    CM_TRY_ASSIGN(out.base_packages, installed("base.txt"));
    auto devel_packages = out.base_packages;
    // The stage that compiles may stand on a base of its own.
    if (!image.references().empty()) {
        CM_TRY_ASSIGN(devel_packages, installed("base-devel.txt"));
    }

    const std::string prefix = dnf ? "dnf-" : "apt-";
    const auto read = dnf ? read_rpms : read_simulation;
    const AptQuestion apt[] = {{prefix + "devel.txt", wanted.devel, out.pins.devel, read},
                               {prefix + "toolkit.txt", wanted.toolkit, out.pins.toolkit, read_uris},
                               {prefix + "python.txt", wanted.python, out.pins.python, read},
                               {prefix + "runtime.txt", wanted.runtime, out.pins.runtime, read}};
    for (const auto& question : apt) {
        const auto& there = &question.pins == &out.pins.devel ? devel_packages : out.base_packages;
        CM_TRY(read_apt(question, there, answer));
    }
    const WheelQuestion wheels[] = {
        {"pip-cuda.json", wanted.cuda, out.pins.cuda},
        {"pip-wheels.json", wanted.wheels, out.pins.wheels, image.torch_from_base},
        {"pip-installer.json", wanted.installer, out.pins.installer}};
    for (const auto& question : wheels) {
        CM_TRY(read_wheels(question, answer));
    }
    if (!wanted.wheels.empty() && !image.python.empty()) {
        CM_TRY(check_python(image, answer));
    }
    // All of it was answered: what has no pin is in the base. Of a bootstrapped one the lock says what it
    // holds.
    if (image.references().empty()) return out;
    for (const auto& [list, names] : gaps_in(out.pins, image, {})) {
        for (const auto& name : names)
            out.pins.held[std::string(list)].push_back(name_of_request(name));
    }
    return out;
}

}  // namespace cudamatrix
