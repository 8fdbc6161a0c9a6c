#include "render/lock/lock_file.hpp"

#include <algorithm>
#include <system_error>

#include "base/build_info.hpp"
#include "base/file.hpp"
#include "base/image_reference.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/images.hpp"
#include "render/templates/context.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestLock = 64u << 20;

// An id of a cell or a rule, as far as a lock has to know it: nothing that a terminal could take for more.
bool is_id(std::string_view text) {
    const auto legal = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '_' || c == '-';
    };
    return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, legal);
}

// As cells call it.
bool is_oci_arch(std::string_view text) {
    return std::ranges::any_of(kOciArchitectures, [&](const auto& each) { return each.first == text; });
}

// Reads a parsed document; the first thing that does not fit stops it and is kept as the reason.
class LockReader {
  public:
    explicit LockReader(std::string_view name) : name_(name) {}

    Result<Lock> read(const Json& json) {
        const auto version =
            json.is_object() && json.contains("schema_version") ? json["schema_version"] : Json();
        if (!version.is_number_integer()) return failure("it has no schema_version");
        if (version != kLockSchema) {
            return input_failure(
                fmt::format("{}: schema_version {} is not understood: this cudamatrix {} reads {}", name_,
                            to_text(version, false), kVersion, kLockSchema),
                "use the cudamatrix that wrote it, or delete it and run `cudamatrix lock`");
        }
        Lock lock;
        lock.tool = string(json, "tool");
        lock.facts = string(json, "facts");
        lock.templates = string(json, "templates");
        for (const auto& [suite, base] : object(json, "bases").items())
            lock.bases[suite] = base_pins(suite, base);
        // Locks of before there were bases from registries have none.
        if (json.contains("references")) {
            for (const auto& [reference, base] : object(json, "references").items())
                lock.references[reference] = registry_base(reference, base);
        }
        for (const auto& [id, image] : object(json, "images").items())
            lock.images[id] = image_pins(id, image);
        if (json.contains("snapshots")) lock.snapshots = snapshots(object(json, "snapshots"));
        if (json.contains("configurations"))
            lock.configurations = configurations(object(json, "configurations"));
        // Locks of before recorded no verdicts.
        if (json.contains("verdicts")) lock.verdicts = verdicts(array(json, "verdicts"));
        if (!problem_.empty()) return failure(problem_);
        return lock;
    }

    [[nodiscard]] Failure failure(const std::string& why) const {
        return input_failure(fmt::format("{} is not a lock file: {}", name_, text::printable(why)),
                             "delete it and run `cudamatrix lock`");
    }

  private:
    void problem(std::string text) {
        if (problem_.empty()) problem_ = std::move(text);
    }

    std::string string(const Json& json, std::string_view key) {
        const auto found = json.is_object() ? json.find(key) : json.end();
        if (json.is_object() && found != json.end() && found->is_string()) return found->get<std::string>();
        problem(fmt::format("a text is missing: {}", key));
        return {};
    }

    const Json& object(const Json& json, std::string_view key) {
        return member(json, key, Json::value_t::object, empty_object_);
    }
    const Json& array(const Json& json, std::string_view key) {
        return member(json, key, Json::value_t::array, empty_array_);
    }

    const Json& member(const Json& json, std::string_view key, Json::value_t type, const Json& empty) {
        if (json.is_object()) {
            const auto found = json.find(key);
            if (found != json.end() && found->type() == type) return *found;
        }
        problem(fmt::format("{} is missing: {}", type == Json::value_t::array ? "a list" : "an object", key));
        return empty;
    }

    std::string digest(const Json& json) {
        auto text = string(json, "sha256");
        if (!is_sha256(text)) problem(fmt::format("\"{}\" is not a sha256", text));
        return text;
    }

    std::vector<AptPin> apt_pins(const Json& list) {
        std::vector<AptPin> pins;
        for (const auto& item : list) {
            const auto text = item.is_string() ? item.get<std::string>() : std::string();
            const auto equals = std::min(text.find('='), text.size());
            AptPin pin{text.substr(0, equals), text.substr(std::min(equals + 1, text.size()))};
            const bool apt = is_apt_package(pin.package) && is_apt_version(pin.version);
            if (!apt && !(is_rpm_package(pin.package) && is_rpm_version(pin.version))) {
                problem(fmt::format("\"{}\" is not package=version", text));
            }
            pins.push_back(std::move(pin));
        }
        return pins;
    }

