#include "render/files/artifacts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/build_info.hpp"
#include "base/text.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/image_folder.hpp"
#include "render/image/image_plan.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

// torch's data loaders share tensors through /dev/shm; 64 MB is what containers get by themselves.
constexpr std::string_view kShmTorch = "1g";
constexpr std::string_view kShm = "64m";

std::string shm_size(const Image& image) {
    if (image.shm_gb != 0) return fmt::format("{}g", image.shm_gb);
    return std::string(image.torch.empty() ? kShm : kShmTorch);
}

// A list and whether it has anything: YAML knows no key without a value.
void put(Object& object, const std::string& name, List list) {
    object[name + "_any"] = !list.empty();
    object[name] = std::move(list);
}

// A folder of the matrix file, as the compose files see it. Compose takes a source without "./" for a volume.
std::string beside(const std::string& matrix_folder, std::string_view source) {
    auto base = matrix_folder.starts_with('.') ? matrix_folder : "./" + matrix_folder;
    if (source == ".") return base;
    return base == "." ? std::string(source) : base + std::string(source.substr(1));
}

// Files of the site that builds are lent.
List secrets_of(const ComposeInput& input) {
    const auto& build = input.matrix.build;
    List out;
    const auto add = [&](std::string_view id, const std::string& path, const std::string& besides) {
        if (path.empty()) return;
        Object one{{"id", id},
                   {"file", besides.empty() ? path : beside(input.matrix_folder, "./" + besides)}};
        out.emplace_back(std::move(one));
    };
    add("ca", build.ca_bundle, build.ca_bundle_beside);
    add("netrc", build.netrc, build.netrc_beside);
    return out;
}

List volumes_of(const Service& service, const std::string& matrix_folder) {
    List out;
    for (const auto& volume : service.volumes) {
        out.emplace_back(
            Object{{"type", volume.named() ? "volume" : "bind"},
                   {"source", volume.named() ? volume.source : beside(matrix_folder, volume.source)},
                   {"target", volume.target},
                   {"read_only", volume.read_only}});
    }
    return out;
}

// Images say which devices they want (all), for engines whose default hands them out. Who asks for no GPU
// gets none even there.
List environment_of(const Service& service) {
    std::map<std::string, std::string> variables;
    if (!service.gpu.asked()) variables["NVIDIA_VISIBLE_DEVICES"] = "void";
    for (const auto& [name, value, where] : service.environment)
        variables[name] = value;
    List out;
    for (const auto& [name, value] : variables)
        out.emplace_back(Object{{"name", name}, {"value", value}});
    return out;
}

// All services that the entries of depends_on became; one with a healthcheck, its own or its image's, has to
// be healthy.
List dependencies_of(const Service& service, const ServicePlan& plan, const std::vector<Image>& images) {
    List out;
    for (const auto& word : service.depends_on) {
        for (const auto& other : plan.services) {
            if (other.service->name != word.text) continue;
            const bool checked =
                !other.service->healthcheck.test.empty() || !images[other.image].healthcheck.test.empty();
            out.emplace_back(
                Object{{"name", other.name}, {"condition", checked ? "service_healthy" : "service_started"}});
        }
    }
    return out;
}

void put_healthcheck(Object& object, const Healthcheck& check) {
    put(object, "healthcheck", {check.test.begin(), check.test.end()});
    List times;
    for (const auto& [name, value] :
         {std::pair{"interval", &check.interval}, std::pair{"timeout", &check.timeout},
          std::pair{"start_period", &check.start_period}}) {
        if (!value->empty()) times.emplace_back(Object{{"name", name}, {"value", *value}});
    }
    object["healthcheck_times"] = std::move(times);
    object["healthcheck_retries_any"] = !check.retries.empty();
    object["healthcheck_retries"] = check.retries;
}

List texts_of(const std::vector<Word>& words) {
    List out;
    for (const auto& word : words)
        out.emplace_back(word.text);
    return out;
}

List limits_of(const Service& service) {
    List out;
    for (const auto& [name, soft, hard] : service.ulimits)
        out.emplace_back(Object{{"name", name}, {"soft", soft}, {"hard", hard}});
    return out;
}

// Images start a shell, which ends at once without a terminal: a service without a command of its own waits
// for `docker compose exec NAME bash`, and `init` ends it at once when it is stopped.
List command_of(const Service& service) {
    if (service.command.empty()) return {"sleep", "infinity"};
    return {service.command.begin(), service.command.end()};
}

