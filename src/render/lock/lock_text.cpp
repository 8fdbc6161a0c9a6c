// The text of a lock file.
#include <algorithm>
#include <utility>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix {
namespace {

template <class Pin, class Name>
std::vector<Pin> sorted(std::vector<Pin> pins, Name name) {
    std::ranges::sort(pins, [&](const Pin& a, const Pin& b) { return a.*name < b.*name; });
    return pins;
}

Json apt_json(const std::vector<AptPin>& pins) {
    Json out = Json::array();
    for (const auto& [package, version] : sorted(pins, &AptPin::package))
        out.push_back(package + "=" + version);
    return out;
}

Json wheels_json(const std::vector<WheelPin>& pins) {
    Json out = Json::array();
    for (const auto& [name, version, digest, url] : sorted(pins, &WheelPin::name)) {
        Json wheel{{"name", name}, {"version", version}, {"sha256", digest}};
        if (!url.empty()) wheel["url"] = url;
        out.push_back(std::move(wheel));
    }
    return out;
}

Json image_json(const ImagePins& pins) {
    Json apt = Json::object();
    for (const auto& [name, member, wanted] : kAptLists)
        apt[std::string(name)] = apt_json(pins.*member);
    Json wheels = Json::object();
    for (const auto& [name, member, wanted] : kWheelLists)
        wheels[std::string(name)] = wheels_json(pins.*member);
    Json image{
        {"asked", pins.asked}, {"index", pins.index}, {"apt", std::move(apt)}, {"wheels", std::move(wheels)}};
    if (!pins.held.empty()) image["held"] = pins.held;
    return image;
}

std::string sum_of(const ImagePins& pins) {
    return sha256(to_text(image_json(pins), false));
}

Json configurations_json(const Lock& lock) {
    Json out = Json::object();
    for (const auto& [name, image] : lock.configurations) {
        Json one{{"digest", image.digest}, {"as_of", image.as_of}, {"arch", image.arches}};
        if (!image.cuda.empty()) one["cuda"] = image.cuda;
        if (!image.condition.empty()) one["requires"] = image.condition;
        if (!image.condition_aarch64.empty()) one["requires_aarch64"] = image.condition_aarch64;
        out[name] = std::move(one);
    }
    return out;
}

Json verdicts_json(const RecordedVerdicts& verdicts) {
    Json out = Json::array();
    for (const auto& [cell, recorded] : verdicts) {
        std::string line = cell + " " + recorded.verdict;
        for (const auto& rule : recorded.rules)
            line += " " + rule;
        out.push_back(std::move(line));
    }
    return out;
}

}  // namespace

std::string lock_text(const Lock& lock) {
    Json bases = Json::object();
    for (const auto& [suite, base] : lock.bases) {
        bases[suite] =
            Json{{"sha256", base.sha256}, {"command", base.command}, {"packages", apt_json(base.packages)}};
    }
    Json images = Json::object();
    for (const auto& [id, pins] : lock.images) {
        images[id] = image_json(pins);
        images[id]["sum"] =
            pins.sum.empty() ? sum_of(pins) : pins.sum;  // what was edited stays known as such
    }
    Json whole{{"schema_version", kLockSchema}, {"tool", lock.tool},         {"facts", lock.facts},
               {"templates", lock.templates},   {"bases", std::move(bases)}, {"images", std::move(images)}};
    Json references = Json::object();
    for (const auto& [reference, base] : lock.references)
        references[reference] = Json{{"digest", base.digest}};
    if (!references.empty()) whole["references"] = std::move(references);
    if (!lock.snapshots.empty()) whole["snapshots"] = lock.snapshots;
    if (!lock.configurations.empty()) whole["configurations"] = configurations_json(lock);
    if (lock.verdicts) whole["verdicts"] = verdicts_json(*lock.verdicts);
    return to_text(whole) + "\n";
}

bool was_edited(const ImagePins& pins) {
    return !pins.sum.empty() && pins.sum != sum_of(pins);
}

Result<bool> write_lock(const std::filesystem::path& path, const Lock& lock) {
    return file::write(path, lock_text(lock));
}

}  // namespace cudamatrix