    std::vector<WheelPin> wheel_pins(const Json& list) {
        std::vector<WheelPin> pins;
        for (const auto& item : list) {
            WheelPin pin{string(item, "name"), string(item, "version"), digest(item), {}};
            if (!is_wheel_name(pin.name) || !is_wheel_version(pin.version)) {
                problem(fmt::format("\"{}\" \"{}\" is not a wheel and version", pin.name, pin.version));
            }
            // Locks of before have none, and neither has a wheel whose address says nothing to others.
            if (item.is_object() && item.contains("url")) pin.url = string(item, "url");
            if (!pin.url.empty() && !is_wheel_url(pin.url))
                problem(fmt::format("\"{}\" is not a wheel URL", pin.url));
            pins.push_back(std::move(pin));
        }
        return pins;
    }

    std::map<std::string, std::vector<std::string>, std::less<>> held_names(const Json& json) {
        std::map<std::string, std::vector<std::string>, std::less<>> out;
        const auto is_list = [](std::string_view name) {
            const auto is = [&](const auto& list) { return list.name == name; };
            return std::ranges::any_of(kAptLists, is) || std::ranges::any_of(kWheelLists, is);
        };
        for (const auto& [list, names] : json.items()) {
            if (!is_list(list)) problem(fmt::format("\"{}\" is not a list of pins", list));
            for (const auto& item : array(json, list)) {
                auto name = item.is_string() ? item.get<std::string>() : std::string();
                if (!is_apt_package(name) && !is_rpm_package(name))
                    problem(fmt::format("\"{}\" is not the name of a package", name));
                out[list].push_back(std::move(name));
            }
        }
        return out;
    }

    BasePins base_pins(const std::string& suite, const Json& json) {
        BasePins base;
        base.sha256 = digest(json);
        for (const auto& word : array(json, "command")) {
            if (!word.is_string()) problem(fmt::format("the command of {} is not a list of strings", suite));
            base.command.push_back(word.is_string() ? word.get<std::string>() : std::string());
        }
        base.packages = apt_pins(array(json, "packages"));
        return base;
    }

    RegistryBase registry_base(const std::string& reference, const Json& json) {
        if (!is_tag_reference(reference)) problem(fmt::format("\"{}\" is not an image reference", reference));
        RegistryBase base{string(json, "digest")};
        if (!is_image_digest(base.digest)) problem(fmt::format("\"{}\" is not an image digest", base.digest));
        return base;
    }

    // They become a part of addresses in Dockerfiles.
    TakenSnapshots snapshots(const Json& json) {
        TakenSnapshots out;
        for (const auto& [archive, item] : json.items()) {
            auto time = item.is_string() ? item.get<std::string>() : std::string();
            if (!is_id(archive)) problem(fmt::format("\"{}\" is not the name of an archive", archive));
            if (time.empty() || snapshot_time(time) != time)
                problem(fmt::format("\"{}\" is not the time of a snapshot of {}", time, archive));
            out[archive] = std::move(time);
        }
        return out;
    }

    std::map<std::string, ImageConfiguration, std::less<>> configurations(const Json& json) {
        std::map<std::string, ImageConfiguration, std::less<>> out;
        if (json.size() > kMostConfigurations)
            problem(fmt::format("it has {} configurations, more than {}", json.size(), kMostConfigurations));
        for (const auto& [name, image] : json.items()) {
            if (name_in_lock(name) != name) problem(fmt::format("\"{}\" is not an image reference", name));
            const bool clean = problem_.empty();
            out[name] = configuration(image);
            if (clean && !problem_.empty()) problem_ += fmt::format(" (configuration of {})", name);
            if (!problem_.empty()) break;
        }
        return out;
    }