// What the matrix file says nothing of: every GPU, where the image can use one.
Service silent_service(const Image& image) {
    Service service;
    service.gpu.all = image.family != "cpu";
    return service;
}

Object service_model(const ComposeService& planned, const Service& service, const ServicePlan& plan,
                     const ComposeInput& input) {
    const auto& rendered = input.rendered[planned.image];
    Object out{
        {"name", planned.name},
        {"image", Object{{"tag", rendered.reference}, {"folder", "./" + rendered.folder.generic_string()}}},
        {"shm_size", service.shm_size.empty() ? shm_size(input.images[planned.image]) : service.shm_size},
        {"platform_any", input.images[planned.image].arch != "x86_64"},
        {"platform", input.images[planned.image].platform()},
        {"restart_any", !service.restart.empty()},
        {"restart", service.restart}};
    put(out, "command", command_of(service));
    put(out, "environment", environment_of(service));
    put(out, "ports", texts_of(service.ports));
    put(out, "volumes", volumes_of(service, input.matrix_folder));
    put(out, "ulimits", limits_of(service));
    put(out, "depends_on", dependencies_of(service, plan, input.images));
    put_healthcheck(out, service.healthcheck);
    return out;
}

// CDI has names of devices and no numbers: the first ones stand for a number.
List cdi_devices(const Service::Gpu& gpu) {
    constexpr std::string_view kind = "nvidia.com/gpu=";
    List out;
    if (gpu.all) out.emplace_back(fmt::format("{}all", kind));
    for (const auto& id : gpu.ids)
        out.emplace_back(fmt::format("{}{}", kind, id));
    for (unsigned i = 0; i < gpu.count; ++i)
        out.emplace_back(fmt::format("{}{}", kind, i));
    return out;
}

Object gpu_service(const std::string& name, const Service::Gpu& gpu) {
    Object out{{"name", name},
               {"gpu_count", gpu.all ? std::string("all") : fmt::format("{}", gpu.count)},
               {"capabilities", texts_of(gpu.capabilities)},
               {"cdi_devices", cdi_devices(gpu)}};
    put(out, "gpu_ids", {gpu.ids.begin(), gpu.ids.end()});
    return out;
}

// A project's name may hold no '.' and no '/'.
std::string project(const Matrix& matrix) {
    const auto repository = image_repository(matrix);
    return text::replace_all(repository.substr(repository.find('/') + 1), ".", "_");
}

List header(const ComposeInput& input, const ServicePlan& plan) {
    List lines;
    if (plan.services.empty() || plan.services.front().service == nullptr) {
        lines.emplace_back(
            fmt::format("One service for each of {}.", text::count(input.rendered.size(), "image")));
    }
    for (const auto& name : plan.left_out)
        lines.emplace_back(fmt::format("Left out: {}, because none of its images can be rendered.", name));
    if (auto note = no_network_note(input.matrix); !note.empty()) lines.emplace_back(std::move(note));
    return lines;
}

List named_volumes(const ServicePlan& plan) {
    std::set<std::string> names;
    for (const auto& planned : plan.services) {
        if (planned.service == nullptr) continue;
        for (const auto& volume : planned.service->volumes) {
            if (volume.named()) names.insert(volume.source);
        }
    }
    return {names.begin(), names.end()};
}

}  // namespace

Result<Data::Object> compose_model(const ComposeInput& input) {
    const auto& matrix = input.matrix;
    CM_TRY_ASSIGN(const auto plan, plan_services(matrix.deployment, input.images));
    List services;
    List gpu_services;
    for (const auto& planned : plan.services) {
        const auto silent = silent_service(input.images[planned.image]);
        const auto& service = planned.service == nullptr ? silent : *planned.service;
        services.emplace_back(service_model(planned, service, plan, input));
        if (service.gpu.asked()) gpu_services.emplace_back(gpu_service(planned.name, service.gpu));
    }
    Object model{{"tool", Object{{"version", kVersion}}},
                 {"matrix", Object{{"title", matrix.name}}},
                 {"header", header(input, plan)},
                 {"project", project(matrix)},
                 {"services", std::move(services)},
                 {"gpu_services", std::move(gpu_services)},
                 {"build", Object{{"network_any", matrix.build.network != "default"},
                                  {"network", matrix.build.network}}}};
    put(model, "secrets", secrets_of(input));
    put(model, "named_volumes", named_volumes(plan));
    return model;
}

}  // namespace cudamatrix
