// services: how containers of the images are started.
#include <charconv>
#include <map>

#include "base/text.hpp"
#include "matrix/deployment/healthcheck.hpp"
#include "matrix/deployment/service_syntax.hpp"
#include "matrix/entry.hpp"
#include "matrix/member.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

constexpr std::string_view kExample = "{name: trainer, image: train, command: [python, train.py], gpu: 1}";
constexpr std::string_view kGpuForm = "a number of GPUs, all, or a list of devices such as [\"0\", \"1\"]";
constexpr std::string_view kLimitForm = "a number, or -1 for no limit,";

const std::vector<std::string>& keys() {
    static const std::vector<std::string> all{"name",        "image",      "command", "gpu",   "capabilities",
                                              "shm_size",    "ulimits",    "volumes", "ports", "environment",
                                              "healthcheck", "depends_on", "restart"};
    return all;
}

void read_gpu(const Entry& entry, const yaml::Member& member, Service::Gpu& gpu) {
    if (member.second.kind == Node::Kind::sequence) {
        gpu.ids = texts(
            entry.words(member, {kGpuForm, "a device as nvidia-smi -L lists it, such as \"0\" or \"GPU-...\"",
                                 service_syntax::is_device}));
        return;
    }
    const auto text = entry.scalar(member, kGpuForm, service_syntax::is_gpu_count);
    gpu.all = text == "all";
    if (!gpu.all) std::from_chars(text.data(), text.data() + text.size(), gpu.count);
}

// A number for both limits, or {soft: N, hard: N}.
void read_ulimit(const Entry& entry, const yaml::Member& member, Service& service) {
    const auto& [name, node] = member;
    static const std::vector<std::string> known{"memlock", "nofile", "nproc", "stack"};
    if (std::find(known.begin(), known.end(), name.text) == known.end()) {
        entry.reader().unknown_key(name, "ulimits", known);
        return;
    }
    Service::Ulimit limit{name.text, {}, {}};
    if (node.kind == Node::Kind::map) {
        const Entry both(entry.reader(), name, node);
        both.refuse_keys_beside({"soft", "hard"});
        if (const auto* soft = both.required("soft", "the limit that a program starts with"))
            limit.soft = both.scalar(*soft, kLimitForm, service_syntax::is_limit);
        if (const auto* hard = both.required("hard", "what it may raise that to"))
            limit.hard = both.scalar(*hard, kLimitForm, service_syntax::is_limit);
        if (!limit.soft.empty() && !limit.hard.empty() && !service_syntax::in_order(limit.soft, limit.hard))
            entry.reader().error(
                name.where, fmt::format("{}: soft {} is above hard {}", name.text, limit.soft, limit.hard),
                "the hard limit is the upper one");
    } else {
        limit.soft = limit.hard = entry.scalar(member, fmt::format("{} or {{soft: N, hard: N}}", kLimitForm),
                                               service_syntax::is_limit);
    }
    service.ulimits.push_back(std::move(limit));
}

void read_volumes(const Entry& entry, const yaml::Member& member, Service& service) {
    std::map<std::string, Location> targets;
    for (const auto& word : entry.words(member, {"a list such as [\"cache:/cache\", \"./data:/data:ro\"]",
                                                 "a volume such as cache:/cache, or a folder next to the "
                                                 "matrix file such as ./data:/data (:ro for read-only), "
                                                 "mounted outside system folders",
                                                 service_syntax::is_volume})) {
        auto volume = service_syntax::volume_of(word.text);
        const auto [first, fresh] = targets.try_emplace(volume.target, word.where);
        if (!fresh) {
            entry.reader().error(
                word.where,
                fmt::format("volumes: {} is mounted twice: first at {}", volume.target, place(first->second)),
                "delete one of the two");
        }
        service.volumes.push_back(std::move(volume));
    }
}

// What a container is given: devices, memory, limits, folders, ports.
void read_resources(const Entry& entry, Service& service) {
    if (const auto* gpu = entry.find("gpu")) read_gpu(entry, *gpu, service.gpu);
    if (const auto* capabilities = entry.find("capabilities")) {
        service.gpu.capabilities = entry.words(
            *capabilities,
            {"a list such as [compute, utility]", "a capability such as compute", is_capability_word});
        if (!service.gpu.asked())
            entry.reader().error(capabilities->first.where,
                                 "capabilities: the service asks for no GPU that could have them",
                                 "write gpu: 1, or delete the key");
    }
    if (const auto* shm = entry.find("shm_size"))
        service.shm_size = entry.scalar(*shm, "a size such as 8g or 512m", service_syntax::is_size);
    if (const auto* limits = entry.find("ulimits")) {
        if (entry.reader().expect(limits->first, limits->second, Node::Kind::map,
                                  "a map such as {memlock: -1, nofile: 65536}")) {
            for (const auto& limit : limits->second.members)
                read_ulimit(entry, limit, service);
        }
    }
    if (const auto* volumes = entry.find("volumes")) read_volumes(entry, *volumes, service);
    if (const auto* ports = entry.find("ports"))
        service.ports = entry.words(
            *ports, {"a list of ports such as [\"8080:80\"]",
                     "a port such as 8080:80, 80 or 127.0.0.1:8080:80/udp", service_syntax::is_port});
}