    // Rules rely on these values: nothing checks them behind this.
    ImageConfiguration configuration(const Json& json) {
        ImageConfiguration out{string(json, "digest"), string(json, "as_of"), {}};
        if (!is_image_digest(out.digest)) problem(fmt::format("\"{}\" is not an image digest", out.digest));
        if (!is_date(out.as_of)) problem(fmt::format("\"{}\" is not a date", out.as_of));
        for (const auto& item : array(json, "arch")) {
            const auto arch = item.is_string() ? item.get<std::string>() : std::string();
            if (!is_oci_arch(arch) || std::ranges::count(out.arches, arch) != 0)
                problem(fmt::format("\"{}\" is not a processor, or one that is there twice", arch));
            out.arches.push_back(arch);
        }
        if (out.arches.empty()) problem("it is for no processor");
        if (json.is_object() && json.contains("cuda")) out.cuda = string(json, "cuda");
        const auto cuda = Version::parse(out.cuda);
        if (!out.cuda.empty() && (!cuda || cuda->size() < 2 || !cuda->suffix().empty()))
            problem(fmt::format("\"{}\" is not a version of CUDA", out.cuda));
        out.condition = condition(json, "requires");
        out.condition_aarch64 = condition(json, "requires_aarch64");
        return out;
    }

    std::string condition(const Json& json, std::string_view key) {
        if (!json.is_object() || !json.contains(key)) return {};
        auto text = string(json, key);
        if (!lookup::is_condition(text))
            problem(fmt::format("\"{}\" is not a condition", text.substr(0, 200)));
        return text;
    }

    RecordedVerdicts verdicts(const Json& list) {
        RecordedVerdicts out;
        if (list.size() > kMostVerdicts)
            problem(fmt::format("it has {} verdicts, more than {}", list.size(), kMostVerdicts));
        for (const auto& item : list) {
            const auto line = item.is_string() ? item.get<std::string>() : std::string();
            const auto words = text::split(line, ' ');
            const bool legal = words.size() >= 2 && std::ranges::all_of(words, is_id) &&
                               std::ranges::count(kVerdictWords, words[1]) == 1 &&
                               (words[1] != kVerdictWords[0] || words.size() == 2);
            if (!legal) {
                problem(fmt::format("\"{}\" is not a cell, its verdict and the rules that decided it", line));
                return out;
            }
            RecordedVerdict recorded{std::string(words[1]), {words.begin() + 2, words.end()}};
            if (!out.emplace(words[0], std::move(recorded)).second)
                problem(fmt::format("it has two verdicts of {}", words[0]));
        }
        return out;
    }

    ImagePins image_pins(const std::string& id, const Json& json) {
        const bool clean = problem_.empty();
        ImagePins pins;
        pins.asked = string(json, "asked");
        pins.index = string(json, "index");
        const auto& apt = object(json, "apt");
        for (const auto& [name, list, wanted] : kAptLists)
            pins.*list = apt_pins(array(apt, name));
        const auto& wheels = object(json, "wheels");
        for (const auto& [name, list, wanted] : kWheelLists)
            pins.*list = wheel_pins(array(wheels, name));
        // Locks of before have none, and neither has an image whose base holds nothing of what it asks for.
        if (json.is_object() && json.contains("held")) pins.held = held_names(object(json, "held"));
        if (json.is_object() && json.contains("sum")) pins.sum = string(json, "sum");
        if (clean && !problem_.empty()) problem_ += " (image " + id + ")";
        return pins;
    }

    std::string_view name_;
    std::string problem_;
    const Json empty_object_ = Json::object();
    const Json empty_array_ = Json::array();
};

}  // namespace

Result<Lock> parse_lock(std::string_view text, std::string_view name) {
    LockReader reader(name);
    const auto json = parse_json(text, name);
    if (!json.ok()) return reader.failure(json.failure().diagnostics.front().message);
    return reader.read(*json);
}

Result<std::optional<Lock>> read_lock(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return std::optional<Lock>();
    CM_TRY_ASSIGN(const auto content, file::read(path, kLargestLock));
    CM_TRY_ASSIGN(auto lock, parse_lock(content, text::printable(path.string())));
    return std::optional<Lock>(std::move(lock));
}

}  // namespace cudamatrix
