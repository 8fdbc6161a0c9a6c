// services as they are written in the canonical form.
#include "matrix/reader.hpp"

namespace cudamatrix {
namespace {

Json words_json(const std::vector<Word>& words) {
    return list_json(words, [](const Word& word) { return Json(word.text); });
}

Json gpu_json(const Service::Gpu& gpu) {
    if (gpu.all) return "all";
    if (!gpu.ids.empty()) return gpu.ids;
    return gpu.count;
}

Json ulimits_json(const std::vector<Service::Ulimit>& limits) {
    auto map = Json::object();
    for (const auto& limit : limits)
        map[limit.name] =
            limit.soft == limit.hard ? Json(limit.soft) : Json{{"soft", limit.soft}, {"hard", limit.hard}};
    return map;
}

Json volume_json(const Service::Volume& volume) {
    return volume.source + ":" + volume.target + (volume.read_only ? ":ro" : "");
}

}  // namespace

Json healthcheck_json(const Healthcheck& check) {
    Json map{{"test", check.test}};
    for (const auto& [key, value] :
         {std::pair{"interval", &check.interval}, std::pair{"timeout", &check.timeout},
          std::pair{"start_period", &check.start_period}, std::pair{"retries", &check.retries}}) {
        if (!value->empty()) map[key] = *value;
    }
    return map.size() == 1 ? Json(check.test) : map;
}

Json write_services(const Matrix& matrix) {
    return list_json(matrix.deployment.services, [](const Service& service) {
        Json entry{{"name", service.name}};
        if (!service.image.text.empty()) entry["image"] = service.image.text;
        if (!service.command.empty()) entry["command"] = service.command;
        if (service.gpu.asked()) entry["gpu"] = gpu_json(service.gpu);
        if (!service.gpu.capabilities.empty()) entry["capabilities"] = words_json(service.gpu.capabilities);
        if (!service.shm_size.empty()) entry["shm_size"] = service.shm_size;
        if (!service.ulimits.empty()) entry["ulimits"] = ulimits_json(service.ulimits);
        if (!service.volumes.empty()) entry["volumes"] = list_json(service.volumes, volume_json);
        if (!service.ports.empty()) entry["ports"] = words_json(service.ports);
        if (!service.environment.empty()) entry["environment"] = variables_json(service.environment);
        if (!service.healthcheck.test.empty()) entry["healthcheck"] = healthcheck_json(service.healthcheck);
        if (!service.depends_on.empty()) entry["depends_on"] = words_json(service.depends_on);
        if (!service.restart.empty()) entry["restart"] = service.restart;
        return entry;
    });
}

}  // namespace cudamatrix