void read_service(Reader& reader, const Node& key, const Node& node) {
    const Entry entry(reader, key, node);
    if (!entry.is_map(kExample)) return;
    entry.refuse_keys_beside(keys());
    Service service;
    service.where = node.where;
    if (const auto* name = entry.required("name", "the compose service is named by it")) {
        service.name = entry.scalar(*name, fmt::format("{} such as trainer", kEntryNameForm), is_entry_name);
        service.where = name->second.where;
    }
    if (const auto* image = entry.find("image")) {
        service.image = {entry.scalar(*image, "the name of an entry of images", is_entry_name),
                         image->second.where};
    }
    if (const auto* command = entry.find("command")) service.command = read_argv(entry, *command);
    read_resources(entry, service);
    if (const auto* environment = entry.find("environment"))
        service.environment = entry.variables(*environment);
    if (const auto* check = entry.find("healthcheck")) read_healthcheck(entry, *check, service.healthcheck);
    if (const auto* others = entry.find("depends_on"))
        service.depends_on = entry.words(
            *others, {"a list of services such as [worker]", "the name of a service", is_entry_name});
    if (const auto* restart = entry.find("restart"))
        service.restart =
            entry.scalar(*restart, "no, always, on-failure or unless-stopped", service_syntax::is_restart);
    for (const auto& other : reader.matrix.deployment.services) {
        if (service.name.empty() || other.name != service.name) continue;
        reader.error(service.where,
                     fmt::format("name {}: an earlier entry of services has it, at {}",
                                 in_quotes(service.name), place(other.where)),
                     "give each service a name of its own");
    }
    reader.matrix.deployment.services.push_back(std::move(service));
}

const Service* named(const Deployment& deployment, std::string_view name) {
    const auto found = std::find_if(deployment.services.begin(), deployment.services.end(),
                                    [&](const Service& service) { return service.name == name; });
    return found == deployment.services.end() ? nullptr : &*found;
}

std::string guess(std::string_view word, const std::vector<std::string>& names) {
    if (names.empty()) return {};
    const auto near = text::did_you_mean(word, names);
    return near ? fmt::format("did you mean {}?", *near)
                : fmt::format("use one of: {}", text::join(names, ", "));
}

// Every image that a service names is there; without a name there is only one to choose.
void check_images(Reader& reader) {
    std::vector<std::string> names;
    for (const auto& image : reader.matrix.deployment.images)
        names.push_back(image.name);
    for (const auto& service : reader.matrix.deployment.services) {
        const auto& [image, where] = service.image;
        if (image.empty()) {
            if (where.line == 0 && names.size() > 1)
                reader.error(service.where,
                             fmt::format("services: {} has no image: expected one of {}", service.name,
                                         text::join(names, ", ")),
                             "write image: NAME");
        } else if (names.empty()) {
            reader.error(where, fmt::format("image {}: the file has no images", in_quotes(image)),
                         "delete the key: the service then runs every image of the matrix");
        } else if (std::find(names.begin(), names.end(), image) == names.end()) {
            reader.error(where, fmt::format("image {}: images has no such entry", in_quotes(image)),
                         guess(image, names));
        }
    }
}

// A service that waits for itself, over others, never starts.
bool waits_for(const Deployment& deployment, const Service& from, std::string_view name,
               std::vector<std::string_view>& seen) {
    if (std::find(seen.begin(), seen.end(), from.name) != seen.end()) return false;
    seen.emplace_back(from.name);
    return std::any_of(from.depends_on.begin(), from.depends_on.end(), [&](const Word& word) {
        if (word.text == name) return true;
        const auto* next = named(deployment, word.text);
        return next != nullptr && waits_for(deployment, *next, name, seen);
    });
}

void check_dependencies(Reader& reader) {
    const auto& deployment = reader.matrix.deployment;
    std::vector<std::string> names;
    for (const auto& service : deployment.services)
        names.push_back(service.name);
    for (const auto& service : deployment.services) {
        for (const auto& [text, where] : service.depends_on) {
            const auto* other = named(deployment, text);
            std::vector<std::string_view> seen;
            if (other == nullptr) {
                reader.error(where, fmt::format("depends_on: this file has no service {}", in_quotes(text)),
                             guess(text, names));
            } else if (other == &service) {
                reader.error(where, fmt::format("depends_on: {} waits for itself", service.name),
                             "delete it");
            } else if (waits_for(deployment, *other, service.name, seen)) {
                reader.error(
                    where,
                    fmt::format("depends_on: {} waits for {}, which waits for it: neither would start",
                                service.name, text),
                    "delete one of the two");
            }
        }
    }
}

// Two services that publish one port of the host cannot run beside each other.
void check_ports(Reader& reader) {
    std::map<std::string, Location> taken;
    for (const auto& service : reader.matrix.deployment.services) {
        for (const auto& [text, where] : service.ports) {
            const auto host = service_syntax::host_port(text);
            if (host.empty()) continue;
            const auto [first, fresh] = taken.try_emplace(host, where);
            if (!fresh)
                reader.error(where,
                             fmt::format("ports: port {} of the host is published twice: first at {}", host,
                                         place(first->second)),
                             "publish another one");
        }
    }
}

}  // namespace

void read_services(Reader& reader, const Node& key, const Node& node) {
    if (node.kind == Node::Kind::null) return;
    if (!reader.expect(key, node, Node::Kind::sequence, fmt::format("a list such as [{}]", kExample))) return;
    if (node.items.empty())
        reader.error(node.where, "services: an empty list: nothing would be started",
                     "write a service, or delete the key");
    for (const auto& item : node.items)
        read_service(reader, key, item);
    check_images(reader);
    check_dependencies(reader);
    check_ports(reader);
}

}  // namespace cudamatrix
